// RUN: not smalti-opt %s -split-input-file -smalti-compile=target=cpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not smalti-opt %s -split-input-file -smalti-compile=target=gfx942 -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMD

// Cases that upstream's conversions report without a location, or crash on.

// CPU: [[#@LINE+2]]:{{.*}} error: type '{{.*}}' uses memory space #gpu.address_space<workgroup>, which cpu does not have
func.func @spaces(%a: memref<16xf32>) {
  %s = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: type '{{.*}}' uses memory space #gpu.address_space<workgroup>, which cpu does not have
func.func @argument(%a: memref<16xf32, #gpu.address_space<workgroup>>) {
  return
}

// -----

// AMD: [[#@LINE+2]]:{{.*}} error: memory attribution of @tf32 has elements of type 'tf32'; LLVM does not support this type
gpu.module @m {
  gpu.func @tf32() workgroup(%tile: memref<16x32xtf32, 3>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory attribution of @private_tf32 has elements of type 'tf32'
gpu.module @m {
  gpu.func @private_tf32() private(%tile: memref<4xtf32, 5>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory attribution of @tensor_memory has type 'memref<128x144xi32, #mosaic_gpu.tmem>'; a static shape, an identity layout and a numbered or
gpu.module @m {
  gpu.func @tensor_memory() private(%tile: memref<128x144xi32, #mosaic_gpu.tmem>) kernel {
    gpu.return
  }
}

// -----

// Types that contain a type that LLVM does not support.
// CPU: [[#@LINE+1]]:{{.*}} error: type 'memref<*xtf32>' has elements of type 'tf32'; LLVM does not support this type
func.func @unranked(%a: memref<*xtf32>, %b: memref<*xtf32>) {
  memref.copy %a, %b : memref<*xtf32> to memref<*xtf32>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: type 'memref<16xcomplex<tf32>>' has elements of type 'tf32'
func.func @complex(%a: memref<16xcomplex<tf32>>, %b: memref<16xcomplex<tf32>>) {
  memref.copy %a, %b : memref<16xcomplex<tf32>> to memref<16xcomplex<tf32>>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: type 'memref<*xvector<4xtf32>>' has elements of type 'tf32'
func.func @vectors(%a: memref<*xvector<4xtf32>>, %b: memref<*xvector<4xtf32>>) {
  memref.copy %a, %b : memref<*xvector<4xtf32>> to memref<*xvector<4xtf32>>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: type 'memref<*xmemref<memref<tf32>>>' has elements of type 'tf32'
func.func @memrefs(%a: memref<*xmemref<memref<tf32>>>, %b: memref<*xmemref<memref<tf32>>>) {
  memref.copy %a, %b : memref<*xmemref<memref<tf32>>> to memref<*xmemref<memref<tf32>>>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: type 'memref<4xcomplex<tf32>>' has elements of type 'tf32'
memref.global "private" @global : memref<4xcomplex<tf32>>

// -----

// AMD: error: memory attribution of @complex has elements of type 'tf32'
gpu.module @m {
  gpu.func @complex() private(%tile: memref<4xcomplex<tf32>, 5>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory attribution of @space has type 'memref<16xf32, "a">'; a static shape, an identity layout and a numbered or GPU memory space are required
gpu.module @m {
  gpu.func @space() private(%tile: memref<16xf32, "a">) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory attribution of @layout has type 'memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>'; a static shape
gpu.module @m {
  gpu.func @layout() workgroup(%tile: memref<4x4xf32, affine_map<(i, j) -> (j, i)>, 3>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory attribution of @size has type 'memref<?xf32, 3>'; a static shape
gpu.module @m {
  gpu.func @size() workgroup(%tile: memref<?xf32, 3>) kernel {
    gpu.return
  }
}

// -----

// AMD: [[#@LINE+2]]:{{.*}} error: type 'memref<4xtf32>' has elements of type 'tf32'
gpu.module @m {
  memref.global "private" @tf32 : memref<4xtf32>
}

// -----

// AMD: [[#@LINE+2]]:{{.*}} error: type '{{.*}}' uses memory space "a", which gfx942 does not have
gpu.module @m {
  memref.global "private" @space : memref<4xf32, "a">
}

// -----

// AMD: [[#@LINE+4]]:{{.*}} error: type 'memref<4xtf32>' has elements of type 'tf32'
gpu.module @m {
  gpu.func @value(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloca() : memref<4xtf32>
    %y = arith.truncf %x : f32 to tf32
    memref.store %y, %a[%c0] : memref<4xtf32>
    gpu.return
  }
}

// -----

// AMD-NOT: error: conversion of memref memory space
// AMD: [[#@LINE+4]]:{{.*}} error: type '{{.*}}' uses memory space #mosaic_gpu.Replicated<times = 8>, which gfx942 does not have
gpu.module @m {
  gpu.func @space(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<4xf32, #mosaic_gpu.Replicated<times = 8>>
    memref.store %x, %a[%c0] : memref<4xf32, #mosaic_gpu.Replicated<times = 8>>
    gpu.return
  }
}

// -----

// AMD: [[#@LINE+4]]:{{.*}} error: type '{{.*}}' uses memory space "a", which gfx942 does not have
gpu.module @m {
  gpu.func @held(%i: index, %y: f32) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<4xmemref<2xf32, "a">>
    %x = memref.load %a[%i] : memref<4xmemref<2xf32, "a">>
    memref.store %y, %x[%c0] : memref<2xf32, "a">
    gpu.return
  }
}
