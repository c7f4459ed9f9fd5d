// Writes that do not count as overwriting a buffer: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2 target=gfx942}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks

#shared = #gpu.address_space<workgroup>
!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, #shared>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #shared>

// CHECK: Function=many_iterations | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (1 of 8 elements are proven to be overwritten); 'memref.store' is not counted as a write: to enumerate the addresses that it writes takes more than 8388608 steps, the limit of the analysis"
func.func @many_iterations(%value: f32, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %many = arith.constant 10000000 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %many step %c1 {
      memref.store %value, %buffer[%c0] : memref<8xf32, #shared>
    }
    %back = memref.load %buffer[%c1] : memref<8xf32, #shared>
    memref.store %back, %out[%c0] : memref<8xf32>
  }
  return
}

// CHECK: Function=overflow | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (1 of 8 elements are proven to be overwritten); 'memref.store' is not counted as a write: the induction variable of the enclosing loop overflows"
func.func @overflow(%value: f32, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<8xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    affine.for %j = 0 to 9223372036854775807 step 6148914691236517205 {
      memref.store %value, %buffer[%c0] : memref<8xf32, #shared>
    }
    %back = memref.load %buffer[%c1] : memref<8xf32, #shared>
    memref.store %back, %out[%c0] : memref<8xf32>
  }
  return
}

// CHECK: Function=predicate | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'nvgpu.tma.async.load' is not counted as a write: the value of its predicate cannot be determined; compute it from constants, thread ids and the induction variables of loops"
func.func @predicate(%map: !descriptor, %barriers: !barriers, %mine: memref<64xi1>, %out: memref<64xf32>)
    attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %predicate = memref.load %mine[%thread] : memref<64xi1>
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    nvgpu.tma.async.load %map[%c0], %barriers[%c0] to %buffer, predicate = %predicate : !descriptor, !barriers -> memref<64xf32, #shared>
    %back = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %back, %out[%thread] : memref<64xf32>
  }
  return
}

