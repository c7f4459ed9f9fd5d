// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @primitives
// CHECK-SAME: (%[[V:.*]]: vector<128xf32>, %[[S:.*]]: memref<128xf32, #gpu.address_space<workgroup>>, %[[B:.*]]: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %[[I:.*]]: i32)
func.func @primitives(%v: vector<128xf32>, %s: memref<128xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // CHECK: mosaic_gpu.custom_primitive () {
  // CHECK-NEXT: mosaic_gpu.return
  // CHECK-NEXT: } {in_layouts = [], in_transforms = [], out_layouts = []}{{$}}
  mosaic_gpu.custom_primitive () {
    mosaic_gpu.return
  } {in_layouts = [], in_transforms = [], out_layouts = []}
  // CHECK: %{{.*}}:2 = mosaic_gpu.custom_primitive (%[[X:.*]] = %[[V]] : vector<128xf32>, %{{.*}} = %[[S]] : memref<128xf32, #gpu.address_space<workgroup>>, %{{.*}} = %[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %[[J:.*]] = %[[I]] : i32) {
  // CHECK-NEXT: mosaic_gpu.return %[[X]], %[[J]] : vector<128xf32>, i32
  // CHECK-NEXT: } {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>], in_transforms = {{\[\[\], \[\]\]}}, out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} -> vector<128xf32>, i32
  %0:2 = mosaic_gpu.custom_primitive (%x = %v : vector<128xf32>, %y = %s : memref<128xf32, #gpu.address_space<workgroup>>, %z = %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>,
                                      %j = %i : i32) {
    mosaic_gpu.return %x, %j : vector<128xf32>, i32
  } {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>], in_transforms = [[], []],
     out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} -> vector<128xf32>, i32
  return
}

// CHECK-LABEL: func.func @warps
func.func @warps(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // CHECK: mosaic_gpu.warp_map () {
  // CHECK-NEXT: }
  mosaic_gpu.warp_map () {
  }
  // CHECK: mosaic_gpu.warp_map (%[[X:.*]] = %{{.*}} : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %{{.*}} = %{{.*}} : i32) {
  // CHECK-NEXT: mosaic_gpu.arrive %[[X]]
  // CHECK-NEXT: }
  mosaic_gpu.warp_map (%x = %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %j = %i : i32) {
    mosaic_gpu.arrive %x : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  }
  return
}

// CHECK-LABEL: func.func @prints
func.func @prints(%n: index, %v: vector<128xf32>, %s: memref<128xf32, #gpu.address_space<workgroup>>, %t: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // CHECK: mosaic_gpu.debug_print "x = {}", %{{.*}} : vector<128xf32>
  mosaic_gpu.debug_print "x = {}", %v : vector<128xf32>
  // CHECK: mosaic_gpu.print_tile %{{.*}}, "x", %{{.*}} : vector<128xf32>
  mosaic_gpu.print_tile %n, "x", %v : vector<128xf32>
  // CHECK: mosaic_gpu.print_tile %{{.*}}, "n", %{{.*}} : index
  mosaic_gpu.print_tile %n, "n", %n : index
  // CHECK: mosaic_gpu.print_tile %{{.*}}, "end"{{$}}
  mosaic_gpu.print_tile %n, "end"
  // CHECK: mosaic_gpu.print_layout "{}", %{{.*}} : vector<128xf32>
  mosaic_gpu.print_layout "{}", %v : vector<128xf32>
  // CHECK: mosaic_gpu.print_layout "{}", %{{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
  mosaic_gpu.print_layout "{}", %s : memref<128xf32, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.print_layout "{}", %{{.*}} : memref<128x64xf32, #mosaic_gpu.tmem>
  mosaic_gpu.print_layout "{}", %t : memref<128x64xf32, #mosaic_gpu.tmem>
  return
}
