// Padded block-uniform windows: TMA copies with zero fill on every side.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{target=sm_90a tensor-maps=true},canonicalize,cse)))' \
// RUN:   --remarks-filter=smalti-lower-pad 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// Without tensor-maps=true, TMA is not used.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{target=sm_90a})))' \
// RUN:   | FileCheck %s --check-prefix=OFF
// OFF-NOT: nvgpu.tma

#smem = #gpu.address_space<workgroup>

gpu.module @kernels {
  // One thread issues the copy, all wait. Coordinates are clamped, so that they do not wrap around in 32 bits.
  // REMARK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=window | Remark="padded read and its write to shared memory lowered to a TMA load of 64x64 elements with zero fill"
  // CHECK-LABEL: gpu.func @window(
  // CHECK-SAME:    %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[POINTER:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
  // CHECK-SAME:    workgroup(%[[BUFFER:[a-z0-9]+]] :
  // CHECK-SAME:    mosaic_gpu.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 64>, element = f16, element_strides = array<i64: 1, 1>, extents = array<i64: 100, 80>, fill = "zeros", offset = 0 : i64, strides = array<i64: 160, 2>, swizzle = 16 : i64}]
  // CHECK:         %[[MAP:.*]] = builtin.unrealized_conversion_cast %[[POINTER]] : !llvm.ptr to !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
  // CHECK:         %[[X:.*]] = gpu.thread_id x
  // CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[X]], %c0
  // CHECK:         %[[BARRIER:.*]] = nvgpu.mbarrier.create
  // CHECK-NEXT:    nvgpu.mbarrier.init %[[BARRIER]][%c0], %c1, predicate = %[[FIRST]]
  // CHECK-NEXT:    nvvm.fence.mbarrier.init
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    nvgpu.mbarrier.arrive.expect_tx %[[BARRIER]][%c0], %c8192, predicate = %[[FIRST]]
  // CHECK-NEXT:    %[[I0:.*]] = arith.minsi %[[I]], %c1073741824
  // CHECK-NEXT:    %[[I1:.*]] = arith.maxsi %[[I0]], %c-1073741824
  // CHECK-NEXT:    %[[J0:.*]] = arith.minsi %[[J]], %c1073741824
  // CHECK-NEXT:    %[[J1:.*]] = arith.maxsi %[[J0]], %c-1073741824
  // CHECK-NEXT:    nvgpu.tma.async.load %[[MAP]][%[[J1]], %[[I1]]], %[[BARRIER]][%c0] to %[[BUFFER]], predicate = %[[FIRST]]
  // CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity %[[BARRIER]][%c0], %false, %c10000000
  // CHECK-NEXT:    memref.load %[[BUFFER]]
  // CHECK-NOT:     vector.transfer
  // CHECK:         gpu.return
  gpu.func @window(%source: memref<100x80xf16>, %dest: memref<64xf16>, %i: index, %j: index)
      workgroup(%buffer: memref<64x64xf16, #smem> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %read = vector.transfer_read %source[%i, %j], %zero : memref<100x80xf16>, vector<64x64xf16>
    vector.transfer_write %read, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<64x64xf16, #smem>
    %x = gpu.thread_id x
    %value = memref.load %buffer[%c0, %x] : memref<64x64xf16, #smem>
    memref.store %value, %dest[%x] : memref<64xf16>
    gpu.return
  }

  // Two windows of one array with the same size: one map, one mbarrier, one wait. Constant indices are not clamped.
  // REMARK-COUNT-2: Function=together | Remark="padded read and its write to shared memory lowered to a TMA load of 16x32 elements with zero fill"
  // CHECK-LABEL: gpu.func @together(
  // CHECK-SAME:    tensor_maps = [{argument = 1 : i64, {{[^}]*}} offset = 64 : i64, strides = array<i64: 256, 4>, swizzle = 16 : i64}]
  // CHECK-COUNT-1: nvgpu.mbarrier.create
  // CHECK-NOT:     nvgpu.mbarrier.create
  // CHECK:         nvgpu.mbarrier.arrive.expect_tx %{{.*}}, %c4096
  // CHECK:         nvgpu.tma.async.load %{{.*}}[%c-4, %c-8]
  // CHECK:         %[[VIEW:.*]] = memref.subview %{{.*}}[16, 0] [16, 32] [1, 1] : memref<32x32xf32, #gpu.address_space<workgroup>> to memref<16x32xf32, strided<[32, 1], offset: 512>, #gpu.address_space<workgroup>>
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvgpu.tma.async.load %{{.*}}[%c48, %c8], %{{.*}} to %[[VIEW]]
  // CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity
  // CHECK-NOT:     nvgpu
  // CHECK:         gpu.return
  gpu.func @together(%dest: memref<32xf32>, %source: memref<20x48xf32, strided<[64, 1], offset: 16>>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %ahead = arith.constant -8 : index
    %left = arith.constant -4 : index
    %zero = arith.constant 0.0 : f32
    %buffer = memref.alloc() {alignment = 128 : i64} : memref<32x32xf32, #smem>
    %x = gpu.thread_id x
    %a = vector.transfer_read %source[%ahead, %left], %zero : memref<20x48xf32, strided<[64, 1], offset: 16>>, vector<16x32xf32>
    %b = vector.transfer_read %source[%c8, %c48], %zero : memref<20x48xf32, strided<[64, 1], offset: 16>>, vector<16x32xf32>
    vector.transfer_write %a, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<32x32xf32, #smem>
    vector.transfer_write %b, %buffer[%c16, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<32x32xf32, #smem>
    %value = memref.load %buffer[%c0, %x] : memref<32x32xf32, #smem>
    memref.store %value, %dest[%x] : memref<32xf32>
    gpu.return
  }

  // Loops carry the parity and keep their attributes. A row of the box is a row of the plane. A fence makes writes of
  // threads, which may alias the array, visible to the copies.
  // REMARK: Function=loops | Remark="padded read and its write to shared memory lowered to a TMA load of 16x64 elements with zero fill"
  // CHECK-LABEL: gpu.func @loops(
  // CHECK:         %[[OUTER:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %false)
  // CHECK-NEXT:      %[[INNER:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]])
  // CHECK:             nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK-NEXT:        gpu.barrier
  // CHECK:             %[[PLANE:.*]] = memref.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [1, 16, 64]
  // CHECK-NEXT:        nvgpu.tma.async.load %{{.*}} to %[[PLANE]]
  // CHECK-NEXT:        nvgpu.mbarrier.try_wait.parity %{{.*}}, %[[B]], %c10000000
  // CHECK:             %[[NEXT:.*]] = arith.xori %[[B]], %true
  // CHECK-NEXT:        scf.yield %[[NEXT]]
  // CHECK-NEXT:      } {inner_attribute}
  // CHECK-NEXT:      scf.yield %[[INNER]]
  // CHECK-NEXT:    } {outer_attribute}
  gpu.func @loops(%source: memref<3x100x70xf32, strided<[8000, 80, 1]>>, %dest: memref<64xf32>, %n: index)
      workgroup(%buffer: memref<16x64xf32, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %x = gpu.thread_id x
    %b = gpu.block_id x
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %i step %c1 {
        %at = arith.muli %j, %c16 : index
        %read = vector.transfer_read %source[%b, %at, %c16], %zero
          : memref<3x100x70xf32, strided<[8000, 80, 1]>>, vector<16x64xf32>
        vector.transfer_write %read, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #smem>
        %value = memref.load %buffer[%j, %x] : memref<16x64xf32, #smem>
        memref.store %value, %dest[%x] : memref<64xf32>
        gpu.barrier
      } {inner_attribute}
    } {outer_attribute}
    gpu.return
  }

  // A window that exceeds a box needs several copies; rows that are proven in bounds may use two dimensions. Copies to the
  // same memory have separate mbarriers.
  // REMARK: Function=several | Remark="padded read and its write to shared memory lowered to 2 TMA loads of 136x16 elements with zero fill"
  // REMARK: Function=several | Remark="padded read and its write to shared memory lowered to a TMA load of 2x136x16 elements with zero fill"
  // CHECK-LABEL: gpu.func @several(
  // CHECK-COUNT-2: nvgpu.mbarrier.create
  // CHECK:         %[[FRONT:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [136, 16], strides: [16, 1]
  // CHECK-NEXT:    nvgpu.tma.async.load %{{.*}} to %[[FRONT]]
  // CHECK:         %[[ROW:.*]] = arith.addi %{{.*}}, %c136
  // CHECK:         %[[BACK:.*]] = memref.reinterpret_cast %{{.*}} to offset: [2176], sizes: [136, 16], strides: [16, 1]
  // CHECK-NEXT:    nvgpu.tma.async.load %{{.*}}[%{{.*}}, %[[ROW]]], %{{.*}} to %[[BACK]]
  // CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity
  // CHECK:         gpu.barrier
  // CHECK:         nvgpu.tma.async.load %{{.*}}[%{{.*}}, %c0, %c0]
  // CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity
  // CHECK-NEXT:    gpu.return
  gpu.func @several(%source: memref<300x64xi8>, %i: index)
      workgroup(%buffer: memref<272x16xi8, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i8
    %a = vector.transfer_read %source[%i, %c0], %zero : memref<300x64xi8>, vector<272x16xi8>
    %b = vector.transfer_read %source[%c0, %i], %zero : memref<300x64xi8>, vector<272x16xi8>
    vector.transfer_write %a, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<272x16xi8>, memref<272x16xi8, #smem>
    vector.transfer_write %b, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<272x16xi8>, memref<272x16xi8, #smem>
    gpu.return
  }

  // A kernel that already has a tensor map gets another one after it.
  // CHECK-LABEL: gpu.func @another(
  // CHECK-SAME:    %[[OLD:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}, %[[NEW:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
  // CHECK-SAME:    mosaic_gpu.tensor_maps = [{argument = 0 : i64, box = array<i64: 8, 16>, {{[^}]*}}}, {argument = 0 : i64, box = array<i64: 64, 64>, {{[^}]*}}}]
  // CHECK:         builtin.unrealized_conversion_cast %[[NEW]]
  gpu.func @another(%source: memref<100x80xf16>, %i: index,
                    %map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>})
      workgroup(%buffer: memref<64x64xf16, #smem> {llvm.align = 128 : i64}) kernel
      attributes {mosaic_gpu.tensor_maps = [{argument = 0 : i64, box = array<i64: 8, 16>, element = f16,
        element_strides = array<i64: 1, 1>, extents = array<i64: 100, 80>, fill = "zeros", offset = 0 : i64,
        strides = array<i64: 160, 2>, swizzle = 16 : i64}]} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %read = vector.transfer_read %source[%i, %c0], %zero : memref<100x80xf16>, vector<64x64xf16>
    vector.transfer_write %read, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<64x64xf16, #smem>
    gpu.return
  }

  // Stores drop out-of-bounds elements. The issuing thread waits for them, and the others for that thread. Stores that may
  // overlap are ordered.
  // REMARK-COUNT-3: Function=stores | Remark="padded write of shared memory lowered to a TMA store of 16x32 elements; out-of-bounds elements are dropped"
  // CHECK-LABEL: gpu.func @stores(
  // CHECK-SAME:    mosaic_gpu.tensor_maps = [{argument = 0 : i64, {{[^}]*}}}, {argument = 1 : i64, {{[^}]*}}}]
  // CHECK-NOT:     nvgpu.mbarrier
  // CHECK:         memref.store
  // CHECK-NEXT:    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         nvgpu.tma.async.store %{{.*}} to %{{.*}}, predicate = %{{.*}}
  // CHECK-NEXT:    nvgpu.tma.async.store %{{.*}} to %{{.*}}[%c-4, %c32], predicate = %{{.*}}
  // CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    nvgpu.tma.async.store
  // CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    gpu.return
  gpu.func @stores(%a: memref<20x48xf32> {llvm.noalias}, %b: memref<40x48xf32> {llvm.noalias}, %i: index)
      workgroup(%buffer: memref<16x32xf32, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %ahead = arith.constant -4 : index
    %zero = arith.constant 0.0 : f32
    %x = gpu.thread_id x
    memref.store %zero, %buffer[%c0, %x] : memref<16x32xf32, #smem>
    %v0 = vector.transfer_read %buffer[%c0, %c0], %zero {in_bounds = [true, true]} : memref<16x32xf32, #smem>, vector<16x32xf32>
    %v1 = vector.transfer_read %buffer[%c0, %c0], %zero {in_bounds = [true, true]} : memref<16x32xf32, #smem>, vector<16x32xf32>
    %v2 = vector.transfer_read %buffer[%c0, %c0], %zero {in_bounds = [true, true]} : memref<16x32xf32, #smem>, vector<16x32xf32>
    vector.transfer_write %v0, %a[%i, %i] : vector<16x32xf32>, memref<20x48xf32>
    vector.transfer_write %v1, %b[%c32, %ahead] : vector<16x32xf32>, memref<40x48xf32>
    vector.transfer_write %v2, %a[%i, %ahead] : vector<16x32xf32>, memref<20x48xf32>
    gpu.return
  }

  // A load completes before the store.
  // CHECK-LABEL: gpu.func @through(
  // CHECK:         nvgpu.tma.async.load
  // CHECK-NEXT:    nvgpu.mbarrier.try_wait.parity
  // CHECK-NEXT:    nvvm.fence.proxy
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    nvgpu.tma.async.store
  // CHECK-NEXT:    nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:    nvvm.cp.async.bulk.wait_group 0
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    gpu.return
  gpu.func @through(%a: memref<20x48xf32>, %b: memref<40x48xf32>)
      workgroup(%buffer: memref<16x32xf32, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %read = vector.transfer_read %a[%c0, %c32], %zero : memref<20x48xf32>, vector<16x32xf32>
    vector.transfer_write %read, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32, #smem>
    %v = vector.transfer_read %buffer[%c0, %c0], %zero {in_bounds = [true, true]} : memref<16x32xf32, #smem>, vector<16x32xf32>
    vector.transfer_write %v, %b[%c32, %c32] : vector<16x32xf32>, memref<40x48xf32>
    gpu.return
  }

  // A block-uniform branch forwards the parity, changed or not.
  // CHECK-LABEL: gpu.func @branches(
  // CHECK:         %{{.*}}:3 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[A:.*]] = %false, %[[B:.*]] = %false)
  // CHECK:           %[[IF:.*]]:3 = scf.if
  // CHECK:             nvgpu.mbarrier.try_wait.parity %[[FIRST:.*]][%c0], %[[A]]
  // CHECK:             %[[OTHER:.*]] = arith.xori %[[A]], %true
  // CHECK:             scf.yield %{{.*}}, %[[OTHER]], %[[B]]
  // CHECK-NEXT:      } else {
  // CHECK:             nvgpu.mbarrier.try_wait.parity %{{.*}}[%c0], %[[B]]
  // CHECK:             %[[NEXT:.*]] = arith.xori %[[B]], %true
  // CHECK:             scf.yield %{{.*}}, %[[A]], %[[NEXT]]
  // CHECK-NEXT:      } {if_attribute}
  // CHECK:           scf.yield %{{.*}}, %[[IF]]#1, %[[IF]]#2
  gpu.func @branches(%a: memref<20x48xf32>, %flags: i8, %dest: memref<32xf32> {llvm.noalias})
      workgroup(%buffer: memref<16x32xf32, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %bit = arith.constant 1 : i8
    %x = gpu.thread_id x
    %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
      %by = arith.index_cast %i : index to i8
      %shifted = arith.shrui %flags, %by : i8
      %one = arith.andi %shifted, %bit : i8
      %flag = arith.cmpi eq, %one, %bit : i8
      %v = scf.if %flag -> f32 {
        %r0 = vector.transfer_read %a[%i, %c32], %zero : memref<20x48xf32>, vector<16x32xf32>
        vector.transfer_write %r0, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32, #smem>
        %w = memref.load %buffer[%i, %x] : memref<16x32xf32, #smem>
        scf.yield %w : f32
      } else {
        %r0 = vector.transfer_read %a[%c8, %i], %zero : memref<20x48xf32>, vector<16x32xf32>
        vector.transfer_write %r0, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32, #smem>
        %w = memref.load %buffer[%c1, %x] : memref<16x32xf32, #smem>
        scf.yield %w : f32
      } {if_attribute}
      gpu.barrier
      %next = arith.addf %sum, %v : f32
      scf.yield %next : f32
    }
    memref.store %s, %dest[%x] : memref<32xf32>
    gpu.return
  }

  // No fence if earlier writes are proven not to alias, or are later; otherwise a fence.
  // CHECK-LABEL: gpu.func @fences(
  // CHECK-COUNT-2: memref.store
  // CHECK-NOT:     nvvm.fence.proxy
  // CHECK:         nvgpu.tma.async.load
  // CHECK:         memref.store
  // CHECK:         scf.for
  // CHECK:           nvvm.fence.proxy
  // CHECK:           nvgpu.tma.async.load
  // CHECK:           func.call @unknown
  gpu.func @fences(%a: memref<20x48xf32>, %b: memref<64xf32> {llvm.noalias})
      workgroup(%buffer: memref<16x32xf32, #smem> {llvm.align = 128 : i64}, %other: memref<64xf32, #smem>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %b[%c0] : memref<64xf32>
    memref.store %zero, %other[%c0] : memref<64xf32, #smem>
    %r0 = vector.transfer_read %a[%c8, %c32], %zero : memref<20x48xf32>, vector<16x32xf32>
    vector.transfer_write %r0, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32, #smem>
    memref.store %zero, %other[%c1] : memref<64xf32, #smem>
    scf.for %i = %c0 to %c8 step %c1 {
      %r1 = vector.transfer_read %a[%i, %c32], %zero : memref<20x48xf32>, vector<16x32xf32>
      vector.transfer_write %r1, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32, #smem>
      func.call @unknown() : () -> ()
    }
    gpu.return
  }
  func.func private @unknown()
}
