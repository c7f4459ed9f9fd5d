// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @load_space(%m: memref<8xf32, #gpu.address_space<private>>) {
  // expected-error @+1 {{the memref must be in shared memory (address space workgroup) or global memory, but is 'memref<8xf32, #gpu.address_space<private>>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32, #gpu.address_space<private>> -> vector<8xf32>
  return
}

// -----

func.func @load_shape(%m: memref<8x4xf32>) {
  // expected-error @+1 {{memref and vector must have the same shape, but found 'memref<8x4xf32>' and 'vector<4x8xf32>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8x4xf32> -> vector<4x8xf32>
  return
}

// -----

func.func @load_dynamic(%m: memref<?x4xf32>) {
  // expected-error @+1 {{memref and vector must have the same shape, but found 'memref<?x4xf32>' and 'vector<8x4xf32>'}}
  %0 = mosaic_gpu.vector_load %m : memref<?x4xf32> -> vector<8x4xf32>
  return
}

// -----

func.func @load_element(%m: memref<8xf32>) {
  // expected-error @+1 {{memref and vector must have the same element type, but found 'memref<8xf32>' and 'vector<8xf16>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8xf32> -> vector<8xf16>
  return
}

// -----

func.func @load_map(%m: memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>) {
  // expected-error @+1 {{the memref must be strided, but is 'memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>'}}
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
  // expected-error @+1 {{memref and vector must have the same shape, but found 'memref<4xf32>' and 'vector<8xf32>'}}
  mosaic_gpu.vector_store %v, %m : vector<8xf32>, memref<4xf32>
  return
}

// -----

func.func @store_multimem(%v: vector<8xf32>, %m: memref<8xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{with 'multimem', the destination must be in global memory, but found 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.vector_store %v, %m {multimem = true} : vector<8xf32>, memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cast_kind(%v: vector<8xf32>) {
  // expected-error @+1 {{'new_layout' is not valid for 'vector<8xf32>': the layout is "rows"; a register layout is required: #mosaic_gpu.TiledLayout, WGStridedFragLayout or WGSplatFragLayout}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<8xf32>) {new_layout = "rows"}
  return
}

// -----

func.func @cast_rank(%v: vector<64xf32>) {
  // expected-error @+1 {{'new_layout' is not valid for 'vector<64xf32>': shape [64] has fewer dimensions than [64, 8], the first tile of the layout; use a tile of at most 1 dimensions}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
  return
}

// -----

func.func @cast_divisible(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' is not valid for 'vector<96x8xf32>': shape [96, 8] must be a multiple of the first tile of the layout, [64, 8], but 96 is not a multiple of 64}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
  return
}

// -----

func.func @cast_strided(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' is not valid for 'vector<96x8xf32>': the layout is for shape [8, 96], but the vector has shape [96, 8]; both must be equal}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[8, 96], 2>}
  return
}

// -----

func.func @cast_splat(%v: vector<96x8xf32>) {
  // expected-error @+1 {{'new_layout' is not valid for 'vector<96x8xf32>': the layout is for shape [96], but the vector has shape [96, 8]; both must be equal}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<96x8xf32>) {new_layout = #mosaic_gpu.WGSplatFragLayout<[96]>}
  return
}

// -----

func.func @cast_out_layout(%v: vector<64xf32>) {
  // expected-error @+1 {{'out_layouts' is #mosaic_gpu.WGSplatFragLayout<[64]> and 'new_layout' is #mosaic_gpu.WGStridedFragLayout<[64], 2>; they must be equal}}
  %0 = mosaic_gpu.layout_cast x(%v : vector<64xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64], 2>, out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]}
  return
}

// -----

func.func @load_empty(%m: memref<0xf32>) {
  // expected-error @+1 {{memref and vector must have the same shape, but found 'memref<0xf32>' and 'vector<1xf32>'}}
  %0 = "mosaic_gpu.vector_load"(%m) : (memref<0xf32>) -> vector<1xf32>
  return
}

