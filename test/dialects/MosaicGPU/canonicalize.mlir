// RUN: smalti-opt --canonicalize %s | FileCheck %s

!a = memref<64x64xf16, #gpu.address_space<workgroup>>
!b = memref<4096xf16, #gpu.address_space<workgroup>>
!c = memref<32x128xf16, #gpu.address_space<workgroup>>

// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[M:.*]]: memref<64x64xf16, #gpu.address_space<workgroup>>)
func.func @casts(%m: !a) -> (!a, !c, !a) {
  // A cast to the type itself, a cast of a cast, and both.
  // CHECK-NEXT: %[[C:[a-z0-9]+]] = mosaic_gpu.reinterpret_cast %[[M]] : memref<64x64xf16, {{.*}}> to memref<32x128xf16
  // CHECK-NEXT: return %[[M]], %[[C]], %[[M]]
  %0 = mosaic_gpu.reinterpret_cast %m : !a to !a
  %1 = mosaic_gpu.reinterpret_cast %m : !a to !b
  %2 = mosaic_gpu.reinterpret_cast %1 : !b to !c
  %3 = mosaic_gpu.reinterpret_cast %1 : !b to !a
  return %0, %2, %3 : !a, !c, !a
}

// CHECK-LABEL: func.func @slice
func.func @slice() -> !b {
  // CHECK-NEXT: %[[S:.*]] = mosaic_gpu.slice_smem 1024 alias 3 : memref<4096xf16
  // CHECK-NEXT: return %[[S]]
  %0 = mosaic_gpu.slice_smem 1024 alias 3 : !a
  %1 = mosaic_gpu.reinterpret_cast %0 : !a to !b
  return %1 : !b
}

// Ops with layouts or transforms are not changed.
// CHECK-LABEL: func.func @annotated
func.func @annotated() -> !b {
  // CHECK-NEXT: mosaic_gpu.slice_smem
  // CHECK-NEXT: mosaic_gpu.reinterpret_cast
  %0 = mosaic_gpu.slice_smem 0 {out_transforms = [[#mosaic_gpu.tile<[8, 64]>]]} : !a
  %1 = mosaic_gpu.reinterpret_cast %0 {in_transforms = [[#mosaic_gpu.tile<[8, 64]>]], out_transforms = [[]]} : !a to !b
  return %1 : !b
}

// CHECK-LABEL: func.func @warps
// CHECK-SAME: (%[[M:[a-z0-9]+]]: memref<64x64xf16, #gpu.address_space<workgroup>>, %[[N:[a-z0-9]+]]: memref<64x64xf16, #gpu.address_space<workgroup>>
func.func @warps(%m: !a, %n: !a, %o: !a, %g: memref<4096xf16>, %h: memref<32x128xf16>, %i: i32) {
  // The first operand is only cast, to one type; the others also to another type, or used as they are.
  // CHECK-NEXT: %[[C:[a-z0-9]+]] = mosaic_gpu.reinterpret_cast %[[M]] : memref<64x64xf16, {{.*}}> to memref<4096xf16
  // CHECK-NEXT: mosaic_gpu.warp_map (%[[X:[a-z0-9]+]] = %[[C]] : memref<4096xf16, {{.*}}>, %[[Y:[a-z0-9]+]] = %[[N]] : memref<64x64xf16,
  // CHECK-NEXT: mosaic_gpu.async_store %[[X]]
  // CHECK-NEXT: mosaic_gpu.reinterpret_cast %[[Y]]
  // CHECK-NEXT: mosaic_gpu.async_store
  // CHECK-NEXT: mosaic_gpu.reinterpret_cast %[[Y]]
  // CHECK-NEXT: mosaic_gpu.async_store
  mosaic_gpu.warp_map (%x = %m : !a, %y = %n : !a, %gx = %g : memref<4096xf16>, %hx = %h : memref<32x128xf16>, %j = %i : i32) {
    %0 = mosaic_gpu.reinterpret_cast %x : !a to !b
    mosaic_gpu.async_store %0 to %gx[%j] [4096] : !b to memref<4096xf16>[i32]
    %1 = mosaic_gpu.reinterpret_cast %y : !a to !b
    mosaic_gpu.async_store %1 to %gx[%j] [4096] : !b to memref<4096xf16>[i32]
    %2 = mosaic_gpu.reinterpret_cast %y : !a to !c
    mosaic_gpu.async_store %2 to %hx[%j, %j] [32, 128] : !c to memref<32x128xf16>[i32, i32]
  }
  return
}
