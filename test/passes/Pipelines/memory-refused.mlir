// RUN: not smalti-opt %s -split-input-file -smalti-compile=target=cpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not smalti-opt %s -split-input-file -smalti-compile=target=gfx942 -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMD

// What upstream's conversions report without a location, or crash on.

// CPU: [[#@LINE+2]]:{{.*}} error: cpu does not have memory space #gpu.address_space<workgroup>
func.func @spaces(%a: memref<16xf32>) {
  %s = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// CPU: [[#@LINE+1]]:{{.*}} error: cpu does not have memory space #gpu.address_space<workgroup>
func.func @argument(%a: memref<16xf32, #gpu.address_space<workgroup>>) {
  return
}

// -----

// AMD: [[#@LINE+2]]:{{.*}} error: memory of 'tf32' has elements of type 'tf32', which LLVM does not have
gpu.module @m {
  gpu.func @tf32() workgroup(%tile: memref<16x32xtf32, 3>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory of 'private_tf32' has elements of type 'tf32'
gpu.module @m {
  gpu.func @private_tf32() private(%tile: memref<4xtf32, 5>) kernel {
    gpu.return
  }
}

// -----

// AMD: error: memory of 'tensor_memory' is in #mosaic_gpu.tmem, which a gpu.func cannot declare
gpu.module @m {
  gpu.func @tensor_memory() private(%tile: memref<128x144xi32, #mosaic_gpu.tmem>) kernel {
    gpu.return
  }
}