// -----

func.func @load_element(%m: memref<1x!mosaic_gpu.barrier>) {
  // expected-error @+1 {{memref and vector must have the same element type, but found 'memref<1x!mosaic_gpu.barrier>' and 'vector<1xf32>'}}
  %0 = "mosaic_gpu.vector_load"(%m) : (memref<1x!mosaic_gpu.barrier>) -> vector<1xf32>
  return
}

// -----

func.func @load_tensor_memory(%m: memref<8x8xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{the memref must be in shared memory (address space workgroup) or global memory, but is 'memref<8x8xf32, #mosaic_gpu.tmem>'}}
  %0 = mosaic_gpu.vector_load %m : memref<8x8xf32, #mosaic_gpu.tmem> -> vector<8x8xf32>
  return
}

// -----

func.func @store_atomic_number(%v: vector<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{attribute 'atomic_type' failed to satisfy constraint: operation of an atomic store: add, min, max, and, or or xor}}
  mosaic_gpu.vector_store %v, %m {atomic_type = 6 : i32} : vector<8xf32>, memref<8xf32>
  return
}

// -----

func.func @store_atomic_float(%v: vector<8xf32>, %m: memref<8xf32>) {
  // expected-error @+1 {{'xor' requires integer elements, but found 'f32'}}
  mosaic_gpu.vector_store %v, %m {atomic_type = 5 : i32} : vector<8xf32>, memref<8xf32>
  return
}

// -----

