// Stores that only together overwrite a buffer: address by address, over all threads of the block and all iterations of
// inner loops.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{target=gfx942}),gpu.module(gpu.func(smalti-multi-buffer{target=sm_90a})))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
#shared = #gpu.address_space<workgroup>

// A vector of each thread.
// CHECK-LABEL: func.func @threads(
// CHECK:         memref.alloc() : memref<2x32x32xf16, #gpu.address_space<workgroup>>
// REMARK: Function=threads | Remark="buffer multi-buffered: 2 slots of 2048 B, 4096 B in total"
func.func @threads(%a: memref<64x32x32xf16>, %out: memref<32xf16>) attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %row = arith.divui %thread, %c4 : index
  %rest = arith.remui %thread, %c4 : index
  %column = arith.muli %rest, %c8 : index
  %buffer = memref.alloc() : memref<32x32xf16, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %value = vector.load %a[%i, %row, %column] : memref<64x32x32xf16>, vector<1x8xf16>
    vector.store %value, %buffer[%row, %column] : memref<32x32xf16, #shared>, vector<1x8xf16>
    gpu.barrier
    %back = memref.load %buffer[%c1, %c0] : memref<32x32xf16, #shared>
    memref.store %back, %out[%c0] : memref<32xf16>
    gpu.barrier
  }
  return
}

// Every thread starts at its own element and takes the block's size as step.
// Two branches, of which each thread takes one, write the halves of a row.
// CHECK-LABEL: func.func @inner_loop(
// CHECK:         memref.alloc() : memref<2x300xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.alloc() : memref<2x128xf32, #gpu.address_space<workgroup>>
func.func @inner_loop(%a: memref<64x300xf32>, %out: memref<1xf32>) attributes {gpu.known_block_size = array<i32: 64, 2, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %thread = affine.linearize_index [%y, %x] by (2, 64) : index
  %low = arith.cmpi ult, %thread, %c64 : index
  %buffer = memref.alloc() : memref<300xf32, #shared>
  %halves = memref.alloc() : memref<128xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %thread to %c300 step %c128 {
      %value = memref.load %a[%i, %j] : memref<64x300xf32>
      memref.store %value, %buffer[%j] : memref<300xf32, #shared>
    }
    %value = memref.load %a[%i, %thread] : memref<64x300xf32>
    scf.if %low {
      memref.store %value, %halves[%thread] : memref<128xf32, #shared>
    } else {
      %upper = memref.subview %halves[64] [64] [1] : memref<128xf32, #shared> to memref<64xf32, strided<[1], offset: 64>, #shared>
      memref.store %value, %upper[%x] : memref<64xf32, strided<[1], offset: 64>, #shared>
    }
    gpu.barrier
    %back = memref.load %buffer[%c1] : memref<300xf32, #shared>
    %half = memref.load %halves[%c1] : memref<128xf32, #shared>
    %sum = arith.addf %back, %half : f32
    memref.store %sum, %out[%c0] : memref<1xf32>
    gpu.barrier
  }
  return
}

// A wave-wide copy writes 64 consecutive lanes of 4 bytes; four waves copy the quarters. Two copies write the halves of
// another buffer.
// CHECK-LABEL: func.func @copies(
// CHECK:         memref.alloc() : memref<2x4x128xf16, #gpu.address_space<workgroup>>
// CHECK:         memref.alloc() : memref<2x2x8xf16, #gpu.address_space<workgroup>>
func.func @copies(%a: memref<64x4x128xf16>, %b: memref<8xf16>, %out: memref<1xf16>) attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %wave = arith.divui %thread, %c64 : index
  %lane = gpu.lane_id
  %column = arith.muli %lane, %c2 : index
  %buffer = memref.alloc() : memref<4x128xf16, #shared>
  %pair = memref.alloc() : memref<2x8xf16, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    amdgpu.gather_to_lds %a[%i, %wave, %column], %buffer[%wave, %c0] : vector<2xf16>, memref<64x4x128xf16>, memref<4x128xf16, #shared>
    %first = memref.subview %pair[0, 0] [1, 8] [1, 1] : memref<2x8xf16, #shared> to memref<8xf16, strided<[1]>, #shared>
    %second = memref.subview %pair[1, 0] [1, 8] [1, 1] : memref<2x8xf16, #shared> to memref<8xf16, strided<[1], offset: 8>, #shared>
    memref.copy %b, %first : memref<8xf16> to memref<8xf16, strided<[1]>, #shared>
    memref.copy %b, %second : memref<8xf16> to memref<8xf16, strided<[1], offset: 8>, #shared>
    gpu.barrier
    %back = memref.load %buffer[%c1, %c0] : memref<4x128xf16, #shared>
    %other = memref.load %pair[%c1, %c0] : memref<2x8xf16, #shared>
    %sum = arith.addf %back, %other : f16
    memref.store %sum, %out[%c0] : memref<1xf16>
    gpu.barrier
  }
  return
}

