// Refused buffers, by their uses and attributes: the reason word for word, and the program as it was.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=auto}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AUTO
// AUTO: error: smalti-multi-buffer: depth=auto needs a target, whose shared memory bounds it
#shared = #gpu.address_space<workgroup>

// CHECK: Function=freed | Remark="the buffer is freed inside the loop"
func.func @freed(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    memref.dealloc %buffer : memref<8xf32, #shared>
  }
  return
}

// CHECK: Function=view_freed | Remark="the buffer is freed through a view by 'memref.dealloc'"
func.func @view_freed(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  %view = memref.cast %buffer : memref<8xf32, #shared> to memref<?xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  memref.dealloc %view : memref<?xf32, #shared>
  return
}

// CHECK: Function=number | Remark="the buffer has the attribute smalti.slots, which is not a number from 1 to 64"
func.func @number(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() {smalti.slots = 0 : i64} : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  return
}
