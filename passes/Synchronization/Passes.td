//===- Passes.td - Barriers and waits ----------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_PASSES
#define SMALTI_PASSES_SYNCHRONIZATION_PASSES

include "mlir/Pass/PassBase.td"

def SmaltiPlaceBarriers : InterfacePass<"smalti-place-barriers", "::mlir::FunctionOpInterface"> {
  let summary = "Places the least barriers that order every hazard between the threads of a block";
  let description = [{
    Two accesses are a hazard where two threads of a block may make them, both may touch the same memory, and one of
    them writes. The pass takes out the barriers that order no hazard which the others do not order, and puts barriers in
    where a hazard in shared memory has none, in the cheapest places: outside of loops rather than inside, ahead of reads
    of global memory, and never where only some threads come by. In the result no barrier can be taken out. Where the
    barriers that are there do as well as others, they stay where they are.

    What counts as a hazard:
    - Memory spaces and alias classes are told apart, and the slots of buffers that loops use in turn
      (`smalti-multi-buffer`): slot = number of the iteration mod depth.
    - An asynchronous copy must come after earlier accesses where it starts; later ones must come after the wait for it
      and a barrier.
    - Hazards in *global* memory do not get barriers: threads mostly work on parts of it that are their own, and nothing in
      the program says so. But a barrier that orders two accesses of global memory stays, whatever else there is, and so
      does one between an atomic access of global memory, for which other blocks may wait, and any access of it.
    - The same holds for code with effects that are not known (calls, fences, inline assembly, barrier objects): what a
      barrier orders it with stays ordered. Where threads may wait for one another in such code (calls, ops of the `llvm`,
      `nvvm` and `rocdl` dialects, barrier objects), nothing is put in. Before and behind a function that is no kernel,
      anything may happen.

    A barrier inside an op whose way may differ between threads, or inside control flow that is not known, is not touched,
    and none is put there; a hazard that only such a barrier could order is reported. What is computed from constants,
    block ids, and the arguments of kernels is the same for all threads; where all that is known is that it comes from an
    argument or from memory, a barrier inside says that all threads come there. Functions with unstructured control flow
    are not changed.

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
    Option<"target", "target", "std::string", "\"\"",
           "Chip that decides on the kind of barrier, e.g. `target=gfx1201`; empty: the attribute `smalti.target`">,
    Option<"strict", "strict", "bool", "false",
           "A hazard that no barrier can order, or a function that is not understood, is an error, e.g. `strict=true`">
  ];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect"];
}

#endif // SMALTI_PASSES_SYNCHRONIZATION_PASSES