// Block ids and kernel arguments are uniform: the threads reach the loop together, and take the same path if both paths
// overwrite.
// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:    workgroup(%[[BUFFER:.*]] : memref<2x256xf32, #gpu.address_space<workgroup>>)
// CHECK:         scf.for
// CHECK:           memref.subview %[[BUFFER]]
gpu.module @kernels {
  gpu.func @kernel(%a: memref<64x256xf32>, %n: index, %which: i1) workgroup(%buffer: memref<256xf32, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %begin = arith.muli %thread, %c4 : index
    %active = arith.cmpi ult, %block, %n : index
    scf.if %active {
      scf.for %i = %block to %n step %c1 {
        scf.if %which {
          nvgpu.device_async_copy %a[%i, %begin], %buffer[%begin], 4 : memref<64x256xf32> to memref<256xf32, #shared>
        } else {
          %zero = arith.constant dense<0.0> : vector<4xf32>
          vector.transfer_write %zero, %buffer[%begin] {in_bounds = [false]} : vector<4xf32>, memref<256xf32, #shared>
        }
        gpu.barrier
        %back = memref.load %buffer[%c1] : memref<256xf32, #shared>
        memref.store %back, %a[%i, %thread] : memref<64x256xf32>
        gpu.barrier
      }
    }
    gpu.return
  }

  // A value that is not an alignment is ignored.
  // CHECK-LABEL: gpu.func @no_alignment(
  // CHECK-SAME:    memref<2x16xf32, #gpu.address_space<workgroup>> {llvm.align = 0 : i64}
  gpu.func @no_alignment(%a: memref<16xf32>) workgroup(%buffer: memref<16xf32, #shared> {llvm.align = 0 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      memref.copy %a, %buffer : memref<16xf32> to memref<16xf32, #shared>
      memref.copy %buffer, %a : memref<16xf32, #shared> to memref<16xf32>
    }
    gpu.return
  }
}

// A copy by its descriptor writes the whole tile, whichever lanes of its wave are active.
// CHECK-LABEL: func.func @tensor(
// CHECK:         memref.alloc() : memref<2x64xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.if
// CHECK:           amdgpu.make_dma_base %{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
// REMARK: Function=tensor | Remark="buffer multi-buffered: 2 slots of 256 B, 512 B in total"
func.func @tensor(%a: memref<64x64xf32>, %out: memref<1xf32>) attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %is_first = arith.cmpi ult, %thread, %c32 : index
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %is_first {
      %base = amdgpu.make_dma_base %a[%i, %c0], %buffer[%c0] : memref<64x64xf32>, memref<64xf32, #shared> -> !amdgpu.tdm_base<f32>
      %desc = amdgpu.make_dma_descriptor %base globalSize [1, 64] globalStride [64, 1] sharedSize [1, 64] : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
      amdgpu.tensor_load_to_lds %desc : !amdgpu.tdm_descriptor
    }
    amdgpu.memory_counter_wait tensor(0)
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %x, %out[%c0] : memref<1xf32>
    gpu.barrier
  }
  return
}

// A tile that is smaller than the buffer, and gaps, leave elements as they were.
// CHECK-LABEL: func.func @part_of_a_tensor(
// CHECK:         memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
// REMARK: Function=part_of_a_tensor | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'amdgpu.tensor_load_to_lds' is not counted as a write: the addresses that it writes cannot be determined statically; use stores of memref or vector"
func.func @part_of_a_tensor(%a: memref<64x64xf32>, %out: memref<1xf32>) attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    %base = amdgpu.make_dma_base %a[%i, %c0], %buffer[%c0] : memref<64x64xf32>, memref<64xf32, #shared> -> !amdgpu.tdm_base<f32>
    %desc = amdgpu.make_dma_descriptor %base globalSize [1, 64] globalStride [64, 1] sharedSize [1, 32] : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %desc : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
    gpu.barrier
    %x = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %x, %out[%c0] : memref<1xf32>
    gpu.barrier
  }
  return
}

// The bounds that the host passes to a launch are uniform.
// CHECK-LABEL: func.func @launched(
// CHECK:         gpu.launch
// CHECK-SAME:    workgroup(%[[BUFFER:.*]] : memref<2x64xf32, #gpu.address_space<workgroup>>)
// CHECK:         scf.for
// CHECK:           memref.subview %[[BUFFER]]
func.func @launched(%a: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%buffer: memref<64xf32, #shared>) {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %tx] : memref<64x64xf32>
      memref.store %x, %buffer[%tx] : memref<64xf32, #shared>
      gpu.barrier
      %y = memref.load %buffer[%c1] : memref<64xf32, #shared>
      gpu.barrier
      memref.store %y, %a[%i, %tx] : memref<64x64xf32>
    }
    gpu.terminator
  }
  return
}
