module @kernel attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @kernel_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %c8_i32 = arith.constant 8 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %c0 = arith.constant 0 : index
    %c10000000_i32 = arith.constant 10000000 : i32
    %c2_i32 = arith.constant 2 : i32
    %true = arith.constant true
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c164996_i32 = arith.constant 164996 : i32
    %c256 = arith.constant 256 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %0 = llvm.mlir.constant(512 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(384 : i64) : i64
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
    %15 = builtin.unrealized_conversion_cast %14 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<256x384xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %16 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
    %18 = llvm.insertvalue %17, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %17, %18[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %4, %19[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %2, %20[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %0, %21[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %0, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %1, %23[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = builtin.unrealized_conversion_cast %24 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<384x512xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
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
    %36 = gpu.launch async [%6] blocks(%arg2, %arg3, %arg4) in (%arg8 = %c8, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c256, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c164996_i32 {
      %37 = "mosaic_gpu.slice_smem"() <{offset = 164864 : i32}> : () -> memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %38 = builtin.unrealized_conversion_cast %37 : memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %39 = llvm.extractvalue %38[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %40 = llvm.extractvalue %38[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %41 = llvm.mul %40, %c8_i64 : i64
      %42 = llvm.ptrtoint %39 : !llvm.ptr<3> to i64
      %43 = llvm.add %42, %41 : i64
      %44 = llvm.inttoptr %43 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%44) <{arrival_count = 2 : i64, num_barriers = 4 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca[] : memref<i32>
      %45 = "mosaic_gpu.slice_smem"() <{offset = 164896 : i32}> : () -> memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %46 = builtin.unrealized_conversion_cast %45 : memref<4x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %47 = llvm.extractvalue %46[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %48 = llvm.extractvalue %46[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %49 = llvm.mul %48, %c8_i64 : i64
      %50 = llvm.ptrtoint %47 : !llvm.ptr<3> to i64
      %51 = llvm.add %50, %49 : i64
      %52 = llvm.inttoptr %51 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%52) <{arrival_count = 1 : i64, num_barriers = 4 : i32, orders_tensor_core = true}> : (!llvm.ptr<3>) -> ()
      %alloca_0 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_0[] : memref<i32>
      %53 = "mosaic_gpu.slice_smem"() <{offset = 164928 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %54 = builtin.unrealized_conversion_cast %53 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %55 = llvm.extractvalue %54[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %56 = llvm.extractvalue %54[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %57 = llvm.mul %56, %c8_i64 : i64
      %58 = llvm.ptrtoint %55 : !llvm.ptr<3> to i64
      %59 = llvm.add %58, %57 : i64
      %60 = llvm.inttoptr %59 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%60) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = true}> : (!llvm.ptr<3>) -> ()
      %alloca_1 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_1[] : memref<i32>
      %61 = "mosaic_gpu.slice_smem"() <{offset = 164944 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %62 = builtin.unrealized_conversion_cast %61 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %63 = llvm.extractvalue %62[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %64 = llvm.extractvalue %62[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %65 = llvm.mul %64, %c8_i64 : i64
      %66 = llvm.ptrtoint %63 : !llvm.ptr<3> to i64
      %67 = llvm.add %66, %65 : i64
      %68 = llvm.inttoptr %67 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%68) <{arrival_count = 1 : i64, num_barriers = 2 : i32, orders_tensor_core = true}> : (!llvm.ptr<3>) -> ()
      %alloca_2 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_2[] : memref<i32>
      %69 = "mosaic_gpu.slice_smem"() <{offset = 164960 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %70 = builtin.unrealized_conversion_cast %69 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %71 = llvm.extractvalue %70[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %72 = llvm.extractvalue %70[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %73 = llvm.mul %72, %c8_i64 : i64
      %74 = llvm.ptrtoint %71 : !llvm.ptr<3> to i64
      %75 = llvm.add %74, %73 : i64
      %76 = llvm.inttoptr %75 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%76) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_3 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_3[] : memref<i32>
      %77 = "mosaic_gpu.slice_smem"() <{offset = 164976 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %78 = builtin.unrealized_conversion_cast %77 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %79 = llvm.extractvalue %78[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %80 = llvm.extractvalue %78[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %81 = llvm.mul %80, %c8_i64 : i64
      %82 = llvm.ptrtoint %79 : !llvm.ptr<3> to i64
      %83 = llvm.add %82, %81 : i64
      %84 = llvm.inttoptr %83 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%84) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_4 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_4[] : memref<i32>
      %85 = "mosaic_gpu.slice_smem"() <{offset = 164992 : i32}> : () -> memref<i32, #gpu.address_space<workgroup>>
      nvvm.fence.mbarrier.init
      %86 = mosaic_gpu.tmem_alloc smem_ptr(%85 : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x256xi32, #mosaic_gpu.tmem>
      "mosaic_gpu.tmem_relinquish_alloc_permit"() <{collective = false}> : () -> ()
      gpu.barrier
      %87 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %88 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %89 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %90 = arith.index_cast %thread_id_y : index to i32
      %91 = arith.muli %90, %89 : i32
      %92 = arith.addi %88, %91 : i32
      %block_dim_y = gpu.block_dim y
      %93 = arith.index_cast %block_dim_y : index to i32
      %94 = arith.muli %89, %93 : i32
      %thread_id_z = gpu.thread_id z
      %95 = arith.index_cast %thread_id_z : index to i32
      %96 = arith.muli %95, %94 : i32
      %97 = arith.addi %92, %96 : i32
      %98 = arith.shrui %97, %c5_i32 : i32
      %99 = nvvm.shfl.sync idx %c-1_i32, %98, %c0_i32, %c31_i32 : i32 -> i32
      %100 = nvvm.elect.sync -> i1
      gpu.barrier
      %101 = "mosaic_gpu.slice_tmem"(%86) <{offset = 0 : i32}> : (memref<128x256xi32, #mosaic_gpu.tmem>) -> memref<128x256xf32, #mosaic_gpu.tmem>
      %102 = "mosaic_gpu.tmem_layout_cast"(%101) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>}> : (memref<128x256xf32, #mosaic_gpu.tmem>) -> memref<128x256xf32, #mosaic_gpu.tmem>
      %103 = arith.shrui %97, %c7_i32 : i32
      %104 = nvvm.shfl.sync idx %c-1_i32, %103, %c0_i32, %c31_i32 : i32 -> i32
      %cluster_block_id_x = gpu.cluster_block_id x
      %105 = arith.index_cast %cluster_block_id_x : index to i32
      %106 = arith.cmpi eq, %105, %c0_i32 : i32
      gpu.barrier
      %107 = "mosaic_gpu.slice_smem"() <{offset = 163840 : i32}> : () -> memref<2x16xi8, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id x
      %108 = arith.index_cast %block_id_x : index to i32
      %109:2 = scf.while (%arg14 = %108, %arg15 = %true, %arg16 = %c0_i32) : (i32, i1, i32) -> (i32, i32) {
        scf.condition(%arg15) %arg14, %arg16 : i32, i32
      } do {
      ^bb0(%arg14: i32, %arg15: i32):
        %111 = arith.remsi %arg15, %c2_i32 : i32
        %112 = arith.cmpi sge, %arg15, %c2_i32 : i32
        %113 = arith.extui %112 : i1 to i32
        %114 = arith.index_cast %113 : i32 to index
        scf.index_switch %114 
        case 0 {
          scf.yield
        }
        default {
          %165 = arith.index_cast %111 : i32 to index
          %166 = arith.index_castui %165 : index to i32
          %167 = memref.load %alloca_4[] : memref<i32>
          %168 = arith.shli %c1_i32, %166 : i32
          %169 = arith.andi %167, %168 : i32
          %170 = arith.cmpi ne, %169, %c0_i32 : i32
          %171 = arith.xori %167, %168 : i32
          memref.store %171, %alloca_4[] : memref<i32>
          %172 = arith.extui %170 : i1 to i32
          %173 = llvm.getelementptr %84[%166] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %173, %172, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          "mosaic_gpu.custom_primitive"() <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
            %174 = llvm.inline_asm has_side_effects "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;", ""  : () -> !llvm.void
            mosaic_gpu.return
          }) : () -> ()
        }
        %115 = arith.index_cast %111 : i32 to index
        %subview = memref.subview %107[%115, 0] [1, 16] [1, 1] : memref<2x16xi8, #gpu.address_space<workgroup>> to memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        %116 = arith.index_castui %115 : index to i32
        %117 = nvvm.shfl.sync idx %c-1_i32, %103, %c0_i32, %c31_i32 : i32 -> i32
        %118 = arith.cmpi eq, %117, %c0_i32 : i32
        %119 = arith.cmpi eq, %cluster_block_id_x, %c0 : index
        %cluster_block_id_y = gpu.cluster_block_id y
        %120 = arith.cmpi eq, %cluster_block_id_y, %c0 : index
        %121 = arith.andi %119, %120 : i1
        %cluster_block_id_z = gpu.cluster_block_id z
        %122 = arith.cmpi eq, %cluster_block_id_z, %c0 : index
        %123 = arith.andi %121, %122 : i1
        scf.if %118 {
          %165 = llvm.getelementptr %76[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %166 = builtin.unrealized_conversion_cast %165 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%166 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16
        }
        %124 = arith.cmpi ne, %117, %c0_i32 : i32
        scf.if %124 {
          %165 = llvm.getelementptr %76[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %166 = builtin.unrealized_conversion_cast %165 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%166) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
        }
        %125 = llvm.getelementptr %76[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %126 = builtin.unrealized_conversion_cast %125 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        %127 = arith.andi %123, %118 : i1
        "mosaic_gpu.try_cluster_cancel"(%subview, %126, %127) : (memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i1) -> ()
        %128 = arith.divsi %arg14, %c8_i32 : i32
        %129 = arith.cmpi slt, %arg14, %c8_i32 : i32
        %130 = arith.remsi %arg14, %c4_i32 : i32
        %131 = arith.divsi %arg14, %c4_i32 : i32
        %132 = arith.remsi %131, %c2_i32 : i32
        %133 = arith.muli %128, %c4_i32 : i32
        %134 = arith.addi %133, %130 : i32
        %135 = arith.remsi %128, %c2_i32 : i32
        %136 = arith.cmpi eq, %135, %c0_i32 : i32
        %137 = arith.subi %c1_i32, %132 : i32
        %138 = arith.select %136, %132, %137 : i32
        %139 = arith.subi %arg14, %c8_i32 : i32
        %140 = arith.remsi %139, %c0_i32 : i32
        %141 = arith.divsi %139, %c0_i32 : i32
        %142 = arith.remsi %141, %c2_i32 : i32
        %143 = arith.addi %133, %140 : i32
        %144 = arith.subi %c1_i32, %142 : i32
        %145 = arith.select %136, %142, %144 : i32
        %146 = arith.select %129, %138, %145 : i32
        %147 = arith.select %129, %134, %143 : i32
        %148 = arith.muli %146, %c128_i32 : i32
        %149 = arith.muli %147, %c128_i32 : i32
        %150 = arith.cmpi eq, %104, %c0_i32 : i32
        %151 = arith.extui %150 : i1 to i32
        %152 = arith.index_cast %151 : i32 to index
        scf.index_switch %152 
        case 0 {
          scf.yield
        }
        default {
          %165 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
          %166 = "mosaic_gpu.slice_smem"() <{offset = 98304 : i32}> : () -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
          "mosaic_gpu.warp_map"(%arg15, %c0_i32, %alloca_0, %52, %165, %148, %c0_i32, %44, %15, %166, %149, %25, %111, %c0_i32, %alloca_1, %60, %106, %alloca, %102, %c0_i32, %68) ({
          ^bb0(%arg16: i32, %arg17: i32, %arg18: memref<i32>, %arg19: !llvm.ptr<3>, %arg20: memref<4x128x64xf16, #gpu.address_space<workgroup>>, %arg21: i32, %arg22: i32, %arg23: !llvm.ptr<3>, %arg24: memref<256x384xf16>, %arg25: memref<4x64x128xf16, #gpu.address_space<workgroup>>, %arg26: i32, %arg27: memref<384x512xf16>, %arg28: i32, %arg29: i32, %arg30: memref<i32>, %arg31: !llvm.ptr<3>, %arg32: i1, %arg33: memref<i32>, %arg34: memref<128x256xf32, #mosaic_gpu.tmem>, %arg35: i32, %arg36: !llvm.ptr<3>):
            %c128_i32_5 = arith.constant 128 : i32
            %c10000000_i32_6 = arith.constant 10000000 : i32
            %c64_i32_7 = arith.constant 64 : i32
            %c1_i32_8 = arith.constant 1 : i32
            %c6_i32 = arith.constant 6 : i32
            %c4_i32_9 = arith.constant 4 : i32
            %c31_i32_10 = arith.constant 31 : i32
            %c0_i32_11 = arith.constant 0 : i32
            %c-1_i32_12 = arith.constant -1 : i32
            %c5_i32_13 = arith.constant 5 : i32
            %thread_id_x_14 = gpu.thread_id x
            %167 = arith.index_cast %thread_id_x_14 : index to i32
            %block_dim_x_15 = gpu.block_dim x
            %168 = arith.index_cast %block_dim_x_15 : index to i32
            %thread_id_y_16 = gpu.thread_id y
            %169 = arith.index_cast %thread_id_y_16 : index to i32
            %170 = arith.muli %169, %168 : i32
            %171 = arith.addi %167, %170 : i32
            %block_dim_y_17 = gpu.block_dim y
            %172 = arith.index_cast %block_dim_y_17 : index to i32
            %173 = arith.muli %168, %172 : i32
            %thread_id_z_18 = gpu.thread_id z
            %174 = arith.index_cast %thread_id_z_18 : index to i32
            %175 = arith.muli %174, %173 : i32
            %176 = arith.addi %171, %175 : i32
            %177 = arith.shrui %176, %c5_i32_13 : i32
            %178 = nvvm.shfl.sync idx %c-1_i32_12, %177, %c0_i32_11, %c31_i32_10 : i32 -> i32
            %179 = arith.remui %178, %c4_i32_9 : i32
            %180 = arith.cmpi eq, %179, %c0_i32_11 : i32
            %181 = arith.extui %180 : i1 to i32
            %182 = arith.index_cast %181 : i32 to index
            scf.index_switch %182 
            case 0 {
              scf.yield
            }
            default {
              scf.for %arg37 = %c0_i32_11 to %c6_i32 step %c1_i32_8  : i32 {
                %191 = arith.muli %arg37, %c64_i32_7 : i32
                %192 = arith.remsi %arg37, %c4_i32_9 : i32
                %193 = arith.cmpi sge, %arg37, %c4_i32_9 : i32
                %194 = arith.cmpi sgt, %arg16, %c0_i32_11 : i32
                %195 = arith.ori %193, %194 : i1
                %196 = arith.extui %195 : i1 to i32
                %197 = arith.index_cast %196 : i32 to index
                scf.index_switch %197 
                case 0 {
                  scf.yield
                }
                default {
                  %205 = arith.index_cast %192 : i32 to index
                  %206 = arith.index_castui %205 : index to i32
                  %207 = arith.addi %arg17, %206 : i32
                  %208 = memref.load %arg18[] : memref<i32>
                  %209 = arith.shli %c1_i32_8, %207 : i32
                  %210 = arith.andi %208, %209 : i32
                  %211 = arith.cmpi ne, %210, %c0_i32_11 : i32
                  %212 = arith.xori %208, %209 : i32
                  memref.store %212, %arg18[] : memref<i32>
                  %213 = arith.extui %211 : i1 to i32
                  %214 = llvm.getelementptr %arg19[%207] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                  nvvm.mbarrier.try_wait.parity %214, %213, %c10000000_i32_6 : !llvm.ptr<3>, i32, i32
                  nvvm.tcgen05.fence <after>
                }
                %198 = "mosaic_gpu.with_transforms"(%arg20) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x128x64xf16, #gpu.address_space<workgroup>>) -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
                %199 = arith.index_cast %192 : i32 to index
                %subview_19 = memref.subview %198[%199, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
                %200 = arith.index_castui %199 : index to i32
                %201 = arith.addi %arg22, %200 : i32
                %202 = llvm.getelementptr %arg23[%201] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                %203 = builtin.unrealized_conversion_cast %202 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
                mosaic_gpu.arrive_expect_tx barrier(%203 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
                "mosaic_gpu.async_load"(%arg24, %subview_19, %203, %arg21, %191) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<256x384xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
                %204 = "mosaic_gpu.with_transforms"(%arg25) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x64x128xf16, #gpu.address_space<workgroup>>) -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
                %subview_20 = memref.subview %204[%199, 0, 0] [1, 64, 128] [1, 1, 1] : memref<4x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
                mosaic_gpu.arrive_expect_tx barrier(%203 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16384
                "mosaic_gpu.async_load"(%arg27, %subview_20, %203, %191, %arg26) <{collective = [], oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 128>}> : (memref<384x512xf16>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
              }
            }
            %183 = arith.cmpi eq, %179, %c1_i32_8 : i32
            %184 = arith.cmpi sgt, %arg16, %c1_i32_8 : i32
            %185 = arith.andi %183, %184 : i1
            %186 = arith.extui %185 : i1 to i32
            %187 = arith.index_cast %186 : i32 to index
            scf.index_switch %187 
            case 0 {
              scf.yield
            }
            default {
              %191 = arith.index_cast %arg28 : i32 to index
              %192 = arith.index_castui %191 : index to i32
              %193 = arith.addi %arg29, %192 : i32
              %194 = memref.load %arg30[] : memref<i32>
              %195 = arith.shli %c1_i32_8, %193 : i32
              %196 = arith.andi %194, %195 : i32
              %197 = arith.cmpi ne, %196, %c0_i32_11 : i32
              %198 = arith.xori %194, %195 : i32
              memref.store %198, %arg30[] : memref<i32>
              %199 = arith.extui %197 : i1 to i32
              %200 = llvm.getelementptr %arg31[%193] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
              nvvm.mbarrier.try_wait.parity %200, %199, %c10000000_i32_6 : !llvm.ptr<3>, i32, i32
              nvvm.tcgen05.fence <after>
            }
            %188 = arith.andi %183, %arg32 : i1
            %189 = arith.extui %188 : i1 to i32
            %190 = arith.index_cast %189 : i32 to index
            scf.index_switch %190 
            case 0 {
              scf.yield
            }
            default {
              scf.for %arg37 = %c0_i32_11 to %c6_i32 step %c1_i32_8  : i32 {
                %191 = arith.remsi %arg37, %c4_i32_9 : i32
                %192 = arith.index_cast %191 : i32 to index
                %193 = arith.index_castui %192 : index to i32
                %194 = arith.addi %arg22, %193 : i32
                %195 = memref.load %arg33[] : memref<i32>
                %196 = arith.shli %c1_i32_8, %194 : i32
                %197 = arith.andi %195, %196 : i32
                %198 = arith.cmpi ne, %197, %c0_i32_11 : i32
                %199 = arith.xori %195, %196 : i32
                memref.store %199, %arg33[] : memref<i32>
                %200 = arith.extui %198 : i1 to i32
                %201 = llvm.getelementptr %arg23[%194] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                nvvm.mbarrier.try_wait.parity %201, %200, %c10000000_i32_6 : !llvm.ptr<3>, i32, i32
                %202 = arith.cmpi sge, %arg37, %c5_i32_13 : i32
                %203 = arith.muli %arg28, %c128_i32_5 : i32
                %204 = arith.cmpi sgt, %arg37, %c0_i32_11 : i32
                %205 = arith.index_cast %203 : i32 to index
                %subview_19 = memref.subview %arg34[0, %205] [128, 128] [1, 1] : memref<128x256xf32, #mosaic_gpu.tmem> to memref<128x128xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>
                %206 = "mosaic_gpu.with_transforms"(%arg20) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x128x64xf16, #gpu.address_space<workgroup>>) -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
                %subview_20 = memref.subview %206[%192, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
                %207 = "mosaic_gpu.with_transforms"(%arg25) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x64x128xf16, #gpu.address_space<workgroup>>) -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
                %subview_21 = memref.subview %207[%192, 0, 0] [1, 64, 128] [1, 1, 1] : memref<4x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
                %208 = arith.addi %arg17, %193 : i32
                "mosaic_gpu.tcgen05_mma"(%subview_19, %subview_20, %subview_21, %204) <{collective = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (memref<128x128xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, i1) -> ()
                %209 = llvm.getelementptr %arg19[%208] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                %210 = builtin.unrealized_conversion_cast %209 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
                "mosaic_gpu.tcgen05_commit_arrive"(%210) <{collective = false}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
                %211 = arith.extui %202 : i1 to i32
                %212 = arith.index_cast %211 : i32 to index
                scf.index_switch %212 
                case 0 {
                  scf.yield
                }
                default {
                  %213 = arith.index_cast %arg28 : i32 to index
                  %214 = arith.index_castui %213 : index to i32
                  %215 = arith.addi %arg35, %214 : i32
                  %216 = llvm.getelementptr %arg36[%215] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                  %217 = builtin.unrealized_conversion_cast %216 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
                  "mosaic_gpu.tcgen05_commit_arrive"(%217) <{collective = false}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
                }
              }
            }
          }) : (i32, i32, memref<i32>, !llvm.ptr<3>, memref<4x128x64xf16, #gpu.address_space<workgroup>>, i32, i32, !llvm.ptr<3>, memref<256x384xf16>, memref<4x64x128xf16, #gpu.address_space<workgroup>>, i32, memref<384x512xf16>, i32, i32, memref<i32>, !llvm.ptr<3>, i1, memref<i32>, memref<128x256xf32, #mosaic_gpu.tmem>, i32, !llvm.ptr<3>) -> ()
        }
        %153 = arith.cmpi eq, %104, %c1_i32 : i32
        %154 = arith.extui %153 : i1 to i32
        %155 = arith.index_cast %154 : i32 to index
        scf.index_switch %155 
        case 0 {
          scf.yield
        }
        default {
          nvvm.cp.async.bulk.wait_group 0 {read}
          %165 = arith.addi %103, %c1_i32 : i32
          %166 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          %167 = memref.load %alloca_2[] : memref<i32>
          %168 = arith.shli %c1_i32, %116 : i32
          %169 = arith.andi %167, %168 : i32
          %170 = arith.cmpi ne, %169, %c0_i32 : i32
          %171 = arith.xori %167, %168 : i32
          memref.store %171, %alloca_2[] : memref<i32>
          %172 = arith.extui %170 : i1 to i32
          %173 = llvm.getelementptr %68[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %173, %172, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.tcgen05.fence <after>
          %174 = arith.muli %111, %c128_i32 : i32
          %175 = arith.index_cast %174 : i32 to index
          %subview_5 = memref.subview %102[0, %175] [128, 128] [1, 1] : memref<128x256xf32, #mosaic_gpu.tmem> to memref<128x128xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>
          %subview_6 = memref.subview %subview_5[0, 0] [128, 64] [1, 1] : memref<128x128xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>
          %176 = "mosaic_gpu.async_load_tmem"(%subview_6) : (memref<128x64xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %177 = arith.truncf %176 : vector<128x64xf32> to vector<128x64xf16>
          %178 = "mosaic_gpu.slice_smem"() <{offset = 65536 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %179 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_7 = memref.subview %179[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast = memref.cast %subview_7 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%177, %cast) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %180 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          %181 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_8 = memref.subview %181[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast_9 = memref.cast %subview_8 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%cast_9, %35, %148, %149) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %182 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          %subview_10 = memref.subview %subview_5[0, 64] [128, 64] [1, 1] : memref<128x128xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>
          %183 = "mosaic_gpu.async_load_tmem"(%subview_10) : (memref<128x64xf32, strided<[256, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %184 = arith.truncf %183 : vector<128x64xf32> to vector<128x64xf16>
          %185 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_11 = memref.subview %185[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_12 = memref.cast %subview_11 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%184, %cast_12) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %186 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          %187 = "mosaic_gpu.with_transforms"(%178) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %187[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_14 = memref.cast %subview_13 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %188 = arith.addi %149, %c64_i32 : i32
          "mosaic_gpu.async_store"(%cast_14, %35, %148, %188) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<256x512xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %189 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          nvvm.tcgen05.wait <load>
          %190 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %165 : (i32) -> !llvm.void
          %191 = llvm.getelementptr %60[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %192 = builtin.unrealized_conversion_cast %191 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%192) <{orders_tensor_core = true}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
        }
        %156 = memref.load %alloca_3[] : memref<i32>
        %157 = arith.shli %c1_i32, %116 : i32
        %158 = arith.andi %156, %157 : i32
        %159 = arith.cmpi ne, %158, %c0_i32 : i32
        %160 = arith.xori %156, %157 : i32
        memref.store %160, %alloca_3[] : memref<i32>
        %161 = arith.extui %159 : i1 to i32
        nvvm.mbarrier.try_wait.parity %125, %161, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %x, %y, %z, %success = "mosaic_gpu.query_cluster_cancel"(%subview) : (memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> (i32, i32, i32, i1)
        "mosaic_gpu.custom_primitive"() <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
          %165 = llvm.inline_asm has_side_effects "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;", ""  : () -> !llvm.void
          mosaic_gpu.return
        }) : () -> ()
        %162 = llvm.getelementptr %84[%116] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %163 = builtin.unrealized_conversion_cast %162 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        "mosaic_gpu.arrive"(%163) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
        %164 = arith.addi %arg15, %c1_i32 : i32
        scf.yield %x, %success, %164 : i32, i1, i32
      }
      %110 = arith.minsi %109#1, %c2_i32 : i32
      scf.for %arg14 = %c0_i32 to %110 step %c1_i32  : i32 {
        %111 = arith.index_cast %arg14 : i32 to index
        %112 = arith.index_castui %111 : index to i32
        %113 = memref.load %alloca_4[] : memref<i32>
        %114 = arith.shli %c1_i32, %112 : i32
        %115 = arith.andi %113, %114 : i32
        %116 = arith.cmpi ne, %115, %c0_i32 : i32
        %117 = arith.xori %113, %114 : i32
        memref.store %117, %alloca_4[] : memref<i32>
        %118 = arith.extui %116 : i1 to i32
        %119 = llvm.getelementptr %84[%112] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %119, %118, %c10000000_i32 : !llvm.ptr<3>, i32, i32
      }
      gpu.barrier
      mosaic_gpu.tmem_dealloc tmem_ref(%86 : memref<128x256xi32, #mosaic_gpu.tmem>)
      gpu.terminator
    }
    return
  }
}
