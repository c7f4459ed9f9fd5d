// Output and assertions: one line for each element, by one thread that holds it.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-nvvm{target=sm_90a},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(convert-mosaic-gpu-to-rocdl{target=gfx1201},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,AMD

#strided = #mosaic_gpu.WGStridedFragLayout<[4, 32], 2>
#replicated = #mosaic_gpu.TiledLayout<[[32], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 2>], lane_dims = [-2], vector_dim = -1>
gpu.module @m {
  // CHECK-LABEL: gpu.func @print(
  // CHECK: %[[X:.*]] = gpu.block_id x
  // CHECK: %[[B:.*]] = arith.index_cast %[[X]] : index to i64
  // CHECK-COUNT-2: gpu.printf "block [%lld, %lld, %lld]: x = [%lld, %lld]: %f\0A", %[[B]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i64, i64, i64, i64, i64, f64
  // CHECK-NOT: gpu.printf
  gpu.func @print(%a: memref<4x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#strided]} : memref<4x32xf32> -> vector<4x32xf32>
    mosaic_gpu.debug_print "x = {}", %v {with_block_id, in_layouts = [#strided]} : vector<4x32xf32>
    gpu.return
  }

  // The emulator has the function.
  // CHECK-LABEL: gpu.func @index(
  // CHECK-SAME: %[[I:.*]]: index, %[[N:.*]]: index
  // CHECK-DAG: %[[WIDE:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK-DAG: %[[SIZE:.*]] = arith.index_cast %[[N]] : index to i64
  // CHECK: llvm.call @smalti.check_index(%[[WIDE]], %[[SIZE]], %c1_i64) : (i64, i64, i64) -> ()
  // CHECK-NOT: cf.assert
  gpu.func @index(%i: index, %n: index, %a: memref<4x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#strided]} : memref<4x32xf32> -> vector<4x32xf32>
    mosaic_gpu.debug_print "x = {}", %v {in_layouts = [#strided]} : vector<4x32xf32>
    %inside = arith.cmpi ult, %i, %n : index
    cf.assert %inside, "out of bounds" {smalti.index_check = 1 : i64}
    gpu.return
  }

  // One branch if no element is false.
  // CHECK-LABEL: gpu.func @assert(
  // CHECK: %[[ANY:.*]] = arith.ori
  // CHECK-NEXT: scf.if %[[ANY]] {
  // CHECK-NEXT: scf.if
  // CHECK: gpu.printf "assertion failed in block [%lld, %lld, %lld] at [%lld, %lld]: not 100%% positive\0A"
  // NVIDIA-NEXT: cf.assert %false, "not 100% positive"
  // AMD-NEXT: llvm.intr.trap
  // CHECK: scf.if
  // CHECK: gpu.printf
  // CHECK-NOT: gpu.printf
  gpu.func @assert(%a: memref<4x32xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#strided]} : memref<4x32xi32> -> vector<4x32xi32>
    %zero = arith.constant dense<0> : vector<4x32xi32>
    %c = arith.cmpi sgt, %v, %zero {in_layouts = [#strided, #strided], out_layouts = [#strided]} : vector<4x32xi32>
    mosaic_gpu.assert %c, "not 100% positive" {in_layouts = [#strided]} : vector<4x32xi1>
    gpu.return
  }

  // The first of the two warps that hold an element, and the first thread for a splat.
  // CHECK-LABEL: gpu.func @once(
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: scf.if
  // CHECK: gpu.printf "assertion failed in block [%lld, %lld, %lld] at [%lld]: \0A"
  // CHECK: %[[THREAD:.*]] = arith.cmpi eq, %thread_id_x, %c0
  // CHECK: scf.if %[[THREAD]] {
  // CHECK: gpu.printf "assertion failed in block [%lld, %lld, %lld]: \0A"
  gpu.func @once(%a: memref<32xi32>, %b: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#replicated]} : memref<32xi32> -> vector<32xi32>
    %zero = arith.constant dense<0> : vector<32xi32>
    %c = arith.cmpi sgt, %v, %zero {in_layouts = [#replicated, #replicated], out_layouts = [#replicated]} : vector<32xi32>
    mosaic_gpu.assert %c, "" {in_layouts = [#replicated]} : vector<32xi1>
    %s = vector.broadcast %b : i1 to vector<32xi1>
    mosaic_gpu.assert %s, "" : vector<32xi1>
    gpu.return
  }

  // Positions of a splat are printed in a loop, and scalars have no position.
  // CHECK-LABEL: gpu.func @tiles(
  // CHECK: gpu.printf "tile %lld: 100%% [%lld, %lld] = %.9g\0A"
  // CHECK: scf.for
  // CHECK: gpu.printf "tile %lld: splat [%lld] = %lld\0A"
  // CHECK: gpu.printf "tile %lld: {} = %.17g\0A"
  // CHECK: gpu.printf "tile %lld: end\0A"
  gpu.func @tiles(%a: memref<4x32xf32>, %i: i8, %x: f64, %tile: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %a {out_layouts = [#strided]} : memref<4x32xf32> -> vector<4x32xf32>
    mosaic_gpu.print_tile %tile, "100%", %v {in_layouts = [#strided]} : vector<4x32xf32>
    %s = vector.broadcast %i : i8 to vector<32xi8>
    mosaic_gpu.print_tile %tile, "splat", %s : vector<32xi8>
    mosaic_gpu.print_tile %tile, "{}", %x : f64
    mosaic_gpu.print_tile %tile, "end"
    gpu.return
  }
}
