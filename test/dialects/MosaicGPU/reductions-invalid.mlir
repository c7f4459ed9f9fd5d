// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @no_inputs() {
  // expected-error @+1 {{requires at least one input}}
  "mosaic_gpu.reduce"() <{dims = array<i64>, operandSegmentSizes = array<i32: 0, 0>}> ({
    "mosaic_gpu.return"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @shapes(%v: vector<8xf32>, %w: vector<4xf32>, %z: f32) {
  // expected-error @+1 {{inputs must have the same shape, but found 'vector<8xf32>' and 'vector<4xf32>'}}
  %0:2 = mosaic_gpu.reduce %v, %w dims [0] init %z, %z : vector<8xf32>, vector<4xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    mosaic_gpu.return %a, %b : f32, f32
  }
  return
}

// -----

func.func @elements(%v: vector<8x!llvm.ptr>, %z: !llvm.ptr) {
  // expected-error @+1 {{elements of inputs must be integers, floats or index, but found '!llvm.ptr'}}
  %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<8x!llvm.ptr> -> !llvm.ptr {
  ^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
    mosaic_gpu.return %a : !llvm.ptr
  }
  return
}

// -----

func.func @init_type(%v: vector<8xf32>, %z: i32) {
  // expected-error @+1 {{initial values have the element types of the inputs}}
  %0 = "mosaic_gpu.reduce"(%v, %z) <{dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    "mosaic_gpu.return"(%a) : (f32) -> ()
  }) : (vector<8xf32>, i32) -> f32
  return
}

// -----

func.func @init_count(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = mosaic_gpu.reduce %v dims [0] init %z, %z : vector<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @argument_count(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{the region has 1 argument; it must have 2, two for each input}}
  %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<8xf32> -> f32 {
  ^bb0(%a: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @argument_type(%v: vector<8xf32>, %i: vector<8xi32>, %z: f32, %c: i32) {
  // expected-error @+1 {{argument 3 of the region must be 'i32', the element type of input 1, but found 'f32'}}
  %0:2 = mosaic_gpu.reduce %v, %i dims [0] init %z, %c : vector<8xf32>, vector<8xi32> -> f32, i32 {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: f32):
    mosaic_gpu.return %a, %j : f32, i32
  }
  return
}

// -----

func.func @dims_range(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{'dims' contains 1, but the inputs have rank 1 and dimensions are counted from 0}}
  %0 = mosaic_gpu.reduce %v dims [1] init %z : vector<8xf32> -> vector<8xf32> {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @dims_order(%v: vector<8x4xf32>, %z: f32) {
  // expected-error @+1 {{'dims' must be strictly increasing, but found 1 before 0}}
  %0 = mosaic_gpu.reduce %v dims [1, 0] init %z : vector<8x4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @result_count(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{has 2 results for 1 input; one result for each input is required}}
  %0:2 = mosaic_gpu.reduce %v dims [0] init %z : vector<8xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @result_type(%v: vector<8x4xf32>, %z: f32) {
  // expected-error @+1 {{result 0 must be 'vector<8xf32>', but found 'vector<4xf32>'}}
  %0 = mosaic_gpu.reduce %v dims [1] init %z : vector<8x4xf32> -> vector<4xf32> {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @no_return(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{the region must end with 'mosaic_gpu.return'}}
  %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    llvm.unreachable
  }
  return
}

// -----

func.func @return_count(%v: vector<8xf32>, %z: f32) {
  %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{returns 2 values, but 'mosaic_gpu.reduce' requires 1, one for each result}}
    mosaic_gpu.return %a, %b : f32, f32
  }
  return
}

// -----

func.func @return_type(%v: vector<8xf32>, %z: f32) {
  %0 = mosaic_gpu.scan %v dim 0 init %z : vector<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf oge, %a, %b : f32
    // expected-error @+1 {{must return 'f32' as result 0 of 'mosaic_gpu.scan', but returns 'i1'}}
    mosaic_gpu.return %c : i1
  }
  return
}

// -----

func.func @effects(%v: vector<8xf32>, %z: f32, %m: memref<f32>) {
  %0 = mosaic_gpu.reduce %v dims [0] init %z : vector<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{has side effects; ops in the region of 'mosaic_gpu.reduce' must not have side effects}}
    memref.store %a, %m[] : memref<f32>
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @vectors(%v: vector<8xf32>, %z: f32) {
  %0 = mosaic_gpu.scan %v dim 0 init %z : vector<8xf32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{must be an op on scalars, because it is in the region of 'mosaic_gpu.scan'}}
    %w = arith.addf %v, %v : vector<8xf32>
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @scan_dim(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{'dim' is 1, but the inputs have rank 1 and dimensions are counted from 0}}
  %0 = mosaic_gpu.scan %v dim 1 init %z : vector<8xf32> {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}

// -----

func.func @scan_results(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{results have the types of the inputs}}
  %0 = "mosaic_gpu.scan"(%v, %z) <{dim = 0 : i64, operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    "mosaic_gpu.return"(%a) : (f32) -> ()
  }) : (vector<8xf32>, f32) -> vector<4xf32>
  return
}

// -----

func.func @layouts(%v: vector<8xf32>, %z: f32) {
  // expected-error @+1 {{has 2 entries}}
  %0 = mosaic_gpu.scan %v dim 0 init %z
      {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[8]>, #mosaic_gpu.WGSplatFragLayout<[8]>]} : vector<8xf32> {
  ^bb0(%a: f32, %b: f32):
    mosaic_gpu.return %a : f32
  }
  return
}
