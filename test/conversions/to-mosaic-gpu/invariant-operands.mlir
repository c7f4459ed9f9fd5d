// Loop-invariant operands of wgmma: one store to shared memory, before the loop
// RUN: smalti-opt %s -smalti-expand-tile-ops -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -o %t.mlir --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir

// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; A stored to shared memory once, TMA load of B, 8192 B
// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; A in registers, TMA load of B, 8192 B
// CHECK-LABEL: gpu.func @attention
// CHECK: %[[Q:.*]] = memref.alloc() {alignment = 1024 : i64, out_transforms = {{.*}}#mosaic_gpu.swizzle<128 : i32>{{.*}}} : memref<64x64xf16
// CHECK: %[[TILE:.*]] = vector.transfer_read %arg0
// CHECK-NEXT: mosaic_gpu.vector_store %[[TILE]], %[[Q]] {{.*}}in_transforms = [{{.*}}#mosaic_gpu.swizzle<128 : i32>
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK-NEXT: gpu.barrier
// CHECK: scf.for
// CHECK: mosaic_gpu.async_load
// CHECK: mosaic_gpu.wgmma accumulator({{.*}}) a(%[[Q]] : memref<64x64xf16
// CHECK: mosaic_gpu.async_load
// CHECK: mosaic_gpu.wgmma accumulator({{.*}}) a({{.*}} : vector<64x64xf16>
triton_xla.entry_func @attention(%q: memref<128x64xf16>, %k: memref<128x64xf16>, %v: memref<128x64xf16>,
                                 %o: memref<128x64xf32>, %tile: index) tiles 2 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = arith.muli %tile, %c64 : index
  %qt = triton_xla.extract %q[%row, 0] [64, 64] [1, 1] : memref<128x64xf16> to tensor<64x64xf16>
  %sum = scf.for %j = %c0 to %c128 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %kt = triton_xla.extract %k[%j, 0] [64, 64] [1, 1] : memref<128x64xf16> to tensor<64x64xf16>
    %kT = triton_xla.transpose %kt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = triton_xla.dot %qt, %kT, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %vt = triton_xla.extract %v[%j, 0] [64, 64] [1, 1] : memref<128x64xf16> to tensor<64x64xf16>
    %next = triton_xla.dot %p, %vt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %o[%row, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<128x64xf32>
  triton_xla.return
}

// -----

// Dots without TMA loads do not have an mbarrier. The loop has a transposed view of B.
// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; A stored to shared memory once, B stored to shared memory once, 0 B
// CHECK-LABEL: gpu.func @powers
// CHECK-NOT: mosaic_gpu.initialize_barrier
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 512 : i64
// CHECK: %[[B:.*]] = memref.alloc() {alignment = 512 : i64
// CHECK-NEXT: %[[VIEW:.*]] = memref.transpose %[[B]]
// CHECK: mosaic_gpu.vector_store %{{.*}}, %[[A]]
// CHECK: mosaic_gpu.vector_store %{{.*}}, %[[B]]
// CHECK: scf.for
// CHECK: mosaic_gpu.wgmma accumulator({{.*}}) a(%[[A]] : {{.*}} b(%[[VIEW]] :
triton_xla.entry_func @powers(%a: memref<64x64xf8E4M3FN>, %b: memref<64x64xf8E4M3FN>, %c: memref<64x64xf32>, %times: index,
                              %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %at = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : memref<64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
  %bt = triton_xla.extract %b[0, 0] [64, 64] [1, 1] : memref<64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
  %bT = triton_xla.transpose %bt [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %sum = scf.for %i = %c0 to %times step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %next = triton_xla.dot %at, %bT, %acc : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
