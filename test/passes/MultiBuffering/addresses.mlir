// Addresses of a buffer, which become those of its current slot.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#shared = #gpu.address_space<workgroup>

// Each of 64 threads copies 16 bytes by a pointer that is computed before the loop. The address of a window is that of
// its buffer: the loop's reads after the copy are in the same slot.
// REMARK: Function=before_loop | Remark="buffer multi-buffered: 2 slots of 1024 B, 2048 B in total"
// CHECK-LABEL: func.func @before_loop(
// CHECK:         %[[SLOTS:.*]] = memref.alloc() : memref<2x256xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[SLOT:.*]] = arith.remui %[[I]], %{{.*}} : index
// CHECK:           %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[SLOTS]]
// CHECK:           %[[BYTES:.*]] = arith.constant 1024 : index
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[SLOT]], %[[BYTES]] : index
// CHECK:           %[[OWN:.*]] = arith.addi %[[ADDRESS]], %[[BEGIN]] : index
// CHECK:           %[[THREAD:.*]] = arith.addi %[[OWN]], %{{.*}} : index
// CHECK:           %[[CAST:.*]] = arith.index_cast %[[THREAD]] : index to i64
// CHECK:           %[[POINTER:.*]] = llvm.inttoptr %[[CAST]] : i64 to !llvm.ptr<3>
// CHECK:           nvvm.cp.async.shared.global %[[POINTER]],
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f32
func.func @before_loop(%a: !llvm.ptr<1>, %out: memref<64xf32>, %n: index) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<256xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<256xf32, #shared> -> index
  %offset = arith.muli %thread, %c16 : index
  %address = arith.addi %base, %offset : index
  %number = arith.index_cast %address : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
  scf.for %i = %c0 to %n step %c1 {
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %window = memref.subview %buffer[128] [64] [1] : memref<256xf32, #shared> to memref<64xf32, strided<[1], offset: 128>, #shared>
    %begin = memref.extract_aligned_pointer_as_index %window
      : memref<64xf32, strided<[1], offset: 128>, #shared> -> index
    %bits = arith.index_cast %begin : index to i64
    %place = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %x = llvm.load %place : !llvm.ptr<3> -> f32
    %y = memref.load %window[%thread] : memref<64xf32, strided<[1], offset: 128>, #shared>
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// By getelementptr, a lane's part of a wave's row; reads after the loop are in the slot of its last iteration.
// REMARK: Function=elements | Remark="buffer multi-buffered: 2 slots of 256 B, 512 B in total"
// CHECK-LABEL: func.func @elements(
// CHECK:         scf.for
// CHECK:           %[[POINTER:.*]] = llvm.inttoptr
// CHECK:           %[[LANE:.*]] = llvm.getelementptr %[[POINTER]]
// CHECK:           rocdl.global.load.async.to.lds.b32 %{{.*}}, %[[LANE]], 0, 0
// CHECK:         }
// CHECK:         %[[SLOT:.*]] = arith.constant 1 : index
// CHECK:         memref.extract_aligned_pointer_as_index
// CHECK:         arith.muli %[[SLOT]],
// CHECK:         %[[AFTER:.*]] = llvm.inttoptr
// CHECK:         llvm.load %[[AFTER]]
func.func @elements(%a: !llvm.ptr<1>, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %lane = arith.index_cast %thread : index to i32
  %buffer = memref.alloc() : memref<64xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<64xf32, #shared> -> index
  %number = arith.index_cast %base : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
  scf.for %i = %c0 to %c8 step %c1 {
    %mine = llvm.getelementptr %pointer[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    rocdl.global.load.async.to.lds.b32 %a, %mine, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.s.wait.asynccnt 0
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %x, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  %last = llvm.load %pointer : !llvm.ptr<3> -> f32
  memref.store %last, %out[%thread] : memref<64xf32>
  return
}
