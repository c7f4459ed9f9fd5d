// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-nvvm=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefixes=ALL,NVIDIA
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx942 --canonicalize --cse | FileCheck %s --check-prefixes=ALL,GFX942
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx950 --canonicalize --cse | FileCheck %s --check-prefixes=ALL,GFX950
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx1201 --canonicalize --cse | FileCheck %s --check-prefixes=ALL,GFX1201

// Moves between lanes in reductions and scans. The results are tested in
// test/python/conversions/test_block_reductions.py.

#one = #mosaic_gpu.WGStridedFragLayout<[192], 1>

// A tree across the lanes of a wave, and the parts of the warps through shared memory. The initial value is added once.
gpu.module @sum_module {
  // ALL-LABEL: gpu.func @sum
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c1_i32, %c31_i32
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32, %c31_i32
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c4_i32, %c31_i32
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c8_i32, %c31_i32
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c16_i32, %c31_i32
  // Permutations of four lanes, row_half_mirror and a rotation by 8.
  // GFX942: rocdl.update.dpp %{{.*}} with 177,
  // GFX942: rocdl.update.dpp %{{.*}} with 10,
  // GFX942: rocdl.update.dpp %{{.*}} with 321,
  // GFX942: rocdl.update.dpp %{{.*}} with 296,
  // GFX942: rocdl.ds_swizzle
  // GFX942: rocdl.readlane %{{.*}}, %c32_i32
  // GFX942: rocdl.readlane %{{.*}}, %c0_i32
  // GFX950-COUNT-4: rocdl.update.dpp
  // GFX950: rocdl.permlane16.swap
  // GFX950: rocdl.permlane32.swap
  // GFX1201: rocdl.update.dpp %{{.*}} with 177,
  // GFX1201: rocdl.update.dpp %{{.*}} with 10,
  // GFX1201: rocdl.update.dpp %{{.*}} with 356,
  // GFX1201: rocdl.update.dpp %{{.*}} with 296,
  // GFX1201: rocdl.permlanex16
  // ALL: scf.if
  // ALL: llvm.store
  // NVIDIA: gpu.barrier
  // NVIDIA-COUNT-6: llvm.load
  // NVIDIA: gpu.barrier
  // GFX942: amdgpu.lds_barrier
  // GFX942-COUNT-3: llvm.load
  // GFX942: amdgpu.lds_barrier
  // GFX1201-COUNT-6: llvm.load
  // ALL: arith.addf %{{.*}}, %[[INIT:cst.*]] :
  // ALL-NOT: arith.addf
  // ALL: gpu.return
  gpu.func @sum(%x: memref<192xf32>, %y: memref<192xf32>) kernel
      attributes {known_block_size = array<i32: 192, 1, 1>} {
    %z = arith.constant 1.0 : f32
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#one]} : memref<192xf32> -> vector<192xf32>
    %s = mosaic_gpu.reduce %v dims [0] init %z : vector<192xf32> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      mosaic_gpu.return %c : f32
    }
    %w = vector.broadcast %s {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[192]>]} : f32 to vector<192xf32>
    mosaic_gpu.vector_store %w, %y {in_layouts = [#one]} : vector<192xf32>, memref<192xf32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[64], 1>

// An exclusive scan across the lanes of a wave: shifts in rows of 16 lanes, then the last lane of the preceding half.
gpu.module @scan_module {
  // ALL-LABEL: gpu.func @scan
  // NVIDIA: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %c1_i32, %c0_i32
  // NVIDIA: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %c2_i32, %c0_i32
  // NVIDIA: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %c4_i32, %c0_i32
  // NVIDIA: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %c8_i32, %c0_i32
  // NVIDIA: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c16_i32, %c31_i32
  // row_shr, row_bcast:15, row_bcast:31 and wave_shr:1.
  // GFX942: rocdl.update.dpp %{{.*}} with 273,
  // GFX942: rocdl.update.dpp %{{.*}} with 274,
  // GFX942: rocdl.update.dpp %{{.*}} with 276,
  // GFX942: rocdl.update.dpp %{{.*}} with 280,
  // GFX942: rocdl.update.dpp %{{.*}} with 322,
  // GFX942: rocdl.update.dpp %{{.*}} with 323,
  // GFX942: rocdl.update.dpp %{{.*}} with 312,
  // GFX942-NOT: rocdl
  // GFX1201-COUNT-4: rocdl.update.dpp
  // GFX1201: rocdl.readlane %{{.*}}, %c15_i32
  // ALL: gpu.return
  gpu.func @scan(%x: memref<64xi32>, %y: memref<64xi32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : i32
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#one]} : memref<64xi32> -> vector<64xi32>
    %s = mosaic_gpu.scan %v dim 0 init %z exclusive : vector<64xi32> {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      mosaic_gpu.return %c : i32
    }
    mosaic_gpu.vector_store %s, %y : vector<64xi32>, memref<64xi32>
    gpu.return
  }
}

// -----

#two = #mosaic_gpu.WGStridedFragLayout<[128], 2>

// One instruction reduces 32-bit integers across the lanes of a warp, also from a region.
gpu.module @redux_module {
  // ALL-LABEL: gpu.func @maximum
  // NVIDIA-COUNT-1: nvvm.redux.sync umax
  // NVIDIA-NOT: shfl
  // GFX942: rocdl.update.dpp
  // ALL: gpu.return
  gpu.func @maximum(%x: memref<128xi32>, %y: memref<128xi32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : i32
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#two]} : memref<128xi32> -> vector<128xi32>
    %s = mosaic_gpu.reduce %v dims [0] init %z : vector<128xi32> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxui %b, %a : i32
      mosaic_gpu.return %c : i32
    }
    %w = vector.broadcast %s {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>
    mosaic_gpu.vector_store %w, %y {in_layouts = [#two]} : vector<128xi32>, memref<128xi32>
    gpu.return
  }
}

// -----

#one = #mosaic_gpu.WGStridedFragLayout<[64], 1>

// A region with control flow is inlined once per element.
gpu.module @control_flow_module {
  // ALL-LABEL: gpu.func @control_flow
  // NVIDIA-COUNT-6: scf.if %{{.*}} -> (i32) {
  // ALL: gpu.return
  gpu.func @control_flow(%x: memref<64xi32>, %y: memref<64xi32>, %limit: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#one]} : memref<64xi32> -> vector<64xi32>
    %s = mosaic_gpu.reduce %v dims [0] init %limit : vector<64xi32> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.cmpi sgt, %a, %limit : i32
      %r = scf.if %c -> i32 {
        %m = arith.minsi %a, %b : i32
        scf.yield %m : i32
      } else {
        scf.yield %b : i32
      }
      mosaic_gpu.return %r : i32
    }
    %w = vector.broadcast %s {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} : i32 to vector<64xi32>
    mosaic_gpu.vector_store %w, %y {in_layouts = [#one]} : vector<64xi32>, memref<64xi32>
    gpu.return
  }
}
