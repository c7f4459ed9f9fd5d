// Barriers that stay, with the full text of the reason; the programs are unchanged.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-place-barriers)))' \
// RUN:   --remarks-filter=smalti-place-barriers -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
#shared = #gpu.address_space<workgroup>

gpu.module @m {
  // CHECK: Function=arrives | Remark="no barrier inserted in this function: 'mosaic_gpu.arrive' may synchronize threads
  // CHECK: Function=arrives | Remark="barrier kept: 'mosaic_gpu.arrive' uses an mbarrier, and the pass does not analyze what it orders; insert a gpu.barrier where a barrier is missing"
  gpu.func @arrives(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %out: memref<64xf32>, %x: f32) workgroup(%s: memref<64xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    memref.store %x, %s[%t] : memref<64xf32, #shared>
    gpu.barrier
    mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK: Function=callee | Remark="barrier kept: it orders earlier accesses of a caller before later accesses of a caller"
  gpu.func @callee(%a: memref<64xf32, #shared>, %x: f32) {
    %t = gpu.thread_id x
    gpu.barrier
    memref.store %x, %a[%t] : memref<64xf32, #shared>
    gpu.return
  }

  // CHECK: Function=token | Remark="barrier kept: the copies that 'nvgpu.device_async_wait' waits for cannot be determined; insert a gpu.barrier where a barrier is missing"
  gpu.func @token(%a: memref<64xf32, #shared>, %token: !nvgpu.device.async.token) -> f32 {
    %c0 = arith.constant 0 : index
    nvgpu.device_async_wait %token
    gpu.barrier
    %x = memref.load %a[%c0] : memref<64xf32, #shared>
    gpu.return %x : f32
  }

  // Other blocks that observe the count assume that the data is visible.
  // CHECK: Function=counts | Remark="barrier kept: it orders 'memref.store' before 'memref.atomic_rmw'"
  gpu.func @counts(%data: memref<1024xf32> {llvm.noalias}, %count: memref<1xi32> {llvm.noalias}, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    memref.store %x, %data[%t] : memref<1024xf32>
    gpu.barrier
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
    }
    gpu.return
  }

  // One thread waits for another block.
  // CHECK: Function=waits | Remark="barrier kept: it orders 'memref.atomic_rmw' before 'memref.load'"
  gpu.func @waits(%data: memref<1024xf32> {llvm.noalias}, %count: memref<1xi32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      scf.while : () -> () {
        %seen = memref.atomic_rmw addi %none, %count[%c0] : (i32, memref<1xi32>) -> i32
        %more = arith.cmpi eq, %seen, %none : i32
        scf.condition(%more)
      } do {
        scf.yield
      }
    }
    gpu.barrier
    %x = memref.load %data[%t] : memref<1024xf32>
    memref.store %x, %out[%t] : memref<64xf32>
    gpu.return
  }
}
