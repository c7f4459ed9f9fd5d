// Lookup of the target, with a pass that uses it.

// RUN: smalti-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(smalti-multi-buffer))'
// RUN: not smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{target=sm_1}))' 2>&1 | FileCheck %s --check-prefix=OPTION

// The option overrides every attribute, valid or invalid.
// OPTION-COUNT-5: error: unknown target 'sm_1'; known targets: cpu, sm_80, {{.*}}gfx1250
// OPTION-NOT: error: unknown target

// This pass does not require a target.
func.func @none() {
  return
}

// -----

module attributes {smalti.target = "sm_90a"} {
  func.func @around() {
    return
  }
}

// -----

// The nearest attribute is used; outer ones are not checked.
module attributes {smalti.target = "nonsense"} {
  func.func @own() attributes {smalti.target = "gfx942"} {
    return
  }
}

// -----

// expected-note @below {{the attribute 'smalti.target' of this op names the target}}
module attributes {smalti.target = "gfx9000"} {
  // expected-error @below {{unknown target 'gfx9000'; known targets: cpu, sm_80}}
  func.func @unknown() {
    return
  }
}

// -----

module attributes {smalti.target = 90 : i32} {
  // expected-error @below {{attribute 'smalti.target' must be a string, but is 90 : i32}}
  func.func @number() {
    return
  }
}
