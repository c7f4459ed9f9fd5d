// Errors of smalti-place-barriers with strict=true, with location and reason, for hazards that may stay or cannot be
// analyzed. Without strict each error is a missed remark, and the program is unchanged.
// RUN: smalti-opt %s -split-input-file --verify-diagnostics -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{strict=true})))'
// RUN: smalti-opt %s -split-input-file -o %t.before
// RUN: smalti-opt %s -split-input-file -o %t.after --remarks-filter=smalti-place-barriers \
// RUN:   --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers{insert=false})))' 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: grep -c Missed %t.remarks | FileCheck %s --check-prefix=COUNT
// COUNT: {{^23$}}

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Branches between blocks.
gpu.module @branches {
  gpu.func @branches(%x: f32, %c: i1, %i: index) workgroup(%s: !tile) kernel {
    // expected-error@+1 {{no barrier inserted to order 'memref.store' with other accesses: the function has branches between MLIR blocks; use scf.for, scf.while or scf.if}}
    memref.store %x, %s[%i] : !tile
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %v = memref.load %s[%i] : !tile
    cf.br ^bb2
  ^bb2:
    gpu.return
  }
}

// -----

// A loop of blocks, and a call in it.
gpu.module @block_loop {
  gpu.func @block_loop(%c: i1) kernel {
    cf.br ^bb1
  ^bb1:
    // expected-error@+1 {{no barrier inserted to order 'func.call' with other accesses: 'func.call' has unknown side effects, and the function has branches between MLIR blocks; use scf.for, scf.while or scf.if}}
    func.call @anything() : () -> ()
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    gpu.return
  }
  func.func private @anything()
}

// -----

