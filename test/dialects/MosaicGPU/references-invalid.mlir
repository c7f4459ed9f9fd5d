// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @slice_dynamic() {
  // expected-error @+1 {{result must have a static shape, but found 'memref<?xf16, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<?xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_space() {
  // expected-error @+1 {{result must be in the address space workgroup, but found 'memref<8xf16>'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<8xf16>
  return
}

// -----

func.func @slice_element() {
  // expected-error @+1 {{elements of the result must be integers, floats or barriers, but found 'index'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<8xindex, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_alignment() {
  // expected-error @+1 {{the byte offset is 6; it must be a multiple of 4, the size of 'f32' in bytes}}
  %0 = mosaic_gpu.slice_smem 6 : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_barrier_alignment() {
  // expected-error @+1 {{the byte offset is 4; it must be a multiple of 8, the size of '!mosaic_gpu.barrier' in bytes}}
  %0 = mosaic_gpu.slice_smem 4 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_negative() {
  // expected-error @+1 {{'offset' failed to satisfy constraint}}
  %0 = mosaic_gpu.slice_smem -4 : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @alias_type() {
  // expected-error @+1 {{'alias_id' failed to satisfy constraint: 32-bit signless integer attribute}}
  %0 = "mosaic_gpu.slice_smem"() <{alias_id = 4294967296 : i64, offset = 0 : i32}> : () -> memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cast_element(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{source and result must have the same element type, but found 'memref<8xf32, #gpu.address_space<workgroup>>' and 'memref<8xi32, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.reinterpret_cast %m : memref<8xf32, #gpu.address_space<workgroup>> to memref<8xi32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cast_space(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{source and result must be in the same memory space, but found 'memref<8xf32, #gpu.address_space<workgroup>>' and 'memref<8xf32>'}}
  %0 = mosaic_gpu.reinterpret_cast %m : memref<8xf32, #gpu.address_space<workgroup>> to memref<8xf32>
  return
}

// -----

func.func @cast_static(%m: memref<?xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{source and result must have static shapes, but found 'memref<?xf32, #gpu.address_space<workgroup>>' and 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.reinterpret_cast %m : memref<?xf32, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cast_count(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{source and result must have the same number of elements, but the source has 8 and the result 12}}
  %0 = mosaic_gpu.reinterpret_cast %m : memref<8xf32, #gpu.address_space<workgroup>> to memref<4x3xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @with_space(%m: memref<8x64xf16>) {
  // expected-error @+1 {{memory must be in the address space workgroup, but found 'memref<8x64xf16>'}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.swizzle<128 : i32>] : memref<8x64xf16>
  return
}

// -----

func.func @with_barrier(%m: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the memref is 'memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'; barriers cannot be tiled or swizzled, so remove the op}}
  %0 = mosaic_gpu.with_transforms %m [] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @with_tile(%m: memref<12x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'transforms' is not valid for 'memref<12x64xf16, #gpu.address_space<workgroup>>': size 12 of the memref is not a multiple of its tile size in #mosaic_gpu.tile, 8}}
  %0 = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 64]>] : memref<12x64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @with_type(%m: memref<8x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{failed to verify that all of {ref, result} have same type}}
  %0 = "mosaic_gpu.with_transforms"(%m) <{transforms = []}> : (memref<8x64xf16, #gpu.address_space<workgroup>>) -> memref<64x8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cluster_space(%m: memref<8xf32>, %i: i32) {
  // expected-error @+1 {{source must be in the address space workgroup, but found 'memref<8xf32>'}}
  %0 = mosaic_gpu.get_cluster_ref %m x(%i) : memref<8xf32> -> memref<8xf32, #mosaic_gpu.smem_cluster>
  return
}

// -----

func.func @cluster_none(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{requires a block index in exactly one of the cluster dimensions x, y and z; the number of indices is 0}}
  %0 = mosaic_gpu.get_cluster_ref %m : memref<8xf32, #gpu.address_space<workgroup>> -> memref<8xf32, #mosaic_gpu.smem_cluster>
  return
}

// -----

func.func @cluster_two(%m: memref<8xf32, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{requires a block index in exactly one of the cluster dimensions x, y and z; the number of indices is 2}}
  %0 = mosaic_gpu.get_cluster_ref %m x(%i) z(%i) : memref<8xf32, #gpu.address_space<workgroup>> -> memref<8xf32, #mosaic_gpu.smem_cluster>
  return
}

// -----

func.func @cluster_result(%m: memref<8xf32, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{result must be 'memref<8xf32, #mosaic_gpu.smem_cluster>', but found 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.get_cluster_ref %m x(%i) : memref<8xf32, #gpu.address_space<workgroup>> -> memref<8xf32, #gpu.address_space<workgroup>>
  return
}
