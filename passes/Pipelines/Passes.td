//===- Passes.td - The whole way ---------------------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_PIPELINES_PASSES
#define SMALTI_PASSES_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def SmaltiCompile : Pass<"smalti-compile", "::mlir::ModuleOp"> {
  let summary = "Tile programs to the LLVM dialect, for any target";
  let description = [{
    Schedules the passes for the target. For a GPU:
    1. `tile`: canonicalised tile programs;
    2. `mosaic`: `smalti-order-tiles`, `convert-triton-xla-to-mosaic-gpu`;
    3. `pipelined`: `smalti-specialize-warps`, or else `smalti-multi-buffer` and `smalti-pipeline-loops`; then
       `smalti-start-products` and `smalti-allocate-shared-memory`;
    4. `thread`: `convert-mosaic-gpu-to-nvvm` or `convert-mosaic-gpu-to-rocdl`;
    5. `llvm`: the LLVM dialect in `gpu.module`s that have the target attached.

    A module of block programs, with no tile programs, starts at 3. So does one of programs of threads: kernels in
    `gpu.func` with no op of `mosaic_gpu` and no layout, whose vectors belong to one thread; `thread` leaves these as
    they are, but for the addresses of their buffers in shared memory. For a CPU: `tile`, then `llvm` by
    `convert-triton-xla-to-cpu`.

    By default buffers get 3 slots where copies are asynchronous and 2 elsewhere. Slots
    that do not fit the target's shared memory are left away, with a missed remark; if one slot
    of each does not fit, that is an error.

    `bank-conflicts=pad` runs `smalti-pad-shared-memory` ahead of `smalti-allocate-shared-memory`, and
    `bank-conflicts=swizzle` runs `smalti-swizzle-shared-memory` on the programs of threads. Padding is the default: it
    takes about as many registers as conflicts do, and no spills, while the arithmetic of swizzling makes large tiles
    spill on some chips (`benchmarks/bank_conflicts.py`). Where padded buffers do not fit, they stay as they are.

    Example:

    ```mlir
    module attributes {smalti.target = "gfx942"} {
      triton_xla.entry_func @double(%x: memref<1000xf32>, %y: memref<1000xf32>, %tile: index) tiles 4 {
        %c256 = arith.constant 256 : index
        %offset = arith.muli %tile, %c256 : index
        %t = triton_xla.extract %x[%offset] [256] [1] : memref<1000xf32> to tensor<256xf32>
        %d = arith.addf %t, %t : tensor<256xf32>
        triton_xla.insert %d into %y[%offset] [256] [1] : tensor<256xf32> into memref<1000xf32>
        triton_xla.return
      }
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "The target, e.g. `target=sm_90a`; empty: the attribute `smalti.target`">,
    Option<"stopAfter", "stop-after", "std::string", "\"llvm\"",
           "The last level: `tile`, `mosaic`, `pipelined`, `thread` or `llvm`, e.g. `stop-after=mosaic`">,
    Option<"depth", "depth", "int64_t", "0", "Slots of each buffer of a loop, up to 16, e.g. `depth=2`; 0: chosen">,
    Option<"stages", "stages", "int64_t", "0", "Stages of a loop, up to 16, e.g. `stages=3`; 0: chosen, 1: no pipelining">,
    Option<"numWarps", "num-warps", "unsigned", "0", "Warps of a block, e.g. `num-warps=4`; 0: chosen">,
    Option<"copies", "copies", "std::string", "\"auto\"",
           "How operands of products get to shared memory: `async` wherever that is possible, through `registers`, or "
           "`auto`, as it pays on the target, e.g. `copies=async`">,
    Option<"products", "products", "std::string", "\"auto\"",
           "Who computes products: warp groups (`wgmma`) or warps (`mma`), or `auto`, as it pays on the target, e.g. "
           "`products=mma`">,
    Option<"specialize", "specialize", "std::string", "\"auto\"",
           "Whether warps of their own copy for warp groups that multiply: `on`, `off`, or `auto`, where it is estimated "
           "to pay, e.g. `specialize=off`">,
    Option<"blocks", "blocks", "int64_t", "0",
           "Blocks of a persistent grid, e.g. `blocks=132`; 0: a block for each tile">,
    Option<"tileOrder", "tile-order", "std::string", "\"auto\"",
           "The order of tiles: `none`, as they are numbered, `grouped`, `snake`, or `auto`, as it is estimated to pay, "
           "e.g. `tile-order=grouped`">,
    Option<"holdLoads", "hold-loads", "bool", "true",
           "Run `smalti-hold-loads` where the target's code generator needs it, e.g. `hold-loads=false`">,
    Option<"bankConflicts", "bank-conflicts", "std::string", "\"pad\"",
           "What to do against bank conflicts: `keep`, `pad` or `swizzle`, e.g. `bank-conflicts=swizzle`">,
  ];
}

#endif // SMALTI_PASSES_PIPELINES_PASSES
