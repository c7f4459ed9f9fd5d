// RUN: smalti-opt %s --mosaic-gpu-outline-launches | FileCheck %s
// RUN: smalti-opt %s --mosaic-gpu-outline-launches=thread-group-size=384 | FileCheck %s --check-prefix=WHOLE

// Arguments are in the order of the pointers, not of their uses; a pointer without a memref keeps its position. Unused
// declarations are erased.

// CHECK: module attributes {gpu.container_module} {
// CHECK-NEXT: gpu.module @add_module {
// CHECK-NEXT: gpu.func @add(%[[A:.*]]: memref<512xf32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}, %{{.*}}: !llvm.ptr {mosaic_gpu.from_kernel_arg_idx = 1 : i32}, %[[B:.*]]: memref<512xf32> {mosaic_gpu.from_kernel_arg_idx = 2 : i32}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 1, 1, 1>, mosaic_gpu.auto_barriers, mosaic_gpu.thread_group_size = 128 : i64, smalti.arguments = [memref<512xf32>, !llvm.ptr, memref<512xf32>], smalti.shared_memory_bytes = 4096 : i64} {
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : vector<512xf32>
// CHECK-DAG: %[[V:.*]] = mosaic_gpu.vector_load %[[B]]
// CHECK: %[[R:.*]] = arith.mulf %[[V]], %[[TWO]]
// CHECK: mosaic_gpu.vector_store %[[R]], %[[A]]
// CHECK: gpu.return
// CHECK: func.func @add_mosaic_gpu(
// CHECK: gpu.launch_func @add_module::@add blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in ({{.*}}) dynamic_shared_memory_size %{{.*}} args(%[[X:.*]] : memref<512xf32>, %{{.*}} : !llvm.ptr, %[[Y:.*]] : memref<512xf32>)
// CHECK-NOT: func.func private
// CHECK-NOT: llvm.mlir.global
// WHOLE: mosaic_gpu.thread_group_size = 384 : i64
module {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @add_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) {
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
    %two = arith.constant dense<2.0> : vector<512xf32>
    %x0 = llvm.insertvalue %p, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x1 = llvm.insertvalue %p, %x0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x2 = llvm.insertvalue %zero, %x1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x3 = llvm.insertvalue %size, %x2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x4 = llvm.insertvalue %step, %x3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %x4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    %y0 = llvm.insertvalue %q, %undef[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y1 = llvm.insertvalue %q, %y0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y2 = llvm.insertvalue %zero, %y1[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y3 = llvm.insertvalue %size, %y2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y4 = llvm.insertvalue %step, %y3[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %y = builtin.unrealized_conversion_cast %y4
        : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<512xf32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {
      %v = mosaic_gpu.vector_load %y : memref<512xf32> -> vector<512xf32>
      %r = arith.mulf %v, %two : vector<512xf32>
      mosaic_gpu.vector_store %r, %x : vector<512xf32>, memref<512xf32>
      gpu.terminator
    }
    return
  }
}
