// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=sm_80}))' | FileCheck %s --check-prefix=SM80
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx942}))' | FileCheck %s --check-prefix=GFX942
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=gfx1100}))' --remarks-filter=smalti-expand-tile-ops 2>&1 | FileCheck %s --check-prefix=GFX1100
// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=cpu}))' | FileCheck %s --check-prefix=CPU
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops{target=sm_1}))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: {{.*}}sm_1

// The fastest algorithm on MMAs of the target that is at least as accurate.

// GFX1100: Remark="dot expanded: the algorithm is changed from tf32 to bf16x3, which MMAs of gfx1100 compute faster"
// GFX1100: Remark="dot expanded: the algorithm is changed from tf32x3 to bf16x6, which MMAs of gfx1100 compute faster"
// GFX1100: Remark="dot expanded"

// SM80-LABEL: @tf32
// SM80: triton_xla.dot {{.*}} tf32 : tensor<16x16xf32>
// GFX942-LABEL: @tf32
// GFX942: triton_xla.dot {{.*}} tf32 : tensor<16x16xf32>
// GFX1100-LABEL: @tf32
// GFX1100-COUNT-3: triton_xla.dot {{.*}} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
// GFX1100-NOT: triton_xla.dot
// CPU-LABEL: @tf32
// CPU: triton_xla.dot {{.*}} tf32 : tensor<16x16xf32>
triton_xla.entry_func @tf32(%a: memref<16x16xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %d = triton_xla.dot %x, %x, %x tf32 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %d into %a[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// f32 MFMAs are faster than three XF32 ones and the computation of parts.

// SM80-LABEL: @tf32x3
// SM80-COUNT-3: triton_xla.dot {{.*}} tf32 : tensor<16x16xf32>
// SM80-NOT: triton_xla.dot
// GFX942-LABEL: @tf32x3
// GFX942: triton_xla.dot {{.*}} algorithm ieee : tensor<16x16xf32>
// GFX942-NOT: triton_xla.dot
// GFX1100-LABEL: @tf32x3
// GFX1100-COUNT-6: triton_xla.dot {{.*}} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
// GFX1100-NOT: triton_xla.dot
triton_xla.entry_func @tf32x3(%a: memref<16x16xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %d = triton_xla.dot %x, %x, %x algorithm tf32x3 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %d into %a[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// SM80-LABEL: @bf16x3
// SM80-COUNT-3: triton_xla.dot {{.*}} : tensor<16x16xbf16>
// GFX942-LABEL: @bf16x3
// GFX942-COUNT-3: triton_xla.dot {{.*}} : tensor<16x16xbf16>
// GFX1100-LABEL: @bf16x3
// GFX1100-COUNT-3: triton_xla.dot {{.*}} : tensor<16x16xbf16>
triton_xla.entry_func @bf16x3(%a: memref<16x16xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %d = triton_xla.dot %x, %x, %x algorithm bf16x3 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %d into %a[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}
