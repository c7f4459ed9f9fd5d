//===- Passes.td - Block barriers -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_PASSES
#define SMALTI_PASSES_SYNCHRONIZATION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiPlaceBarriers : InterfacePass<"smalti-place-barriers", "::mlir::FunctionOpInterface"> {
  let summary = "Inserts and removes block barriers so that a minimal set orders every hazard in shared memory";
  let description = [{
    A *hazard* is a pair of accesses by two threads of a block to the same memory, where at least one is a write. The
    pass inserts a barrier for each unordered hazard in shared memory, and removes each barrier whose hazards are all
    ordered by other barriers. The result is minimal: no barrier can be removed. It need not have the smallest number of
    barriers. Barriers are placed outside loops if possible, and never under divergent control flow. If loads from
    global memory directly precede that point, the barrier goes before these loads, because on some chips a barrier
    waits for outstanding loads. Existing barriers stay where they are, unless other points need fewer barriers.

    **Hazards.**
    - Accesses are distinguished by memory space, alias class and the slot of a multi-buffered buffer (`(iteration +
      constant) mod depth`). With a known block size, the elements of each thread are distinguished too. The pass also
      recognizes ping-pong buffers: swapped through `iter_args`, or selected by iteration parity.
    - An asynchronous copy is ordered after earlier accesses where it starts. Other threads may access its data only after
      its wait and a barrier.
    - Hazards in global memory do not get barriers; analysis remarks name the first 16 that no barrier orders. The pass
      keeps a barrier that orders global accesses that may conflict, or a global access and an atomic, for which other
      blocks may wait.
    - The pass keeps a barrier that orders an op with unknown effects. No barrier is inserted in a function with an op
      in which threads may synchronize: calls, mbarriers, ops of `llvm`, `nvvm` and `rocdl` with effects. The caller of
      a function that is not a kernel may access any memory before and after it.

    **Preconditions.** The function has structured control flow, and launches are outlined. Values that are computed
    from constants, block ids and kernel arguments are uniform. Uniformity is unknown, for example, if a condition is
    loaded or is an argument of a function that is not a kernel. The pass then assumes uniformity only where a barrier
    already exists.

    **Refused**, with a missed remark, are hazards and barriers under divergent or unknown control flow (`scf.parallel`,
    `scf.forall`, `affine.parallel`) and functions with several blocks. So are ops whose accesses cannot be determined,
    bodies of `gpu.launch`, and accesses before a wait that completes the copy. With `strict=true` each is an error, and the function
    does not change. A strict run does not cover callers or global memory.

    **Cost.** The time is linear in the size of the function. The searches have a step limit; beyond it, the pass keeps
    existing barriers. With more than 256 distinct per-thread access patterns, redundant barriers may remain.

    **Options.** `insert` is true by default; `insert=false` only removes and weakens. If the barriers of the target
    wait for outstanding loads, a `gpu.barrier` that orders shared memory only becomes an `amdgpu.lds_barrier`. The
    target is the option `target`, or the attribute `smalti.target` around the function. `strict` is false by default.

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
           "Insert barriers for unordered hazards in shared memory; `insert=false` only removes and weakens barriers; default: `true`">,
    TargetOption<" that determines the barrier kind">,
    StrictOption<"A hazard in shared memory that may remain">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect"];
}

#endif // SMALTI_PASSES_SYNCHRONIZATION_PASSES
