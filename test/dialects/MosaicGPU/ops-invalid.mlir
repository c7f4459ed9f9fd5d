// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @slice_dynamic() {
  // expected-error @+1 {{result must have a static shape, got 'memref<?xf16, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<?xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_space() {
  // expected-error @+1 {{result must be in the address space workgroup, got 'memref<8xf16>'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<8xf16>
  return
}

// -----

func.func @slice_element() {
  // expected-error @+1 {{elements must be integers, floats or barriers, got 'index'}}
  %0 = mosaic_gpu.slice_smem 0 : memref<8xindex, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_alignment() {
  // expected-error @+1 {{offset 6 is not a multiple of the 4 bytes of 'f32'}}
  %0 = mosaic_gpu.slice_smem 6 : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @slice_barrier_alignment() {
  // expected-error @+1 {{offset 4 is not a multiple of the 8 bytes of '!mosaic_gpu.barrier'}}
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

func.func @load_space(%m: memref<8xf32, #gpu.address_space<private>>) {
  // expected-error @+1 {{memory must be shared (address space workgroup) or global, got 'memref<8xf32, #gpu.address_space<private>>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32, #gpu.address_space<private>> -> vector<8xf32>
  return
}

// -----

func.func @load_shape(%m: memref<8x4xf32>) {
  // expected-error @+1 {{memory and vector must have the same shape, got 'memref<8x4xf32>' and 'vector<4x8xf32>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8x4xf32> -> vector<4x8xf32>
  return
}

// -----

func.func @load_dynamic(%m: memref<?x4xf32>) {
  // expected-error @+1 {{memory and vector must have the same shape, got 'memref<?x4xf32>' and 'vector<8x4xf32>'}}
  %0 = mosaic_gpu.vector_load %m : memref<?x4xf32> -> vector<8x4xf32>
  return
}

// -----

func.func @load_element(%m: memref<8xf32>) {
  // expected-error @+1 {{memory and vector must have the same element type, got 'memref<8xf32>' and 'vector<8xf16>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32> -> vector<8xf16>
  return
}

// -----

func.func @load_map(%m: memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>) {
  // expected-error @+1 {{memory must be strided, got 'memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>> -> vector<8xf32>
  return
}

// -----

func.func @load_scalable(%m: memref<8xf32>) {
  // expected-error @+1 {{result #0 must be fixed-length vector of any type values, but got 'vector<[8]xf32>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32> -> vector<[8]xf32>
  return
}

// -----

func.func @store_shape(%v: vector<8xf32>, %m: memref<4xf32>) {
  // expected-error @+1 {{memory and vector must have the same shape, got 'memref<4xf32>' and 'vector<8xf32>'}}
  mosaic_gpu.vector_store %v, %m : vector<8xf32>, memref<4xf32>
  return
}

// -----

func.func @store_multimem(%v: vector<8xf32>, %m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{multimem writes to global memory, got 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.vector_store %v, %m {multimem = true} : vector<8xf32>, memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cast_kind(%v: vector<8xf32>) {
  // expected-error @+1 {{'new_layout' does not fit 'vector<8xf32>': not a register layout}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<8xf32>) {new_layout = "rows"}
  return
}

// -----

func.func @cast_rank(%v: vector<64xf32>) {
  // expected-error @+1 {{'new_layout' does not fit 'vector<64xf32>': a vector of rank 1 cannot be tiled by [64, 8]}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
  return
}

// -----

func.func @cast_divisible(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' does not fit 'vector<96x8xf32>': shape [96, 8] is not a multiple of the tile [64, 8]}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
  return
}

// -----

func.func @cast_strided(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' does not fit 'vector<96x8xf32>': the layout's shape is not that of the vector}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[8, 96], 2>}
  return
}

// -----

func.func @cast_splat(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' does not fit 'vector<96x8xf32>': the layout's shape is not that of the vector}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.WGSplatFragLayout<[96]>}
  return
}

// -----

func.func @cast_out_layout(%v: vector<64xf32>) {
  // expected-error @+1 {{'out_layouts' is not 'new_layout'}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<64xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64], 2>, out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]}
  return
}

// -----

func.func @copy_source_space(%m: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source must be in global memory, got 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %m
      : memref<8xf16, #gpu.address_space<workgroup>> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_destination_space(%m: memref<8xf16>, %i: index) {
  // expected-error @+1 {{destination must be in the address space workgroup, got 'memref<8xf16>'}}
  mosaic_gpu.async_copy %m[%i] to %m : memref<8xf16> to memref<8xf16>
  return
}

// -----

func.func @copy_map(%m: memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>>, %s: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must be strided, got 'memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>>' and 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %s
      : memref<8xf16, affine_map<(d0) -> (d0 floordiv 2)>> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_dynamic(%m: memref<8xf16>, %s: memref<?xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{destination must have a static shape, got 'memref<?xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8xf16> to memref<?xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_rank(%m: memref<8x8xf16>, %s: memref<8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must have the same rank, got 2 and 1}}
  mosaic_gpu.async_copy %m[%i, %i] to %s : memref<8x8xf16> to memref<8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_indices(%m: memref<8x8xf16>, %s: memref<8x8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{needs one index per dimension of the source: 2, got 1}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_element(%m: memref<8xf16>, %s: memref<8xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{source and destination must have the same element type, got 'f16' and 'f32'}}
  mosaic_gpu.async_copy %m[%i] to %s : memref<8xf16> to memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_barriers(%m: memref<8x!mosaic_gpu.barrier>, %s: memref<8x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{elements must be integers or floats, got '!mosaic_gpu.barrier'}}
  mosaic_gpu.async_copy %m[%i] to %s
      : memref<8x!mosaic_gpu.barrier> to memref<8x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_source(%m: memref<64x64xf16, #gpu.address_space<workgroup>>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{source must be in global memory, got 'memref<64x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16, #gpu.address_space<workgroup>>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_destination(%m: memref<64x64xf16>, %s: memref<32x64xf16>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{destination must be in the address space workgroup, got 'memref<32x64xf16>'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_element(%m: memref<64x64xf16>, %s: memref<32x64xf32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{source and destination must have the same element type, got 'f16' and 'f32'}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_indices(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{needs one index and one slice length per dimension of the source: 2, got 1 and 2}}
  mosaic_gpu.async_load %m[%i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_length(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{slice lengths must be positive or -1, got 0}}
  mosaic_gpu.async_load %m[%i, %i] [0, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_shape(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{the slice is of shape [16, 64], and the destination is 'memref<32x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_load %m[%i, %i] [16, 64] to %s barrier(%b)
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_gather(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %v: vector<16xi32>) {
  // expected-error @+1 {{a vector of 16 indices does not make a slice of length 32}}
  mosaic_gpu.async_load %m[%v, %i] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[vector<16xi32>, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_two_gathers(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %v: vector<32xi32>, %w: vector<64xi32>) {
  // expected-error @+1 {{only one index may be a vector}}
  mosaic_gpu.async_load %m[%v, %w] [32, 64] to %s barrier(%b)
      : memref<64x64xf16>[vector<32xi32>, vector<64xi32>] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_fill(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{'oob_fill_mode' must be 2, which fills with zeros, got 1}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b) {oob_fill_mode = 1 : i32}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_collective(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{'collective' names 0 : i64 twice}}
  mosaic_gpu.async_load %m[%i, %i] [32, 64] to %s barrier(%b) {collective = [0, 0]}
      : memref<64x64xf16>[i32, i32] to memref<32x64xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_barrier(%m: memref<64x64xf16>, %s: memref<32x64xf16, #gpu.address_space<workgroup>>, %b: memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32) {
  // expected-error @+1 {{barrier must be a memref of rank 0, got 'memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
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

func.func @mma_rank(%c: vector<64x8xf32>, %a: vector<1x64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{a must be of rank 2, got 'vector<1x64x16xf16>'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<1x64x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_rows(%c: vector<64x8xf32>, %a: vector<32x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{a and the accumulator must have as many rows, got 32 and 64}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<32x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_columns(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x16xf16>) {
  // expected-error @+1 {{b and the accumulator must have as many columns, got 16 and 8}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x16xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_depth(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<32x8xf16>) {
  // expected-error @+1 {{a must have as many columns as b has rows, got 16 and 32}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<32x8xf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_mixed(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xbf16>) {
  // expected-error @+1 {{cannot multiply elements of 'f16' and 'bf16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xbf16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_fp8_families(%c: vector<64x8xf32>, %a: vector<64x16xf8E4M3FN>, %b: vector<16x8xf8E4M3FNUZ>) {
  // expected-error @+1 {{cannot multiply elements of 'f8E4M3FN' and 'f8E4M3FNUZ'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf8E4M3FN>)
      b(%b : vector<16x8xf8E4M3FNUZ>) -> vector<64x8xf32>
  return
}

// -----

func.func @mma_unsupported(%c: vector<64x8xf32>, %a: vector<64x16xi16>, %b: vector<16x8xi16>) {
  // expected-error @+1 {{cannot multiply elements of 'i16' and 'i16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xi16>) b(%b : vector<16x8xi16>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_accumulator(%c: vector<64x8xf16>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{products of 'f16' are accumulated in f32, got 'f16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf16>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xf16>)
      -> vector<64x8xf16>
  return
}

// -----

func.func @mma_integer_accumulator(%c: vector<64x8xf32>, %a: vector<64x16xi8>, %b: vector<16x8xi8>) {
  // expected-error @+1 {{products of 'i8' are accumulated in i32, got 'f32'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xi8>) b(%b : vector<16x8xi8>)
      -> vector<64x8xf32>
  return
}

// -----

func.func @mma_tf32(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{allow_tf32 is for f32 operands, got 'f16'}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<64x8xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x8xf16>)
      {allow_tf32} -> vector<64x8xf32>
  return
}

// -----

func.func @mma_result(%c: vector<64x8xf32>, %a: vector<64x16xf16>, %b: vector<16x8xf16>) {
  // expected-error @+1 {{failed to verify that all of {accumulator, result} have same type}}
  %0 = "mosaic_gpu.mma"(%c, %a, %b) : (vector<64x8xf32>, vector<64x16xf16>, vector<16x8xf16>) -> vector<64x8xf16>
  return
}

// -----

func.func @initialize_space(%p: !llvm.ptr) {
  // expected-error @+1 {{operand #0 must be LLVM pointer in address space 3, but got '!llvm.ptr'}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr
  return
}

// -----

func.func @initialize_arrivals(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{'arrival_count' failed to satisfy constraint}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 0 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
  return
}

// -----

func.func @initialize_barriers(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{'num_barriers' failed to satisfy constraint}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 0 : i32} : !llvm.ptr<3>
  return
}

// -----

func.func @arrive_rank(%b: memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{barrier must be a memref of rank 0, got 'memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.arrive %b : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @arrive_space(%b: memref<!mosaic_gpu.barrier>) {
  // expected-error @+1 {{barrier must be in the address space workgroup, got 'memref<!mosaic_gpu.barrier>'}}
  mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier>
  return
}

// -----

func.func @arrive_element(%b: memref<i64, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand #0 must be memref of barrier object values, but got 'memref<i64, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.arrive %b : memref<i64, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @expect_both(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %n: i32) {
  // expected-error @+1 {{needs the number of bytes either as an attribute or as a value}}
  "mosaic_gpu.arrive_expect_tx"(%b, %n) <{expect_tx = 8 : i32}>
      : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> ()
  return
}

// -----

func.func @expect_none(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{needs the number of bytes either as an attribute or as a value}}
  "mosaic_gpu.arrive_expect_tx"(%b) : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
  return
}

// -----

func.func @expect_negative(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'expect_tx' failed to satisfy constraint}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -8
  return
}

// -----

func.func @expect_rank(%b: memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{barrier must be a memref of rank 0}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8
  return
}

// -----

func.func @wait_rank(%b: memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{barrier must be a memref of rank 0}}
  mosaic_gpu.wait barrier(%b : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%p : i1)
  return
}

// -----

// Layouts and transforms on ops.

func.func @layouts_list(%m: memref<8xf32>) {
  // expected-error @+1 {{'out_layouts' must be an array of layouts}}
  %0 = mosaic_gpu.vector_load %m {out_layouts = #mosaic_gpu.WGSplatFragLayout<[8]>} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_count(%v: vector<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{'in_layouts' has 2 entries for 1 vector operands}}
  mosaic_gpu.vector_store %v, %m {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[8]>, #mosaic_gpu.WGSplatFragLayout<[8]>]}
      : vector<8xf32>, memref<8xf32>
  return
}

// -----

func.func @layouts_none(%m: memref<8xf32>) {
  // expected-error @+1 {{'in_layouts' has 1 entries for 0 vector operands}}
  %0 = mosaic_gpu.vector_load %m {in_layouts = [#mosaic_gpu.WGSplatFragLayout<[8]>]} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_fit(%m: memref<8xf32>) {
  // expected-error @+1 {{'out_layouts' entry 0 does not fit 'vector<8xf32>': shape [8] is not a multiple of the tile [64]}}
  %0 = mosaic_gpu.vector_load %m {out_layouts = [#mosaic_gpu.TiledLayout<[[64], [2]], warp_dims = [], lane_dims = [-2], vector_dim = -1>]}
      : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @layouts_threads(%c: vector<16x16xf32>, %a: vector<16x16xf16>) {
  // expected-error @+1 {{'in_layouts' entry 1 is spread over 1 warps of 64 lanes, but another layout of the op over 1 warps of 32 lanes}}
  %0 = mosaic_gpu.mma accumulator(%c : vector<16x16xf32>) a(%a : vector<16x16xf16>) b(%a : vector<16x16xf16>)
      {in_layouts = [#mosaic_gpu.TiledLayout<[[16, 8], [8, 8], [2]], warp_dims = [], lane_dims = [-3, -2], vector_dim = -1>,
                     #mosaic_gpu.TiledLayout<[[16, 16], [4, 1]], warp_dims = [], lane_dims = [-4, -3], vector_dim = -2>,
                     #mosaic_gpu.WGSplatFragLayout<[16, 16]>]} -> vector<16x16xf32>
  return
}

// -----

func.func @transforms_list(%m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'in_transforms' must be an array of transform lists}}
  %0 = mosaic_gpu.vector_load %m {in_transforms = #mosaic_gpu.tile<[8]>}
      : memref<8xf32, #gpu.address_space<workgroup>> -> vector<8xf32>
  return
}

// -----

func.func @transforms_count(%m: memref<8xf32>) {
  // expected-error @+1 {{'in_transforms' has 1 entries for 0 shared-memory operands}}
  %0 = mosaic_gpu.vector_load %m {in_transforms = [[]]} : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @transforms_entry() {
  // expected-error @+1 {{'out_transforms' entry 0 does not fit 'memref<8xf32, #gpu.address_space<workgroup>>': it must be an array of transforms}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [#mosaic_gpu.tile<[8]>]} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_kind() {
  // expected-error @+1 {{it must hold #mosaic_gpu.tile and #mosaic_gpu.swizzle}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[unit]]} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_tiles() {
  // expected-error @+1 {{it has two tiles}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8]>, #mosaic_gpu.tile<[4]>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_swizzles() {
  // expected-error @+1 {{it has two swizzles}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.swizzle<32 : i32>, #mosaic_gpu.swizzle<32 : i32>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_rank() {
  // expected-error @+1 {{the tile has more dimensions than the memory}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 8]>]]}
      : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @transforms_divisible() {
  // expected-error @+1 {{size 12 is not a multiple of the tile's 8}}
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8]>]]}
      : memref<12xf32, #gpu.address_space<workgroup>>
  return
}
