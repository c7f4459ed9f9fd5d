// Buffer accesses of dynamic arrays below 2^31 bytes, which an attribute of the argument states.
// RUN: smalti-opt %s -split-input-file -smalti-compile="target=gfx942 stop-after=thread" --remarks-filter=convert-triton-xla-to-mosaic-gpu -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: smalti-opt %s -split-input-file -smalti-compile="target=gfx1201 stop-after=thread" | FileCheck %s

// Masked accesses are at the end of the buffer, after 2^31 - 4 bytes. The offset is computed in 32 bits.
// REMARK-NOT: Function=small{{.*}}not used
// CHECK-LABEL: gpu.func @small
// CHECK-SAME: %[[SRC:.*]]: memref<f32> {{[^}]*}}triton_xla.max_bytes = 2147483647 : i64{{[^}]*}}}
// CHECK-DAG: %[[END:.*]] = arith.constant 536870911 : i32

// CHECK: %[[STRIDE:.*]] = arith.index_cast %strides#0 : index to i32
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[STRIDE]] : i32
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[AT]], %[[END]] : i32
// CHECK: amdgpu.raw_buffer_load {{.*}}[%[[MASKED]]] : memref<536870911xf32>, i32 -> vector<4xf32>
// CHECK: amdgpu.raw_buffer_store {{.*}} : vector<4xf32> -> memref<536870911xf32>, i32
// CHECK-NOT: vector.load
triton_xla.entry_func @small(
    %src: memref<?x?xf32> {triton_xla.max_bytes = 2147483647 : i64, triton_xla.size_divisors = array<i64: 1, 4>},
    %dst: memref<?x?xf32> {triton_xla.max_bytes = 2147483647 : i64, triton_xla.size_divisors = array<i64: 1, 4>}, %i: index)
    tiles size(%src, 0) ceildiv 16 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %t = triton_xla.extract %src[%row, %c0] [16, 64] [1, 1] : memref<?x?xf32> to tensor<16x64xf32>
  triton_xla.insert %t into %dst[%row, %c0] [16, 64] [1, 1] : tensor<16x64xf32> into memref<?x?xf32>
  triton_xla.return
}

// -----

// Larger arrays keep 64-bit addresses.
// REMARK: {{.*}}Function=large{{.*}}buffer accesses not used: argument #0 is not proven to have less than 2^31 B; if it has, add triton_xla.max_bytes = 2147483647 : i64 to the argument
// REMARK: {{.*}}Function=large{{.*}}buffer accesses not used: argument #1 is not proven
// REMARK-NOT: Function=large{{.*}}buffer accesses
// CHECK-LABEL: gpu.func @large
// CHECK-NOT: raw_buffer
// CHECK-NOT: : i32
// CHECK: scf.if
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x?xf32>, vector<4xf32>
triton_xla.entry_func @large(
    %src: memref<?x?xf32> {triton_xla.max_bytes = 2147483648 : i64, triton_xla.size_divisors = array<i64: 1, 4>},
    %dst: memref<?x?xf32> {triton_xla.size_divisors = array<i64: 1, 4>}, %i: index)
    tiles size(%src, 0) ceildiv 16 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %t = triton_xla.extract %src[%row, %c0] [16, 64] [1, 1] : memref<?x?xf32> to tensor<16x64xf32>
  triton_xla.insert %t into %dst[%row, %c0] [16, 64] [1, 1] : tensor<16x64xf32> into memref<?x?xf32>
  triton_xla.return
}

// -----

// Linear indices of a gather have 32 bits.
// CHECK-LABEL: gpu.func @gather
// CHECK-NOT: : i64{{$}}
// CHECK: amdgpu.raw_buffer_load {{.*}} : memref<1073741823xf16>, i32 -> f16
triton_xla.entry_func @gather(%src: memref<?x?xf16> {triton_xla.max_bytes = 2147483647 : i64}, %rows: memref<64xi32>,
                              %dst: memref<64xf16>, %i: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant dense<1> : tensor<64xi32>
  %r = triton_xla.extract %rows[%c0] [64] [1] : memref<64xi32> to tensor<64xi32>
  %t = triton_xla.gather %src[%r, %c1] : memref<?x?xf16>, tensor<64xi32>, tensor<64xi32> -> tensor<64xf16>
  triton_xla.insert %t into %dst[%c0] [64] [1] : tensor<64xf16> into memref<64xf16>
  triton_xla.return
}
