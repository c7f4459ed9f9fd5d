// Iterations with accesses to the same memory, and the resulting distance of prefetches.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops),gpu.module(gpu.func(smalti-pipeline-loops)))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o %t.after 2>%t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREE

// a[i] = f(a[i]): later iterations touch other elements.
// CHECK: [Passed] {{.*}} Function=in_place | Remark="loop pipelined: 2 stages
// THREE: [Passed] {{.*}} Function=in_place | Remark="loop pipelined: 3 stages
func.func @in_place(%a: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<64xf32>
  }
  return
}

// The same with a vector as long as the step, and one that is longer.
// CHECK: [Passed] {{.*}} Function=vectors | Remark="loop pipelined: 2 stages
func.func @vectors(%a: memref<8x64xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c4 {
    %x = vector.load %a[%row, %i] : memref<8x64xf32>, vector<4xf32>
    %y = arith.mulf %x, %x : vector<4xf32>
    vector.store %y, %a[%row, %i] : memref<8x64xf32>, vector<4xf32>
  }
  return
}
// CHECK: [Missed] {{.*}} Function=overlapping_vectors | Remark="loop not pipelined: 'vector.store' of %arg0 may alias the 'vector.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @overlapping_vectors(%a: memref<8x64xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c60 = arith.constant 60 : index
  scf.for %i = %c0 to %c60 step %c3 {
    %x = vector.load %a[%row, %i] : memref<8x64xf32>, vector<4xf32>
    %y = arith.mulf %x, %x : vector<4xf32>
    vector.store %y, %a[%row, %i] : memref<8x64xf32>, vector<4xf32>
  }
  return
}

// a[i] = f(a[i - 2]): a prefetch by one iteration is legal, by two it is not.
// CHECK: [Passed] {{.*}} Function=distance_two | Remark="loop pipelined: 2 stages
// THREE: [Missed] {{.*}} Function=distance_two | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @distance_two(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c2 to %c64 step %c1 {
    %at = arith.subi %i, %c2 : index
    %x = memref.load %a[%at] : memref<64xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<64xf32>
  }
  return
}

// a[i] = f(a[i + 1]): the prefetched element is written later.
// CHECK: [Passed] {{.*}} Function=reads_first | Remark="loop pipelined: 2 stages
func.func @reads_first(%a: memref<65xf32>, %lower: index, %upper: index, %step: index) {
  scf.for %i = %lower to %upper step %step {
    %at = arith.addi %i, %step : index
    %x = memref.load %a[%at] : memref<65xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<65xf32>
  }
  return
}

// Halves of one argument.
// CHECK: [Passed] {{.*}} Function=halves | Remark="loop pipelined: 2 stages
func.func @halves(%a: memref<2x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %first = memref.subview %a[0, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<64xf32, strided<[1]>>
  %second = memref.subview %a[1, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<64xf32, strided<[1], offset: 64>>
  scf.for %i = %c0 to %c63 step %c1 {
    %x = memref.load %first[%i] : memref<64xf32, strided<[1]>>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %second[%i] : memref<64xf32, strided<[1], offset: 64>>
  }
  return
}

// The same by other means; the second function's parts overlap.
// CHECK: [Passed] {{.*}} Function=reinterpreted | Remark="loop pipelined: 2 stages
func.func @reinterpreted(%a: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = memref.reinterpret_cast %a to offset: [0], sizes: [64], strides: [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  %second = memref.reinterpret_cast %a to offset: [64], sizes: [64], strides: [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %first[%c1] : memref<64xf32, strided<[1]>>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %second[%c0] : memref<64xf32, strided<[1], offset: 64>>
  }
  return
}
// CHECK: [Missed] {{.*}} Function=reinterpreted_overlap | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @reinterpreted_overlap(%a: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = memref.reinterpret_cast %a to offset: [0], sizes: [64], strides: [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  %second = memref.reinterpret_cast %a to offset: [1], sizes: [64], strides: [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 1>>
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %first[%c1] : memref<64xf32, strided<[1]>>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %second[%c0] : memref<64xf32, strided<[1], offset: 1>>
  }
  return
}

// Rows that may be identical: the strides are dynamic.
// CHECK: [Missed] {{.*}} Function=unknown_strides | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @unknown_strides(%a: memref<64xf32, strided<[?]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32, strided<[?]>>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<64xf32, strided<[?]>>
  }
  return
}

// An index that comes from memory may be any.
// CHECK: [Missed] {{.*}} Function=scattered | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
func.func @scattered(%a: memref<64xf32>, %at: memref<64xindex, 3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %x : f32
    %j = memref.load %at[%i] : memref<64xindex, 3>
    memref.store %y, %a[%j] : memref<64xf32>
  }
  return
}

// The row of an inner loop, written after it.
// CHECK: [Passed] {{.*}} Function=rows | Remark="loop pipelined: 2 stages
func.func @rows(%a: memref<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = vector.load %a[%i, %c0] : memref<64x8xf32>, vector<8xf32>
    scf.for %j = %c0 to %c8 step %c1 {
      %x = vector.extract %row[%j] : f32 from vector<8xf32>
      memref.store %x, %a[%i, %j] : memref<64x8xf32>
    }
  }
  return
}

gpu.module @kernels {
  // Barriers order threads: what one thread writes another may read next.
  // CHECK: [Missed] {{.*}} Function=neighbors | Remark="loop not pipelined: 'memref.store' of %arg0 may alias the 'memref.load' of %arg0 in a later iteration, so the read cannot be prefetched before the write; write to another buffer"
  gpu.func @neighbors(%a: memref<4096xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c4096 = arith.constant 4096 : index
    %thread = gpu.thread_id x
    scf.for %i = %c0 to %c4096 step %c256 {
      %at = arith.addi %i, %thread : index
      %x = memref.load %a[%at] : memref<4096xf32>
      %y = arith.mulf %x, %x : f32
      gpu.barrier
      memref.store %y, %a[%at] : memref<4096xf32>
    }
    gpu.return
  }

  // Not where the threads of a block stay within the step.
  // CHECK: [Passed] {{.*}} Function=known_size | Remark="loop pipelined: 2 stages
  gpu.func @known_size(%a: memref<4096xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c4096 = arith.constant 4096 : index
    %thread = gpu.thread_id x
    scf.for %i = %c0 to %c4096 step %c256 {
      %at = arith.addi %i, %thread : index
      %x = memref.load %a[%at] : memref<4096xf32>
      %y = arith.mulf %x, %x : f32
      gpu.barrier
      memref.store %y, %a[%at] : memref<4096xf32>
    }
    gpu.return
  }
}
