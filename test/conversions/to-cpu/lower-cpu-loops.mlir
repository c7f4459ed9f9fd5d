// RUN: smalti-opt %s --smalti-lower-cpu-loops --split-input-file --allow-unregistered-dialect | FileCheck %s

// The loops read the flag at their end, except for the short inner one. The exit frees the buffers.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[FLAG:.*]]: !llvm.ptr) attributes {smalti.num_tiles = 4 : i64}
// CHECK: %[[BUFFER:.*]] = memref.alloc
// CHECK: memref.store
// CHECK-NOT: volatile
// CHECK: cf.br
// CHECK: %[[SET:.*]] = llvm.load volatile %[[FLAG]] {{.*}} -> i32
// CHECK: %[[STOP:.*]] = arith.cmpi ne, %[[SET]]
// CHECK: cf.cond_br %[[STOP]], ^[[EXIT:.*]], ^{{.*}}(
// CHECK: memref.dealloc %[[BUFFER]]
// CHECK: return
// CHECK: ^[[EXIT]]:
// CHECK-NEXT: memref.dealloc %[[BUFFER]]
// CHECK-NEXT: return
func.func @tiles(%x: memref<64xf32>, %begin: index, %end: index) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 1.0 : f32
  %buffer = memref.alloc() : memref<64xf32>
  scf.for %tile = %begin to %end step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %f, %buffer[%i] : memref<64xf32>
    }
  }
  memref.dealloc %buffer : memref<64xf32>
  return
}

// -----

// CHECK-LABEL: func.func @long
// A long loop with a constant trip count, one with expensive ops, and scf.while: all read the flag.
// CHECK-COUNT-3: llvm.load volatile
// A loop with an upper bound of few iterations does not.
// CHECK-NOT: volatile
func.func @long(%x: memref<64xf32>, %n: index) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 100000000 : index
  %some = arith.constant 100000 : index
  %f = arith.constant 1.0 : f32
  %0 = scf.for %i = %c0 to %many step %c1 iter_args(%a = %f) -> f32 {
    %b = arith.addf %a, %f : f32
    scf.yield %b : f32
  }
  %1 = scf.for %i = %c0 to %some step %c1 iter_args(%a = %0) -> f32 {
    %b = math.sin %a : f32
    scf.yield %b : f32
  }
  %2 = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %less = arith.subi %i, %c1 : index
    scf.yield %less : index
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %1, %x[%i] : memref<64xf32>
  } {smalti.max_trip_count = 64 : i64}
  return
}

// -----

// The step is checked before the loop.
// CHECK-LABEL: func.func @step
// CHECK-SAME: smalti.stop_errors = [{location = {{.*}}, message = "the step of this loop is not positive; a step of at least 1 is required"}]
// CHECK: %[[WRONG:.*]] = arith.cmpi sle, %[[STEP:.*]], %{{.*}}
// CHECK: cf.cond_br %[[WRONG]], ^[[SET:.*]], ^
// CHECK: ^[[SET]]:
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: llvm.store volatile %[[ONE]]
// CHECK-NEXT: cf.br ^[[EXIT:.*]]
// CHECK: ^[[EXIT]]:
// CHECK-NEXT: return
func.func @step(%x: memref<64xf32>, %n: index) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %n {
    memref.store %f, %x[%i] : memref<64xf32>
  }
  return
}

// -----

// An unsigned step is only invalid if it is 0.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi eq
func.func @unsigned(%x: memref<64xf32>, %n: i32) attributes {smalti.num_tiles = 4 : i64} {
  scf.for unsigned %i = %n to %n step %n : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// A function that is called, or does not have tiles, keeps its type.
// CHECK-LABEL: func.func @called(%{{.*}}: index) attributes
// CHECK-NOT: volatile
func.func @called(%n: index) attributes {smalti.num_tiles = 4 : i64} {
  scf.for %i = %n to %n step %n {
    "test.use"(%i) : (index) -> ()
  }
  return
}
// CHECK-LABEL: func.func @caller(%{{.*}}: index) {
func.func @caller(%n: index) {
  func.call @called(%n) : (index) -> ()
  return
}

// -----

// An exit deallocates the buffers that are live at its source block.
// CHECK-LABEL: func.func @buffers
// CHECK: %[[FREED:.*]] = memref.alloc() {alignment = 1 : i64}
// CHECK: %[[HELD:.*]] = memref.alloc() {alignment = 2 : i64}
// CHECK: memref.alloc() {alignment = 4 : i64}
// CHECK: memref.dealloc %[[FREED]]
// CHECK: llvm.load volatile
// CHECK: cf.cond_br %{{.*}}, ^[[FIRST:.*]], ^
// CHECK: memref.dealloc %[[HELD]]
// CHECK: llvm.load volatile
// CHECK: cf.cond_br %{{.*}}, ^[[SECOND:.*]], ^
// CHECK: %[[INNER:.*]] = memref.alloc() {alignment = 8 : i64}
// CHECK: llvm.load volatile
// CHECK: cf.cond_br %{{.*}}, ^[[THIRD:.*]], ^
// CHECK: memref.dealloc %[[INNER]]
// CHECK: llvm.load volatile
// CHECK: cf.cond_br %{{.*}}, ^[[SECOND]], ^
// CHECK: ^[[FIRST]]:
// CHECK-NEXT: memref.dealloc %[[HELD]]
// CHECK-NEXT: return
// CHECK: ^[[SECOND]]:
// CHECK-NEXT: return
// CHECK: ^[[THIRD]]:
// CHECK-NEXT: memref.dealloc %[[INNER]]
// CHECK-NEXT: return
func.func @buffers(%x: memref<64xf32>, %n: index) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %freed = memref.alloc() {alignment = 1 : i64} : memref<64xf32>
  %held = memref.alloc() {alignment = 2 : i64} : memref<64xf32>
  %leaked = memref.alloc() {alignment = 4 : i64} : memref<64xf32>
  memref.dealloc %freed : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %held[%i] : memref<64xf32>
    memref.store %f, %leaked[%i] : memref<64xf32>
  }
  memref.dealloc %held : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %x[%i] : memref<64xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %inner = memref.alloc() {alignment = 8 : i64} : memref<64xf32>
    scf.for %j = %c0 to %n step %c1 {
      memref.store %f, %inner[%j] : memref<64xf32>
    }
    memref.dealloc %inner : memref<64xf32>
  }
  return
}

