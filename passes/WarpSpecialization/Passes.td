//===- Passes.td - Warps with work of their own ------------*- tablegen -*-===//

#ifndef SMALTI_PASSES_WARPSPECIALIZATION_PASSES
#define SMALTI_PASSES_WARPSPECIALIZATION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiAsyncWgmma : InterfacePass<"smalti-async-wgmma", "::mlir::FunctionOpInterface"> {
  let summary = "Makes products of warp groups asynchronous, with the waits that they need";
  let description = [{
    `mosaic_gpu.wgmma` with the attribute `smalti.synchronous` is one op for the loop passes: a read of its operands. This pass writes it as
    the instructions that it is: `nvvm.wgmma.fence.aligned`, the product, `nvvm.wgmma.commit.group.sync.aligned` and
    `nvvm.wgmma.wait.group.sync.aligned 0`. Products that follow one another, with nothing between them but ops without
    side effects that do not use their results, share the fence, the group and the wait.

    Example:

    ```mlir
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    func.func @product(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>,
                       %b: memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32> {
      %r = mosaic_gpu.wgmma accumulator(%c : vector<64x128xf32>)
          a(%a : memref<64x64xf16, #gpu.address_space<workgroup>>)
          b(%b : memref<64x128xf16, #gpu.address_space<workgroup>>)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let dependentDialects = ["::smalti::mosaic_gpu::MosaicGPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def SmaltiSpecializeWarps : InterfacePass<"smalti-specialize-warps", "::mlir::FunctionOpInterface"> {
  let summary = "Gives the copies of a kernel to warps of their own";
  let description = [{
    The block gets 128 more threads. The threads that it had, the consumers, execute the program without its tensor copies;
    the new ones, the producers, execute these alone, as far ahead as there are slots. Buffers that copies fill, and the
    barriers on which the copies complete, get `depth` slots; a second barrier of each slot tells the producers when the
    consumers have read it. Registers move from producers to consumers (`nvvm.setmaxregister`). The kernel gets
    `mosaic_gpu.program_threads`, the threads that execute one of the two programs together.

    A product whose sum a loop carries, alone in its loop, stays in flight while the next one starts: the wait leaves one
    group, and a slot is given back one iteration later. This takes two slots.

    What it takes is estimated from the target table alone, and said: for each step of the loops the longest of its
    copies (bytes by the width of the path to the cache), its product (multiply-accumulates by the rate of the matrix
    units, operands by the width of shared memory) and its share of the latency of memory, which all slots but one hide.
    Where all threads copy and multiply in turn, the waits at both ends of a product come on top. Blocks on one unit, as
    many as its threads, registers and shared memory hold and the grid has, fill in one another's waits. A loop whose
    bounds are not known counts 16 iterations. With `if-it-pays`, a kernel is specialised where that takes less time.
    The attribute `smalti.specialize` of a kernel wins over this option (`smalti-choose-overlap` writes it), and
    `smalti.slots` wins over `depth`.

    Slots are counted through all iterations of all loops around, so that copies for the next tile of a persistent grid
    start while the last one is stored.

    A kernel is specialised when all of this holds, and otherwise stays as it is, with a remark that says why:
    - its block has one dimension and a known number of threads, a multiple of 128, and 128 more fit;
    - every product is a synchronous `mosaic_gpu.wgmma`, and some tensor copy stands in a loop;
    - every barrier object is initialised once for one arrival, and is used in one block alone, in this order: one
      `mosaic_gpu.arrive_expect_tx`, `mosaic_gpu.async_load`s without predicate, one `mosaic_gpu.wait`;
    - what such a load fills is allocated by the function and read behind the wait, in that block, by products alone;
    - it copies from arguments that the kernel does not write;
    - the places of the copies are computed from constants, arguments, block ids and counters of loops; all loops and
      branches around them are `scf.for`, with such bounds;
    - the slots fit the target's shared memory.

    Example:

    ```mlir
    #shared = #gpu.address_space<workgroup>
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    gpu.module @kernels {
      gpu.func @product(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                        %out: memref<64x64xf32> {llvm.noalias})
          kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %c1024 = arith.constant 1024 : index
        %zero = arith.constant 0 : i32
        %false = arith.constant false
        %true = arith.constant true
        %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
        %full = memref.alloc() : memref<!mosaic_gpu.barrier, #shared>
        %address = memref.extract_aligned_pointer_as_index %full : memref<!mosaic_gpu.barrier, #shared> -> index
        %number = arith.index_cast %address : index to i64
        %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
        mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
        gpu.barrier
        %a_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
        %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
            : memref<64x64xf16, #shared>
        %b_memory = memref.alloc() {alignment = 1024 : i64} : memref<64x64xf16, #shared>
        %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>]
            : memref<64x64xf16, #shared>
        %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false)
            -> (vector<64x64xf32>, i1) {
          %k32 = arith.index_cast %k : index to i32
          mosaic_gpu.arrive_expect_tx barrier(%full : memref<!mosaic_gpu.barrier, #shared>) 16384
          mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
              : memref<64x1024xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
          mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
              : memref<1024x64xf16>[i32, i32] to memref<64x64xf16, #shared>, memref<!mosaic_gpu.barrier, #shared>
          mosaic_gpu.wait barrier(%full : memref<!mosaic_gpu.barrier, #shared>) parity(%parity : i1)
          %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : memref<64x64xf16, #shared>)
              b(%b_tile : memref<64x64xf16, #shared>) {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]}
              -> vector<64x64xf32>
          gpu.barrier
          %other = arith.xori %parity, %true : i1
          scf.yield %next, %other : vector<64x64xf32>, i1
        }
        vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
            : vector<64x64xf32>, memref<64x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let options = [
    AutoOrNumberOption<"depth", "depth", "::smalti::AutoOrNumber()",
           "Slots of each buffer, 1 to 16, or `auto`: the most, up to 8, that the estimate says to be the best, "
           "e.g. `depth=4`">,
    TargetOption<>,
    Option<"ifItPays", "if-it-pays", "bool", "false",
           "Leave kernels as they are that the estimate says to take no less time, or that have no synchronous `wgmma`, "
           "e.g. `if-it-pays=true`">,
    StrictOption<"A kernel that stays as it is">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiOrderTiles : InterfacePass<"smalti-order-tiles", "::mlir::FunctionOpInterface"> {
  let summary = "Computes the tiles of a program in an order that caches like";
  let description = [{
    Blocks with neighbouring numbers run at the same time. Where a tile program divides its tile id by the number of
    columns, as row `id / columns` and column `id mod columns`, such blocks share a row of tiles, and between them read all
    columns. This pass has them compute tiles of a compact area: `grouped` goes down `width` rows in each column before the
    next column, `snake` does the same and turns round at the end of each group of rows, so that the columns that were
    read last come first.

    With `order=auto` the pass counts bytes. A row of tiles reads its part of the arrays from which the row alone
    chooses, a column likewise. Where all of that fits the chip's cache, every order is as good, and the program stays as
    it is. Elsewhere the width is the one with which tiles that run at once read the least.

    The tile id is replaced by another one, a permutation of all of them: programs of different ids may run in any order,
    so that every program stays right. Where the columns are not to be seen, or a row or a column is all there is, the
    program stays as it is, with a remark.

    Example:

    ```mlir
    triton_xla.entry_func @copy(%src: memref<512x512xf32>, %dst: memref<512x512xf32>, %tile: index) tiles 64 {
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %i = arith.divui %tile, %c8 : index
      %j = arith.remui %tile, %c8 : index
      %row = arith.muli %i, %c64 : index
      %column = arith.muli %j, %c64 : index
      %t = triton_xla.extract %src[%row, %column] [64, 64] [1, 1] : memref<512x512xf32> to tensor<64x64xf32>
      triton_xla.insert %t into %dst[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<512x512xf32>
      triton_xla.return
    }
    ```
  }];
  let options = [
    Option<"order", "order", "::smalti::TileOrderKind", "::smalti::TileOrderKind::Grouped",
           "The rasterization order of tiles, e.g. `order=snake`", TileOrderKinds.values>,
    Option<"width", "width", "int64_t", "8", "Rows of tiles in a group, unless `order=auto`, e.g. `width=4`">,
    TargetOption<", for `order=auto`">,
    AutoOrNumberOption<"blocks", "blocks", "::smalti::AutoOrNumber()",
           "Blocks that run concurrently, for `order=auto`, or `auto`: as many as the chip has compute units, e.g. "
           "`blocks=66`">,
    StrictOption<"A program that stays as it is">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // SMALTI_PASSES_WARPSPECIALIZATION_PASSES
