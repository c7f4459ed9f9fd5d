// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --mlir-print-op-generic | smalti-opt | FileCheck %s
// RUN: smalti-opt %s --emit-bytecode | smalti-opt | FileCheck %s

// CHECK-LABEL: func.func @debug(
func.func @debug(%t: tensor<8xf32>, %c: tensor<8xi1>, %d: i1, %n: index) {
  // CHECK: triton_xla.print "only text"
  triton_xla.print "only text"
  // CHECK: triton_xla.print "values" %{{.*}}, %{{.*}} {note} : tensor<8xf32>, index
  triton_xla.print "values" %t, %n {note} : tensor<8xf32>, index
  // CHECK: triton_xla.assert %{{.*}}, "must hold" : tensor<8xi1>
  triton_xla.assert %c, "must hold" : tensor<8xi1>
  // CHECK: triton_xla.assert %{{.*}}, "" : i1
  triton_xla.assert %d, "" : i1
  // CHECK: triton_xla.assume %{{.*}}
  triton_xla.assume %d
  // CHECK: triton_xla.assume_multiple %{{.*}}, 16 : index
  %m = triton_xla.assume_multiple %n, 16 : index
  return
}

// CHECK-LABEL: func.func @random_bits(
func.func @random_bits(%k: i32, %c: tensor<8xi32>) {
  // CHECK: triton_xla.random_bits %{{.*}}, %{{.*}}, %{{.*}} : (i32, i32, tensor<8xi32>) ->
  %0:4 = triton_xla.random_bits %k, %k, %c
      : (i32, i32, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  // CHECK: triton_xla.random_bits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (i32, i32, tensor<8xi32>, tensor<8xi32>,
  %1:4 = triton_xla.random_bits %k, %k, %c, %c, %c, %c : (i32, i32, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
      -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  return
}
