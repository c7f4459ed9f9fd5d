// Gathers, scatters and atomic operations: one access for each element of a thread.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx1201},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,AMD

#smem = #gpu.address_space<workgroup>
#strided = #mosaic_gpu.WGStridedFragLayout<[128], 2>
#splat = #mosaic_gpu.WGSplatFragLayout<[128]>
#replicated = #mosaic_gpu.TiledLayout<[[32], [32], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 2>], lane_dims = [-2], vector_dim = -1>

gpu.module @m {
  // Both elements of a thread. Masked elements do not access memory, whose shape is dynamic.
  // CHECK-LABEL: gpu.func @gather(
  // CHECK-SAME: %[[M:.*]]: memref<?xf32>
  // CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : i32 to index
  // NVIDIA: vector.maskedload %[[M]][%[[I]]], {{.*}} {alignment = 4 : i64} : memref<?xf32>, vector<1xi1>, vector<1xf32>
  // NVIDIA: vector.maskedload %[[M]]
  // AMD: scf.if %{{.*}} -> (vector<1xf32>) {
  // AMD-NEXT: vector.load %[[M]][%[[I]]] {alignment = 4 : i64} : memref<?xf32>, vector<1xf32>
  // AMD: } else {
  // AMD: scf.if
  // AMD: vector.load
  // CHECK-NOT: load %[[M]]
  // CHECK: gpu.return
  gpu.func @gather(%m: memref<?xf32>, %at: memref<128xi32>, %r: memref<128xf32>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = mosaic_gpu.vector_load %at {out_layouts = [#strided]} : memref<128xi32> -> vector<128xi32>
    %mask = vector.create_mask %n {out_layouts = [#strided]} : vector<128xi1>
    %zero = arith.constant dense<0.0> : vector<128xf32>
    %v = vector.gather %m[%c0] [%i], %mask, %zero {in_layouts = [#strided, #strided, #strided], out_layouts = [#strided]}
        : memref<?xf32>, vector<128xi32>, vector<128xi1>, vector<128xf32> into vector<128xf32>
    mosaic_gpu.vector_store %v, %r {in_layouts = [#strided]} : vector<128xf32>, memref<128xf32>
    gpu.return
  }

  // Vectors are splats: every thread loads the one element.
  // CHECK-LABEL: gpu.func @gather_splat(
  // NVIDIA: vector.load
  // AMD: amdgpu.raw_buffer_load
  // CHECK-NOT: load
  // CHECK: gpu.return
  gpu.func @gather_splat(%m: memref<4x100xf16>, %at: i64, %r: memref<128xf16>, %row: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c3 = arith.constant 3 : index
    %i = vector.broadcast %at : i64 to vector<128xi64>
    %mask = arith.constant dense<true> : vector<128xi1>
    %zero = arith.constant dense<0.0> : vector<128xf16>
    %v = vector.gather %m[%row, %c3] [%i], %mask, %zero : memref<4x100xf16>, vector<128xi64>, vector<128xi1>, vector<128xf16> into vector<128xf16>
    mosaic_gpu.vector_store %v, %r {in_layouts = [#strided]} : vector<128xf16>, memref<128xf16>
    gpu.return
  }

  // The first of the two warps that hold an element stores it.
  // CHECK-LABEL: gpu.func @scatter(
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}] {alignment = 1 : i64} : memref<64xi8, {{.*}}>, vector<1xi8>
  // CHECK-NOT: vector.store
  // CHECK: gpu.return
  gpu.func @scatter(%v: memref<32xi8>, %at: memref<32xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 : memref<64xi8, #smem>
    %i = mosaic_gpu.vector_load %at {out_layouts = [#replicated]} : memref<32xindex> -> vector<32xindex>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#replicated]} : memref<32xi8> -> vector<32xi8>
    %mask = arith.constant dense<true> : vector<32xi1>
    vector.scatter %s[%c0] [%i], %mask, %x {in_layouts = [#replicated, #replicated, #replicated]}
        : memref<64xi8, #smem>, vector<32xindex>, vector<32xi1>, vector<32xi8>
    gpu.return
  }

  // One store, although the kernel has 64 threads.
  // CHECK-LABEL: gpu.func @scatter_splat(
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: vector.store
  // CHECK-NOT: vector.store
  gpu.func @scatter_splat(%m: memref<?xf64>, %at: i32, %x: f64) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = vector.broadcast %at {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[32]>]} : i32 to vector<32xi32>
    %v = vector.broadcast %x : f64 to vector<32xf64>
    %mask = arith.constant dense<true> : vector<32xi1>
    vector.scatter %m[%c0] [%i], %mask, %v : memref<?xf64>, vector<32xi32>, vector<32xi1>, vector<32xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scopes(
  gpu.func @scopes(%m: memref<?xf32>, %at: memref<128xi32>, %v: memref<128xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = mosaic_gpu.vector_load %at {out_layouts = [#strided]} : memref<128xi32> -> vector<128xi32>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#strided]} : memref<128xf32> -> vector<128xf32>
    // NVIDIA-COUNT-2: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("block") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, f32
    // AMD-COUNT-2: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("workgroup") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, f32
    mosaic_gpu.atomic_rmw addf %x, %m[%i] block relaxed : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // The PTX instruction is relaxed; fences order it.
    // NVIDIA: llvm.fence syncscope("device") release
    // NVIDIA-NEXT: llvm.atomicrmw fmaximum %{{.*}}, %{{.*}} syncscope("device") acq_rel
    // NVIDIA-NEXT: llvm.fence syncscope("device") acquire
    // NVIDIA: llvm.atomicrmw fmaximum
    // AMD-COUNT-2: llvm.atomicrmw fmaximum %{{.*}}, %{{.*}} syncscope("agent") acq_rel
    mosaic_gpu.atomic_rmw maximumf %x, %m[%i] device acq_rel : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // The PTX instruction is of device scope, so system scope is a loop.
    // NVIDIA: %[[FIRST:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    // NVIDIA: scf.while (%[[OLD:.*]] = %[[FIRST]]) : (i32) -> i32 {
    // NVIDIA: %[[NEW:.*]] = arith.minnumf
    // NVIDIA: %[[BITS:.*]] = arith.bitcast %[[NEW]] : f32 to i32
    // NVIDIA: llvm.cmpxchg %{{.*}}, %[[OLD]], %[[BITS]] release monotonic
    // NVIDIA: scf.condition
    // AMD-COUNT-2: llvm.atomicrmw fmin %{{.*}}, %{{.*}} release {alignment = 4 : i64}
    mosaic_gpu.atomic_rmw minnumf %x, %m[%i] system release : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // Exchanges and comparisons are on bits.
    // NVIDIA: llvm.atomicrmw xchg %{{.*}}, %{{.*}} syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1>, i32
    // NVIDIA-NEXT: llvm.fence syncscope("device") acquire
    // AMD: llvm.atomicrmw xchg %{{.*}}, %{{.*}} syncscope("agent") acquire {alignment = 4 : i64} : !llvm.ptr<1>, i32
    mosaic_gpu.atomic_rmw assign %x, %m[%i] device acquire : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // CHECK-COUNT-2: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} acq_rel acquire {alignment = 4 : i64} : !llvm.ptr<1>, i32
    mosaic_gpu.atomic_cas %x, %x, %m[%i] system acq_rel : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // CHECK-COUNT-2: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} release monotonic
    mosaic_gpu.atomic_cas %x, %x, %m[%i] system release : vector<128xf32>, memref<?xf32>, vector<128xi32>
    // CHECK: gpu.return
    gpu.return
  }

  // LLVM does not have atomic multiplications, and elements of less than a byte share it with others.
  // CHECK-LABEL: gpu.func @loops(
  gpu.func @loops(%m: memref<?xf16>, %p: memref<?xi4>, %at: memref<128xi32>, %v: memref<128xf16>, %w: memref<128xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = mosaic_gpu.vector_load %at {out_layouts = [#strided]} : memref<128xi32> -> vector<128xi32>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#strided]} : memref<128xf16> -> vector<128xf16>
    %y = mosaic_gpu.vector_load %w {out_layouts = [#strided]} : memref<128xi8> -> vector<128xi8>
    %z = arith.trunci %y {in_layouts = [#strided], out_layouts = [#strided]} : vector<128xi8> to vector<128xi4>
    // CHECK: arith.mulf %{{.*}}, %{{.*}} : f16
    // CHECK: llvm.cmpxchg %{{.*}} monotonic monotonic {alignment = 2 : i64} : !llvm.ptr<1>, i16
    mosaic_gpu.atomic_rmw mulf %x, %m[%i] device relaxed : vector<128xf16>, memref<?xf16>, vector<128xi32>
    // CHECK: scf.while (%[[HELD:.*]] = %{{.*}}) : (i8) -> i8 {
    // CHECK: %[[LOW:.*]] = arith.shrui %[[HELD]], %[[SHIFT:.*]] : i8
    // CHECK: %[[OLD:.*]] = arith.trunci %[[LOW]] : i8 to i4
    // CHECK: %[[SUM:.*]] = arith.addi %[[OLD]], %{{.*}} : i4
    // CHECK: %[[FLIPPED:.*]] = arith.xori %[[OLD]], %[[SUM]] : i4
    // CHECK: %[[WIDE:.*]] = arith.extui %[[FLIPPED]] : i4 to i8
    // CHECK: %[[BITS:.*]] = arith.shli %[[WIDE]], %[[SHIFT]] : i8
    // CHECK: %[[NEW:.*]] = arith.xori %[[HELD]], %[[BITS]] : i8
    // CHECK: llvm.cmpxchg %{{.*}}, %[[HELD]], %[[NEW]]{{.*}} acq_rel acquire {alignment = 1 : i64} : !llvm.ptr<1>, i8
    mosaic_gpu.atomic_rmw addi %z, %p[%i] device acq_rel : vector<128xi4>, memref<?xi4>, vector<128xi32>
    // CHECK: gpu.return
    gpu.return
  }

  // The mask is the condition of a branch, and the result of a masked element is zero.
  // CHECK-LABEL: gpu.func @masked(
  // CHECK: %[[OLD:.*]] = scf.if %{{.*}} -> (i16) {
  // CHECK: %[[R:.*]] = llvm.atomicrmw umax
  // CHECK: scf.yield %[[R]] : i16
  // CHECK: } else {
  // CHECK: scf.yield %c0_i16 : i16
  // CHECK: vector.from_elements %[[OLD]], %{{.*}} : vector<2xi16>
  gpu.func @masked(%at: memref<128xi16>, %r: memref<128xi16>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = mosaic_gpu.slice_smem 0 : memref<64xi16, #smem>
    %x = mosaic_gpu.vector_load %at {out_layouts = [#strided]} : memref<128xi16> -> vector<128xi16>
    %i = arith.extui %x {in_layouts = [#strided], out_layouts = [#strided]} : vector<128xi16> to vector<128xi32>
    %mask = vector.create_mask %n {out_layouts = [#strided]} : vector<128xi1>
    %old = mosaic_gpu.atomic_rmw maxu %x, %s[%i] mask(%mask) block relaxed : vector<128xi16>, memref<64xi16, #smem>, vector<128xi32> -> vector<128xi16>
    mosaic_gpu.vector_store %old, %r {in_layouts = [#strided]} : vector<128xi16>, memref<128xi16>
    gpu.return
  }

  // One warp executes the operations, and the other one receives the old values.
  // CHECK-LABEL: gpu.func @broadcast(
  // CHECK: scf.if %{{.*}} {
  // CHECK: %[[OLD:.*]] = llvm.atomicrmw add
  // CHECK: llvm.store %[[OLD]], %{{.*}} : i32, !llvm.ptr<3>
  // NVIDIA: gpu.barrier
  // AMD: amdgpu.lds_barrier
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // NVIDIA: gpu.barrier
  // AMD: amdgpu.lds_barrier
  gpu.func @broadcast(%m: memref<?xi32>, %at: memref<32xi32>, %r: memref<32xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = mosaic_gpu.vector_load %at {out_layouts = [#replicated]} : memref<32xi32> -> vector<32xi32>
    %old = mosaic_gpu.atomic_rmw addi %i, %m[%i] device relaxed : vector<32xi32>, memref<?xi32>, vector<32xi32> -> vector<32xi32>
    mosaic_gpu.vector_store %old, %r {in_layouts = [#replicated]} : vector<32xi32>, memref<32xi32>
    gpu.return
  }

  // 128 equal operations: two for each thread.
  // CHECK-LABEL: gpu.func @equal(
  // CHECK-NOT: scf.if
  // CHECK-COUNT-2: llvm.atomicrmw add
  // CHECK-NOT: llvm.atomicrmw
  // CHECK: gpu.return
  gpu.func @equal(%m: memref<?xi32>, %at: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = vector.broadcast %at : i32 to vector<128xi32>
    %one = arith.constant dense<1> : vector<128xi32>
    mosaic_gpu.atomic_rmw addi %one, %m[%i] device relaxed : vector<128xi32>, memref<?xi32>, vector<128xi32>
    gpu.return
  }

  // A release covers the accesses of other threads before the barrier, also in global memory, and an acquire those after it.
  // CHECK-LABEL: gpu.func @ordered(
  // CHECK: gpu.barrier
  // CHECK: llvm.atomicrmw add
  // CHECK: gpu.barrier
  // CHECK: llvm.atomicrmw add
  // NVIDIA: gpu.barrier
  // AMD: amdgpu.lds_barrier
  gpu.func @ordered(%own: memref<128xf32>, %count: memref<4xi32>, %other: memref<128xf32>, %out: memref<128xf32>, %n: memref<4xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %ones = arith.constant dense<1.0> : vector<128xf32>
    mosaic_gpu.vector_store %ones, %own {in_layouts = [#strided]} : vector<128xf32>, memref<128xf32>
    gpu.barrier
    %i = arith.constant dense<1> : vector<64xi32>
    mosaic_gpu.atomic_rmw addi %i, %count[%i] device acq_rel : vector<64xi32>, memref<4xi32>, vector<64xi32>
    gpu.barrier
    %x = mosaic_gpu.vector_load %other {out_layouts = [#strided]} : memref<128xf32> -> vector<128xf32>
    mosaic_gpu.vector_store %x, %out {in_layouts = [#strided]} : vector<128xf32>, memref<128xf32>
    gpu.return
  }
  gpu.func @relaxed(%own: memref<128xf32>, %n: memref<4xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %ones = arith.constant dense<1.0> : vector<128xf32>
    mosaic_gpu.vector_store %ones, %own {in_layouts = [#strided]} : vector<128xf32>, memref<128xf32>
    %i = arith.constant dense<1> : vector<64xi32>
    mosaic_gpu.atomic_rmw addi %i, %n[%i] device relaxed : vector<64xi32>, memref<4xi32>, vector<64xi32>
    gpu.barrier
    gpu.return
  }
}
