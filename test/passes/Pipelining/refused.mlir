// Refused loops: the full text of the reason, and the unchanged program.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=17}))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STAGES
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{mode=fast}))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MODE
// STRICT: error: smalti-pipeline-loops: loop not pipelined: 'memref.store' of %arg1 may alias the 'memref.load' of %arg0 in a later iteration
// STAGES: error: smalti-pipeline-loops: 'stages' must be 'auto' or between 1 and 16, but is 17
// MODE: --mode option: Cannot find option named 'fast'

// CHECK: [Missed] smalti-pipeline-loops | Category:smalti-pipeline-loops | Function=may_alias | Remark="loop not pipelined: 'memref.store' of %arg1 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; if these arguments do not overlap, mark them llvm.noalias"
func.func @may_alias(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%i] : memref<64xf32>
  }
  return
}

// a[i] = f(a[i - 1])
// CHECK: Function=recurrence | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @recurrence(%a: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c1 to %c64 step %c1 {
    %before = arith.subi %i, %c1 : index
    %x = memref.load %a[%before] : memref<64xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<64xf32>
  }
  return
}

// CHECK: Function=unknown_effects | Remark="loop not pipelined: 'func.call' has unknown side effects"
func.func private @callee()
func.func @unknown_effects(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    func.call @callee() : () -> ()
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=no_reads | Remark="loop not pipelined: the body does not read global memory at addresses that an earlier iteration can compute, such as those of the induction variable"
func.func @no_reads(%init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %next = arith.addf %acc, %acc : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=once | Remark="loop not pipelined: the trip count of 1 is less than the 2 stages; a loop needs at least two iterations and one per stage"
func.func @once(%a: memref<64xf32>, %init: f32) -> f32 {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %sum = scf.for %i = %c3 to %c5 step %c5 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=never | Remark="loop not pipelined: the trip count of 0 is less than the 2 stages; a loop needs at least two iterations and one per stage"
func.func @never(%a: memref<64xf32>, %init: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %sum = scf.for %i = %c1 to %c0 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=nested_barrier | Remark="loop not pipelined: 'gpu.barrier' is inside 'scf.if', which can only be scheduled as a whole; move the inner op to the top level of the loop body"
func.func @nested_barrier(%a: memref<64xf32>, %init: f32, %condition: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    scf.if %condition {
      gpu.barrier
    }
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=whole_copy | Remark="loop not pipelined: 'memref.copy' both reads global memory and writes shared memory, so the read cannot be prefetched; use a load and a store"
func.func @whole_copy(%a: memref<8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    memref.copy %a, %shared : memref<8xf32> to memref<8xf32, 3>
    gpu.barrier
    %x = memref.load %shared[%c0] : memref<8xf32, 3>
    gpu.barrier
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=only_reads | Remark="loop not pipelined: the body only reads; no computation can overlap with the reads"
func.func @only_reads(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%before = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    scf.yield %x : f32
  }
  return %last : f32
}

// CHECK: Function=only_copies | Remark="loop not pipelined: the body only copies; no computation can overlap with the copies"
func.func @only_copies(%a: memref<64xf32>, %shared: memref<64xf32, 3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %shared[%i] : memref<64xf32, 3>
  }
  return
}

// CHECK: Function=one_slot | Remark="loop not pipelined: the schedule needs 2 slots of %alloc; accesses are proven to rotate over 1, so add slots with smalti-multi-buffer or use fewer stages"
func.func @one_slot(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %copy = nvgpu.device_async_copy %a[%i, %c0], %shared[%c0], 4 : memref<64x8xf32> to memref<8xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group
    gpu.barrier
    %x = memref.load %shared[%c0] : memref<8xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=by_hand | Remark="loop not pipelined: 'nvgpu.device_async_wait' does not wait for a copy of the same iteration; the loop appears to be pipelined already"
func.func @by_hand(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %copy = nvgpu.device_async_copy %a[%i, %c0], %shared[%c0], 4 : memref<64x8xf32> to memref<8xf32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 1 : i32}
    gpu.barrier
    %x = memref.load %shared[%c0] : memref<8xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=attribute | Remark="loop not pipelined: smalti.stages is {{.*}}; it must be "auto" or an integer from 1 to 16"
func.func @attribute(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.stages = "many"}
  return %sum : f32
}

// CHECK: Function=truth | Remark="loop not pipelined: smalti.stages is {{.*}}; it must be "auto" or an integer from 1 to 16"
func.func @truth(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.stages = true}
  return %sum : f32
}

// Only an integer asks for one stage.
// CHECK: Function=while_truth | Remark="loop not pipelined: the loop is an 'scf.while'; only scf.for loops are supported"
func.func @while_truth(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  } attributes {smalti.stages = true}
  return
}

// Not asked for: no remark.
// CHECK-NOT: Function=opted_out
func.func @opted_out(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.stages = 1 : i64}
  return %sum : f32
}

// More stages than any chip has a use for would only make code.
// CHECK: Function=many_stages | Remark="loop not pipelined: smalti.stages is {{.*}}; it must be "auto" or an integer from 1 to 16"
func.func @many_stages(%a: memref<64x8xf32>, %init: vector<8xf32>, %n: index) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> vector<8xf32> {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = arith.addf %acc, %row : vector<8xf32>
    scf.yield %next : vector<8xf32>
  } {smalti.stages = 1000000 : i64}
  return %sum : vector<8xf32>
}

