module @body attributes {mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @body_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0.000000e+00> : vector<64x64xf32>
    %c12_i32 = arith.constant 12 : i32
    %c7_i32 = arith.constant 7 : i32
    %c10000000_i32 = arith.constant 10000000 : i32
    %c64_i32 = arith.constant 64 : i32
    %c2_i32 = arith.constant 2 : i32
    %c3_i32 = arith.constant 3 : i32
    %c132_i32 = arith.constant 132 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c32784_i32 = arith.constant 32784 : i32
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c132 = arith.constant 132 : index
    %0 = llvm.mlir.constant(16384 : i64) : i64
    %1 = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
    %2 = llvm.mlir.constant(128 : i64) : i64
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
    %19 = llvm.insertvalue %18, %8[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %20 = llvm.insertvalue %18, %19[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %21 = llvm.insertvalue %7, %20[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %22 = llvm.insertvalue %6, %21[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %23 = llvm.insertvalue %5, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %24 = builtin.unrealized_conversion_cast %23 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<3xi32> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %25 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %26 = llvm.load %25 : !llvm.ptr -> !llvm.ptr
    %27 = llvm.insertvalue %26, %8[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %28 = llvm.insertvalue %26, %27[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %29 = llvm.insertvalue %7, %28[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %30 = llvm.insertvalue %6, %29[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %31 = llvm.insertvalue %5, %30[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %32 = builtin.unrealized_conversion_cast %31 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<3xi32> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %33 = llvm.getelementptr %arg1[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %34 = llvm.load %33 : !llvm.ptr -> !llvm.ptr
    %35 = llvm.insertvalue %34, %8[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %36 = llvm.insertvalue %34, %35[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %37 = llvm.insertvalue %7, %36[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %38 = llvm.insertvalue %6, %37[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %39 = llvm.insertvalue %5, %38[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %40 = builtin.unrealized_conversion_cast %39 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<3xi32> {mosaic_gpu.from_kernel_arg_idx = 3 : i32, mosaic_gpu.original_kernel_arg}
    %41 = llvm.getelementptr %arg1[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %42 = llvm.load %41 : !llvm.ptr -> !llvm.ptr
    %43 = llvm.insertvalue %42, %8[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %44 = llvm.insertvalue %42, %43[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %45 = llvm.insertvalue %7, %44[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %46 = llvm.insertvalue %6, %45[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %47 = llvm.insertvalue %5, %46[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %48 = builtin.unrealized_conversion_cast %47 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<3xi32> {mosaic_gpu.from_kernel_arg_idx = 4 : i32, mosaic_gpu.original_kernel_arg}
    %49 = llvm.getelementptr %arg1[5] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %50 = llvm.load %49 : !llvm.ptr -> !llvm.ptr
    %51 = llvm.insertvalue %50, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %52 = llvm.insertvalue %50, %51[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %53 = llvm.insertvalue %7, %52[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %54 = llvm.insertvalue %3, %53[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %55 = llvm.insertvalue %2, %54[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %56 = llvm.insertvalue %2, %55[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %57 = llvm.insertvalue %5, %56[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %58 = builtin.unrealized_conversion_cast %57 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x128xf16> {mosaic_gpu.from_kernel_arg_idx = 5 : i32, mosaic_gpu.original_kernel_arg}
    %59 = llvm.getelementptr %arg1[6] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %60 = llvm.load %59 : !llvm.ptr -> !llvm.ptr
    %61 = llvm.insertvalue %60, %4[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %62 = llvm.insertvalue %60, %61[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %63 = llvm.insertvalue %7, %62[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %64 = llvm.insertvalue %3, %63[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %65 = llvm.insertvalue %2, %64[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %66 = llvm.insertvalue %2, %65[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %67 = llvm.insertvalue %5, %66[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %68 = builtin.unrealized_conversion_cast %67 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x128xf16> {mosaic_gpu.from_kernel_arg_idx = 6 : i32, mosaic_gpu.original_kernel_arg}
    %69 = llvm.getelementptr %arg1[7] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %70 = llvm.load %69 : !llvm.ptr -> !llvm.ptr
    %71 = llvm.insertvalue %70, %1[0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %72 = llvm.insertvalue %70, %71[1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %73 = llvm.insertvalue %7, %72[2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %74 = llvm.insertvalue %6, %73[3, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %75 = llvm.insertvalue %2, %74[3, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %76 = llvm.insertvalue %2, %75[3, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %77 = llvm.insertvalue %0, %76[4, 0] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %78 = llvm.insertvalue %2, %77[4, 1] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %79 = llvm.insertvalue %5, %78[4, 2] : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> 
    %80 = builtin.unrealized_conversion_cast %79 : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)> to memref<3x128x128xf16> {mosaic_gpu.from_kernel_arg_idx = 7 : i32, mosaic_gpu.original_kernel_arg}
    %81 = gpu.launch async [%9] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c132, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c128, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c32784_i32 {
      %82 = "mosaic_gpu.slice_smem"() <{offset = 32768 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %83 = builtin.unrealized_conversion_cast %82 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %84 = llvm.extractvalue %83[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %85 = llvm.extractvalue %83[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %86 = llvm.mul %85, %c8_i64 : i64
      %87 = llvm.ptrtoint %84 : !llvm.ptr<3> to i64
      %88 = llvm.add %87, %86 : i64
      %89 = llvm.inttoptr %88 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%89) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      nvvm.fence.mbarrier.init
      gpu.barrier
      %90 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %91 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %92 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %93 = arith.index_cast %thread_id_y : index to i32
      %94 = arith.muli %93, %92 : i32
      %95 = arith.addi %91, %94 : i32
      %block_dim_y = gpu.block_dim y
      %96 = arith.index_cast %block_dim_y : index to i32
      %97 = arith.muli %92, %96 : i32
      %thread_id_z = gpu.thread_id z
      %98 = arith.index_cast %thread_id_z : index to i32
      %99 = arith.muli %98, %97 : i32
      %100 = arith.addi %95, %99 : i32
      %101 = arith.shrui %100, %c5_i32 : i32
      %102 = nvvm.shfl.sync idx %c-1_i32, %101, %c0_i32, %c31_i32 : i32 -> i32
      %103 = nvvm.elect.sync -> i1
      %block_id_x = gpu.block_id x
      %104 = arith.index_cast %block_id_x : index to i32
      %105 = arith.cmpi slt, %104, %c12_i32 : i32
      %106 = arith.extui %105 : i1 to i32
      scf.for %arg14 = %c0_i32 to %106 step %c1_i32  : i32 {
        %107 = arith.muli %arg14, %c132_i32 : i32
        %108 = arith.addi %107, %104 : i32
        %109 = arith.remsi %108, %c4_i32 : i32
        %110 = arith.divsi %108, %c4_i32 : i32
        %111 = arith.remsi %110, %c3_i32 : i32
        %112 = arith.divsi %109, %c4_i32 : i32
        %113 = arith.cmpi slt, %109, %c4_i32 : i32
        %114 = arith.remsi %109, %c2_i32 : i32
        %115 = arith.divsi %109, %c2_i32 : i32
        %116 = arith.remsi %115, %c2_i32 : i32
        %117 = arith.muli %112, %c2_i32 : i32
        %118 = arith.addi %117, %114 : i32
        %119 = arith.remsi %112, %c2_i32 : i32
        %120 = arith.cmpi eq, %119, %c0_i32 : i32
        %121 = arith.subi %c1_i32, %116 : i32
        %122 = arith.select %120, %116, %121 : i32
        %123 = arith.subi %109, %c4_i32 : i32
        %124 = arith.remsi %123, %c0_i32 : i32
        %125 = arith.divsi %123, %c0_i32 : i32
        %126 = arith.remsi %125, %c2_i32 : i32
        %127 = arith.addi %117, %124 : i32
        %128 = arith.subi %c1_i32, %126 : i32
        %129 = arith.select %120, %126, %128 : i32
        %130 = arith.select %113, %122, %129 : i32
        %131 = arith.select %113, %118, %127 : i32
        %132 = arith.index_cast %111 : i32 to index
        %subview = memref.subview %48[%132] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: ?>>
        %133 = memref.load %subview[] : memref<i32, strided<[], offset: ?>>
        %134 = mosaic_gpu.assume_multiple %133, 64 : i32
        %135 = "mosaic_gpu.optimization_barrier"(%cst) : (vector<64x64xf32>) -> vector<64x64xf32>
        nvvm.wgmma.fence.aligned
        %subview_0 = memref.subview %16[%132] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: ?>>
        %136 = memref.load %subview_0[] : memref<i32, strided<[], offset: ?>>
        %137 = arith.cmpi sgt, %136, %c0_i32 : i32
        %138 = arith.extui %137 : i1 to i32
        %139 = arith.index_cast %138 : i32 to index
        %140 = scf.index_switch %139 -> vector<64x64xf32> 
        case 0 {
          scf.yield %135 : vector<64x64xf32>
        }
        default {
          %subview_1 = memref.subview %40[%132] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: ?>>
          %151 = memref.load %subview_1[] : memref<i32, strided<[], offset: ?>>
          %152 = arith.minsi %151, %c2_i32 : i32
          %153 = scf.for %arg15 = %c0_i32 to %152 step %c1_i32 iter_args(%arg16 = %c0_i32) -> (i32)  : i32 {
            %157 = arith.muli %arg16, %c64_i32 : i32
            %158 = arith.muli %130, %c64_i32 : i32
            %159 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %160 = "mosaic_gpu.with_transforms"(%159) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %161 = arith.index_cast %arg15 : i32 to index
            %subview_2 = memref.subview %160[%161, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %162 = arith.addi %134, %157 : i32
            %163 = arith.index_castui %161 : index to i32
            %164 = llvm.getelementptr %89[%163] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            %165 = builtin.unrealized_conversion_cast %164 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
            mosaic_gpu.arrive_expect_tx barrier(%165 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
            "mosaic_gpu.async_load"(%58, %subview_2, %165, %162, %158) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x128xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
            %166 = arith.muli %131, %c64_i32 : i32
            %167 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %168 = "mosaic_gpu.with_transforms"(%167) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %subview_3 = memref.subview %168[%161, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            mosaic_gpu.arrive_expect_tx barrier(%165 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
            "mosaic_gpu.async_load"(%68, %subview_3, %165, %162, %166) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x128xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
            %169 = arith.addi %arg16, %c1_i32 : i32
            %170 = arith.cmpi eq, %169, %151 : i32
            %171 = arith.select %170, %c0_i32, %169 : i32
            scf.yield %171 : i32
          }
          %154 = arith.cmpi ne, %151, %c1_i32 : i32
          %155 = arith.extui %154 : i1 to i32
          %156:4 = scf.while (%arg15 = %135, %arg16 = %c0_i32, %arg17 = %c0_i32, %arg18 = %155) : (vector<64x64xf32>, i32, i32, i32) -> (vector<64x64xf32>, i32, i32, i32) {
            %157 = arith.cmpi slt, %arg16, %151 : i32
            scf.condition(%157) %arg15, %arg16, %arg17, %arg18 : vector<64x64xf32>, i32, i32, i32
          } do {
          ^bb0(%arg15: vector<64x64xf32>, %arg16: i32, %arg17: i32, %arg18: i32):
            %157 = arith.addi %arg16, %c1_i32 : i32
            %158 = arith.remsi %arg16, %c2_i32 : i32
            %159 = arith.index_cast %158 : i32 to index
            %160 = arith.index_castui %159 : index to i32
            %161 = memref.load %alloca[] : memref<i32>
            %162 = arith.shli %c1_i32, %160 : i32
            %163 = arith.andi %161, %162 : i32
            %164 = arith.cmpi ne, %163, %c0_i32 : i32
            %165 = arith.xori %161, %162 : i32
            memref.store %165, %alloca[] : memref<i32>
            %166 = arith.extui %164 : i1 to i32
            %167 = llvm.getelementptr %89[%160] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            nvvm.mbarrier.try_wait.parity %167, %166, %c10000000_i32 : !llvm.ptr<3>, i32, i32
            %168 = arith.cmpi eq, %arg17, %c0_i32 : i32
            %169 = arith.extui %168 : i1 to i32
            %170 = arith.index_cast %169 : i32 to index
            scf.index_switch %170 
            case 0 {
              scf.yield
            }
            default {
              %193 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %194 = "mosaic_gpu.with_transforms"(%193) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %subview_4 = memref.subview %194[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %195 = "mosaic_gpu.vector_load"(%subview_4) <{optimized = true}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf16>
              %subview_5 = memref.subview %24[%132] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: ?>>
              %196 = memref.load %subview_5[] : memref<i32, strided<[], offset: ?>>
              %197 = arith.remsi %196, %c64_i32 : i32
              %198 = "mosaic_gpu.broadcasted_iota"() <{dimension = 0 : i32}> : () -> vector<64x64xi32>
              %199 = mosaic_gpu.layout_cast x(%198 : vector<64x64xi32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
              %200 = vector.broadcast %197 : i32 to vector<64x64xi32>
              %201 = arith.cmpi sge, %199, %200 : vector<64x64xi32>
              %202 = arith.uitofp %201 : vector<64x64xi1> to vector<64x64xf16>
              %203 = arith.mulf %195, %202 : vector<64x64xf16>
              %204 = "mosaic_gpu.with_transforms"(%193) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %subview_6 = memref.subview %204[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              "mosaic_gpu.vector_store"(%203, %subview_6) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
              nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
              %205 = arith.shrui %100, %c7_i32 : i32
              %206 = arith.addi %205, %c1_i32 : i32
              %207 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %206 : (i32) -> !llvm.void
            }
            %171 = memref.load %subview_1[] : memref<i32, strided<[], offset: ?>>
            %172 = arith.subi %171, %c1_i32 : i32
            %173 = arith.cmpi eq, %arg17, %172 : i32
            %174 = arith.extui %173 : i1 to i32
            %175 = arith.index_cast %174 : i32 to index
            scf.index_switch %175 
            case 0 {
              scf.yield
            }
            default {
              %193 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %194 = "mosaic_gpu.with_transforms"(%193) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %subview_4 = memref.subview %194[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %195 = "mosaic_gpu.vector_load"(%subview_4) <{optimized = true}> : (memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf16>
              %subview_5 = memref.subview %32[%132] [1] [1] : memref<3xi32> to memref<i32, strided<[], offset: ?>>
              %196 = memref.load %subview_5[] : memref<i32, strided<[], offset: ?>>
              %197 = arith.subi %196, %c1_i32 : i32
              %198 = arith.remsi %197, %c64_i32 : i32
              %199 = "mosaic_gpu.broadcasted_iota"() <{dimension = 0 : i32}> : () -> vector<64x64xi32>
              %200 = mosaic_gpu.layout_cast x(%199 : vector<64x64xi32>) {new_layout = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>}
              %201 = vector.broadcast %198 : i32 to vector<64x64xi32>
              %202 = arith.cmpi sle, %200, %201 : vector<64x64xi32>
              %203 = arith.uitofp %202 : vector<64x64xi1> to vector<64x64xf16>
              %204 = arith.mulf %195, %203 : vector<64x64xf16>
              %205 = "mosaic_gpu.with_transforms"(%193) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %subview_6 = memref.subview %205[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              "mosaic_gpu.vector_store"(%204, %subview_6) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
              nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
              %206 = arith.shrui %100, %c7_i32 : i32
              %207 = arith.addi %206, %c1_i32 : i32
              %208 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %207 : (i32) -> !llvm.void
            }
            %176 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %177 = "mosaic_gpu.with_transforms"(%176) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %subview_2 = memref.subview %177[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %transpose = memref.transpose %subview_2 (d0, d1) -> (d1, d0) : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>
            %178 = "mosaic_gpu.slice_smem"() <{offset = 16384 : i32}> : () -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %179 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
            %subview_3 = memref.subview %179[%159, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %180 = mosaic_gpu.wgmma accumulator(%arg15 : vector<64x64xf32>) a(%transpose : memref<64x64xf16, strided<[1, 64], offset: ?>, #gpu.address_space<workgroup>>) b(%subview_3 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> vector<64x64xf32>
            nvvm.wgmma.commit.group.sync.aligned
            %181 = arith.remsi %157, %c2_i32 : i32
            %182 = arith.cmpi sge, %arg16, %c1_i32 : i32
            %183 = arith.cmpi slt, %157, %151 : i32
            %184 = arith.andi %182, %183 : i1
            %185 = arith.extui %184 : i1 to i32
            %186 = arith.index_cast %185 : i32 to index
            scf.index_switch %186 
            case 0 {
              scf.yield
            }
            default {
              %193 = arith.muli %arg18, %c64_i32 : i32
              %194 = arith.muli %130, %c64_i32 : i32
              %195 = "mosaic_gpu.with_transforms"(%176) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %196 = arith.index_cast %181 : i32 to index
              %subview_4 = memref.subview %195[%196, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %197 = arith.addi %134, %193 : i32
              %198 = arith.index_castui %196 : index to i32
              %199 = llvm.getelementptr %89[%198] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
              %200 = builtin.unrealized_conversion_cast %199 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
              mosaic_gpu.arrive_expect_tx barrier(%200 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
              "mosaic_gpu.async_load"(%58, %subview_4, %200, %197, %194) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x128xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
              %201 = arith.muli %131, %c64_i32 : i32
              %202 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x64x64xf16, #gpu.address_space<workgroup>>) -> memref<2x64x64xf16, #gpu.address_space<workgroup>>
              %subview_5 = memref.subview %202[%196, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              mosaic_gpu.arrive_expect_tx barrier(%200 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
              "mosaic_gpu.async_load"(%68, %subview_5, %200, %197, %201) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 64>}> : (memref<256x128xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
            }
            %187 = arith.addi %arg18, %c1_i32 : i32
            %188 = arith.cmpi eq, %187, %151 : i32
            %189 = arith.select %188, %c0_i32, %187 : i32
            %190 = arith.addi %arg17, %c1_i32 : i32
            %191 = arith.cmpi eq, %190, %151 : i32
            %192 = arith.select %191, %c0_i32, %190 : i32
            scf.yield %180, %157, %192, %189 : vector<64x64xf32>, i32, i32, i32
          }
          scf.yield %156#0 : vector<64x64xf32>
        }
        nvvm.wgmma.wait.group.sync.aligned 0
        %141 = arith.truncf %140 : vector<64x64xf32> to vector<64x64xf16>
        %142 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<64x64xf16, #gpu.address_space<workgroup>>
        %143 = "mosaic_gpu.with_transforms"(%142) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<64x64xf16, #gpu.address_space<workgroup>>) -> memref<64x64xf16, #gpu.address_space<workgroup>>
        "mosaic_gpu.vector_store"(%141, %143) <{multimem = false}> : (vector<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        %144 = arith.shrui %100, %c7_i32 : i32
        %145 = arith.addi %144, %c1_i32 : i32
        %146 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %145 : (i32) -> !llvm.void
        %147 = arith.muli %130, %c64_i32 : i32
        %148 = arith.muli %131, %c64_i32 : i32
        %149 = "mosaic_gpu.with_transforms"(%142) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<64x64xf16, #gpu.address_space<workgroup>>) -> memref<64x64xf16, #gpu.address_space<workgroup>>
        "mosaic_gpu.async_store"(%149, %80, %111, %147, %148) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 3, 0, 0>, slice_lengths = array<i64: -1, 64, 64>}> : (memref<64x64xf16, #gpu.address_space<workgroup>>, memref<3x128x128xf16>, i32, i32, i32) -> ()
        nvvm.cp.async.bulk.wait_group 0 {read}
        %150 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %145 : (i32) -> !llvm.void
      }
      gpu.terminator
    }
    return
  }
}
