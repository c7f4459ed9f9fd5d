// Loop-invariant operands of wgmma: one store to shared memory, before the loop
// RUN: smalti-opt %s -smalti-expand-tile-ops -convert-triton-xla-to-mosaic-gpu=target=sm_90a -split-input-file -o %t.mlir --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: smalti-opt %s -smalti-expand-tile-ops -convert-triton-xla-to-mosaic-gpu='target=sm_90a copies=async' -split-input-file -o /dev/null --remarks-filter=convert-triton-xla-to-mosaic-gpu 2>&1 | FileCheck %s --check-prefix=ASYNC

// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A stored to shared memory once, B loaded by TMA (8192 B by TMA)
// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A in registers, B loaded by TMA (8192 B by TMA)
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
// ASYNC-COUNT-2: Function=powers | Remark="asynchronous copy not used: copies=async is requested, but the kernel uses wgmma, whose operands are copied by TMA; to use asynchronous copies, set matmul=mma"
// ASYNC: Function=powers | Remark="dot lowered to wgmma
// REMARK: dot lowered to wgmma: 64x64x64 on 1 warpgroup; operand A stored to shared memory once, B stored to shared memory once
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

// -----

// The limit of 256 rows is that of TMA only.
// REMARK: dot lowered to wgmma: 512x32x32 on 2 warpgroups; operand A stored to shared memory once, B loaded by TMA (2048 B by TMA)
// CHECK-LABEL: gpu.func @many_rows
// CHECK: mosaic_gpu.wgmma accumulator({{.*}}) a(%{{.*}} : memref<512x32xf16
triton_xla.entry_func @many_rows(%a: memref<512x32xf32>, %b: memref<64x32xf16>, %c: memref<512x32xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<512x32xf32>
  %wide = triton_xla.extract %a[0, 0] [512, 32] [1, 1] : memref<512x32xf32> to tensor<512x32xf32>
  %at = arith.truncf %wide : tensor<512x32xf32> to tensor<512x32xf16>
  %sum = scf.for %i = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<512x32xf32>) {
    %bt = triton_xla.extract %b[%i, 0] [32, 32] [1, 1] : memref<64x32xf16> to tensor<32x32xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<512x32xf16>, tensor<32x32xf16> -> tensor<512x32xf32>
    scf.yield %next : tensor<512x32xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [512, 32] [1, 1] : tensor<512x32xf32> into memref<512x32xf32>
  triton_xla.return
}

// -----

// REMARK: wgmma not used: operand B cannot be stored to shared memory: the rows of the tile have 16 B; a multiple of 32 B is required; compute the transpose of the tile before the loop, and use triton_xla.transpose of it as the operand
// CHECK-LABEL: gpu.func @narrow_rows
triton_xla.entry_func @narrow_rows(%a: memref<64x64xf16>, %b: memref<32x8xf16>, %c: memref<64x8xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %bt = triton_xla.extract %b[0, 0] [32, 8] [1, 1] : memref<32x8xf16> to tensor<32x8xf16>
  %sum = scf.for %i = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x8xf32>) {
    %at = triton_xla.extract %a[0, %i] [64, 32] [1, 1] : memref<64x64xf16> to tensor<64x32xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    scf.yield %next : tensor<64x8xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [64, 8] [1, 1] : tensor<64x8xf32> into memref<64x8xf32>
  triton_xla.return
}

// -----

// REMARK: wgmma not used: operand B is not contiguous along K, which wgmma requires for elements of type f8E4M3FN; use triton_xla.transpose of a tile with N rows and K columns
// CHECK-LABEL: gpu.func @rows_of_b
triton_xla.entry_func @rows_of_b(%a: memref<64x64xf8E4M3FN>, %b: memref<32x64xf8E4M3FN>, %c: memref<64x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %bt = triton_xla.extract %b[0, 0] [32, 64] [1, 1] : memref<32x64xf8E4M3FN> to tensor<32x64xf8E4M3FN>
  %sum = scf.for %i = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[0, %i] [64, 32] [1, 1] : memref<64x64xf8E4M3FN> to tensor<64x32xf8E4M3FN>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E4M3FN> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}

// -----

