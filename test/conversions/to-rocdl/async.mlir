// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx950 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx942 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: sed 's/i32: 128, 1, 1/i32: 64, 1, 1/' %s | smalti-opt --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx1250 --canonicalize --cse \
// RUN:     | FileCheck %s --check-prefixes=GFX1250
// RUN: not smalti-opt %s --split-input-file --convert-mosaic-gpu-to-rocdl=target=gfx1100 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: 'mosaic_gpu.async_copy' op cannot be lowered for gfx1100: the target does not have asynchronous copies to shared memory; copy through registers

// Two tiles of 4 KiB: on gfx950 each of two waves issues 2 loads of 16 bytes per lane for each tile, on gfx942 8 of 4
// bytes. The first wait leaves the newest group in flight, the second waits for all. The loads of the two waves are
// contiguous.
gpu.module @groups {
  // CHECK-LABEL: gpu.func @groups
  // CHECK: rocdl.readfirstlane
  // GFX950-COUNT-2: amdgpu.gather_to_lds {{.*}} : vector<8xf16>, memref<128x64xf16, #amdgpu.address_space<fat_raw_buffer>>
  // GFX950-NOT: amdgpu.gather_to_lds
  // GFX942-COUNT-8: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
  // CHECK-COUNT-2: amdgpu.gather_to_lds
  // GFX950: amdgpu.memory_counter_wait load(2)
  // GFX942: amdgpu.memory_counter_wait load(8)
  // CHECK-NEXT: llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
  // CHECK: amdgpu.memory_counter_wait ds(0)
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
  // CHECK: amdgpu.memory_counter_wait load(0)

  // Out-of-bounds lanes load zeros: every wave issues each load.
  // GFX1250: llvm.mlir.global internal constant @smalti_zeros(dense<0> : tensor<4xi32>) {addr_space = 1 : i32, alignment = 16 : i64}
  // GFX1250-LABEL: gpu.func @groups
  // GFX1250: llvm.mlir.addressof @smalti_zeros
  // GFX1250: arith.select
  // GFX1250-COUNT-8: rocdl.global.load.async.to.lds.b128
  // GFX1250: rocdl.s.wait.asynccnt 4
  // GFX1250: amdgpu.lds_barrier
  // GFX1250: rocdl.s.wait.asynccnt 0
  gpu.func @groups(%a: memref<128x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 : memref<32x64xf16, #gpu.address_space<workgroup>>
    %t = mosaic_gpu.slice_smem 4096 : memref<32x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_copy %a[%i, %c0] to %s : memref<128x64xf16> to memref<32x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_copy %a[%i, %c0] to %t : memref<128x64xf16> to memref<32x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 1
    gpu.barrier
    mosaic_gpu.async_wait_group 0
    gpu.barrier
    gpu.return
  }
}

// -----

// Only some waves execute a copy of 512 bytes, so the wait for the preceding copy leaves no load in flight. The same
// holds for a wait after copies in only one branch.
gpu.module @some_waves {
  // CHECK-LABEL: gpu.func @some_waves
  // CHECK: scf.if
  // CHECK: amdgpu.gather_to_lds
  // CHECK: amdgpu.memory_counter_wait load(0)
  // CHECK: scf.if
  // CHECK: amdgpu.memory_counter_wait load(0)
  gpu.func @some_waves(%a: memref<128x64xf16>, %c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = mosaic_gpu.slice_smem 0 : memref<32x64xf16, #gpu.address_space<workgroup>>
    %t = mosaic_gpu.slice_smem 4096 : memref<2x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_copy %a[%c0, %c0] to %s : memref<128x64xf16> to memref<32x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_copy %a[%c0, %c0] to %t : memref<128x64xf16> to memref<2x64xf16, #gpu.address_space<workgroup>>
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 1
    gpu.barrier
    scf.if %c {
      mosaic_gpu.async_copy %a[%c0, %c0] to %s : memref<128x64xf16> to memref<32x64xf16, #gpu.address_space<workgroup>>
    }
    mosaic_gpu.async_commit_group
    mosaic_gpu.async_wait_group 1
    gpu.return
  }
}
