// RUN: smalti-opt %s --convert-mosaic-gpu-to-nvvm=target=sm_90a | FileCheck %s
// RUN: smalti-opt %s --smalti-compile=target=sm_90a | FileCheck %s --check-prefix=LLVM

// A tensor map argument becomes a pointer.
// CHECK-LABEL: gpu.func @load(
// CHECK-SAME:      %[[POINTER:.*]]: !llvm.ptr, %{{.*}}: memref<8x16xf32>
// CHECK:         %[[MAP:.*]] = builtin.unrealized_conversion_cast %[[POINTER]] : !llvm.ptr to !nvgpu.tensormap.descriptor<
// CHECK:         nvgpu.tma.async.load %[[MAP]][

// LLVM-LABEL: llvm.func @load(
// LLVM-SAME:      %[[MAP:[^:]*]]: !llvm.ptr
// LLVM-NOT:     unrealized_conversion_cast
// LLVM:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.2d{{.*}} %{{[^,]*}}, %[[MAP]],
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @load(%map: !map, %to: memref<8x16xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %parity = arith.constant false
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    %tile = memref.alloc() {alignment = 128 : i64} : memref<8x16xf32, 3>
    %full = nvgpu.mbarrier.create -> !barriers
    nvgpu.mbarrier.init %full[%c0], %c1, predicate = %first : !barriers
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes, predicate = %first : !barriers
    nvgpu.tma.async.load %map[%c0, %c0], %full[%c0] to %tile, predicate = %first : !map, !barriers -> memref<8x16xf32, 3>
    nvgpu.mbarrier.try_wait.parity %full[%c0], %parity, %ticks : !barriers
    %i = arith.divui %thread, %c16 : index
    %j = arith.remui %thread, %c16 : index
    %v = memref.load %tile[%i, %j] : memref<8x16xf32, 3>
    memref.store %v, %to[%i, %j] : memref<8x16xf32>
    gpu.return
  }
}
