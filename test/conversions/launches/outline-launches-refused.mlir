// RUN: not smalti-opt %s --split-input-file --mosaic-gpu-outline-launches --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: smalti-opt %s --split-input-file --mosaic-gpu-outline-launches --verify-diagnostics

// The module is unchanged.
// CHECK-NOT: gpu.func

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    // expected-error @below {{has grid, block or cluster sizes that are not positive constants}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %none = arith.constant 0 : index
    // expected-error @below {{has grid, block or cluster sizes that are not positive constants}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %none, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %odd = arith.constant 100 : index
    // expected-error @below {{has blocks of 100 threads; a multiple of 'thread-group-size', 128, is required}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %odd, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %memory = mosaic_gpu.slice_smem 0 : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %b = arith.index_cast %n : index to i32
    // expected-error @below {{has a size of dynamic shared memory that is not a constant of at least 0 bytes; use a constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %b {
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    // expected-error @below {{uses %arg0 of type 'index', which is defined outside of the launch; only constants, memrefs that the function reads from its array of pointers, and arrays of tensor maps are supported}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      // expected-note @below {{the value is used here}}
      %m = arith.addi %n, %n : index
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %x = memref.alloc() : memref<512xf32>
    // expected-error @below {{uses a memref of type 'memref<512xf32>' that does not come from the '!llvm.ptr' argument with the addresses of the buffers: the memref is not the result of an unrealized_conversion_cast of one memref descriptor}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %stream, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %stream, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    // expected-error @below {{uses a memref of type 'memref<512xf32>' that does not come from the '!llvm.ptr' argument with the addresses of the buffers: the address of the memref is not loaded from that array}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %step, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    // expected-error @below {{uses a memref of type 'memref<512xf32>' that does not come from the '!llvm.ptr' argument with the addresses of the buffers: the memref was created with another offset, size or stride than its type states; use constants that are equal to those of the type}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %step, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    // expected-error @below {{uses a memref of type 'memref<512xf32>' that does not come from the '!llvm.ptr' argument with the addresses of the buffers: the memref was created with another offset, size or stride than its type states; use constants that are equal to those of the type}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %y0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y1 = llvm.insertvalue %p, %y0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y2 = llvm.insertvalue %zero, %y1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y3 = llvm.insertvalue %size, %y2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y4 = llvm.insertvalue %step, %y3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y = builtin.unrealized_conversion_cast %y4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    // expected-error @below {{uses two memrefs of entry 0 of the function's array of pointers; use only one of them}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %x : memref<512xf32> -> vector<512xf32>
      %w = mosaic_gpu.vector_load %y : memref<512xf32> -> vector<512xf32>
      gpu.terminator
    }
    return
  }
}

// -----

