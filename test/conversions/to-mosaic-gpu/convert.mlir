// RUN: smalti-opt %s '-convert-triton-xla-to-mosaic-gpu=target=sm_90a matmul=mma' -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: smalti-opt %s -convert-triton-xla-to-mosaic-gpu=target=gfx942 -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942

// A dot: operands staged in shared memory, steps of one MMA's K, barriers.

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @matmul_module {
// CHECK: gpu.func @matmul(%[[A:.*]]: memref<500x300xf16> {llvm.align = 16 : i64, llvm.noalias}
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<500x260xf32>
// CHECK-SAME: kernel attributes
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 12, 1, 1>
// CHECK-SAME: smalti.arguments = [memref<500x300xf16>, memref<300x260xf16>, memref<500x260xf32>]
// SM90-SAME: smalti.num_warps = 8
// GFX942-SAME: smalti.num_warps = 4
// CHECK: %[[SA:.*]] = memref.alloc() : memref<128x64xf16, #gpu.address_space<workgroup>>
// SM90: %[[SB:.*]] = memref.alloc() : memref<64x128xf16, #gpu.address_space<workgroup>>
// GFX942: %[[SB:.*]] = memref.alloc() : memref<128x64xf16, #gpu.address_space<workgroup>>
// CHECK: %[[ID:.*]] = gpu.block_id x
// CHECK: arith.divui %[[ID]]
// CHECK: %[[INIT:.*]] = vector.transfer_read %[[C]][{{.*}}], %{{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{.*}}>]} : memref<500x260xf32>, vector<128x128xf32>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[INIT]]) -> (vector<128x128xf32>)

// SM90: mosaic_gpu.async_copy %[[A]][{{.*}}] to %[[SA]]
// SM90: mosaic_gpu.async_copy %{{.*}} to %[[SB]]
// SM90-NEXT: mosaic_gpu.async_commit_group
// SM90-NEXT: mosaic_gpu.async_wait_group 0
// GFX942-NOT: async_copy
// GFX942: %[[TA:.*]] = vector.transfer_read %[[A]]{{.*}} {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 64], 4>]}
// GFX942: %[[TB:.*]] = vector.transfer_read %{{.*}} {out_layouts = [#mosaic_gpu.TiledLayout<{{\[}}[32, 128], [8, 128], [4, 4]],
// GFX942: mosaic_gpu.vector_store %[[TA]], %[[SA]] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128, 64], 4>]}
// GFX942-NEXT: %[[COLUMNS:.*]] = mosaic_gpu.layout_cast x(%[[TB]]
// GFX942-NEXT: %[[TRANSPOSED:.*]] = vector.transpose %[[COLUMNS]], [1, 0]
// GFX942-NEXT: mosaic_gpu.vector_store %[[TRANSPOSED]], %[[SB]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %[[SUBA:.*]] = memref.subview %[[SA]][0, 0] [128, 16] [1, 1]
// CHECK-NEXT: %[[FA:.*]] = mosaic_gpu.vector_load %[[SUBA]]
// SM90-NEXT: %[[SUBB:.*]] = memref.subview %[[SB]][0, 0] [16, 128] [1, 1]
// GFX942-NEXT: %[[PARTB:.*]] = memref.subview %[[SB]][0, 0] [128, 16] [1, 1]
// GFX942-NEXT: %[[SUBB:.*]] = memref.transpose %[[PARTB]]
// CHECK-NEXT: %[[FB:.*]] = mosaic_gpu.vector_load %[[SUBB]]
// CHECK-NEXT: %[[M0:.*]] = mosaic_gpu.mma accumulator(%[[SUM]] : vector<128x128xf32>) a(%[[FA]] : vector<128x16xf16>) b(%[[FB]] : vector<16x128xf16>)
// CHECK: memref.subview %[[SA]][0, 16] [128, 16] [1, 1]
// CHECK: %[[M1:.*]] = mosaic_gpu.mma accumulator(%[[M0]]
// CHECK: %[[M2:.*]] = mosaic_gpu.mma accumulator(%[[M1]]
// CHECK: %[[M3:.*]] = mosaic_gpu.mma accumulator(%[[M2]]
// CHECK-NOT: mosaic_gpu.mma
// CHECK: gpu.barrier
// CHECK-NEXT: scf.yield {{.*}} %[[M3]]
// The windows of C and the layouts are the same: no barrier between the read and the write.
// CHECK-NOT: gpu.barrier
// CHECK: vector.transfer_write %{{.*}}, %[[C]]
// CHECK: gpu.return
// CHECK-NOT: triton_xla
triton_xla.entry_func @matmul(
    %a: memref<500x300xf16>, %b: memref<300x260xf16>, %c: memref<500x260xf32>, %tile: index) tiles 12 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index
  %tile_row = arith.divui %tile, %c3 : index
  %tile_column = arith.remui %tile, %c3 : index
  %row = arith.muli %tile_row, %c128 : index
  %column = arith.muli %tile_column, %c128 : index
  %before = triton_xla.extract %c[%row, %column] [128, 128] [1, 1] : memref<500x260xf32> to tensor<128x128xf32>
  %after = scf.for %k = %c0 to %c300 step %c64 iter_args(%sum = %before) -> (tensor<128x128xf32>) {
    %a_tile = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<500x300xf16> to tensor<128x64xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [64, 128] [1, 1] : memref<300x260xf16> to tensor<64x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  triton_xla.insert %after into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf32> into memref<500x260xf32>
  triton_xla.return
}

// -----

// Element-wise ops share one strided layout, as wide as the accesses to memory allow; splats keep theirs.

// CHECK-LABEL: gpu.func @elementwise
// CHECK-DAG: %[[ONE:.*]] = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[1024]>]} dense<1.000000e+00> : vector<1024xf32>
// CHECK-DAG: %[[S:.*]] = vector.broadcast %{{.*}} {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[1024]>]} : f32 to vector<1024xf32>
// CHECK: %[[X:.*]] = vector.transfer_read {{.*}} {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]} : memref<1000xf32>, vector<1024xf32>
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[ONE]] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>, #mosaic_gpu.WGStridedFragLayout<[1024], 4>], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]} : vector<1024xf32>
// CHECK: %[[Z:.*]] = arith.mulf %[[Y]], %[[S]] {{.*}} : vector<1024xf32>
// CHECK: %[[H:.*]] = arith.truncf %[[Z]] {{.*}} : vector<1024xf32> to vector<1024xf16>
// CHECK: vector.transfer_write %[[H]], {{.*}} {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[1024], 4>]}
triton_xla.entry_func @elementwise(%x: memref<1000xf32>, %y: memref<1000xf16>, %scale: f32, %tile: index) tiles 1 {
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %s = tensor.splat %scale : tensor<1024xf32>
  %c0 = arith.constant 0 : index
  %t = triton_xla.extract %x[%c0] [1024] [1] : memref<1000xf32> to tensor<1024xf32>
  %u = arith.addf %t, %one : tensor<1024xf32>
  %v = arith.mulf %u, %s : tensor<1024xf32>
  %h = arith.truncf %v : tensor<1024xf32> to tensor<1024xf16>
  triton_xla.insert %h into %y[%c0] [1024] [1] : tensor<1024xf16> into memref<1000xf16>
  triton_xla.return
}

