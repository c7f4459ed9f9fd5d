// RUN: smalti-opt %s --smalti-lower-cache-hints | FileCheck %s

// CHECK-LABEL: func.func @accesses
func.func @accesses(%x: memref<64xf32>, %y: memref<64xf16>, %n: memref<64xi8>,
                    %s: memref<64xf32, #gpu.address_space<workgroup>>) {
  %c4 = arith.constant 4 : index
  // CHECK: llvm.addrspacecast %{{.*}} : !llvm.ptr to !llvm.ptr<1>
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"ld.global.cs.v2.b64 {$0, $1}, [$2];", "=l,=l,l"
  // CHECK: vector.bitcast %{{.*}} : vector<2xi64> to vector<4xf32>
  %a = vector.load %x[%c4] {alignment = 16 : i64, smalti.cache = "cs"} : memref<64xf32>, vector<4xf32>
  // CHECK: llvm.inline_asm {{.*}}"st.global.wt.v2.b64 [$0], {$1, $2};", "l,l,l"
  vector.store %a, %x[%c4] {alignment = 16 : i64, smalti.cache = "wt"} : memref<64xf32>, vector<4xf32>
  // CHECK: llvm.inline_asm {{.*}}"ld.global.L1::evict_first.b16 $0, [$1];", "=h,l"
  %b = memref.load %y[%c4] {smalti.cache = "evict_first"} : memref<64xf16>
  // CHECK: llvm.inline_asm {{.*}}"st.global.L1::no_allocate.b16 [$0], $1;", "l,h"
  memref.store %b, %y[%c4] {smalti.cache = "no_allocate"} : memref<64xf16>
  // CHECK: llvm.inline_asm {{.*}}"ld.global.cg.b32 $0, [$1];", "=r,l"
  %c = vector.load %n[%c4] {alignment = 4 : i64, smalti.cache = "cg"} : memref<64xi8>, vector<4xi8>
  // CHECK: llvm.inline_asm {{.*}}"st.global.cg.b64 [$0], $1;", "l,l"
  %d = arith.constant dense<7> : vector<8xi8>
  vector.store %d, %n[%c4] {alignment = 16 : i64, smalti.cache = "cg"} : memref<64xi8>, vector<8xi8>

  // Defaults, hints of stores on loads, bytes and shared memory.
  // CHECK: vector.load %{{.*}} {smalti.cache = "ca"}
  %e = vector.load %x[%c4] {smalti.cache = "ca"} : memref<64xf32>, vector<4xf32>
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64, smalti.cache = "wt"}
  %g = vector.load %x[%c4] {alignment = 16 : i64, smalti.cache = "wt"} : memref<64xf32>, vector<4xf32>
  // CHECK: vector.store %{{.*}} {alignment = 16 : i64, smalti.cache = "wb"}
  vector.store %g, %x[%c4] {alignment = 16 : i64, smalti.cache = "wb"} : memref<64xf32>, vector<4xf32>
  // CHECK: memref.store %{{.*}} {smalti.cache = "cs"} : memref<64xi8>
  %f = arith.constant 1 : i8
  memref.store %f, %n[%c4] {smalti.cache = "cs"} : memref<64xi8>
  // CHECK: vector.store %{{.*}} {smalti.cache = "cs"} : memref<64xf32, #gpu.address_space<workgroup>>
  vector.store %e, %s[%c4] {smalti.cache = "cs"} : memref<64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
  vector.store %c, %n[%c4] : memref<64xi8>, vector<4xi8>
  return
}

// An instruction traps at an address that is not a multiple of its size.
// CHECK-LABEL: func.func @alignments
func.func @alignments(%x: memref<64xf32>, %n: memref<64xi8>) {
  %c4 = arith.constant 4 : index
  // CHECK: vector.load %{{.*}} {smalti.cache = "cs"} : memref<64xf32>, vector<4xf32>
  %a = vector.load %x[%c4] {smalti.cache = "cs"} : memref<64xf32>, vector<4xf32>
  // CHECK: vector.store %{{.*}} {alignment = 8 : i64, smalti.cache = "cs"} : memref<64xf32>, vector<4xf32>
  vector.store %a, %x[%c4] {alignment = 8 : i64, smalti.cache = "cs"} : memref<64xf32>, vector<4xf32>
  // CHECK: vector.load %{{.*}} {alignment = 1 : i64, smalti.cache = "cs"} : memref<64xi8>, vector<2xi8>
  %b = vector.load %n[%c4] {alignment = 1 : i64, smalti.cache = "cs"} : memref<64xi8>, vector<2xi8>
  // CHECK: llvm.inline_asm {{.*}}"st.global.cs.b16 [$0], $1;", "l,h"
  vector.store %b, %n[%c4] {alignment = 2 : i64, smalti.cache = "cs"} : memref<64xi8>, vector<2xi8>
  // CHECK: llvm.inline_asm {{.*}}"ld.global.cs.b32 $0, [$1];", "=r,l"
  %c = vector.load %x[%c4] {smalti.cache = "cs"} : memref<64xf32>, vector<1xf32>
  // CHECK: vector.store %{{.*}} {alignment = 2 : i64, smalti.cache = "cs"} : memref<64xf32>, vector<1xf32>
  vector.store %c, %x[%c4] {alignment = 2 : i64, smalti.cache = "cs"} : memref<64xf32>, vector<1xf32>
  return
}
