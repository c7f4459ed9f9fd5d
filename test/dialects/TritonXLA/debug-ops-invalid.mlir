// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: tensor<8xi8>) {
  // expected-error@+1 {{expected a condition of i1, but found 'i8'}}
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
  // expected-error@+1 {{must be integer or index, but got 'vector<4xindex>'}}
  triton_xla.assume_multiple %n, 4 : vector<4xindex>
  return
}

// -----

func.func @f(%n: i8) {
  // expected-error@+1 {{divisor 128 is not representable in 'i8'}}
  triton_xla.assume_multiple %n, 128 : i8
  return
}

// -----

func.func @f(%k: i32) {
  // expected-error@+1 {{expected one to four counters, but found 0}}
  %0:4 = "triton_xla.random_bits"(%k, %k) : (i32, i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  return
}

// -----

func.func @f(%k: i32, %c: tensor<8xi64>) {
  // expected-error@+1 {{expected counters of i32, but found 'i64'}}
  %0:4 = triton_xla.random_bits %k, %k, %c
      : (i32, i32, tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>)
  return
}

// -----

func.func @f(%k: i32, %c: tensor<8xi32>) {
  // expected-error@+1 {{expected counters and results of one type, but found 'tensor<8xi32>' and}}
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
