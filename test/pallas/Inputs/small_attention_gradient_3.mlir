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
    %104 = llvm.getelementptr %arg1[7] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %105 = llvm.load %104 : !llvm.ptr -> !llvm.ptr
    %106 = llvm.insertvalue %105, %9[0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %107 = llvm.insertvalue %105, %106[1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %108 = llvm.insertvalue %8, %107[2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %109 = llvm.insertvalue %7, %108[3, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %110 = llvm.insertvalue %6, %109[3, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %111 = llvm.insertvalue %5, %110[3, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %112 = llvm.insertvalue %4, %111[3, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %113 = llvm.insertvalue %3, %112[4, 0] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %114 = llvm.insertvalue %2, %113[4, 1] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %115 = llvm.insertvalue %4, %114[4, 2] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %116 = llvm.insertvalue %7, %115[4, 3] : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> 
    %117 = builtin.unrealized_conversion_cast %116 : !llvm.struct<(ptr, ptr, i64, array<4 x i64>, array<4 x i64>)> to memref<1x256x2x64xf16> {mosaic_gpu.from_kernel_arg_idx = 7 : i32, mosaic_gpu.original_kernel_arg}
    %118 = gpu.launch async [%10] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c1, %arg9 = %c2, %arg10 = %c2) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c67696_i32 {
      %119 = "mosaic_gpu.slice_smem"() <{offset = 67584 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %120 = builtin.unrealized_conversion_cast %119 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %121 = llvm.extractvalue %120[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %122 = llvm.extractvalue %120[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %123 = llvm.mul %122, %c8_i64 : i64
      %124 = llvm.ptrtoint %121 : !llvm.ptr<3> to i64
      %125 = llvm.add %124, %123 : i64
      %126 = llvm.inttoptr %125 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%126) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %127 = "mosaic_gpu.slice_smem"() <{offset = 67600 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %128 = builtin.unrealized_conversion_cast %127 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %129 = llvm.extractvalue %128[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %130 = llvm.extractvalue %128[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %131 = llvm.mul %130, %c8_i64 : i64
      %132 = llvm.ptrtoint %129 : !llvm.ptr<3> to i64
      %133 = llvm.add %132, %131 : i64
      %134 = llvm.inttoptr %133 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%134) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_1 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_1[] : memref<i32>
      %135 = "mosaic_gpu.slice_smem"() <{offset = 67616 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %136 = builtin.unrealized_conversion_cast %135 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %137 = llvm.extractvalue %136[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %138 = llvm.extractvalue %136[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %139 = llvm.mul %138, %c8_i64 : i64
      %140 = llvm.ptrtoint %137 : !llvm.ptr<3> to i64
      %141 = llvm.add %140, %139 : i64
      %142 = llvm.inttoptr %141 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%142) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_2 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_2[] : memref<i32>
      %143 = "mosaic_gpu.slice_smem"() <{offset = 67632 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %144 = builtin.unrealized_conversion_cast %143 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %145 = llvm.extractvalue %144[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %146 = llvm.extractvalue %144[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %147 = llvm.mul %146, %c8_i64 : i64
      %148 = llvm.ptrtoint %145 : !llvm.ptr<3> to i64
      %149 = llvm.add %148, %147 : i64
      %150 = llvm.inttoptr %149 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%150) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_3 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_3[] : memref<i32>
      %151 = "mosaic_gpu.slice_smem"() <{offset = 67648 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %152 = builtin.unrealized_conversion_cast %151 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %153 = llvm.extractvalue %152[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %154 = llvm.extractvalue %152[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %155 = llvm.mul %154, %c8_i64 : i64
      %156 = llvm.ptrtoint %153 : !llvm.ptr<3> to i64
      %157 = llvm.add %156, %155 : i64
      %158 = llvm.inttoptr %157 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%158) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_4 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_4[] : memref<i32>
      %159 = "mosaic_gpu.slice_smem"() <{offset = 67664 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %160 = builtin.unrealized_conversion_cast %159 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %161 = llvm.extractvalue %160[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %162 = llvm.extractvalue %160[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %163 = llvm.mul %162, %c8_i64 : i64
      %164 = llvm.ptrtoint %161 : !llvm.ptr<3> to i64
      %165 = llvm.add %164, %163 : i64
      %166 = llvm.inttoptr %165 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%166) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_5 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_5[] : memref<i32>
      %167 = "mosaic_gpu.slice_smem"() <{offset = 67680 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %168 = builtin.unrealized_conversion_cast %167 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %169 = llvm.extractvalue %168[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %170 = llvm.extractvalue %168[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %171 = llvm.mul %170, %c8_i64 : i64
      %172 = llvm.ptrtoint %169 : !llvm.ptr<3> to i64
      %173 = llvm.add %172, %171 : i64
      %174 = llvm.inttoptr %173 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%174) <{arrival_count = 4 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_6 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_6[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %175 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %176 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %177 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %178 = arith.index_cast %thread_id_y : index to i32
      %179 = arith.muli %178, %177 : i32
      %180 = arith.addi %176, %179 : i32
      %block_dim_y = gpu.block_dim y
      %181 = arith.index_cast %block_dim_y : index to i32
      %182 = arith.muli %177, %181 : i32
      %thread_id_z = gpu.thread_id z
      %183 = arith.index_cast %thread_id_z : index to i32
      %184 = arith.muli %183, %182 : i32
      %185 = arith.addi %180, %184 : i32
      %186 = arith.shrui %185, %c5_i32 : i32
      %187 = nvvm.shfl.sync idx %c-1_i32, %186, %c0_i32, %c31_i32 : i32 -> i32
      %188 = nvvm.elect.sync -> i1
      gpu.barrier
      %block_id_x = gpu.block_id x
      %189 = arith.index_cast %block_id_x : index to i32
      %block_id_z = gpu.block_id z
      %190 = arith.index_cast %block_id_z : index to i32
      %191 = arith.shrui %185, %c7_i32 : i32
      %192 = nvvm.shfl.sync idx %c-1_i32, %191, %c0_i32, %c31_i32 : i32 -> i32
      gpu.barrier
      %193 = "mosaic_gpu.slice_smem"() <{offset = 65536 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %194 = "mosaic_gpu.slice_smem"() <{offset = 66560 : i32}> : () -> memref<2x64xf32, #gpu.address_space<workgroup>>
      %195 = nvvm.shfl.sync idx %c-1_i32, %191, %c0_i32, %c31_i32 : i32 -> i32
      %196 = arith.cmpi ne, %195, %c2_i32 : i32
      %197 = arith.extui %196 : i1 to i32
      %198 = arith.index_cast %197 : i32 to index
      scf.index_switch %198 
      case 0 {
        nvvm.setmaxregister decrease 40
        %199 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %200 = "mosaic_gpu.with_transforms"(%199) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview = memref.subview %200[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %201 = builtin.unrealized_conversion_cast %174 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%201 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%23, %cast, %201, %189, %c0_i32, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %202 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %203 = "mosaic_gpu.with_transforms"(%202) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_7 = memref.subview %203[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast_8 = memref.cast %subview_7 : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%201 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%65, %cast_8, %201, %189, %c0_i32, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_9 = memref.subview %193[0, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
        %cast_10 = memref.cast %subview_9 : memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%201 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%77, %cast_10, %201, %189, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %subview_11 = memref.subview %194[0, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
        %cast_12 = memref.cast %subview_11 : memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%201 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%89, %cast_12, %201, %189, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %204 = "mosaic_gpu.with_transforms"(%199) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_13 = memref.subview %204[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_14 = memref.cast %subview_13 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %205 = llvm.getelementptr %174[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %206 = builtin.unrealized_conversion_cast %205 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%206 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%23, %cast_14, %206, %189, %c64_i32, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %207 = "mosaic_gpu.with_transforms"(%202) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_15 = memref.subview %207[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_16 = memref.cast %subview_15 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%206 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%65, %cast_16, %206, %189, %c64_i32, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %subview_17 = memref.subview %193[1, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
        %cast_18 = memref.cast %subview_17 : memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%206 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%77, %cast_18, %206, %189, %190, %c64_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %subview_19 = memref.subview %194[1, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
        %cast_20 = memref.cast %subview_19 : memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%206 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
        "mosaic_gpu.async_load"(%89, %cast_20, %206, %189, %190, %c64_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %208 = scf.for %arg14 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg15 = %c2_i32) -> (i32)  : i32 {
          %253 = arith.remsi %arg14, %c2_i32 : i32
          %254 = arith.index_cast %253 : i32 to index
          %255 = arith.index_castui %254 : index to i32
          %256 = memref.load %alloca_5[] : memref<i32>
          %257 = arith.shli %c1_i32, %255 : i32
          %258 = arith.andi %256, %257 : i32
          %259 = arith.cmpi ne, %258, %c0_i32 : i32
          %260 = arith.xori %256, %257 : i32
          memref.store %260, %alloca_5[] : memref<i32>
          %261 = arith.extui %259 : i1 to i32
          %262 = llvm.getelementptr %166[%255] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %262, %261, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %263 = arith.muli %arg15, %c64_i32 : i32
          %264 = "mosaic_gpu.with_transforms"(%199) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_21 = memref.subview %264[%254, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %265 = llvm.getelementptr %174[%255] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %266 = builtin.unrealized_conversion_cast %265 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%266 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%23, %subview_21, %266, %189, %263, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %267 = memref.load %alloca_4[] : memref<i32>
          %268 = arith.andi %267, %257 : i32
          %269 = arith.cmpi ne, %268, %c0_i32 : i32
          %270 = arith.xori %267, %257 : i32
          memref.store %270, %alloca_4[] : memref<i32>
          %271 = arith.extui %269 : i1 to i32
          %272 = llvm.getelementptr %158[%255] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %272, %271, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %273 = "mosaic_gpu.with_transforms"(%202) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_22 = memref.subview %273[%254, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%266 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
          "mosaic_gpu.async_load"(%65, %subview_22, %266, %189, %263, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
          %274 = memref.load %alloca_3[] : memref<i32>
          %275 = arith.andi %274, %257 : i32
          %276 = arith.cmpi ne, %275, %c0_i32 : i32
          %277 = arith.xori %274, %257 : i32
          memref.store %277, %alloca_3[] : memref<i32>
          %278 = arith.extui %276 : i1 to i32
          %279 = llvm.getelementptr %150[%255] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %279, %278, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %subview_23 = memref.subview %193[%254, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%266 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
          "mosaic_gpu.async_load"(%77, %subview_23, %266, %189, %190, %263) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
          %280 = memref.load %alloca_2[] : memref<i32>
          %281 = arith.andi %280, %257 : i32
          %282 = arith.cmpi ne, %281, %c0_i32 : i32
          %283 = arith.xori %280, %257 : i32
          memref.store %283, %alloca_2[] : memref<i32>
          %284 = arith.extui %282 : i1 to i32
          %285 = llvm.getelementptr %142[%255] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %285, %284, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %subview_24 = memref.subview %194[%254, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%266 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 256
          "mosaic_gpu.async_load"(%89, %subview_24, %266, %189, %190, %263) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, -1, 64>}> : (memref<1x2x256xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
          %286 = arith.addi %arg15, %c1_i32 : i32
          %287 = arith.cmpi eq, %286, %c4_i32 : i32
          %288 = arith.select %287, %c0_i32, %286 : i32
          scf.yield %288 : i32
        }
        %209 = memref.load %alloca_5[] : memref<i32>
        %210 = arith.andi %209, %c1_i32 : i32
        %211 = arith.cmpi ne, %210, %c0_i32 : i32
        %212 = arith.xori %209, %c1_i32 : i32
        memref.store %212, %alloca_5[] : memref<i32>
        %213 = arith.extui %211 : i1 to i32
        nvvm.mbarrier.try_wait.parity %166, %213, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %214 = memref.load %alloca_4[] : memref<i32>
        %215 = arith.andi %214, %c1_i32 : i32
        %216 = arith.cmpi ne, %215, %c0_i32 : i32
        %217 = arith.xori %214, %c1_i32 : i32
        memref.store %217, %alloca_4[] : memref<i32>
        %218 = arith.extui %216 : i1 to i32
        nvvm.mbarrier.try_wait.parity %158, %218, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %219 = memref.load %alloca_3[] : memref<i32>
        %220 = arith.andi %219, %c1_i32 : i32
        %221 = arith.cmpi ne, %220, %c0_i32 : i32
        %222 = arith.xori %219, %c1_i32 : i32
        memref.store %222, %alloca_3[] : memref<i32>
        %223 = arith.extui %221 : i1 to i32
        nvvm.mbarrier.try_wait.parity %150, %223, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %224 = memref.load %alloca_2[] : memref<i32>
        %225 = arith.andi %224, %c1_i32 : i32
        %226 = arith.cmpi ne, %225, %c0_i32 : i32
        %227 = arith.xori %224, %c1_i32 : i32
        memref.store %227, %alloca_2[] : memref<i32>
        %228 = arith.extui %226 : i1 to i32
        nvvm.mbarrier.try_wait.parity %142, %228, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %229 = memref.load %alloca_5[] : memref<i32>
        %230 = arith.andi %229, %c2_i32 : i32
        %231 = arith.cmpi ne, %230, %c0_i32 : i32
        %232 = arith.xori %229, %c2_i32 : i32
        memref.store %232, %alloca_5[] : memref<i32>
        %233 = arith.extui %231 : i1 to i32
        %234 = llvm.getelementptr %166[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %234, %233, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %235 = memref.load %alloca_4[] : memref<i32>
        %236 = arith.andi %235, %c2_i32 : i32
        %237 = arith.cmpi ne, %236, %c0_i32 : i32
        %238 = arith.xori %235, %c2_i32 : i32
        memref.store %238, %alloca_4[] : memref<i32>
        %239 = arith.extui %237 : i1 to i32
        %240 = llvm.getelementptr %158[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %240, %239, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %241 = memref.load %alloca_3[] : memref<i32>
        %242 = arith.andi %241, %c2_i32 : i32
        %243 = arith.cmpi ne, %242, %c0_i32 : i32
        %244 = arith.xori %241, %c2_i32 : i32
        memref.store %244, %alloca_3[] : memref<i32>
        %245 = arith.extui %243 : i1 to i32
        %246 = llvm.getelementptr %150[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %246, %245, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %247 = memref.load %alloca_2[] : memref<i32>
        %248 = arith.andi %247, %c2_i32 : i32
        %249 = arith.cmpi ne, %248, %c0_i32 : i32
        %250 = arith.xori %247, %c2_i32 : i32
        memref.store %250, %alloca_2[] : memref<i32>
        %251 = arith.extui %249 : i1 to i32
        %252 = llvm.getelementptr %142[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %252, %251, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        scf.yield
      }
      default {
        nvvm.setmaxregister increase 232
        %block_id_y = gpu.block_id y
        %199 = arith.index_cast %block_id_y : index to i32
        %200 = arith.muli %199, %c128_i32 : i32
        %201 = arith.muli %192, %c64_i32 : i32
        %202 = arith.addi %200, %201 : i32
        %203 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %204 = "mosaic_gpu.with_transforms"(%203) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %205 = arith.index_cast %192 : i32 to index
        %subview = memref.subview %204[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %206 = arith.index_castui %205 : index to i32
        %207 = llvm.getelementptr %134[%206] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %208 = builtin.unrealized_conversion_cast %207 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%208 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%37, %subview, %208, %189, %202, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %209 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %210 = "mosaic_gpu.with_transforms"(%209) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_7 = memref.subview %210[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %211 = llvm.getelementptr %126[%206] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %212 = builtin.unrealized_conversion_cast %211 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%212 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%51, %subview_7, %212, %189, %202, %190, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 4, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<1x256x2x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32, i32) -> ()
        %213 = memref.load %alloca_1[] : memref<i32>
        %214 = arith.shli %c1_i32, %206 : i32
        %215 = arith.andi %213, %214 : i32
        %216 = arith.cmpi ne, %215, %c0_i32 : i32
        %217 = arith.xori %213, %214 : i32
        memref.store %217, %alloca_1[] : memref<i32>
        %218 = arith.extui %216 : i1 to i32
        nvvm.mbarrier.try_wait.parity %207, %218, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %219 = memref.load %alloca[] : memref<i32>
        %220 = arith.andi %219, %214 : i32
        %221 = arith.cmpi ne, %220, %c0_i32 : i32
        %222 = arith.xori %219, %214 : i32
        memref.store %222, %alloca[] : memref<i32>
        %223 = arith.extui %221 : i1 to i32
        nvvm.mbarrier.try_wait.parity %211, %223, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %224 = mosaic_gpu.layout_cast x(%cst_0 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
        %225 = mosaic_gpu.layout_cast x(%cst_0 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
        %226:3 = scf.for %arg14 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg15 = %c0_i32, %arg16 = %225, %arg17 = %224) -> (i32, vector<64x64xf32>, vector<64x64xf32>)  : i32 {
          %236 = arith.remsi %arg14, %c2_i32 : i32
          %237 = arith.index_cast %236 : i32 to index
          %238 = arith.index_castui %237 : index to i32
          %239 = memref.load %alloca_6[] : memref<i32>
          %240 = arith.shli %c1_i32, %238 : i32
          %241 = arith.andi %239, %240 : i32
          %242 = arith.cmpi ne, %241, %c0_i32 : i32
          %243 = arith.xori %239, %240 : i32
          memref.store %243, %alloca_6[] : memref<i32>
          %244 = arith.extui %242 : i1 to i32
          %245 = llvm.getelementptr %174[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %245, %244, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %246 = "mosaic_gpu.optimization_barrier"(%cst_0) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %247 = "mosaic_gpu.with_transforms"(%203) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_12 = memref.subview %247[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %248 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %249 = "mosaic_gpu.with_transforms"(%248) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %249[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose = memref.transpose %subview_13 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %250 = mosaic_gpu.wgmma accumulator(%246 : vector<64x64xf32>) a(%subview_12 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %251 = arith.mulf %250, %cst : vector<64x64xf32>
          %subview_14 = memref.subview %193[%237, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
          %252 = "mosaic_gpu.vector_load"(%subview_14) <{optimized = true}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64xf32>
          %253 = mosaic_gpu.layout_cast x(%252 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>}
          %254 = llvm.getelementptr %150[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %255 = builtin.unrealized_conversion_cast %254 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%255) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %256 = mosaic_gpu.broadcast_in_dim(%253 : vector<64xf32>) {broadcast_dimensions = array<i64: 1>} -> vector<64x64xf32>
          %257 = arith.subf %251, %256 : vector<64x64xf32>
          %258 = math.exp2 %257 fastmath<afn> : vector<64x64xf32>
          %259 = mosaic_gpu.layout_cast x(%cst_0 : vector<64x64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
          %260 = "mosaic_gpu.optimization_barrier"(%arg17) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %261 = "mosaic_gpu.optimization_barrier"(%259) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %262 = arith.truncf %258 : vector<64x64xf32> to vector<64x64xf16>
          %263 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %264 = "mosaic_gpu.with_transforms"(%263) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_15 = memref.subview %264[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %265 = mosaic_gpu.wgmma accumulator(%260 : vector<64x64xf32>) a(%262 : vector<64x64xf16>) b(%subview_15 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %266 = "mosaic_gpu.with_transforms"(%209) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_16 = memref.subview %266[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %267 = "mosaic_gpu.with_transforms"(%263) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_17 = memref.subview %267[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %transpose_18 = memref.transpose %subview_17 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
          %268 = mosaic_gpu.wgmma accumulator(%261 : vector<64x64xf32>) a(%subview_16 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%transpose_18 : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %269 = llvm.getelementptr %158[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %270 = builtin.unrealized_conversion_cast %269 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%270) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %subview_19 = memref.subview %194[%237, 0] [1, 64] [1, 1] : memref<2x64xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
          %271 = "mosaic_gpu.vector_load"(%subview_19) <{optimized = true}> : (memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64xf32>
          %272 = mosaic_gpu.layout_cast x(%271 : vector<64xf32>) {new_layout = #mosaic_gpu.TiledLayout<[[8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>}
          %273 = llvm.getelementptr %142[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %274 = builtin.unrealized_conversion_cast %273 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%274) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          %275 = mosaic_gpu.broadcast_in_dim(%272 : vector<64xf32>) {broadcast_dimensions = array<i64: 1>} -> vector<64x64xf32>
          %276 = arith.subf %268, %275 : vector<64x64xf32>
          %277 = arith.mulf %258, %276 : vector<64x64xf32>
          %278 = "mosaic_gpu.optimization_barrier"(%arg16) : (vector<64x64xf32>) -> vector<64x64xf32>
          nvvm.wgmma.fence.aligned
          %279 = arith.truncf %277 : vector<64x64xf32> to vector<64x64xf16>
          %280 = "mosaic_gpu.with_transforms"(%248) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_20 = memref.subview %280[%237, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %281 = mosaic_gpu.wgmma accumulator(%278 : vector<64x64xf32>) a(%279 : vector<64x64xf16>) b(%subview_20 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          %282 = llvm.getelementptr %166[%238] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %283 = builtin.unrealized_conversion_cast %282 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%283) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
          nvvm.cp.async.bulk.commit.group
          %284 = arith.addi %arg15, %c1_i32 : i32
          %285 = arith.cmpi eq, %284, %c4_i32 : i32
          %286 = arith.select %285, %c0_i32, %284 : i32
          scf.yield %286, %281, %265 : i32, vector<64x64xf32>, vector<64x64xf32>
        }
        %227 = arith.truncf %226#1 : vector<64x64xf32> to vector<64x64xf16>
        %228 = "mosaic_gpu.with_transforms"(%203) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_8 = memref.subview %228[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%227, %subview_8) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        %229 = arith.truncf %226#2 : vector<64x64xf32> to vector<64x64xf16>
        %230 = "mosaic_gpu.with_transforms"(%209) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_9 = memref.subview %230[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%229, %subview_9) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %231 = arith.addi %191, %c1_i32 : i32
        %232 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %231 : (i32) -> !llvm.void
        %233 = "mosaic_gpu.with_transforms"(%203) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_10 = memref.subview %233[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%subview_10, %103, %189, %202, %190, %c0_i32) <{commit_group = false, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        %234 = "mosaic_gpu.with_transforms"(%209) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %subview_11 = memref.subview %234[%205, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%subview_11, %117, %189, %202, %190, %c0_i32) <{commit_group = false, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 4, 0, 0>, slice_lengths = array<i64: -1, 64, -1, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<1x256x2x64xf16>, i32, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
        %235 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %231 : (i32) -> !llvm.void
      }
      gpu.terminator
    }
    return
  }
}
