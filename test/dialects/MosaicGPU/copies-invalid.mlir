// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @copy_source_space(%m: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source must be in global memory, but found 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %m
      : memref<8xf16, #gpu.address_space<workgroup>> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_destination_space(%m: memref<8xf16>, %i: index) {
  // expected-error @+1 {{destination must be in the address space workgroup, but found 'memref<8xf16>'}}
  mosaic_gpu.async_copy %m[%i] to %m : memref<8xf16> to memref<8xf16>
  return
}

// -----

func.func @copy_map(%m: memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>>, %s: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must be strided memrefs, but found 'memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>>' and 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %s
      : memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_dynamic(%m: memref<8xf16>, %s: memref<?xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{destination must have a static shape, but found 'memref<?xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8xf16> to memref<?xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_rank(%m: memref<8x8xf16>, %s: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must have the same rank, but the source has rank 2 and the destination 1}}
  mosaic_gpu.async_copy %m[%i, %i] to %s : memref<8x8xf16> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_indices(%m: memref<8x8xf16>, %s: memref<8x8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{has 1 index, but the source has 2 dimensions; pass one index for each dimension}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_element(%m: memref<8xf16>, %s: memref<8xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f16' and 'f32'}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8xf16> to memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_barriers(%m: memref<8x!mosaic_gpu.barrier>, %s: memref<8x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{elements must be integers or floats, but found '!mosaic_gpu.barrier'}}
  mosaic_gpu.async_copy %m[%i] to %s
      : memref<8x!mosaic_gpu.barrier> to memref<8x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_source(%m: memref<64x64xf16, #gpu.address_space<workgroup>>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{source must be in global memory, but found 'memref<64x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16, #gpu.address_space<workgroup>>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_destination(%m: memref<64x64xf16>, %s: memref<32x64xf16>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{destination must be in the address space workgroup, but found 'memref<32x64xf16>'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_element(%m: memref<64x64xf16>, %s: memref<32x64xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f16' and 'f32'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_indices(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{the number of indices is 1 and the number of slice lengths is 2; both must be 2, the rank of the source}}
  mosaic_gpu.async_load %m[%i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_length(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{a slice length must be positive, or -1 to drop the dimension, but is 0}}
  mosaic_gpu.async_load %m[%i, %i] [0, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_shape(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{the slice has shape [16, 64], but the destination is 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [16, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_gather(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %v: vector<16xi32>) {
  // expected-error @+1 {{an index vector has 16 elements, but the slice length of its dimension is 32; pass a fixed-length vector with one index per slice element}}
  mosaic_gpu.async_load %m[%v, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[vector<16xi32>, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_two_gathers(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %v: vector<32xi32>, %w: vector<64xi32>) {
  // expected-error @+1 {{has several vector indices; at most one index may be a vector}}
  mosaic_gpu.async_load %m[%v, %w] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[vector<32xi32>, vector<64xi32>] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_fill(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{attribute 'oob_fill_mode' failed to satisfy constraint: value of elements outside of the source: undefined, promise_in_bounds or zeros}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b) {oob_fill_mode = 3 : i32}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_collective(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{'collective' lists x twice; list each dimension once}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b) collective [x, x]
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_barrier(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{barrier must be a memref of rank 0, but found 'memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @wait_negative() {
  // expected-error @+1 {{'pending' failed to satisfy constraint}}
  mosaic_gpu.async_wait_group -1
  return
}

// -----

func.func @load_partition_collective(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{has 'leader_tracked' without 'collective'; add 'collective' with the cluster dimensions that share the copy}}
  mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_partition_axis(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{'leader_tracked' partitions dimension 2, but the slice has only 2 dimensions, counted from 0}}
  mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) collective [x]
      {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 2>}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_partition_size(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{the slice length in dimension 0 is 48; 'leader_tracked' requires a multiple of the destination size, 32}}
  mosaic_gpu.async_load %m[%i, %i] [48, 64] to %s barrier(%b) collective [x]
      {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_partition_other(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{the slice has shape [64, 64], but the destination is 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) collective [x]
      {leader_tracked = #mosaic_gpu.copy_partitioned<axis = 1>}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_leader(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{attribute 'leader_tracked' failed to satisfy constraint}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b) {leader_tracked}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_dimensions(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{attribute 'collective' failed to satisfy constraint: dimensions of the cluster}}
  "mosaic_gpu.async_load"(%m, %s, %b, %i, %i) <{collective = [3 : i32], operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 32, 64>}>
      : (memref<64x64xf16>, memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
  return
}

// -----

func.func @prefetch_space(%m: memref<64x64xf16, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{source must be in global memory, but found 'memref<64x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_prefetch %m[%i, %i] [32, 64] : memref<64x64xf16, #gpu.address_space<workgroup>>[i32, i32]
  return
}

// -----

func.func @prefetch_length(%m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{a slice length must be positive, or -1 to drop the dimension, but is -2}}
  mosaic_gpu.async_prefetch %m[%i, %i] [-2, 64] : memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @prefetch_count(%m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{the number of indices is 1 and the number of slice lengths is 2; both must be 2, the rank of the source}}
  mosaic_gpu.async_prefetch %m[%i] [32, 64] : memref<64x64xf16>[i32]
  return
}

// -----

func.func @prefetch_rank(%m: memref<f16>) {
  // expected-error @+1 {{source must have at least one dimension, but found 'memref<f16>'}}
  "mosaic_gpu.async_prefetch"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0>, slice_lengths = array<i64>}> : (memref<f16>) -> ()
  return
}

// -----

func.func @prefetch_twice(%m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{'collective' lists y twice}}
  mosaic_gpu.async_prefetch %m[%i, %i] [32, 64] collective [y, y] : memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_both(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{has a peer (the operand 'gmem_peer_id') and 'is_global_broadcast'; only one of them is allowed}}
  mosaic_gpu.async_store %s to %m[%i, %i] [32, 64] peer(%i) {is_global_broadcast = true} : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_source(%s: memref<32x64xf16>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{source must be in the address space workgroup, but found 'memref<32x64xf16>'}}
  mosaic_gpu.async_store %s to %m[%i, %i] [32, 64] : memref<32x64xf16> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_destination(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{destination must be in global memory, but found 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store %s to %s[%i, %i] [32, 64] : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<32x64xf16, #gpu.address_space<workgroup>>[i32, i32]
  return
}

// -----

func.func @store_element(%s: memref<32x64xf32, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f32' and 'f16'}}
  mosaic_gpu.async_store %s to %m[%i, %i] [32, 64] : memref<32x64xf32, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_shape(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{the slice has shape [16, 64], but the source is 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store %s to %m[%i, %i] [16, 64] : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_squeezed(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{the slice has shape [64], but the source is 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store %s to %m[%i, %i] [-1, 64] : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_count(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{the number of indices is 2 and the number of slice lengths is 1; both must be 2, the rank of the destination}}
  mosaic_gpu.async_store %s to %m[%i, %i] [32] : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @store_scatter(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32, %v: vector<16xi32>) {
  // expected-error @+1 {{an index vector has 16 elements, but the slice length of its dimension is 32; pass a fixed-length vector with one index per slice element}}
  mosaic_gpu.async_store %s to %m[%v, %i] [32, 64] : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[vector<16xi32>, i32]
  return
}

// -----

func.func @store_reduction(%s: memref<32x64xf16, #gpu.address_space<workgroup>>, %m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{attribute 'reduction_op' failed to satisfy constraint: reduction of a bulk store: add, min, max, inc, dec, and, or, xor, umin, umax, smin or smax}}
  mosaic_gpu.async_store %s to %m[%i, %i] [32, 64] {reduction_op = 12 : i32} : memref<32x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16>[i32, i32]
  return
}

// -----

func.func @send_space(%v: vector<8xf32>, %m: memref<8xf32>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{destination must be in the address space workgroup, but found 'memref<8xf32>'}}
  mosaic_gpu.async_store_smem %v to %m barrier(%b) block(x %i) : vector<8xf32> to memref<8xf32>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @send_shape(%v: vector<8xf32>, %m: memref<4xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{vector and destination must have the same shape, but found 'vector<8xf32>' and 'memref<4xf32, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_smem %v to %m barrier(%b) block(x %i) : vector<8xf32> to memref<4xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @send_element(%v: vector<8xf32>, %m: memref<8xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{vector and destination must have the same element type, but found 'vector<8xf32>' and 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_smem %v to %m barrier(%b) block(x %i) : vector<8xf32> to memref<8xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @send_barrier(%v: vector<8xf32>, %m: memref<8xf32, #gpu.address_space<workgroup>>, %b: memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{barrier must be a memref of rank 0, but found 'memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_smem %v to %m barrier(%b) block(x %i) : vector<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>,
      memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @send_dimension(%v: vector<8xf32>, %m: memref<8xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'cluster_dim' [x, y, z]}}
  mosaic_gpu.async_store_smem %v to %m barrier(%b) block(w %i) : vector<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @collective_keyword(%m: memref<64x64xf16>, %i: i32) {
  // expected-error @+1 {{the dimension must be x, y or z, but found 'w'}}
  mosaic_gpu.async_prefetch %m[%i, %i] [32, 64] collective [w] : memref<64x64xf16>[i32, i32]
  return
}