// The number of stages exceeds the counter.
// CHECK: Function=narrow_counter | Remark="loop not pipelined: the induction variable has 2 bits, which cannot represent 5 stages; use a wider type"
func.func @narrow_counter(%a: memref<64x8xf32>, %init: vector<8xf32>, %begin: i2, %end: i2) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %step = arith.constant 1 : i2
  %sum = scf.for %i = %begin to %end step %step iter_args(%acc = %init) -> vector<8xf32> : i2 {
    %at = arith.index_castui %i : i2 to index
    %row = vector.load %a[%at, %c0] : memref<64x8xf32>, vector<8xf32>
    %next = arith.addf %acc, %row : vector<8xf32>
    scf.yield %next : vector<8xf32>
  } {smalti.stages = 5 : i64}
  return %sum : vector<8xf32>
}

// The address of the next read comes from what the threads compute together.
// CHECK: Function=address_computed | Remark="loop not pipelined: the body does not read global memory at addresses that an earlier iteration can compute, such as those of the induction variable"
func.func @address_computed(%a: memref<64xindex>, %shared: memref<64xindex, 3>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%row = %c0) -> index {
    %x = memref.load %a[%row] : memref<64xindex>
    memref.store %x, %shared[%c0] : memref<64xindex, 3>
    gpu.barrier
    %next = memref.load %shared[%x] : memref<64xindex, 3>
    gpu.barrier
    scf.yield %next : index
  }
  return %last : index
}

// CHECK: Function=atomic | Remark="loop not pipelined: 'memref.atomic_rmw' atomically updates %arg1, and other threads may wait for the update, so it cannot be delayed"
func.func @atomic(%a: memref<64xf32> {llvm.noalias}, %sum: memref<1xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %before = memref.atomic_rmw addf %x, %sum[%c0] : (f32, memref<1xf32>) -> f32
  }
  return
}

