// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-verify-kernels=target=cpu

// Calls are inlined on a CPU: each function here calls the next one twice.
func.func @f0() {
  func.call @f1() : () -> ()
  func.call @f1() : () -> ()
  return
}
func.func private @f1() {
  func.call @f2() : () -> ()
  func.call @f2() : () -> ()
  return
}
func.func private @f2() {
  func.call @f3() : () -> ()
  func.call @f3() : () -> ()
  return
}
func.func private @f3() {
  func.call @f4() : () -> ()
  // expected-error @below {{is inlined, and makes the function larger than 131072 operations}}
  func.call @f4() : () -> ()
  return
}
func.func private @f4() {
  func.call @f5() : () -> ()
  func.call @f5() : () -> ()
  return
}
func.func private @f5() {
  func.call @f6() : () -> ()
  func.call @f6() : () -> ()
  return
}
func.func private @f6() {
  func.call @f7() : () -> ()
  func.call @f7() : () -> ()
  return
}
func.func private @f7() {
  func.call @f8() : () -> ()
  func.call @f8() : () -> ()
  return
}
func.func private @f8() {
  func.call @f9() : () -> ()
  func.call @f9() : () -> ()
  return
}
func.func private @f9() {
  func.call @f10() : () -> ()
  func.call @f10() : () -> ()
  return
}
func.func private @f10() {
  func.call @f11() : () -> ()
  func.call @f11() : () -> ()
  return
}
func.func private @f11() {
  func.call @f12() : () -> ()
  func.call @f12() : () -> ()
  return
}
func.func private @f12() {
  func.call @f13() : () -> ()
  func.call @f13() : () -> ()
  return
}
func.func private @f13() {
  func.call @f14() : () -> ()
  func.call @f14() : () -> ()
  return
}
func.func private @f14() {
  func.call @f15() : () -> ()
  func.call @f15() : () -> ()
  return
}
func.func private @f15() {
  func.call @f16() : () -> ()
  func.call @f16() : () -> ()
  return
}
func.func private @f16() {
  func.call @f17() : () -> ()
  func.call @f17() : () -> ()
  return
}
func.func private @f17() {
  func.call @f18() : () -> ()
  func.call @f18() : () -> ()
  return
}
func.func private @f18() {
  return
}
