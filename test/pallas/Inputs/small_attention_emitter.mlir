module @fa3_kernel attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @fa3_kernel_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<1.44269502> : vector<64x128xf32>
    %cst_0 = arith.constant dense<1.44269502> : vector<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : vector<64x128xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : vector<64x64xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : vector<64xf32>
    %cst_4 = arith.constant dense<0xFF800000> : vector<64xf32>
    %c10000000_i32 = arith.constant 10000000 : i32
    %c2_i32 = arith.constant 2 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c85064_i32 = arith.constant 85064 : i32
    %c384 = arith.constant 384 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = llvm.mlir.constant(512 : i64) : i64
    %1 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
    %2 = llvm.mlir.constant(128 : i64) : i64
    %3 = llvm.mlir.constant(32768 : i64) : i64
    %4 = llvm.mlir.constant(64 : i64) : i64
    %5 = llvm.mlir.constant(2 : i64) : i64
    %6 = llvm.mlir.constant(256 : i64) : i64
    %7 = llvm.mlir.constant(1 : i64) : i64
    %8 = llvm.mlir.constant(0 : i64) : i64
    %9 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)>
    %10 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %11 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %12 = llvm.insertvalue %11, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %13 = llvm.insertvalue %11, %12[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %14 = llvm.insertvalue %8, %13[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %15 = llvm.insertvalue %7, %14[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %16 = llvm.insertvalue %6, %15[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %17 = llvm.insertvalue %5, %16[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %18 = llvm.insertvalue %4, %17[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %19 = llvm.insertvalue %3, %18[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %20 = llvm.insertvalue %2, %19[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %21 = llvm.insertvalue %4, %20[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %22 = llvm.insertvalue %7, %21[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %23 = builtin.unrealized_conversion_cast %22 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %24 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %25 = llvm.load %24 : !llvm.ptr -> !llvm.ptr
    %26 = llvm.insertvalue %25, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %27 = llvm.insertvalue %25, %26[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %28 = llvm.insertvalue %8, %27[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %29 = llvm.insertvalue %7, %28[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %30 = llvm.insertvalue %6, %29[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %31 = llvm.insertvalue %5, %30[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %32 = llvm.insertvalue %4, %31[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %33 = llvm.insertvalue %3, %32[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %34 = llvm.insertvalue %2, %33[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %35 = llvm.insertvalue %4, %34[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %36 = llvm.insertvalue %7, %35[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %37 = builtin.unrealized_conversion_cast %36 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %38 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
    %40 = llvm.insertvalue %39, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %41 = llvm.insertvalue %39, %40[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %42 = llvm.insertvalue %8, %41[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %43 = llvm.insertvalue %7, %42[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %44 = llvm.insertvalue %6, %43[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %45 = llvm.insertvalue %5, %44[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %46 = llvm.insertvalue %4, %45[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %47 = llvm.insertvalue %3, %46[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %48 = llvm.insertvalue %2, %47[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %49 = llvm.insertvalue %4, %48[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %50 = llvm.insertvalue %7, %49[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %51 = builtin.unrealized_conversion_cast %50 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %52 = llvm.getelementptr %arg1[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %53 = llvm.load %52 : !llvm.ptr -> !llvm.ptr
    %54 = llvm.insertvalue %53, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %55 = llvm.insertvalue %53, %54[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %56 = llvm.insertvalue %8, %55[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %57 = llvm.insertvalue %7, %56[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %58 = llvm.insertvalue %6, %57[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %59 = llvm.insertvalue %5, %58[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %60 = llvm.insertvalue %4, %59[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %61 = llvm.insertvalue %3, %60[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %62 = llvm.insertvalue %2, %61[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %63 = llvm.insertvalue %4, %62[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %64 = llvm.insertvalue %7, %63[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %65 = builtin.unrealized_conversion_cast %64 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 3 : i32, mosaic_gpu.original_kernel_arg}
    %66 = llvm.getelementptr %arg1[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
    %68 = llvm.insertvalue %67, %1[0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %69 = llvm.insertvalue %67, %68[1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %70 = llvm.insertvalue %8, %69[2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %71 = llvm.insertvalue %7, %70[3, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %72 = llvm.insertvalue %5, %71[3, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %73 = llvm.insertvalue %6, %72[3, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %74 = llvm.insertvalue %0, %73[4, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %75 = llvm.insertvalue %6, %74[4, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %76 = llvm.insertvalue %7, %75[4, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %77 = builtin.unrealized_conversion_cast %76 : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> to memref<1x2x256xf32> {mosaic_gpu.from_kernel_arg_idx = 4 : i32, mosaic_gpu.original_kernel_arg}
    %78 = gpu.launch async [%10] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c2, %arg10 = %c2) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c85064_i32 {
      %79 = "mosaic_gpu.slice_smem"() <{offset = 84992 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %80 = builtin.unrealized_conversion_cast %79 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %81 = llvm.extractvalue %80[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %82 = llvm.extractvalue %80[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %83 = llvm.mul %82, %c8_i64 : i64
      %84 = llvm.ptrtoint %81 : !llvm.ptr<3> to i64
      %85 = llvm.add %84, %83 : i64
      %86 = llvm.inttoptr %85 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%86) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %87 = "mosaic_gpu.slice_smem"() <{offset = 85008 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %88 = builtin.unrealized_conversion_cast %87 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %89 = llvm.extractvalue %88[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %90 = llvm.extractvalue %88[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %91 = llvm.mul %90, %c8_i64 : i64
      %92 = llvm.ptrtoint %89 : !llvm.ptr<3> to i64
      %93 = llvm.add %92, %91 : i64
      %94 = llvm.inttoptr %93 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%94) <{arrival_count = 2 : i64, num_barriers = 1 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_5 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_5[] : memref<i32>
      %95 = "mosaic_gpu.slice_smem"() <{offset = 85016 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %96 = builtin.unrealized_conversion_cast %95 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %97 = llvm.extractvalue %96[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %98 = llvm.extractvalue %96[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %99 = llvm.mul %98, %c8_i64 : i64
      %100 = llvm.ptrtoint %97 : !llvm.ptr<3> to i64
      %101 = llvm.add %100, %99 : i64
      %102 = llvm.inttoptr %101 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%102) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_6 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_6[] : memref<i32>
      %103 = "mosaic_gpu.slice_smem"() <{offset = 85032 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %104 = builtin.unrealized_conversion_cast %103 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %105 = llvm.extractvalue %104[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %106 = llvm.extractvalue %104[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %107 = llvm.mul %106, %c8_i64 : i64
      %108 = llvm.ptrtoint %105 : !llvm.ptr<3> to i64
      %109 = llvm.add %108, %107 : i64
      %110 = llvm.inttoptr %109 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%110) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_7 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_7[] : memref<i32>
      %111 = "mosaic_gpu.slice_smem"() <{offset = 85048 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %112 = builtin.unrealized_conversion_cast %111 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %113 = llvm.extractvalue %112[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %114 = llvm.extractvalue %112[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %115 = llvm.mul %114, %c8_i64 : i64
      %116 = llvm.ptrtoint %113 : !llvm.ptr<3> to i64
      %117 = llvm.add %116, %115 : i64
      %118 = llvm.inttoptr %117 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%118) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_8 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_8[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %119 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %120 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %121 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %122 = arith.index_cast %thread_id_y : index to i32
      %123 = arith.muli %122, %121 : i32
      %124 = arith.addi %120, %123 : i32
      %block_dim_y = gpu.block_dim y
      %125 = arith.index_cast %block_dim_y : index to i32
      %126 = arith.muli %121, %125 : i32
      %thread_id_z = gpu.thread_id z
      %127 = arith.index_cast %thread_id_z : index to i32
      %128 = arith.muli %127, %126 : i32
      %129 = arith.addi %124, %128 : i32
      %130 = arith.shrui %129, %c5_i32 : i32
      %131 = nvvm.shfl.sync idx %c-1_i32, %130, %c0_i32, %c31_i32 : i32 -> i32
      %132 = nvvm.elect.sync -> i1
      gpu.barrier
      %133 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
      %134 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id x
      %135 = arith.index_cast %block_id_x : index to i32
      %136 = arith.shrui %129, %c7_i32 : i32
      %137 = nvvm.shfl.sync idx %c-1_i32, %136, %c0_i32, %c31_i32 : i32 -> i32
      %block_id_y = gpu.block_id y
      %138 = arith.index_cast %block_id_y : index to i32
      %139 = arith.muli %138, %c128_i32 : i32
      %140 = arith.muli %137, %c64_i32 : i32
      %141 = arith.addi %139, %140 : i32
      %block_id_z = gpu.block_id z
      %142 = arith.index_cast %block_id_z : index to i32
      gpu.barrier
      %143 = "mosaic_gpu.slice_smem"() <{offset = 17408 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
      %144 = "mosaic_gpu.slice_smem"() <{offset = 50176 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
      %145 = nvvm.shfl.sync idx %c-1_i32, %136, %c0_i32, %c31_i32 : i32 -> i32
      %146 = arith.cmpi ne, %145, %c2_i32 : i32
      %147 = arith.extui %146 : i1 to i32
      %148 = arith.index_cast %147 : i32 to index
      scf.index_switch %148 
      case 0 {
        nvvm.setmaxregister decrease 40
        %subview = memref.subview %143[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %149 = builtin.unrealized_conversion_cast %102 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%149 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%37, %cast, %149, %135, %c0_i32, %142, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_9 = memref.subview %144[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast_10 = memref.cast %subview_9 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%149 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%51, %cast_10, %149, %135, %c0_i32, %142, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_11 = memref.subview %143[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %cast_12 = memref.cast %subview_11 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %150 = llvm.getelementptr %102[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %151 = builtin.unrealized_conversion_cast %150 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%151 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%37, %cast_12, %151, %135, %c128_i32, %142, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_13 = memref.subview %144[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %cast_14 = memref.cast %subview_13 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%151 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%51, %cast_14, %151, %135, %c128_i32, %142, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 128, -1, 64>}> : (memref<1x256x2x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %152 = memref.load %alloca_8[] : memref<i32>
        %153 = arith.andi %152, %c1_i32 : i32
        %154 = arith.cmpi ne, %153, %c0_i32 : i32
        %155 = arith.xori %152, %c1_i32 : i32
        memref.store %155, %alloca_8[] : memref<i32>
        %156 = arith.extui %154 : i1 to i32
        nvvm.mbarrier.try_wait.parity %118, %156, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %157 = memref.load %alloca_7[] : memref<i32>
        %158 = arith.andi %157, %c1_i32 : i32
        %159 = arith.cmpi ne, %158, %c0_i32 : i32
        %160 = arith.xori %157, %c1_i32 : i32
        memref.store %160, %alloca_7[] : memref<i32>
        %161 = arith.extui %159 : i1 to i32
        nvvm.mbarrier.try_wait.parity %110, %161, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %162 = memref.load %alloca_8[] : memref<i32>
        %163 = arith.andi %162, %c2_i32 : i32
        %164 = arith.cmpi ne, %163, %c0_i32 : i32
        %165 = arith.xori %162, %c2_i32 : i32
        memref.store %165, %alloca_8[] : memref<i32>
        %166 = arith.extui %164 : i1 to i32
        %167 = llvm.getelementptr %118[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %167, %166, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %168 = memref.load %alloca_7[] : memref<i32>
        %169 = arith.andi %168, %c2_i32 : i32
        %170 = arith.cmpi ne, %169, %c0_i32 : i32
        %171 = arith.xori %168, %c2_i32 : i32
        memref.store %171, %alloca_7[] : memref<i32>
        %172 = arith.extui %170 : i1 to i32
        %173 = llvm.getelementptr %110[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %173, %172, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        scf.yield
      }
      default {
        nvvm.setmaxregister increase 232
        %149 = arith.index_cast %137 : i32 to index
        %subview = memref.subview %133[%149, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %150 = arith.index_castui %149 : index to i32
        %151 = llvm.getelementptr %86[%150] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %152 = builtin.unrealized_conversion_cast %151 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%152 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%23, %subview, %152, %135, %141, %142, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %153 = memref.load %alloca[] : memref<i32>
        %154 = arith.shli %c1_i32, %150 : i32
        %155 = arith.andi %153, %154 : i32
        %156 = arith.cmpi ne, %155, %c0_i32 : i32
        %157 = arith.xori %153, %154 : i32
        memref.store %157, %alloca[] : memref<i32>
        %158 = arith.extui %156 : i1 to i32
        nvvm.mbarrier.try_wait.parity %151, %158, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %159 = arith.cmpi eq, %137, %c1_i32 : i32
        %160 = arith.extui %159 : i1 to i32
        %161 = arith.index_cast %160 : i32 to index
        scf.index_switch %161 
        case 0 {
          scf.yield
        }
        default {
          %175 = builtin.unrealized_conversion_cast %94 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%175) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %176 = memref.load %alloca_5[] : memref<i32>
          %177 = arith.andi %176, %c1_i32 : i32
          %178 = arith.cmpi ne, %177, %c0_i32 : i32
          %179 = arith.xori %176, %c1_i32 : i32
          memref.store %179, %alloca_5[] : memref<i32>
          %180 = arith.extui %178 : i1 to i32
          nvvm.mbarrier.try_wait.parity %94, %180, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %162:4 = scf.for %arg14 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg15 = %c0_i32, %arg16 = %cst_2, %arg17 = %cst_4, %arg18 = %cst_3) -> (i32, vector<64x64xf32>, vector<64xf32>, vector<64xf32>)  : i32 {
          %175 = arith.remsi %arg14, %c2_i32 : i32
          %176 = arith.index_cast %175 : i32 to index
          %177 = arith.index_castui %176 : index to i32
          %178 = memref.load %alloca_6[] : memref<i32>
          %179 = arith.shli %c1_i32, %177 : i32
          %180 = arith.andi %178, %179 : i32
          %181 = arith.cmpi ne, %180, %c0_i32 : i32
          %182 = arith.xori %178, %179 : i32
          memref.store %182, %alloca_6[] : memref<i32>
          %183 = arith.extui %181 : i1 to i32
          %184 = llvm.getelementptr %102[%177] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %184, %183, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %185 = "mosaic_gpu.optimization_barrier"(%cst_1) : (vector<64x128xf32>) -> vector<64x128xf32>
          nvvm.wgmma.fence.aligned
          %subview_10 = memref.subview %143[%176, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_10 (d0, d1) -> (d1, d0) : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %186 = mosaic_gpu.wgmma accumulator(%185 : vector<64x128xf32>) a(%subview : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x128xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %187 = builtin.unrealized_conversion_cast %94 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%187) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %188 = memref.load %alloca_5[] : memref<i32>
          %189 = arith.andi %188, %c1_i32 : i32
          %190 = arith.cmpi ne, %189, %c0_i32 : i32
          %191 = arith.xori %188, %c1_i32 : i32
          memref.store %191, %alloca_5[] : memref<i32>
          %192 = arith.extui %190 : i1 to i32
          nvvm.mbarrier.try_wait.parity %94, %192, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.wgmma.wait.group.sync.aligned 0
          %193 = llvm.getelementptr %118[%177] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %194 = builtin.unrealized_conversion_cast %193 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%194) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %195 = vector.multi_reduction <maximumf>, %186, %cst_4 {offset = 82944 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %196 = arith.mulf %195, %cst_0 : vector<64xf32>
          %197 = arith.maximumf %arg17, %196 : vector<64xf32>
          %198 = arith.subf %arg17, %197 : vector<64xf32>
          %199 = math.exp2 %198 fastmath<afn> : vector<64xf32>
          %200 = arith.mulf %186, %cst : vector<64x128xf32>
          %201 = mosaic_gpu.broadcast_in_dim(%197 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
          %202 = arith.subf %200, %201 : vector<64x128xf32>
          %203 = math.exp2 %202 fastmath<afn> : vector<64x128xf32>
          %204 = mosaic_gpu.broadcast_in_dim(%199 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %205 = arith.mulf %arg16, %204 : vector<64x64xf32>
          %206 = arith.mulf %arg18, %199 : vector<64xf32>
          %207 = arith.truncf %203 : vector<64x128xf32> to vector<64x128xf16>
          "mosaic_gpu.arrive"(%187) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %208 = memref.load %alloca_5[] : memref<i32>
          %209 = arith.andi %208, %c1_i32 : i32
          %210 = arith.cmpi ne, %209, %c0_i32 : i32
          %211 = arith.xori %208, %c1_i32 : i32
          memref.store %211, %alloca_5[] : memref<i32>
          %212 = arith.extui %210 : i1 to i32
          nvvm.mbarrier.try_wait.parity %94, %212, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %213 = vector.multi_reduction <add>, %203, %cst_3 {offset = 82944 : i32, scratch_size = 2048 : i32} [1] : vector<64x128xf32> to vector<64xf32>
          %214 = arith.addf %206, %213 : vector<64xf32>
          %215 = "mosaic_gpu.optimization_barrier"(%205) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %subview_11 = memref.subview %144[%176, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %216 = mosaic_gpu.wgmma accumulator(%215 : vector<64x64xf32>) a(%207 : vector<64x128xf16>) b(%subview_11 : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %217 = llvm.getelementptr %110[%177] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %218 = builtin.unrealized_conversion_cast %217 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%218) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          nvvm.cp.async.bulk.commit.group
          %219 = arith.addi %arg15, %c1_i32 : i32
          %220 = arith.cmpi eq, %219, %c2_i32 : i32
          %221 = arith.select %220, %c0_i32, %219 : i32
          scf.yield %221, %216, %197, %214 : i32, vector<64x64xf32>, vector<64xf32>, vector<64xf32>
        }
        %163 = arith.cmpi eq, %137, %c0_i32 : i32
        %164 = arith.extui %163 : i1 to i32
        %165 = arith.index_cast %164 : i32 to index
        scf.index_switch %165 
        case 0 {
          scf.yield
        }
        default {
          %175 = builtin.unrealized_conversion_cast %94 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%175) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %176 = memref.load %alloca_5[] : memref<i32>
          %177 = arith.andi %176, %c1_i32 : i32
          %178 = arith.cmpi ne, %177, %c0_i32 : i32
          %179 = arith.xori %176, %c1_i32 : i32
          memref.store %179, %alloca_5[] : memref<i32>
          %180 = arith.extui %178 : i1 to i32
          nvvm.mbarrier.try_wait.parity %94, %180, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %166 = mosaic_gpu.broadcast_in_dim(%162#3 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
        %167 = arith.divf %162#1, %166 : vector<64x64xf32>
        %168 = arith.truncf %167 : vector<64x64xf32> to vector<64x64xf16>
        "mosaic_gpu.vector_store"(%168, %subview) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        %169 = math.log %162#3 fastmath<afn> : vector<64xf32>
        %170 = arith.mulf %169, %cst_0 : vector<64xf32>
        %171 = arith.addf %162#2, %170 : vector<64xf32>
        %subview_9 = memref.subview %134[%149, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%171, %subview_9) <{multimem = false}> : (vector<64xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %172 = arith.addi %136, %c1_i32 : i32
        %173 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %172 : (i32) -> !llvm.void
        "mosaic_gpu.async_store"(%subview, %65, %135, %141, %142, %c0_i32) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        "mosaic_gpu.async_store"(%subview_9, %77, %135, %142, %141) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 3, 0, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x2x256xf32>, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.wait_group 0
        %174 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %172 : (i32) -> !llvm.void
      }
      gpu.terminator
    }
    return
  }
}