// Operand A in registers is not transposed.
// REMARK: wgmma not used: TMA cannot load operand A: the operand is computed in registers; it must be the direct result of triton_xla.extract
// CHECK-LABEL: gpu.func @computed_transpose
triton_xla.entry_func @computed_transpose(%a: memref<64x64xf16>, %b: memref<64x32xf16>, %c: memref<64x32xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) {
    %a0 = triton_xla.extract %a[%i, 0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
    %a1 = arith.addf %a0, %a0 : tensor<64x64xf16>
    %at = triton_xla.transpose %a1 [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %bt = triton_xla.extract %b[0, 0] [64, 32] [1, 1] : memref<64x32xf16> to tensor<64x32xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> into memref<64x32xf32>
  triton_xla.return
}

// -----

// A tile and its transpose have one buffer.
// CHECK-LABEL: gpu.func @both_views
// CHECK: %[[VIEW:.*]] = memref.transpose %[[X:[a-z0-9_]+]]
// CHECK: mosaic_gpu.vector_store %{{.*}}, %[[X]]
// CHECK-NOT: mosaic_gpu.vector_store
// CHECK: mosaic_gpu.wgmma {{.*}} b(%[[VIEW]] :
// CHECK: mosaic_gpu.wgmma {{.*}} b(%[[X]] :
triton_xla.entry_func @both_views(%x: memref<64x64xf16>, %y: memref<128x64xf16>, %z: memref<128x64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %no_scores = arith.constant dense<0.0> : tensor<64x64xf32>
  %no_sums = arith.constant dense<0.0> : tensor<64x64xf32>
  %xt = triton_xla.extract %x[0, 0] [64, 64] [1, 1] : memref<64x64xf16> to tensor<64x64xf16>
  %xT = triton_xla.transpose %xt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  scf.for %i = %c0 to %c128 step %c64 {
    %yt = triton_xla.extract %y[%i, 0] [64, 64] [1, 1] : memref<128x64xf16> to tensor<64x64xf16>
    %s = triton_xla.dot %yt, %xT, %no_scores : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %sum = triton_xla.dot %p, %xt, %no_sums : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    triton_xla.insert %sum into %z[%i, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<128x64xf32>
  }
  triton_xla.return
}

// -----

// REMARK: wgmma not used: with the warpgroups that split M, a tile needs more than 128 registers per thread; use smaller tiles
// CHECK-LABEL: gpu.func @many_registers
// CHECK-NOT: mosaic_gpu.wgmma
triton_xla.entry_func @many_registers(%x: memref<256x256xf16>, %y: memref<128x256xf16>, %z: memref<128x256xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %no_scores = arith.constant dense<0.0> : tensor<64x256xf32>
  %no_sums = arith.constant dense<0.0> : tensor<64x256xf32>
  %xt = triton_xla.extract %x[0, 0] [256, 256] [1, 1] : memref<256x256xf16> to tensor<256x256xf16>
  %xT = triton_xla.transpose %xt [1, 0] : tensor<256x256xf16> -> tensor<256x256xf16>
  scf.for %i = %c0 to %c128 step %c64 {
    %yt = triton_xla.extract %y[%i, 0] [64, 256] [1, 1] : memref<128x256xf16> to tensor<64x256xf16>
    %s = triton_xla.dot %yt, %xT, %no_scores : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
    %p = arith.truncf %s : tensor<64x256xf32> to tensor<64x256xf16>
    %sum = triton_xla.dot %p, %xt, %no_sums : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
    triton_xla.insert %sum into %z[%i, 0] [64, 256] [1, 1] : tensor<64x256xf32> into memref<128x256xf32>
  }
  triton_xla.return
}

// -----

// The buffers of the TMA store count.
// REMARK: dot lowered to wgmma: 192x192x256 on 3 warpgroups; operand A stored to shared memory once
// REMARK: TMA store not used: with its buffers, the kernel needs 246784 B of shared memory; sm_90a has 232448 B; use smaller tiles
// CHECK-LABEL: gpu.func @store_exceeds
// CHECK: mosaic_gpu.wgmma
// CHECK-NOT: mosaic_gpu.async_store
triton_xla.entry_func @store_exceeds(%a: memref<192x256xf16>, %b: memref<512x192xf16>, %c: memref<192x192xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 256 : index
  %end = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<192x192xf32>
  %at = triton_xla.extract %a[0, 0] [192, 256] [1, 1] : memref<192x256xf16> to tensor<192x256xf16>
  %sum = scf.for %i = %c0 to %end step %step iter_args(%acc = %zero) -> (tensor<192x192xf32>) {
    %bt = triton_xla.extract %b[%i, 0] [256, 192] [1, 1] : memref<512x192xf16> to tensor<256x192xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<192x256xf16>, tensor<256x192xf16> -> tensor<192x192xf32>
    scf.yield %next : tensor<192x192xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [192, 192] [1, 1] : tensor<192x192xf32> into memref<192x192xf32>
  triton_xla.return
}

// -----

// REMARK: wgmma not used: the operands of the dots need 254976 B of shared memory; sm_90a has 232448 B; use smaller tiles
// CHECK-LABEL: gpu.func @operands_exceed
// CHECK-NOT: mosaic_gpu.wgmma
triton_xla.entry_func @operands_exceed(%a: memref<256x256xf16>, %b: memref<512x240xf16>, %c: memref<256x240xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %step = arith.constant 256 : index
  %end = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<256x240xf32>
  %at = triton_xla.extract %a[0, 0] [256, 256] [1, 1] : memref<256x256xf16> to tensor<256x256xf16>
  %sum = scf.for %i = %c0 to %end step %step iter_args(%acc = %zero) -> (tensor<256x240xf32>) {
    %bt = triton_xla.extract %b[%i, 0] [256, 240] [1, 1] : memref<512x240xf16> to tensor<256x240xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<256x256xf16>, tensor<256x240xf16> -> tensor<256x240xf32>
    scf.yield %next : tensor<256x240xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [256, 240] [1, 1] : tensor<256x240xf32> into memref<256x240xf32>
  triton_xla.return
}