// CHECK: Function=window_somewhere | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'memref.copy' is not counted as a write: the offset of the view that it writes cannot be determined, since the block size is unknown or control flow may be divergent; set known_block_size, or use uniform conditions"
func.func @window_somewhere(%a: memref<32xf32>, %places: memref<8xindex>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    %place = memref.load %places[%i] : memref<8xindex>
    %window = memref.subview %buffer[%place] [32] [1] : memref<64xf32, #shared> to memref<32xf32, strided<[1], offset: ?>, #shared>
    memref.copy %a, %window : memref<32xf32> to memref<32xf32, strided<[1], offset: ?>, #shared>
    %back = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// CHECK: Function=large_window | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 5000000 elements are proven to be overwritten); 'memref.copy' is not counted as a write: it writes to memory of 5000000 elements; the analysis supports at most 4194304"
func.func @large_window(%a: memref<32xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<5000000xf32, #shared>
  %window = memref.subview %buffer[0] [32] [1] : memref<5000000xf32, #shared> to memref<32xf32, strided<[1]>, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %a, %window : memref<32xf32> to memref<32xf32, strided<[1]>, #shared>
    %back = memref.load %buffer[%c1] : memref<5000000xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// CHECK: Function=large_rows | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 5000000 elements are proven to be overwritten); 'memref.store' is not counted as a write: it writes to memory of 5000000 elements; the analysis supports at most 4194304"
func.func @large_rows(%value: f32, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<5000000xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %value, %buffer[%c0] : memref<5000000xf32, #shared>
    %back = memref.load %buffer[%c1] : memref<5000000xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// CHECK: Function=large_bytes | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 5000000 elements are proven to be overwritten); 'nvvm.cp.async.shared.global' is not counted as a write: it writes to memory of 5000000 elements; the analysis supports at most 4194304"
func.func @large_bytes(%a: !llvm.ptr<1>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<5000000xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<5000000xf32, #shared> -> index
  %number = arith.index_cast %base : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
  scf.for %i = %c0 to %c8 step %c1 {
    nvvm.cp.async.shared.global %pointer, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %back = memref.load %buffer[%c1] : memref<5000000xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// Windows, rows and bytes of which each is looked at.
// CHECK: Function=many_windows | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (1048576 of 1048577 elements are proven to be overwritten); 'memref.copy' is not counted as a write: to enumerate the addresses that it writes takes more than 8388608 steps, the limit of the analysis"
func.func @many_windows(%a: memref<1048576xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<1048577xf32, #shared>
  %window = memref.subview %buffer[0] [1048576] [1] : memref<1048577xf32, #shared> to memref<1048576xf32, strided<[1]>, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.copy %a, %window : memref<1048576xf32> to memref<1048576xf32, strided<[1]>, #shared>
    }
    %back = memref.load %buffer[%c1] : memref<1048577xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// CHECK: Function=many_rows | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (65536 of 65537 elements are proven to be overwritten); 'vector.store' is not counted as a write: to enumerate the addresses that it writes takes more than 8388608 steps, the limit of the analysis"
func.func @many_rows(%row: vector<65536xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %buffer = memref.alloc() : memref<65537xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      vector.store %row, %buffer[%c0] : memref<65537xf32, #shared>, vector<65536xf32>
    }
    %back = memref.load %buffer[%c1] : memref<65537xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// CHECK: Function=many_bytes | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (262144 of 1048577 elements are proven to be overwritten); 'nvvm.cp.async.bulk.shared.cluster.global' is not counted as a write: to enumerate the addresses that it writes takes more than 8388608 steps, the limit of the analysis"
func.func @many_bytes(%a: !llvm.ptr<1>, %barrier: !llvm.ptr<3>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 1048576 : i32
  %buffer = memref.alloc() : memref<1048577xf32, #shared>
  %base = memref.extract_aligned_pointer_as_index %buffer : memref<1048577xf32, #shared> -> index
  %number = arith.index_cast %base : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
  %to = llvm.addrspacecast %pointer : !llvm.ptr<3> to !llvm.ptr<7>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      nvvm.cp.async.bulk.shared.cluster.global %to, %a, %barrier, %size : !llvm.ptr<7>, !llvm.ptr<1>
    }
    %back = memref.load %buffer[%c1] : memref<1048577xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// Lanes of less than a dword write a dword each.
// CHECK: Function=small_lanes | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'amdgpu.gather_to_lds' is not counted as a write: each lane writes 2 B; the analysis supports only writes of 4 or 16 B per lane"
func.func @small_lanes(%a: memref<64x64xf16>, %out: memref<64xf16>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<64xf16, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    amdgpu.gather_to_lds %a[%i, %thread], %buffer[%c0] : f16, memref<64x64xf16>, memref<64xf16, #shared>
    gpu.barrier
    %back = memref.load %buffer[%c1] : memref<64xf16, #shared>
    memref.store %back, %out[%thread] : memref<64xf16>
    gpu.barrier
  }
  return
}

// A wave's 64 elements exceed the slot: they would also write the next slot.
// CHECK: Function=overhang | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 48 elements are proven to be overwritten); 'amdgpu.gather_to_lds' is not counted as a write: the 64 lanes of a wave may write past the end of the buffer of 48 elements; make the buffer large enough for the writes of all lanes"
func.func @overhang(%a: memref<64x64xf32>, %out: memref<64xf32>) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %thread = gpu.thread_id x
  %buffer = memref.alloc() : memref<48xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    amdgpu.gather_to_lds %a[%i, %thread], %buffer[%c0] : f32, memref<64x64xf32>, memref<48xf32, #shared>
    gpu.barrier
    %back = memref.load %buffer[%c1] : memref<48xf32, #shared>
    memref.store %back, %out[%thread] : memref<64xf32>
    gpu.barrier
  }
  return
}

// A write inside of dynamic bounds.
// CHECK: Function=some_bounds | Remark="buffer not multi-buffered: 'memref.load' reads the buffer before the iteration has overwritten all of it (0 of 64 elements are proven to be overwritten); 'vector.transfer_write' is not counted as a write: it drops out-of-bounds elements, and the size of its memref is dynamic; use a memref of static size"
func.func @some_bounds(%row: vector<64xf32>, %n: index, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<64xf32, #shared>
  %window = memref.subview %buffer[0] [%n] [1] : memref<64xf32, #shared> to memref<?xf32, strided<[1]>, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    vector.transfer_write %row, %window[%c0] : vector<64xf32>, memref<?xf32, strided<[1]>, #shared>
    %back = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
  }
  return
}

// A tensor copy for all blocks of a cluster.
// CHECK: Function=cluster_copy | Remark="buffer not multi-buffered: the buffer cannot be proven to be overwritten in every iteration: the source or destination of 'amdgpu.tensor_load_to_lds' cannot be determined, for example because the op copies to several blocks of a cluster"
func.func @cluster_copy(%a: memref<64x64xf32>, %mask: vector<16xi1>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %buffer = memref.alloc() : memref<64xf32, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    %base = amdgpu.make_dma_base %a[%i, %c0], %buffer[%c0]
      : memref<64x64xf32>, memref<64xf32, #shared> -> !amdgpu.tdm_base<f32>
    %descriptor = amdgpu.make_dma_descriptor %base globalSize [64, 64] globalStride [64, 1] sharedSize [1, 64] workgroupMask %mask
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %descriptor : !amdgpu.tdm_descriptor
    amdgpu.memory_counter_wait tensor(0)
    gpu.barrier
    %back = memref.load %buffer[%c1] : memref<64xf32, #shared>
    memref.store %back, %out[%c0] : memref<64xf32>
    gpu.barrier
  }
  return
}
