// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f(%t: tensor<4xf32>) {
  // expected-error@+1 {{tile and result must have the same element type, but the tile has 'f32' and the result 'f16'}}
  triton_xla.broadcast %t dims [0] : tensor<4xf32> -> tensor<4x2xf16>
  return
}

// -----

func.func @f(%t: tensor<4xf32>) {
  // expected-error@+1 {{dims has 2 entries, but the tile has 1 dimension; one entry for each is required}}
  triton_xla.broadcast %t dims [0, 1] : tensor<4xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>) {
  // expected-error@+1 {{dims[0] is 2, but the result has rank 2}}
  triton_xla.broadcast %t dims [2] : tensor<4xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{dims must be strictly increasing, but dims[1] is 0 after 1}}
  triton_xla.broadcast %t dims [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>) {
  // expected-error@+1 {{dimension #0 of the tile has size 4; it must be 1, or 2 as dimension #1 of the result}}
  triton_xla.broadcast %t dims [1] : tensor<4xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{permutation [0, 0] must list each of the tile's 2 dimensions once, counted from 0}}
  triton_xla.transpose %t [0, 0] : tensor<4x2xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{permutation [0] must list each of the tile's 2 dimensions once, counted from 0}}
  triton_xla.transpose %t [0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{the result of the transpose must be 'tensor<2x4xf32>', but is 'tensor<4x2xf32>'}}
  triton_xla.transpose %t [1, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{the tile has 8 elements, but the result has 9}}
  triton_xla.reshape %t : tensor<4x2xf32> -> tensor<9xf32>
  return
}

// -----

func.func @f(%t: tensor<4x1xf32>) {
  // expected-error@+1 {{dims[0] is -1, but the tile has rank 2}}
  triton_xla.squeeze_dims %t [-1] : tensor<4x1xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<4x1xf32>) {
  // expected-error@+1 {{dimension #0 of the tile has size 4; only dimensions of size 1 can be squeezed}}
  triton_xla.squeeze_dims %t [0] : tensor<4x1xf32> -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<4x1xf32>) {
  // expected-error@+1 {{the squeezed tile is 'tensor<4xf32>', but the result is 'tensor<4x1xf32>'}}
  triton_xla.squeeze_dims %t [1] : tensor<4x1xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{dim is 1, but the tile has rank 1}}
  triton_xla.iota dim 1 : tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{dim is 0, but the tile has rank 0}}
  triton_xla.iota dim 0 : tensor<i32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{the last index 256 is not representable in 'i8'}}
  triton_xla.iota dim 0 : tensor<257xi8>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{the last index 7 is not representable in 'f4E2M1FN'}}
  triton_xla.iota dim 0 : tensor<8xf4E2M1FN>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{elements of the result are 'f8E8M0FNU', which cannot represent the index 0; use another element type}}
  triton_xla.iota dim 0 : tensor<1xf8E8M0FNU>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires at least one tile}}
  "triton_xla.concat"() <{dim = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{tile #1 is 'tensor<4x3xf32>', which differs from the result 'tensor<8x2xf32>' in more than the size of dimension #0}}
  triton_xla.concat %a, %b dim 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{the sizes of the tiles in dimension #1 add up to 4, but the result has 5}}
  triton_xla.concat %a, %a dim 1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{has 1 offset, 2 sizes and 2 strides; there must be 2 of each, one for each dimension of the tile}}
  triton_xla.slice %t [0] [4, 2] [1, 1] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{sizes and strides must be at least 1, but dimension #1 has size 2 and stride 0}}
  triton_xla.slice %t [0, 0] [4, 2] [1, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{window of 3 elements with offset 0 and stride 2 exceeds dimension #0, which has 4 elements}}
  triton_xla.slice %t [0, 0] [3, 2] [2, 1] : tensor<4x2xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{the slice is 'tensor<2x2xf32>', but the result is 'tensor<4x2xf32>'}}
  triton_xla.slice %t [0, 0] [2, 2] [2, 1] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{dimension #0 of size 4 cannot be split into 3 equal parts}}
  triton_xla.split %t dim 0 : tensor<4x2xf32> -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{result #1 has type 'tensor<2x1xf32>'; a split into 2 equal parts requires 'tensor<2x2xf32>'}}
  triton_xla.split %t dim 0 : tensor<4x2xf32> -> (tensor<2x2xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @f(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{requires at least one result}}
  "triton_xla.split"(%t) <{dim = 0 : i64}> : (tensor<4x2xf32>) -> ()
  return
}
