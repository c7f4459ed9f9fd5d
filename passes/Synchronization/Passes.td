//===- Passes.td - Block barriers -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_PASSES
#define SMALTI_PASSES_SYNCHRONIZATION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiPlaceBarriers : InterfacePass<"smalti-place-barriers", "::mlir::FunctionOpInterface"> {
  let summary = "Inserts and removes block barriers so that a minimal set orders every hazard in shared memory";
  let description = [{
    A *hazard* is a pair of accesses by two threads of a block that may touch the same memory, at least one of which is a
    write. The pass inserts a barrier for each unordered hazard in shared memory, and removes each barrier whose hazards are
    all ordered by other barriers. The result is minimal: no barrier can be removed. It need not have the smallest number
    of barriers. Barriers are placed outside loops if possible, before reads of global memory, and never under divergent
    control flow. If the existing barriers are as few, they stay.

    **Hazards.**
    - Accesses are distinguished by memory space, alias class, the slot of a multi-buffered buffer
      (`(iteration + constant) mod depth`) and, with a known block size, the elements of each thread. Buffers that an
      `scf.for` permutes through its `iter_args`, or that an `arith.select` picks by the parity of the iteration, are slots.
    - An asynchronous copy is ordered after earlier accesses where it starts. Later accesses are ordered after its wait and
      a barrier.
    - Hazards in global memory do not get barriers; analysis remarks name the first 16 that no barrier orders. A barrier
      that orders two accesses of global memory stays, and so does one that orders an atomic access of global memory, for
      which other blocks may wait.
    - What a barrier orders with an op of unknown effects stays ordered. If threads may synchronize in the op (calls,
      mbarriers, ops of the `llvm`, `nvvm` and `rocdl` dialects with effects), no barrier is inserted in the function. The
      caller of a function that is not a kernel may access any memory before and after it.

    **Preconditions.** The function has structured control flow, and launches are outlined. Values that are computed from
    constants, block ids and kernel arguments are uniform. A branch or loop that depends on memory, or on an argument of
    a function that is not a kernel, counts as uniform only if it already contains a barrier.

    **Refused**, with a missed remark, are hazards and barriers under divergent or unknown control flow (`scf.parallel`,
    `scf.forall`, `affine.parallel`) and functions with several blocks. So are ops whose accesses cannot be determined,
    bodies of `gpu.launch`, and accesses before a wait that completes the copy. With `strict=true` each is an error, and the function
    does not change. A strict run does not cover callers or global memory.

    **Cost.** The time is linear in the size of the function. The searches share a budget of steps; a barrier that the
    budget does not cover stays. At most 256 per-thread access patterns are distinguished.

    **Options.** `insert` is true by default; `insert=false` only removes and weakens. If the barriers of the target wait
    for outstanding loads (option `target`, or the attribute `smalti.target` around the function), a `gpu.barrier` that
    orders shared memory only becomes an `amdgpu.lds_barrier`. `strict` is false by default.

    Example:

    ```mlir
    func.func @before(%x: f32, %i: index, %j: index) -> (f32, f32) attributes {gpu.kernel} {
      %buffer = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %x, %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %a = memref.load %buffer[%j] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %b = memref.load %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      return %a, %b : f32, f32
    }
    ```

    The second barrier orders nothing and is removed.
  }];
  let options = [
    Option<"insert", "insert", "bool", "true",
           "Insert barriers for unordered hazards in shared memory; `insert=false` only removes and weakens">,
    TargetOption<" that determines the barrier kind">,
    Option<"strict", "strict", "bool", "false",
           "A hazard in shared memory that may remain is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect"];
}

#endif // SMALTI_PASSES_SYNCHRONIZATION_PASSES
