// RUN: smalti-opt %s --smalti-lower-cpu-loops --split-input-file --allow-unregistered-dialect | FileCheck %s

// The loops end with a read of the flag, but the inner one is short. Buffers are freed on the way out.
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
// One that is known to have few iterations does not.
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
  } {smalti.most_iterations = 64 : i64}
  return
}

// -----

// The step is checked before the loop.
// CHECK-LABEL: func.func @step
// CHECK-SAME: smalti.loop_locations = [
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

// A step that is compared without a sign is wrong where it is 0.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi eq
func.func @unsigned(%x: memref<64xf32>, %n: i32) attributes {smalti.num_tiles = 4 : i64} {
  scf.for unsigned %i = %n to %n step %n : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// A function that is called, or that does not run tiles, keeps its type.
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
