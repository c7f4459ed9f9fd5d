// Dialect version in bytecode: older versions are read, and newer ones are errors.
// RUN: smalti-opt %s -o %t.mlir
// RUN: smalti-opt %s --emit-bytecode -o %t.mlirbc && smalti-opt %t.mlirbc -o %t.read.mlir && diff %t.mlir %t.read.mlir
// RUN: %python %S/Inputs/set_bytecode_version.py %t.mlirbc 1 %t.older.mlirbc
// RUN: smalti-opt %t.older.mlirbc -o %t.older.mlir && diff %t.mlir %t.older.mlir
// RUN: %python %S/Inputs/set_bytecode_version.py %t.mlirbc 3 %t.newer.mlirbc
// RUN: not smalti-opt %t.newer.mlirbc 2>&1 | FileCheck %s

// CHECK: the bytecode has version 3 of the mosaic_gpu dialect, but the newest supported version is 2

func.func @load(%m: memref<64x64xf16>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32,
                %p: memref<i32, #gpu.address_space<workgroup>>) -> vector<128x64xf32> {
  %s = mosaic_gpu.slice_smem 1024 alias 3 : memref<64x64xf16, #gpu.address_space<workgroup>>
  mosaic_gpu.async_load %m[%i, %i] [64, 64] to %s barrier(%b) collective [x]
      {leader_tracked = #mosaic_gpu.copy_replicated, oob_fill_mode = 0 : i32}
      : memref<64x64xf16>[i32, i32] to memref<64x64xf16, #gpu.address_space<workgroup>>,
        memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  %t = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>) -> memref<128x64xf32, #mosaic_gpu.tmem>
  %v = mosaic_gpu.async_load_tmem %t : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
  return %v : vector<128x64xf32>
}
