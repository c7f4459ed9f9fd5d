// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @alloc_slot(%p: memref<i32>) {
  // expected-error @+1 {{smem_ptr must be in the address space workgroup, but found 'memref<i32>'}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32>) -> memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_slot_rank(%p: memref<1xi32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand #0 must be 0D memref of 32-bit signless integer values, but got 'memref<1xi32, #gpu.address_space<workgroup>>'}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<1xi32, #gpu.address_space<workgroup>>) -> memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_space(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{result must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x64xf32>
  return
}

// -----

func.func @alloc_static(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{result must have a static shape, but found 'memref<128x?xf32, #mosaic_gpu.tmem>'}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x?xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_rank(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{result #0 must be 2D memref of any type values, but got 'memref<128xf32, #mosaic_gpu.tmem>'}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_packing(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'packing' (elements of 'f16' per 32-bit column) is 4; it must be 1 or 2}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) {packing = 4 : i32} -> memref<128x64xf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_packing_zero(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{attribute 'packing' failed to satisfy constraint}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) {packing = 0 : i32} -> memref<128x64xf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_columns(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the number of columns of the result is 63; it must be a multiple of 'packing', 2}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) {packing = 2 : i32} -> memref<128x63xf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @alloc_many(%p: memref<i32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{result needs 1024 columns of 32 bits; tensor memory has 512; use a result with fewer columns}}
  %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x1024xf16, #mosaic_gpu.tmem>
  return
}

// -----

module attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @alloc_for_target(%p: memref<i32, #gpu.address_space<workgroup>>) {
    // expected-error @+1 {{sm_90a does not have tensor memory; compile for sm_100a}}
    %0 = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x64xf32, #mosaic_gpu.tmem>
    return
  }
}

// -----

func.func @dealloc_space(%m: memref<128x64xf32>) {
  // expected-error @+1 {{memory must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  mosaic_gpu.tmem_dealloc tmem_ref(%m : memref<128x64xf32>)
  return
}

// -----

func.func @slice_source(%m: memref<128x64xf32>) {
  // expected-error @+1 {{source must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  %0 = mosaic_gpu.slice_tmem %m 0 : memref<128x64xf32> to memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @slice_result(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{result must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  %0 = mosaic_gpu.slice_tmem %m 0 : memref<128x64xf32, #mosaic_gpu.tmem> to memref<128x64xf32>
  return
}

// -----

func.func @slice_offset(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{the offset in columns must be a multiple of 4, but is 6}}
  %0 = mosaic_gpu.slice_tmem %m 6 : memref<128x64xf32, #mosaic_gpu.tmem> to memref<128x32xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @slice_negative(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint}}
  %0 = mosaic_gpu.slice_tmem %m -4 : memref<128x64xf32, #mosaic_gpu.tmem> to memref<128x32xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @cast_space(%m: memref<128x64xf32>) {
  // expected-error @+1 {{memory must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<128x64xf32>
      to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  return
}

// -----

func.func @cast_kind(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{invalid kind of attribute specified}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<128x64xf32, #mosaic_gpu.tmem> to #mosaic_gpu.WGSplatFragLayout<[128, 64]>
  return
}

// -----

func.func @cast_rows(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'new_layout' is not valid for 'memref<128x64xf32, #mosaic_gpu.tmem>': the layout has 64 lanes in all warps together; it must have 128, one for each row of tensor memory}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<128x64xf32, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[64, 1], [16, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  return
}

// -----

func.func @cast_vector(%m: memref<128x64xf16, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'new_layout' is not valid for 'memref<128x64xf16, #mosaic_gpu.tmem>': the layout has vectors of 4 elements of 16 bits; for tensor memory, a vector must have 1 element or 32 bits}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<128x64xf16, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[128, 4], [32, 4]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  return
}

// -----

