// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-place-barriers))' | FileCheck %s

// Elements of a vector beyond its buffer are not enumerated.
// CHECK-LABEL: func.func @huge
func.func @huge(%n: index, %i: i32) attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<4xi32, 3>
  %value = vector.broadcast %i : i32 to vector<9223372036854775807xi32>
  scf.for %k = %c0 to %n step %c1 {
    vector.store %value, %buffer[%c0] : memref<4xi32, 3>, vector<9223372036854775807xi32>
    %x = memref.load %buffer[%c0] : memref<4xi32, 3>
    %y = arith.addi %x, %i : i32
    memref.store %y, %buffer[%c1] : memref<4xi32, 3>
  }
  return
}
