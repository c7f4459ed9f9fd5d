module @kernel attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
  llvm.mlir.global external @global_scratch() {addr_space = 4 : i32} : !llvm.array<0 x i8>
  func.func @kernel_mosaic_gpu(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {llvm.emit_c_interface} {
    %c8_i32 = arith.constant 8 : i32
    %c192_i32 = arith.constant 192 : i32
    %c64_i32 = arith.constant 64 : i32
    %c256_i32 = arith.constant 256 : i32
    %c128_i32 = arith.constant 128 : i32
    %c0 = arith.constant 0 : index
    %c10000000_i32 = arith.constant 10000000 : i32
    %true = arith.constant true
    %c7_i32 = arith.constant 7 : i32
    %c1_i32 = arith.constant 1 : i32
    %c4_i32 = arith.constant 4 : i32
    %c2_i32 = arith.constant 2 : i32
    %c31_i32 = arith.constant 31 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %c8_i64 = arith.constant 8 : i64
    %c164996_i32 = arith.constant 164996 : i32
    %c2 = arith.constant 2 : index
    %c256 = arith.constant 256 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %0 = llvm.mlir.constant(1024 : i64) : i64
    %1 = llvm.mlir.constant(1 : i64) : i64
    %2 = llvm.mlir.constant(384 : i64) : i64
    %3 = llvm.mlir.constant(512 : i64) : i64
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
    %15 = builtin.unrealized_conversion_cast %14 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<512x384xf16> {mosaic_gpu.from_kernel_arg_idx = 0 : i32, mosaic_gpu.original_kernel_arg}
    %16 = llvm.getelementptr %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
    %18 = llvm.insertvalue %17, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %19 = llvm.insertvalue %17, %18[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %20 = llvm.insertvalue %4, %19[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %21 = llvm.insertvalue %2, %20[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %0, %21[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %0, %22[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %1, %23[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = builtin.unrealized_conversion_cast %24 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<384x1024xf16> {mosaic_gpu.from_kernel_arg_idx = 1 : i32, mosaic_gpu.original_kernel_arg}
    %26 = llvm.getelementptr %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
    %28 = llvm.insertvalue %27, %5[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %29 = llvm.insertvalue %27, %28[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %30 = llvm.insertvalue %4, %29[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %31 = llvm.insertvalue %3, %30[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %32 = llvm.insertvalue %0, %31[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %33 = llvm.insertvalue %0, %32[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %34 = llvm.insertvalue %1, %33[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %35 = builtin.unrealized_conversion_cast %34 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<512x1024xf16> {mosaic_gpu.from_kernel_arg_idx = 2 : i32, mosaic_gpu.original_kernel_arg}
    %36 = gpu.launch async [%6] clusters(%arg14, %arg15, %arg16) in (%arg17 = %c2, %arg18 = %c1, %arg19 = %c1) blocks(%arg2, %arg3, %arg4) in (%arg8 = %c16, %arg9 = %c1, %arg10 = %c1) threads(%arg5, %arg6, %arg7) in (%arg11 = %c256, %arg12 = %c1, %arg13 = %c1) dynamic_shared_memory_size %c164996_i32 {
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
      %alloca_2 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_2[] : memref<i32>
      %69 = nvvm.elect.sync -> i1
      %thread_id_x = gpu.thread_id x
      %70 = arith.index_cast %thread_id_x : index to i32
      %block_dim_x = gpu.block_dim x
      %71 = arith.index_cast %block_dim_x : index to i32
      %thread_id_y = gpu.thread_id y
      %72 = arith.index_cast %thread_id_y : index to i32
      %73 = arith.muli %72, %71 : i32
      %74 = arith.addi %70, %73 : i32
      %block_dim_y = gpu.block_dim y
      %75 = arith.index_cast %block_dim_y : index to i32
      %76 = arith.muli %71, %75 : i32
      %thread_id_z = gpu.thread_id z
      %77 = arith.index_cast %thread_id_z : index to i32
      %78 = arith.muli %77, %76 : i32
      %79 = arith.addi %74, %78 : i32
      %80 = arith.shrui %79, %c5_i32 : i32
      %81 = nvvm.shfl.sync idx %c-1_i32, %80, %c0_i32, %c31_i32 : i32 -> i32
      %82 = arith.cmpi eq, %81, %c0_i32 : i32
      %83 = arith.andi %82, %69 : i1
      nvvm.mbarrier.init %68, %c2_i32, predicate = %83 : !llvm.ptr<3>, i32, i1
      %84 = llvm.getelementptr %68[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %84, %c2_i32, predicate = %83 : !llvm.ptr<3>, i32, i1
      %85 = "mosaic_gpu.slice_smem"() <{offset = 164960 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %86 = builtin.unrealized_conversion_cast %85 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %87 = llvm.extractvalue %86[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %88 = llvm.extractvalue %86[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %89 = llvm.mul %88, %c8_i64 : i64
      %90 = llvm.ptrtoint %87 : !llvm.ptr<3> to i64
      %91 = llvm.add %90, %89 : i64
      %92 = llvm.inttoptr %91 : i64 to !llvm.ptr<3>
      %alloca_3 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_3[] : memref<i32>
      %93 = nvvm.elect.sync -> i1
      %94 = nvvm.shfl.sync idx %c-1_i32, %80, %c0_i32, %c31_i32 : i32 -> i32
      %95 = arith.cmpi eq, %94, %c0_i32 : i32
      %96 = arith.andi %95, %93 : i1
      nvvm.mbarrier.init %92, %c4_i32, predicate = %96 : !llvm.ptr<3>, i32, i1
      %97 = llvm.getelementptr %92[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %97, %c4_i32, predicate = %96 : !llvm.ptr<3>, i32, i1
      %98 = "mosaic_gpu.slice_smem"() <{offset = 164976 : i32}> : () -> memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      %99 = builtin.unrealized_conversion_cast %98 : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>> to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %100 = llvm.extractvalue %99[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %101 = llvm.extractvalue %99[2] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> 
      %102 = llvm.mul %101, %c8_i64 : i64
      %103 = llvm.ptrtoint %100 : !llvm.ptr<3> to i64
      %104 = llvm.add %103, %102 : i64
      %105 = llvm.inttoptr %104 : i64 to !llvm.ptr<3>
      "mosaic_gpu.initialize_barrier"(%105) <{arrival_count = 2 : i64, num_barriers = 2 : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()
      %alloca_4 = memref.alloca() : memref<i32>
      memref.store %c0_i32, %alloca_4[] : memref<i32>
      %106 = "mosaic_gpu.slice_smem"() <{offset = 164992 : i32}> : () -> memref<i32, #gpu.address_space<workgroup>>
      nvvm.fence.mbarrier.init
      nvvm.cluster.arrive.relaxed {aligned}
      nvvm.cluster.wait {aligned}
      %107 = mosaic_gpu.tmem_alloc smem_ptr(%106 : memref<i32, #gpu.address_space<workgroup>>) {collective = true} -> memref<128x512xi32, #mosaic_gpu.tmem>
      "mosaic_gpu.tmem_relinquish_alloc_permit"() <{collective = true}> : () -> ()
      gpu.barrier
      %108 = nvvm.elect.sync -> i1
      %109 = nvvm.shfl.sync idx %c-1_i32, %80, %c0_i32, %c31_i32 : i32 -> i32
      %110 = nvvm.elect.sync -> i1
      gpu.barrier
      %111 = "mosaic_gpu.slice_tmem"(%107) <{offset = 0 : i32}> : (memref<128x512xi32, #mosaic_gpu.tmem>) -> memref<128x512xf32, #mosaic_gpu.tmem>
      %112 = "mosaic_gpu.tmem_layout_cast"(%111) <{new_layout = #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>}> : (memref<128x512xf32, #mosaic_gpu.tmem>) -> memref<128x512xf32, #mosaic_gpu.tmem>
      %113 = arith.shrui %79, %c7_i32 : i32
      %114 = nvvm.shfl.sync idx %c-1_i32, %113, %c0_i32, %c31_i32 : i32 -> i32
      %cluster_block_id_x = gpu.cluster_block_id x
      %115 = arith.index_cast %cluster_block_id_x : index to i32
      %116 = arith.cmpi eq, %115, %c0_i32 : i32
      gpu.barrier
      %117 = "mosaic_gpu.slice_smem"() <{offset = 163840 : i32}> : () -> memref<2x16xi8, #gpu.address_space<workgroup>>
      %block_id_x = gpu.block_id x
      %118 = arith.divui %block_id_x, %c2 : index
      %119 = arith.index_cast %118 : index to i32
      %120:2 = scf.while (%arg20 = %119, %arg21 = %true, %arg22 = %c0_i32) : (i32, i1, i32) -> (i32, i32) {
        scf.condition(%arg21) %arg20, %arg22 : i32, i32
      } do {
      ^bb0(%arg20: i32, %arg21: i32):
        %122 = arith.remsi %arg21, %c2_i32 : i32
        %123 = arith.cmpi sge, %arg21, %c2_i32 : i32
        %124 = arith.extui %123 : i1 to i32
        %125 = arith.index_cast %124 : i32 to index
        scf.index_switch %125 
        case 0 {
          scf.yield
        }
        default {
          %188 = arith.index_cast %122 : i32 to index
          %189 = arith.index_castui %188 : index to i32
          %190 = memref.load %alloca_3[] : memref<i32>
          %191 = arith.shli %c1_i32, %189 : i32
          %192 = arith.andi %190, %191 : i32
          %193 = arith.cmpi ne, %192, %c0_i32 : i32
          %194 = arith.xori %190, %191 : i32
          memref.store %194, %alloca_3[] : memref<i32>
          %195 = arith.extui %193 : i1 to i32
          %196 = llvm.getelementptr %92[%189] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %196, %195, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          "mosaic_gpu.custom_primitive"() <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
            %197 = llvm.inline_asm has_side_effects "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;", ""  : () -> !llvm.void
            mosaic_gpu.return
          }) : () -> ()
        }
        %126 = arith.index_cast %122 : i32 to index
        %subview = memref.subview %117[%126, 0] [1, 16] [1, 1] : memref<2x16xi8, #gpu.address_space<workgroup>> to memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        %127 = arith.index_castui %126 : index to i32
        %128 = nvvm.shfl.sync idx %c-1_i32, %113, %c0_i32, %c31_i32 : i32 -> i32
        %129 = arith.cmpi eq, %128, %c0_i32 : i32
        %130 = arith.cmpi eq, %cluster_block_id_x, %c0 : index
        %cluster_block_id_y = gpu.cluster_block_id y
        %131 = arith.cmpi eq, %cluster_block_id_y, %c0 : index
        %132 = arith.andi %130, %131 : i1
        %cluster_block_id_z = gpu.cluster_block_id z
        %133 = arith.cmpi eq, %cluster_block_id_z, %c0 : index
        %134 = arith.andi %132, %133 : i1
        scf.if %129 {
          %188 = llvm.getelementptr %105[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %189 = builtin.unrealized_conversion_cast %188 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          mosaic_gpu.arrive_expect_tx barrier(%189 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 16
        }
        %135 = arith.cmpi ne, %128, %c0_i32 : i32
        scf.if %135 {
          %188 = llvm.getelementptr %105[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %189 = builtin.unrealized_conversion_cast %188 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
          "mosaic_gpu.arrive"(%189) <{orders_tensor_core = false}> : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
        }
        %136 = llvm.getelementptr %105[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %137 = builtin.unrealized_conversion_cast %136 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
        %138 = arith.andi %134, %129 : i1
        "mosaic_gpu.try_cluster_cancel"(%subview, %137, %138) : (memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i1) -> ()
        %139 = arith.divsi %arg20, %c8_i32 : i32
        %140 = arith.cmpi slt, %arg20, %c8_i32 : i32
        %141 = arith.remsi %arg20, %c4_i32 : i32
        %142 = arith.divsi %arg20, %c4_i32 : i32
        %143 = arith.remsi %142, %c2_i32 : i32
        %144 = arith.muli %139, %c4_i32 : i32
        %145 = arith.addi %144, %141 : i32
        %146 = arith.remsi %139, %c2_i32 : i32
        %147 = arith.cmpi eq, %146, %c0_i32 : i32
        %148 = arith.subi %c1_i32, %143 : i32
        %149 = arith.select %147, %143, %148 : i32
        %150 = arith.subi %arg20, %c8_i32 : i32
        %151 = arith.remsi %150, %c0_i32 : i32
        %152 = arith.divsi %150, %c0_i32 : i32
        %153 = arith.remsi %152, %c2_i32 : i32
        %154 = arith.addi %144, %151 : i32
        %155 = arith.subi %c1_i32, %153 : i32
        %156 = arith.select %147, %153, %155 : i32
        %157 = arith.select %140, %149, %156 : i32
        %158 = arith.select %140, %145, %154 : i32
        %159 = arith.muli %157, %c2_i32 : i32
        %160 = arith.addi %159, %115 : i32
        %161 = arith.muli %160, %c128_i32 : i32
        %162 = arith.muli %157, %c256_i32 : i32
        %163 = arith.muli %158, %c256_i32 : i32
        %164 = arith.cmpi eq, %114, %c0_i32 : i32
        %165 = arith.extui %164 : i1 to i32
        %166 = arith.index_cast %165 : i32 to index
        scf.index_switch %166 
        case 0 {
          scf.yield
        }
        default {
          %188 = "mosaic_gpu.slice_smem"() <{offset = 0 : i32}> : () -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
          %189 = "mosaic_gpu.slice_smem"() <{offset = 98304 : i32}> : () -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
          "mosaic_gpu.warp_map"(%arg21, %c0_i32, %alloca_0, %52, %188, %162, %c0_i32, %44, %15, %189, %163, %25, %122, %c0_i32, %alloca_2, %68, %116, %alloca, %112, %c0_i32, %60) ({
          ^bb0(%arg22: i32, %arg23: i32, %arg24: memref<i32>, %arg25: !llvm.ptr<3>, %arg26: memref<4x128x64xf16, #gpu.address_space<workgroup>>, %arg27: i32, %arg28: i32, %arg29: !llvm.ptr<3>, %arg30: memref<512x384xf16>, %arg31: memref<4x64x128xf16, #gpu.address_space<workgroup>>, %arg32: i32, %arg33: memref<384x1024xf16>, %arg34: i32, %arg35: i32, %arg36: memref<i32>, %arg37: !llvm.ptr<3>, %arg38: i1, %arg39: memref<i32>, %arg40: memref<128x512xf32, #mosaic_gpu.tmem>, %arg41: i32, %arg42: !llvm.ptr<3>):
            %c256_i32_5 = arith.constant 256 : i32
            %c0_6 = arith.constant 0 : index
            %c10000000_i32_7 = arith.constant 10000000 : i32
            %c64_i32_8 = arith.constant 64 : i32
            %c1_i32_9 = arith.constant 1 : i32
            %c6_i32 = arith.constant 6 : i32
            %c4_i32_10 = arith.constant 4 : i32
            %c31_i32_11 = arith.constant 31 : i32
            %c0_i32_12 = arith.constant 0 : i32
            %c-1_i32_13 = arith.constant -1 : i32
            %c5_i32_14 = arith.constant 5 : i32
            %thread_id_x_15 = gpu.thread_id x
            %190 = arith.index_cast %thread_id_x_15 : index to i32
            %block_dim_x_16 = gpu.block_dim x
            %191 = arith.index_cast %block_dim_x_16 : index to i32
            %thread_id_y_17 = gpu.thread_id y
            %192 = arith.index_cast %thread_id_y_17 : index to i32
            %193 = arith.muli %192, %191 : i32
            %194 = arith.addi %190, %193 : i32
            %block_dim_y_18 = gpu.block_dim y
            %195 = arith.index_cast %block_dim_y_18 : index to i32
            %196 = arith.muli %191, %195 : i32
            %thread_id_z_19 = gpu.thread_id z
            %197 = arith.index_cast %thread_id_z_19 : index to i32
            %198 = arith.muli %197, %196 : i32
            %199 = arith.addi %194, %198 : i32
            %200 = arith.shrui %199, %c5_i32_14 : i32
            %201 = nvvm.shfl.sync idx %c-1_i32_13, %200, %c0_i32_12, %c31_i32_11 : i32 -> i32
            %202 = arith.remui %201, %c4_i32_10 : i32
            %203 = arith.cmpi eq, %202, %c0_i32_12 : i32
            %204 = arith.extui %203 : i1 to i32
            %205 = arith.index_cast %204 : i32 to index
            scf.index_switch %205 
            case 0 {
              scf.yield
            }
            default {
              scf.for %arg43 = %c0_i32_12 to %c6_i32 step %c1_i32_9  : i32 {
                %214 = arith.muli %arg43, %c64_i32_8 : i32
                %215 = arith.remsi %arg43, %c4_i32_10 : i32
                %216 = arith.cmpi sge, %arg43, %c4_i32_10 : i32
                %217 = arith.cmpi sgt, %arg22, %c0_i32_12 : i32
                %218 = arith.ori %216, %217 : i1
                %219 = arith.extui %218 : i1 to i32
                %220 = arith.index_cast %219 : i32 to index
                scf.index_switch %220 
                case 0 {
                  scf.yield
                }
                default {
                  %229 = arith.index_cast %215 : i32 to index
                  %230 = arith.index_castui %229 : index to i32
                  %231 = arith.addi %arg23, %230 : i32
                  %232 = memref.load %arg24[] : memref<i32>
                  %233 = arith.shli %c1_i32_9, %231 : i32
                  %234 = arith.andi %232, %233 : i32
                  %235 = arith.cmpi ne, %234, %c0_i32_12 : i32
                  %236 = arith.xori %232, %233 : i32
                  memref.store %236, %arg24[] : memref<i32>
                  %237 = arith.extui %235 : i1 to i32
                  %238 = llvm.getelementptr %arg25[%231] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                  nvvm.mbarrier.try_wait.parity %238, %237, %c10000000_i32_7 : !llvm.ptr<3>, i32, i32
                  nvvm.tcgen05.fence <after>
                }
                %221 = "mosaic_gpu.with_transforms"(%arg26) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x128x64xf16, #gpu.address_space<workgroup>>) -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
                %222 = arith.index_cast %215 : i32 to index
                %subview_20 = memref.subview %221[%222, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
                %223 = arith.index_castui %222 : index to i32
                %224 = arith.addi %arg28, %223 : i32
                %225 = llvm.getelementptr %arg29[%224] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                %226 = builtin.unrealized_conversion_cast %225 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
                %cluster_block_id_x_21 = gpu.cluster_block_id x
                %227 = arith.cmpi eq, %cluster_block_id_x_21, %c0_6 : index
                scf.if %227 {
                  mosaic_gpu.arrive_expect_tx barrier(%226 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
                }
                "mosaic_gpu.async_load"(%arg30, %subview_20, %226, %arg27, %214) <{collective = [0 : i32], leader_tracked = #mosaic_gpu.copy_partitioned<axis = 0>, oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 256, 64>}> : (memref<512x384xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
                %228 = "mosaic_gpu.with_transforms"(%arg31) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x64x128xf16, #gpu.address_space<workgroup>>) -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
                %subview_22 = memref.subview %228[%222, 0, 0] [1, 64, 128] [1, 1, 1] : memref<4x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
                scf.if %227 {
                  mosaic_gpu.arrive_expect_tx barrier(%226 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768
                }
                "mosaic_gpu.async_load"(%arg33, %subview_22, %226, %214, %arg32) <{collective = [0 : i32], leader_tracked = #mosaic_gpu.copy_partitioned<axis = 1>, oob_fill_mode = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>, slice_lengths = array<i64: 64, 256>}> : (memref<384x1024xf16>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32, i32) -> ()
              }
            }
            %206 = arith.cmpi eq, %202, %c1_i32_9 : i32
            %207 = arith.cmpi sgt, %arg22, %c1_i32_9 : i32
            %208 = arith.andi %206, %207 : i1
            %209 = arith.extui %208 : i1 to i32
            %210 = arith.index_cast %209 : i32 to index
            scf.index_switch %210 
            case 0 {
              scf.yield
            }
            default {
              %214 = arith.index_cast %arg34 : i32 to index
              %215 = arith.index_castui %214 : index to i32
              %216 = arith.addi %arg35, %215 : i32
              %217 = memref.load %arg36[] : memref<i32>
              %218 = arith.shli %c1_i32_9, %216 : i32
              %219 = arith.andi %217, %218 : i32
              %220 = arith.cmpi ne, %219, %c0_i32_12 : i32
              %221 = arith.xori %217, %218 : i32
              memref.store %221, %arg36[] : memref<i32>
              %222 = arith.extui %220 : i1 to i32
              %223 = llvm.getelementptr %arg37[%216] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
              nvvm.mbarrier.try_wait.parity %223, %222, %c10000000_i32_7 : !llvm.ptr<3>, i32, i32
              nvvm.tcgen05.fence <after>
            }
            %211 = arith.andi %206, %arg38 : i1
            %212 = arith.extui %211 : i1 to i32
            %213 = arith.index_cast %212 : i32 to index
            scf.index_switch %213 
            case 0 {
              scf.yield
            }
            default {
              scf.for %arg43 = %c0_i32_12 to %c6_i32 step %c1_i32_9  : i32 {
                %214 = arith.remsi %arg43, %c4_i32_10 : i32
                %215 = arith.index_cast %214 : i32 to index
                %216 = arith.index_castui %215 : index to i32
                %217 = arith.addi %arg28, %216 : i32
                %218 = memref.load %arg39[] : memref<i32>
                %219 = arith.shli %c1_i32_9, %217 : i32
                %220 = arith.andi %218, %219 : i32
                %221 = arith.cmpi ne, %220, %c0_i32_12 : i32
                %222 = arith.xori %218, %219 : i32
                memref.store %222, %arg39[] : memref<i32>
                %223 = arith.extui %221 : i1 to i32
                %224 = llvm.getelementptr %arg29[%217] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                nvvm.mbarrier.try_wait.parity %224, %223, %c10000000_i32_7 : !llvm.ptr<3>, i32, i32
                %225 = arith.cmpi sge, %arg43, %c5_i32_14 : i32
                %226 = arith.muli %arg34, %c256_i32_5 : i32
                %227 = arith.cmpi sgt, %arg43, %c0_i32_12 : i32
                %228 = arith.index_cast %226 : i32 to index
                %subview_20 = memref.subview %arg40[0, %228] [128, 256] [1, 1] : memref<128x512xf32, #mosaic_gpu.tmem> to memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
                %229 = "mosaic_gpu.with_transforms"(%arg26) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x128x64xf16, #gpu.address_space<workgroup>>) -> memref<4x128x64xf16, #gpu.address_space<workgroup>>
                %subview_21 = memref.subview %229[%215, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
                %230 = "mosaic_gpu.with_transforms"(%arg31) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<4x64x128xf16, #gpu.address_space<workgroup>>) -> memref<4x64x128xf16, #gpu.address_space<workgroup>>
                %subview_22 = memref.subview %230[%215, 0, 0] [1, 64, 128] [1, 1, 1] : memref<4x64x128xf16, #gpu.address_space<workgroup>> to memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
                %231 = arith.addi %arg23, %216 : i32
                %cluster_block_id_x_23 = gpu.cluster_block_id x
                %232 = arith.cmpi eq, %cluster_block_id_x_23, %c0_6 : index
                scf.if %232 {
                  "mosaic_gpu.tcgen05_mma"(%subview_20, %subview_21, %subview_22, %227) <{collective = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<64x128xf16, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, i1) -> ()
                  %235 = llvm.getelementptr %arg25[%231] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                  %236 = builtin.unrealized_conversion_cast %235 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
                  "mosaic_gpu.tcgen05_commit_arrive"(%236) <{collective = true}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
                }
                %233 = arith.extui %225 : i1 to i32
                %234 = arith.index_cast %233 : i32 to index
                scf.index_switch %234 
                case 0 {
                  scf.yield
                }
                default {
                  %235 = arith.index_cast %arg34 : i32 to index
                  %236 = arith.index_castui %235 : index to i32
                  %237 = arith.addi %arg41, %236 : i32
                  scf.if %232 {
                    %238 = llvm.getelementptr %arg42[%237] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
                    %239 = builtin.unrealized_conversion_cast %238 : !llvm.ptr<3> to memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
                    "mosaic_gpu.tcgen05_commit_arrive"(%239) <{collective = true}> : (memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) -> ()
                  }
                }
              }
            }
          }) : (i32, i32, memref<i32>, !llvm.ptr<3>, memref<4x128x64xf16, #gpu.address_space<workgroup>>, i32, i32, !llvm.ptr<3>, memref<512x384xf16>, memref<4x64x128xf16, #gpu.address_space<workgroup>>, i32, memref<384x1024xf16>, i32, i32, memref<i32>, !llvm.ptr<3>, i1, memref<i32>, memref<128x512xf32, #mosaic_gpu.tmem>, i32, !llvm.ptr<3>) -> ()
        }
        %167 = arith.cmpi eq, %114, %c1_i32 : i32
        %168 = arith.extui %167 : i1 to i32
        %169 = arith.index_cast %168 : i32 to index
        scf.index_switch %169 
        case 0 {
          scf.yield
        }
        default {
          nvvm.cp.async.bulk.wait_group 0 {read}
          %188 = arith.addi %113, %c1_i32 : i32
          %189 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %190 = memref.load %alloca_1[] : memref<i32>
          %191 = arith.shli %c1_i32, %127 : i32
          %192 = arith.andi %190, %191 : i32
          %193 = arith.cmpi ne, %192, %c0_i32 : i32
          %194 = arith.xori %190, %191 : i32
          memref.store %194, %alloca_1[] : memref<i32>
          %195 = arith.extui %193 : i1 to i32
          %196 = llvm.getelementptr %60[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %196, %195, %c10000000_i32 : !llvm.ptr<3>, i32, i32
          nvvm.tcgen05.fence <after>
          %197 = arith.muli %122, %c256_i32 : i32
          %198 = arith.index_cast %197 : i32 to index
          %subview_5 = memref.subview %112[0, %198] [128, 256] [1, 1] : memref<128x512xf32, #mosaic_gpu.tmem> to memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
          %subview_6 = memref.subview %subview_5[0, 0] [128, 64] [1, 1] : memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
          %199 = "mosaic_gpu.async_load_tmem"(%subview_6) : (memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %200 = arith.truncf %199 : vector<128x64xf32> to vector<128x64xf16>
          %201 = "mosaic_gpu.slice_smem"() <{offset = 65536 : i32}> : () -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %202 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_7 = memref.subview %202[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast = memref.cast %subview_7 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%200, %cast) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %203 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %204 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_8 = memref.subview %204[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast_9 = memref.cast %subview_8 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.async_store"(%cast_9, %35, %161, %163) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<512x1024xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %205 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %subview_10 = memref.subview %subview_5[0, 64] [128, 64] [1, 1] : memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
          %206 = "mosaic_gpu.async_load_tmem"(%subview_10) : (memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %207 = arith.truncf %206 : vector<128x64xf32> to vector<128x64xf16>
          %208 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_11 = memref.subview %208[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_12 = memref.cast %subview_11 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%207, %cast_12) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %209 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %210 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_13 = memref.subview %210[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_14 = memref.cast %subview_13 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %211 = arith.addi %163, %c64_i32 : i32
          "mosaic_gpu.async_store"(%cast_14, %35, %161, %211) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<512x1024xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %212 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %subview_15 = memref.subview %subview_5[0, 128] [128, 64] [1, 1] : memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
          %213 = "mosaic_gpu.async_load_tmem"(%subview_15) : (memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %214 = arith.truncf %213 : vector<128x64xf32> to vector<128x64xf16>
          %215 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_16 = memref.subview %215[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast_17 = memref.cast %subview_16 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%214, %cast_17) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %216 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %217 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_18 = memref.subview %217[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %cast_19 = memref.cast %subview_18 : memref<128x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %218 = arith.addi %163, %c128_i32 : i32
          "mosaic_gpu.async_store"(%cast_19, %35, %161, %218) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<512x1024xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %219 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %subview_20 = memref.subview %subview_5[0, 192] [128, 64] [1, 1] : memref<128x256xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem> to memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>
          %220 = "mosaic_gpu.async_load_tmem"(%subview_20) : (memref<128x64xf32, strided<[512, 1], offset: ?>, #mosaic_gpu.tmem>) -> vector<128x64xf32>
          %221 = arith.truncf %220 : vector<128x64xf32> to vector<128x64xf16>
          %222 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_21 = memref.subview %222[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_22 = memref.cast %subview_21 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          "mosaic_gpu.vector_store"(%221, %cast_22) <{multimem = false}> : (vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>) -> ()
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          %223 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %224 = "mosaic_gpu.with_transforms"(%201) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (memref<2x128x64xf16, #gpu.address_space<workgroup>>) -> memref<2x128x64xf16, #gpu.address_space<workgroup>>
          %subview_23 = memref.subview %224[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<2x128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
          %cast_24 = memref.cast %subview_23 : memref<128x64xf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>> to memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %225 = arith.addi %163, %c192_i32 : i32
          "mosaic_gpu.async_store"(%cast_24, %35, %161, %225) <{commit_group = true, is_global_broadcast = false, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>, slice_lengths = array<i64: 128, 64>}> : (memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<512x1024xf16>, i32, i32) -> ()
          nvvm.cp.async.bulk.wait_group 1 {read}
          %226 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          nvvm.tcgen05.wait <load>
          %227 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          nvvm.tcgen05.fence <before>
          %228 = llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %188 : (i32) -> !llvm.void
          %229 = arith.remui %79, %c128_i32 : i32
          %230 = arith.divui %229, %c8_i32 : i32
          %231 = arith.shli %c1_i32, %230 : i32
          %232 = arith.andi %231, %c3_i32 : i32
          %233 = arith.cmpi ne, %232, %c0_i32 : i32
          %234 = arith.remui %229, %c8_i32 : i32
          %235 = arith.cmpi eq, %234, %c0_i32 : i32
          %236 = arith.andi %233, %235 : i1
          %237 = llvm.getelementptr %68[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %238 = llvm.inline_asm has_side_effects "\0A    {\0A        .reg .b32 mapped_addr;\0A        @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2;\0A        @$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr];\0A    }", "b,r,r" %236, %237, %230 : (i1, !llvm.ptr<3>, i32) -> !llvm.void
        }
        %170 = memref.load %alloca_4[] : memref<i32>
        %171 = arith.shli %c1_i32, %127 : i32
        %172 = arith.andi %170, %171 : i32
        %173 = arith.cmpi ne, %172, %c0_i32 : i32
        %174 = arith.xori %170, %171 : i32
        memref.store %174, %alloca_4[] : memref<i32>
        %175 = arith.extui %173 : i1 to i32
        nvvm.mbarrier.try_wait.parity %136, %175, %c10000000_i32 : !llvm.ptr<3>, i32, i32
        %x, %y, %z, %success = "mosaic_gpu.query_cluster_cancel"(%subview) : (memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) -> (i32, i32, i32, i1)
        %176 = arith.divui %x, %c2_i32 : i32
        "mosaic_gpu.custom_primitive"() <{in_layouts = [], in_transforms = [], out_layouts = []}> ({
          %188 = llvm.inline_asm has_side_effects "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;", ""  : () -> !llvm.void
          mosaic_gpu.return
        }) : () -> ()
        %177 = arith.remui %79, %c128_i32 : i32
        %178 = arith.divui %177, %c8_i32 : i32
        %179 = arith.shli %c1_i32, %178 : i32
        %180 = arith.andi %179, %c3_i32 : i32
        %181 = arith.cmpi ne, %180, %c0_i32 : i32
        %182 = arith.remui %177, %c8_i32 : i32
        %183 = arith.cmpi eq, %182, %c0_i32 : i32
        %184 = arith.andi %181, %183 : i1
        %185 = llvm.getelementptr %92[%127] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %186 = llvm.inline_asm has_side_effects "\0A    {\0A        .reg .b32 mapped_addr;\0A        @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2;\0A        @$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr];\0A    }", "b,r,r" %184, %185, %178 : (i1, !llvm.ptr<3>, i32) -> !llvm.void
        %187 = arith.addi %arg21, %c1_i32 : i32
        scf.yield %176, %success, %187 : i32, i1, i32
      }
      %121 = arith.minsi %120#1, %c2_i32 : i32
      scf.for %arg20 = %c0_i32 to %121 step %c1_i32  : i32 {
        %122 = arith.index_cast %arg20 : i32 to index
        %123 = arith.index_castui %122 : index to i32
        %124 = memref.load %alloca_3[] : memref<i32>
        %125 = arith.shli %c1_i32, %123 : i32
        %126 = arith.andi %124, %125 : i32
        %127 = arith.cmpi ne, %126, %c0_i32 : i32
        %128 = arith.xori %124, %125 : i32
        memref.store %128, %alloca_3[] : memref<i32>
        %129 = arith.extui %127 : i1 to i32
        %130 = llvm.getelementptr %92[%123] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.try_wait.parity %130, %129, %c10000000_i32 : !llvm.ptr<3>, i32, i32
      }
      gpu.barrier
      nvvm.cluster.arrive.relaxed {aligned}
      nvvm.cluster.wait {aligned}
      mosaic_gpu.tmem_dealloc tmem_ref(%107 : memref<128x512xi32, #mosaic_gpu.tmem>)
      gpu.terminator
    }
    return
  }
}