func.func @reduce_space(%m: memref<8xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{source must be in global memory, but found 'memref<8xf16, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.multimem_load_reduce add %m : memref<8xf16, #gpu.address_space<workgroup>> -> vector<8xf16>
  return
}

// -----

func.func @reduce_width(%m: memref<8xi16>) {
  // expected-error @+1 {{cannot reduce 'i16': integer elements must have 32 or 64 bits}}
  %0 = mosaic_gpu.multimem_load_reduce add %m : memref<8xi16> -> vector<8xi16>
  return
}

// -----

func.func @reduce_sign(%m: memref<8xi32>) {
  // expected-error @+1 {{cannot reduce 'i32': for integers, 'min' must be 'umin' (unsigned) or 'smin' (signed)}}
  %0 = mosaic_gpu.multimem_load_reduce min %m : memref<8xi32> -> vector<8xi32>
  return
}

// -----

func.func @reduce_float_bits(%m: memref<8xf16>) {
  // expected-error @+1 {{cannot reduce 'f16': the reduction 'and' requires integers}}
  %0 = mosaic_gpu.multimem_load_reduce and %m : memref<8xf16> -> vector<8xf16>
  return
}

// -----

func.func @reduce_float_unsigned(%m: memref<8xbf16>) {
  // expected-error @+1 {{cannot reduce 'bf16': the reduction 'umax' requires integers}}
  %0 = mosaic_gpu.multimem_load_reduce umax %m : memref<8xbf16> -> vector<8xbf16>
  return
}

// -----

func.func @reduce_f32(%m: memref<8xf32>) {
  // expected-error @+1 {{cannot reduce 'f32': f32 supports only the reduction 'add', but found 'max'}}
  %0 = mosaic_gpu.multimem_load_reduce max %m : memref<8xf32> -> vector<8xf32>
  return
}

// -----

func.func @reduce_f64(%m: memref<8xf64>) {
  // expected-error @+1 {{cannot reduce 'f64': supported element types are f16, bf16, f32, f8E4M3FN, f8E5M2, i32 and i64}}
  %0 = mosaic_gpu.multimem_load_reduce add %m : memref<8xf64> -> vector<8xf64>
  return
}

// -----

func.func @reduce_shape(%m: memref<8xf16>) {
  // expected-error @+1 {{memref and vector must have the same shape, but found 'memref<8xf16>' and 'vector<4xf16>'}}
  %0 = mosaic_gpu.multimem_load_reduce add %m : memref<8xf16> -> vector<4xf16>
  return
}

// -----

func.func @broadcast_rank_0(%v: vector<f32>) {
  // expected-error @+1 {{operand must have at least one dimension, but found 'vector<f32>'}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<f32>) {broadcast_dimensions = array<i64>} -> vector<8xf32>
  return
}

// -----

func.func @broadcast_scalable(%v: vector<[8]xf32>) {
  // expected-error @+1 {{vectors must not be scalable, but found 'vector<[8]xf32>' and 'vector<[8]xf32>'}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<[8]xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<[8]xf32>
  return
}

// -----

func.func @broadcast_element(%v: vector<8xf32>) {
  // expected-error @+1 {{operand and result must have the same element type, but found 'vector<8xf32>' and 'vector<8x4xf16>'}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<8x4xf16>
  return
}

// -----

func.func @broadcast_smaller(%v: vector<8x4xf32>) {
  // expected-error @+1 {{result must have at least the operand's rank, but found 'vector<8x4xf32>' and 'vector<8xf32>'}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8x4xf32>) {broadcast_dimensions = array<i64: 0, 1>} -> vector<8xf32>
  return
}

// -----

func.func @broadcast_count(%v: vector<8xf32>) {
  // expected-error @+1 {{'broadcast_dimensions' has 2 entries, but the operand has 1 dimension; list the result dimension of each operand dimension}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8xf32>) {broadcast_dimensions = array<i64: 0, 1>} -> vector<8x4xf32>
  return
}

// -----

func.func @broadcast_range(%v: vector<8xf32>) {
  // expected-error @+1 {{'broadcast_dimensions' contains 2, but the result has rank 2 and dimensions are counted from 0}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8xf32>) {broadcast_dimensions = array<i64: 2>} -> vector<8x4xf32>
  return
}

// -----

func.func @broadcast_negative(%v: vector<8xf32>) {
  // expected-error @+1 {{'broadcast_dimensions' contains -1, but the result has rank 2 and dimensions are counted from 0}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8xf32>) {broadcast_dimensions = array<i64: -1>} -> vector<8x4xf32>
  return
}

// -----

func.func @broadcast_order(%v: vector<8x4xf32>) {
  // expected-error @+1 {{'broadcast_dimensions' must be strictly increasing, but found 1 before 0}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8x4xf32>) {broadcast_dimensions = array<i64: 1, 0>} -> vector<4x8xf32>
  return
}

// -----

func.func @broadcast_size(%v: vector<8xf32>) {
  // expected-error @+1 {{dimension 0 must have size 1 or 4, the size of result dimension 1, but found 8}}
  %0 = mosaic_gpu.broadcast_in_dim(%v : vector<8xf32>) {broadcast_dimensions = array<i64: 1>} -> vector<8x4xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @+1 {{requires at least one operand}}
  %0 = "mosaic_gpu.vector_concat"() <{dimension = 0 : i32}> : () -> vector<8xf32>
  return
}

// -----

func.func @concat_dimension(%a: vector<8xf32>) {
  // expected-error @+1 {{'dimension' is 1, but the operands have rank 1 and dimensions are counted from 0}}
  %0 = mosaic_gpu.vector_concat(%a, %a : vector<8xf32>, vector<8xf32>) {dimension = 1 : i32} -> vector<16xf32>
  return
}

// -----

func.func @concat_negative(%a: vector<8xf32>) {
  // expected-error @+1 {{'dimension' is -1, but the operands have rank 1 and dimensions are counted from 0}}
  %0 = mosaic_gpu.vector_concat(%a, %a : vector<8xf32>, vector<8xf32>) {dimension = -1 : i32} -> vector<16xf32>
  return
}

// -----

func.func @concat_element(%a: vector<8xf32>, %b: vector<8xf16>) {
  // expected-error @+1 {{the types of the operands may differ only in the size of dimension 0, but found 'vector<8xf32>' and 'vector<8xf16>'}}
  %0 = mosaic_gpu.vector_concat(%a, %b : vector<8xf32>, vector<8xf16>) {dimension = 0 : i32} -> vector<16xf32>
  return
}

// -----

func.func @concat_rank(%a: vector<8xf32>, %b: vector<8x8xf32>) {
  // expected-error @+1 {{the types of the operands may differ only in the size of dimension 0, but found 'vector<8xf32>' and 'vector<8x8xf32>'}}
  %0 = mosaic_gpu.vector_concat(%a, %b : vector<8xf32>, vector<8x8xf32>) {dimension = 0 : i32} -> vector<16xf32>
  return
}

// -----

func.func @concat_shape(%a: vector<8x8xf32>, %b: vector<8x4xf32>) {
  // expected-error @+1 {{the types of the operands may differ only in the size of dimension 0, but found 'vector<8x8xf32>' and 'vector<8x4xf32>'}}
  %0 = mosaic_gpu.vector_concat(%a, %b : vector<8x8xf32>, vector<8x4xf32>) {dimension = 0 : i32} -> vector<16x8xf32>
  return
}

// -----

func.func @concat_result(%a: vector<8xf32>) {
  // expected-error @+1 {{result must be 'vector<16xf32>', but found 'vector<24xf32>'}}
  %0 = mosaic_gpu.vector_concat(%a, %a : vector<8xf32>, vector<8xf32>) {dimension = 0 : i32} -> vector<24xf32>
  return
}

// -----

func.func @iota_dimension() {
  // expected-error @+1 {{'dimension' is 2, but the result 'vector<8x4xi32>' has rank 2 and dimensions are counted from 0}}
  %0 = mosaic_gpu.broadcasted_iota 2 : vector<8x4xi32>
  return
}

// -----

func.func @iota_negative() {
  // expected-error @+1 {{attribute 'dimension' failed to satisfy constraint}}
  %0 = mosaic_gpu.broadcasted_iota -1 : vector<8x4xi32>
  return
}

// -----

func.func @optimization_none() {
  // expected-error @+1 {{requires at least one operand}}
  "mosaic_gpu.optimization_barrier"() : () -> ()
  return
}

// -----

func.func @optimization_types(%a: f32) {
  // expected-error @+1 {{the types must be equal}}
  %0 = "mosaic_gpu.optimization_barrier"(%a) : (f32) -> i32
  return
}

// -----

func.func @multiple_zero(%a: i32) {
  // expected-error @+1 {{attribute 'multiple' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %0 = mosaic_gpu.assume_multiple %a, 0 : i32
  return
}

// -----

func.func @multiple_float(%a: f32) {
  // expected-error @+1 {{operand #0 must be index or integer, but got 'f32'}}
  %0 = mosaic_gpu.assume_multiple %a, 4 : f32
  return
}

// -----

func.func @multiple_large(%a: i8) {
  // expected-error @+1 {{'multiple' is 256, which exceeds the range of 'i8'}}
  %0 = mosaic_gpu.assume_multiple %a, 256 : i8
  return
}

// -----

func.func @concat_of_scalable(%a: vector<[4]xf32>) {
  // expected-error @below {{'mosaic_gpu.vector_concat' op operands must be vectors of fixed length}}
  %0 = "mosaic_gpu.vector_concat"(%a) <{dimension = 0 : i32}> : (vector<[4]xf32>) -> vector<[4]xf32>
  return
}

// -----

func.func @iota_of_pointers() {
  // expected-error @below {{'mosaic_gpu.broadcasted_iota' op elements of the result must be integers, floats or index, but found '!llvm.ptr'}}
  %0 = mosaic_gpu.broadcasted_iota 0 : vector<4x!llvm.ptr>
  return
}