// -----

// A row of odd length: vectors of one element, so that none crosses the end of a row. The static window in bounds is
// marked as such.

// CHECK-LABEL: gpu.func @odd_rows
// CHECK: vector.transfer_read {{.*}} {in_bounds = [true, true], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 32], 1>]}
triton_xla.entry_func @odd_rows(%x: memref<33x33xf32>, %y: memref<33x33xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [32, 32] [1, 1] : memref<33x33xf32> to tensor<32x32xf32>
  triton_xla.insert %t into %y[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<33x33xf32>
  triton_xla.return
}

// -----

// Tiles that the number of threads does not divide: powers of two are distributed across lanes, the rest is replicated
// or in registers.

// CHECK-LABEL: gpu.func @small
// CHECK-SAME: smalti.num_warps = 1
// SM90: vector.transfer_read {{.*}} {in_bounds = [true, true], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}1, 8], [1]], warp_dims = [], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>]}
// GFX942: vector.transfer_read {{.*}} {in_bounds = [true, true], out_layouts = [#mosaic_gpu.TiledLayout<{{\[\[}}1, 8], [1]], warp_dims = [], lane_dims = [-2, #mosaic_gpu.Replicated<times = 8>], vector_dim = -1>]}
triton_xla.entry_func @small(%x: memref<3x8xf32>, %y: memref<3x8xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [3, 8] [1, 1] : memref<3x8xf32> to tensor<3x8xf32>
  triton_xla.insert %t into %y[0, 0] [3, 8] [1, 1] : tensor<3x8xf32> into memref<3x8xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: gpu.func @mask
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[T:.*]] = vector.transfer_read
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[M:.*]] = vector.create_mask %[[N]], %[[C8]] {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 16], {{[0-9]}}>]} : vector<32x16xi1>
// CHECK: %[[V:.*]] = vector.broadcast %{{.*}} {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[32, 16]>]}
// CHECK: arith.select %[[M]], %[[T]], %[[V]] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[32, 16], [[W:[0-9]]]>, #mosaic_gpu.WGStridedFragLayout<[32, 16], [[W]]>, #mosaic_gpu.WGStridedFragLayout<[32, 16], [[W]]>]
triton_xla.entry_func @mask(%src: memref<32x16xf32>, %n: index, %tile: index) tiles 1 {
  %zero = arith.constant 0.0 : f32
  %t = triton_xla.extract %src[0, 0] [32, 16] [1, 1] : memref<32x16xf32> to tensor<32x16xf32>
  %m = triton_xla.mask %t [%n, 8], %zero : tensor<32x16xf32>
  triton_xla.insert %m into %src[0, 0] [32, 16] [1, 1] : tensor<32x16xf32> into memref<32x16xf32>
  triton_xla.return
}

