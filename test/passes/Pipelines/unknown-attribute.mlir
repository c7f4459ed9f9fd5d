// An attribute with the prefix `smalti.` that no pass reads, such as a misspelled one.
// RUN: smalti-opt %s -smalti-verify-kernels=target=cpu -verify-diagnostics

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{unknown attribute 'smalti.stagse'; known are smalti.target, }}
  scf.for %i = %c0 to %n step %c1 {
  } {smalti.stagse = 3 : i64}
  return
}
