// Invalid attributes of a function.
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer))' 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-choose-overlap{target=sm_90a})))' 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not smalti-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-specialize-warps{target=sm_90a})))' 2>&1 | FileCheck %s --check-prefix=ROLES

// STAGES: error: smalti-pipeline-loops: smalti.stages is {{.*}}; it must be "auto" or an integer from 1 to 16
func.func @stages() attributes {smalti.stages = 17 : i64} {
  return
}

// -----

// SLOTS: error: smalti-multi-buffer: the function has 'smalti.slots' = {{.*}}; an integer from 1 to 64 is required
func.func @slots() attributes {smalti.slots = "two"} {
  return
}

// -----

// OVERLAP: error: smalti-choose-overlap: the kernel has the attribute smalti.specialize = 3 : i64; it must be true or false
// ROLES: error: smalti-specialize-warps: the kernel has the attribute smalti.specialize = 3 : i64; it must be true or false
gpu.module @m {
  gpu.func @roles() kernel attributes {smalti.specialize = 3} {
    gpu.return
  }
}

// -----

// SLOTS: error: smalti-multi-buffer: the function has 'smalti.slots' = {{.*}}; an integer from 1 to 64 is required
// STAGES: error: smalti-pipeline-loops: smalti.stages is {{.*}}; it must be "auto" or an integer from 1 to 16
func.func @truth() attributes {smalti.slots = true, smalti.stages = true} {
  return
}

// -----

// OVERLAP: error: smalti-choose-overlap: smalti.stages is true; it must be "auto"
gpu.module @m {
  gpu.func @stages() kernel attributes {smalti.stages = true} {
    gpu.return
  }
}

// -----

// OVERLAP: error: smalti-choose-overlap: smalti.stages is 17 : i64; it must be "auto" or an integer from 1 to 16
gpu.module @m {
  gpu.func @loop_stages() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
    } {smalti.stages = 17 : i64}
    gpu.return
  }
}

// -----

// OVERLAP: error: smalti-choose-overlap: the loop has 'smalti.slots' = 0 : i64; an integer from 1 to 64 is required
gpu.module @m {
  gpu.func @loop_slots() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
    } {smalti.slots = 0 : i64}
    gpu.return
  }
}