func.func @cast_shape(%m: memref<64x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'new_layout' is not valid for 'memref<64x64xf32, #mosaic_gpu.tmem>': shape [64, 64] must be a multiple of the first tile of the layout, [128, 1], but 64 is not a multiple of 128}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<64x64xf32, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  return
}

// -----

func.func @cast_static(%m: memref<128x?xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'new_layout' is not valid for 'memref<128x?xf32, #mosaic_gpu.tmem>': a memref in tensor memory must have two static dimensions}}
  %0 = mosaic_gpu.tmem_layout_cast %m : memref<128x?xf32, #mosaic_gpu.tmem>
      to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
  return
}

// -----

func.func @load_space(%m: memref<128x64xf32>) {
  // expected-error @+1 {{source must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  %0 = mosaic_gpu.async_load_tmem %m : memref<128x64xf32> -> vector<128x64xf32>
  return
}

// -----

func.func @load_static(%m: memref<128x?xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{the memref must have a static shape, but is 'memref<128x?xf32, #mosaic_gpu.tmem>'}}
  %0 = mosaic_gpu.async_load_tmem %m : memref<128x?xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}

// -----

func.func @load_result(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{results must be 'vector<128x64xf32>', but found 'vector<64x128xf32>'}}
  %0 = mosaic_gpu.async_load_tmem %m : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<64x128xf32>
  return
}

// -----

func.func @load_none(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{results must be 'vector<128x64xf32>', but found none}}
  "mosaic_gpu.async_load_tmem"(%m) : (memref<128x64xf32, #mosaic_gpu.tmem>) -> ()
  return
}

// -----

func.func @load_reduced(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{results must be 'vector<128x64xf32>', 'vector<128xf32>', but found 'vector<128x64xf32>'}}
  %0 = mosaic_gpu.async_load_tmem %m reduce min : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return
}

// -----

func.func @load_reduced_element(%m: memref<128x64xf16, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{'reduce' requires f32 or i32, but found 'f16'}}
  %0:2 = mosaic_gpu.async_load_tmem %m reduce min : memref<128x64xf16, #mosaic_gpu.tmem> -> vector<128x64xf16>, vector<128xf16>
  return
}

// -----

func.func @load_reduction(%m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{Invalid attribute `reduce` in property conversion: 4 : i32}}
  %0:2 = "mosaic_gpu.async_load_tmem"(%m) <{reduce = 4 : i32}> : (memref<128x64xf32, #mosaic_gpu.tmem>) -> (vector<128x64xf32>, vector<128xf32>)
  return
}

// -----

func.func @store_space(%v: vector<128x64xf32>, %m: memref<128x64xf32>) {
  // expected-error @+1 {{destination must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf32>'}}
  mosaic_gpu.async_store_tmem %v, %m : vector<128x64xf32>, memref<128x64xf32>
  return
}

// -----

func.func @store_element(%v: vector<128x64xf16>, %m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f16' and 'f32'}}
  mosaic_gpu.async_store_tmem %v, %m : vector<128x64xf16>, memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @store_shape(%v: vector<128x32xf32>, %m: memref<128x64xf32, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source and destination must have the same shape, but found 'vector<128x32xf32>' and 'memref<128x64xf32, #mosaic_gpu.tmem>'}}
  mosaic_gpu.async_store_tmem %v, %m : vector<128x32xf32>, memref<128x64xf32, #mosaic_gpu.tmem>
  return
}

// -----

