module @entry attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @entry_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<1.44269502> : vector<64x64xf32>
    %cst_0 = arith.constant dense<1.44269502> : vector<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : vector<64x64xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : vector<64xf32>
    %cst_3 = arith.constant dense<0xFF800000> : vector<64xf32>
    %c10000000_i32 = arith.constant 10000000 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %c2_i32 = arith.constant 2 : i32
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c52312_i32 = arith.constant 52312 : i32
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
    %78 = gpu.launch async [%10] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c2, %arg10 = %c2) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c52312_i32 {
      %79 = "mosaic_gpu.slice_smem"() <{offset = 52224 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
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
      %87 = "mosaic_gpu.slice_smem"() <{offset = 52240 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %88 = builtin.unrealized_conversion_cast %87 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %89 = llvm.extractvalue %88[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %90 = llvm.extractvalue %88[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %91 = llvm.mul %90, %c8_i64 : i64
      %92 = llvm.ptrtoint %89 : !llvm.ptr<3> to i64
      %93 = llvm.add %92, %91 : i64
      %94 = llvm.inttoptr %93 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%94) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_4 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_4[] : memref<i32>
      %95 = "mosaic_gpu.slice_smem"() <{offset = 52256 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %96 = builtin.unrealized_conversion_cast %95 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %97 = llvm.extractvalue %96[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %98 = llvm.extractvalue %96[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %99 = llvm.mul %98, %c8_i64 : i64
      %100 = llvm.ptrtoint %97 : !llvm.ptr<3> to i64
      %101 = llvm.add %100, %99 : i64
      %102 = llvm.inttoptr %101 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%102) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_5 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_5[] : memref<i32>
      %103 = "mosaic_gpu.slice_smem"() <{offset = 52272 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %104 = builtin.unrealized_conversion_cast %103 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %105 = llvm.extractvalue %104[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %106 = llvm.extractvalue %104[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %107 = llvm.mul %106, %c8_i64 : i64
      %108 = llvm.ptrtoint %105 : !llvm.ptr<3> to i64
      %109 = llvm.add %108, %107 : i64
      %110 = llvm.inttoptr %109 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%110) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_6 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_6[] : memref<i32>
      %111 = "mosaic_gpu.slice_smem"() <{offset = 52288 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %112 = builtin.unrealized_conversion_cast %111 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %113 = llvm.extractvalue %112[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %114 = llvm.extractvalue %112[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %115 = llvm.mul %114, %c8_i64 : i64
      %116 = llvm.ptrtoint %113 : !llvm.ptr<3> to i64
      %117 = llvm.add %116, %115 : i64
      %118 = llvm.inttoptr %117 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%118) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_7 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_7[] : memref<i32>
      %119 = "mosaic_gpu.slice_smem"() <{offset = 52304 : i32}> : () -> memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %120 = builtin.unrealized_conversion_cast %119 : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %121 = llvm.extractvalue %120[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %122 = llvm.extractvalue %120[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %123 = llvm.mul %122, %c8_i64 : i64
      %124 = llvm.ptrtoint %121 : !llvm.ptr<3> to i64
      %125 = llvm.add %124, %123 : i64
      %126 = llvm.inttoptr %125 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%126) <{arrival_count = 2 : i64, num_barriers = 1 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_8 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_8[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %127 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %128 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %129 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %130 = arith.index_cast %thread_id_y : index to i32
      %131 = arith.muli %130, %129 : i32
      %132 = arith.addi %128, %131 : i32
      %block_dim_y = gpu.block_dim y
      %133 = arith.index_cast %block_dim_y : index to i32
      %134 = arith.muli %129, %133 : i32
      %thread_id_z = gpu.thread_id z
      %135 = arith.index_cast %thread_id_z : index to i32
      %136 = arith.muli %135, %134 : i32
      %137 = arith.addi %132, %136 : i32
      %138 = arith.shrui %137, %c5_i32 : i32
      %139 = nvvm.shfl.sync idx %c-1_i32, %138, %c0_i32, %c31_i32 : i32 -> i32
      %140 = nvvm.elect.sync -> i1
      gpu.barrier
      %141 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id x
      %142 = arith.index_cast %block_id_x : index to i32
      %block_id_z = gpu.block_id z
      %143 = arith.index_cast %block_id_z : index to i32
      %144 = arith.shrui %137, %c7_i32 : i32
      %145 = nvvm.shfl.sync idx %c-1_i32, %144, %c0_i32, %c31_i32 : i32 -> i32
      %146 = arith.cmpi slt, %145, %c2_i32 : i32
      %147 = arith.extui %146 : i1 to i32
      %148 = arith.index_cast %147 : i32 to index
      scf.index_switch %148 
      case 0 {
        scf.yield
      }
      default {
        nvvm.setmaxregister increase 232
        %block_id_y = gpu.block_id y
        %152 = arith.index_cast %block_id_y : index to i32
        %153 = arith.muli %152, %c128_i32 : i32
        %154 = arith.muli %145, %c64_i32 : i32
        %155 = arith.addi %153, %154 : i32
        %156 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %157 = "mosaic_gpu.with_transforms"(%156) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %158 = arith.index_cast %145 : i32 to index
        %subview = memref.subview %157[%158, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %159 = arith.index_castui %158 : index to i32
        %160 = llvm.getelementptr %86[%159] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %161 = builtin.unrealized_conversion_cast %160 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%161 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%23, %subview, %161, %142, %155, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %162 = memref.load %alloca[] : memref<i32>
        %163 = arith.shli %c1_i32, %159 : i32
        %164 = arith.andi %162, %163 : i32
        %165 = arith.cmpi ne, %164, %c0_i32 : i32
        %166 = arith.xori %162, %163 : i32
        memref.store %166, %alloca[] : memref<i32>
        %167 = arith.extui %165 : i1 to i32
        nvvm.mbarrier.try_wait.parity %160, %167, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %168 = mosaic_gpu.layout_cast x(%cst_3 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %169 = mosaic_gpu.layout_cast x(%cst_2 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %170 = mosaic_gpu.layout_cast x(%cst_1 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
        %171 = memref.load %alloca_5[] : memref<i32>
        %172 = arith.andi %171, %c1_i32 : i32
        %173 = arith.cmpi ne, %172, %c0_i32 : i32
        %174 = arith.xori %171, %c1_i32 : i32
        memref.store %174, %alloca_5[] : memref<i32>
        %175 = arith.extui %173 : i1 to i32
        nvvm.mbarrier.try_wait.parity %102, %175, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %176 = arith.cmpi eq, %145, %c1_i32 : i32
        %177 = arith.extui %176 : i1 to i32
        %178 = arith.index_cast %177 : i32 to index
        scf.index_switch %178 
        case 0 {
          scf.yield
        }
        default {
          %194 = builtin.unrealized_conversion_cast %126 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%194) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %195 = memref.load %alloca_8[] : memref<i32>
          %196 = arith.andi %195, %c1_i32 : i32
          %197 = arith.cmpi ne, %196, %c0_i32 : i32
          %198 = arith.xori %195, %c1_i32 : i32
          memref.store %198, %alloca_8[] : memref<i32>
          %199 = arith.extui %197 : i1 to i32
          nvvm.mbarrier.try_wait.parity %126, %199, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %179:3 = scf.for %arg14 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg15 = %170, %arg16 = %168, %arg17 = %169) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>)  : i32 {
          %194 = arith.remsi %arg14, %c2_i32 : i32
          %195 = "mosaic_gpu.optimization_barrier"(%cst_1) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %196 = "mosaic_gpu.with_transforms"(%156) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_12 = memref.subview %196[%158, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %197 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %198 = "mosaic_gpu.with_transforms"(%197) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %199 = arith.index_cast %194 : i32 to index
          %subview_13 = memref.subview %198[%199, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_13 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %200 = mosaic_gpu.wgmma accumulator(%195 : vector<64x64xf32>) a(%subview_12 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %201 = builtin.unrealized_conversion_cast %126 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%201) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %202 = memref.load %alloca_8[] : memref<i32>
          %203 = arith.andi %202, %c1_i32 : i32
          %204 = arith.cmpi ne, %203, %c0_i32 : i32
          %205 = arith.xori %202, %c1_i32 : i32
          memref.store %205, %alloca_8[] : memref<i32>
          %206 = arith.extui %204 : i1 to i32
          nvvm.mbarrier.try_wait.parity %126, %206, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.wgmma.wait.group.sync.aligned 0
          %207 = arith.index_castui %199 : index to i32
          %208 = llvm.getelementptr %118[%207] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %209 = builtin.unrealized_conversion_cast %208 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%209) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %210 = vector.multi_reduction <maximumf>, %200, %cst_3 {offset = 50176 : i32, scratch_size = 2048 : i32} [1] : vector<64x64xf32> to vector<64xf32>
          %211 = arith.mulf %210, %cst_0 : vector<64xf32>
          %212 = arith.maximumf %arg16, %211 : vector<64xf32>
          %213 = arith.subf %arg16, %212 : vector<64xf32>
          %214 = math.exp2 %213 fastmath<afn> : vector<64xf32>
          %215 = arith.mulf %200, %cst : vector<64x64xf32>
          %216 = mosaic_gpu.broadcast_in_dim(%212 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %217 = arith.subf %215, %216 : vector<64x64xf32>
          %218 = math.exp2 %217 fastmath<afn> : vector<64x64xf32>
          %219 = mosaic_gpu.broadcast_in_dim(%214 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %220 = arith.mulf %arg15, %219 : vector<64x64xf32>
          %221 = arith.mulf %arg17, %214 : vector<64xf32>
          %222 = arith.truncf %218 : vector<64x64xf32> to vector<64x64xf16>
          %223 = vector.multi_reduction <add>, %218, %cst_2 {offset = 50176 : i32, scratch_size = 2048 : i32} [1] : vector<64x64xf32> to vector<64xf32>
          %224 = arith.addf %221, %223 : vector<64xf32>
          %225:4 = "mosaic_gpu.optimization_barrier"(%220, %224, %212, %222) : (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x64xf16>) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64x64xf16>)
          "mosaic_gpu.arrive"(%201) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %226 = memref.load %alloca_4[] : memref<i32>
          %227 = arith.shli %c1_i32, %207 : i32
          %228 = arith.andi %226, %227 : i32
          %229 = arith.cmpi ne, %228, %c0_i32 : i32
          %230 = arith.xori %226, %227 : i32
          memref.store %230, %alloca_4[] : memref<i32>
          %231 = arith.extui %229 : i1 to i32
          %232 = llvm.getelementptr %94[%207] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %232, %231, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %233 = memref.load %alloca_8[] : memref<i32>
          %234 = arith.andi %233, %c1_i32 : i32
          %235 = arith.cmpi ne, %234, %c0_i32 : i32
          %236 = arith.xori %233, %c1_i32 : i32
          memref.store %236, %alloca_8[] : memref<i32>
          %237 = arith.extui %235 : i1 to i32
          nvvm.mbarrier.try_wait.parity %126, %237, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %238 = "mosaic_gpu.optimization_barrier"(%225#0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %239 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %240 = "mosaic_gpu.with_transforms"(%239) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_14 = memref.subview %240[%199, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %241 = mosaic_gpu.wgmma accumulator(%238 : vector<64x64xf32>) a(%225#3 : vector<64x64xf16>) b(%subview_14 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %242 = arith.addi %arg14, %c1_i32 : i32
          %243 = arith.remsi %242, %c2_i32 : i32
          %244 = arith.cmpi slt, %242, %c4_i32 : i32
          %245 = arith.extui %244 : i1 to i32
          %246 = arith.index_cast %245 : i32 to index
          scf.index_switch %246 
          case 0 {
            scf.yield
          }
          default {
            %249 = arith.index_cast %243 : i32 to index
            %250 = arith.index_castui %249 : index to i32
            %251 = memref.load %alloca_5[] : memref<i32>
            %252 = arith.shli %c1_i32, %250 : i32
            %253 = arith.andi %251, %252 : i32
            %254 = arith.cmpi ne, %253, %c0_i32 : i32
            %255 = arith.xori %251, %252 : i32
            memref.store %255, %alloca_5[] : memref<i32>
            %256 = arith.extui %254 : i1 to i32
            %257 = llvm.getelementptr %102[%250] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %257, %256, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          }
          nvvm.wgmma.wait.group.sync.aligned 0
          %247 = llvm.getelementptr %110[%207] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %248 = builtin.unrealized_conversion_cast %247 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%248) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          scf.yield %241, %225#2, %225#1 : vector<64x64xf32>, vector<64xf32>, vector<64xf32>
        }
        %180 = arith.cmpi eq, %145, %c0_i32 : i32
        %181 = arith.extui %180 : i1 to i32
        %182 = arith.index_cast %181 : i32 to index
        scf.index_switch %182 
        case 0 {
          scf.yield
        }
        default {
          %194 = builtin.unrealized_conversion_cast %126 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%194) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %195 = memref.load %alloca_8[] : memref<i32>
          %196 = arith.andi %195, %c1_i32 : i32
          %197 = arith.cmpi ne, %196, %c0_i32 : i32
          %198 = arith.xori %195, %c1_i32 : i32
          memref.store %198, %alloca_8[] : memref<i32>
          %199 = arith.extui %197 : i1 to i32
          nvvm.mbarrier.try_wait.parity %126, %199, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        }
        %183 = mosaic_gpu.broadcast_in_dim(%179#2 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
        %184 = arith.divf %179#0, %183 : vector<64x64xf32>
        %185 = arith.truncf %184 : vector<64x64xf32> to vector<64x64xf16>
        %186 = "mosaic_gpu.with_transforms"(%156) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_9 = memref.subview %186[%158, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%185, %subview_9) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        %187 = math.log %179#2 fastmath<afn> : vector<64xf32>
        %188 = arith.mulf %187, %cst_0 : vector<64xf32>
        %189 = arith.addf %179#1, %188 : vector<64xf32>
        %subview_10 = memref.subview %141[%158, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%189, %subview_10) <{multimem = false}> : (vector<64xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %190 = arith.addi %144, %c1_i32 : i32
        %191 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %190 : (i32) -> !llvm.void
        %192 = "mosaic_gpu.with_transforms"(%156) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %192[%158, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%subview_11, %65, %142, %155, %143, %c0_i32) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        "mosaic_gpu.async_store"(%subview_10, %77, %142, %143, %155) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 3, 0, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x2x256xf32>, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.wait_group 0
        %193 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %190 : (i32) -> !llvm.void
      }
      %149 = arith.cmpi eq, %145, %c2_i32 : i32
      %150 = arith.extui %149 : i1 to i32
      %151 = arith.index_cast %150 : i32 to index
      scf.index_switch %151 
      case 0 {
        scf.yield
      }
      default {
        nvvm.setmaxregister decrease 40
        %152 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %153 = "mosaic_gpu.with_transforms"(%152) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview = memref.subview %153[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %154 = builtin.unrealized_conversion_cast %102 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%154 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%37, %cast, %154, %142, %c0_i32, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %155 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %156 = "mosaic_gpu.with_transforms"(%155) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_9 = memref.subview %156[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast_10 = memref.cast %subview_9 : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %157 = builtin.unrealized_conversion_cast %94 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%157 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%51, %cast_10, %157, %142, %c0_i32, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %158 = "mosaic_gpu.with_transforms"(%152) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %158[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_12 = memref.cast %subview_11 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %159 = llvm.getelementptr %102[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %160 = builtin.unrealized_conversion_cast %159 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%160 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%37, %cast_12, %160, %142, %c64_i32, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %161 = "mosaic_gpu.with_transforms"(%155) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_13 = memref.subview %161[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_14 = memref.cast %subview_13 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %162 = llvm.getelementptr %94[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %163 = builtin.unrealized_conversion_cast %162 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%163 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%51, %cast_14, %163, %142, %c64_i32, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        scf.for %arg14 = %c0_i32 to %c2_i32 step %c1_i32  : i32 {
          %164 = arith.addi %arg14, %c2_i32 : i32
          %165 = arith.remsi %arg14, %c2_i32 : i32
          %166 = arith.muli %164, %c64_i32 : i32
          %167 = arith.index_cast %165 : i32 to index
          %168 = arith.index_castui %167 : index to i32
          %169 = memref.load %alloca_7[] : memref<i32>
          %170 = arith.shli %c1_i32, %168 : i32
          %171 = arith.andi %169, %170 : i32
          %172 = arith.cmpi ne, %171, %c0_i32 : i32
          %173 = arith.xori %169, %170 : i32
          memref.store %173, %alloca_7[] : memref<i32>
          %174 = arith.extui %172 : i1 to i32
          %175 = llvm.getelementptr %118[%168] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %175, %174, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %176 = "mosaic_gpu.with_transforms"(%152) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_15 = memref.subview %176[%167, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %177 = llvm.getelementptr %102[%168] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %178 = builtin.unrealized_conversion_cast %177 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%178 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%37, %subview_15, %178, %142, %166, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %179 = memref.load %alloca_6[] : memref<i32>
          %180 = arith.andi %179, %170 : i32
          %181 = arith.cmpi ne, %180, %c0_i32 : i32
          %182 = arith.xori %179, %170 : i32
          memref.store %182, %alloca_6[] : memref<i32>
          %183 = arith.extui %181 : i1 to i32
          %184 = llvm.getelementptr %110[%168] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %184, %183, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %185 = "mosaic_gpu.with_transforms"(%155) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_16 = memref.subview %185[%167, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %186 = llvm.getelementptr %94[%168] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %187 = builtin.unrealized_conversion_cast %186 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%187 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%51, %subview_16, %187, %142, %166, %143, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        }
      }
      gpu.terminator
    }
    return
  }
}
