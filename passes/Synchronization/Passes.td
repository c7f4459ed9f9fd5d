//===- Passes.td - Barriers and waits ----------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_PASSES
#define SMALTI_PASSES_SYNCHRONIZATION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiPlaceBarriers : InterfacePass<"smalti-place-barriers", "::mlir::FunctionOpInterface"> {
  let summary = "Places barriers that order every hazard in shared memory, none of which can be removed";
  let description = [{
    Two accesses are a hazard where two threads of a block may make them, both may touch the same memory, and one of
    them writes. The pass takes out the barriers that order no hazard which the others do not order, and puts barriers in
    where a hazard in shared memory has none, in the cheapest places: outside of loops rather than inside, ahead of reads
    of global memory, and never where only some threads come by. The result is irreducible: no barrier of it can be
    removed. Other placements may have fewer barriers. Where the barriers that are there do as well as others, they stay
    where they are.

    What counts as a hazard:
    - The pass distinguishes memory spaces, alias classes, and the slots of a buffer that a loop uses in turn
      (`smalti-multi-buffer`): slot = (iteration number + constant) mod depth.
    - Separate buffers that a loop uses in turn are slots as well: an `scf.for` permutes them through its `iter_args` in
      each iteration, or an `arith.select` picks one of two by the parity of the iteration.
    - An asynchronous copy must come after earlier accesses where it starts; later ones must come after the wait for it
      and a barrier.
    - Hazards in *global* memory do not get barriers: threads mostly work on parts of it that are their own, and nothing in
      the program says so. Analysis remarks name the first 16 that no barrier orders. But a barrier that orders two
      accesses of global memory stays, and so does one between an atomic access of global memory, for which other blocks
      may wait, and any access of it.
    - The same holds for code with effects that are not known (calls, fences, inline assembly, barrier objects): what a
      barrier orders it with stays ordered. Where threads may wait for one another in such code (calls, ops of the `llvm`,
      `nvvm` and `rocdl` dialects, barrier objects), nothing is put in. Before and behind a function that is no kernel,
      anything may happen.

    A barrier inside an op whose control flow may differ between threads, or is not known, is not touched, and none is put
    there. What is computed from constants, block ids, and the arguments of kernels is the same for all threads; where all
    that is known is that it comes from an argument or from memory, a barrier inside says that all threads come there.
    Functions with unstructured control flow are not changed.

    Missed remarks name each hazard in shared memory that stays, each barrier that the pass does not touch, and each op
    whose accesses cannot be determined. With `strict=true` they are errors, and nothing changes. Strict thus fails where a
    hazard in shared memory may stay: in functions with branches between blocks, in regions that run in an unknown order
    (`scf.parallel`, `scf.forall`, `affine.parallel`), where not all threads come by, and with calls, inline assembly,
    mbarriers and other ops of unknown effect, and where shared memory is accessed before a wait completes the asynchronous
    copy that writes it. It covers the function alone, not its callers, and not hazards in global memory.

    Where the target's barriers wait for loads in flight (option `target`, or the attribute `smalti.target` around the
    function), a `gpu.barrier` that has to order shared memory alone becomes an `amdgpu.lds_barrier`.

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
           "Puts barriers in where a hazard in shared memory has none; `insert=false` only removes and weakens">,
    TargetOption<" that decides on the kind of barrier">,
    Option<"strict", "strict", "bool", "false",
           "An error wherever a hazard in shared memory may stay, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect"];
}

#endif // SMALTI_PASSES_SYNCHRONIZATION_PASSES
