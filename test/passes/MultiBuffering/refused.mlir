// Refused buffers: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-multi-buffer: buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it
#shared = #gpu.address_space<workgroup>

// CHECK: [Missed] smalti-multi-buffer | Category:smalti-multi-buffer | Function=partial_write | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten); 'memref.store' is not counted as a write: the address that it writes cannot be determined, since the block size is unknown or control flow may be divergent; set known_block_size, or use uniform conditions"
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

// CHECK: Function=read_first | Remark="buffer not multi-buffered: 'vector.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten)"
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

// CHECK: Function=masked_write | Remark="buffer not multi-buffered: 'vector.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten); 'vector.transfer_write' is not counted as a write: its mask may disable elements; write all of them without a mask"
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

// CHECK: Function=conditional_write | Remark="buffer not multi-buffered: 'vector.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten); 'scf.if' is not counted as a write: its two branches write different elements"
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

// The first read of an iteration of the outer loop takes what the inner loop
// left, in a slot that depends on how often it ran.
// CHECK: Function=used_outside | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten)"
func.func @used_outside(%row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %j = %c0 to %c64 step %c1 {
    %last = memref.load %buffer[%c0] : memref<8xf32, #shared>
    memref.store %last, %out[%c0] : memref<8xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      %back = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
      vector.store %back, %out[%c0] : memref<8xf32>, vector<8xf32>
    }
  }
  return
}

// CHECK: Function=escapes | Remark="buffer not multi-buffered: the buffer escapes through 'func.call', so not all of its uses are known; do not pass it or its address to this op"
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

// CHECK: Function=dynamic_size | Remark="buffer not multi-buffered: the size of the buffer is dynamic, so the slots cannot be allocated; a static size is required"
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

// The bytes may have other views.
// CHECK: Function=byte_view | Remark="buffer not multi-buffered: the buffer is the result of 'memref.view', which cannot be enlarged; only allocations are supported, so use memref.alloc"
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

// CHECK: Function=alignment | Remark="buffer not multi-buffered: the size of the buffer, 12 B, must be a multiple of its alignment, 16 B, so that each slot is aligned"
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

// The second slot would begin at byte 24.
// CHECK: Function=copy_alignment | Remark="buffer not multi-buffered: the size of the buffer, 24 B, is not a multiple of the alignment of 16 B that 'nvgpu.device_async_copy' requires"
func.func @copy_alignment(%source: memref<64x12xf16>, %init: f16) -> f16 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<12xf16, #shared>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f16 {
    %head = nvgpu.device_async_copy %source[%i, %c0], %buffer[%c0], 8 : memref<64x12xf16> to memref<12xf16, #shared>
    %tail = nvgpu.device_async_copy %source[%i, %c8], %buffer[%c8], 4 : memref<64x12xf16> to memref<12xf16, #shared>
    %group = nvgpu.device_async_create_group %head, %tail
    nvgpu.device_async_wait %group
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<12xf16, #shared>
    %next = arith.addf %acc, %x : f16
    gpu.barrier
    scf.yield %next : f16
  }
  return %sum : f16
}

// A vector that is longer than a row of the window leaves the next row alone.
// CHECK: Function=gaps | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (12 of 16 elements are proven to be overwritten)"
func.func @gaps(%row: vector<8xf32>, %out: memref<8xf32>) attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<2x8xf32, #shared>
  %left = memref.subview %buffer[0, 0] [2, 4] [1, 1] : memref<2x8xf32, #shared> to memref<2x4xf32, strided<[8, 1]>, #shared>
  %right = memref.subview %buffer[0, 4] [2, 4] [1, 1]
    : memref<2x8xf32, #shared> to memref<2x4xf32, strided<[8, 1], offset: 4>, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    vector.store %row, %left[%c0, %c0] : memref<2x4xf32, strided<[8, 1]>, #shared>, vector<8xf32>
    vector.store %row, %right[%c0, %c0] : memref<2x4xf32, strided<[8, 1], offset: 4>, #shared>, vector<8xf32>
    %x = memref.load %buffer[%c1, %c1] : memref<2x8xf32, #shared>
    memref.store %x, %out[%i] : memref<8xf32>
  }
  return
}

// CHECK: Function=empty | Remark="buffer not multi-buffered: the buffer has 0 elements, so slots are not needed"
func.func @empty(%source: memref<0xf32>, %out: memref<0xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<0xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %buffer : memref<0xf32> to memref<0xf32, #shared>
    memref.copy %buffer, %out : memref<0xf32, #shared> to memref<0xf32>
  }
  return
}

// CHECK: Function=inside | Remark="buffer not multi-buffered: the buffer is allocated inside the loop; move the allocation before the loop"
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
// CHECK: Function=wide_counter | Remark="buffer not multi-buffered: the induction variable of the loop has more than 64 bits; at most 64 are supported"
func.func @wide_counter(%a: memref<16xf16>, %b: memref<16xf16>, %n: i128) {
  %c0 = arith.constant 0 : i128
  %c1 = arith.constant 1 : i128
  %buffer = memref.alloc() : memref<16xf16, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %n step %c1 : i128 {
    memref.copy %a, %buffer : memref<16xf16> to memref<16xf16, #gpu.address_space<workgroup>>
    memref.copy %buffer, %b : memref<16xf16, #gpu.address_space<workgroup>> to memref<16xf16>
  }
  return
}

