// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(smalti-lower-vectors))' | FileCheck %s

// CHECK-LABEL: gpu.func @rows(
// CHECK-NOT:     vector.transfer
// CHECK:         vector.load %{{.*}} : memref<8x32xf32>, vector<4xf32>
// CHECK:         vector.store %{{.*}} : memref<8x32xf32>, vector<4xf32>
// CHECK-NOT:     vector.transfer
// CHECK:         gpu.return

// CHECK-LABEL: gpu.func @ragged(
// CHECK-NOT:     vector.transfer
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<4xi64>
// CHECK:         vector.maskedload %{{.*}}, %[[MASK]], %{{.*}} : memref<30xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
// CHECK-NOT:     vector.transfer
// CHECK:         vector.maskedstore
// CHECK-NOT:     vector.create_mask
// CHECK:         gpu.return

// Both bounds.
// CHECK-LABEL: gpu.func @before_memref(
// CHECK-NOT:     vector.transfer
// CHECK:         %[[END:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<4xi64>
// CHECK:         %[[AHEAD:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<4xi64>
// CHECK:         %[[BEHIND:.*]] = arith.xori %[[AHEAD]]
// CHECK:         %[[MASK:.*]] = arith.andi %[[END]], %[[BEHIND]]
// CHECK:         vector.maskedload %{{.*}}, %[[MASK]], %{{.*}} : memref<30xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
// CHECK-NOT:     vector.transfer
// CHECK:         vector.maskedstore
// CHECK:         gpu.return

// A repeated row stays a row.
// CHECK-LABEL: gpu.func @broadcast(
// CHECK-SAME:      %[[ROW:[a-z0-9]+]]: vector<4xf32>
// CHECK-NEXT:    %[[NONE:.*]] = ub.poison : vector<2x4xf32>
// CHECK-NEXT:    %[[ONE:.*]] = vector.insert %[[ROW]], %[[NONE]] [0]
// CHECK-NEXT:    %[[TWO:.*]] = vector.insert %[[ROW]], %[[ONE]] [1]
// CHECK-NEXT:    gpu.return %[[TWO]]

// CHECK-LABEL: gpu.func @others(
// CHECK-SAME:      %[[M:[a-z0-9]+]]: vector<4xi1>, %[[OTHERS:[a-z0-9]+]]: vector<4xf32>
// CHECK-NOT:     vector.mask {{.*}}{
// CHECK:         %[[READ:.*]] = vector.maskedload
// CHECK:         arith.select %[[M]], %[[READ]], %[[OTHERS]]
// CHECK:         gpu.return

// CHECK-LABEL: gpu.func @masks(
// CHECK-NOT:     constant_mask
// CHECK-DAG:     arith.constant dense<[true, true, false, false]> : vector<4xi1>
// CHECK:         vector.maskedload
// CHECK-NOT:     vector.mask {{.*}}{
// CHECK:         gpu.return

// CHECK-LABEL: gpu.func @tile(
// CHECK-NOT:     vector.contract
// CHECK-NOT:     vector.transpose
// CHECK:         vector.fma
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @rows(%from: memref<8x32xf32>, %to: memref<8x32xf32>, %i: index, %zero: f32) {
    %v = vector.transfer_read %from[%i, %i], %zero {in_bounds = [true]} : memref<8x32xf32>, vector<4xf32>
    vector.transfer_write %v, %to[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<8x32xf32>
    gpu.return
  }

  gpu.func @ragged(%from: memref<30xf32>, %to: memref<30xf32>, %zero: f32) {
    %i = gpu.thread_id x
    %v = vector.transfer_read %from[%i], %zero : memref<30xf32>, vector<4xf32>
    vector.transfer_write %v, %to[%i] : vector<4xf32>, memref<30xf32>
    gpu.return
  }

  gpu.func @before_memref(%from: memref<30xf32>, %to: memref<30xf32>, %i: index, %zero: f32) {
    %v = vector.transfer_read %from[%i], %zero : memref<30xf32>, vector<4xf32>
    vector.transfer_write %v, %to[%i] : vector<4xf32>, memref<30xf32>
    gpu.return
  }

  gpu.func @broadcast(%row: vector<4xf32>) -> vector<2x4xf32> {
    %rows = vector.broadcast %row : vector<4xf32> to vector<2x4xf32>
    gpu.return %rows : vector<2x4xf32>
  }

  gpu.func @others(%from: memref<32xf32>, %m: vector<4xi1>, %others: vector<4xf32>) -> vector<4xf32> {
    %zero = arith.constant 0.0 : f32
    %i = gpu.thread_id x
    %v = vector.mask %m, %others { vector.transfer_read %from[%i], %zero : memref<32xf32>, vector<4xf32> }
        : vector<4xi1> -> vector<4xf32>
    gpu.return %v : vector<4xf32>
  }

  gpu.func @masks(%from: memref<32xf32>, %i: index, %other: vector<4xf32>) -> vector<4xf32> {
    %zero = arith.constant 0.0 : f32
    %two = vector.constant_mask [2] : vector<4xi1>
    %v = vector.maskedload %from[%i], %two, %other : memref<32xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %w = vector.mask %two { vector.transfer_read %from[%i], %zero {in_bounds = [true]} : memref<32xf32>, vector<4xf32> }
        : vector<4xi1> -> vector<4xf32>
    %sum = arith.addf %v, %w : vector<4xf32>
    gpu.return %sum : vector<4xf32>
  }

  gpu.func @tile(%a: vector<4x2xf32>, %b: vector<2x4xf32>, %c: vector<4x4xf32>) -> vector<4x4xf32> {
    %r = vector.contract {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } %a, %b, %c : vector<4x2xf32>, vector<2x4xf32> into vector<4x4xf32>
    gpu.return %r : vector<4x4xf32>
  }
}

