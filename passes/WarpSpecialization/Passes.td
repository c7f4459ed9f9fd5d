//===- Passes.td - Warp specialization, tile order ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_WARPSPECIALIZATION_PASSES
#define SMALTI_PASSES_WARPSPECIALIZATION_PASSES

include "smalti/passes/Support/Options.td"

def SmaltiAsyncWgmma : InterfacePass<"smalti-async-wgmma", "::mlir::FunctionOpInterface"> {
  let summary = "Lowers mosaic_gpu.wgmma ops with smalti.synchronous to asynchronous wgmma with fences and waits";
  let description = [{
    `mosaic_gpu.wgmma` with the attribute `smalti.synchronous` reads its operands synchronously, so loop passes can move
    it like any other read. This pass removes the attribute and inserts `nvvm.wgmma.fence.aligned` before the op and
    `nvvm.wgmma.commit.group.sync.aligned` and `nvvm.wgmma.wait.group.sync.aligned 0` after it.

    Consecutive ops of an MLIR block share the fence, the commit and the wait. Only ops without side effects may be
    between them, and only the accumulator may be the result of an earlier op of the group. Other register operands must
    be available before the fence.

    Precondition: `smalti.synchronous` is a unit attribute; another value is an error. Nothing else is refused, and a
    function without synchronous ops is not changed. The cost is linear in the number of ops.

    Example:

    ```mlir
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    func.func @matmul(%c: vector<64x128xf32>, %a: memref<64x64xf16, #gpu.address_space<workgroup>>,
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
  let summary = "Splits a kernel into producer warps, which run its TMA loads, and consumer warps";
  let description = [{
    The block gets 128 more threads, the producers. They execute only the TMA loads, up to `depth` copies before the
    consumers. The original threads, the consumers, execute the rest of the kernel. Copied buffers and their mbarriers
    get `depth` slots. A second mbarrier per slot orders the consumers' reads before the next copy into the slot.
    Registers move from producers to consumers (`nvvm.setmaxregister`). The attribute `mosaic_gpu.thread_group_size` holds
    the number of consumer threads.

    If a `wgmma` is the only one in its loop and the loop carries its accumulator, one `wgmma` group stays in flight.
    Its slot is then released one iteration later, which requires 2 slots. Producers and consumers number copies across all
    loops. With a persistent grid, loads of the next tile overlap stores of the current one. The pass sets `smalti.slots`
    and `smalti.stages` of the kernel to 1, which disables `smalti-multi-buffer` and `smalti-pipeline-loops`.

    Preconditions; if one does not hold, the kernel is not changed and a missed remark gives the reason (an error with
    `strict`):
    - the target has TMA and `wgmma`;
    - `known_block_size` is one-dimensional, a multiple of 128, and leaves 128 threads for the producers; the kernel
      does not read thread or lane ids;
    - every `mosaic_gpu.wgmma` has `smalti.synchronous`, and at least one TMA load is in a loop;
    - every mbarrier is initialized once with arrival count 1. Its uses are in one MLIR block, in this order: one
      `mosaic_gpu.arrive_expect_tx`, unpredicated `mosaic_gpu.async_load`s, one `mosaic_gpu.wait`;
    - the entry block allocates the copied buffers, and only `wgmma` ops after the wait, in that MLIR block, read them;
    - the sources are kernel arguments that the kernel does not write;
    - addresses and loop bounds of the copies are computed from constants, arguments, block ids and induction variables,
      and all ops around the copies are `scf.for`;
    - the slots fit in the target's shared memory.

    `if-it-pays` compares two estimates of the time per tile, with and without specialization, and a remark reports
    both. A step of a loop takes the longest of three times. The first is that of its copies: bytes / L2 bandwidth per
    SM. The second is that of its `wgmma`: the larger of multiply-accumulates / tensor-core rate and operand bytes /
    shared-memory bandwidth. The third is (memory latency of one copy + copy time) / (slots - 1). Without
    specialization, the waits before and after the `wgmma` are added. Other resident blocks hide these waits; their
    number follows from threads, registers, shared memory and the grid. A loop with dynamic bounds counts as 16
    iterations.

    The kernel attributes `smalti.specialize` and `smalti.slots` override `if-it-pays` and `depth`;
    `smalti-choose-overlap` sets both.

    Cost: 128 more threads per block, and `depth` times the shared memory of the copied buffers. Compile time is linear
    in the size of the kernel, apart from alias queries between each copy and each written buffer.

    Example:

    ```mlir
    #shared = #gpu.address_space<workgroup>
    #acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
    gpu.module @kernels {
      gpu.func @matmul(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
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
           "Slots per copied buffer, that is, copies that the iterations use in turn, 1 to 16, e.g. `depth=4`; default: `auto`, the number, up to 8, with the shortest "
           "estimated time">,
    TargetOption<>,
    Option<"ifItPays", "if-it-pays", "bool", "false",
           "Apply the pass only to kernels with a `mosaic_gpu.wgmma` that has the attribute `smalti.synchronous` (a wait follows it), if an estimate predicts a shorter time; default: `false`">,
    StrictOption<"A kernel that is not specialized">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::smalti::mosaic_gpu::MosaicGPUDialect"];
}

def SmaltiOrderTiles : InterfacePass<"smalti-order-tiles", "::mlir::FunctionOpInterface"> {
  let summary = "Changes the rasterization order of tiles so that concurrent blocks share L2 data";
  let description = [{
    Blocks with adjacent ids run concurrently. A tile-level kernel usually computes row `id / columns` and column `id
    mod columns`. Concurrent blocks then share a row of tiles and together read all columns. This pass permutes the tile
    ids so that concurrent blocks cover a compact area. With `grouped`, a group has `width` rows, and its tiles are
    numbered down each column. `snake` also reverses the columns in every second group.

    `order=auto` estimates the bytes that concurrent tiles read, for each width, and chooses the width with the fewest,
    in snake order. An array counts for rows (columns) if its offsets depend only on the row (column).

    Precondition: all uses of the tile id are divisions and remainders by one constant, which divides the number of
    tiles. Tiles may run in any order, so the permutation is always correct.

    If the precondition does not hold, or if the grid has a single row or column, the kernel is not changed. A missed
    remark states the reason (an error with `strict`). With `order=auto`, three more cases do not change it: the target
    table has no L2 size, all arrays fit in L2, or no order reads less.

    Cost: 10 to 15 index operations per block. `order=auto` is linear in the number of ops plus the number of rows.

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
           "The rasterization order of tiles, e.g. `order=snake`; default: `grouped`", TileOrderKinds.values>,
    Option<"width", "width", "int64_t", "8", "Rows of tiles in a group, for `order=grouped` and `order=snake`, e.g. `width=4`; default: 8">,
    TargetOption<", for `order=auto`">,
    AutoOrNumberOption<"blocks", "blocks", "::smalti::AutoOrNumber()",
           "Concurrent blocks, for `order=auto`, e.g. `blocks=66`; default: `auto`, the number of compute units of "
           "the chip">,
    StrictOption<"A kernel whose order is not changed">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // SMALTI_PASSES_WARPSPECIALIZATION_PASSES