// -----

// Every second element: a dense window of the odd or even elements.

// CHECK-LABEL: gpu.func @strided
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1999xf32>
// CHECK-SAME: %[[O:[a-z0-9]+]]: index
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [%[[P:.*]]], sizes: [%{{.*}}], strides: [2] : memref<1999xf32> to memref<?xf32, strided<[2], offset: ?>>
// CHECK: vector.transfer_read %[[VIEW]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [1], sizes: [500], strides: [2] : memref<1000xf32> to memref<500xf32, strided<[2], offset: 1>>
// CHECK: vector.transfer_write
triton_xla.entry_func @strided(%x: memref<1999xf32>, %y: memref<1000xf32>, %o: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[%o] [256] [2] : memref<1999xf32> to tensor<256xf32>
  triton_xla.insert %t into %y[3] [256] [2] : tensor<256xf32> into memref<1000xf32>
  triton_xla.return
}

// -----

// Dropped dimensions are checked separately from the transfer.

// CHECK-LABEL: gpu.func @row
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<100x60xf16>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %block_id_x, %c100
// CHECK: %[[ROW:.*]] = arith.select %[[INSIDE]], %block_id_x, %c0
// CHECK: %[[T:.*]] = vector.transfer_read %[[X]][%[[ROW]], %{{.*}}], %[[FILL:.*]] {out_layouts = {{.*}}} : memref<100x60xf16>, vector<64xf16>
// CHECK: %[[OUT:.*]] = vector.broadcast %[[FILL]]
// CHECK: arith.select %[[INSIDE]], %[[T]], %[[OUT]]
// CHECK: scf.if
// CHECK-NEXT: vector.transfer_write
triton_xla.entry_func @row(%x: memref<100x60xf16>, %y: memref<100x60xf16>, %tile: index) tiles 101 {
  %t = triton_xla.extract %x[%tile, 0] [1, 64] [1, 1] fill 1.0 : f16 : memref<100x60xf16> to tensor<64xf16>
  triton_xla.insert %t into %y[%tile, 0] [1, 64] [1, 1] : tensor<64xf16> into memref<100x60xf16>
  triton_xla.return
}

