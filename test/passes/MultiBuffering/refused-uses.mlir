// Refused buffers, by their uses and attributes: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=auto}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AUTO
// AUTO: error: smalti-multi-buffer: depth=auto requires a target; set the option 'target' or the attribute smalti.target
#shared = #gpu.address_space<workgroup>

// CHECK: Function=freed | Remark="buffer not multi-buffered: the buffer is freed inside the loop; move the deallocation after the loop"
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

// CHECK: Function=view_freed | Remark="buffer not multi-buffered: the buffer is freed through one of its views by 'memref.dealloc'; free the buffer itself"
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

// CHECK: Function=number | Remark="buffer not multi-buffered: {{.*}} has 'smalti.slots' = {{.*}}; an integer from 1 to 64 is required"
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

// CHECK: Function=truth | Remark="buffer not multi-buffered: {{.*}} has 'smalti.slots' = {{.*}}; an integer from 1 to 64 is required"
func.func @truth(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  } {smalti.slots = true}
  return
}

// The loops' own attribute wins over the option.
// CHECK: Function=left_alone | Remark="buffer not multi-buffered: the loop has smalti.slots = 1, which disables multi-buffering"
func.func @left_alone(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    } {smalti.slots = 1 : i64}
  }
  return
}

// The loop's final values are read when the code around it runs again.
// CHECK: Function=carried_around | Remark="buffer not multi-buffered: the code around the loop may be executed repeatedly, and the buffer may then pass values from one execution to the next: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten)"
func.func @carried_around(%row: vector<8xf32>, %more: memref<8xi1>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.while : () -> () {
    %goes_on = memref.load %more[%c0] : memref<8xi1>
    scf.condition(%goes_on)
  } do {
    %last = memref.load %buffer[%c0] : memref<8xf32, #shared>
    memref.store %last, %out[%c0] : memref<8xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    }
    scf.yield
  }
  return
}

// No block of the function holds all uses.
// CHECK: Function=unstructured | Remark="buffer not multi-buffered: the uses of the buffer are in several MLIR blocks of the function body; structured control flow (scf) is required"
func.func @unstructured(%row: vector<8xf32>, %condition: i1, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  }
  cf.cond_br %condition, ^read, ^end
^read:
  %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  cf.br ^end
^end:
  return
}

// A thread's stack is not in shared memory, independent of the type.
// CHECK: Function=on_the_stack | Remark="buffer not multi-buffered: the buffer is allocated by 'memref.alloca', which does not permit an added dimension for the slots; use memref.alloc"
func.func @on_the_stack(%a: memref<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloca() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %a, %buffer : memref<8xf32> to memref<8xf32, #shared>
    memref.copy %buffer, %out : memref<8xf32, #shared> to memref<8xf32>
  }
  return
}

// CHECK: Function=calls_inside | Remark="buffer not multi-buffered: the buffer is used by an op whose accesses cannot be determined: 'func.call' has unknown side effects"
func.func private @compute(f32) -> f32
func.func @calls_inside() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%buffer : memref<8xf32, #shared>) {
    ^bb0(%x: f32):
      %y = func.call @compute(%x) : (f32) -> f32
      linalg.yield %y : f32
    }
  }
  return
}

// CHECK: Function=while_loop | Remark="buffer not multi-buffered: the uses of the buffer are in 'scf.while'; only scf.for loops are supported"
func.func @while_loop(%a: memref<8xf32>, %out: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    memref.copy %a, %buffer : memref<8xf32> to memref<8xf32, #shared>
    memref.copy %buffer, %out : memref<8xf32, #shared> to memref<8xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}

// CHECK-NOT: Function=affine_loop
func.func @affine_loop(%a: memref<8xf32>, %out: memref<8xf32>) {
  %buffer = memref.alloc() : memref<8xf32, #shared>
  affine.for %i = 0 to 8 {
    memref.copy %a, %buffer : memref<8xf32> to memref<8xf32, #shared>
    memref.copy %buffer, %out : memref<8xf32, #shared> to memref<8xf32>
  } {smalti.slots = 1 : i64}
  return
}