// CHECK: Function=inline_assembly | Remark="loop not pipelined: 'llvm.inline_asm' has a side effect that is not an access to a memref or pointer"
func.func @inline_assembly(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=fence | Remark="loop not pipelined: 'llvm.fence' has unknown side effects"
func.func @fence(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    llvm.fence acquire
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=volatile_load | Remark="loop not pipelined: 'llvm.load' has a side effect that is not an access to a memref or pointer"
func.func @volatile_load(%a: memref<64xf32>, %flag: !llvm.ptr<1>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = llvm.load volatile %flag : !llvm.ptr<1> -> f32
    %next = arith.addf %x, %y : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The yielded value does not depend on the copied elements.
// CHECK: Function=copies_and_counts | Remark="loop not pipelined: the body only copies; no computation can overlap with the copies"
func.func @copies_and_counts(%a: memref<64xf32>, %shared: memref<64xf32, 3>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%row = %c0) -> index {
    %x = memref.load %a[%row] : memref<64xf32>
    memref.store %x, %shared[%row] : memref<64xf32, 3>
    %next = arith.addi %row, %c1 : index
    scf.yield %next : index
  }
  return %last : index
}

// A thread's stack and global memory have the same type.
// CHECK: Function=chosen_stack | Remark="loop not pipelined: the body does not read global memory at addresses that an earlier iteration can compute, such as those of the induction variable"
func.func @chosen_stack(%condition: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloca() : memref<4xf32>
  %b = memref.alloca() : memref<4xf32>
  memref.store %init, %a[%c0] : memref<4xf32>
  memref.store %init, %b[%c0] : memref<4xf32>
  %chosen = arith.select %condition, %a, %b : memref<4xf32>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %chosen[%c0] : memref<4xf32>
    %next = arith.addf %acc, %x : f32
    memref.store %next, %a[%c0] : memref<4xf32>
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=stack_or_global | Remark="loop not pipelined: 'memref.load' accesses a memref of type memref<4xf32>, whose memory space cannot be determined; state the memory space in the type"
func.func @stack_or_global(%global: memref<4xf32>, %condition: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloca() : memref<4xf32>
  memref.store %init, %a[%c0] : memref<4xf32>
  %chosen = scf.if %condition -> memref<4xf32> {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %global : memref<4xf32>
  }
  %sum:2 = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init, %from = %chosen) -> (f32, memref<4xf32>) {
    %x = memref.load %from[%c0] : memref<4xf32>
    %next = arith.addf %acc, %x : f32
    memref.store %next, %a[%c0] : memref<4xf32>
    scf.yield %next, %from : f32, memref<4xf32>
  }
  return %sum#0 : f32
}

// 2^64 + 3 iterations
// CHECK: Function=wide_counter | Remark="loop not pipelined: the induction variable of the loop has more than 64 bits; at most 64 are supported"
func.func @wide_counter(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i128
  %c1 = arith.constant 1 : i128
  %last = arith.constant 18446744073709551619 : i128
  %sum = scf.for %i = %c0 to %last step %c1 iter_args(%acc = %init) -> f32 : i128 {
    %j = arith.index_cast %i : i128 to index
    %x = memref.load %a[%j] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// This loop does not end.
// CHECK: Function=no_step | Remark="loop not pipelined: the step of the loop is 0; it must be positive"
func.func @no_step(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c0 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=stored_before | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in the same iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @stored_before(%a: memref<64xf32>, %b: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    memref.store %acc, %a[%i] : memref<64xf32>
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// CHECK: Function=while_loop | Remark="loop not pipelined: the loop is an 'scf.while'; only scf.for loops are supported"
func.func @while_loop(%a: memref<64xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %c64 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %out[%i] : memref<64xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}

// CHECK: Function=affine_loop | Remark="loop not pipelined: the loop is an 'affine.for'; only scf.for loops are supported"
func.func @affine_loop(%a: memref<64xf32>, %out: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %x = affine.load %a[%i] : memref<64xf32>
    affine.store %x, %out[%i] : memref<64xf32>
  }
  return
}

// Parallel loops are not pipelined, nor are loops that opt out.
// CHECK-NOT: Function=no_loop
func.func @no_loop(%a: memref<64xf32>, %out: memref<64xf32>) {
  scf.forall (%i) in (64) {
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %out[%i] : memref<64xf32>
  }
  affine.for %i = 0 to 64 {
    %x = affine.load %a[%i] : memref<64xf32>
    affine.store %x, %out[%i] : memref<64xf32>
  } {smalti.stages = 1 : i64}
  return
}