// -----

// Memory that a branch may have deallocated is not deallocated at the exit.
// CHECK-LABEL: func.func @branch
// CHECK: llvm.load volatile
// CHECK: cf.cond_br %{{.*}}, ^[[EXIT:.*]], ^
// CHECK: ^[[EXIT]]:
// CHECK-NEXT: return
func.func @branch(%n: index, %is_freed: i1) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<64xf32>
  scf.if %is_freed {
    memref.dealloc %buffer : memref<64xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%i) : (index) -> ()
  }
  return
}

// -----

// The estimated time of vectors larger than a register, and of copies, is per element.
// CHECK-LABEL: func.func @elements
// CHECK-COUNT-5: llvm.load volatile
// CHECK-NOT: volatile
func.func @elements(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>, %z: memref<?xf32>, %w: memref<?xf32>,
                    %v: vector<1048576xf32>, %m: vector<128x128xf32>,
                    %small: vector<16xf32>) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %some = arith.constant 100000 : index
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %x, %y : memref<1024x1024xf32> to memref<1024x1024xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %z, %w : memref<?xf32> to memref<?xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = arith.addf %v, %v : vector<1048576xf32>
    "test.use"(%sum) : (vector<1048576xf32>) -> ()
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %product = vector.contract {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } %m, %m, %m : vector<128x128xf32>, vector<128x128xf32> into vector<128x128xf32>
    "test.use"(%product) : (vector<128x128xf32>) -> ()
  }
  scf.for %i = %c0 to %c8 step %c1 {
    "test.use"(%v) : (vector<1048576xf32>) -> ()
  }
  scf.for %i = %c0 to %some step %c1 {
    %sum = arith.addf %small, %small : vector<16xf32>
    "test.use"(%sum) : (vector<16xf32>) -> ()
  }
  return
}

// -----

// A divisor that may be 0 is checked before the division; one whose range excludes 0 is not.
// CHECK-LABEL: func.func @unsigned_division
// CHECK-SAME: smalti.stop_errors = [{location = {{.*}}, message = "the divisor of this division is 0"}]
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[DIVISOR:.*]], %{{.*}} : i32
// CHECK: cf.cond_br %[[ZERO]], ^[[SET:.*]], ^[[GO_ON:.*]]
// CHECK: ^[[SET]]:
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: llvm.store volatile %[[ONE]]
// CHECK-NEXT: cf.br ^[[EXIT:.*]]
// CHECK: ^[[GO_ON]]:
// CHECK: arith.divui %{{.*}}, %[[DIVISOR]] : i32
// CHECK-NOT: volatile
// CHECK: ^[[EXIT]]:
func.func @unsigned_division(%n: i32, %m: i32) attributes {smalti.num_tiles = 4 : i64} {
  %c1 = arith.constant 1 : i32
  %0 = arith.divui %n, %m : i32
  %some = arith.maxui %m, %c1 : i32
  %1 = arith.remui %n, %some : i32
  "test.use"(%0, %1) : (i32, i32) -> ()
  return
}

// -----