module {
  llvm.mlir.global internal @table() : !llvm.array<4 x i8>
  func.func @add_mosaic_gpu(%n: index, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %bytes = arith.constant 4096 : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      // expected-error @below {{refers to @table inside a launch; a kernel cannot refer to symbols outside its GPU module, so inline what the symbol stands for}}
      %t = llvm.mlir.addressof @table : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 99 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the element type that is passed to the encoder call must be a constant from 0 to 10}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    // expected-note @below {{the value that this store writes is not constant; store a constant}}
    llvm.store %n, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    %swizzle = arith.constant 16 : i64
    // expected-note @below {{the array of box extents, operand 7 of this call, must have one element per dimension of the tensor map, but the host function does not store all of them; store them before the call}}
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %n : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the global address that is passed to the encoder call is not that of a memref; use memref.extract_aligned_pointer_as_index}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    // expected-note @below {{this use of the array is not a call that encodes a tensor map; remove it}}
    llvm.store %n, %maps : i64, !llvm.ptr
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the array is used by an op other than calls that encode tensor maps}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses byte 64 of an array of tensor maps, where no tensor map begins; tensor maps begin at bytes }}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[64] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%n: i64, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps at an address that is not the constant offset of a map}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %i = arith.index_cast %tx : index to i64
      %map = llvm.getelementptr %held[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    // expected-note @below {{this op uses the array, but does not store an element to it; only stores of elements and encoder calls may use the array}}
    call @fill(%sizes) : (!llvm.ptr) -> ()
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %byte = llvm.mlir.constant(0 : i8) : i8
    // expected-note @below {{this op uses the array, but does not store an element to it; only stores of elements and encoder calls may use the array}}
    "llvm.intr.memset"(%sizes, %byte, %step) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    // expected-note @below {{this op stores a value of another type than i64}}
    llvm.store %narrow, %sizes : i32, !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %slot = llvm.alloca %step x !llvm.ptr : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    // expected-note @below {{this op uses the array, but does not store an element to it; only stores of elements and encoder calls may use the array}}
    llvm.store %sizes, %slot : !llvm.ptr, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    // expected-note @below {{this store to the array does not precede the encoder call in the same MLIR block; move it before the call}}
    llvm.store %size, %sizes : i64, !llvm.ptr
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    scf.if %condition {
      // expected-note @below {{this store to the array does not precede the encoder call in the same MLIR block; move it before the call}}
      llvm.store %size, %sizes : i64, !llvm.ptr
    }
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    // expected-note @below {{this store overwrites an element of the array; store each element once}}
    llvm.store %size, %sizes : i64, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    // expected-note @below {{this address is not a constant multiple of 8 bytes after the start of the array; use a constant index}}
    %bytes = llvm.getelementptr %sizes[4] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %size, %bytes : i64, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the sizes, strides or box of the encoder call are not constant}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-note @below {{this call does not precede the load of the array in the same MLIR block; move it before the load}}
    call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the call that encodes it does not precede the load of the array}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %maps = llvm.alloca %step x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %address = memref.extract_aligned_pointer_as_index %x : memref<512xf32> -> index
    %number = arith.index_cast %address : index to i64
    %start = llvm.inttoptr %number : i64 to !llvm.ptr
    %type = arith.constant 6 : i64
    %strides = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %step, %strides : i64, !llvm.ptr
    %box = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    %rows = arith.constant 64 : i64
    llvm.store %rows, %box : i64, !llvm.ptr
    %swizzle = arith.constant 16 : i64
    %sizes = llvm.alloca %step x i64 : (i64) -> !llvm.ptr
    llvm.store %size, %sizes : i64, !llvm.ptr
    scf.if %condition {
      // expected-note @below {{this call does not precede the load of the array in the same MLIR block; move it before the load}}
      func.call @mosaic_gpu_init_tma_desc(%maps, %start, %type, %step, %sizes, %strides, %swizzle, %box)
          : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
    }
    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<128 x i8>
    // expected-error @below {{uses an array of tensor maps of type '!llvm.array<128 x i8>' that cannot be read at compile time: the tensor map at byte 0: the call that encodes it does not precede the load of the array}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<128 x i8> to !llvm.ptr
      %map = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %map : !llvm.ptr
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    // expected-error @below {{requires the memref of entry 0 of the function's array of pointers, but the definition of the memref does not dominate the launch; move the definition before the launch}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      gpu.terminator
    }
    // expected-note @below {{the memref is defined here}}
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    scf.if %condition {
      // expected-note @below {{the memref is defined here}}
      %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}
    }
    // expected-error @below {{requires the memref of entry 0 of the function's array of pointers, but the definition of the memref does not dominate the launch; move the definition before the launch}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      gpu.terminator
    }
    return
  }
}

// -----

module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func private @fill(!llvm.ptr)
  func.func @copy_mosaic_gpu(%condition: i1, %stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %narrow = llvm.mlir.constant(1 : i32) : i32
    %size = llvm.mlir.constant(512 : i64) : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    // expected-error @below {{has 'mosaic_gpu.from_kernel_arg_idx' = 2 : i32, but its address is loaded from entry 0 of the function's array of pointers}}
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32> {mosaic_gpu.from_kernel_arg_idx = 2 : i32}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      gpu.terminator
    }
    return
  }
}