// CHECK: Function=narrow_counter | Remark="buffer not multi-buffered: the induction variable of the loop has type i2; the slot computation requires at least 8 bits: use a wider type, such as i32"
func.func @narrow_counter(%v: vector<8xf16>, %begin: i2, %end: i2) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 1 : i2
  %buffer = memref.alloc() : memref<8xf16, #shared>
  scf.for %i = %begin to %end step %step : i2 {
    vector.store %v, %buffer[%c0] : memref<8xf16, #shared>, vector<8xf16>
  }
  return
}

// The size of this buffer's slots in bytes exceeds 63 bits.
// CHECK: Function=huge | Remark="buffer not multi-buffered: the size of the buffer in bytes is unknown or exceeds 64 bits"
func.func @huge(%v: memref<4611686018427387904xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<4611686018427387904xf16, #shared>
  scf.for %i = %c0 to %c1 step %c1 {
    memref.copy %v, %buffer : memref<4611686018427387904xf16> to memref<4611686018427387904xf16, #shared>
  }
  return
}

// The inner loop may have a trip count of zero; the values that are read after it are then older.
// CHECK: Function=maybe_none | Remark="buffer not multi-buffered: 'vector.load' reads the buffer before the iteration has overwritten all of it (0 of 8 elements are proven to be overwritten); 'vector.store' is not counted as a write: the trip count of the enclosing 'scf.for' cannot be determined, since the block size is unknown or control flow may be divergent; set known_block_size, or use uniform conditions"
func.func @maybe_none(%n: index, %row: vector<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %j = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    }
    %last = vector.load %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
    vector.store %last, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  return
}

// 96 threads write 96 of 128 elements.
// CHECK: Function=too_few_threads | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (96 of 128 elements are proven to be overwritten)"
func.func @too_few_threads(%a: memref<64x128xf32>, %out: memref<128xf32>) attributes {gpu.known_block_size = array<i32: 96, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<128xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %value = memref.load %a[%i, %thread] : memref<64x128xf32>
    memref.store %value, %buffer[%thread] : memref<128xf32, #shared>
    gpu.barrier
    %back = memref.load %buffer[%c1] : memref<128xf32, #shared>
    memref.store %back, %out[%thread] : memref<128xf32>
    gpu.barrier
  }
  return
}

// The threads of a block may run the loop a different number of times.
// CHECK: Function=divergent_loop | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'memref.store' is not counted as a write: the address that it writes cannot be determined, since the block size is unknown or control flow may be divergent; set known_block_size, or use uniform conditions"
func.func @divergent_loop(%a: memref<64x64xf32>, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %thread step %c1 {
    %value = memref.load %a[%i, %thread] : memref<64x64xf32>
    memref.store %value, %buffer[%thread] : memref<64xf32, #shared>
    %back = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %back, %out[%thread] : memref<64xf32>
  }
  return
}

// The path of an iteration of the inner loop may change.
// CHECK: Function=inner_branch | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'memref.store' is not counted as a write: the condition of the enclosing branch cannot be determined; compute it from constants, thread ids and the induction variables of loops"
func.func @inner_branch(%which: memref<8xi1>, %value: f32, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 8, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<8x8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %condition = memref.load %which[%j] : memref<8xi1>
      scf.if %condition {
        memref.store %value, %buffer[%j, %thread] : memref<8x8xf32, #shared>
      } else {
        %other = arith.subi %c7, %j : index
        memref.store %value, %buffer[%other, %thread] : memref<8x8xf32, #shared>
      }
    }
    gpu.barrier
    %back = memref.load %buffer[%c1, %c0] : memref<8x8xf32, #shared>
    memref.store %back, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// The first iteration of the inner loop reads what the second one writes.
// CHECK: Function=inner_read | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (2 of 2 elements are proven to be overwritten)"
func.func @inner_read(%value: f32, %out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<2xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      memref.store %value, %buffer[%j] : memref<2xf32, #shared>
      %back = memref.load %buffer[%c1] : memref<2xf32, #shared>
      memref.store %back, %out[%j] : memref<2xf32>
    }
    %back = memref.load %buffer[%c0] : memref<2xf32, #shared>
    memref.store %back, %out[%c0] : memref<2xf32>
  }
  return
}

// CHECK: Function=never_all | Remark="buffer not multi-buffered: each iteration must overwrite all 8 elements that the loop uses, but is proven to overwrite only 1"
func.func @never_all(%value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %value, %buffer[%c0] : memref<8xf32, #shared>
  }
  return
}

// A global belongs to the module.
// CHECK: Function=global | Remark="buffer not multi-buffered: the buffer is the result of 'memref.get_global', which cannot be enlarged; only allocations are supported, so use memref.alloc"
memref.global "private" @shared : memref<8xf32, #shared> = uninitialized
func.func @global(%row: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.get_global @shared : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  }
  return
}

// Only one thread runs the loop, but all read what it leaves.
// CHECK: Function=one_thread | Remark="buffer not multi-buffered: 'memref.load' uses the buffer outside the loop, whose trip count may be divergent, so threads may use different slots; make the trip count uniform"
func.func @one_thread(%row: vector<8xf32>, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %isFirst = arith.cmpi eq, %thread, %c0 : index
  %times = arith.select %isFirst, %c8, %c0 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %times step %c1 {
    vector.store %row, %buffer[%c0] : memref<8xf32, #shared>, vector<8xf32>
  }
  gpu.barrier
  %last = memref.load %buffer[%c1] : memref<8xf32, #shared>
  memref.store %last, %out[%thread] : memref<64xf32>
  return
}
