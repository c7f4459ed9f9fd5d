module @anonymous attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @anonymous_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0.000000e+00> : vector<128x128xf32>
    %c8_i32 = arith.constant 8 : i32
    %c64_i32 = arith.constant 64 : i32
    %c10000000_i32 = arith.constant 10000000 : i32
    %c256_i32 = arith.constant 256 : i32
    %c128_i32 = arith.constant 128 : i32
    %c66_i32 = arith.constant 66 : i32
    %c2_i32 = arith.constant 2 : i32
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c8_i64 = arith.constant 8 : i64
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %c180272_i32 = arith.constant 180272 : i32
    %c2 = arith.constant 2 : index
    %c384 = arith.constant 384 : index
    %c1 = arith.constant 1 : index
    %c132 = arith.constant 132 : index
    %0 = llvm.mlir.constant(512 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(192 : i64) : i64
    %3 = llvm.mlir.constant(256 : i64) : i64
    %4 = llvm.mlir.constant(0 : i64) : i64
    %5 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %6 = builtin.unrealized_conversion_cast %arg0 : !llvm.ptr to !gpu.async.token
    %7 = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
    %8 = llvm.insertvalue %7, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %9 = llvm.insertvalue %7, %8[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %10 = llvm.insertvalue %4, %9[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %3, %10[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %2, %11[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %2, %12[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.insertvalue %1, %13[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %15 = builtin.unrealized_conversion_cast %14 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x192xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %16 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
    %18 = llvm.insertvalue %17, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %17, %18[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %4, %19[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %2, %20[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %0, %21[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %0, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %1, %23[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = builtin.unrealized_conversion_cast %24 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<192x512xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %26 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
    %28 = llvm.insertvalue %27, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %29 = llvm.insertvalue %27, %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %30 = llvm.insertvalue %4, %29[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %31 = llvm.insertvalue %3, %30[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %32 = llvm.insertvalue %0, %31[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %33 = llvm.insertvalue %0, %32[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %34 = llvm.insertvalue %1, %33[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %35 = builtin.unrealized_conversion_cast %34 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x512xf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %36 = gpu.launch async [%6] clusters(%arg14, %arg15, %arg16) in (%arg17 = %c2, %arg18 = %c1, %arg19 = %c1) blocks(%arg2, %arg3, %arg4) in (%arg8 = %c132, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c180272_i32 {
      %37 = "mosaic_gpu.slice_smem"() <{offset = 180224 : i32}> : () -> memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %38 = builtin.unrealized_conversion_cast %37 : memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %39 = llvm.extractvalue %38[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %40 = llvm.extractvalue %38[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %41 = llvm.mul %40, %c8_i64 : i64
      %42 = llvm.ptrtoint %39 : !llvm.ptr<3> to i64
      %43 = llvm.add %42, %41 : i64
      %44 = llvm.inttoptr %43 : i64 to !llvm.ptr<3>
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %45 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %46 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %47 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %48 = arith.index_cast %thread_id_y : index to i32
      %49 = arith.muli %48, %47 : i32
      %50 = arith.addi %46, %49 : i32
      %block_dim_y = gpu.block_dim y
      %51 = arith.index_cast %block_dim_y : index to i32
      %52 = arith.muli %47, %51 : i32
      %thread_id_z = gpu.thread_id z
      %53 = arith.index_cast %thread_id_z : index to i32
      %54 = arith.muli %53, %52 : i32
      %55 = arith.addi %50, %54 : i32
      %56 = arith.shrui %55, %c5_i32 : i32
      %57 = nvvm.shfl.sync idx %c-1_i32, %56, %c0_i32, %c31_i32 : i32 -> i32
      %58 = arith.cmpi eq, %57, %c0_i32 : i32
      %59 = arith.andi %58, %45 : i1
      nvvm.mbarrier.init %44, %c4_i32, predicate = %59 : !llvm.ptr<3>, i32, i1
      %60 = llvm.getelementptr %44[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %60, %c4_i32, predicate = %59 : !llvm.ptr<3>, i32, i1
      %61 = llvm.getelementptr %44[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %61, %c4_i32, predicate = %59 : !llvm.ptr<3>, i32, i1
      %62 = "mosaic_gpu.slice_smem"() <{offset = 180248 : i32}> : () -> memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %63 = builtin.unrealized_conversion_cast %62 : memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %64 = llvm.extractvalue %63[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %65 = llvm.extractvalue %63[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %66 = llvm.mul %65, %c8_i64 : i64
      %67 = llvm.ptrtoint %64 : !llvm.ptr<3> to i64
      %68 = llvm.add %67, %66 : i64
      %69 = llvm.inttoptr %68 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%69) <{arrival_count = 2 : i64, num_barriers = 3 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_0 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_0[] : memref<i32>
      nvvm.fence.mbarrier.init
      nvvm.cluster.arrive.relaxed {aligned}
      nvvm.cluster.wait {aligned}
      gpu.barrier
      %70 = nvvm.elect.sync -> i1
      %71 = nvvm.shfl.sync idx %c-1_i32, %56, %c0_i32, %c31_i32 : i32 -> i32
      %72 = nvvm.elect.sync -> i1
      gpu.barrier
      %73 = arith.shrui %55, %c7_i32 : i32
      %74 = nvvm.shfl.sync idx %c-1_i32, %73, %c0_i32, %c31_i32 : i32 -> i32
      %cluster_block_id_x = gpu.cluster_block_id x
      %75 = arith.index_cast %cluster_block_id_x : index to i32
      %block_id_x = gpu.block_id x
      %76 = arith.divui %block_id_x, %c2 : index
      %77 = arith.index_cast %76 : index to i32
      %78 = arith.cmpi slt, %77, %c2_i32 : i32
      %79 = arith.extui %78 : i1 to i32
      scf.for %arg20 = %c0_i32 to %79 step %c1_i32  : i32 {
        %82 = arith.muli %arg20, %c66_i32 : i32
        %83 = arith.addi %82, %77 : i32
        %84 = arith.remsi %83, %c2_i32 : i32
        %85 = arith.divsi %84, %c2_i32 : i32
        %86 = arith.cmpi slt, %84, %c2_i32 : i32
        %87 = arith.remsi %84, %c2_i32 : i32
        %88 = arith.remsi %85, %c2_i32 : i32
        %89 = arith.cmpi eq, %88, %c0_i32 : i32
        %90 = arith.subi %c1_i32, %87 : i32
        %91 = arith.select %89, %87, %90 : i32
        %92 = arith.subi %84, %c2_i32 : i32
        %93 = arith.remsi %92, %c0_i32 : i32
        %94 = arith.divsi %92, %c0_i32 : i32
        %95 = arith.remsi %94, %c2_i32 : i32
        %96 = arith.addi %85, %93 : i32
        %97 = arith.subi %c1_i32, %95 : i32
        %98 = arith.select %89, %95, %97 : i32
        %99 = arith.select %86, %91, %98 : i32
        %100 = arith.select %86, %85, %96 : i32
        %101 = arith.muli %100, %c2_i32 : i32
        %102 = arith.addi %101, %75 : i32
        %103 = arith.muli %99, %c128_i32 : i32
        %104 = arith.muli %102, %c256_i32 : i32
        %105 = arith.muli %74, %c128_i32 : i32
        %106 = nvvm.shfl.sync idx %c-1_i32, %73, %c0_i32, %c31_i32 : i32 -> i32
        %107 = arith.cmpi ne, %106, %c2_i32 : i32
        %108 = arith.extui %107 : i1 to i32
        %109 = arith.index_cast %108 : i32 to index
        scf.index_switch %109 
        case 0 {
          nvvm.setmaxregister decrease 40
          %110 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
          %111 = "mosaic_gpu.with_transforms"(%110) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x128x64xf16, #gpu.address_space<workgroup>>) -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
          %subview = memref.subview %111[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast = memref.cast %subview : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %112 = builtin.unrealized_conversion_cast %69 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%112 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
          "mosaic_gpu.async_load"(%15, %cast, %112, %103, %c0_i32) <{collective = [0 : i32], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<256x192xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %113 = "mosaic_gpu.slice_smem"() <{offset = 81920 : i32}> : () -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
          %114 = "mosaic_gpu.with_transforms"(%113) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
          %subview_1 = memref.subview %114[0, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xf16, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1]>, #gpu.address_space<workgroup>>
          %cast_2 = memref.cast %subview_1 : memref<64x256xf16, strided<[256, 1]>, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%112 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_2, %112, %c0_i32, %104) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x512xf16>, memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %115 = "mosaic_gpu.with_transforms"(%110) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x128x64xf16, #gpu.address_space<workgroup>>) -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
          %subview_3 = memref.subview %115[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_4 = memref.cast %subview_3 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %116 = llvm.getelementptr %69[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          %117 = builtin.unrealized_conversion_cast %116 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%117 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
          "mosaic_gpu.async_load"(%15, %cast_4, %117, %103, %c64_i32) <{collective = [0 : i32], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<256x192xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %118 = "mosaic_gpu.with_transforms"(%113) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
          %subview_5 = memref.subview %118[1, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xf16, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: 16384>, #gpu.address_space<workgroup>>
          %cast_6 = memref.cast %subview_5 : memref<64x256xf16, strided<[256, 1], offset: 16384>, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%117 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_6, %117, %c64_i32, %104) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x512xf16>, memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %119 = "mosaic_gpu.with_transforms"(%110) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x128x64xf16, #gpu.address_space<workgroup>>) -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
          %subview_7 = memref.subview %119[2, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 16384>, #gpu.address_space<workgroup>>
          %cast_8 = memref.cast %subview_7 : memref<128x64xf16, strided<[64, 1], offset: 16384>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %120 = llvm.getelementptr %69[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          %121 = builtin.unrealized_conversion_cast %120 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%121 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
          "mosaic_gpu.async_load"(%15, %cast_8, %121, %103, %c128_i32) <{collective = [0 : i32], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<256x192xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %122 = "mosaic_gpu.with_transforms"(%113) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
          %subview_9 = memref.subview %122[2, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xf16, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: 32768>, #gpu.address_space<workgroup>>
          %cast_10 = memref.cast %subview_9 : memref<64x256xf16, strided<[256, 1], offset: 32768>, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%121 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_10, %121, %c128_i32, %104) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x512xf16>, memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %123 = memref.load %alloca[] : memref<i32>
          %124 = arith.andi %123, %c1_i32 : i32
          %125 = arith.cmpi ne, %124, %c0_i32 : i32
          %126 = arith.xori %123, %c1_i32 : i32
          memref.store %126, %alloca[] : memref<i32>
          %127 = arith.extui %125 : i1 to i32
          nvvm.mbarrier.try_wait.parity %44, %127, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %128 = memref.load %alloca[] : memref<i32>
          %129 = arith.andi %128, %c2_i32 : i32
          %130 = arith.cmpi ne, %129, %c0_i32 : i32
          %131 = arith.xori %128, %c2_i32 : i32
          memref.store %131, %alloca[] : memref<i32>
          %132 = arith.extui %130 : i1 to i32
          nvvm.mbarrier.try_wait.parity %60, %132, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %133 = memref.load %alloca[] : memref<i32>
          %134 = arith.andi %133, %c4_i32 : i32
          %135 = arith.cmpi ne, %134, %c0_i32 : i32
          %136 = arith.xori %133, %c4_i32 : i32
          memref.store %136, %alloca[] : memref<i32>
          %137 = arith.extui %135 : i1 to i32
          nvvm.mbarrier.try_wait.parity %61, %137, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          scf.yield
        }
        default {
          nvvm.setmaxregister increase 232
          %110 = "mosaic_gpu.optimization_barrier"(%cst) : (vector<128x128xf32>) -> vector<128x128xf32>
          nvvm.wgmma.fence.aligned
          %111:3 = scf.for %arg21 = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%arg22 = %110, %arg23 = %c0_i32, %arg24 = %c0_i32) -> (vector<128x128xf32>, i32, i32)  : i32 {
            %140 = arith.addi %arg23, %c1_i32 : i32
            %141 = arith.remsi %arg23, %c3_i32 : i32
            %142 = arith.index_cast %141 : i32 to index
            %143 = arith.index_castui %142 : index to i32
            %144 = memref.load %alloca_0[] : memref<i32>
            %145 = arith.shli %c1_i32, %143 : i32
            %146 = arith.andi %144, %145 : i32
            %147 = arith.cmpi ne, %146, %c0_i32 : i32
            %148 = arith.xori %144, %145 : i32
            memref.store %148, %alloca_0[] : memref<i32>
            %149 = arith.extui %147 : i1 to i32
            %150 = llvm.getelementptr %69[%143] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %150, %149, %c10000000_i32 : !llvm.ptr<3>, i32, i32
            %151 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
            %152 = "mosaic_gpu.with_transforms"(%151) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x128x64xf16, #gpu.address_space<workgroup>>) -> memref<3x128x64xf16, #gpu.address_space<workgroup>>
            %subview_8 = memref.subview %152[%142, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %153 = "mosaic_gpu.slice_smem"() <{offset = 81920 : i32}> : () -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
            %154 = "mosaic_gpu.with_transforms"(%153) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xf16, #gpu.address_space<workgroup>>
            %subview_9 = memref.subview %154[%142, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xf16, #gpu.address_space<workgroup>> to memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
            %155 = arith.index_cast %105 : i32 to index
            %subview_10 = memref.subview %subview_9[0, %155] [64, 128] [1, 1] : memref<64x256xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
            %156 = mosaic_gpu.wgmma accumulator(%arg22 : vector<128x128xf32>) a(%subview_8 : memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) b(%subview_10 : memref<64x128xf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<128x128xf32>
            nvvm.wgmma.commit.group.sync.aligned
            nvvm.wgmma.wait.group.sync.aligned 0
            %157 = arith.remui %55, %c128_i32 : i32
            %158 = arith.divui %157, %c8_i32 : i32
            %159 = arith.shli %c1_i32, %158 : i32
            %160 = arith.andi %159, %c3_i32 : i32
            %161 = arith.cmpi ne, %160, %c0_i32 : i32
            %162 = arith.remui %157, %c8_i32 : i32
            %163 = arith.cmpi eq, %162, %c0_i32 : i32
            %164 = arith.andi %161, %163 : i1
            %165 = llvm.getelementptr %44[%143] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            %166 = llvm.inline_asm has_side_effects "\0A    {\0A        .reg .b32 mapped_addr;\0A        @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2;\0A        @$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr];\0A    }", "b,r,r" %164, %165, %158 : (i1, !llvm.ptr<3>, i32) -> !llvm.void
            nvvm.cp.async.bulk.commit.group
            %167 = arith.addi %arg24, %c1_i32 : i32
            %168 = arith.cmpi eq, %167, %c3_i32 : i32
            %169 = arith.select %168, %c0_i32, %167 : i32
            scf.yield %156, %140, %169 : vector<128x128xf32>, i32, i32
          }
          nvvm.wgmma.wait.group.sync.aligned 0
          %112 = arith.truncf %111#0 : vector<128x128xf32> to vector<128x128xf16>
          nvvm.cp.async.bulk.wait_group 0 {read}
          %113 = arith.addi %73, %c1_i32 : i32
          %114 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          nvvm.cp.async.bulk.wait_group 1 {read}
          %115 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %116 = vector.extract_strided_slice %112 {offsets = [0, 0], sizes = [64, 64], strides = [1, 1]} : vector<128x128xf16> to vector<64x64xf16>
          %117 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %118 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %119 = arith.index_cast %74 : i32 to index
          %subview = memref.subview %118[%119, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%116, %subview) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %120 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %121 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_1 = memref.subview %121[%119, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %122 = arith.addi %104, %105 : i32
          "mosaic_gpu.async_store"(%subview_1, %35, %103, %122) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %123 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %124 = vector.extract_strided_slice %112 {offsets = [0, 64], sizes = [64, 64], strides = [1, 1]} : vector<128x128xf16> to vector<64x64xf16>
          %125 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_2 = memref.subview %125[%119, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%124, %subview_2) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %126 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %127 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_3 = memref.subview %127[%119, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %128 = arith.addi %122, %c64_i32 : i32
          "mosaic_gpu.async_store"(%subview_3, %35, %103, %128) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %129 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %130 = vector.extract_strided_slice %112 {offsets = [64, 0], sizes = [64, 64], strides = [1, 1]} : vector<128x128xf16> to vector<64x64xf16>
          %131 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_4 = memref.subview %131[%119, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%130, %subview_4) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %132 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %133 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_5 = memref.subview %133[%119, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %134 = arith.addi %103, %c64_i32 : i32
          "mosaic_gpu.async_store"(%subview_5, %35, %134, %122) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %135 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %136 = vector.extract_strided_slice %112 {offsets = [64, 64], sizes = [64, 64], strides = [1, 1]} : vector<128x128xf16> to vector<64x64xf16>
          %137 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_6 = memref.subview %137[%119, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%136, %subview_6) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %138 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %113 : (i32) -> !llvm.void
          %139 = "mosaic_gpu.with_transforms"(%117) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xf16, #gpu.address_space<workgroup>>
          %subview_7 = memref.subview %139[%119, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%subview_7, %35, %134, %128) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
        }
      }
      nvvm.cp.async.bulk.wait_group 0 {read}
      %80 = arith.addi %73, %c1_i32 : i32
      %81 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %80 : (i32) -> !llvm.void
      gpu.terminator
    }
    return
  }
}
