// Scalar accesses of packed elements, for parts of rows that may begin or end inside a byte.
// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_80 | FileCheck %s
// RUN: smalti-opt %s --convert-mosaic-gpu-to-rocdl=target=gfx1100 | FileCheck %s

#one = #mosaic_gpu.WGStridedFragLayout<[64], 1>
#four = #mosaic_gpu.WGStridedFragLayout<[256], 4>
#rows = #mosaic_gpu.WGStridedFragLayout<[4, 64], 4>
gpu.module @m {
  // CHECK-LABEL: gpu.func @odd_begin
  // CHECK: %[[SHIFT:.*]] = arith.index_cast %{{.*}} : index to i8
  // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: %[[BITS:.*]] = arith.shrui %[[BYTE]], %[[SHIFT]] : i8
  // CHECK: arith.trunci %[[BITS]] : i8 to i4
  // CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr<1> -> i8
  // CHECK-NOT: llvm.load
  gpu.func @odd_begin(%m: memref<512xi4>, %out: memref<256xi8>, %pad: i4, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.transfer_read %m[%i], %pad {in_bounds = [true], out_layouts = [#four]} : memref<512xi4>, vector<256xi4>
    %w = arith.extui %v {in_layouts = [#four], out_layouts = [#four]} : vector<256xi4> to vector<256xi8>
    mosaic_gpu.vector_store %w, %out {in_layouts = [#four]} : vector<256xi8>, memref<256xi8>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_element
  // CHECK: %[[ONES:.*]] = arith.shli %{{.*}}, %[[AT:.*]] : i8
  // CHECK: %[[OTHERS:.*]] = arith.xori %[[ONES]]
  // CHECK: %[[OWN:.*]] = arith.shli %{{.*}}, %[[AT]] : i8
  // CHECK: llvm.atomicrmw _and %[[P:.*]], %[[OTHERS]] syncscope("{{device|agent}}") monotonic {alignment = 1 : i64}
  // CHECK: llvm.atomicrmw _or %[[P]], %[[OWN]] syncscope("{{device|agent}}") monotonic {alignment = 1 : i64}
  gpu.func @one_element(%n: memref<64xi8>, %m: memref<64xi4>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %n {out_layouts = [#one]} : memref<64xi8> -> vector<64xi8>
    %w = arith.trunci %v {in_layouts = [#one], out_layouts = [#one]} : vector<64xi8> to vector<64xi4>
    mosaic_gpu.vector_store %w, %m {in_layouts = [#one]} : vector<64xi4>, memref<64xi4>
    gpu.return
  }

  // Each lane loads and stores its element in its byte, if its mask is set.
  // CHECK-LABEL: gpu.func @indexed
  // CHECK: scf.if %{{.*}} -> (vector<1xi2>) {
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw _and
  // CHECK: llvm.atomicrmw _or
  gpu.func @indexed(%m: memref<?xi2>, %n: memref<?xi2>, %at: memref<64xi32>, %k: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = mosaic_gpu.vector_load %at {out_layouts = [#one]} : memref<64xi32> -> vector<64xi32>
    %mask = vector.create_mask %k {out_layouts = [#one]} : vector<64xi1>
    %zero = arith.constant dense<0> : vector<64xi2>
    %v = vector.gather %m[%c0] [%i], %mask, %zero {in_layouts = [#one, #one, #one], out_layouts = [#one]}
        : memref<?xi2>, vector<64xi32>, vector<64xi1>, vector<64xi2> into vector<64xi2>
    vector.scatter %n[%c0] [%i], %mask, %v {in_layouts = [#one, #one, #one]} : memref<?xi2>, vector<64xi32>, vector<64xi1>, vector<64xi2>
    gpu.return
  }

  // The stride is proven to be a multiple of 8, so that a thread loads 4 elements as 2 bytes.
  // CHECK-LABEL: gpu.func @dynamic_stride
  // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> vector<2xi8>
  // CHECK-NOT: llvm.load
  gpu.func @dynamic_stride(%m: memref<i4>, %s: index, %out: memref<4x64xi4>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0 : i4
    %stride = mosaic_gpu.assume_multiple %s, 8 : index
    %view = memref.reinterpret_cast %m to offset: [0], sizes: [4, 64], strides: [%stride, 1] : memref<i4> to memref<4x64xi4, strided<[?, 1]>>
    %v = vector.transfer_read %view[%c0, %c0], %pad {in_bounds = [true, true], out_layouts = [#rows]} : memref<4x64xi4, strided<[?, 1]>>, vector<4x64xi4>
    mosaic_gpu.vector_store %v, %out {in_layouts = [#rows]} : vector<4x64xi4>, memref<4x64xi4>
    gpu.return
  }
}
