// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --cse --canonicalize %s | FileCheck %s --check-prefix=EFFECTS

#smem = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @kinds
// EFFECTS-LABEL: func.func @kinds
func.func @kinds(%f: vector<64xf32>, %i: vector<64xi32>, %m: memref<?xf32>, %n: memref<128xi32, #smem>, %at: vector<64xi64>, %mask: vector<64xi1>) {
  // CHECK: mosaic_gpu.atomic_rmw addf %{{.*}}, %{{.*}}[%{{.*}}] device relaxed : vector<64xf32>, memref<?xf32>, vector<64xi64>{{$}}
  mosaic_gpu.atomic_rmw addf %f, %m[%at] device relaxed : vector<64xf32>, memref<?xf32>, vector<64xi64>
  // CHECK: mosaic_gpu.atomic_rmw maximumf %{{.*}}, %{{.*}}[%{{.*}}] mask(%{{.*}}) system acq_rel {x} : vector<64xf32>, memref<?xf32>, vector<64xi64> -> vector<64xf32>
  %0 = mosaic_gpu.atomic_rmw maximumf %f, %m[%at] mask(%mask) system acq_rel {x} : vector<64xf32>, memref<?xf32>, vector<64xi64> -> vector<64xf32>
  // CHECK: mosaic_gpu.atomic_rmw assign %{{.*}}, %{{.*}}[%{{.*}}] block release
  mosaic_gpu.atomic_rmw assign %i, %n[%i] block release : vector<64xi32>, memref<128xi32, #smem>, vector<64xi32>
  // CHECK: mosaic_gpu.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] mask(%{{.*}}) block acquire : vector<64xi32>, memref<128xi32, #gpu.address_space<workgroup>>, vector<64xi32>{{$}}
  mosaic_gpu.atomic_cas %i, %i, %n[%i] mask(%mask) block acquire : vector<64xi32>, memref<128xi32, #smem>, vector<64xi32>
  // The result is not used, and the op stays.
  // EFFECTS-COUNT-3: mosaic_gpu.atomic_rmw
  // EFFECTS: mosaic_gpu.atomic_cas
  return
}

// A load of other memory is not repeated after a relaxed operation, and is repeated after an acquire.
// EFFECTS-LABEL: func.func @ordering
// EFFECTS: mosaic_gpu.vector_load
// EFFECTS-NEXT: mosaic_gpu.atomic_rmw
// EFFECTS-NEXT: mosaic_gpu.atomic_rmw
// EFFECTS-NEXT: mosaic_gpu.vector_load
func.func @ordering(%i: vector<64xi32>, %n: memref<128xi32, #smem>, %m: memref<64xi32>) -> vector<64xi32> {
  %a = mosaic_gpu.vector_load %m : memref<64xi32> -> vector<64xi32>
  mosaic_gpu.atomic_rmw addi %i, %n[%i] block relaxed : vector<64xi32>, memref<128xi32, #smem>, vector<64xi32>
  mosaic_gpu.atomic_rmw addi %a, %n[%i] block acquire : vector<64xi32>, memref<128xi32, #smem>, vector<64xi32>
  %b = mosaic_gpu.vector_load %m : memref<64xi32> -> vector<64xi32>
  return %b : vector<64xi32>
}

// CHECK-LABEL: func.func @asserts
func.func @asserts(%c: vector<8x16xi1>, %v: vector<64xf32>) {
  // CHECK: mosaic_gpu.assert %{{.*}}, "the index is 100% wrong" : vector<8x16xi1>
  mosaic_gpu.assert %c, "the index is 100% wrong" : vector<8x16xi1>
  // CHECK: mosaic_gpu.debug_print "x = {}", %{{.*}} {with_block_id} : vector<64xf32>
  mosaic_gpu.debug_print "x = {}", %v {with_block_id} : vector<64xf32>
  return
}
