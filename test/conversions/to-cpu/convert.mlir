// RUN: smalti-opt %s --convert-triton-xla-to-cpu --canonicalize --cse --split-input-file | FileCheck %s

// The tile id becomes a loop over a range; argument attributes are kept.

// CHECK-LABEL: func.func @smalti.signature(
// CHECK-SAME:    %{{.*}}: memref<8xf32> {smalti.name = "a"}, %{{.*}}: f32, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    attributes {llvm.emit_c_interface, note = "kept", smalti.num_tiles = 8 : i64, smalti.source_name = "signature"}
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]] step %[[ONE]] {
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%[[TILE]]]
// CHECK:         return
triton_xla.entry_func @signature(%a: memref<8xf32> {smalti.name = "a"}, %s: f32, %tile: index) tiles 8
    attributes {note = "kept"} {
  memref.store %s, %a[%tile] : memref<8xf32>
  triton_xla.return
}

// -----

// A window that is proven in bounds is copied in whole vectors without a fill. Buffers are allocated once, outside the
// loop over tiles, and freed.

// CHECK-LABEL: func.func @smalti.inside(
// CHECK-SAME:    %[[A:.*]]: memref<64xf32>, %[[B:.*]]: memref<64xf32>
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
// CHECK:         scf.for
// CHECK-NOT:       scf.if
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:             vector.load %[[A]][%{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK-NEXT:        vector.store %{{.*}}, %[[BUFFER]][%[[I]]] : memref<32xf32>, vector<8xf32>
// CHECK:           math.absf %{{.*}} : vector<8xf32>
// CHECK:           vector.store %{{.*}}, %[[B]][%{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK-NOT:       memref.alloc
// CHECK:         memref.dealloc %[[BUFFER]]
triton_xla.entry_func @inside(%a: memref<64xf32>, %b: memref<64xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[16] [32] [1] : memref<64xf32> to tensor<32xf32>
  %u = math.absf %t : tensor<32xf32>
  triton_xla.insert %u into %b[16] [32] [1] : tensor<32xf32> into memref<64xf32>
  triton_xla.return
}

// -----

// A window that may be out of bounds: the buffer is filled, and only elements in bounds are copied, the last ones as
// scalars.

// CHECK-LABEL: func.func @smalti.overhang(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>
// CHECK:         %[[FILL:.*]] = arith.constant dense<1.500000e+00> : vector<8xf32>
// CHECK:         memref.dim %[[A]]
// CHECK:         scf.if
// CHECK:           vector.store %[[FILL]]
// CHECK:         scf.for
// CHECK:           vector.load %[[A]]{{.*}} vector<8xf32>
// CHECK:         scf.for
// CHECK:           memref.load %[[A]]
triton_xla.entry_func @overhang(%a: memref<?xf32>, %b: memref<32xf32>, %o: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[%o] [32] [1] fill 1.5 : f32 : memref<?xf32> to tensor<32xf32>
  triton_xla.insert %t into %b[0] [32] [1] : tensor<32xf32> into memref<32xf32>
  triton_xla.return
}

// -----

// Rows that are not contiguous are read as scalars.

// CHECK-LABEL: func.func @smalti.strided(
// CHECK-SAME:    %[[A:.*]]: memref<64xf32, strided<[?]>>
// CHECK-NOT:     vector.load %[[A]]
// CHECK:         memref.load %[[A]]
triton_xla.entry_func @strided(%a: memref<64xf32, strided<[?]>>, %b: memref<32xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [32] [2] : memref<64xf32, strided<[?]>> to tensor<32xf32>
  triton_xla.insert %t into %b[0] [32] [1] : tensor<32xf32> into memref<32xf32>
  triton_xla.return
}

// -----

// A matmul is a loop over K with accumulators in registers, for any tile size; narrow operands are extended into their
// packed buffers. The loop-carried tile is updated in place, without copies.

// CHECK-LABEL: func.func @smalti.matmul(
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK:         arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:         scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-8:   arith.addf %{{.*}}, %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK-NOT:     arith.addf
// CHECK-NOT:     memref.copy
// CHECK:         return
triton_xla.entry_func @matmul(%a: memref<128x256xf16>, %b: memref<256x128xf16>, %c: memref<128x128xf32>,
                               %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
    %at = triton_xla.extract %a[0, %k] [128, 64] [1, 1] : memref<128x256xf16> to tensor<128x64xf16>
    %bt = triton_xla.extract %b[%k, 0] [64, 128] [1, 1] : memref<256x128xf16> to tensor<64x128xf16>
    %r = triton_xla.dot %at, %bt, %acc : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %r : tensor<128x128xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [128, 128] [1, 1] : tensor<128x128xf32> into memref<128x128xf32>
  triton_xla.return
}

// -----

// A chain of element-wise ops with a mask is fused into one loop.

// CHECK-LABEL: func.func @smalti.fused(
// CHECK:         scf.for
// CHECK:           vector.step
// CHECK:           arith.mulf %{{.*}} : vector<8xf32>
// CHECK:           arith.cmpi slt
// CHECK:           arith.select
// CHECK:           arith.maximumf
// CHECK:           vector.store
// CHECK-NOT:     arith.maximumf
// CHECK:         return
triton_xla.entry_func @fused(%a: memref<4x32xf32>, %n: index, %tile: index) tiles 1 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant dense<2.0> : tensor<4x32xf32>
  %low = arith.constant dense<-1.0> : tensor<4x32xf32>
  %t = triton_xla.extract %a[0, 0] [4, 32] [1, 1] : memref<4x32xf32> to tensor<4x32xf32>
  %0 = arith.mulf %t, %two : tensor<4x32xf32>
  %1 = triton_xla.mask %0 [4, %n], %zero : tensor<4x32xf32>
  %2 = arith.maximumf %1, %low : tensor<4x32xf32>
  triton_xla.insert %2 into %a[0, 0] [4, 32] [1, 1] : tensor<4x32xf32> into memref<4x32xf32>
  triton_xla.return
}

// -----

// f16 arithmetic is done in f32 and rounded after each op; extensions do not cancel truncations.

// CHECK-LABEL: func.func @smalti.narrow(
// CHECK:         arith.mulf %{{.*}} : vector<16xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
// CHECK-NEXT:    arith.extf %[[ROUNDED]] : vector<16xf16> to vector<16xf32>
// CHECK:         arith.addf %{{.*}} : vector<16xf32>
// CHECK-NEXT:    arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
triton_xla.entry_func @narrow(%a: memref<32xf16>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [32] [1] : memref<32xf16> to tensor<32xf16>
  %0 = arith.mulf %t, %t : tensor<32xf16>
  %1 = arith.addf %0, %t : tensor<32xf16>
  triton_xla.insert %1 into %a[0] [32] [1] : tensor<32xf16> into memref<32xf16>
  triton_xla.return
}

// -----

// Casts of bf16 are integer arithmetic; maximumf is kept, with its order of zeros.

// CHECK-LABEL: func.func @smalti.expanded(
// CHECK-NOT:     arith.extf
// CHECK:         arith.shli %{{.*}} : vector<16xi32>
// CHECK:         arith.maximumf %{{.*}} : vector<16xf32>
// CHECK-NOT:     arith.truncf
// CHECK:         return
triton_xla.entry_func @expanded(%a: memref<32xbf16>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32xbf16>
  %t = triton_xla.extract %a[0] [32] [1] : memref<32xbf16> to tensor<32xbf16>
  %0 = arith.maximumf %t, %zero : tensor<32xbf16>
  triton_xla.insert %0 into %a[0] [32] [1] : tensor<32xbf16> into memref<32xbf16>
  triton_xla.return
}

// -----

// Two kernels with constants: the names of the globals do not collide.

// CHECK:       memref.global "private" constant @[[FIRST:.*]] : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK:       func.func @smalti.first(
// CHECK:         memref.get_global @[[FIRST]]
// CHECK:       memref.global "private" constant @[[SECOND:.*]] : memref<2xf32> = dense<[3.000000e+00, 4.000000e+00]>
// CHECK:       func.func @smalti.second(
// CHECK:         memref.get_global @[[SECOND]]
triton_xla.entry_func @first(%a: memref<2xf32>, %tile: index) tiles 1 {
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  triton_xla.insert %t into %a[0] [2] [1] : tensor<2xf32> into memref<2xf32>
  triton_xla.return
}
triton_xla.entry_func @second(%a: memref<2xf32>, %tile: index) tiles 1 {
  %t = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  triton_xla.insert %t into %a[0] [2] [1] : tensor<2xf32> into memref<2xf32>
  triton_xla.return
}

// -----

// Two elements share a byte: a store changes the bits of one element atomically.

// CHECK-LABEL: func.func @smalti.packed(
// CHECK-SAME:    %[[A:.*]]: memref<64xi4>
// CHECK-NOT:     memref.load %[[A]]
// CHECK:         memref.extract_aligned_pointer_as_index %[[A]]
// CHECK:         %[[BYTE:.*]] = llvm.load %{{.*}} -> i8
// CHECK:         arith.shrui %[[BYTE]]
// CHECK:         memref.extract_aligned_pointer_as_index %[[A]]
// CHECK:         llvm.load %{{.*}} atomic monotonic
// CHECK:         llvm.atomicrmw _xor %{{.*}} monotonic
triton_xla.entry_func @packed(%a: memref<64xi4>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [32] [1] : memref<64xi4> to tensor<32xi4>
  triton_xla.insert %t into %a[32] [32] [1] : tensor<32xi4> into memref<64xi4>
  triton_xla.return
}

// -----

// Conversions of floats of at most 8 bits are integer arithmetic on vectors.

// CHECK-LABEL: func.func @smalti.small_floats(
// CHECK-NOT:     arith.truncf
// CHECK:         arith.minui %{{.*}} : vector<8xi32>
// CHECK-NOT:     arith.truncf
// CHECK:         return
triton_xla.entry_func @small_floats(%a: memref<32xf32>, %b: memref<32xf8E4M3FN>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [32] [1] : memref<32xf32> to tensor<32xf32>
  %n = arith.truncf %t : tensor<32xf32> to tensor<32xf8E4M3FN>
  triton_xla.insert %n into %b[0] [32] [1] : tensor<32xf8E4M3FN> into memref<32xf8E4M3FN>
  triton_xla.return
}
