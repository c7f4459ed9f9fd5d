module @tensor_core_scaled attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @tensor_core_scaled_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %false = arith.constant false
    %c10000000_i32 = arith.constant 10000000 : i32
    %c1_i32 = arith.constant 1 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c34836_i32 = arith.constant 34836 : i32
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %0 = llvm.mlir.constant(512 : i64) : i64
    %1 = llvm.mlir.constant(16 : i64) : i64
    %2 = llvm.mlir.constant(32 : i64) : i64
    %3 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)>
    %4 = llvm.mlir.constant(1 : i64) : i64
    %5 = llvm.mlir.constant(128 : i64) : i64
    %6 = llvm.mlir.constant(0 : i64) : i64
    %7 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %8 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %9 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %10 = llvm.insertvalue %9, %7[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %9, %10[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %6, %11[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %5, %12[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.insertvalue %5, %13[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %15 = llvm.insertvalue %5, %14[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %16 = llvm.insertvalue %4, %15[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %17 = builtin.unrealized_conversion_cast %16 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<128x128xf8E4M3FN> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %18 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %19 = llvm.load %18 : !llvm.ptr -> !llvm.ptr
    %20 = llvm.insertvalue %19, %7[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %19, %20[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %6, %21[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %5, %22[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %5, %23[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = llvm.insertvalue %5, %24[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %26 = llvm.insertvalue %4, %25[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %27 = builtin.unrealized_conversion_cast %26 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<128x128xf8E4M3FN> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %28 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %29 = llvm.load %28 : !llvm.ptr -> !llvm.ptr
    %30 = llvm.insertvalue %29, %3[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %31 = llvm.insertvalue %29, %30[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %32 = llvm.insertvalue %6, %31[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %33 = llvm.insertvalue %4, %32[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %34 = llvm.insertvalue %4, %33[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %35 = llvm.insertvalue %2, %34[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %36 = llvm.insertvalue %1, %35[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %37 = llvm.insertvalue %0, %36[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %38 = llvm.insertvalue %0, %37[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %39 = llvm.insertvalue %1, %38[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %40 = llvm.insertvalue %4, %39[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %41 = builtin.unrealized_conversion_cast %40 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x1x32x16xf8E8M0FNU> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %42 = llvm.getelementptr %arg1[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
    %44 = llvm.insertvalue %43, %3[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %45 = llvm.insertvalue %43, %44[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %46 = llvm.insertvalue %6, %45[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %47 = llvm.insertvalue %4, %46[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %48 = llvm.insertvalue %4, %47[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %49 = llvm.insertvalue %2, %48[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %50 = llvm.insertvalue %1, %49[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %51 = llvm.insertvalue %0, %50[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %52 = llvm.insertvalue %0, %51[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %53 = llvm.insertvalue %1, %52[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %54 = llvm.insertvalue %4, %53[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %55 = builtin.unrealized_conversion_cast %54 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x1x32x16xf8E8M0FNU> {mosaic_gpu.from_kernel_arg_idx = 3 : i32, mosaic_gpu.original_kernel_arg}
    %56 = llvm.getelementptr %arg1[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %57 = llvm.load %56 : !llvm.ptr -> !llvm.ptr
    %58 = llvm.insertvalue %57, %7[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %59 = llvm.insertvalue %57, %58[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %60 = llvm.insertvalue %6, %59[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %61 = llvm.insertvalue %5, %60[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %62 = llvm.insertvalue %5, %61[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %63 = llvm.insertvalue %5, %62[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %64 = llvm.insertvalue %4, %63[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %65 = builtin.unrealized_conversion_cast %64 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<128x128xf32> {mosaic_gpu.from_kernel_arg_idx = 4 : i32, mosaic_gpu.original_kernel_arg}
    %66 = gpu.launch async [%8] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c128, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c34836_i32 {
      %67 = "mosaic_gpu.slice_smem"() <{offset = 34816 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %68 = builtin.unrealized_conversion_cast %67 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %69 = llvm.extractvalue %68[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %70 = llvm.extractvalue %68[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %71 = llvm.mul %70, %c8_i64 : i64
      %72 = llvm.ptrtoint %69 : !llvm.ptr<3> to i64
      %73 = llvm.add %72, %71 : i64
      %74 = llvm.inttoptr %73 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%74) <{arrival_count = 4 : i64, num_barriers = 1 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %75 = "mosaic_gpu.slice_smem"() <{offset = 34824 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %76 = builtin.unrealized_conversion_cast %75 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %77 = llvm.extractvalue %76[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %78 = llvm.extractvalue %76[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %79 = llvm.mul %78, %c8_i64 : i64
      %80 = llvm.ptrtoint %77 : !llvm.ptr<3> to i64
      %81 = llvm.add %80, %79 : i64
      %82 = llvm.inttoptr %81 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%82) <{arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true}> : (!llvm.ptr<3>) -> ()
      %alloca_0 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_0[] : memref<i32>
      %83 = "mosaic_gpu.slice_smem"() <{offset = 34832 : i32}> : () -> memref<i32, #gpu.address_space<workgroup>>
      nvvm.fence.mbarrier.init
      %84 = mosaic_gpu.tmem_alloc smem_ptr(%83 : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x144xi32, #mosaic_gpu.tmem>
      "mosaic_gpu.tmem_relinquish_alloc_permit"() <{collective = false}> : () -> ()
      gpu.barrier
      %85 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %86 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %87 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %88 = arith.index_cast %thread_id_y : index to i32
      %89 = arith.muli %88, %87 : i32
      %90 = arith.addi %86, %89 : i32
      %block_dim_y = gpu.block_dim y
      %91 = arith.index_cast %block_dim_y : index to i32
      %92 = arith.muli %87, %91 : i32
      %thread_id_z = gpu.thread_id z
      %93 = arith.index_cast %thread_id_z : index to i32
      %94 = arith.muli %93, %92 : i32
      %95 = arith.addi %90, %94 : i32
      %96 = arith.shrui %95, %c5_i32 : i32
      %97 = nvvm.shfl.sync idx %c-1_i32, %96, %c0_i32, %c31_i32 : i32 -> i32
      %98 = nvvm.elect.sync -> i1
      %99 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
      %100 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
      %101 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>
      %102 = "mosaic_gpu.slice_smem"() <{offset = 33792 : i32}> : () -> memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>
      %103 = "mosaic_gpu.slice_tmem"(%84) <{offset = 0 : i32}> : (memref<128x144xi32, #mosaic_gpu.tmem>) -> memref<128x128xf32, #mosaic_gpu.tmem>
      %104 = "mosaic_gpu.tmem_layout_cast"(%103) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>}> : (memref<128x128xf32, #mosaic_gpu.tmem>) -> memref<128x128xf32, #mosaic_gpu.tmem>
      %105 = "mosaic_gpu.slice_tmem"(%84) <{offset = 128 : i32}> : (memref<128x144xi32, #mosaic_gpu.tmem>) -> memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      %106 = "mosaic_gpu.tmem_layout_cast"(%105) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 4], [32, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-2], vector_dim = -3>}> : (memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      %107 = "mosaic_gpu.slice_tmem"(%84) <{offset = 132 : i32}> : (memref<128x144xi32, #mosaic_gpu.tmem>) -> memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      %108 = "mosaic_gpu.tmem_layout_cast"(%107) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 4], [32, 1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [-2], vector_dim = -3>}> : (memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      %109 = builtin.unrealized_conversion_cast %74 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      mosaic_gpu.arrive_expect_tx barrier(%109 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
      "mosaic_gpu.async_load"(%17, %99, %109, %c0_i32, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 128>}> : (memref<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
      mosaic_gpu.arrive_expect_tx barrier(%109 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
      "mosaic_gpu.async_load"(%27, %100, %109, %c0_i32, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 128>}> : (memref<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
      mosaic_gpu.arrive_expect_tx barrier(%109 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 512
      "mosaic_gpu.async_load"(%41, %101, %109, %c0_i32, %c0_i32, %c0_i32, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: 1, 1, 32, 16>}> : (memref<1x1x32x16xf8E8M0FNU>, memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
      mosaic_gpu.arrive_expect_tx barrier(%109 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 512
      "mosaic_gpu.async_load"(%55, %102, %109, %c0_i32, %c0_i32, %c0_i32, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: 1, 1, 32, 16>}> : (memref<1x1x32x16xf8E8M0FNU>, memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
      %110 = memref.load %alloca[] : memref<i32>
      %111 = arith.andi %110, %c1_i32 : i32
      %112 = arith.cmpi ne, %111, %c0_i32 : i32
      %113 = arith.xori %110, %c1_i32 : i32
      memref.store %113, %alloca[] : memref<i32>
      %114 = arith.extui %112 : i1 to i32
      nvvm.mbarrier.try_wait.parity %74, %114, %c10000000_i32 : !llvm.ptr<3>, i32, i32
      "mosaic_gpu.async_store_scales_smem_to_tmem"(%101, %106) <{collective = false}> : (memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> ()
      "mosaic_gpu.async_store_scales_smem_to_tmem"(%102, %108) <{collective = false}> : (memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> ()
      %transpose = memref.transpose %100 (d0, d1) -> (d1, d0) : memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>> to memref<128x128xf8E4M3FN, strided<[1, 128]>, #gpu.address_space<workgroup>>
      "mosaic_gpu.tcgen05_mma"(%104, %99, %transpose, %false, %106, %108) <{collective = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>}> : (memref<128x128xf32, #mosaic_gpu.tmem>, memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>, memref<128x128xf8E4M3FN, strided<[1, 128]>, #gpu.address_space<workgroup>>, i1, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>, memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) -> ()
      %115 = builtin.unrealized_conversion_cast %82 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
      "mosaic_gpu.tcgen05_commit_arrive"(%115) <{collective = false}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
      %116 = memref.load %alloca_0[] : memref<i32>
      %117 = arith.andi %116, %c1_i32 : i32
      %118 = arith.cmpi ne, %117, %c0_i32 : i32
      %119 = arith.xori %116, %c1_i32 : i32
      memref.store %119, %alloca_0[] : memref<i32>
      %120 = arith.extui %118 : i1 to i32
      nvvm.mbarrier.try_wait.parity %82, %120, %c10000000_i32 : !llvm.ptr<3>, i32, i32
      nvvm.tcgen05.fence <after>
      %121 = "mosaic_gpu.async_load_tmem"(%104) : (memref<128x128xf32, #mosaic_gpu.tmem>) -> vector<128x128xf32>
      "mosaic_gpu.vector_store"(%121, %65) <{multimem = false}> : (vector<128x128xf32>, memref<128x128xf32>) -> ()
      gpu.barrier
      mosaic_gpu.tmem_dealloc tmem_ref(%84 : memref<128x144xi32, #mosaic_gpu.tmem>)
      gpu.terminator
    }
    return
  }
}
