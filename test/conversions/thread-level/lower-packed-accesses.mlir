// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(smalti-lower-packed-accesses,canonicalize,cse))' | FileCheck %s

// Whole bytes with the known alignment.
// CHECK-LABEL: @bytes
// CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xi8>
// CHECK: vector.bitcast %[[V]] : vector<4xi8> to vector<8xi4>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi8>, !llvm.ptr<1>
gpu.module @bytes {
  gpu.func @bytes(%a: memref<64xi4>, %b: memref<64xi4, strided<[1], offset: ?>, 1>) kernel {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    %v = vector.load %a[%i] : memref<64xi4>, vector<8xi4>
    %w = arith.muli %v, %v : vector<8xi4>
    vector.store %w, %b[%i] {alignment = 16} : memref<64xi4, strided<[1], offset: ?>, 1>, vector<8xi4>
    gpu.return
  }
}

// -----

// At any element: the last byte is loaded separately, and is never beyond the byte of the last element.
// CHECK-LABEL: @anywhere
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<3> -> vector<2xi8>
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<3> -> vector<1xi8>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 2] : vector<2xi8>, vector<1xi8>
// CHECK: arith.shrui %{{.*}}, %{{.*}} : vector<2xi16>
gpu.module @anywhere {
  gpu.func @anywhere(%a: memref<64xi4, #gpu.address_space<workgroup>>, %i: index) -> vector<4xi4> {
    %v = vector.load %a[%i] : memref<64xi4, #gpu.address_space<workgroup>>, vector<4xi4>
    gpu.return %v : vector<4xi4>
  }
}

// -----

// A single element is always in one byte.
// CHECK-LABEL: @element
// CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<1xi8>
// CHECK-NOT: llvm.load
gpu.module @element {
  gpu.func @element(%a: memref<64xf4E2M1FN>, %i: index) -> f4E2M1FN {
    %v = memref.load %a[%i] : memref<64xf4E2M1FN>
    gpu.return %v : f4E2M1FN
  }
}

// -----

// Masks of whole bytes: constants, bounds at byte boundaries, and combinations.
// CHECK-LABEL: @masks
// CHECK-COUNT-3: llvm.intr.masked.store
gpu.module @masks {
  gpu.func @masks(%a: memref<64xi2>, %n: index, %x: vector<8xi2>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %m = arith.constant dense<[true, true, true, true, false, false, false, false]> : vector<8xi1>
    vector.maskedstore %a[%c0], %m, %x : memref<64xi2>, vector<8xi1>, vector<8xi2>
    %lanes = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xindex>
    %many = arith.muli %n, %c4 : index
    %end = vector.broadcast %many : index to vector<8xindex>
    %below = arith.cmpi slt, %lanes, %end : vector<8xindex>
    vector.maskedstore %a[%c0], %below, %x : memref<64xi2>, vector<8xi1>, vector<8xi2>
    %after = arith.cmpi sle, %end, %lanes : vector<8xindex>
    %both = arith.andi %after, %m : vector<8xi1>
    vector.maskedstore %a[%c0], %both, %x : memref<64xi2>, vector<8xi1>, vector<8xi2>
    gpu.return
  }
}

// -----

// Buffers of a kernel use the bytes that their elements share.
// CHECK-LABEL: gpu.func @buffers
// CHECK-SAME: workgroup(%{{.*}} : memref<32xi8, #gpu.address_space<workgroup>>)
// CHECK: memref.alloca() : memref<3xi8>
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr -> i8
gpu.module @buffers {
  gpu.func @buffers(%i: index, %x: i4) workgroup(%s: memref<64xi4, #gpu.address_space<workgroup>>) kernel {
    %p = memref.alloca() : memref<5xi4>
    memref.store %x, %p[%i] : memref<5xi4>
    %j = gpu.thread_id x
    memref.store %x, %p[%j] : memref<5xi4>
    %v = memref.load %s[%i] : memref<64xi4, #gpu.address_space<workgroup>>
    memref.store %v, %p[%i] : memref<5xi4>
    gpu.return
  }
}

// -----

// Elements that do not share bytes are not changed, and neither is i1.
// CHECK-LABEL: @others
// CHECK-COUNT-2: memref.load
// CHECK: vector.load
gpu.module @others {
  gpu.func @others(%a: memref<64xi1>, %b: memref<64xi8>, %i: index) -> (i1, i8, vector<4xi8>) {
    %x = memref.load %a[%i] : memref<64xi1>
    %y = memref.load %b[%i] : memref<64xi8>
    %z = vector.load %b[%i] : memref<64xi8>, vector<4xi8>
    gpu.return %x, %y, %z : i1, i8, vector<4xi8>
  }
}