// CHECK-LABEL: gpu.func @signed_strides(
// CHECK:         %[[A:.*]] = memref.subview %arg0[%arg1, %arg2] [1, 1] [1, 1] {{.*}} to memref<f32, strided<[], offset: ?>, 3>
// CHECK:         %[[X:.*]] = memref.load %[[A]][]
// CHECK:         memref.store %[[X]], %{{.*}}[] : memref<f32, strided<[], offset: ?>>
// CHECK:         memref.atomic_rmw addf %[[X]], %{{.*}}[]
// CHECK:         memref.load %arg4[%arg1, %arg2]
gpu.module @signed {
  gpu.func @signed_strides(%a: memref<4x8xf32, strided<[-8, -1], offset: 31>, 3>, %i: index, %j: index,
                           %b: memref<4x8xf32, strided<[?, 1]>>, %c: memref<4x8xf32>) -> f32 {
    %x = memref.load %a[%i, %j] : memref<4x8xf32, strided<[-8, -1], offset: 31>, 3>
    memref.store %x, %b[%i, %j] : memref<4x8xf32, strided<[?, 1]>>
    %y = memref.atomic_rmw addf %x, %a[%i, %j] : (f32, memref<4x8xf32, strided<[-8, -1], offset: 31>, 3>) -> f32
    %z = memref.load %c[%i, %j] : memref<4x8xf32>
    %r = arith.addf %y, %z : f32
    gpu.return %r : f32
  }
}

// A mask of one bit is the condition of a read that broadcasts all dimensions.
// CHECK-LABEL: gpu.module @broadcast
// CHECK-NOT:     vector.transfer_read
// CHECK-LABEL:   gpu.func @rows_of_one_element(
// CHECK:           %[[BIT:.*]] = vector.extract %arg2[0] : i1 from vector<1xi1>
// CHECK:           scf.if %[[BIT]] -> (f32)
// CHECK-LABEL:   gpu.func @one_row_of_one_element(
// CHECK:           %[[BIT:.*]] = vector.extract %arg2[0] : i1 from vector<1xi1>
// CHECK:           scf.if %[[BIT]] -> (f32)
// CHECK-LABEL:   gpu.func @mask_around(
// CHECK:           %[[BIT:.*]] = vector.extract %arg1[0] : i1 from vector<1xi1>
// CHECK:           scf.if %[[BIT]] -> (f32)
// CHECK-LABEL:   gpu.func @same_row(
// CHECK:           vector.maskedload %arg0[{{.*}}], %{{.*}}, %{{.*}} : memref<4x4xf32>, vector<4xi1>, vector<4xf32>
// CHECK:           vector.maskedload %arg0[{{.*}}], %{{.*}}, %{{.*}} : memref<4x4xf32>, vector<4xi1>, vector<4xf32>
gpu.module @broadcast {
  gpu.func @rows_of_one_element(%a: memref<4x4xf32>, %i: index, %m: vector<1xi1>, %p: f32) -> vector<2x4xf32> {
    %v = vector.transfer_read %a[%i, %i], %p, %m {permutation_map = affine_map<(i, j) -> (0, 0)>}
        : memref<4x4xf32>, vector<2x4xf32>
    gpu.return %v : vector<2x4xf32>
  }
  gpu.func @one_row_of_one_element(%a: memref<4x4xf32>, %i: index, %m: vector<1xi1>, %p: f32) -> vector<4xf32> {
    %v = vector.transfer_read %a[%i, %i], %p, %m {permutation_map = affine_map<(i, j) -> (0)>}
        : memref<4x4xf32>, vector<4xf32>
    gpu.return %v : vector<4xf32>
  }
  gpu.func @mask_around(%a: memref<f32>, %m: vector<1xi1>, %p: f32) -> vector<2xf32> {
    %v = vector.mask %m {
      vector.transfer_read %a[], %p {permutation_map = affine_map<() -> (0)>} : memref<f32>, vector<2xf32>
    } : vector<1xi1> -> vector<2xf32>
    gpu.return %v : vector<2xf32>
  }
  gpu.func @same_row(%a: memref<4x4xf32>, %i: index, %m: vector<4xi1>, %p: f32) -> vector<2x4xf32> {
    %v = vector.transfer_read %a[%i, %i], %p, %m {permutation_map = affine_map<(i, j) -> (0, j)>}
        : memref<4x4xf32>, vector<2x4xf32>
    gpu.return %v : vector<2x4xf32>
  }
}

