// Attributes that request overlap are checked for every target.
// RUN: smalti-opt %s -smalti-compile=target=cpu --split-input-file --verify-diagnostics
// RUN: smalti-opt %s -smalti-compile=target=sm_80 --split-input-file --verify-diagnostics
// RUN: smalti-opt %s -smalti-compile=target=gfx942 --split-input-file --verify-diagnostics

// expected-error@+1 {{smalti.stages is "x"; it must be "auto" or an integer from 1 to 16}}
triton_xla.entry_func @kernel(%tile: index) tiles 1 attributes {smalti.stages = "x"} {
  triton_xla.return
}

// -----

triton_xla.entry_func @loops(%tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{smalti.stages is -3 : i64; it must be "auto" or an integer from 1 to 16}}
  scf.for %i = %c0 to %c1 step %c1 {
  } {smalti.stages = -3 : i64}
  // expected-error@+1 {{smalti.mode is "fast"; it must be "auto", "stream" or "async"}}
  scf.for %i = %c0 to %c1 step %c1 {
  } {smalti.mode = "fast"}
  // expected-error@+1 {{'scf.for' has 'smalti.slots' = 0 : i64; an integer from 1 to}}
  scf.for %i = %c0 to %c1 step %c1 {
  } {smalti.slots = 0 : i64}
  triton_xla.return
}
