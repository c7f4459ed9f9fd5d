//===- Passes.td - Layout passes ---------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_PASSES
#define SMALTI_PASSES_LAYOUTS_PASSES

include "smalti/passes/Support/Options.td"

def MosaicGPUInferLayouts : Pass<"mosaic-gpu-infer-layouts", "::mlir::ModuleOp"> {
  let summary = "Infers the layouts of vectors, shared memory and tensor memory of block-level kernels";
  let description = [{
    The pass assigns a layout to every vector, shared memory buffer and tensor memory buffer of a module. It writes the
    layouts as attributes, which have the names and the text of JAX Mosaic GPU:

    - `in_layouts` and `out_layouts` have one entry for each vector operand and result of an op;
    - `in_tmem_layouts` and `out_tmem_layouts` have one entry for each operand and result in tensor memory;
    - `in_transforms` and `out_transforms` have one list (tile and swizzle) for each operand and result in shared memory.

    **Precondition.** The module contains block-level `mosaic_gpu` code, for example as emitted by JAX before its own
    layout inference. Thread-level kernels in `gpu.func` and `gpu.launch` are not changed. Every op with a vector, shared
    memory or tensor memory operand implements `LayoutInferenceOpInterface`. The target is a GPU, from the option
    `target`, the attribute `smalti.target`, or JAX's attributes `mosaic_gpu.arch_major` and `mosaic_gpu.arch_minor`.

    **Constraints.** Each op adds constraints on the layouts of its operands and results. Operands and results of an
    element-wise op have the same layout. The accumulator of `wgmma` has the layout WGMMA, and a load from shared memory
    has a layout without bank conflicts. Each use has the layout of the producer; only splats convert without a
    `layout_cast`. `layout_cast`, `with_transforms` and `tmem_layout_cast` fix a layout. Existing layout attributes are
    replaced.

    **Search.** The pass propagates the constraints and searches the remaining layouts. It tries candidates in JAX's
    order, so that the first solution is that of JAX. It then searches for a cheaper solution. The cost is the
    number of estimated cycles of relayouts, transfers to and from shared and global memory, and element-wise ops. Each
    enclosing loop multiplies it by 8. If costs are equal, the solution with fewer registers wins.

    If JAX's rules have no solution, the pass also tries layouts, reshapes and transfers that JAX does not support. With
    `relayouts`, it inserts the cheapest relayout (`layout_cast`) where two ops require different layouts. If the register
    pressure exceeds the registers of a thread, it searches for layouts with fewer registers, and a missed remark reports
    a remaining excess.

    **Errors.** If no layout assignment exists, the module is not changed. An error reports a minimal set of conflicting
    ops, with a note for each requirement. If a change that resolves the conflict is found, a hint states it. Further
    errors: an op without a layout rule, a layout that is not valid for its type, and a search that exceeds `fuel`.

    **Cost.** Independent parts of a module are searched separately, so the time is about linear in the number of ops.
    `fuel` and `improvements` limit the search in each part.

    Example:

    ```mlir
    module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
      func.func @scale(%a: memref<128x128xf32>, %out: memref<128x128xf32>) {
        %two = arith.constant dense<2.0> : vector<128x128xf32>
        %v = mosaic_gpu.vector_load %a : memref<128x128xf32> -> vector<128x128xf32>
        %r = arith.mulf %v, %two : vector<128x128xf32>
        mosaic_gpu.vector_store %r, %out : vector<128x128xf32>, memref<128x128xf32>
        return
      }
    }
    ```

    The constant has the layout `#mosaic_gpu.WGSplatFragLayout<[128, 128]>`, and all other values have
    `#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=sm_90a`; default: the attribute `smalti.target`, or the compute capability that a module from JAX states">,
    Option<"warps", "warps", "int64_t", "4",
           "Number of warps across which each vector is distributed, e.g. `warps=8`; default: 4, one warpgroup, as in kernels from JAX">,
    Option<"relayouts", "relayouts", "bool", "true",
           "Whether to convert a vector to another layout (a relayout) where ops require different layouts. With `relayouts=false`, different layouts are an error, as in JAX; default: `true`">,
    Option<"fuel", "fuel", "int64_t", "100000",
           "Number of search steps after which the pass gives up with an error if an independent part of the module has no valid layouts yet, e.g. `fuel=1000`; default: 100000">,
    Option<"improvements", "improvements", "int64_t", "1000",
           "Number of search steps for layouts of lower cost in each independent part of the module, e.g. `improvements=0`: the first valid layouts are used; default: 1000">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def MosaicGPUEvaluateLayouts : Pass<"mosaic-gpu-evaluate-layouts", "::mlir::ModuleOp"> {
  let summary = "Checks existing layouts of block-level kernels and estimates their cost";
  let description = [{
    The pass evaluates the layouts of a module with the constraints and the cost model of `mosaic-gpu-infer-layouts`. It
    does not change the module.

    **Precondition.** Every vector, shared memory buffer and tensor memory buffer of the block-level code has a layout
    attribute. It is from `mosaic-gpu-infer-layouts`, from JAX or written by hand. The target is a GPU and is determined
    as in layout inference.

    **Remarks.** An analysis remark reports the estimated cycles of each relayout, reduction across lanes, bulk copy, and
    transfer to or from shared or global memory. Each enclosing loop multiplies the cycles by 8. A remark on the module
    reports the total cycles, including element-wise ops, and the total registers. The registers are the 32-bit registers
    per thread of all results. The totals of two layouts of one kernel can be compared: cycles first, then registers.

    **Errors.** These are errors on the op: a value without a layout, a layout that is not valid for its type, and
    layouts that do not satisfy a constraint.

    **Cost.** The time is linear in the number of ops.

    Example:

    ```mlir
    module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
      func.func @scale(%a: memref<128x128xf32>) {
        %v = mosaic_gpu.vector_load %a {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>]}
            : memref<128x128xf32> -> vector<128x128xf32>
        mosaic_gpu.vector_store %v, %a {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>]}
            : vector<128x128xf32>, memref<128x128xf32>
        return
      }
    }
    ```

    The total is 1536 cycles, all of them for global memory accesses, and 128 registers.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The chip, e.g. `target=sm_90a`; default: the attribute `smalti.target`, or the compute capability that a module from JAX states">,
    Option<"warps", "warps", "int64_t", "4", "Number of warps across which each vector is distributed, e.g. `warps=8`; default: 4, one warpgroup, as in kernels from JAX">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

#endif // SMALTI_PASSES_LAYOUTS_PASSES
