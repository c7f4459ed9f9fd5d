module @entry attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @entry_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0xFF800000> : vector<64x128xf32>
    %cst_0 = arith.constant dense<1.44269502> : vector<64x128xf32>
    %cst_1 = arith.constant dense<1.44269502> : vector<64xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : vector<64x128xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : vector<64x64xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : vector<64xf32>
    %cst_5 = arith.constant dense<0xFF800000> : vector<64xf32>
    %c191_i32 = arith.constant 191 : i32
    %c127_i32 = arith.constant 127 : i32
    %c10000000_i32 = arith.constant 10000000 : i32
    %c64_i32 = arith.constant 64 : i32
    %c2_i32 = arith.constant 2 : i32
    %c128_i32 = arith.constant 128 : i32
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c84056_i32 = arith.constant 84056 : i32
    %c384 = arith.constant 384 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = llvm.mlir.constant(128 : i64) : i64
    %1 = llvm.mlir.constant(32768 : i64) : i64
    %2 = llvm.mlir.constant(64 : i64) : i64
    %3 = llvm.mlir.constant(2 : i64) : i64
    %4 = llvm.mlir.constant(256 : i64) : i64
    %5 = llvm.mlir.constant(1 : i64) : i64
    %6 = llvm.mlir.constant(0 : i64) : i64
    %7 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)>
    %8 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %9 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %10 = llvm.insertvalue %9, %7[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %11 = llvm.insertvalue %9, %10[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %12 = llvm.insertvalue %6, %11[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %13 = llvm.insertvalue %5, %12[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %14 = llvm.insertvalue %4, %13[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %15 = llvm.insertvalue %3, %14[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %16 = llvm.insertvalue %2, %15[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %17 = llvm.insertvalue %1, %16[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %18 = llvm.insertvalue %0, %17[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %19 = llvm.insertvalue %2, %18[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %20 = llvm.insertvalue %5, %19[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %21 = builtin.unrealized_conversion_cast %20 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %22 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %23 = llvm.load %22 : !llvm.ptr -> !llvm.ptr
    %24 = llvm.insertvalue %23, %7[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %25 = llvm.insertvalue %23, %24[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %26 = llvm.insertvalue %6, %25[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %27 = llvm.insertvalue %5, %26[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %28 = llvm.insertvalue %4, %27[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %29 = llvm.insertvalue %3, %28[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %30 = llvm.insertvalue %2, %29[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %31 = llvm.insertvalue %1, %30[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %32 = llvm.insertvalue %0, %31[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %33 = llvm.insertvalue %2, %32[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %34 = llvm.insertvalue %5, %33[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %35 = builtin.unrealized_conversion_cast %34 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %36 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %37 = llvm.load %36 : !llvm.ptr -> !llvm.ptr
    %38 = llvm.insertvalue %37, %7[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %39 = llvm.insertvalue %37, %38[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %40 = llvm.insertvalue %6, %39[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %41 = llvm.insertvalue %5, %40[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %42 = llvm.insertvalue %4, %41[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %43 = llvm.insertvalue %3, %42[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %44 = llvm.insertvalue %2, %43[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %45 = llvm.insertvalue %1, %44[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %46 = llvm.insertvalue %0, %45[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %47 = llvm.insertvalue %2, %46[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %48 = llvm.insertvalue %5, %47[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %49 = builtin.unrealized_conversion_cast %48 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %50 = llvm.getelementptr %arg1[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %51 = llvm.load %50 : !llvm.ptr -> !llvm.ptr
    %52 = llvm.insertvalue %51, %7[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %53 = llvm.insertvalue %51, %52[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %54 = llvm.insertvalue %6, %53[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %55 = llvm.insertvalue %5, %54[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %56 = llvm.insertvalue %4, %55[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %57 = llvm.insertvalue %3, %56[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %58 = llvm.insertvalue %2, %57[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %59 = llvm.insertvalue %1, %58[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %60 = llvm.insertvalue %0, %59[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %61 = llvm.insertvalue %2, %60[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %62 = llvm.insertvalue %5, %61[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %63 = builtin.unrealized_conversion_cast %62 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 3 : i32, mosaic_gpu.original_kernel_arg}
    %64 = gpu.launch async [%8] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c2, %arg10 = %c2) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c84056_i32 {
      %65 = "mosaic_gpu.slice_smem"() <{offset = 83968 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %66 = builtin.unrealized_conversion_cast %65 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %67 = llvm.extractvalue %66[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %68 = llvm.extractvalue %66[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %69 = llvm.mul %68, %c8_i64 : i64
      %70 = llvm.ptrtoint %67 : !llvm.ptr<3> to i64
      %71 = llvm.add %70, %69 : i64
      %72 = llvm.inttoptr %71 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%72) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %73 = "mosaic_gpu.slice_smem"() <{offset = 83984 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %74 = builtin.unrealized_conversion_cast %73 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %75 = llvm.extractvalue %74[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %76 = llvm.extractvalue %74[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %77 = llvm.mul %76, %c8_i64 : i64
      %78 = llvm.ptrtoint %75 : !llvm.ptr<3> to i64
      %79 = llvm.add %78, %77 : i64
      %80 = llvm.inttoptr %79 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%80) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_6 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_6[] : memref<i32>
      %81 = "mosaic_gpu.slice_smem"() <{offset = 84000 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %82 = builtin.unrealized_conversion_cast %81 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %83 = llvm.extractvalue %82[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %84 = llvm.extractvalue %82[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %85 = llvm.mul %84, %c8_i64 : i64
      %86 = llvm.ptrtoint %83 : !llvm.ptr<3> to i64
      %87 = llvm.add %86, %85 : i64
      %88 = llvm.inttoptr %87 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%88) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_7 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_7[] : memref<i32>
      %89 = "mosaic_gpu.slice_smem"() <{offset = 84016 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %90 = builtin.unrealized_conversion_cast %89 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %91 = llvm.extractvalue %90[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %92 = llvm.extractvalue %90[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %93 = llvm.mul %92, %c8_i64 : i64
      %94 = llvm.ptrtoint %91 : !llvm.ptr<3> to i64
      %95 = llvm.add %94, %93 : i64
      %96 = llvm.inttoptr %95 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%96) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_8 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_8[] : memref<i32>
      %97 = "mosaic_gpu.slice_smem"() <{offset = 84032 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %98 = builtin.unrealized_conversion_cast %97 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %99 = llvm.extractvalue %98[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %100 = llvm.extractvalue %98[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %101 = llvm.mul %100, %c8_i64 : i64
      %102 = llvm.ptrtoint %99 : !llvm.ptr<3> to i64
      %103 = llvm.add %102, %101 : i64
      %104 = llvm.inttoptr %103 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%104) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_9 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_9[] : memref<i32>
      %105 = "mosaic_gpu.slice_smem"() <{offset = 84048 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %106 = builtin.unrealized_conversion_cast %105 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %107 = llvm.extractvalue %106[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %108 = llvm.extractvalue %106[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %109 = llvm.mul %108, %c8_i64 : i64
      %110 = llvm.ptrtoint %107 : !llvm.ptr<3> to i64
      %111 = llvm.add %110, %109 : i64
      %112 = llvm.inttoptr %111 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%112) <{arrival_count = 2 : i64, num_barriers = 1 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_10 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_10[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %113 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %114 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %115 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %116 = arith.index_cast %thread_id_y : index to i32
      %117 = arith.muli %116, %115 : i32
      %118 = arith.addi %114, %117 : i32
      %block_dim_y = gpu.block_dim y
      %119 = arith.index_cast %block_dim_y : index to i32
      %120 = arith.muli %115, %119 : i32
      %thread_id_z = gpu.thread_id z
      %121 = arith.index_cast %thread_id_z : index to i32
      %122 = arith.muli %121, %120 : i32
      %123 = arith.addi %118, %122 : i32
      %124 = arith.shrui %123, %c5_i32 : i32
      %125 = nvvm.shfl.sync idx %c-1_i32, %124, %c0_i32, %c31_i32 : i32 -> i32
      %126 = nvvm.elect.sync -> i1
      gpu.barrier
      %block_id_x = gpu.block_id x
      %127 = arith.index_cast %block_id_x : index to i32
      %block_id_z = gpu.block_id z
      %128 = arith.index_cast %block_id_z : index to i32
      %129 = arith.shrui %123, %c7_i32 : i32
      %130 = nvvm.shfl.sync idx %c-1_i32, %129, %c0_i32, %c31_i32 : i32 -> i32
      %block_id_y = gpu.block_id y
      %131 = arith.index_cast %block_id_y : index to i32
      %132 = arith.addi %131, %c1_i32 : i32
      %133 = arith.muli %132, %c128_i32 : i32
      %134 = arith.addi %133, %c127_i32 : i32
      %135 = arith.divsi %134, %c128_i32 : i32
      %136 = arith.cmpi slt, %130, %c2_i32 : i32
      %137 = arith.extui %136 : i1 to i32
      %138 = arith.index_cast %137 : i32 to index
      scf.index_switch %138 
      case 0 {
        scf.yield
      }
      default {
        nvvm.setmaxregister increase 232
        %142 = arith.muli %131, %c128_i32 : i32
        %143 = arith.muli %130, %c64_i32 : i32
        %144 = arith.addi %142, %143 : i32
        %145 = arith.addi %144, %c191_i32 : i32
        %146 = arith.divsi %145, %c128_i32 : i32
        %147 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %148 = "mosaic_gpu.with_transforms"(%147) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %149 = arith.index_cast %130 : i32 to index
        %subview = memref.subview %148[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %150 = arith.index_castui %149 : index to i32
        %151 = llvm.getelementptr %72[%150] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %152 = builtin.unrealized_conversion_cast %151 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%152 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%21, %subview, %152, %127, %144, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %153 = memref.load %alloca[] : memref<i32>
        %154 = arith.shli %c1_i32, %150 : i32
        %155 = arith.andi %153, %154 : i32
        %156 = arith.cmpi ne, %155, %c0_i32 : i32
        %157 = arith.xori %153, %154 : i32
        memref.store %157, %alloca[] : memref<i32>
        %158 = arith.extui %156 : i1 to i32
        nvvm.mbarrier.try_wait.parity %151, %158, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %159 = mosaic_gpu.layout_cast x(%cst_5 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %160 = mosaic_gpu.layout_cast x(%cst_4 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %161 = mosaic_gpu.layout_cast x(%cst_3 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
        %162 = arith.cmpi sgt, %146, %c0_i32 : i32
        %163 = arith.extui %162 : i1 to i32
        %164 = arith.index_cast %163 : i32 to index
        scf.index_switch %164 
        case 0 {
          scf.yield
        }
        default {
          %184 = memref.load %alloca_7[] : memref<i32>
          %185 = arith.andi %184, %c1_i32 : i32
          %186 = arith.cmpi ne, %185, %c0_i32 : i32
          %187 = arith.xori %184, %c1_i32 : i32
          memref.store %187, %alloca_7[] : memref<i32>
          %188 = arith.extui %186 : i1 to i32
          nvvm.mbarrier.try_wait.parity %88, %188, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %165 = arith.cmpi eq, %130, %c1_i32 : i32
        %166 = arith.extui %165 : i1 to i32
        %167 = arith.index_cast %166 : i32 to index
        scf.index_switch %167 
        case 0 {
          scf.yield
        }
        default {
          %184 = builtin.unrealized_conversion_cast %112 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%184) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %185 = memref.load %alloca_10[] : memref<i32>
          %186 = arith.andi %185, %c1_i32 : i32
          %187 = arith.cmpi ne, %186, %c0_i32 : i32
          %188 = arith.xori %185, %c1_i32 : i32
          memref.store %188, %alloca_10[] : memref<i32>
          %189 = arith.extui %187 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %189, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %168 = arith.divsi %144, %c128_i32 : i32
        %169:3 = scf.for %arg14 = %c0_i32 to %168 step %c1_i32 iter_args(%arg15 = %161, %arg16 = %159, %arg17 = %160) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>)  : i32 {
          %184 = arith.remsi %arg14, %c2_i32 : i32
          %185 = "mosaic_gpu.optimization_barrier"(%cst_2) : (vector<64x128xf32>) -> vector<64x128xf32>
          nvvm.wgmma.fence.aligned
          %186 = "mosaic_gpu.with_transforms"(%147) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %186[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %187 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %188 = "mosaic_gpu.with_transforms"(%187) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %189 = arith.index_cast %184 : i32 to index
          %subview_14 = memref.subview %188[%189, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_14 (d0, d1) -> (d1, d0) : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %190 = mosaic_gpu.wgmma accumulator(%185 : vector<64x128xf32>) a(%subview_13 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %191 = builtin.unrealized_conversion_cast %112 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%191) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %192 = memref.load %alloca_10[] : memref<i32>
          %193 = arith.andi %192, %c1_i32 : i32
          %194 = arith.cmpi ne, %193, %c0_i32 : i32
          %195 = arith.xori %192, %c1_i32 : i32
          memref.store %195, %alloca_10[] : memref<i32>
          %196 = arith.extui %194 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %196, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.wgmma.wait.group.sync.aligned 0
          %197 = arith.index_castui %189 : index to i32
          %198 = llvm.getelementptr %104[%197] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %199 = builtin.unrealized_conversion_cast %198 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%199) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %200 = vector.multi_reduction <maximumf>, %190, %cst_5 {offset = 81920 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %201 = arith.mulf %200, %cst_1 : vector<64xf32>
          %202 = arith.maximumf %arg16, %201 : vector<64xf32>
          %203 = arith.subf %arg16, %202 : vector<64xf32>
          %204 = math.exp2 %203 fastmath<afn> : vector<64xf32>
          %205 = arith.mulf %190, %cst_0 : vector<64x128xf32>
          %206 = mosaic_gpu.broadcast_in_dim(%202 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
          %207 = arith.subf %205, %206 : vector<64x128xf32>
          %208 = math.exp2 %207 fastmath<afn> : vector<64x128xf32>
          %209 = mosaic_gpu.broadcast_in_dim(%204 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %210 = arith.mulf %arg15, %209 : vector<64x64xf32>
          %211 = arith.mulf %arg17, %204 : vector<64xf32>
          %212 = arith.truncf %208 : vector<64x128xf32> to vector<64x128xf16>
          %213 = vector.multi_reduction <add>, %208, %cst_4 {offset = 81920 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %214 = arith.addf %211, %213 : vector<64xf32>
          %215:4 = "mosaic_gpu.optimization_barrier"(%210, %214, %202, %212) : (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xf16>) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xf16>)
          "mosaic_gpu.arrive"(%191) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %216 = memref.load %alloca_6[] : memref<i32>
          %217 = arith.shli %c1_i32, %197 : i32
          %218 = arith.andi %216, %217 : i32
          %219 = arith.cmpi ne, %218, %c0_i32 : i32
          %220 = arith.xori %216, %217 : i32
          memref.store %220, %alloca_6[] : memref<i32>
          %221 = arith.extui %219 : i1 to i32
          %222 = llvm.getelementptr %80[%197] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %222, %221, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %223 = memref.load %alloca_10[] : memref<i32>
          %224 = arith.andi %223, %c1_i32 : i32
          %225 = arith.cmpi ne, %224, %c0_i32 : i32
          %226 = arith.xori %223, %c1_i32 : i32
          memref.store %226, %alloca_10[] : memref<i32>
          %227 = arith.extui %225 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %227, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %228 = "mosaic_gpu.optimization_barrier"(%215#0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %229 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %230 = "mosaic_gpu.with_transforms"(%229) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_15 = memref.subview %230[%189, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %231 = mosaic_gpu.wgmma accumulator(%228 : vector<64x64xf32>) a(%215#3 : vector<64x128xf16>) b(%subview_15 : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %232 = arith.addi %arg14, %c1_i32 : i32
          %233 = arith.remsi %232, %c2_i32 : i32
          %234 = arith.cmpi slt, %232, %146 : i32
          %235 = arith.extui %234 : i1 to i32
          %236 = arith.index_cast %235 : i32 to index
          scf.index_switch %236 
          case 0 {
            scf.yield
          }
          default {
            %239 = arith.index_cast %233 : i32 to index
            %240 = arith.index_castui %239 : index to i32
            %241 = memref.load %alloca_7[] : memref<i32>
            %242 = arith.shli %c1_i32, %240 : i32
            %243 = arith.andi %241, %242 : i32
            %244 = arith.cmpi ne, %243, %c0_i32 : i32
            %245 = arith.xori %241, %242 : i32
            memref.store %245, %alloca_7[] : memref<i32>
            %246 = arith.extui %244 : i1 to i32
            %247 = llvm.getelementptr %88[%240] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %247, %246, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          }
          nvvm.wgmma.wait.group.sync.aligned 0
          %237 = llvm.getelementptr %96[%197] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %238 = builtin.unrealized_conversion_cast %237 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%238) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          scf.yield %231, %215#2, %215#1 : vector<64x64xf32>, vector<64xf32>, vector<64xf32>
        }
        %170 = arith.subi %146, %168 : i32
        %171:3 = scf.for %arg14 = %c0_i32 to %170 step %c1_i32 iter_args(%arg15 = %169#0, %arg16 = %169#1, %arg17 = %169#2) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>)  : i32 {
          %184 = arith.addi %arg14, %168 : i32
          %185 = arith.remsi %184, %c2_i32 : i32
          %186 = "mosaic_gpu.optimization_barrier"(%cst_2) : (vector<64x128xf32>) -> vector<64x128xf32>
          nvvm.wgmma.fence.aligned
          %187 = "mosaic_gpu.with_transforms"(%147) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %187[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %188 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %189 = "mosaic_gpu.with_transforms"(%188) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %190 = arith.index_cast %185 : i32 to index
          %subview_14 = memref.subview %189[%190, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_14 (d0, d1) -> (d1, d0) : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %191 = mosaic_gpu.wgmma accumulator(%186 : vector<64x128xf32>) a(%subview_13 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %192 = builtin.unrealized_conversion_cast %112 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%192) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %193 = memref.load %alloca_10[] : memref<i32>
          %194 = arith.andi %193, %c1_i32 : i32
          %195 = arith.cmpi ne, %194, %c0_i32 : i32
          %196 = arith.xori %193, %c1_i32 : i32
          memref.store %196, %alloca_10[] : memref<i32>
          %197 = arith.extui %195 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %197, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.wgmma.wait.group.sync.aligned 0
          %198 = arith.index_castui %190 : index to i32
          %199 = llvm.getelementptr %104[%198] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %200 = builtin.unrealized_conversion_cast %199 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%200) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %201 = "mosaic_gpu.broadcasted_iota"() <{dimension = 0 : i32}> : () -> vector<64x128xi32>
          %202 = mosaic_gpu.layout_cast x(%201 : vector<64x128xi32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
          %203 = "mosaic_gpu.broadcasted_iota"() <{dimension = 1 : i32}> : () -> vector<64x128xi32>
          %204 = mosaic_gpu.layout_cast x(%203 : vector<64x128xi32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
          %205 = vector.broadcast %144 : i32 to vector<64x128xi32>
          %206 = arith.addi %202, %205 : vector<64x128xi32>
          %207 = arith.muli %184, %c128_i32 : i32
          %208 = vector.broadcast %207 : i32 to vector<64x128xi32>
          %209 = arith.addi %204, %208 : vector<64x128xi32>
          %210 = arith.cmpi sge, %206, %209 : vector<64x128xi32>
          %211 = arith.select %210, %191, %cst : vector<64x128xi1>, vector<64x128xf32>
          %212 = vector.multi_reduction <maximumf>, %211, %cst_5 {offset = 81920 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %213 = arith.mulf %212, %cst_1 : vector<64xf32>
          %214 = arith.maximumf %arg16, %213 : vector<64xf32>
          %215 = arith.subf %arg16, %214 : vector<64xf32>
          %216 = math.exp2 %215 fastmath<afn> : vector<64xf32>
          %217 = arith.mulf %211, %cst_0 : vector<64x128xf32>
          %218 = mosaic_gpu.broadcast_in_dim(%214 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
          %219 = arith.subf %217, %218 : vector<64x128xf32>
          %220 = math.exp2 %219 fastmath<afn> : vector<64x128xf32>
          %221 = mosaic_gpu.broadcast_in_dim(%216 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %222 = arith.mulf %arg15, %221 : vector<64x64xf32>
          %223 = arith.mulf %arg17, %216 : vector<64xf32>
          %224 = arith.truncf %220 : vector<64x128xf32> to vector<64x128xf16>
          %225 = vector.multi_reduction <add>, %220, %cst_4 {offset = 81920 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %226 = arith.addf %223, %225 : vector<64xf32>
          %227:4 = "mosaic_gpu.optimization_barrier"(%222, %226, %214, %224) : (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xf16>) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xf16>)
          "mosaic_gpu.arrive"(%192) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %228 = memref.load %alloca_6[] : memref<i32>
          %229 = arith.shli %c1_i32, %198 : i32
          %230 = arith.andi %228, %229 : i32
          %231 = arith.cmpi ne, %230, %c0_i32 : i32
          %232 = arith.xori %228, %229 : i32
          memref.store %232, %alloca_6[] : memref<i32>
          %233 = arith.extui %231 : i1 to i32
          %234 = llvm.getelementptr %80[%198] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %234, %233, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %235 = memref.load %alloca_10[] : memref<i32>
          %236 = arith.andi %235, %c1_i32 : i32
          %237 = arith.cmpi ne, %236, %c0_i32 : i32
          %238 = arith.xori %235, %c1_i32 : i32
          memref.store %238, %alloca_10[] : memref<i32>
          %239 = arith.extui %237 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %239, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %240 = "mosaic_gpu.optimization_barrier"(%227#0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %241 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %242 = "mosaic_gpu.with_transforms"(%241) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_15 = memref.subview %242[%190, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %243 = mosaic_gpu.wgmma accumulator(%240 : vector<64x64xf32>) a(%227#3 : vector<64x128xf16>) b(%subview_15 : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %244 = arith.addi %184, %c1_i32 : i32
          %245 = arith.remsi %244, %c2_i32 : i32
          %246 = arith.cmpi slt, %244, %146 : i32
          %247 = arith.extui %246 : i1 to i32
          %248 = arith.index_cast %247 : i32 to index
          scf.index_switch %248 
          case 0 {
            scf.yield
          }
          default {
            %251 = arith.index_cast %245 : i32 to index
            %252 = arith.index_castui %251 : index to i32
            %253 = memref.load %alloca_7[] : memref<i32>
            %254 = arith.shli %c1_i32, %252 : i32
            %255 = arith.andi %253, %254 : i32
            %256 = arith.cmpi ne, %255, %c0_i32 : i32
            %257 = arith.xori %253, %254 : i32
            memref.store %257, %alloca_7[] : memref<i32>
            %258 = arith.extui %256 : i1 to i32
            %259 = llvm.getelementptr %88[%252] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %259, %258, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          }
          nvvm.wgmma.wait.group.sync.aligned 0
          %249 = llvm.getelementptr %96[%198] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %250 = builtin.unrealized_conversion_cast %249 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%250) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          scf.yield %243, %227#2, %227#1 : vector<64x64xf32>, vector<64xf32>, vector<64xf32>
        }
        %172 = arith.subi %135, %146 : i32
        scf.for %arg14 = %c0_i32 to %172 step %c1_i32  : i32 {
          %184 = arith.addi %arg14, %146 : i32
          %185 = arith.remsi %184, %c2_i32 : i32
          %186 = arith.index_cast %185 : i32 to index
          %187 = arith.index_castui %186 : index to i32
          %188 = llvm.getelementptr %104[%187] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %189 = builtin.unrealized_conversion_cast %188 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%189) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %190 = llvm.getelementptr %96[%187] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %191 = builtin.unrealized_conversion_cast %190 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%191) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %192 = builtin.unrealized_conversion_cast %112 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%192) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %193 = memref.load %alloca_10[] : memref<i32>
          %194 = arith.andi %193, %c1_i32 : i32
          %195 = arith.cmpi ne, %194, %c0_i32 : i32
          %196 = arith.xori %193, %c1_i32 : i32
          memref.store %196, %alloca_10[] : memref<i32>
          %197 = arith.extui %195 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %197, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          "mosaic_gpu.arrive"(%192) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %198 = memref.load %alloca_10[] : memref<i32>
          %199 = arith.andi %198, %c1_i32 : i32
          %200 = arith.cmpi ne, %199, %c0_i32 : i32
          %201 = arith.xori %198, %c1_i32 : i32
          memref.store %201, %alloca_10[] : memref<i32>
          %202 = arith.extui %200 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %202, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %173 = arith.cmpi eq, %130, %c0_i32 : i32
        %174 = arith.extui %173 : i1 to i32
        %175 = arith.index_cast %174 : i32 to index
        scf.index_switch %175 
        case 0 {
          scf.yield
        }
        default {
          %184 = builtin.unrealized_conversion_cast %112 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%184) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %185 = memref.load %alloca_10[] : memref<i32>
          %186 = arith.andi %185, %c1_i32 : i32
          %187 = arith.cmpi ne, %186, %c0_i32 : i32
          %188 = arith.xori %185, %c1_i32 : i32
          memref.store %188, %alloca_10[] : memref<i32>
          %189 = arith.extui %187 : i1 to i32
          nvvm.mbarrier.try_wait.parity %112, %189, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %176 = mosaic_gpu.broadcast_in_dim(%171#2 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
        %177 = arith.divf %171#0, %176 : vector<64x64xf32>
        %178 = arith.truncf %177 : vector<64x64xf32> to vector<64x64xf16>
        %179 = "mosaic_gpu.with_transforms"(%147) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %179[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%178, %subview_11) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %180 = arith.addi %129, %c1_i32 : i32
        %181 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %180 : (i32) -> !llvm.void
        %182 = "mosaic_gpu.with_transforms"(%147) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_12 = memref.subview %182[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%subview_12, %63, %127, %144, %128, %c0_i32) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.wait_group 0
        %183 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %180 : (i32) -> !llvm.void
      }
      %139 = arith.cmpi eq, %130, %c2_i32 : i32
      %140 = arith.extui %139 : i1 to i32
      %141 = arith.index_cast %140 : i32 to index
      scf.index_switch %141 
      case 0 {
        scf.yield
      }
      default {
        nvvm.setmaxregister decrease 40
        %142 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %143 = "mosaic_gpu.with_transforms"(%142) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %subview = memref.subview %143[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %144 = builtin.unrealized_conversion_cast %88 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%144 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%35, %cast, %144, %127, %c0_i32, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %145 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %146 = "mosaic_gpu.with_transforms"(%145) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %146[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast_12 = memref.cast %subview_11 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %147 = builtin.unrealized_conversion_cast %80 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%147 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%49, %cast_12, %147, %127, %c0_i32, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %148 = "mosaic_gpu.with_transforms"(%142) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %subview_13 = memref.subview %148[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %cast_14 = memref.cast %subview_13 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %149 = llvm.getelementptr %88[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %150 = builtin.unrealized_conversion_cast %149 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%150 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%35, %cast_14, %150, %127, %c128_i32, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %151 = "mosaic_gpu.with_transforms"(%145) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
        %subview_15 = memref.subview %151[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %cast_16 = memref.cast %subview_15 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %152 = llvm.getelementptr %80[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %153 = builtin.unrealized_conversion_cast %152 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%153 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%49, %cast_16, %153, %127, %c128_i32, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %154 = arith.subi %135, %c2_i32 : i32
        scf.for %arg14 = %c0_i32 to %154 step %c1_i32  : i32 {
          %155 = arith.addi %arg14, %c2_i32 : i32
          %156 = arith.remsi %arg14, %c2_i32 : i32
          %157 = arith.muli %155, %c128_i32 : i32
          %158 = arith.index_cast %156 : i32 to index
          %159 = arith.index_castui %158 : index to i32
          %160 = memref.load %alloca_9[] : memref<i32>
          %161 = arith.shli %c1_i32, %159 : i32
          %162 = arith.andi %160, %161 : i32
          %163 = arith.cmpi ne, %162, %c0_i32 : i32
          %164 = arith.xori %160, %161 : i32
          memref.store %164, %alloca_9[] : memref<i32>
          %165 = arith.extui %163 : i1 to i32
          %166 = llvm.getelementptr %104[%159] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %166, %165, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %167 = "mosaic_gpu.with_transforms"(%142) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_17 = memref.subview %167[%158, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %168 = llvm.getelementptr %88[%159] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %169 = builtin.unrealized_conversion_cast %168 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%169 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
          "mosaic_gpu.async_load"(%35, %subview_17, %169, %127, %157, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %170 = memref.load %alloca_8[] : memref<i32>
          %171 = arith.andi %170, %161 : i32
          %172 = arith.cmpi ne, %171, %c0_i32 : i32
          %173 = arith.xori %170, %161 : i32
          memref.store %173, %alloca_8[] : memref<i32>
          %174 = arith.extui %172 : i1 to i32
          %175 = llvm.getelementptr %96[%159] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %175, %174, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %176 = "mosaic_gpu.with_transforms"(%145) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_18 = memref.subview %176[%158, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %177 = llvm.getelementptr %80[%159] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %178 = builtin.unrealized_conversion_cast %177 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%178 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
          "mosaic_gpu.async_load"(%49, %subview_18, %178, %127, %157, %128, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        }
      }
      gpu.terminator
    }
    return
  }
}
