// RUN: smalti-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@+1 {{requires at least one input}}
  "triton_xla.reduce"() <{dims = array<i64>, operandSegmentSizes = array<i32: 0, 0>}> ({
    "triton_xla.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>, %z: f32) {
  // expected-error@+1 {{inputs must have the same shape, but input #0 is 'tensor<4xf32>' and input #1 is 'tensor<5xf32>'}}
  %0:2 = triton_xla.reduce %a, %b dims [0] init %z, %z
      : (tensor<4xf32>, tensor<5xf32>, f32, f32) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%l: f32, %m: f32, %r: f32, %s: f32):
    triton_xla.yield %l, %m : f32, f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %z: f32) {
  // expected-error@+1 {{dims must be strictly increasing, but dims[1] is 0 after 0}}
  %0 = triton_xla.reduce %a dims [0, 0] init %z : (tensor<4x5xf32>, f32) -> tensor<5xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %z: f32) {
  // expected-error@+1 {{requires one initial value and one result for each of its 1 input, but has 2 initial values and 1 result}}
  %0 = triton_xla.reduce %a dims [0] init %z, %z : (tensor<4x5xf32>, f32, f32) -> tensor<5xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %z: f16) {
  // expected-error@+1 {{initial value #0 is 'f16', but input #0 has elements of 'f32'}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4x5xf32>, f16) -> tensor<5xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %z: f32) {
  // expected-error@+1 {{result #0 must be 'tensor<5xf32>', but is 'tensor<4xf32>'}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4x5xf32>, f32) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{the arguments of the region must be ('f32', 'f32'), but are ('f32')}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{the region must yield ('f32'), but yields ()}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{the region must end with triton_xla.yield}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    llvm.unreachable
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32, %m: memref<f32>) {
  // expected-note@+1 {{the region is part of this op}}
  %0 = triton_xla.reduce %a dims [0] init %z : (tensor<4xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    // expected-error@+1 {{'memref.load' has operands or results that are not scalars; the region of 'triton_xla.reduce' requires scalar ops without side effects}}
    %s = memref.load %m[] : memref<f32>
    triton_xla.yield %s : f32
  }
  return
}

// -----

func.func private @g(f32) -> f32
func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-note@+1 {{the region is part of this op}}
  %0 = triton_xla.scan %a dim 0 init %z : (tensor<4xf32>, f32) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    // expected-error@+1 {{'func.call' may have side effects}}
    %s = func.call @g(%l) : (f32) -> f32
    triton_xla.yield %s : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{dim is 1, but the tile has rank 1}}
  %0 = triton_xla.scan %a dim 1 init %z : (tensor<4xf32>, f32) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{result #0 must be 'tensor<4xf32>', but is 'tensor<f32>'}}
  %0 = triton_xla.scan %a dim 0 init %z : (tensor<4xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{the inputs are of types 'tensor<4xf32>', but the results are of types 'tensor<4xf16>'}}
  %0 = triton_xla.sort %a dim 0 : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.cmpf olt, %l, %r : f32
    triton_xla.yield %c : i1
  }
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{the region must yield ('i1'), but yields ('f32')}}
  %0 = triton_xla.sort %a dim 0 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    triton_xla.yield %l : f32
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expects parent op to be one of 'triton_xla.reduce, triton_xla.scan, triton_xla.sort, triton_xla.inline_asm, triton_xla.extern_call'}}
  triton_xla.yield
}

// -----

func.func @f(%t: tensor<8xf32>) {
  // expected-error@+1 {{elements of the tile must be integers or index, but are 'f32'}}
  triton_xla.histogram %t bins 4 : tensor<8xf32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%t: tensor<8xi32>) {
  // expected-error@+1 {{elements of the result (counts) must be i32 or i64, but are 'i16'}}
  triton_xla.histogram %t bins 4 : tensor<8xi32> -> tensor<4xi16>
  return
}

// -----

func.func @f(%t: tensor<8xi32>) {
  // expected-error@+1 {{attribute 'bins' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  triton_xla.histogram %t bins 0 : tensor<8xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%t: tensor<8xi32>) {
  // expected-error@+1 {{the result must have rank 1 and 4 elements, one for each bin, but is 'tensor<5xi32>'}}
  triton_xla.histogram %t bins 4 : tensor<8xi32> -> tensor<5xi32>
  return
}

// -----

func.func @f(%t: tensor<8xi32>, %m: tensor<7xi1>) {
  // expected-error@+1 {{mask has i1 elements and the shape of the tile}}
  "triton_xla.histogram"(%t, %m) <{bins = 4 : i64}> : (tensor<8xi32>, tensor<7xi1>) -> tensor<4xi32>
  return
}
