// Blocks with several thread groups, thread-level and warp-level code, and optimization barriers.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize))' | FileCheck %s

#wgmma = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
#chunks = #mosaic_gpu.WGStridedFragLayout<[256], 2>

gpu.module @m {
  // Thread ids are relative to the thread group.
  // CHECK-LABEL: gpu.func @programs(
  gpu.func @programs(%a: memref<256xf32>) kernel attributes {known_block_size = array<i32: 384, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // CHECK-DAG: %[[SIZE:.*]] = arith.constant 128 : index
    // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
    // CHECK-DAG: %[[T:.*]] = gpu.thread_id  x
    // CHECK: %[[MINE:.*]] = arith.remui %[[T]], %[[SIZE]]
    // CHECK: %[[AT:.*]] = arith.muli %[[MINE]], %[[TWO]]
    // CHECK: vector.load %{{.*}}[%[[AT]]]
    %v = mosaic_gpu.vector_load %a {out_layouts = [#chunks]} : memref<256xf32> -> vector<256xf32>
    mosaic_gpu.vector_store %v, %a {in_layouts = [#chunks]} : vector<256xf32>, memref<256xf32>
    gpu.return
  }

  // Warps start after all threads of the group arrive, and the group continues after all warps finish: barrier 1 is
  // that of the first thread group.
  // CHECK-LABEL: gpu.func @warps(
  gpu.func @warps(%a: memref<256xf32>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, mosaic_gpu.thread_group_size = 128 : i64} {
    // CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : i32
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
    // CHECK: %[[PROGRAM:.*]] = arith.divui %{{.*}}, %{{.*}} : index
    // CHECK: %[[AFTER:.*]] = arith.addi %[[PROGRAM]], %[[ONE]]
    // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[AFTER]] : index to i32
    // CHECK: nvvm.barrier id = %[[NUMBER]] number_of_threads = %{{.*}}
    // CHECK: memref.load
    // CHECK: memref.store
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    mosaic_gpu.warp_map (%m = %a : memref<256xf32>, %j = %i : index) {
      %x = memref.load %m[%j] : memref<256xf32>
      %c0 = arith.constant 0 : index
      memref.store %x, %m[%c0] : memref<256xf32>
    }
    gpu.return
  }

  // The body splits the vector into the registers of a thread.
  // CHECK-LABEL: gpu.func @primitive(
  gpu.func @primitive(%a: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<2xf32>
    // CHECK: %[[V0:.*]] = vector.load
    // CHECK: %[[V1:.*]] = vector.load
    // CHECK: %[[R0:.*]] = arith.mulf %[[V0]], %[[HALF]] : vector<2xf32>
    // CHECK: %[[R1:.*]] = arith.addf %[[V1]], %[[V1]] : vector<2xf32>
    // CHECK: vector.store %[[R0]]
    // CHECK: vector.store %[[R1]]
    %v = mosaic_gpu.vector_load %a {out_layouts = [#wgmma]} : memref<64x8xf32> -> vector<64x8xf32>
    %r = mosaic_gpu.custom_primitive (%x = %v : vector<64x8xf32>) {
      %half = arith.constant dense<0.5> : vector<2xf32>
      %regs:2 = builtin.unrealized_conversion_cast %x : vector<64x8xf32> to vector<2xf32>, vector<2xf32> {layout = #wgmma, registers_shape = [1, 1, 1, 1, 2, 1, 1, 1, 1]}
      %r0 = arith.mulf %regs#0, %half : vector<2xf32>
      %r1 = arith.addf %regs#1, %regs#1 : vector<2xf32>
      %y = builtin.unrealized_conversion_cast %r0, %r1 : vector<2xf32>, vector<2xf32> to vector<64x8xf32> {layout = #wgmma, registers_shape = [1, 1, 1, 1, 2, 1, 1, 1, 1]}
      mosaic_gpu.return %y : vector<64x8xf32>
    } {in_layouts = [#wgmma], in_transforms = [], out_layouts = [#wgmma]} -> vector<64x8xf32>
    mosaic_gpu.vector_store %r, %a {in_layouts = [#wgmma]} : vector<64x8xf32>, memref<64x8xf32>
    gpu.return
  }

  // Registers pass through an empty inline assembly, 32 bits at a time.
  // CHECK-LABEL: gpu.func @opaque(
  gpu.func @opaque(%x: f16, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<2xf16> to vector<1xi32>
    // CHECK: %[[WORD:.*]] = vector.extract %[[WORDS]][0]
    // CHECK: llvm.inline_asm has_side_effects "", "=r,0" %[[WORD]] : (i32) -> i32
    // CHECK: llvm.inline_asm has_side_effects "", "=r,0" %{{.*}} : (i32) -> i32
    %v = vector.broadcast %x {out_layouts = [#chunks]} : f16 to vector<256xf16>
    %o:2 = mosaic_gpu.optimization_barrier %v, %i : vector<256xf16>, i32
    gpu.return
  }
}
