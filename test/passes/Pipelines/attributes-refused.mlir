// Attributes of a function that no pass can obey.
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer))' 2>&1 | FileCheck %s --check-prefix=SLOTS

// STAGES: error: smalti-pipeline-loops: smalti.stages is not "auto" or an integer between 1 and 16
func.func @stages() attributes {smalti.stages = 17 : i64} {
  return
}

// -----

// SLOTS: error: smalti-multi-buffer: the function has the attribute smalti.slots, which is not a number from 1 to 64
func.func @slots() attributes {smalti.slots = "two"} {
  return
}
