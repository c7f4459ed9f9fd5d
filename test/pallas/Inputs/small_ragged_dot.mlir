module @body attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @body_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0.000000e+00> : vector<64x128xf32>
    %c3_i32 = arith.constant 3 : i32
    %c8_i32 = arith.constant 8 : i32
    %c16_i32 = arith.constant 16 : i32
    %c32_i32 = arith.constant 32 : i32
    %c7_i32 = arith.constant 7 : i32
    %c10000000_i32 = arith.constant 10000000 : i32
    %c128_i32 = arith.constant 128 : i32
    %c64_i32 = arith.constant 64 : i32
    %c2_i32 = arith.constant 2 : i32
    %c132_i32 = arith.constant 132 : i32
    %c6_i32 = arith.constant 6 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c49168_i32 = arith.constant 49168 : i32
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c132 = arith.constant 132 : index
    %0 = llvm.mlir.constant(32768 : i64) : i64
    %1 = llvm.mlir.constant(128 : i64) : i64
    %2 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
    %3 = llvm.mlir.constant(256 : i64) : i64
    %4 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %5 = llvm.mlir.constant(1 : i64) : i64
    %6 = llvm.mlir.constant(3 : i64) : i64
    %7 = llvm.mlir.constant(0 : i64) : i64
    %8 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %9 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %10 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %11 = llvm.insertvalue %10, %8[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %12 = llvm.insertvalue %10, %11[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %13 = llvm.insertvalue %7, %12[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %14 = llvm.insertvalue %6, %13[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %15 = llvm.insertvalue %5, %14[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %16 = builtin.unrealized_conversion_cast %15 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<3xi32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %17 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %18 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
    %19 = llvm.insertvalue %18, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %18, %19[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %7, %20[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %3, %21[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %3, %22[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %3, %23[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = llvm.insertvalue %5, %24[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %26 = builtin.unrealized_conversion_cast %25 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x256xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %27 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %28 = llvm.load %27 : !llvm.ptr -> !llvm.ptr
    %29 = llvm.insertvalue %28, %2[0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %30 = llvm.insertvalue %28, %29[1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %31 = llvm.insertvalue %7, %30[2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %32 = llvm.insertvalue %6, %31[3, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %33 = llvm.insertvalue %3, %32[3, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %34 = llvm.insertvalue %1, %33[3, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %35 = llvm.insertvalue %0, %34[4, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %36 = llvm.insertvalue %1, %35[4, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %37 = llvm.insertvalue %5, %36[4, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %38 = builtin.unrealized_conversion_cast %37 : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> to memref<3x256x128xf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %39 = llvm.getelementptr %arg1[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %40 = llvm.load %39 : !llvm.ptr -> !llvm.ptr
    %41 = llvm.insertvalue %40, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %42 = llvm.insertvalue %40, %41[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %43 = llvm.insertvalue %7, %42[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %44 = llvm.insertvalue %3, %43[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %45 = llvm.insertvalue %1, %44[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %46 = llvm.insertvalue %1, %45[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %47 = llvm.insertvalue %5, %46[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %48 = builtin.unrealized_conversion_cast %47 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x128xf16> {mosaic_gpu.from_kernel_arg_idx = 3 : i32, mosaic_gpu.original_kernel_arg}
    %49 = gpu.launch async [%9] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c132, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c128, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c49168_i32 {
      %50 = "mosaic_gpu.slice_smem"() <{offset = 49152 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %51 = builtin.unrealized_conversion_cast %50 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %52 = llvm.extractvalue %51[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %53 = llvm.extractvalue %51[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %54 = llvm.mul %53, %c8_i64 : i64
      %55 = llvm.ptrtoint %52 : !llvm.ptr<3> to i64
      %56 = llvm.add %55, %54 : i64
      %57 = llvm.inttoptr %56 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%57) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %58 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %59 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %60 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %61 = arith.index_cast %thread_id_y : index to i32
      %62 = arith.muli %61, %60 : i32
      %63 = arith.addi %59, %62 : i32
      %block_dim_y = gpu.block_dim y
      %64 = arith.index_cast %block_dim_y : index to i32
      %65 = arith.muli %60, %64 : i32
      %thread_id_z = gpu.thread_id z
      %66 = arith.index_cast %thread_id_z : index to i32
      %67 = arith.muli %66, %65 : i32
      %68 = arith.addi %63, %67 : i32
      %69 = arith.shrui %68, %c5_i32 : i32
      %70 = nvvm.shfl.sync idx %c-1_i32, %69, %c0_i32, %c31_i32 : i32 -> i32
      %71 = nvvm.elect.sync -> i1
      %block_id_x = gpu.block_id x
      %72 = arith.index_cast %block_id_x : index to i32
      %73 = arith.cmpi slt, %72, %c6_i32 : i32
      %74 = arith.extui %73 : i1 to i32
      scf.for %arg14 = %c0_i32 to %74 step %c1_i32  : i32 {
        %75 = arith.muli %arg14, %c132_i32 : i32
        %76 = arith.addi %75, %72 : i32
        %77 = arith.remsi %76, %c6_i32 : i32
        %78 = arith.divsi %77, %c6_i32 : i32
        %79 = arith.cmpi slt, %77, %c6_i32 : i32
        %80 = arith.remsi %77, %c6_i32 : i32
        %81 = arith.remsi %78, %c2_i32 : i32
        %82 = arith.cmpi eq, %81, %c0_i32 : i32
        %83 = arith.subi %c5_i32, %80 : i32
        %84 = arith.select %82, %80, %83 : i32
        %85 = arith.subi %77, %c6_i32 : i32
        %86 = arith.remsi %85, %c0_i32 : i32
        %87 = arith.divsi %85, %c0_i32 : i32
        %88 = arith.remsi %87, %c6_i32 : i32
        %89 = arith.addi %78, %86 : i32
        %90 = arith.subi %c5_i32, %88 : i32
        %91 = arith.select %82, %88, %90 : i32
        %92 = arith.select %79, %84, %91 : i32
        %93 = arith.select %79, %78, %89 : i32
        %subview = memref.subview %16[0] [1] [1] : memref<3xi32> to memref<i32, strided<[]>>
        %94 = memref.load %subview[] : memref<i32, strided<[]>>
        %subview_0 = memref.subview %16[1] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: 1>>
        %95 = memref.load %subview_0[] : memref<i32, strided<[], offset: 1>>
        %subview_1 = memref.subview %16[2] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: 2>>
        %96 = memref.load %subview_1[] : memref<i32, strided<[], offset: 2>>
        %97 = arith.subi %94, %c1_i32 : i32
        %98 = arith.divsi %97, %c64_i32 : i32
        %99 = arith.addi %98, %c1_i32 : i32
        %100 = arith.cmpi sge, %92, %c0_i32 : i32
        %101 = arith.cmpi slt, %92, %99 : i32
        %102 = arith.andi %100, %101 : i1
        %103 = arith.select %102, %92, %c0_i32 : i32
        %104 = arith.select %102, %94, %c0_i32 : i32
        %105 = arith.addi %94, %95 : i32
        %106 = arith.subi %105, %c1_i32 : i32
        %107 = arith.divsi %94, %c64_i32 : i32
        %108 = arith.divsi %106, %c64_i32 : i32
        %109 = arith.addi %107, %c1_i32 : i32
        %110 = arith.addi %108, %c2_i32 : i32
        %111 = arith.cmpi sle, %109, %92 : i32
        %112 = arith.cmpi slt, %92, %110 : i32
        %113 = arith.andi %111, %112 : i1
        %114 = arith.subi %92, %109 : i32
        %115 = arith.addi %114, %107 : i32
        %116 = arith.select %113, %115, %103 : i32
        %117 = arith.extui %113 : i1 to i32
        %118 = arith.select %113, %94, %c0_i32 : i32
        %119 = arith.select %113, %105, %104 : i32
        %120 = arith.addi %105, %96 : i32
        %121 = arith.subi %120, %c1_i32 : i32
        %122 = arith.divsi %105, %c64_i32 : i32
        %123 = arith.divsi %121, %c64_i32 : i32
        %124 = arith.addi %122, %c2_i32 : i32
        %125 = arith.addi %123, %c3_i32 : i32
        %126 = arith.cmpi sle, %124, %92 : i32
        %127 = arith.cmpi slt, %92, %125 : i32
        %128 = arith.andi %126, %127 : i1
        %129 = arith.subi %92, %124 : i32
        %130 = arith.addi %129, %122 : i32
        %131 = arith.select %128, %130, %116 : i32
        %132 = arith.select %128, %c2_i32, %117 : i32
        %133 = arith.select %128, %105, %118 : i32
        %134 = arith.select %128, %120, %119 : i32
        %135 = arith.muli %131, %c64_i32 : i32
        %136 = arith.maxsi %133, %135 : i32
        %137 = arith.addi %135, %c64_i32 : i32
        %138 = arith.minsi %134, %137 : i32
        %139 = arith.subi %136, %135 : i32
        %140 = arith.subi %138, %136 : i32
        %141 = "mosaic_gpu.optimization_barrier"(%cst) : (vector<64x128xf32>) -> vector<64x128xf32>
        nvvm.wgmma.fence.aligned
        %142 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
        %143 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x128xf16, #gpu.address_space<workgroup>>
        %subview_2 = memref.subview %142[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %cast = memref.cast %subview_2 : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %144 = builtin.unrealized_conversion_cast %57 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%144 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%26, %cast, %144, %135, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x256xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
        %145 = arith.muli %93, %c128_i32 : i32
        %subview_3 = memref.subview %143[0, 0, 0] [1, 64, 128] [1, 1, 1] : memref<2x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1]>, #gpu.address_space<workgroup>>
        %cast_4 = memref.cast %subview_3 : memref<64x128xf16, strided<[128, 1]>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%144 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%38, %cast_4, %144, %132, %c0_i32, %145) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, 64, 128>}> : (memref<3x256x128xf16>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %subview_5 = memref.subview %142[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        %cast_6 = memref.cast %subview_5 : memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %146 = llvm.getelementptr %57[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
        %147 = builtin.unrealized_conversion_cast %146 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%147 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
        "mosaic_gpu.async_load"(%26, %cast_6, %147, %135, %c64_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x256xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
        %subview_7 = memref.subview %143[1, 0, 0] [1, 64, 128] [1, 1, 1] : memref<2x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %cast_8 = memref.cast %subview_7 : memref<64x128xf16, strided<[128, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
        mosaic_gpu.arrive_expect_tx barrier(%147 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
        "mosaic_gpu.async_load"(%38, %cast_8, %147, %132, %c64_i32, %145) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, 64, 128>}> : (memref<3x256x128xf16>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
        %148:4 = scf.for %arg15 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg16 = %141, %arg17 = %c0_i32, %arg18 = %c0_i32, %arg19 = %c1_i32) -> (vector<64x128xf32>, i32, i32, i32)  : i32 {
          %189 = arith.addi %arg17, %c1_i32 : i32
          %190 = arith.remsi %arg17, %c2_i32 : i32
          %191 = arith.index_cast %190 : i32 to index
          %192 = arith.index_castui %191 : index to i32
          %193 = memref.load %alloca[] : memref<i32>
          %194 = arith.shli %c1_i32, %192 : i32
          %195 = arith.andi %193, %194 : i32
          %196 = arith.cmpi ne, %195, %c0_i32 : i32
          %197 = arith.xori %193, %194 : i32
          memref.store %197, %alloca[] : memref<i32>
          %198 = arith.extui %196 : i1 to i32
          %199 = llvm.getelementptr %57[%192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %199, %198, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %subview_9 = memref.subview %142[%191, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %subview_10 = memref.subview %143[%191, 0, 0] [1, 64, 128] [1, 1, 1] : memref<2x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          %200 = mosaic_gpu.wgmma accumulator(%arg16 : vector<64x128xf32>) a(%subview_9 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%subview_10 : memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
          nvvm.wgmma.commit.group.sync.aligned
          %201 = arith.remsi %189, %c2_i32 : i32
          %202 = arith.cmpi sge, %arg17, %c1_i32 : i32
          %203 = arith.cmpi slt, %189, %c4_i32 : i32
          %204 = arith.andi %202, %203 : i1
          %205 = arith.extui %204 : i1 to i32
          %206 = arith.index_cast %205 : i32 to index
          scf.index_switch %206 
          case 0 {
            scf.yield
          }
          default {
            %213 = arith.muli %arg19, %c64_i32 : i32
            %214 = arith.index_cast %201 : i32 to index
            %subview_11 = memref.subview %142[%214, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %215 = arith.index_castui %214 : index to i32
            %216 = llvm.getelementptr %57[%215] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            %217 = builtin.unrealized_conversion_cast %216 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
            mosaic_gpu.arrive_expect_tx barrier(%217 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
            "mosaic_gpu.async_load"(%26, %subview_11, %217, %135, %213) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x256xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
            %subview_12 = memref.subview %143[%214, 0, 0] [1, 64, 128] [1, 1, 1] : memref<2x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
            mosaic_gpu.arrive_expect_tx barrier(%217 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
            "mosaic_gpu.async_load"(%38, %subview_12, %217, %132, %213, %145) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 3, 0>, slice_lengths = array<i64: -1, 64, 128>}> : (memref<3x256x128xf16>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32, i32) -> ()
          }
          %207 = arith.addi %arg19, %c1_i32 : i32
          %208 = arith.cmpi eq, %207, %c4_i32 : i32
          %209 = arith.select %208, %c0_i32, %207 : i32
          %210 = arith.addi %arg18, %c1_i32 : i32
          %211 = arith.cmpi eq, %210, %c4_i32 : i32
          %212 = arith.select %211, %c0_i32, %210 : i32
          scf.yield %200, %189, %212, %209 : vector<64x128xf32>, i32, i32, i32
        }
        nvvm.wgmma.wait.group.sync.aligned 0
        %149 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<64x128xf16, #gpu.address_space<workgroup>>
        %150 = arith.truncf %148#0 : vector<64x128xf32> to vector<64x128xf16>
        "mosaic_gpu.vector_store"(%150, %149) <{multimem = false}> : (vector<64x128xf16>, memref<64x128xf16, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %151 = arith.shrui %68, %c7_i32 : i32
        %152 = arith.addi %151, %c1_i32 : i32
        %153 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %152 : (i32) -> !llvm.void
        %154 = arith.andi %140, %c64_i32 : i32
        %155 = arith.cmpi ne, %154, %c0_i32 : i32
        %156 = arith.extui %155 : i1 to i32
        %157 = arith.index_cast %156 : i32 to index
        scf.index_switch %157 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.index_cast %139 : i32 to index
          %subview_9 = memref.subview %149[%189, 0] [64, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %136, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %158 = arith.addi %139, %154 : i32
        %159 = arith.andi %140, %c32_i32 : i32
        %160 = arith.cmpi ne, %159, %c0_i32 : i32
        %161 = arith.extui %160 : i1 to i32
        %162 = arith.index_cast %161 : i32 to index
        scf.index_switch %162 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %158 : i32
          %190 = arith.index_cast %158 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [32, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<32x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 32, 128>}> : (memref<32x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %163 = arith.addi %158, %159 : i32
        %164 = arith.andi %140, %c16_i32 : i32
        %165 = arith.cmpi ne, %164, %c0_i32 : i32
        %166 = arith.extui %165 : i1 to i32
        %167 = arith.index_cast %166 : i32 to index
        scf.index_switch %167 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %163 : i32
          %190 = arith.index_cast %163 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [16, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<16x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 16, 128>}> : (memref<16x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %168 = arith.addi %163, %164 : i32
        %169 = arith.andi %140, %c8_i32 : i32
        %170 = arith.cmpi ne, %169, %c0_i32 : i32
        %171 = arith.extui %170 : i1 to i32
        %172 = arith.index_cast %171 : i32 to index
        scf.index_switch %172 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %168 : i32
          %190 = arith.index_cast %168 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [8, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<8x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 8, 128>}> : (memref<8x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %173 = arith.addi %168, %169 : i32
        %174 = arith.andi %140, %c4_i32 : i32
        %175 = arith.cmpi ne, %174, %c0_i32 : i32
        %176 = arith.extui %175 : i1 to i32
        %177 = arith.index_cast %176 : i32 to index
        scf.index_switch %177 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %173 : i32
          %190 = arith.index_cast %173 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [4, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<4x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 4, 128>}> : (memref<4x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %178 = arith.addi %173, %174 : i32
        %179 = arith.andi %140, %c2_i32 : i32
        %180 = arith.cmpi ne, %179, %c0_i32 : i32
        %181 = arith.extui %180 : i1 to i32
        %182 = arith.index_cast %181 : i32 to index
        scf.index_switch %182 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %178 : i32
          %190 = arith.index_cast %178 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [2, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<2x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 2, 128>}> : (memref<2x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        %183 = arith.addi %178, %179 : i32
        %184 = arith.andi %140, %c1_i32 : i32
        %185 = arith.cmpi ne, %184, %c0_i32 : i32
        %186 = arith.extui %185 : i1 to i32
        %187 = arith.index_cast %186 : i32 to index
        scf.index_switch %187 
        case 0 {
          scf.yield
        }
        default {
          %189 = arith.addi %135, %183 : i32
          %190 = arith.index_cast %183 : i32 to index
          %subview_9 = memref.subview %149[%190, 0] [1, 128] [1, 1] : memref<64x128xf16, #gpu.address_space<workgroup>> to memref<1x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_9, %48, %189, %145) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 1, 128>}> : (memref<1x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x128xf16>, i32, i32) -> ()
        }
        nvvm.cp.async.bulk.wait_group 0 {read}
        %188 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %152 : (i32) -> !llvm.void
      }
      gpu.terminator
    }
    return
  }
}
