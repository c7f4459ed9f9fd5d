// RUN: smalti-opt %s --smalti-lower-cpu-loops --split-input-file --verify-diagnostics

triton_xla.entry_func @of_tiles(%x: memref<64xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{cannot be lowered to branches inside 'triton_xla.entry_func', whose region supports only one MLIR block; move the op out of it}}
  scf.for %i = %c0 to %c8 step %c8 {
  }
  triton_xla.return
}

// -----

func.func @scope(%n: index) attributes {smalti.num_tiles = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.alloca_scope {
    // expected-error @below {{cannot be lowered to branches inside 'memref.alloca_scope', whose region supports only one MLIR block; move the op out of it}}
    scf.for %i = %c0 to %n step %c1 {
    }
  }
  return
}

// -----

func.func @negative(%n: index) attributes {smalti.num_tiles = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{has 'smalti.max_trip_count' = -1 : i64; a non-negative integer is required}}
  scf.for %i = %c0 to %n step %c1 {
  } {smalti.max_trip_count = -1 : i64}
  return
}

// -----

func.func @truth(%n: index) attributes {smalti.num_tiles = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{has 'smalti.max_trip_count' = true; a non-negative integer is required}}
  scf.for %i = %c0 to %n step %c1 {
  } {smalti.max_trip_count = true}
  return
}

// -----

// expected-error @below {{has 'smalti.num_tiles' = "four"; a non-negative integer is required}}
func.func @tiles(%n: index) attributes {smalti.num_tiles = "four"} {
  return
}

// -----

func.func @division_in_scope(%n: i32, %m: i32, %x: memref<i32>) attributes {smalti.num_tiles = 1 : i64} {
  memref.alloca_scope {
    // expected-error @below {{may divide by zero or overflow at run time, which cannot be reported from inside 'memref.alloca_scope'}}
    %0 = arith.divui %n, %m : i32
    memref.store %0, %x[] : memref<i32>
  }
  return
}

// -----

func.func @division_in_callee(%n: i32, %m: i32) -> i32 {
  // expected-error @below {{may divide by zero or overflow at run time, which 'division_in_callee' cannot report, because calls of this function cannot be inlined; inline the function by hand}}
  %0 = arith.divui %n, %m : i32
  return %0 : i32
}

func.func @caller(%n: i32, %m: i32, %x: memref<i32>) attributes {smalti.num_tiles = 1 : i64} {
  %0 = func.call @division_in_callee(%n, %m) : (i32, i32) -> i32
  memref.store %0, %x[] : memref<i32>
  return
}

// -----

func.func @assertion_in_scope(%c: i1) attributes {smalti.num_tiles = 1 : i64} {
  memref.alloca_scope {
    // expected-error @below {{may fail at run time, which cannot be reported from inside 'memref.alloca_scope'}}
    cf.assert %c, "message"
  }
  return
}

// -----

func.func private @assertion_in_call(%c: i1) {
  // expected-error @below {{may fail at run time, which 'assertion_in_call' cannot report, because calls of this function cannot be inlined; inline the function by hand}}
  cf.assert %c, "message"
  return
}
func.func @caller(%c: i1) attributes {smalti.num_tiles = 1 : i64} {
  call @assertion_in_call(%c) : (i1) -> ()
  return
}
