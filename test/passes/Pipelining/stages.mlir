// Numbers of stages of a loop.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=auto target=sm_90a}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=5}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIVE
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=auto}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{emit-schedule=true}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMIT

// To shared memory: three, where the registers do.
// AUTO: Function=through_shared | Remark="loop pipelined: 3 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64; no more stages: further stages would extend live ranges without hiding more latency"
// ANY: Function=through_shared | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64; no more stages: the number of registers per thread is unknown without a target; set the option 'target', such as target=sm_90a"
// EMIT: Function=through_shared | Remark="schedule written: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64"
// FIVE: Function=through_shared | Remark="loop pipelined: 5 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 64"
func.func @through_shared(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// AUTO: Function=two_iterations | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 1 shared buffer, 32 B; 2 barriers per iteration; trip count 2; no more stages: the trip count is {{.*}}"
func.func @two_iterations(%a: memref<64x8xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<8xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// A row of 512 bytes takes half of the registers, two take more than there are.
// AUTO: Function=wide_rows | Remark="loop pipelined: 3 stages, stream mode
// AUTO: Function=two_wide_rows | Remark="loop not pipelined: with 2 stages, live values need 260 registers per thread; sm_90a has 255, so load fewer elements per thread in an iteration"
func.func @wide_rows(%a: memref<64x128xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<128xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %row = vector.load %a[%i, %c0] : memref<64x128xf32>, vector<128xf32>
    vector.store %row, %shared[%c0] : memref<128xf32, 3>, vector<128xf32>
    gpu.barrier
    %x = memref.load %shared[%c1] : memref<128xf32, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

func.func @two_wide_rows(%a: memref<64x128xf32>, %b: memref<64x128xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<2x128xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = vector.load %a[%i, %c0] : memref<64x128xf32>, vector<128xf32>
    %y = vector.load %b[%i, %c0] : memref<64x128xf32>, vector<128xf32>
    vector.store %x, %shared[%c0, %c0] : memref<2x128xf32, 3>, vector<128xf32>
    vector.store %y, %shared[%c1, %c0] : memref<2x128xf32, 3>, vector<128xf32>
    gpu.barrier
    %value = memref.load %shared[%c1, %c1] : memref<2x128xf32, 3>
    %next = arith.addf %acc, %value : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}

// An element that an iteration writes is read two iterations later.
// AUTO: Function=two_later | Remark="loop pipelined: 2 stages, stream mode, {{.*}}; no more stages: with 3 stages, 'vector.store' of %arg0 may alias the 'vector.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @two_later(%a: memref<66x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<8xf32, 3>
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<66x8xf32>, vector<8xf32>
    vector.store %row, %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    %value = vector.load %shared[%c0] : memref<8xf32, 3>, vector<8xf32>
    %later = arith.addi %i, %c2 : index
    vector.store %value, %a[%later, %c0] : memref<66x8xf32>, vector<8xf32>
  }
  return
}

// Fewer iterations than stages.
// AUTO: Function=three_times | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched; 0 shared buffers, 0 B; 0 barriers per iteration; trip count 3; unrolling by 2 requested, to avoid moves between registers; no more stages: further stages would extend live ranges without hiding more latency"
// FIVE: Function=three_times | Remark="loop pipelined: 3 stages, stream mode, 1 read prefetched; 0 shared buffers, 0 B; 0 barriers per iteration; trip count 3; fewer than the 5 requested stages"
func.func @three_times(%a: memref<64xf32>, %init: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %sum = scf.for %i = %c1 to %c7 step %c2 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// The loop's attribute takes precedence.
// AUTO: Function=attributes | Remark="loop pipelined: 4 stages, stream mode
// FIVE: Function=attributes | Remark="loop pipelined: 4 stages, stream mode
// AUTO: Function=attributes | Remark="loop not pipelined: mode=async requires an asynchronous copy in the loop body; use mode=stream or mode=auto"
// FIVE: Function=attributes | Remark="loop not pipelined: mode=async requires an asynchronous copy in the loop body; use mode=stream or mode=auto"
// AUTO: Function=attributes | Remark="loop pipelined: 2 stages, stream mode
// FIVE: Function=attributes | Remark="loop pipelined: 2 stages, stream mode
// AUTO: Function=attributes | Remark="loop not pipelined: smalti.mode is {{.*}}; it must be "auto", "stream" or "async""
func.func @attributes(%a: memref<64xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.stages = 4 : i64, smalti.mode = "stream"}
  %second = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %first) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.mode = "async"}
  %third = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %second) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.stages = "auto"}
  %fourth = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %third) -> f32 {
    %x = memref.load %a[%i] : memref<64xf32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  } {smalti.mode = "fast"}
  return %fourth : f32
}

// As many as the buffer has slots.
// AUTO: Function=slots | Remark="loop pipelined: 4 stages, async mode, 1 copy prefetched; 1 shared buffer, 64 B; 1 barrier per iteration; trip count 64; no more stages: no shared buffer has more than {{.*}} slots"
func.func @slots(%a: memref<64x4xf32>, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %shared = memref.alloc() : memref<4x4xf32, 3>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> f32 {
    %slot = arith.remui %i, %c4 : index
    %view = memref.subview %shared[%slot, 0] [1, 4] [1, 1] : memref<4x4xf32, 3> to memref<4xf32, strided<[1], offset: ?>, 3>
    %copy = nvgpu.device_async_copy %a[%i, %c0], %view[%c0], 4 : memref<64x4xf32> to memref<4xf32, strided<[1], offset: ?>, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group
    gpu.barrier
    %x = memref.load %view[%c0] : memref<4xf32, strided<[1], offset: ?>, 3>
    %next = arith.addf %acc, %x : f32
    gpu.barrier
    scf.yield %next : f32
  }
  return %sum : f32
}
