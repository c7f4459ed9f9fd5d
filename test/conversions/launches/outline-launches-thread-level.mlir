// RUN: smalti-opt %s --mosaic-gpu-outline-launches | FileCheck %s
// RUN: smalti-opt %s --mosaic-gpu-infer-layouts=target=sm_90a --mosaic-gpu-outline-launches | FileCheck %s

// A thread-level launch does not have thread groups. The tensor maps that the host code encodes become arguments after
// those of the pointer array; unused arguments keep their positions. A dead pointer to the maps does not become an
// argument.

// CHECK: gpu.func @copy(
// CHECK-SAME: %[[X:.*]]: memref<64x64xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}, %{{.*}}: memref<8xf32> {mosaic_gpu.from_kernel_arg_idx = 1 : i32}, %{{.*}}: !llvm.ptr {mosaic_gpu.from_kernel_arg_idx = 2 : i32}, %{{.*}}: memref<4x64xi4> {mosaic_gpu.from_kernel_arg_idx = 3 : i32}
// CHECK-SAME: %[[FIRST:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}, %[[SECOND:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
// CHECK-NOT: mosaic_gpu.auto_barriers
// CHECK-NOT: mosaic_gpu.thread_group_size
// CHECK-SAME: mosaic_gpu.tensor_maps =
// CHECK-SAME: {argument = 0 : i64, box = array<i64: 8, 32>, element = f16, element_strides = array<i64: 1, 1>, extents = array<i64: 64, 64>, fill = "zeros", offset = 256 : i64, strides = array<i64: 128, 2>, swizzle = 64 : i64},
// CHECK-SAME: {argument = 3 : i64, box = array<i64: 2, 16>, element = i8, element_strides = array<i64: 1, 1>, extents = array<i64: 4, 32>, fill = "zeros", offset = 0 : i64, strides = array<i64: 32, 1>, swizzle = 16 : i64}]
// CHECK-SAME: smalti.shared_memory_alignment = 1024 : i64, smalti.shared_memory_bytes = 4096 : i64
// CHECK: nvvm.prefetch tensormap, %[[SECOND]]
// CHECK: nvvm.prefetch tensormap, %[[FIRST]]
// CHECK: nvvm.prefetch tensormap, %[[FIRST]]
module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  func.func @copy_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 96 : index
    %bytes = arith.constant 4096 : i32
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    %c4 = arith.constant 4 : i64
    %c5 = arith.constant 5 : i64
    %c8 = arith.constant 8 : i64
    %c16 = arith.constant 16 : i64
    %c32 = arith.constant 32 : i64
    %c64 = arith.constant 64 : i64
    %c128 = arith.constant 128 : i64
    %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %p = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x2 = llvm.insertvalue %c0, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x3 = llvm.insertvalue %c64, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x4 = llvm.insertvalue %c64, %x3[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x5 = llvm.insertvalue %c64, %x4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x6 = llvm.insertvalue %c1, %x5[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %x = builtin.unrealized_conversion_cast %x6
        : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<64x64xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}
    %undef1 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %place = llvm.getelementptr %pointers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %q = llvm.load %place : !llvm.ptr -> !llvm.ptr
    %y0 = llvm.insertvalue %q, %undef1[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y1 = llvm.insertvalue %q, %y0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y2 = llvm.insertvalue %c0, %y1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y3 = llvm.insertvalue %c8, %y2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y4 = llvm.insertvalue %c1, %y3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y = builtin.unrealized_conversion_cast %y4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<8xf32> {mosaic_gpu.from_kernel_arg_idx = 1 : i32}
    %last = llvm.getelementptr %pointers[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %r = llvm.load %last : !llvm.ptr -> !llvm.ptr
    %z0 = llvm.insertvalue %r, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z1 = llvm.insertvalue %r, %z0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z2 = llvm.insertvalue %c0, %z1[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z3 = llvm.insertvalue %c4, %z2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z4 = llvm.insertvalue %c64, %z3[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z5 = llvm.insertvalue %c64, %z4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z6 = llvm.insertvalue %c1, %z5[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %z = builtin.unrealized_conversion_cast %z6
        : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<4x64xi4> {mosaic_gpu.from_kernel_arg_idx = 3 : i32}

    // A map of the whole first memref from its third row, through a view.
    %maps = llvm.alloca %c1 x !llvm.array<256 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
    %view = memref.reinterpret_cast %x to offset: [128], sizes: [64, 64], strides: [64, 1]
        : memref<64x64xf16> to memref<64x64xf16, strided<[64, 1], offset: 128>>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %view
        : memref<64x64xf16, strided<[64, 1], offset: 128>> -> memref<f16>, index, index, index, index, index
    %address = memref.extract_aligned_pointer_as_index %view : memref<64x64xf16, strided<[64, 1], offset: 128>> -> index
    %number = arith.index_cast %address : index to i64
    %memory = llvm.inttoptr %number : i64 to !llvm.ptr
    %element = arith.index_cast %offset : index to i64
    %start = llvm.getelementptr %memory[%element] : (!llvm.ptr, i64) -> !llvm.ptr, f16
    %rows = arith.index_cast %sizes#0 : index to i64
    %columns = arith.index_cast %sizes#1 : index to i64
    %extents = llvm.alloca %c2 x i64 : (i64) -> !llvm.ptr
    %extents0 = llvm.getelementptr %extents[0] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %rows, %extents0 : i64, !llvm.ptr
    %extents1 = llvm.getelementptr %extents[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %columns, %extents1 : i64, !llvm.ptr
    %step0 = arith.index_cast %strides#0 : index to i64
    %step1 = arith.index_cast %strides#1 : index to i64
    %steps = llvm.alloca %c2 x i64 : (i64) -> !llvm.ptr
    llvm.store %step0, %steps : i64, !llvm.ptr
    %steps1 = llvm.getelementptr %steps[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %step1, %steps1 : i64, !llvm.ptr
    %box = llvm.alloca %c2 x i64 : (i64) -> !llvm.ptr
    llvm.store %c8, %box : i64, !llvm.ptr
    %box1 = llvm.getelementptr %box[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %c32, %box1 : i64, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%maps, %start, %c5, %c2, %extents, %steps, %c64, %box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()

    // 4-bit elements: a map of bytes.
    %second = llvm.getelementptr %maps[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %narrow = memref.extract_aligned_pointer_as_index %z : memref<4x64xi4> -> index
    %narrow_number = arith.index_cast %narrow : index to i64
    %narrow_start = llvm.inttoptr %narrow_number : i64 to !llvm.ptr
    %narrow_extents = llvm.alloca %c2 x i64 : (i64) -> !llvm.ptr
    llvm.store %c4, %narrow_extents : i64, !llvm.ptr
    %narrow_extents1 = llvm.getelementptr %narrow_extents[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %c64, %narrow_extents1 : i64, !llvm.ptr
    %narrow_box = llvm.alloca %c2 x i64 : (i64) -> !llvm.ptr
    llvm.store %c2, %narrow_box : i64, !llvm.ptr
    %narrow_box1 = llvm.getelementptr %narrow_box[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %c32, %narrow_box1 : i64, !llvm.ptr
    call @mosaic_gpu_init_tma_desc(%second, %narrow_start, %c0, %c2, %narrow_extents, %steps, %c16, %narrow_box)
        : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()

    %array = llvm.load %maps : !llvm.ptr -> !llvm.array<256 x i8>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %dead = builtin.unrealized_conversion_cast %array : !llvm.array<256 x i8> to !llvm.ptr
      %held = builtin.unrealized_conversion_cast %array : !llvm.array<256 x i8> to !llvm.ptr
      %b = llvm.getelementptr %held[128] : (!llvm.ptr) -> !llvm.ptr, i8
      %a = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      %again = llvm.getelementptr %held[0] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.prefetch tensormap, %b : !llvm.ptr
      nvvm.prefetch tensormap, %a : !llvm.ptr
      nvvm.prefetch tensormap, %again : !llvm.ptr
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %first = memref.view %shared[%bx][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
      %v = vector.load %first[%tx] : memref<4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      vector.store %v, %first[%ty] : memref<4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      gpu.terminator
    }
    return
  }
}