// Branches, and no memory that threads of a block share.
gpu.module @no_hazard {
  gpu.func @no_hazard(%m: memref<64xf32>, %c: i1, %x: f32) kernel {
    %t = gpu.thread_id x
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    memref.store %x, %m[%t] : memref<64xf32>
    cf.br ^bb2
  ^bb2:
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

gpu.module @parallel {
  gpu.func @parallel(%x: f32, %n: index, %out: memref<64xf32>) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error@+1 {{possible data race: 'scf.parallel' and 'scf.parallel' of different threads may access the same memory; no barrier is placed, because the control flow of 'scf.parallel' is unknown; convert it to scf.for, scf.while or scf.if}}
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %x, %s[%i] : !tile
      %v = memref.load %s[%c0] : !tile
      memref.store %v, %out[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

gpu.module @forall {
  gpu.func @forall(%x: f32, %n: index) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{possible data race: 'scf.forall' and 'scf.forall' of different threads}}
    scf.forall (%i) in (%n) {
      %v = memref.load %s[%c0] : !tile
      memref.store %v, %s[%i] : !tile
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

gpu.module @affine_parallel {
  gpu.func @affine_parallel(%x: f32) workgroup(%s: !tile) kernel {
    // expected-error@+1 {{possible data race: 'affine.parallel' and 'affine.parallel' of different threads}}
    affine.parallel (%i) = (0) to (64) {
      %v = affine.load %s[63 - %i] : !tile
      affine.store %v, %s[%i] : !tile
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Blocks inside of an op.
gpu.module @region {
  gpu.func @region(%x: f32, %i: index, %c: i1) workgroup(%s: !tile) kernel {
    // expected-error@+1 {{possible data race: 'scf.execute_region' and 'scf.execute_region' of different threads may access the same memory; no barrier is placed, because the control flow of 'scf.execute_region' is unknown; convert it to scf.for, scf.while or scf.if}}
    scf.execute_region {
      memref.store %x, %s[%i] : !tile
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      %v = memref.load %s[%i] : !tile
      cf.br ^bb2
    ^bb2:
      scf.yield
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Each thread accesses its own element, in any order.
gpu.module @own {
  gpu.func @own(%x: f32, %n: index) workgroup(%s: !tile) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %s[%t] : !tile
      %w = arith.addf %v, %x : f32
      memref.store %w, %s[%t] : !tile
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// A while loop that threads may leave at different times.
gpu.module @while {
  gpu.func @while(%x: f32) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %r = scf.while (%i = %t) : (index) -> index {
      // expected-error@+1 {{possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory; the trip count of 'scf.while' may be divergent, so no barrier can be placed inside; make it uniform, or move one access outside}}
      %v = memref.load %s[%i] : !tile
      %more = arith.cmpi ne, %i, %c0 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      // expected-error@+1 {{possible data race: 'memref.load' and 'memref.store' of different threads}}
      memref.store %x, %s[%i] : !tile
      %next = arith.subi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// A barrier where not all threads come by.
gpu.module @divergent {
  gpu.func @divergent(%x: f32) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %some = arith.cmpi ne, %t, %c0 : index
    scf.if %some {
      // expected-error@+1 {{barrier neither removed nor weakened: the condition of 'scf.if' may be divergent; make it uniform, or move the barrier out of the op}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

gpu.module @call {
  gpu.func @call(%x: f32, %i: index, %out: memref<64xf32>) workgroup(%s: !tile) kernel {
    memref.store %x, %s[%i] : !tile
    // expected-error@+1 {{no barrier inserted in this function: 'func.call' may synchronize threads}}
    func.call @anything() : () -> ()
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{possible data race: 'memref.store' and 'memref.load' of different threads may access the same memory; 'func.call' may synchronize threads, so no barrier is inserted; if it does not order the accesses, insert a gpu.barrier between them}}
    %v = memref.load %s[%c0] : !tile
    memref.store %v, %out[%i] : memref<64xf32>
    gpu.return
  }
  func.func private @anything()
}

// -----

gpu.module @assembly {
  gpu.func @assembly(%x: i32) kernel {
    // expected-error@+1 {{no barrier inserted in this function: 'llvm.inline_asm' may synchronize threads}}
    llvm.inline_asm has_side_effects "bar.sync 1;", "" : () -> ()
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

gpu.module @mbarrier {
  gpu.func @mbarrier(%x: f32, %i: index, %out: memref<64xf32>) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    %bar = nvgpu.mbarrier.create -> !bar
    memref.store %x, %s[%i] : !tile
    // expected-error@+1 {{no barrier inserted in this function: 'nvgpu.mbarrier.arrive' may synchronize threads}}
    %token = nvgpu.mbarrier.arrive %bar[%c0] : !bar -> !nvgpu.mbarrier.token
    // expected-error@+1 {{possible data race: 'memref.store' and 'memref.load' of different threads}}
    %v = memref.load %s[%c0] : !tile
    memref.store %v, %out[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// An op whose effects nothing states.
gpu.module @unknown {
  gpu.func @unknown() kernel {
    // expected-error@+1 {{no barrier inserted to order 'gpu.printf' with other accesses: 'gpu.printf' has a side effect that is not an access to a memref or pointer}}
    gpu.printf "here\n"
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Memory that is allocated in every iteration may be that of the one before.
gpu.module @allocation {
  gpu.func @allocation(%x: f32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error@+1 {{no barrier inserted to order 'memref.alloc' with other accesses: 'memref.alloc' allocates or frees memory that other buffers may reuse}}
      %s = memref.alloc() : !tile
      memref.store %x, %s[%c0] : !tile
    }
    gpu.return
  }
}

// -----

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Accesses of memory that may be any.
gpu.module @pointer {
  gpu.func @pointer(%p: !llvm.ptr, %x: f32, %i: index) workgroup(%s: !tile) kernel {
    memref.store %x, %s[%i] : !tile
    %q = llvm.load %p : !llvm.ptr -> !llvm.ptr
    // expected-error@+1 {{no barrier inserted in this function: 'llvm.load' may synchronize threads}}
    %v = llvm.load %q : !llvm.ptr -> f32
    gpu.return
  }
}

// -----

!tile = memref<2x64xf32, #gpu.address_space<workgroup>>
!row = memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>

// A copy that no wait completes, or not this one.
gpu.module @copies {
  gpu.func @copies(%a: memref<8x64xf32>, %out: memref<64xf32>) workgroup(%s: !tile) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %first = nvgpu.device_async_copy %a[%c0, %t], %s[%c0, %t], 1 : memref<8x64xf32> to !tile
    %one = nvgpu.device_async_create_group %first
    %row0 = memref.subview %s[0, 0] [1, 64] [1, 1] : !tile to memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
    %row1 = memref.subview %s[1, 0] [1, 64] [1, 1] : !tile to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    nvgpu.device_async_wait %one {numGroups = 0 : i32}
    %second = nvgpu.device_async_copy %a[%c1, %t], %row1[%t], 1 : memref<8x64xf32> to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    %two = nvgpu.device_async_create_group %second
    %x = memref.load %row0[%c0] : memref<64xf32, strided<[1]>, #gpu.address_space<workgroup>>
    // expected-error@+1 {{possible data race: 'memref.load' may access memory that 'nvgpu.device_async_copy' writes, and no wait between them is proven to complete the copy; add a wait and a barrier}}
    %y = memref.load %row1[%c1] : memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

!tile = memref<256xi32, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<256xi32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

// The accesses of the copy in flight cannot be determined.
gpu.module @tensor_copy {
  gpu.func @tensor_copy(%map: !map, %out: memref<256xi32>) workgroup(%s: !tile, %u: !tile) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %barrier = nvgpu.mbarrier.create -> !barrier
    // expected-error@+1 {{no barrier inserted in this function: 'nvgpu.tma.async.load' may synchronize threads}}
    nvgpu.tma.async.load %map[%c0], %barrier[%c0] to %s : !map, !barrier -> !tile
    %x = memref.load %u[%t] : !tile
    memref.store %x, %out[%t] : memref<256xi32>
    gpu.return
  }
}

// -----

!tile = memref<2x64xf32, #gpu.address_space<workgroup>>
// Copies of one group into rows of their own.
gpu.module @two_copies_of_a_group {
  gpu.func @two_copies_of_a_group(%a: memref<8x64xf32>, %out: memref<64xf32>) workgroup(%s: !tile) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %first = nvgpu.device_async_copy %a[%c0, %t], %s[%c0, %t], 1 : memref<8x64xf32> to !tile
    %second = nvgpu.device_async_copy %a[%c1, %t], %s[%c1, %t], 1 : memref<8x64xf32> to !tile
    %one = nvgpu.device_async_create_group %first, %second
    nvgpu.device_async_wait %one {numGroups = 0 : i32}
    gpu.barrier
    %x = memref.load %s[%c0, %c1] : !tile
    memref.store %x, %out[%t] : memref<64xf32>
    gpu.return
  }
}