// Two possible errors: a select chooses the number. Vectors of higher rank are reduced as vectors of rank 1.
// CHECK-LABEL: func.func @signed_division
// CHECK-SAME: message = "this division overflows: the minimum of i8 divided by -1 exceeds the range of the type"
// CHECK-SAME: message = "an element of the divisor of this division is 0; tile elements outside the memref are 0, so replace them with arith.select"
// CHECK-DAG: arith.constant dense<-128> : vector<2x4xi8>
// CHECK-DAG: arith.constant dense<-1> : vector<2x4xi8>
// CHECK: %[[OVERFLOW:.*]] = arith.andi
// CHECK: %[[WRONG:.*]] = arith.ori %[[ZERO:.*]], %[[OVERFLOW]] : vector<2x4xi1>
// CHECK: %[[FLAT:.*]] = vector.shape_cast %[[WRONG]] : vector<2x4xi1> to vector<8xi1>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[FLAT]]
// CHECK: cf.cond_br %[[ANY]]
// CHECK: %[[NUMBER:.*]] = arith.select %{{.*}}, %c2_i32, %c1_i32
// CHECK: llvm.store volatile %[[NUMBER]]
// CHECK: arith.remsi
func.func @signed_division(%n: vector<2x4xi8>, %m: vector<2x4xi8>) attributes {smalti.num_tiles = 4 : i64} {
  %0 = arith.remsi %n, %m : vector<2x4xi8>
  "test.use"(%0) : (vector<2x4xi8>) -> ()
  return
}

// -----

// A division by -1 can overflow, and a division by another constant cannot fail.
// CHECK-LABEL: func.func @constant_divisors
// CHECK-SAME: smalti.stop_errors = [{location = {{.*}}, message = "this division overflows: the minimum of index divided by -1 exceeds the range of the type"}]
// CHECK-COUNT-1: llvm.store volatile
// CHECK-NOT: volatile
func.func @constant_divisors(%n: index, %v: vector<4xi32>) attributes {smalti.num_tiles = 4 : i64} {
  %minus = arith.constant -1 : index
  %two = arith.constant dense<2> : vector<4xi32>
  %several = arith.constant dense<[2, 3, 4, 5]> : vector<4xi32>
  %0 = index.divs %n, %minus
  %1 = arith.divsi %v, %two : vector<4xi32>
  %2 = arith.divsi %v, %several : vector<4xi32>
  "test.use"(%0, %1, %2) : (index, vector<4xi32>, vector<4xi32>) -> ()
  return
}

// -----

// An undefined division in a loop exits the function.
// CHECK-LABEL: func.func @division_in_loop
// CHECK: %[[BUFFER:.*]] = memref.alloc
// CHECK: llvm.store volatile
// CHECK-NEXT: cf.br ^[[EXIT:.*]]
// CHECK: llvm.udiv
// CHECK: ^[[EXIT]]:
// CHECK-NEXT: memref.dealloc %[[BUFFER]]
// CHECK-NEXT: return
func.func @division_in_loop(%n: i32, %m: i32) attributes {smalti.num_tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xi32>
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = llvm.udiv %n, %m : i32
    memref.store %0, %buffer[%i] : memref<8xi32>
  }
  memref.dealloc %buffer : memref<8xi32>
  return
}

// -----

// Divisions of tensors are not changed; vectors of rank 0 and scalable vectors are checked.
// CHECK-LABEL: func.func @types
// CHECK-COUNT-2: vector.reduction <or>
// CHECK-NOT: vector.reduction
// CHECK: arith.divui %{{.*}} : tensor<4xi32>
func.func @types(%v: vector<i32>, %s: vector<[4]xi32>, %t: tensor<4xi32>) attributes {smalti.num_tiles = 4 : i64} {
  %0 = arith.divui %v, %v : vector<i32>
  %1 = arith.divui %s, %s : vector<[4]xi32>
  %2 = arith.divui %t, %t : tensor<4xi32>
  "test.use"(%0, %1, %2) : (vector<i32>, vector<[4]xi32>, tensor<4xi32>) -> ()
  return
}

// -----

// A failed assertion sets the flag.
// CHECK-LABEL: func.func @assertion
// CHECK-SAME: smalti.stop_errors = [{location = {{.*}}, message = "the assertion failed: n is too large"}]
// CHECK: %[[WRONG:.*]] = arith.xori %{{.*}}, %{{.*}} : i1
// CHECK: cf.cond_br %[[WRONG]], ^[[SET:.*]], ^
// CHECK: ^[[SET]]:
// CHECK: llvm.store volatile
// CHECK-NOT: cf.assert
// CHECK: return
func.func @assertion(%c: i1) attributes {smalti.num_tiles = 4 : i64} {
  cf.assert %c, "n is too large"
  return
}

// -----

// An index check stores the index and the size after the flag.
// CHECK: func.func @index({{.*}}, %[[I:.*]]: index, %[[N:.*]]: index, %[[FLAG:.*]]: !llvm.ptr) attributes {smalti.num_tiles = 1 : i64, smalti.stop_errors = [{location = #{{.*}}, message = "the index {0} of dimension 1 is out of bounds; the size is {1}", values}]}
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[FLAG]][8]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: llvm.store %[[INDEX]], %[[FIRST]]
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[FLAG]][16]
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: llvm.store %[[SIZE]], %[[SECOND]]
func.func @index(%x: memref<1xf32>, %i: index, %n: index) attributes {smalti.num_tiles = 1 : i64} {
  %inside = arith.cmpi ult, %i, %n : index
  cf.assert %inside, "out of bounds" {smalti.index_check = 1 : i64}
  return
}