// Scalar ops on one narrow integer keep their attributes. Ops of other types
// remain vectors.
// CHECK-LABEL: gpu.func @one_element(
// CHECK-SAME:    %[[A:.*]]: vector<1xi8>, %[[B:.*]]: vector<1xi8>, %[[C:.*]]: i1
// CHECK-DAG:     %[[A0:.*]] = vector.extract %[[A]][0]
// CHECK-DAG:     %[[B0:.*]] = vector.extract %[[B]][0]
// CHECK:         %[[SUM:.*]] = arith.addi %[[A0]], %[[B0]] overflow<nsw> : i8
// CHECK:         arith.select %[[C]], %{{.*}}, %{{.*}} : i8
// CHECK:         arith.extui %{{.*}} : i8 to i32
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK-NOT:     {{arith.*}}vector<1x
// CHECK:         gpu.return
// CHECK-LABEL: gpu.func @wide_element(
// CHECK:         arith.addi %{{.*}} : vector<1xi32>
// CHECK:         arith.cmpf olt, %{{.*}} : vector<1xf32>
// CHECK:         arith.andi %{{.*}} : vector<1xi1>
// CHECK:         arith.select %{{.*}} : vector<1xi1>, vector<1xf16>
// CHECK-LABEL: gpu.func @two_elements(
// CHECK:         arith.addi %{{.*}} : vector<2xi8>
gpu.module @elements {
  gpu.func @one_element(%a: vector<1xi8>, %b: vector<1xi8>, %c: i1) -> vector<1xi16> {
    %sum = arith.addi %a, %b overflow<nsw> : vector<1xi8>
    %chosen = arith.select %c, %sum, %b : vector<1xi8>
    %wide = arith.extui %chosen : vector<1xi8> to vector<1xi32>
    %narrow = arith.trunci %wide : vector<1xi32> to vector<1xi16>
    gpu.return %narrow : vector<1xi16>
  }
  gpu.func @wide_element(%a: vector<1xi32>, %x: vector<1xf32>, %h: vector<1xf16>, %c: vector<1xi1>)
      -> (vector<1xi32>, vector<1xf16>) {
    %sum = arith.addi %a, %a : vector<1xi32>
    %less = arith.cmpf olt, %x, %x : vector<1xf32>
    %both = arith.andi %less, %c : vector<1xi1>
    %chosen = arith.select %both, %h, %h : vector<1xi1>, vector<1xf16>
    gpu.return %sum, %chosen : vector<1xi32>, vector<1xf16>
  }
  gpu.func @two_elements(%a: vector<2xi8>) -> vector<2xi8> {
    %sum = arith.addi %a, %a : vector<2xi8>
    gpu.return %sum : vector<2xi8>
  }
}

// A loop carries the elements of %x, but not %y, which it uses as a vector. It
// keeps its attributes.
// CHECK-LABEL: gpu.func @carried(
// CHECK:         %[[LOOP:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[SECOND:.*]] = %{{.*}}) -> (vector<2xf32>, vector<2xf32>, f32, f32)
// CHECK:           arith.addf %[[FIRST]], %[[FIRST]] : f32
// CHECK:           arith.mulf %[[SECOND]], %[[SECOND]] : f32
// CHECK:           arith.addf %[[Y]], %[[Y]] : vector<2xf32>
// CHECK:         } {smalti.max_trip_count = 8 : i64}
// CHECK:         vector.from_elements %[[LOOP]]#2, %[[LOOP]]#3 : vector<2xf32>
// CHECK:         gpu.return
gpu.module @loops {
  gpu.func @carried(%n: index, %x: vector<2xf32>, %y: vector<2xf32>) -> (vector<2xf32>, vector<2xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (vector<2xf32>, vector<2xf32>) {
      %first = vector.extract %u[0] : f32 from vector<2xf32>
      %second = vector.extract %u[1] : f32 from vector<2xf32>
      %sum = arith.addf %first, %first : f32
      %product = arith.mulf %second, %second : f32
      %w = vector.from_elements %sum, %product : vector<2xf32>
      %z = arith.addf %v, %v : vector<2xf32>
      scf.yield %w, %z : vector<2xf32>, vector<2xf32>
    } {smalti.max_trip_count = 8 : i64}
    gpu.return %r#0, %r#1 : vector<2xf32>, vector<2xf32>
  }
}