func.func @copy_source(%s: memref<128x64xf16>, %d: memref<128x64xf16, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source must be in the address space workgroup, but found 'memref<128x64xf16>'}}
  mosaic_gpu.async_store_smem_to_tmem %s to %d : memref<128x64xf16> to memref<128x64xf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @copy_destination(%s: memref<128x64xf16, #gpu.address_space<workgroup>>, %d: memref<128x64xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{destination must be in tensor memory (#mosaic_gpu.tmem), but found 'memref<128x64xf16, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_smem_to_tmem %s to %d : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_element(%s: memref<128x64xf16, #gpu.address_space<workgroup>>, %d: memref<128x64xbf16, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f16' and 'bf16'}}
  mosaic_gpu.async_store_smem_to_tmem %s to %d : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @copy_shape(%s: memref<128x32xf16, #gpu.address_space<workgroup>>, %d: memref<128x64xf16, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source and destination must have the same shape, but found 'memref<128x32xf16, #gpu.address_space<workgroup>>' and 'memref<128x64xf16, #mosaic_gpu.tmem>'}}
  mosaic_gpu.async_store_smem_to_tmem %s to %d : memref<128x32xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, #mosaic_gpu.tmem>
  return
}

// -----

func.func @metadata_tiles(%s: memref<1x1x128x64xi2, #gpu.address_space<workgroup>>, %d: memref<64x64xi2, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{the rows of the destination must be a multiple of 128 and its columns a multiple of 64, but it is 'memref<64x64xi2, #mosaic_gpu.tmem>'}}
  mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s to %d : memref<1x1x128x64xi2, #gpu.address_space<workgroup>> to memref<64x64xi2, #mosaic_gpu.tmem>
  return
}

// -----

func.func @metadata_shape(%s: memref<1x1x128x64xi2, #gpu.address_space<workgroup>>, %d: memref<128x128xi2, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{for the destination 'memref<128x128xi2, #mosaic_gpu.tmem>', the source must have the shape [1, 2, 128, 64], but is 'memref<1x1x128x64xi2, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s to %d : memref<1x1x128x64xi2, #gpu.address_space<workgroup>> to memref<128x128xi2, #mosaic_gpu.tmem>
  return
}

// -----

func.func @metadata_element(%s: memref<1x1x128x64xi4, #gpu.address_space<workgroup>>, %d: memref<128x64xi4, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{operand #0 must be 4D memref of 2-bit signless integer values}}
  mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s to %d : memref<1x1x128x64xi4, #gpu.address_space<workgroup>> to memref<128x64xi4, #mosaic_gpu.tmem>
  return
}

// -----

func.func @metadata_space(%s: memref<1x1x128x64xi2>, %d: memref<128x64xi2, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source must be in the address space workgroup, but found 'memref<1x1x128x64xi2>'}}
  mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s to %d : memref<1x1x128x64xi2> to memref<128x64xi2, #mosaic_gpu.tmem>
  return
}

// -----

func.func @scales_tiles(%s: memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, %d: memref<128x6xf8E8M0FNU, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{the rows of the destination must be a multiple of 128 and its columns a multiple of 4, but it is 'memref<128x6xf8E8M0FNU, #mosaic_gpu.tmem>'}}
  mosaic_gpu.async_store_scales_smem_to_tmem %s to %d : memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>> to memref<128x6xf8E8M0FNU, #mosaic_gpu.tmem>
  return
}

// -----

func.func @scales_shape(%s: memref<2x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, %d: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{for the destination 'memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>', the source must have the shape [1, 1, 32, 16] or [1, 1, 64, 16], but is 'memref<2x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.async_store_scales_smem_to_tmem %s to %d : memref<2x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>> to memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
  return
}

// -----

func.func @scales_mix(%s: memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, %d: memref<128x4xf8E4M3FN, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{source and destination must have the same element type, but found 'f8E8M0FNU' and 'f8E4M3FN'}}
  mosaic_gpu.async_store_scales_smem_to_tmem %s to %d : memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>> to memref<128x4xf8E4M3FN, #mosaic_gpu.tmem>
  return
}

// -----

func.func @scales_static(%s: memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, %d: memref<?x4xf8E8M0FNU, #mosaic_gpu.tmem>) {
  // expected-error @+1 {{destination must have a static shape, but found 'memref<?x4xf8E8M0FNU, #mosaic_gpu.tmem>'}}
  mosaic_gpu.async_store_scales_smem_to_tmem %s to %d : memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>> to memref<?x4xf8E8M0FNU, #mosaic_gpu.tmem>
  return
}
