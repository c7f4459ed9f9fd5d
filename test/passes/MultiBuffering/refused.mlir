// Refused buffers: the reason word for word, and the program as it was.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-multi-buffer: the buffer is first written by 'memref.store', which does not overwrite all of it
#shared = #gpu.address_space<workgroup>

// CHECK: [Missed] smalti-multi-buffer | Category:smalti-multi-buffer | Function=partial_write | Remark="the buffer is first written by 'memref.store', which does not overwrite all of it, so that older values may still be read"
func.func @partial_write(%a: memref<64x8xf32>, %out: memref<8xf32>, %thread: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %value = memref.load %a[%i, %thread] : memref<64x8xf32>
    memref.store %value, %buffer[%thread] : memref<8xf32, #shared>
    gpu.barrier
    %back = memref.load %buffer[%c0] : memref<8xf32, #shared>
    memref.store %back, %out[%thread] : memref<8xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=read_first | Remark="the buffer is read by 'vector.load' before it is overwritten in the iteration"
func.func @read_first(%a: memref<64x8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  }
  return
}

// CHECK: Function=masked_write | Remark="the buffer is first written by 'vector.transfer_write', which does not overwrite all of it
func.func @masked_write(%row: vector<8xf32>, %out: memref<8xf32>, %mask: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.transfer_write %row, %buffer[%c0], %mask {in_bounds = [true]} : vector<8xf32>, memref<8xf32, #shared>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  return
}

// CHECK: Function=conditional_write | Remark="the buffer is first used inside 'scf.if', which may not overwrite all of it in every iteration"
func.func @conditional_write(%row: vector<8xf32>, %out: memref<8xf32>, %condition: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %condition {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    }
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  return
}

// CHECK: Function=used_outside | Remark="the buffer is also used outside the loop, by 'memref.load'"
func.func @used_outside(%row: vector<8xf32>, %out: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  %last = memref.load %buffer[%c0] : memref<8xf32, #shared>
  return %last : f32
}

// CHECK: Function=escapes | Remark="the buffer escapes through 'func.call'"
func.func private @callee(memref<8xf32, #shared>)
func.func @escapes(%row: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    func.call @callee(%buffer) : (memref<8xf32, #shared>) -> ()
  }
  return
}

// CHECK: Function=dynamic_size | Remark="the buffer has a size that is not known at compile time"
func.func @dynamic_size(%n: index, %source: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc(%n) : memref<?xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %buffer : memref<?xf32> to memref<?xf32, #shared>
    memref.copy %buffer, %source : memref<?xf32, #shared> to memref<?xf32>
  }
  return
}

// A byte buffer's typed view must start at the origin of an allocation.
// CHECK: Function=byte_view | Remark="the buffer is viewed by 'memref.view', which cannot show a slot of a larger buffer"
func.func @byte_view(%source: memref<32xi8>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<32xi8, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %buffer : memref<32xi8> to memref<32xi8, #shared>
    %view = memref.view %buffer[%c0][] : memref<32xi8, #shared> to memref<8xf32, #shared>
    memref.copy %view, %out : memref<8xf32, #shared> to memref<8xf32>
  }
  return
}

// CHECK: Function=alignment | Remark="the buffer has slots of 12 B, which would break its alignment of 16 B"
func.func @alignment(%source: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() {alignment = 16 : i64} : memref<3xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %buffer : memref<3xf32> to memref<3xf32, #shared>
    memref.copy %buffer, %source : memref<3xf32, #shared> to memref<3xf32>
  }
  return
}

// CHECK: Function=inside | Remark="the buffer is allocated inside the loop"
func.func @inside(%source: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %buffer = memref.alloc() : memref<4xf32, #shared>
    memref.copy %source, %buffer : memref<4xf32> to memref<4xf32, #shared>
    memref.copy %buffer, %source : memref<4xf32, #shared> to memref<4xf32>
  }
  return
}

// The slot's number would not fit the counter.
// CHECK: Function=narrow_counter | Remark="the buffer belongs to a loop whose counter of type i2 may not hold the number of slots"
func.func @narrow_counter(%v: vector<8xf16>, %begin: i2, %end: i2) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 1 : i2
  %buffer = memref.alloc() : memref<8xf16, #shared>
  scf.for %i = %begin to %end step %step : i2 {
    vector.store %v, %buffer[%c0] : memref<8xf16, #shared>, vector<8xf16>
  }
  return
}

// Slots of so large a buffer have no size in bytes that 63 bits hold.
// CHECK: Function=huge | Remark="the buffer has a size in bytes that is not known"
func.func @huge(%v: memref<4611686018427387904xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<4611686018427387904xf16, #shared>
  scf.for %i = %c0 to %c1 step %c1 {
    memref.copy %v, %buffer : memref<4611686018427387904xf16> to memref<4611686018427387904xf16, #shared>
  }
  return
}
