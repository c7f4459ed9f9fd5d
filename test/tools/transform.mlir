// Registration of the transform dialect's extensions.

// RUN: smalti-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK-COUNT-2: call @body
// CHECK-NOT: call @body
func.func @loop() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @body(%i) : (index) -> ()
  }
  return
}
func.func private @body(index)

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %loop {factor = 2} : !transform.any_op
    transform.yield
  }
}
