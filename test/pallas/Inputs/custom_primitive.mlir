module @kernel attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @kernel_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<1.000000e+00> : vector<64x128xf32>
    %c7_i32 = arith.constant 7 : i32
    %c10000000_i32 = arith.constant 10000000 : i32
    %c1_i32 = arith.constant 1 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c65544_i32 = arith.constant 65544 : i32
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %0 = llvm.mlir.constant(1 : i64) : i64
    %1 = llvm.mlir.constant(128 : i64) : i64
    %2 = llvm.mlir.constant(64 : i64) : i64
    %3 = llvm.mlir.constant(0 : i64) : i64
    %4 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %5 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %6 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %7 = llvm.insertvalue %6, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %8 = llvm.insertvalue %6, %7[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %9 = llvm.insertvalue %3, %8[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %10 = llvm.insertvalue %2, %9[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %1, %10[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %1, %11[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %0, %12[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = builtin.unrealized_conversion_cast %13 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<64x128xf32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %15 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %16 = llvm.load %15 : !llvm.ptr -> !llvm.ptr
    %17 = llvm.insertvalue %16, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %18 = llvm.insertvalue %16, %17[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %3, %18[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %2, %19[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %1, %20[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %1, %21[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %0, %22[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = builtin.unrealized_conversion_cast %23 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<64x128xf32> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %25 = gpu.launch async [%5] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c128, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c65544_i32 {
      %26 = "mosaic_gpu.slice_smem"() <{offset = 65536 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %27 = builtin.unrealized_conversion_cast %26 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %28 = llvm.extractvalue %27[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %29 = llvm.extractvalue %27[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %30 = llvm.mul %29, %c8_i64 : i64
      %31 = llvm.ptrtoint %28 : !llvm.ptr<3> to i64
      %32 = llvm.add %31, %30 : i64
      %33 = llvm.inttoptr %32 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%33) <{arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %34 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %35 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %36 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %37 = arith.index_cast %thread_id_y : index to i32
      %38 = arith.muli %37, %36 : i32
      %39 = arith.addi %35, %38 : i32
      %block_dim_y = gpu.block_dim y
      %40 = arith.index_cast %block_dim_y : index to i32
      %41 = arith.muli %36, %40 : i32
      %thread_id_z = gpu.thread_id z
      %42 = arith.index_cast %thread_id_z : index to i32
      %43 = arith.muli %42, %41 : i32
      %44 = arith.addi %39, %43 : i32
      %45 = arith.shrui %44, %c5_i32 : i32
      %46 = nvvm.shfl.sync idx %c-1_i32, %45, %c0_i32, %c31_i32 : i32 -> i32
      %47 = nvvm.elect.sync -> i1
      %48 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<64x128xf32, #gpu.address_space<workgroup>>
      %49 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<64x128xf32, #gpu.address_space<workgroup>>
      %50 = builtin.unrealized_conversion_cast %33 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      mosaic_gpu.arrive_expect_tx barrier(%50 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
      "mosaic_gpu.async_load"(%14, %48, %50, %c0_i32, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf32>, memref<64x128xf32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
      %51 = memref.load %alloca[] : memref<i32>
      %52 = arith.andi %51, %c1_i32 : i32
      %53 = arith.cmpi ne, %52, %c0_i32 : i32
      %54 = arith.xori %51, %c1_i32 : i32
      memref.store %54, %alloca[] : memref<i32>
      %55 = arith.extui %53 : i1 to i32
      nvvm.mbarrier.try_wait.parity %33, %55, %c10000000_i32 : !llvm.ptr<3>, i32, i32
      %56 = "mosaic_gpu.vector_load"(%48) <{optimized = false}> : (memref<64x128xf32, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
      %57 = mosaic_gpu.layout_cast x(%56 : vector<64x128xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
      %58 = "mosaic_gpu.custom_primitive"(%57) <{in_layouts = [#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>], in_transforms = [], out_layouts = [#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>]}> ({
      ^bb0(%arg14: vector<64x128xf32>):
        %64:32 = builtin.unrealized_conversion_cast %arg14 : vector<64x128xf32> to vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32> {layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, registers_shape = [1, 16, 1, 1, 2, 1, 1, 1, 1]}
        %65 = arith.addf %64#0, %64#0 fastmath<contract> : vector<2xf32>
        %66 = arith.addf %64#1, %64#1 fastmath<contract> : vector<2xf32>
        %67 = arith.addf %64#2, %64#2 fastmath<contract> : vector<2xf32>
        %68 = arith.addf %64#3, %64#3 fastmath<contract> : vector<2xf32>
        %69 = arith.addf %64#4, %64#4 fastmath<contract> : vector<2xf32>
        %70 = arith.addf %64#5, %64#5 fastmath<contract> : vector<2xf32>
        %71 = arith.addf %64#6, %64#6 fastmath<contract> : vector<2xf32>
        %72 = arith.addf %64#7, %64#7 fastmath<contract> : vector<2xf32>
        %73 = arith.addf %64#8, %64#8 fastmath<contract> : vector<2xf32>
        %74 = arith.addf %64#9, %64#9 fastmath<contract> : vector<2xf32>
        %75 = arith.addf %64#10, %64#10 fastmath<contract> : vector<2xf32>
        %76 = arith.addf %64#11, %64#11 fastmath<contract> : vector<2xf32>
        %77 = arith.addf %64#12, %64#12 fastmath<contract> : vector<2xf32>
        %78 = arith.addf %64#13, %64#13 fastmath<contract> : vector<2xf32>
        %79 = arith.addf %64#14, %64#14 fastmath<contract> : vector<2xf32>
        %80 = arith.addf %64#15, %64#15 fastmath<contract> : vector<2xf32>
        %81 = arith.addf %64#16, %64#16 fastmath<contract> : vector<2xf32>
        %82 = arith.addf %64#17, %64#17 fastmath<contract> : vector<2xf32>
        %83 = arith.addf %64#18, %64#18 fastmath<contract> : vector<2xf32>
        %84 = arith.addf %64#19, %64#19 fastmath<contract> : vector<2xf32>
        %85 = arith.addf %64#20, %64#20 fastmath<contract> : vector<2xf32>
        %86 = arith.addf %64#21, %64#21 fastmath<contract> : vector<2xf32>
        %87 = arith.addf %64#22, %64#22 fastmath<contract> : vector<2xf32>
        %88 = arith.addf %64#23, %64#23 fastmath<contract> : vector<2xf32>
        %89 = arith.addf %64#24, %64#24 fastmath<contract> : vector<2xf32>
        %90 = arith.addf %64#25, %64#25 fastmath<contract> : vector<2xf32>
        %91 = arith.addf %64#26, %64#26 fastmath<contract> : vector<2xf32>
        %92 = arith.addf %64#27, %64#27 fastmath<contract> : vector<2xf32>
        %93 = arith.addf %64#28, %64#28 fastmath<contract> : vector<2xf32>
        %94 = arith.addf %64#29, %64#29 fastmath<contract> : vector<2xf32>
        %95 = arith.addf %64#30, %64#30 fastmath<contract> : vector<2xf32>
        %96 = arith.addf %64#31, %64#31 fastmath<contract> : vector<2xf32>
        %97 = builtin.unrealized_conversion_cast %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96 : vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32> to vector<64x128xf32> {layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>, registers_shape = [1, 16, 1, 1, 2, 1, 1, 1, 1]}
        mosaic_gpu.return %97 : vector<64x128xf32>
      }) : (vector<64x128xf32>) -> vector<64x128xf32>
      %59 = arith.addf %58, %cst : vector<64x128xf32>
      "mosaic_gpu.vector_store"(%59, %49) <{multimem = false}> : (vector<64x128xf32>, memref<64x128xf32, #gpu.address_space<workgroup>>) -> ()
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      %60 = arith.shrui %44, %c7_i32 : i32
      %61 = arith.addi %60, %c1_i32 : i32
      %62 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %61 : (i32) -> !llvm.void
      "mosaic_gpu.async_store"(%49, %24, %c0_i32, %c0_i32) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf32, #gpu.address_space<workgroup>>, memref<64x128xf32>, i32, i32) -> ()
      nvvm.cp.async.bulk.wait_group 0
      %63 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %61 : (i32) -> !llvm.void
      gpu.terminator
    }
    return
  }
}
