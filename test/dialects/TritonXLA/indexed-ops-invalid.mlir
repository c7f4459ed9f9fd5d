// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x32xi32>) {
  // expected-error@+1 {{dim is 2, but the tile has rank 2}}
  triton_xla.gather_tile %t[%i] dim 2 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x32xf32>) {
  // expected-error@+1 {{the elements of the indices must be i8, i16, i32, i64 or index, but are 'f32'}}
  triton_xla.gather_tile %t[%i] dim 1 : tensor<8x16xf32>, tensor<8x32xf32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x32xi32>) {
  // expected-error@+1 {{the indices are 'tensor<8x32xi32>', but the tile is 'tensor<8x16xf32>'; their shapes may differ only in dimension #0}}
  triton_xla.gather_tile %t[%i] dim 0 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{their shapes may differ only in dimension #0}}
  triton_xla.gather_tile %t[%i] dim 0 : tensor<8x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
  return
}

// -----

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x32xi32>) {
  // expected-error@+1 {{the result must be 'tensor<8x32xf32>', but is 'tensor<8x32xf16>'}}
  triton_xla.gather_tile %t[%i] dim 1 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf16>
  return
}

// -----

func.func @f(%t: tensor<8x16xf32>, %i: tensor<8x32xi32>) {
  // expected-error@+1 {{fill is of type 'f16', but tile elements are 'f32'; both must be equal}}
  triton_xla.gather_tile %t[%i] dim 1 fill 1.0 : f16 : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%a: memref<?x8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{accessed values and memref must have the same element type, but the values are 'f16' and the memref elements 'f32'}}
  triton_xla.gather %a[%i, %i] : memref<?x8xf32>, tensor<4xi32>, tensor<4xi32> -> tensor<4xf16>
  return
}

// -----

func.func @f(%a: memref<?x8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{has 1 index, but the memref has 2 dimensions; one index for each dimension is required}}
  triton_xla.gather %a[%i] : memref<?x8xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<?xf32>, %i: tensor<4xi16>) {
  // expected-error@+1 {{index #0 has elements of 'i16'; index, i32 or i64 is required}}
  triton_xla.gather %a[%i] : memref<?xf32>, tensor<4xi16> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{index #0 is 'tensor<4xi32>'; it must be a scalar or have the shape of the accessed elements, 'tensor<5xf32>'}}
  triton_xla.gather %a[%i] : memref<?xf32>, tensor<4xi32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: memref<?xf32>, %i: tensor<4xi32>, %m: tensor<5xi1>) {
  // expected-error@+1 {{mask is i1 or has i1 elements, and has the shape of result}}
  "triton_xla.gather"(%a, %i, %m) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
      : (memref<?xf32>, tensor<4xi32>, tensor<5xi1>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{fill must be a float or an integer constant, but is}}
  triton_xla.gather %a[%i] fill dense<1.0> : tensor<4xf32> : memref<?xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf16>, %a: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{accessed values and memref must have the same element type, but the values are 'f16' and the memref elements 'f32'}}
  triton_xla.scatter %t into %a[%i] : tensor<4xf16> into memref<?xf32>, tensor<4xi32>
  return
}

// -----

func.func @f(%v: f32, %a: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{index #0 is 'tensor<4xi32>'; it must be a scalar or have the shape of the accessed elements, 'f32'}}
  triton_xla.atomic_rmw addf %v into %a[%i] : f32 into memref<?xf32>, tensor<4xi32>
  return
}

// -----

func.func @f(%v: i32, %a: memref<?xi32>, %i: index) {
  // expected-error@+1 {{addf requires elements that are floats, but found 'i32'}}
  triton_xla.atomic_rmw addf %v into %a[%i] : i32 into memref<?xi32>, index
  return
}

// -----

func.func @f(%v: f32, %a: memref<?xf32>, %i: index) {
  // expected-error@+1 {{xori requires elements that are integers, but found 'f32'}}
  triton_xla.atomic_rmw xori %v into %a[%i] : f32 into memref<?xf32>, index
  return
}

// -----

func.func @f(%v: i32, %a: memref<?xi32>, %i: index) {
  // expected-error@+1 {{mulf requires elements that are floats, but found 'i32'}}
  triton_xla.atomic_rmw mulf %v into %a[%i] : i32 into memref<?xi32>, index
  return
}

// -----

func.func @f(%v: f32, %a: memref<?xf32>, %i: index) {
  // expected-error@+1 {{requires elements that are integers, but found 'f32'}}
  triton_xla.atomic_cas %v, %v into %a[%i] : f32 into memref<?xf32>, index
  return
}
