// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%s: tensor<f32>, %t: tensor<8x4xf32>, %u: tensor<8x1xf8E8M0FNU>) {
  // CHECK: triton_xla.broadcast %{{.*}} dims [] : tensor<f32> -> tensor<8x16xf32>
  %0 = triton_xla.broadcast %s dims [] : tensor<f32> -> tensor<8x16xf32>
  // CHECK: triton_xla.broadcast %{{.*}} dims [0, 2] {note} : tensor<8x4xf32> -> tensor<8x16x4xf32>
  %1 = triton_xla.broadcast %t dims [0, 2] {note} : tensor<8x4xf32> -> tensor<8x16x4xf32>
  // CHECK: triton_xla.broadcast %{{.*}} dims [0, 1] : tensor<8x1xf8E8M0FNU> -> tensor<8x32xf8E8M0FNU>
  %2 = triton_xla.broadcast %u dims [0, 1] : tensor<8x1xf8E8M0FNU> -> tensor<8x32xf8E8M0FNU>
  return
}

// CHECK-LABEL: func.func @shapes(
func.func @shapes(%s: tensor<i1>, %t: tensor<8x1x4xf4E2M1FN>) {
  // CHECK: triton_xla.transpose %{{.*}} [2, 0, 1] : tensor<8x1x4xf4E2M1FN> -> tensor<4x8x1xf4E2M1FN>
  %0 = triton_xla.transpose %t [2, 0, 1] : tensor<8x1x4xf4E2M1FN> -> tensor<4x8x1xf4E2M1FN>
  // CHECK: triton_xla.transpose %{{.*}} [] : tensor<i1> -> tensor<i1>
  %1 = triton_xla.transpose %s [] : tensor<i1> -> tensor<i1>
  // CHECK: triton_xla.reshape %{{.*}} : tensor<8x1x4xf4E2M1FN> -> tensor<2x16xf4E2M1FN>
  %2 = triton_xla.reshape %t : tensor<8x1x4xf4E2M1FN> -> tensor<2x16xf4E2M1FN>
  // CHECK: triton_xla.reshape %{{.*}} : tensor<i1> -> tensor<1x1xi1>
  %3 = triton_xla.reshape %s : tensor<i1> -> tensor<1x1xi1>
  // CHECK: triton_xla.squeeze_dims %{{.*}} [1] : tensor<8x1x4xf4E2M1FN> -> tensor<8x4xf4E2M1FN>
  %4 = triton_xla.squeeze_dims %t [1] : tensor<8x1x4xf4E2M1FN> -> tensor<8x4xf4E2M1FN>
  // CHECK: triton_xla.squeeze_dims %{{.*}} [0, 1] : tensor<1x1xi1> -> tensor<i1>
  %5 = triton_xla.squeeze_dims %3 [0, 1] : tensor<1x1xi1> -> tensor<i1>
  return
}

// CHECK-LABEL: func.func @iota(
func.func @iota() {
  // CHECK: triton_xla.iota dim 1 : tensor<8x4xi32>
  %0 = triton_xla.iota dim 1 : tensor<8x4xi32>
  // CHECK: triton_xla.iota dim 0 : tensor<256xi8>
  %1 = triton_xla.iota dim 0 : tensor<256xi8>
  // CHECK: triton_xla.iota dim 0 : tensor<4097xf16>
  %2 = triton_xla.iota dim 0 : tensor<4097xf16>
  // CHECK: triton_xla.iota dim 0 : tensor<7xf4E2M1FN>
  %3 = triton_xla.iota dim 0 : tensor<7xf4E2M1FN>
  // CHECK: triton_xla.iota dim 2 : tensor<1x2x3xindex>
  %4 = triton_xla.iota dim 2 : tensor<1x2x3xindex>
  return
}

// CHECK-LABEL: func.func @parts(
func.func @parts(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>) {
  // CHECK: %[[C:.*]] = triton_xla.concat %{{.*}}, %{{.*}} dim 1 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  %0 = triton_xla.concat %a, %b dim 1 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  // CHECK: triton_xla.slice %[[C]] [1, 4] [3, 1] [3, 9] : tensor<8x5xf32> -> tensor<3x1xf32>
  %1 = triton_xla.slice %0 [1, 4] [3, 1] [3, 9] : tensor<8x5xf32> -> tensor<3x1xf32>
  // CHECK: triton_xla.split %{{.*}} dim 0 : tensor<8x4xf32> -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %2, %3 = triton_xla.split %a dim 0 : tensor<8x4xf32> -> (tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: triton_xla.split %{{.*}} dim 1 : tensor<8x1xf32> -> (tensor<8x1xf32>)
  %4 = triton_xla.split %b dim 1 : tensor<8x1xf32> -> (tensor<8x1xf32>)
  return
}