// -----

// A tile that is written and read again with other windows needs a barrier, also across iterations.

// CHECK-LABEL: gpu.func @shift
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK: vector.transfer_read
// CHECK-NEXT: gpu.barrier
// CHECK: vector.transfer_write
// CHECK: }
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
triton_xla.entry_func @shift(%x: memref<1024xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %t = triton_xla.extract %x[%i] [256] [1] : memref<1024xf32> to tensor<256xf32>
    triton_xla.insert %t into %x[4] [256] [1] : tensor<256xf32> into memref<1024xf32>
  }
  triton_xla.return
}

// -----

// Branches carry tiles.

// CHECK-LABEL: gpu.func @branch
// CHECK: scf.if %{{.*}} -> (vector<256xf32>) {
// CHECK: scf.yield {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], [[W:[0-9]]]>]}
// CHECK: } else {
// CHECK: } {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[256], [[W]]>]}
triton_xla.entry_func @branch(%x: memref<256xf32>, %c: i1, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %r = scf.if %c -> (tensor<256xf32>) {
    %t = triton_xla.extract %x[0] [256] [1] : memref<256xf32> to tensor<256xf32>
    scf.yield %t : tensor<256xf32>
  } else {
    scf.yield %zero : tensor<256xf32>
  }
  triton_xla.insert %r into %x[0] [256] [1] : tensor<256xf32> into memref<256xf32>
  triton_xla.return
}

// -----

// Outstanding copies are committed before control flow, since the dot inside may not execute.

// SM90-LABEL: gpu.func @copies_around_if
// SM90: mosaic_gpu.async_copy
// SM90: mosaic_gpu.async_copy
// SM90: mosaic_gpu.async_commit_group
// SM90: scf.if
// SM90: mosaic_gpu.async_copy
// SM90: mosaic_gpu.async_copy
// SM90: mosaic_gpu.async_commit_group
// SM90: } else {
// SM90-NOT: async_commit_group
// SM90: mosaic_gpu.async_wait_group 0
triton_xla.entry_func @copies_around_if(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>, %p: i1,
                                        %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %b0 = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %sum = scf.if %p -> (tensor<64x64xf32>) {
    %a1 = triton_xla.extract %a[%c0, %c64] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
    %b1 = triton_xla.extract %b[%c64, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
    %d1 = triton_xla.dot %a1, %b1, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d1 : tensor<64x64xf32>
  } else {
    scf.yield %zero : tensor<64x64xf32>
  }
  %d0 = triton_xla.dot %a0, %b0, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %d0 into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// llvm.align limits the copies: 2 bytes are less than the narrowest copy.

// SM90-LABEL: gpu.func @stated_alignment(%{{.*}}: memref<64x64xf16> {llvm.align = 2 : i64, llvm.noalias}
// SM90: vector.transfer_read %{{.*}} : memref<64x64xf16>, vector<64x64xf16>
// SM90: mosaic_gpu.async_copy
// SM90-NOT: mosaic_gpu.async_copy
triton_xla.entry_func @stated_alignment(%a: memref<64x64xf16> {llvm.align = 2 : i64}, %b: memref<64x64xf16>,
                                        %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a0 = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %b0 = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %d0 = triton_xla.dot %a0, %b0, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %d0 into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
