module @anonymous attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @anonymous_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<1.44269502> : vector<64x64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : vector<64x64xf32>
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
    %c67696_i32 = arith.constant 67696 : i32
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
    %78 = llvm.getelementptr %arg1[5] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %79 = llvm.load %78 : !llvm.ptr -> !llvm.ptr
    %80 = llvm.insertvalue %79, %1[0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %81 = llvm.insertvalue %79, %80[1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %82 = llvm.insertvalue %8, %81[2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %83 = llvm.insertvalue %7, %82[3, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %84 = llvm.insertvalue %5, %83[3, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %85 = llvm.insertvalue %6, %84[3, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %86 = llvm.insertvalue %0, %85[4, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %87 = llvm.insertvalue %6, %86[4, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %88 = llvm.insertvalue %7, %87[4, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %89 = builtin.unrealized_conversion_cast %88 : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> to memref<1x2x256xf32> {mosaic_gpu.from_kernel_arg_idx = 5 : i32, mosaic_gpu.original_kernel_arg}
    %90 = llvm.getelementptr %arg1[6] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %91 = llvm.load %90 : !llvm.ptr -> !llvm.ptr
    %92 = llvm.insertvalue %91, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %93 = llvm.insertvalue %91, %92[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %94 = llvm.insertvalue %8, %93[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %95 = llvm.insertvalue %7, %94[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %96 = llvm.insertvalue %6, %95[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %97 = llvm.insertvalue %5, %96[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %98 = llvm.insertvalue %4, %97[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %99 = llvm.insertvalue %3, %98[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %100 = llvm.insertvalue %2, %99[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %101 = llvm.insertvalue %4, %100[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %102 = llvm.insertvalue %7, %101[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %103 = builtin.unrealized_conversion_cast %102 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 6 : i32, mosaic_gpu.original_kernel_arg}
    %104 = gpu.launch async [%10] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c2, %arg10 = %c2) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c67696_i32 {
      %105 = "mosaic_gpu.slice_smem"() <{offset = 67584 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %106 = builtin.unrealized_conversion_cast %105 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %107 = llvm.extractvalue %106[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %108 = llvm.extractvalue %106[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %109 = llvm.mul %108, %c8_i64 : i64
      %110 = llvm.ptrtoint %107 : !llvm.ptr<3> to i64
      %111 = llvm.add %110, %109 : i64
      %112 = llvm.inttoptr %111 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%112) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %113 = "mosaic_gpu.slice_smem"() <{offset = 67600 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %114 = builtin.unrealized_conversion_cast %113 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %115 = llvm.extractvalue %114[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %116 = llvm.extractvalue %114[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %117 = llvm.mul %116, %c8_i64 : i64
      %118 = llvm.ptrtoint %115 : !llvm.ptr<3> to i64
      %119 = llvm.add %118, %117 : i64
      %120 = llvm.inttoptr %119 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%120) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_1 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_1[] : memref<i32>
      %121 = "mosaic_gpu.slice_smem"() <{offset = 67616 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %122 = builtin.unrealized_conversion_cast %121 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %123 = llvm.extractvalue %122[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %124 = llvm.extractvalue %122[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %125 = llvm.mul %124, %c8_i64 : i64
      %126 = llvm.ptrtoint %123 : !llvm.ptr<3> to i64
      %127 = llvm.add %126, %125 : i64
      %128 = llvm.inttoptr %127 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%128) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_2 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_2[] : memref<i32>
      %129 = "mosaic_gpu.slice_smem"() <{offset = 67632 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %130 = builtin.unrealized_conversion_cast %129 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %131 = llvm.extractvalue %130[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %132 = llvm.extractvalue %130[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %133 = llvm.mul %132, %c8_i64 : i64
      %134 = llvm.ptrtoint %131 : !llvm.ptr<3> to i64
      %135 = llvm.add %134, %133 : i64
      %136 = llvm.inttoptr %135 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%136) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_3 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_3[] : memref<i32>
      %137 = "mosaic_gpu.slice_smem"() <{offset = 67648 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %138 = builtin.unrealized_conversion_cast %137 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %139 = llvm.extractvalue %138[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %140 = llvm.extractvalue %138[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %141 = llvm.mul %140, %c8_i64 : i64
      %142 = llvm.ptrtoint %139 : !llvm.ptr<3> to i64
      %143 = llvm.add %142, %141 : i64
      %144 = llvm.inttoptr %143 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%144) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_4 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_4[] : memref<i32>
      %145 = "mosaic_gpu.slice_smem"() <{offset = 67664 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %146 = builtin.unrealized_conversion_cast %145 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %147 = llvm.extractvalue %146[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %148 = llvm.extractvalue %146[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %149 = llvm.mul %148, %c8_i64 : i64
      %150 = llvm.ptrtoint %147 : !llvm.ptr<3> to i64
      %151 = llvm.add %150, %149 : i64
      %152 = llvm.inttoptr %151 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%152) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_5 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_5[] : memref<i32>
      %153 = "mosaic_gpu.slice_smem"() <{offset = 67680 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %154 = builtin.unrealized_conversion_cast %153 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %155 = llvm.extractvalue %154[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %156 = llvm.extractvalue %154[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %157 = llvm.mul %156, %c8_i64 : i64
      %158 = llvm.ptrtoint %155 : !llvm.ptr<3> to i64
      %159 = llvm.add %158, %157 : i64
      %160 = llvm.inttoptr %159 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%160) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_6 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_6[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %161 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %162 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %163 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %164 = arith.index_cast %thread_id_y : index to i32
      %165 = arith.muli %164, %163 : i32
      %166 = arith.addi %162, %165 : i32
      %block_dim_y = gpu.block_dim y
      %167 = arith.index_cast %block_dim_y : index to i32
      %168 = arith.muli %163, %167 : i32
      %thread_id_z = gpu.thread_id z
      %169 = arith.index_cast %thread_id_z : index to i32
      %170 = arith.muli %169, %168 : i32
      %171 = arith.addi %166, %170 : i32
      %172 = arith.shrui %171, %c5_i32 : i32
      %173 = nvvm.shfl.sync idx %c-1_i32, %172, %c0_i32, %c31_i32 : i32 -> i32
      %174 = nvvm.elect.sync -> i1
      gpu.barrier
      %175 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %176 = "mosaic_gpu.slice_smem"() <{offset = 33792 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id x
      %177 = arith.index_cast %block_id_x : index to i32
      %block_id_z = gpu.block_id z
      %178 = arith.index_cast %block_id_z : index to i32
      %179 = arith.shrui %171, %c7_i32 : i32
      %180 = nvvm.shfl.sync idx %c-1_i32, %179, %c0_i32, %c31_i32 : i32 -> i32
      gpu.barrier
      %181 = nvvm.shfl.sync idx %c-1_i32, %179, %c0_i32, %c31_i32 : i32 -> i32
      %182 = arith.cmpi ne, %181, %c2_i32 : i32
      %183 = arith.extui %182 : i1 to i32
      %184 = arith.index_cast %183 : i32 to index
      scf.index_switch %184 
      case 0 {
        nvvm.setmaxregister decrease 40
        %185 = "mosaic_gpu.slice_smem"() <{offset = 34816 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %186 = "mosaic_gpu.with_transforms"(%185) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview = memref.subview %186[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %187 = builtin.unrealized_conversion_cast %144 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%187 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%37, %cast, %187, %177, %c0_i32, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %188 = "mosaic_gpu.slice_smem"() <{offset = 51200 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %189 = "mosaic_gpu.with_transforms"(%188) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_7 = memref.subview %189[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast_8 = memref.cast %subview_7 : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%187 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%51, %cast_8, %187, %177, %c0_i32, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %190 = "mosaic_gpu.with_transforms"(%185) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_9 = memref.subview %190[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_10 = memref.cast %subview_9 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %191 = llvm.getelementptr %144[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %192 = builtin.unrealized_conversion_cast %191 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%192 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%37, %cast_10, %192, %177, %c64_i32, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %193 = "mosaic_gpu.with_transforms"(%188) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %193[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_12 = memref.cast %subview_11 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%192 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%51, %cast_12, %192, %177, %c64_i32, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %194 = scf.for %arg14 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg15 = %c2_i32) -> (i32)  : i32 {
          %217 = arith.remsi %arg14, %c2_i32 : i32
          %218 = arith.index_cast %217 : i32 to index
          %219 = arith.index_castui %218 : index to i32
          %220 = memref.load %alloca_6[] : memref<i32>
          %221 = arith.shli %c1_i32, %219 : i32
          %222 = arith.andi %220, %221 : i32
          %223 = arith.cmpi ne, %222, %c0_i32 : i32
          %224 = arith.xori %220, %221 : i32
          memref.store %224, %alloca_6[] : memref<i32>
          %225 = arith.extui %223 : i1 to i32
          %226 = llvm.getelementptr %160[%219] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %226, %225, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %227 = arith.muli %arg15, %c64_i32 : i32
          %228 = "mosaic_gpu.with_transforms"(%185) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %228[%218, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %229 = llvm.getelementptr %144[%219] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %230 = builtin.unrealized_conversion_cast %229 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%230 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%37, %subview_13, %230, %177, %227, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %231 = memref.load %alloca_5[] : memref<i32>
          %232 = arith.andi %231, %221 : i32
          %233 = arith.cmpi ne, %232, %c0_i32 : i32
          %234 = arith.xori %231, %221 : i32
          memref.store %234, %alloca_5[] : memref<i32>
          %235 = arith.extui %233 : i1 to i32
          %236 = llvm.getelementptr %152[%219] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %236, %235, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %237 = "mosaic_gpu.with_transforms"(%188) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_14 = memref.subview %237[%218, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%230 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%51, %subview_14, %230, %177, %227, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %238 = arith.addi %arg15, %c1_i32 : i32
          %239 = arith.cmpi eq, %238, %c4_i32 : i32
          %240 = arith.select %239, %c0_i32, %238 : i32
          scf.yield %240 : i32
        }
        %195 = memref.load %alloca_6[] : memref<i32>
        %196 = arith.andi %195, %c1_i32 : i32
        %197 = arith.cmpi ne, %196, %c0_i32 : i32
        %198 = arith.xori %195, %c1_i32 : i32
        memref.store %198, %alloca_6[] : memref<i32>
        %199 = arith.extui %197 : i1 to i32
        nvvm.mbarrier.try_wait.parity %160, %199, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %200 = memref.load %alloca_5[] : memref<i32>
        %201 = arith.andi %200, %c1_i32 : i32
        %202 = arith.cmpi ne, %201, %c0_i32 : i32
        %203 = arith.xori %200, %c1_i32 : i32
        memref.store %203, %alloca_5[] : memref<i32>
        %204 = arith.extui %202 : i1 to i32
        nvvm.mbarrier.try_wait.parity %152, %204, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %205 = memref.load %alloca_6[] : memref<i32>
        %206 = arith.andi %205, %c2_i32 : i32
        %207 = arith.cmpi ne, %206, %c0_i32 : i32
        %208 = arith.xori %205, %c2_i32 : i32
        memref.store %208, %alloca_6[] : memref<i32>
        %209 = arith.extui %207 : i1 to i32
        %210 = llvm.getelementptr %160[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %210, %209, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %211 = memref.load %alloca_5[] : memref<i32>
        %212 = arith.andi %211, %c2_i32 : i32
        %213 = arith.cmpi ne, %212, %c0_i32 : i32
        %214 = arith.xori %211, %c2_i32 : i32
        memref.store %214, %alloca_5[] : memref<i32>
        %215 = arith.extui %213 : i1 to i32
        %216 = llvm.getelementptr %152[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %216, %215, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        scf.yield
      }
      default {
        nvvm.setmaxregister increase 232
        %block_id_y = gpu.block_id y
        %185 = arith.index_cast %block_id_y : index to i32
        %186 = arith.muli %185, %c128_i32 : i32
        %187 = arith.muli %180, %c64_i32 : i32
        %188 = arith.addi %186, %187 : i32
        %189 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %190 = "mosaic_gpu.with_transforms"(%189) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %191 = arith.index_cast %180 : i32 to index
        %subview = memref.subview %190[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %192 = arith.index_castui %191 : index to i32
        %193 = llvm.getelementptr %136[%192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %194 = builtin.unrealized_conversion_cast %193 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%194 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%23, %subview, %194, %177, %188, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %195 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %196 = "mosaic_gpu.with_transforms"(%195) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_7 = memref.subview %196[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %197 = llvm.getelementptr %128[%192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %198 = builtin.unrealized_conversion_cast %197 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%198 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%65, %subview_7, %198, %177, %188, %178, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_8 = memref.subview %176[%191, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        %199 = llvm.getelementptr %112[%192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %200 = builtin.unrealized_conversion_cast %199 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%200 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%89, %subview_8, %200, %177, %178, %188) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %subview_9 = memref.subview %175[%191, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        %201 = llvm.getelementptr %120[%192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %202 = builtin.unrealized_conversion_cast %201 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%202 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%77, %subview_9, %202, %177, %178, %188) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %203 = memref.load %alloca_3[] : memref<i32>
        %204 = arith.shli %c1_i32, %192 : i32
        %205 = arith.andi %203, %204 : i32
        %206 = arith.cmpi ne, %205, %c0_i32 : i32
        %207 = arith.xori %203, %204 : i32
        memref.store %207, %alloca_3[] : memref<i32>
        %208 = arith.extui %206 : i1 to i32
        nvvm.mbarrier.try_wait.parity %193, %208, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %209 = memref.load %alloca_2[] : memref<i32>
        %210 = arith.andi %209, %204 : i32
        %211 = arith.cmpi ne, %210, %c0_i32 : i32
        %212 = arith.xori %209, %204 : i32
        memref.store %212, %alloca_2[] : memref<i32>
        %213 = arith.extui %211 : i1 to i32
        nvvm.mbarrier.try_wait.parity %197, %213, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %214 = memref.load %alloca_1[] : memref<i32>
        %215 = arith.andi %214, %204 : i32
        %216 = arith.cmpi ne, %215, %c0_i32 : i32
        %217 = arith.xori %214, %204 : i32
        memref.store %217, %alloca_1[] : memref<i32>
        %218 = arith.extui %216 : i1 to i32
        nvvm.mbarrier.try_wait.parity %201, %218, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %219 = memref.load %alloca[] : memref<i32>
        %220 = arith.andi %219, %204 : i32
        %221 = arith.cmpi ne, %220, %c0_i32 : i32
        %222 = arith.xori %219, %204 : i32
        memref.store %222, %alloca[] : memref<i32>
        %223 = arith.extui %221 : i1 to i32
        nvvm.mbarrier.try_wait.parity %199, %223, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %224 = "mosaic_gpu.vector_load"(%subview_8) <{optimized = true}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64xf32>
        %225 = mosaic_gpu.layout_cast x(%224 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %226 = "mosaic_gpu.vector_load"(%subview_9) <{optimized = true}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64xf32>
        %227 = mosaic_gpu.layout_cast x(%226 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>}
        %228 = mosaic_gpu.layout_cast x(%cst_0 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
        %229:2 = scf.for %arg14 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg15 = %c0_i32, %arg16 = %228) -> (i32, vector<64x64xf32>)  : i32 {
          %236 = arith.remsi %arg14, %c2_i32 : i32
          %237 = arith.index_cast %236 : i32 to index
          %238 = arith.index_castui %237 : index to i32
          %239 = memref.load %alloca_4[] : memref<i32>
          %240 = arith.shli %c1_i32, %238 : i32
          %241 = arith.andi %239, %240 : i32
          %242 = arith.cmpi ne, %241, %c0_i32 : i32
          %243 = arith.xori %239, %240 : i32
          memref.store %243, %alloca_4[] : memref<i32>
          %244 = arith.extui %242 : i1 to i32
          %245 = llvm.getelementptr %144[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %245, %244, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %246 = "mosaic_gpu.optimization_barrier"(%cst_0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %247 = "mosaic_gpu.with_transforms"(%189) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_12 = memref.subview %247[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %248 = "mosaic_gpu.slice_smem"() <{offset = 34816 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %249 = "mosaic_gpu.with_transforms"(%248) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %249[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_13 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %250 = mosaic_gpu.wgmma accumulator(%246 : vector<64x64xf32>) a(%subview_12 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %251 = arith.mulf %250, %cst : vector<64x64xf32>
          %252 = mosaic_gpu.broadcast_in_dim(%227 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %253 = arith.subf %251, %252 : vector<64x64xf32>
          %254 = math.exp2 %253 fastmath<afn> : vector<64x64xf32>
          %255 = "mosaic_gpu.optimization_barrier"(%cst_0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %256 = "mosaic_gpu.with_transforms"(%195) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_14 = memref.subview %256[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %257 = "mosaic_gpu.slice_smem"() <{offset = 51200 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %258 = "mosaic_gpu.with_transforms"(%257) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_15 = memref.subview %258[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose_16 = memref.transpose %subview_15 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %259 = mosaic_gpu.wgmma accumulator(%255 : vector<64x64xf32>) a(%subview_14 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose_16 : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %260 = llvm.getelementptr %152[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %261 = builtin.unrealized_conversion_cast %260 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%261) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %262 = mosaic_gpu.broadcast_in_dim(%225 : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x64xf32>
          %263 = arith.subf %259, %262 : vector<64x64xf32>
          %264 = arith.mulf %254, %263 : vector<64x64xf32>
          %265 = "mosaic_gpu.optimization_barrier"(%arg16) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %266 = arith.truncf %264 : vector<64x64xf32> to vector<64x64xf16>
          %267 = "mosaic_gpu.with_transforms"(%248) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_17 = memref.subview %267[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %268 = mosaic_gpu.wgmma accumulator(%265 : vector<64x64xf32>) a(%266 : vector<64x64xf16>) b(%subview_17 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %269 = llvm.getelementptr %160[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %270 = builtin.unrealized_conversion_cast %269 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%270) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          nvvm.cp.async.bulk.commit.group
          %271 = arith.addi %arg15, %c1_i32 : i32
          %272 = arith.cmpi eq, %271, %c4_i32 : i32
          %273 = arith.select %272, %c0_i32, %271 : i32
          scf.yield %273, %268 : i32, vector<64x64xf32>
        }
        %230 = arith.truncf %229#1 : vector<64x64xf32> to vector<64x64xf16>
        %231 = "mosaic_gpu.with_transforms"(%189) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_10 = memref.subview %231[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%230, %subview_10) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %232 = arith.addi %179, %c1_i32 : i32
        %233 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %232 : (i32) -> !llvm.void
        %234 = "mosaic_gpu.with_transforms"(%189) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %234[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%subview_11, %103, %177, %188, %178, %c0_i32) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.wait_group 0
        %235 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %232 : (i32) -> !llvm.void
      }
      gpu.terminator
    }
    return
  }
}
