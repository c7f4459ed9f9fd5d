// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: tensor<8xi8>) {
  // expected-error@+1 {{the condition must be an i1 or a tile of i1, but its elements are 'i8'}}
  triton_xla.assert %c, "must hold" : tensor<8xi8>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{attribute 'divisor' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  triton_xla.assume_multiple %n, 0 : index
  return
}

// -----

func.func @f(%n: vector<4xindex>) {
  // expected-error@+1 {{must be 32-bit signless integer or 64-bit signless integer or index, but got 'vector<4xindex>'}}
  triton_xla.assume_multiple %n, 4 : vector<4xindex>
  return
}

// -----

func.func @f(%n: i32) {
  // expected-error@+1 {{the divisor is 2147483648, which exceeds the range of 'i32'}}
  triton_xla.assume_multiple %n, 2147483648 : i32
  return
}

// -----

func.func @f(%n: i8) {
  // expected-error@+1 {{must be 32-bit signless integer or 64-bit signless integer or index, but got 'i8'}}
  triton_xla.assume_multiple %n, 16 : i8
  return
}

// -----

func.func @f(%k: i32) {
  // expected-error@+1 {{one to four counters are required, but the op has 0}}
  %0:4 = "triton_xla.random_bits"(%k, %k) : (i32, i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  return
}

// -----

func.func @f(%k: i32, %c: tensor<8xi64>) {
  // expected-error@+1 {{the counters must be i32 or tiles of i32, but their elements are 'i64'}}
  %0:4 = triton_xla.random_bits %k, %k, %c
      : (i32, i32, tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>)
  return
}

// -----

func.func @f(%k: i32, %c: tensor<8xi32>) {
  // expected-error@+1 {{all counters and results must have the same type, but the counters are 'tensor<8xi32>' and the results 'tensor<8xi32>', 'tensor<8xi32>', 'tensor<8xi32>', 'tensor<7xi32>'}}
  %0:4 = triton_xla.random_bits %k, %k, %c
      : (i32, i32, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<7xi32>)
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{attribute 'text' failed to satisfy constraint: string attribute whose value is UTF-8 without the byte 0}}
  triton_xla.print "a\FFb"
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{attribute 'message' failed to satisfy constraint: string attribute whose value is UTF-8 without the byte 0}}
  triton_xla.assert %c, "a\00b" : i1
  return
}
