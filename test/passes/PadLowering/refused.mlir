// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{max-elements=100}))' \
// RUN:   --remarks-filter=smalti-lower-pad -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{max-elements=0}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: smalti-lower-pad: max-elements must be positive, but is 0
// STRICT: error: smalti-lower-pad: tensor.pad not lowered: dimension 0 of the result tensor<?xf32> is dynamic and does not have a constant upper bound; use a static size, or limit it with affine.min

// CHECK: [Missed] smalti-lower-pad | Category:smalti-lower-pad | Function=dynamic_result | Remark="tensor.pad not lowered: dimension 0 of the result tensor<?xf32> is dynamic and does not have a constant upper bound; use a static size, or limit it with affine.min"
func.func @dynamic_result(%source: tensor<?xf32>, %value: f32) -> tensor<?xf32> {
  %padded = tensor.pad %source low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %padded : tensor<?xf32>
}

// CHECK: Function=large_bound | Remark="tensor.pad not lowered: the result has up to 132 elements; the option 'max-elements' allows 100, so raise the option or use a smaller tensor"
func.func @large_bound(%source: tensor<?xf32>, %n: index, %value: f32) -> tensor<?xf32> {
  %size = affine.min affine_map<(d0) -> (d0, 128)>(%n)
  %part = tensor.extract_slice %source[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %padded = tensor.pad %part low[0] high[4] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %padded : tensor<?xf32>
}

// CHECK: Function=large_result | Remark="tensor.pad not lowered: the result has 128 elements; the option 'max-elements' allows 100, so raise the option or use a smaller tensor"
func.func @large_result(%source: tensor<126xf32>, %value: f32) -> tensor<128xf32> {
  %padded = tensor.pad %source low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<126xf32> to tensor<128xf32>
  return %padded : tensor<128xf32>
}

// CHECK: Function=value_by_position | Remark="tensor.pad not lowered: the padding value depends on the index; one value for all elements is required"
func.func @value_by_position(%source: tensor<4xindex>) -> tensor<6xindex> {
  %padded = tensor.pad %source low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<4xindex> to tensor<6xindex>
  return %padded : tensor<6xindex>
}

// CHECK: Function=vector_elements | Remark="padded read not lowered: the elements of the memref are vectors; use a memref of scalars"
func.func @vector_elements(%source: memref<?xvector<4xf32>>, %i: index, %value: vector<4xf32>) -> vector<2x4xf32> {
  %read = vector.transfer_read %source[%i], %value : memref<?xvector<4xf32>>, vector<2x4xf32>
  return %read : vector<2x4xf32>
}

// CHECK: Function=scalable | Remark="padded write not lowered: scalable vectors are not supported; use a vector of fixed length"
func.func @scalable(%dest: memref<?xf32>, %i: index, %vector: vector<[4]xf32>) {
  vector.transfer_write %vector, %dest[%i] : vector<[4]xf32>, memref<?xf32>
  return
}

// CHECK: Function=permuted | Remark="padded read not lowered: the transfer has a permutation map, and 'vector.mask' around it has a passthru value; only one of them is supported"
func.func @permuted(%source: memref<10x7xf32>, %i: index, %mask: vector<4x2xi1>, %others: vector<2x4xf32>) -> vector<2x4xf32> {
  %value = arith.constant 0.0 : f32
  %read = vector.mask %mask, %others {
    vector.transfer_read %source[%i, %i], %value {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
      : memref<10x7xf32>, vector<2x4xf32>
  } : vector<4x2xi1> -> vector<2x4xf32>
  return %read : vector<2x4xf32>
}

// Block-level transfers are not changed and have no remark.
// CHECK-NOT: Function=whole_block
func.func @whole_block(%source: memref<100x100xf32>, %i: index) -> vector<64x64xf32> {
  %value = arith.constant 0.0 : f32
  %read = vector.transfer_read %source[%i, %i], %value {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 4>]}
    : memref<100x100xf32>, vector<64x64xf32>
  return %read : vector<64x64xf32>
}

// CHECK-NOT: Function=whole_block_write
func.func @whole_block_write(%dest: memref<100x100xf32>, %i: index, %vector: vector<64x64xf32>) {
  vector.transfer_write %vector, %dest[%i, %i] {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 4>]}
    : vector<64x64xf32>, memref<100x100xf32>
  return
}

// CHECK-NOT: Function=inside
func.func @inside(%source: memref<100xf32>, %i: index) -> vector<64xf32> {
  %value = arith.constant 0.0 : f32
  %read = vector.transfer_read %source[%i], %value {in_bounds = [true]} : memref<100xf32>, vector<64xf32>
  return %read : vector<64xf32>
}

// CHECK: Function=poison | Remark="tensor.pad not lowered: the padding value #ub.poison is not an integer or float constant"
func.func @poison(%source: tensor<2xf32>) -> tensor<8xf32> {
  %padded = tensor.pad %source low[1] high[5] {
  ^bb0(%i: index):
    %value = ub.poison : f32
    tensor.yield %value : f32
  } : tensor<2xf32> to tensor<8xf32>
  return %padded : tensor<8xf32>
}

// CHECK: Function=encoding | Remark="tensor.pad not lowered: the type tensor<4xf32, "csr"> has an encoding; use a tensor without an encoding"
func.func @encoding(%source: tensor<4xf32, "csr">, %value: f32) -> tensor<6xf32, "csr"> {
  %padded = tensor.pad %source low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<4xf32, "csr"> to tensor<6xf32, "csr">
  return %padded : tensor<6xf32, "csr">
}

// CHECK: Function=complex_elements | Remark="tensor.pad not lowered: elements of type complex<f32> are not valid vector elements; use integers or floats"
func.func @complex_elements(%source: tensor<4xcomplex<f32>>, %value: complex<f32>) -> tensor<6xcomplex<f32>> {
  %padded = tensor.pad %source low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : complex<f32>
  } : tensor<4xcomplex<f32>> to tensor<6xcomplex<f32>>
  return %padded : tensor<6xcomplex<f32>>
}

// CHECK: Function=converting_read | Remark="padded read not lowered: vector and memref must have the same element type, but have f8E5M2 and f32"
func.func @converting_read(%row: memref<30xf32>) -> vector<4xf8E5M2> {
  %c28 = arith.constant 28 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %row[%c28], %zero : memref<30xf32>, vector<4xf8E5M2>
  return %v : vector<4xf8E5M2>
}
