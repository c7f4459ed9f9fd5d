// Cross-lane ops in loops with a divergent trip count: lanes with more iterations would no longer run together with the
// others in a pipelined loop.
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-pipeline-loops)))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

gpu.module @refused attributes {smalti.target = "gfx942"} {
  // CHECK-LABEL: gpu.func @strided(
  // CHECK:         scf.for %[[I:.*]] = %thread_id_x to %arg2 step %c64 iter_args(%[[ACC:.*]] = %c0_i32) -> (i32) {
  // CHECK-NEXT:      %[[X:.*]] = memref.load %arg0[%[[I]]] : memref<4096xi32>
  // CHECK-NEXT:      %[[Y:.*]] = rocdl.ds_bpermute %c4_i32, %[[X]] : (i32, i32) -> i32
  // CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[ACC]], %[[Y]] : i32
  // CHECK-NEXT:      scf.yield %[[NEXT]] : i32
  // CHECK-NEXT:    }
  // CHECK-NEXT:    memref.store
  // REMARK: [Missed] {{.*}} Function=strided | Remark="loop not pipelined: the trip count may be divergent, and the result of 'rocdl.ds_bpermute' depends on which lanes execute it together; make the trip count uniform"
  gpu.func @strided(%a: memref<4096xi32>, %out: memref<64xi32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %t = gpu.thread_id x
    %sum = scf.for %i = %t to %n step %c64 iter_args(%acc = %zero) -> i32 {
      %x = memref.load %a[%i] : memref<4096xi32>
      %y = rocdl.ds_bpermute %four, %x : (i32, i32) -> i32
      %next = arith.addi %acc, %y : i32
      scf.yield %next : i32
    }
    memref.store %sum, %out[%t] : memref<64xi32>
    gpu.return
  }

  // The end comes from a row of the thread's own.
  // REMARK: [Missed] {{.*}} Function=ragged | Remark="loop not pipelined: the trip count may be divergent, and the result of 'gpu.shuffle' depends on which lanes execute it together; make the trip count uniform"
  gpu.func @ragged(%a: memref<4096xf32>, %ends: memref<64xindex>, %out: memref<64xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %width = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %n = memref.load %ends[%t] : memref<64xindex>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
      %x = memref.load %a[%i] : memref<4096xf32>
      %y, %valid = gpu.shuffle xor %x, %one, %width : f32
      %next = arith.addf %acc, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  // Half waves: two of them are in one wave of 64 lanes. The exchange is in a region.
  // REMARK: [Missed] {{.*}} Function=half_waves | Remark="loop not pipelined: the trip count may be divergent, and the result of 'amdgpu.dpp' depends on which lanes execute it together; make the trip count uniform"
  gpu.func @half_waves(%a: memref<4096xi32>, %out: memref<64xi32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %half = arith.divui %t, %c32 : index
    %sum = scf.for %i = %half to %n step %c2 iter_args(%acc = %zero) -> i32 {
      %x = memref.load %a[%i] : memref<4096xi32>
      %some = arith.cmpi sgt, %x, %zero : i32
      %y = scf.if %some -> i32 {
        %z = amdgpu.dpp %zero %x row_shr (0x1 : i32) {row_mask = 0xf : i32, bound_ctrl = false} : i32
        scf.yield %z : i32
      } else {
        scf.yield %x : i32
      }
      %next = arith.addi %acc, %y : i32
      scf.yield %next : i32
    }
    memref.store %sum, %out[%t] : memref<64xi32>
    gpu.return
  }

  // A wave spans several rows of the block.
  // REMARK: [Missed] {{.*}} Function=rows_of_block | Remark="loop not pipelined: the trip count may be divergent, and the result of 'gpu.subgroup_reduce' depends on which lanes execute it together; make the trip count uniform"
  gpu.func @rows_of_block(%a: memref<4096xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %y = gpu.thread_id y
    %sum = scf.for %i = %y to %n step %c4 iter_args(%acc = %zero) -> f32 {
      %x = memref.load %a[%i] : memref<4096xf32>
      %all = gpu.subgroup_reduce add %x : (f32) -> f32
      %next = arith.addf %acc, %all : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%y] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @applied attributes {smalti.target = "gfx942"} {
  // Waves take rows in turn.
  // CHECK-LABEL: gpu.func @waves(
  // CHECK:         scf.if
  // REMARK: [Passed] {{.*}} Function=waves | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
  gpu.func @waves(%a: memref<4096xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %wave = arith.shrui %t, %c6 : index
    %sum = scf.for %i = %wave to %n step %c4 iter_args(%acc = %zero) -> f32 {
      %x = memref.load %a[%i] : memref<4096xf32>
      %all = gpu.subgroup_reduce add %x : (f32) -> f32
      %next = arith.addf %acc, %all : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  // The rows of the block are whole waves; a loop around counts.
  // REMARK: [Passed] {{.*}} Function=rows | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
  gpu.func @rows(%a: memref<4096xf32>, %ends: memref<64xindex>, %out: memref<64xf32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 4, 1>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %y = gpu.thread_id y
    scf.for %row = %y to %n step %c4 {
      %end = memref.load %ends[%row] : memref<64xindex>
      %sum = scf.for %i = %row to %end step %c1 iter_args(%acc = %zero) -> f32 {
        %x = memref.load %a[%i] : memref<4096xf32>
        %all = gpu.subgroup_reduce add %x : (f32) -> f32
        %next = arith.addf %acc, %all : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%row] : memref<64xf32>
    }
    gpu.return
  }

  // Any lane may come in any number of constant iterations.
  // REMARK: [Passed] {{.*}} Function=constant | Remark="loop pipelined: 2 stages, stream mode, 1 read prefetched
  gpu.func @constant(%a: memref<4096xi32>, %out: memref<64xi32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> i32 {
      %x = memref.load %a[%i] : memref<4096xi32>
      %y = rocdl.ds_bpermute %x, %x : (i32, i32) -> i32
      %next = arith.addi %acc, %y : i32
      scf.yield %next : i32
    }
    memref.store %sum, %out[%t] : memref<64xi32>
    gpu.return
  }
}
