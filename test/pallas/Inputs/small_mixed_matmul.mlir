module @kernel attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @kernel_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant dense<0.000000e+00> : vector<64x128xf32>
    %c10000000_i32 = arith.constant 10000000 : i32
    %c3_i32 = arith.constant 3 : i32
    %c128_i32 = arith.constant 128 : i32
    %c256_i32 = arith.constant 256 : i32
    %c64_i32 = arith.constant 64 : i32
    %c132_i32 = arith.constant 132 : i32
    %c2_i32 = arith.constant 2 : i32
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c143408_i32 = arith.constant 143408 : i32
    %c384 = arith.constant 384 : index
    %c1 = arith.constant 1 : index
    %c132 = arith.constant 132 : index
    %0 = llvm.mlir.constant(256 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(192 : i64) : i64
    %3 = llvm.mlir.constant(128 : i64) : i64
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
    %15 = builtin.unrealized_conversion_cast %14 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<128x192xi8> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %16 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
    %18 = llvm.insertvalue %17, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %17, %18[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %4, %19[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %2, %20[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %0, %21[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %0, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %1, %23[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = builtin.unrealized_conversion_cast %24 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<192x256xbf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %26 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
    %28 = llvm.insertvalue %27, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %29 = llvm.insertvalue %27, %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %30 = llvm.insertvalue %4, %29[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %31 = llvm.insertvalue %3, %30[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %32 = llvm.insertvalue %0, %31[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %33 = llvm.insertvalue %0, %32[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %34 = llvm.insertvalue %1, %33[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %35 = builtin.unrealized_conversion_cast %34 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<128x256xbf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %36 = gpu.launch async [%6] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c132, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c384, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c143408_i32 {
      %37 = "mosaic_gpu.slice_smem"() <{offset = 143360 : i32}> : () -> memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %38 = builtin.unrealized_conversion_cast %37 : memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %39 = llvm.extractvalue %38[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %40 = llvm.extractvalue %38[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %41 = llvm.mul %40, %c8_i64 : i64
      %42 = llvm.ptrtoint %39 : !llvm.ptr<3> to i64
      %43 = llvm.add %42, %41 : i64
      %44 = llvm.inttoptr %43 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%44) <{arrival_count = 2 : i64, num_barriers = 3 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %45 = "mosaic_gpu.slice_smem"() <{offset = 143384 : i32}> : () -> memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %46 = builtin.unrealized_conversion_cast %45 : memref<3x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %47 = llvm.extractvalue %46[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %48 = llvm.extractvalue %46[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %49 = llvm.mul %48, %c8_i64 : i64
      %50 = llvm.ptrtoint %47 : !llvm.ptr<3> to i64
      %51 = llvm.add %50, %49 : i64
      %52 = llvm.inttoptr %51 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%52) <{arrival_count = 2 : i64, num_barriers = 3 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_0 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_0[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %53 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %54 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %55 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %56 = arith.index_cast %thread_id_y : index to i32
      %57 = arith.muli %56, %55 : i32
      %58 = arith.addi %54, %57 : i32
      %block_dim_y = gpu.block_dim y
      %59 = arith.index_cast %block_dim_y : index to i32
      %60 = arith.muli %55, %59 : i32
      %thread_id_z = gpu.thread_id z
      %61 = arith.index_cast %thread_id_z : index to i32
      %62 = arith.muli %61, %60 : i32
      %63 = arith.addi %58, %62 : i32
      %64 = arith.shrui %63, %c5_i32 : i32
      %65 = nvvm.shfl.sync idx %c-1_i32, %64, %c0_i32, %c31_i32 : i32 -> i32
      %66 = nvvm.elect.sync -> i1
      gpu.barrier
      %67 = arith.shrui %63, %c7_i32 : i32
      %68 = nvvm.shfl.sync idx %c-1_i32, %67, %c0_i32, %c31_i32 : i32 -> i32
      %block_id_x = gpu.block_id x
      %69 = arith.index_cast %block_id_x : index to i32
      %70 = arith.cmpi slt, %69, %c2_i32 : i32
      %71 = arith.extui %70 : i1 to i32
      scf.for %arg14 = %c0_i32 to %71 step %c1_i32  : i32 {
        %74 = arith.muli %arg14, %c132_i32 : i32
        %75 = arith.addi %74, %69 : i32
        %76 = arith.remsi %75, %c2_i32 : i32
        %77 = arith.divsi %76, %c2_i32 : i32
        %78 = arith.cmpi slt, %76, %c2_i32 : i32
        %79 = arith.remsi %76, %c2_i32 : i32
        %80 = arith.remsi %77, %c2_i32 : i32
        %81 = arith.cmpi eq, %80, %c0_i32 : i32
        %82 = arith.subi %c1_i32, %79 : i32
        %83 = arith.select %81, %79, %82 : i32
        %84 = arith.subi %76, %c2_i32 : i32
        %85 = arith.remsi %84, %c0_i32 : i32
        %86 = arith.divsi %84, %c0_i32 : i32
        %87 = arith.remsi %86, %c2_i32 : i32
        %88 = arith.addi %77, %85 : i32
        %89 = arith.subi %c1_i32, %87 : i32
        %90 = arith.select %81, %87, %89 : i32
        %91 = arith.select %78, %83, %90 : i32
        %92 = arith.select %78, %77, %88 : i32
        %93 = arith.muli %91, %c64_i32 : i32
        %94 = arith.muli %92, %c256_i32 : i32
        %95 = arith.muli %68, %c128_i32 : i32
        %96 = nvvm.shfl.sync idx %c-1_i32, %67, %c0_i32, %c31_i32 : i32 -> i32
        %97 = arith.cmpi ne, %96, %c2_i32 : i32
        %98 = arith.extui %97 : i1 to i32
        %99 = arith.index_cast %98 : i32 to index
        scf.index_switch %99 
        case 0 {
          nvvm.setmaxregister decrease 40
          %100 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
          %101 = "mosaic_gpu.with_transforms"(%100) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<64 : i32>]}> : (memref<3x64x64xi8, #gpu.address_space<workgroup>>) -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
          %subview = memref.subview %101[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xi8, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast = memref.cast %subview : memref<64x64xi8, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %102 = builtin.unrealized_conversion_cast %44 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%102 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 4096
          "mosaic_gpu.async_load"(%15, %cast, %102, %93, %c0_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<128x192xi8>, memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %103 = "mosaic_gpu.slice_smem"() <{offset = 45056 : i32}> : () -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
          %104 = "mosaic_gpu.with_transforms"(%103) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xbf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
          %subview_1 = memref.subview %104[0, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1]>, #gpu.address_space<workgroup>>
          %cast_2 = memref.cast %subview_1 : memref<64x256xbf16, strided<[256, 1]>, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%102 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_2, %102, %c0_i32, %94) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x256xbf16>, memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %105 = "mosaic_gpu.with_transforms"(%100) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<64 : i32>]}> : (memref<3x64x64xi8, #gpu.address_space<workgroup>>) -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
          %subview_3 = memref.subview %105[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xi8, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
          %cast_4 = memref.cast %subview_3 : memref<64x64xi8, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %106 = llvm.getelementptr %44[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          %107 = builtin.unrealized_conversion_cast %106 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%107 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 4096
          "mosaic_gpu.async_load"(%15, %cast_4, %107, %93, %c64_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<128x192xi8>, memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %108 = "mosaic_gpu.with_transforms"(%103) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xbf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
          %subview_5 = memref.subview %108[1, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: 16384>, #gpu.address_space<workgroup>>
          %cast_6 = memref.cast %subview_5 : memref<64x256xbf16, strided<[256, 1], offset: 16384>, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%107 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_6, %107, %c64_i32, %94) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x256xbf16>, memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %109 = "mosaic_gpu.with_transforms"(%100) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<64 : i32>]}> : (memref<3x64x64xi8, #gpu.address_space<workgroup>>) -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
          %subview_7 = memref.subview %109[2, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xi8, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_8 = memref.cast %subview_7 : memref<64x64xi8, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %110 = llvm.getelementptr %44[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          %111 = builtin.unrealized_conversion_cast %110 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%111 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 4096
          "mosaic_gpu.async_load"(%15, %cast_8, %111, %93, %c128_i32) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<128x192xi8>, memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %112 = "mosaic_gpu.with_transforms"(%103) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xbf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
          %subview_9 = memref.subview %112[2, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: 32768>, #gpu.address_space<workgroup>>
          %cast_10 = memref.cast %subview_9 : memref<64x256xbf16, strided<[256, 1], offset: 32768>, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%111 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
          "mosaic_gpu.async_load"(%25, %cast_10, %111, %c128_i32, %94) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<192x256xbf16>, memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
          %113 = memref.load %alloca_0[] : memref<i32>
          %114 = arith.andi %113, %c1_i32 : i32
          %115 = arith.cmpi ne, %114, %c0_i32 : i32
          %116 = arith.xori %113, %c1_i32 : i32
          memref.store %116, %alloca_0[] : memref<i32>
          %117 = arith.extui %115 : i1 to i32
          nvvm.mbarrier.try_wait.parity %52, %117, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %118 = memref.load %alloca_0[] : memref<i32>
          %119 = arith.andi %118, %c2_i32 : i32
          %120 = arith.cmpi ne, %119, %c0_i32 : i32
          %121 = arith.xori %118, %c2_i32 : i32
          memref.store %121, %alloca_0[] : memref<i32>
          %122 = arith.extui %120 : i1 to i32
          %123 = llvm.getelementptr %52[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %123, %122, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          %124 = memref.load %alloca_0[] : memref<i32>
          %125 = arith.andi %124, %c4_i32 : i32
          %126 = arith.cmpi ne, %125, %c0_i32 : i32
          %127 = arith.xori %124, %c4_i32 : i32
          memref.store %127, %alloca_0[] : memref<i32>
          %128 = arith.extui %126 : i1 to i32
          %129 = llvm.getelementptr %52[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %129, %128, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          scf.yield
        }
        default {
          nvvm.setmaxregister increase 232
          %100 = "mosaic_gpu.optimization_barrier"(%cst) : (vector<64x128xf32>) -> vector<64x128xf32>
          nvvm.wgmma.fence.aligned
          %101:3 = scf.for %arg15 = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%arg16 = %100, %arg17 = %c0_i32, %arg18 = %c0_i32) -> (vector<64x128xf32>, i32, i32)  : i32 {
            %119 = arith.addi %arg17, %c1_i32 : i32
            %120 = arith.remsi %arg17, %c3_i32 : i32
            %121 = arith.index_cast %120 : i32 to index
            %122 = arith.index_castui %121 : index to i32
            %123 = memref.load %alloca[] : memref<i32>
            %124 = arith.shli %c1_i32, %122 : i32
            %125 = arith.andi %123, %124 : i32
            %126 = arith.cmpi ne, %125, %c0_i32 : i32
            %127 = arith.xori %123, %124 : i32
            memref.store %127, %alloca[] : memref<i32>
            %128 = arith.extui %126 : i1 to i32
            %129 = llvm.getelementptr %44[%122] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %129, %128, %c10000000_i32 : !llvm.ptr<3>, i32, i32
            %130 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
            %131 = "mosaic_gpu.with_transforms"(%130) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<64 : i32>]}> : (memref<3x64x64xi8, #gpu.address_space<workgroup>>) -> memref<3x64x64xi8, #gpu.address_space<workgroup>>
            %subview_4 = memref.subview %131[%121, 0, 0] [1, 64, 64] [1, 1, 1] : memref<3x64x64xi8, #gpu.address_space<workgroup>> to memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %132 = "mosaic_gpu.vector_load"(%subview_4) <{optimized = true}> : (memref<64x64xi8, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xi8>
            %133 = arith.sitofp %132 : vector<64x64xi8> to vector<64x64xbf16>
            %134 = "mosaic_gpu.slice_smem"() <{offset = 45056 : i32}> : () -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
            %135 = "mosaic_gpu.with_transforms"(%134) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<3x64x256xbf16, #gpu.address_space<workgroup>>) -> memref<3x64x256xbf16, #gpu.address_space<workgroup>>
            %subview_5 = memref.subview %135[%121, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16, #gpu.address_space<workgroup>> to memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
            %136 = arith.index_cast %95 : i32 to index
            %subview_6 = memref.subview %subview_5[0, %136] [64, 128] [1, 1] : memref<64x256xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x128xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>
            %137 = mosaic_gpu.wgmma accumulator(%arg16 : vector<64x128xf32>) a(%133 : vector<64x64xbf16>) b(%subview_6 : memref<64x128xbf16, strided<[256, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x128xf32>
            nvvm.wgmma.commit.group.sync.aligned
            nvvm.wgmma.wait.group.sync.aligned 0
            %138 = llvm.getelementptr %52[%122] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            %139 = builtin.unrealized_conversion_cast %138 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
            "mosaic_gpu.arrive"(%139) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
            nvvm.cp.async.bulk.commit.group
            %140 = arith.addi %arg18, %c1_i32 : i32
            %141 = arith.cmpi eq, %140, %c3_i32 : i32
            %142 = arith.select %141, %c0_i32, %140 : i32
            scf.yield %137, %119, %142 : vector<64x128xf32>, i32, i32
          }
          nvvm.wgmma.wait.group.sync.aligned 0
          %102 = arith.truncf %101#0 : vector<64x128xf32> to vector<64x128xbf16>
          nvvm.cp.async.bulk.wait_group 0 {read}
          %103 = arith.addi %67, %c1_i32 : i32
          %104 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %103 : (i32) -> !llvm.void
          nvvm.cp.async.bulk.wait_group 1 {read}
          %105 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %103 : (i32) -> !llvm.void
          %106 = vector.extract_strided_slice %102 {offsets = [0, 0], sizes = [64, 64], strides = [1, 1]} : vector<64x128xbf16> to vector<64x64xbf16>
          %107 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
          %108 = "mosaic_gpu.with_transforms"(%107) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
          %109 = arith.index_cast %68 : i32 to index
          %subview = memref.subview %108[%109, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%106, %subview) <{multimem = false}> : (vector<64x64xbf16>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %110 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %103 : (i32) -> !llvm.void
          %111 = "mosaic_gpu.with_transforms"(%107) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
          %subview_1 = memref.subview %111[%109, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %112 = arith.addi %94, %95 : i32
          "mosaic_gpu.async_store"(%subview_1, %35, %93, %112) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<128x256xbf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %113 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %103 : (i32) -> !llvm.void
          %114 = vector.extract_strided_slice %102 {offsets = [0, 64], sizes = [64, 64], strides = [1, 1]} : vector<64x128xbf16> to vector<64x64xbf16>
          %115 = "mosaic_gpu.with_transforms"(%107) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
          %subview_2 = memref.subview %115[%109, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%114, %subview_2) <{multimem = false}> : (vector<64x64xbf16>, memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %116 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %103 : (i32) -> !llvm.void
          %117 = "mosaic_gpu.with_transforms"(%107) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>) -> memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
          %subview_3 = memref.subview %117[%109, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %118 = arith.addi %112, %c64_i32 : i32
          "mosaic_gpu.async_store"(%subview_3, %35, %93, %118) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<128x256xbf16>, i32, i32) -> ()
        }
      }
      nvvm.cp.async.bulk.wait_group 0 {read}
      %72 = arith.addi %67, %c1_i32 : i32
      %73 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %72 : (i32) -> !llvm.void
      gpu.terminator
    }
    return
  }
}
