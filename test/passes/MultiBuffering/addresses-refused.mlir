// Addresses of a buffer that are not followed: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

#shared = #gpu.address_space<workgroup>

// CHECK: Function=stored | Remark="buffer not multi-buffered: the buffer escapes through 'memref.store', so not all of its uses are known; do not pass it or its address to this op"
func.func @stored(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    memref.store %number, %places[%thread] : memref<64xi64>
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=pointer_stored | Remark="buffer not multi-buffered: the buffer escapes through 'llvm.store', so not all of its uses are known; do not pass it or its address to this op"
func.func @pointer_stored(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    llvm.store %pointer, %a : !llvm.ptr<3>, !llvm.ptr<1>
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=compared | Remark="buffer not multi-buffered: the buffer escapes through 'arith.cmpi', so not all of its uses are known; do not pass it or its address to this op"
func.func @compared(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %is_high = arith.cmpi ugt, %address, %n : index
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=scaled | Remark="buffer not multi-buffered: the buffer escapes through 'arith.shrui', so not all of its uses are known; do not pass it or its address to this op"
func.func @scaled(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %word = arith.shrui %address, %c1 : index
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=small_slots | Remark="buffer not multi-buffered: the size of the buffer, 24 B, must be a multiple of 16 B, because 'memref.extract_aligned_pointer_as_index' takes the address of the buffer, whose users may require this alignment"
func.func @small_slots(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<6xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<6xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<6xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=too_little | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (256 of 512 elements are proven to be overwritten)"
func.func @too_little(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<512xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<512xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %offset = arith.muli %thread, %c16 : index
    %address = arith.addi %base, %offset : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<512xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=unknown_place | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 256 elements are proven to be overwritten); 'nvvm.cp.async.shared.global' is not counted as a write: the address that it writes cannot be determined; compute it from constants, thread ids and the induction variables of loops"
func.func @unknown_place(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %address = arith.addi %base, %n : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// CHECK: Function=unknown_size | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 256 elements are proven to be overwritten); 'llvm.store' is not counted as a write: the number of bytes that it writes cannot be determined"
func.func @unknown_size(%a: !llvm.ptr<1>, %out: memref<64xf32>, %places: memref<64xi64>, %n: index)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  scf.for %i = %c0 to %n step %c1 {
    %number = arith.index_cast %base : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    llvm.store %a, %pointer : !llvm.ptr<1>, !llvm.ptr<3>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<256xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}
