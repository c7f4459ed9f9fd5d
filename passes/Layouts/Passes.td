//===- Passes.td - Layouts ---------------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_LAYOUTS_PASSES
#define SMALTI_PASSES_LAYOUTS_PASSES

include "smalti/passes/Support/Options.td"

def MosaicGPUInferLayouts : Pass<"mosaic-gpu-infer-layouts", "::mlir::ModuleOp"> {
  let summary = "Gives every vector, shared memory and tensor memory of a block program its layout";
  let description = [{
    Takes modules of `mosaic_gpu` as JAX Mosaic GPU emits them, and writes JAX's attributes: `in_layouts` and
    `out_layouts` with one entry for each vector operand and result of an op, `in_tmem_layouts` and `out_tmem_layouts`
    for tensor memory, `in_transforms` and `out_transforms` for shared memory.

    Every op says what it demands of the layouts of its operands and results (`LayoutInferenceOpInterface`): element by
    element ops that they are one, `wgmma` that its accumulator has the layout WGMMA, a load that the layout can be read
    from shared memory without bank conflicts, and so on. A vector that is used has the layout in which it was produced;
    only a splat becomes any other. An op with such a value that has no rule is an error that names it.

    What follows from the demands is propagated, the rest is searched for: candidates are tried in JAX's order, so that
    the first solution is JAX's, and then cheaper ones are looked for: fewer cycles for relayouts, transfers to and from
    shared and global memory, and element-wise ops, weighted by 8 for each loop around, then fewer registers. Where
    nothing that JAX accepts is a solution, reductions that keep dimensions, reshapes that cut tiles, transfers that JAX's
    planner does not know and layouts that distribute a vector over all threads are tried, and, with `relayouts`, a
    relayout (`layout_cast`) is inserted where two ops disagree, the cheapest one. Where more registers are live than a
    thread has, layouts that need fewer are looked for, and a remark says what is missing still.

    Where there is no solution nothing changes, and there is an error with the smallest set of ops that disagree: each is
    a note with what the op needs and why, and the last one is a hint that was tried.

    The chip is the one that the option names, or the attribute `smalti.target`, or JAX's attributes
    `mosaic_gpu.arch_major` and `mosaic_gpu.arch_minor`.

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

    The constant becomes `#mosaic_gpu.WGSplatFragLayout<[128, 128]>`, everything else
    `#mosaic_gpu.WGStridedFragLayout<[128, 128], 2>`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip that the module is for, e.g. `target=sm_90a`; empty: what the module says">,
    Option<"warps", "warps", "int64_t", "4",
           "Warps that hold a vector together; JAX's warpgroup has 4, e.g. `warps=8`">,
    Option<"relayouts", "relayouts", "bool", "true",
           "Whether relayouts are inserted where ops disagree; JAX inserts none, e.g. `relayouts=false`">,
    Option<"fuel", "fuel", "int64_t", "100000",
           "Assignments that the search tries for a part of the program that hangs together before it gives up with an "
           "error that says where it was, e.g. `fuel=1000`">,
    Option<"improvements", "improvements", "int64_t", "1000",
           "Assignments that look for a cheaper solution of such a part once there is one, and outside of JAX's changes "
           "that are tried for each of its values; 0 keeps the first solution, e.g. `improvements=0`">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def MosaicGPUEvaluateLayouts : Pass<"mosaic-gpu-evaluate-layouts", "::mlir::ModuleOp"> {
  let summary = "Says what the layouts of a module cost, and whether they meet the demands of its ops";
  let description = [{
    Takes a module whose layouts are there: from `mosaic-gpu-infer-layouts`, from JAX, or written by hand. It changes
    nothing. The demands and the costs are those of the inference:

    - a layout that an op cannot work with is an error on the op, with the demand and the layout;
    - each relayout and each transfer to or from shared or global memory is an analysis remark with its cycles, weighted
      by 8 for each loop around;
    - one remark on the module has the sums: of the cycles, those of element-wise ops included, and of the 32-bit
      registers that a thread needs for every vector that is produced.

    Layouts of one program can be compared by the sums; cycles come before registers.

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

    The layouts cost 128 registers and 1536 cycles, all of them for accesses to global memory.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Chip that the module is for, e.g. `target=sm_90a`; empty: what the module says">,
    Option<"warps", "warps", "int64_t", "4", "Warps that hold a vector together, e.g. `warps=8`">
  ];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect"];
}

#endif // SMALTI_PASSES_LAYOUTS_PASSES
