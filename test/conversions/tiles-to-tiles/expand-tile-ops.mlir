// RUN: smalti-opt %s --pass-pipeline='builtin.module(triton_xla.entry_func(smalti-expand-tile-ops))' --split-input-file \
// RUN:   --remarks-filter=smalti-expand-tile-ops 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Structure only: the numbers are checked by the tests in Python.

// CHECK-LABEL: triton_xla.entry_func @grid(
// CHECK-SAME:    %[[A:.*]]: memref<4xindex> {smalti.name = "a"}, %[[TILE:.*]]: index) tiles 24 {
// CHECK:         %[[C4:.*]] = arith.constant 4 : index
// CHECK:         %[[K:.*]] = arith.remui %[[TILE]], %[[C4]]
// CHECK:         %[[REST:.*]] = arith.divui %[[TILE]], %[[C4]]
// CHECK:         %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[J:.*]] = arith.remui %[[REST]], %[[C3]]
// CHECK:         %[[I:.*]] = arith.divui %[[REST]], %[[C3]]
// CHECK:         %[[N:.*]] = arith.constant 3 : index
// CHECK:         arith.addi %[[I]], %[[J]]
// CHECK:         arith.addi %[[K]], %[[N]]
// REMARK: num_tiles expanded
// REMARK: grid of 2 x 3 x 4 tiles linearized
triton_xla.entry_func @grid(%a: memref<4xindex> {smalti.name = "a"}, %i: index, %j: index, %k: index) tiles [2, 3, 4] {
  %n = triton_xla.num_tiles dim 1
  %0 = arith.addi %i, %j : index
  %1 = arith.addi %k, %n : index
  %2 = arith.muli %0, %1 : index
  %t = tensor.splat %2 : tensor<4xindex>
  triton_xla.insert %t into %a[0] [4] [1] : tensor<4xindex> into memref<4xindex>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @shapes(
// CHECK:         triton_xla.reshape %{{.*}} : tensor<1x8xf32> -> tensor<8xf32>
// CHECK:         triton_xla.slice %{{.*}} [0] [4] [1] : tensor<8xf32> -> tensor<4xf32>
// CHECK:         triton_xla.slice %{{.*}} [4] [4] [1] : tensor<8xf32> -> tensor<4xf32>
triton_xla.entry_func @shapes(%x: memref<1x8xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [1, 8] [1, 1] : memref<1x8xf32> to tensor<1x8xf32>
  %s = triton_xla.squeeze_dims %t [0] : tensor<1x8xf32> -> tensor<8xf32>
  %a, %b = triton_xla.split %s dim 0 : tensor<8xf32> -> (tensor<4xf32>, tensor<4xf32>)
  %c = arith.addf %a, %b : tensor<4xf32>
  triton_xla.insert %c into %x[0, 0] [1, 4] [1, 1] : tensor<4xf32> into memref<1x8xf32>
  triton_xla.return
}

// -----

// 5 elements are padded to 8: 6 steps of the network. Scalars from outside become splats.

// CHECK-LABEL: triton_xla.entry_func @sort(
// CHECK-NOT:     triton_xla.sort
// CHECK:         triton_xla.concat %{{.*}} dim 1 : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x8x3xf32>
// CHECK:         triton_xla.iota dim 1 : tensor<2x8x3xi32>
// CHECK:         tensor.splat %{{.*}} : tensor<2x4x1x1x3xf32>
// CHECK-COUNT-6: arith.xori
// CHECK:         triton_xla.slice %{{.*}} [0, 0, 0] [2, 5, 3] [1, 1, 1] : tensor<2x8x3xf32> -> tensor<2x5x3xf32>
// CHECK-NOT:     triton_xla.sort
triton_xla.entry_func @sort(%x: memref<2x5x3xf32>, %limit: f32, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0, 0] [2, 5, 3] [1, 1, 1] : memref<2x5x3xf32> to tensor<2x5x3xf32>
  %s = triton_xla.sort %t dim 1 : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32> {
  ^bb0(%a: f32, %b: f32):
    %true = arith.constant true
    %m = arith.minimumf %a, %limit : f32
    %c = arith.cmpf ult, %m, %b : f32
    %d = arith.xori %c, %true : i1
    triton_xla.yield %d : i1
  }
  triton_xla.insert %s into %x[0, 0, 0] [2, 5, 3] [1, 1, 1] : tensor<2x5x3xf32> into memref<2x5x3xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @dots(
// CHECK-COUNT-9: triton_xla.dot %{{.*}} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK:         arith.addf
// CHECK-COUNT-9: triton_xla.dot %{{.*}} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK:         triton_xla.concat %{{.*}} dim 0 : (tensor<1x16x16xf32>, tensor<1x16x16xf32>) -> tensor<2x16x16xf32>
// CHECK-COUNT-3: triton_xla.dot %{{.*}} tf32 : tensor<16x16xf32>
triton_xla.entry_func @dots(%x: memref<2x16x16xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0, 0] [2, 16, 16] [1, 1, 1] : memref<2x16x16xf32> to tensor<2x16x16xf32>
  %d = triton_xla.dot %t, %t, %t algorithm bf16x9 : tensor<2x16x16xf32>, tensor<2x16x16xf32> -> tensor<2x16x16xf32>
  triton_xla.insert %d into %x[0, 0, 0] [2, 16, 16] [1, 1, 1] : tensor<2x16x16xf32> into memref<2x16x16xf32>
  %u = triton_xla.extract %x[0, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32> to tensor<16x16xf32>
  %e = triton_xla.dot %u, %u, %u algorithm tf32x3 : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  triton_xla.insert %e into %x[0, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<16x16xf32> into memref<2x16x16xf32>
  triton_xla.return
}

// -----

// Two blocks along K. Code 0 of f8E8M0FNU is the subnormal f32 0x00400000 (4194304), and code 255 is NaN.

// REMARK: Remark="dot_scaled expanded: the operands are decoded to 16-bit floats; MMAs with scales are not used"
// CHECK-LABEL: triton_xla.entry_func @dot_scaled(
// CHECK:         triton_xla.dot %{{.*}} : tensor<16x32xf16>, tensor<32x16xf16> -> tensor<16x16xf32>
// CHECK:         arith.constant dense<255> : tensor<16x1xi32>
// CHECK:         arith.constant dense<4194304> : tensor<16x16xi32>
// CHECK:         triton_xla.dot %{{.*}} : tensor<16x32xf16>, tensor<32x16xf16> -> tensor<16x16xf32>
// CHECK-NOT:     triton_xla.dot
triton_xla.entry_func @dot_scaled(%a: memref<16x64xf8E4M3FN>, %b: memref<32x16xi8>, %sa: memref<16x2xf8E8M0FNU>,
                                  %sb: memref<512xf8E8M0FNU>, %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %at = triton_xla.extract %a[0, 0] [16, 64] [1, 1] : memref<16x64xf8E4M3FN> to tensor<16x64xf8E4M3FN>
  %bt = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xi8> to tensor<32x16xi8>
  %sat = triton_xla.extract %sa[0, 0] [16, 2] [1, 1] : memref<16x2xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %sbt = triton_xla.extract %sb[0] [512] [1] : memref<512xf8E8M0FNU> to tensor<512xf8E8M0FNU>
  %ct = triton_xla.extract %c[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %r = triton_xla.dot_scaled %at scale %sat, %bt as f4E2M1FN packed 0 scale %sbt layout<swizzled_128x4>, %ct block 32
      : (tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<32x16xi8>, tensor<512xf8E8M0FNU>, tensor<16x16xf32>)
      -> tensor<16x16xf32>
  triton_xla.insert %r into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @sparse_dot(
// CHECK:         arith.select %{{.*}} : tensor<16x8x4x1xi1>, tensor<16x8x4x1xf16>
// CHECK:         triton_xla.dot %{{.*}} : tensor<16x32xf16>, tensor<32x16xf16> -> tensor<16x16xf32>
triton_xla.entry_func @sparse_dot(%a: memref<16x16xf16>, %m: memref<16x2xi16>, %b: memref<32x16xf16>,
                                  %c: memref<16x16xf32>, %tile: index) tiles 1 {
  %at = triton_xla.extract %a[0, 0] [16, 16] [1, 1] : memref<16x16xf16> to tensor<16x16xf16>
  %mt = triton_xla.extract %m[0, 0] [16, 2] [1, 1] : memref<16x2xi16> to tensor<16x2xi16>
  %bt = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
  %ct = triton_xla.extract %c[0, 0] [16, 16] [1, 1] : memref<16x16xf32> to tensor<16x16xf32>
  %r = triton_xla.sparse_dot %at metadata %mt, %bt, %ct
      : (tensor<16x16xf16>, tensor<16x2xi16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
  triton_xla.insert %r into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @random(
// CHECK-COUNT-20: arith.muli
// CHECK-NOT:      arith.muli
triton_xla.entry_func @random(%x: memref<8xi32>, %k: i32, %tile: index) tiles 1 {
  %n = triton_xla.iota dim 0 : tensor<8xi32>
  %r:4 = triton_xla.random_bits %k, %k, %n : (i32, i32, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  triton_xla.insert %r#3 into %x[0] [8] [1] : tensor<8xi32> into memref<8xi32>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @power(
// CHECK:         %[[X:.*]] = triton_xla.extract
// CHECK:         %[[N:.*]] = triton_xla.extract
// CHECK:         %[[R:.*]]:3 = scf.for %{{.*}} = %c0 to %c7 step %c1 iter_args(%[[P:.*]] = %{{.*}}, %[[S:.*]] = %[[X]], %[[E:.*]] = %[[N]])
// CHECK:           %[[BIT:.*]] = arith.andi %[[E]]
// CHECK:           %[[ODD:.*]] = arith.cmpi ne, %[[BIT]]
// CHECK:           %[[M:.*]] = arith.muli %[[P]], %[[S]]
// CHECK:           arith.select %[[ODD]], %[[M]], %[[P]]
// CHECK:           arith.muli %[[S]], %[[S]]
// CHECK:           arith.shrui %[[E]]
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpi slt, %[[N]]
// CHECK:         arith.select %[[NEGATIVE]], %{{.*}}, %[[R]]#0
// CHECK-NOT:     ipowi
triton_xla.entry_func @power(%x: memref<16xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [16] [1] : memref<16xi8> to tensor<16xi8>
  %n = triton_xla.extract %x[0] [16] [1] : memref<16xi8> to tensor<16xi8>
  %r = math.ipowi %t, %n : tensor<16xi8>
  triton_xla.insert %r into %x[0] [16] [1] : tensor<16xi8> into memref<16xi8>
  triton_xla.return
}

// -----

// The region of a reduction does not get a loop: 7 steps for i8.
// CHECK-LABEL: triton_xla.entry_func @power_in_reduction
// CHECK-NOT:     scf.for
// CHECK:         triton_xla.reduce
// CHECK-COUNT-7:   arith.shrui
// CHECK-NOT:       arith.shrui
// CHECK-NOT:       scf.for
// CHECK-NOT:       ipowi
// CHECK:           triton_xla.yield
triton_xla.entry_func @power_in_reduction(%x: memref<16xi8>, %y: memref<1xi8>, %n: i8, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [16] [1] : memref<16xi8> to tensor<16xi8>
  %r = triton_xla.reduce %t dims [0] init %n : (tensor<16xi8>, i8) -> tensor<i8> {
  ^bb0(%a: i8, %b: i8):
    %p = math.ipowi %b, %n : i8
    %s = arith.addi %a, %p : i8
    triton_xla.yield %s : i8
  }
  triton_xla.print "sum" %r : tensor<i8>
  triton_xla.return
}

// -----

// REMARK: index_switch expanded
// CHECK-LABEL: triton_xla.entry_func @switch
// CHECK-NOT: scf.index_switch
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TILE:.*]], %c4
// CHECK: %[[R:.*]]:2 = scf.if %[[FIRST]] -> (tensor<8xf32>, index)
// CHECK: scf.yield %[[X:.*]], %[[TILE]]
// CHECK: } else {
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[TILE]], %c-1
// CHECK: %[[INNER:.*]]:2 = scf.if %[[SECOND]] -> (tensor<8xf32>, index)
// CHECK: triton_xla.slice
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: triton_xla.insert
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK: triton_xla.insert %[[R]]#0
triton_xla.entry_func @switch(%x: memref<8xf32>, %tile: index) tiles 6 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %r, %n = scf.index_switch %tile -> tensor<8xf32>, index
  case 4 {
    scf.yield %t, %tile : tensor<8xf32>, index
  }
  case -1 {
    %a, %b = triton_xla.split %t dim 0 : tensor<8xf32> -> (tensor<4xf32>, tensor<4xf32>)
    %c = triton_xla.concat %b, %a dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    scf.yield %c, %tile : tensor<8xf32>, index
  }
  default {
    scf.index_switch %tile
    case 5 {
      triton_xla.insert %t into %x[1] [8] [1] : tensor<8xf32> into memref<8xf32>
      scf.yield
    }
    default {
    }
    %u = arith.addf %t, %t : tensor<8xf32>
    scf.yield %u, %tile : tensor<8xf32>, index
  }
  triton_xla.insert %r into %x[%n] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}

// -----

// Regions of a switch are nested as few times as possible.
// CHECK-LABEL: triton_xla.entry_func @tree
// CHECK: %[[A:.*]] = arith.cmpi eq, %[[TILE:.*]], %c7
// CHECK: %[[B:.*]] = arith.cmpi eq, %[[TILE]], %c8
// CHECK: %[[LOW:.*]] = arith.ori %[[A]], %[[B]]
// CHECK: scf.if %[[LOW]]
// CHECK:   scf.if %{{.*}} -> (index)
// CHECK:     scf.yield %c70
// CHECK:   } else {
// CHECK:     scf.yield %c80
// CHECK: } else {
// CHECK:   scf.if %{{.*}} -> (index)
// CHECK:     scf.yield %c90
// CHECK:   } else {
// CHECK:     scf.yield %c100
triton_xla.entry_func @tree(%x: memref<16xindex>, %tile: index) tiles 16 {
  %c70 = arith.constant 70 : index
  %c80 = arith.constant 80 : index
  %c90 = arith.constant 90 : index
  %c100 = arith.constant 100 : index
  %r = scf.index_switch %tile -> index
  case 7 {
    scf.yield %c70 : index
  }
  case 8 {
    scf.yield %c80 : index
  }
  case 9 {
    scf.yield %c90 : index
  }
  default {
    scf.yield %c100 : index
  }
  memref.store %r, %x[%tile] : memref<16xindex>
  triton_xla.return
}

// -----

// CHECK-LABEL: triton_xla.entry_func @elementwise(
// CHECK:         %[[X:.*]] = triton_xla.extract
// CHECK:         %[[LOW:.*]] = arith.maximumf %[[X]], %[[X]]
// CHECK:         arith.minimumf %[[LOW]], %[[X]]
// CHECK:         math.sin %[[X]]
// CHECK:         math.cos %[[X]]
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<8xf8E8M0FNU> to tensor<8xf32>
// CHECK:         %[[QUOTIENT:.*]] = arith.divf %[[X]], %[[WIDE]]
// CHECK:         arith.truncf %[[QUOTIENT]] : tensor<8xf32> to tensor<8xf8E5M2>
// CHECK:         arith.mulf %{{.*}} : tensor<8xf64>
// CHECK:         triton_xla.iota dim 0 : tensor<8xf32>
// CHECK:         arith.truncf %{{.*}} : tensor<8xf32> to tensor<8xf8E5M2>
// CHECK:         arith.cmpf uno, %[[X]], %[[X]]
// CHECK:         %[[ABS:.*]] = math.absf %[[X]]
// CHECK:         arith.cmpf oeq, %[[ABS]], %{{.*}}
// CHECK:         %[[FINITE:.*]] = arith.cmpf olt
// CHECK:         %[[LARGE:.*]] = arith.cmpf oge
// CHECK:         arith.andi %[[FINITE]], %[[LARGE]]
triton_xla.entry_func @elementwise(%x: memref<8xf32>, %s: memref<8xf8E8M0FNU>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %scale = triton_xla.extract %s[0] [8] [1] : memref<8xf8E8M0FNU> to tensor<8xf8E8M0FNU>
  %clamped = math.clampf %t to [%t, %t] : tensor<8xf32>
  %sin, %cos = math.sincos %t : tensor<8xf32>
  %small = arith.scaling_truncf %t, %scale : tensor<8xf32>, tensor<8xf8E8M0FNU> to tensor<8xf8E5M2>
  %wide = arith.scaling_extf %small, %scale : tensor<8xf8E5M2>, tensor<8xf8E8M0FNU> to tensor<8xf64>
  %n = triton_xla.iota dim 0 : tensor<8xf8E5M2>
  %nan = math.isnan %t : tensor<8xf32>
  %inf = math.isinf %t : tensor<8xf32>
  %normal = math.isnormal %t : tensor<8xf32>
  triton_xla.print "values" %clamped, %sin, %cos, %wide, %n, %nan, %inf, %normal
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<8xf8E5M2>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  triton_xla.return
}

// -----

// A scale of another type is truncated to a power of two.
// CHECK-LABEL: triton_xla.entry_func @scales
// CHECK:         %[[X:.*]] = triton_xla.extract %{{.*}} to tensor<8xf32>
// CHECK:         %[[T:.*]] = arith.truncf %[[X]] : tensor<8xf32> to tensor<8xf8E8M0FNU>
// CHECK:         %[[S:.*]] = arith.extf %[[T]] : tensor<8xf8E8M0FNU> to tensor<8xf32>
// CHECK:         arith.divf %[[X]], %[[S]] : tensor<8xf32>
// CHECK:         %[[E:.*]] = arith.extf %{{.*}} : tensor<8xf8E5M2> to tensor<8xf32>
// CHECK:         %[[U:.*]] = arith.truncf %[[E]] : tensor<8xf32> to tensor<8xf8E8M0FNU>
// CHECK:         %[[W:.*]] = arith.extf %[[U]] : tensor<8xf8E8M0FNU> to tensor<8xf64>
// CHECK:         arith.mulf %{{.*}}, %[[W]] : tensor<8xf64>
triton_xla.entry_func @scales(%x: memref<8xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %small = arith.scaling_truncf %t, %t : tensor<8xf32>, tensor<8xf32> to tensor<8xf8E5M2>
  %wide = arith.scaling_extf %small, %small : tensor<8xf8E5M2>, tensor<8xf8E5M2> to tensor<8xf64>
  triton_xla.print "wide" %wide : tensor<8xf64>
  triton_xla.return
}
