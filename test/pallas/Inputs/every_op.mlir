module {
  func.func @every_op(%arg0: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %arg1: memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>, %arg2: memref<500x300xf16>, %arg3: memref<64x128xf16, #gpu.address_space<workgroup>>, %arg4: memref<128xf16, #gpu.address_space<workgroup>>, %arg5: i32, %arg6: i1, %arg7: vector<64xi32>, %arg8: memref<16xi8, #gpu.address_space<workgroup>>, %arg9: vector<64x128xf16>, %arg10: vector<64xf32>, %arg11: vector<64x128xf32>, %arg12: memref<64x64xf16, #gpu.address_space<workgroup>>, %arg13: memref<64x128xf16, #gpu.address_space<workgroup>>, %arg14: vector<64x64xf16>, %arg15: vector<64x128xf16>, %arg16: memref<i32, #gpu.address_space<workgroup>>, %arg17: memref<128x256xi32, #mosaic_gpu.tmem>, %arg18: memref<128x64xf32, #mosaic_gpu.tmem>, %arg19: vector<128x64xf32>, %arg20: memref<128x64xf16, #mosaic_gpu.tmem>, %arg21: memref<128x64xf16, #gpu.address_space<workgroup>>, %arg22: memref<1x2x128x64xi2, #gpu.address_space<workgroup>>, %arg23: memref<128x128xi2, #mosaic_gpu.tmem>, %arg24: memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, %arg25: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>, %arg26: memref<128x128xf32, #mosaic_gpu.tmem>, %arg27: memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>, %arg28: memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>, %arg29: memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>, %arg30: memref<128x64xi2, #mosaic_gpu.tmem>, %arg31: memref<128x256xf32, #mosaic_gpu.tmem>, %arg32: !llvm.ptr<3>, %arg33: memref<64x128xf16>, %arg34: index, %arg35: memref<64x128xf32, #gpu.address_space<workgroup>>) {
    "mosaic_gpu.initialize_barrier"(%arg32) <{arrival_count = 2 : i64, num_barriers = 4 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
    "mosaic_gpu.arrive"(%arg0) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
    "mosaic_gpu.arrive"(%arg1) <{orders_tensor_core = true}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
    mosaic_gpu.arrive_expect_tx barrier(%arg0 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
    mosaic_gpu.wait barrier(%arg0 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%arg6 : i1)
    "mosaic_gpu.try_cluster_cancel"(%arg8, %arg0) : (memref<16xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
    "mosaic_gpu.try_cluster_cancel"(%arg8, %arg0, %arg6) : (memref<16xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i1) -> ()
    %x, %y, %z, %success = "mosaic_gpu.query_cluster_cancel"(%arg8) : (memref<16xi8, #gpu.address_space<workgroup>>) -> (i32, i32, i32, i1)
    "mosaic_gpu.tcgen05_commit_arrive"(%arg1) <{collective = true}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
    "mosaic_gpu.async_load"(%arg2, %arg3, %arg0, %arg5, %arg5) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<500x300xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
    "mosaic_gpu.async_load"(%arg2, %arg4, %arg0, %arg5, %arg5, %arg6) <{collective = [0 : i32, 2 : i32], oob_fill_mode = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 1>, slice_lengths = array<i64: -1, 128>}> : (memref<500x300xf16>, memref<128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i1) -> ()
    "mosaic_gpu.async_load"(%arg2, %arg3, %arg0, %arg7, %arg5) <{collective = [1 : i32], leader_tracked = #mosaic_gpu.copy_replicated, oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<500x300xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, vector<64xi32>, i32) -> ()
    "mosaic_gpu.async_load"(%arg2, %arg3, %arg0, %arg5, %arg5) <{collective = [0 : i32], leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>, oob_fill_mode = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 128>}> : (memref<500x300xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
    "mosaic_gpu.async_prefetch"(%arg2, %arg5, %arg5) <{collective = [], operandSegmentSizes = array<i32: 1, 2, 0>, slice_lengths = array<i64: 64, -1>}> : (memref<500x300xf16>, i32, i32) -> ()
    "mosaic_gpu.async_prefetch"(%arg2, %arg5, %arg5, %arg6) <{collective = [0 : i32], operandSegmentSizes = array<i32: 1, 2, 1>, slice_lengths = array<i64: 64, 64>}> : (memref<500x300xf16>, i32, i32, i1) -> ()
    "mosaic_gpu.async_store"(%arg3, %arg2, %arg5, %arg5) <{is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf16, #gpu.address_space<workgroup>>, memref<500x300xf16>, i32, i32) -> ()
    "mosaic_gpu.async_store"(%arg3, %arg2, %arg7, %arg5, %arg6, %arg5) <{commit_group = false, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 1, 1>, reduction_op = 9 : i32, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf16, #gpu.address_space<workgroup>>, memref<500x300xf16>, vector<64xi32>, i32, i1, i32) -> ()
    "mosaic_gpu.async_store"(%arg3, %arg2, %arg5, %arg5) <{is_global_broadcast = true, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf16, #gpu.address_space<workgroup>>, memref<500x300xf16>, i32, i32) -> ()
    "mosaic_gpu.async_store_smem"(%arg9, %arg3, %arg0, %arg5) <{cluster_dim = 1 : i32}> : (vector<64x128xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> ()
    "mosaic_gpu.async_store_smem"(%arg11, %arg35, %arg0, %arg5) <{atomic_type = 0 : i32, cluster_dim = 0 : i32, optimized = true}> : (vector<64x128xf32>, memref<64x128xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> ()
    %0 = "mosaic_gpu.vector_load"(%arg3) <{optimized = true}> : (memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf16>
    %1 = "mosaic_gpu.vector_load"(%arg33) : (memref<64x128xf16>) -> vector<64x128xf16>
    "mosaic_gpu.vector_store"(%arg9, %arg3) <{multimem = false, optimized = false}> : (vector<64x128xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>) -> ()
    "mosaic_gpu.vector_store"(%arg9, %arg33) <{multimem = true}> : (vector<64x128xf16>, memref<64x128xf16>) -> ()
    "mosaic_gpu.vector_store"(%arg9, %arg33) <{atomic_type = 2 : i32, multimem = false}> : (vector<64x128xf16>, memref<64x128xf16>) -> ()
    %2 = "mosaic_gpu.multimem_load_reduce"(%arg33) <{reduction_type = 2 : i32}> : (memref<64x128xf16>) -> vector<64x128xf16>
    %3 = mosaic_gpu.layout_cast x(%arg11 : vector<64x128xf32>) {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 128], 2>}
    %4 = mosaic_gpu.broadcast_in_dim(%arg10 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
    %5 = "mosaic_gpu.broadcasted_iota"() <{dimension = 1 : i32}> : () -> vector<64x128xi32>
    %6 = "mosaic_gpu.reinterpret_cast"(%arg3) : (memref<64x128xf16, #gpu.address_space<workgroup>>) -> memref<8192xf16, #gpu.address_space<workgroup>>
    %7 = "mosaic_gpu.slice_smem"() <{offset = 1024 : i32}> : () -> memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    %8 = "mosaic_gpu.slice_smem"() <{alias_id = 3 : i32, offset = 2048 : i32}> : () -> memref<64x64xf16, #gpu.address_space<workgroup>>
    %9 = "mosaic_gpu.with_transforms"(%arg12) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<64x64xf16, #gpu.address_space<workgroup>>) -> memref<64x64xf16, #gpu.address_space<workgroup>>
    %10 = "mosaic_gpu.get_cluster_ref"(%arg3, %arg5) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (memref<64x128xf16, #gpu.address_space<workgroup>>, i32) -> memref<64x128xf16, #mosaic_gpu.smem_cluster>
    %11 = mosaic_gpu.assume_multiple %arg5, 64 : i32
    %12 = mosaic_gpu.assume_multiple %arg34, 8 : index
    %13:2 = "mosaic_gpu.optimization_barrier"(%arg11, %arg5) : (vector<64x128xf32>, i32) -> (vector<64x128xf32>, i32)
    %14 = mosaic_gpu.wgmma accumulator(%arg11 : vector<64x128xf32>) a(%arg12 : memref<64x64xf16, #gpu.address_space<workgroup>>) b(%arg13 : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
    %15 = mosaic_gpu.wgmma accumulator(%arg11 : vector<64x128xf32>) a(%arg14 : vector<64x64xf16>) b(%arg13 : memref<64x128xf16, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
    %16 = mosaic_gpu.mma accumulator(%arg11 : vector<64x128xf32>) a(%arg14 : vector<64x64xf16>) b(%arg15 : vector<64x128xf16>) -> vector<64x128xf32>
    "mosaic_gpu.tcgen05_mma"(%arg26, %arg27, %arg28, %arg6) <{collective = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (memref<128x128xf32, #mosaic_gpu.tmem>, memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>, memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>, i1) -> ()
    "mosaic_gpu.tcgen05_mma"(%arg31, %arg27, %arg29, %arg6, %arg30) <{collective = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>}> : (memref<128x256xf32, #mosaic_gpu.tmem>, memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>, memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>, i1, memref<128x64xi2, #mosaic_gpu.tmem>) -> ()
    "mosaic_gpu.tcgen05_mma"(%arg26, %arg27, %arg28, %arg6, %arg25, %arg25) <{collective = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>}> : (memref<128x128xf32, #mosaic_gpu.tmem>, memref<128x64xf8E4M3FN, #gpu.address_space<workgroup>>, memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>, i1, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> ()
    %17 = mosaic_gpu.tmem_alloc smem_ptr(%arg16 : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x256xi32, #mosaic_gpu.tmem>
    %18 = mosaic_gpu.tmem_alloc smem_ptr(%arg16 : memref<i32, #gpu.address_space<workgroup>>) {collective = true, packing = 2 : i32} -> memref<128x64xf16, #mosaic_gpu.tmem>
    "mosaic_gpu.tmem_relinquish_alloc_permit"() <{collective = false}> : () -> ()
    "mosaic_gpu.tmem_relinquish_alloc_permit"() <{collective = true}> : () -> ()
    %19 = "mosaic_gpu.slice_tmem"(%17) <{offset = 128 : i32}> : (memref<128x256xi32, #mosaic_gpu.tmem>) -> memref<128x128xf32, #mosaic_gpu.tmem>
    %20 = "mosaic_gpu.tmem_layout_cast"(%arg18) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>}> : (memref<128x64xf32, #mosaic_gpu.tmem>) -> memref<128x64xf32, #mosaic_gpu.tmem>
    %21 = "mosaic_gpu.async_load_tmem"(%arg18) : (memref<128x64xf32, #mosaic_gpu.tmem>) -> vector<128x64xf32>
    "mosaic_gpu.async_store_tmem"(%arg19, %arg18) : (vector<128x64xf32>, memref<128x64xf32, #mosaic_gpu.tmem>) -> ()
    "mosaic_gpu.async_store_smem_to_tmem"(%arg21, %arg20) <{collective = false}> : (memref<128x64xf16, #gpu.address_space<workgroup>>, memref<128x64xf16, #mosaic_gpu.tmem>) -> ()
    "mosaic_gpu.async_store_sparse_metadata_smem_to_tmem"(%arg22, %arg23) <{collective = true}> : (memref<1x2x128x64xi2, #gpu.address_space<workgroup>>, memref<128x128xi2, #mosaic_gpu.tmem>) -> ()
    "mosaic_gpu.async_store_scales_smem_to_tmem"(%arg24, %arg25) <{collective = false}> : (memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> ()
    mosaic_gpu.tmem_dealloc tmem_ref(%17 : memref<128x256xi32, #mosaic_gpu.tmem>)
    "mosaic_gpu.debug_print"(%arg10) <{format = "x = {}"}> : (vector<64xf32>) -> ()
    "mosaic_gpu.print_layout"(%arg10) <{format = "x: {}"}> : (vector<64xf32>) -> ()
    "mosaic_gpu.print_layout"(%arg18) <{format = "t: {}"}> : (memref<128x64xf32, #mosaic_gpu.tmem>) -> ()
    %22:2 = "mosaic_gpu.custom_primitive"(%arg10, %arg3, %arg0, %arg5) <{in_layouts = [#mosaic_gpu.WGStridedFragLayout<[64], 1>], in_transforms = [[], []], out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64], 1>]}> ({
    ^bb0(%arg36: vector<64xf32>, %arg37: memref<64x128xf16, #gpu.address_space<workgroup>>, %arg38: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %arg39: i32):
      mosaic_gpu.return %arg36, %arg39 : vector<64xf32>, i32
    }) : (vector<64xf32>, memref<64x128xf16, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> (vector<64xf32>, i32)
    "mosaic_gpu.warp_map"(%arg0, %arg5) ({
    ^bb0(%arg36: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %arg37: i32):
      "mosaic_gpu.arrive"(%arg36) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
    }) : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> ()
    return
  }
}

