// Warps of kernels with a reduction and a sort: one warp if tiles are small, more if a sort moves elements many times.
// RUN: smalti-opt %s -smalti-compile='target=sm_80 stop-after=mosaic' | FileCheck %s

// CHECK-LABEL: gpu.func @row(
// CHECK-SAME: smalti.num_warps = 1
triton_xla.entry_func @row(%x: memref<5x70xi32>, %y: memref<5xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [5, 70] [1, 1] : memref<5x70xi32> to tensor<5x70xi32>
  %zero = arith.constant 0 : i32
  %m = triton_xla.reduce %t dims [1] init %zero : (tensor<5x70xi32>, i32) -> tensor<5xi32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    triton_xla.yield %r : i32
  }
  triton_xla.insert %m into %y[0] [5] [1] : tensor<5xi32> into memref<5xi32>
  triton_xla.return
}

// CHECK-LABEL: gpu.func @sorted_row(
// CHECK-SAME: smalti.num_warps = 8
triton_xla.entry_func @sorted_row(%x: memref<5x70xi32>, %y: memref<5xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [5, 70] [1, 1] : memref<5x70xi32> to tensor<5x70xi32>
  %zero = arith.constant 0 : i32
  %o = triton_xla.sort %t dim 1 : (tensor<5x70xi32>) -> tensor<5x70xi32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.cmpi slt, %p, %q : i32
    triton_xla.yield %r : i1
  }
  triton_xla.insert %o into %x[0, 0] [5, 70] [1, 1] : tensor<5x70xi32> into memref<5x70xi32>
  %m = triton_xla.reduce %o dims [1] init %zero : (tensor<5x70xi32>, i32) -> tensor<5xi32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    triton_xla.yield %r : i32
  }
  triton_xla.insert %m into %y[0] [5] [1] : tensor<5xi32> into memref<5xi32>
  triton_xla.return
}

// A thread has at most 8 elements of a sorted tile. The memory of the sorted types begins at one address.

// CHECK-LABEL: gpu.func @sorted_types(
// CHECK-SAME: smalti.num_warps = 16
// CHECK-DAG: mosaic_gpu.slice_smem 0 : memref<{{.*}}xi64, #gpu.address_space<workgroup>>
// CHECK-DAG: mosaic_gpu.slice_smem 0 : memref<{{.*}}xi8, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloc
triton_xla.entry_func @sorted_types(%x: memref<32x128xi64>, %y: memref<32x128xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [32, 128] [1, 1] : memref<32x128xi64> to tensor<32x128xi64>
  %u = triton_xla.extract %y[0, 0] [32, 128] [1, 1] : memref<32x128xi8> to tensor<32x128xi8>
  %o, %p = triton_xla.sort %t, %u dim 1 : (tensor<32x128xi64>, tensor<32x128xi8>) -> (tensor<32x128xi64>, tensor<32x128xi8>) {
  ^bb0(%a: i64, %b: i64, %c: i8, %d: i8):
    %r = arith.cmpi slt, %a, %b : i64
    triton_xla.yield %r : i1
  }
  triton_xla.insert %o into %x[0, 0] [32, 128] [1, 1] : tensor<32x128xi64> into memref<32x128xi64>
  triton_xla.insert %p into %y[0, 0] [32, 128] [1, 1] : tensor<32x128xi8> into memref<32x128xi8>
  triton_xla.return
}

// The rows are rounded up from 129 to 160. Each step of the sort would gather the elements of 129 padded rows.

// CHECK-LABEL: gpu.func @uneven_rows(
// CHECK-SAME: smalti.num_warps = 32
// CHECK: vector<160x8x2x2x1xi32>
// CHECK-NOT: vector.gather
// CHECK: vector<160x1x2x16x1xi32>
triton_xla.entry_func @uneven_rows(%x: memref<129x32xi32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [129, 32] [1, 1] : memref<129x32xi32> to tensor<129x32xi32>
  %o = triton_xla.sort %t dim 1 : (tensor<129x32xi32>) -> tensor<129x32xi32> {
  ^bb0(%a: i32, %b: i32):
    %r = arith.cmpi slt, %a, %b : i32
    triton_xla.yield %r : i1
  }
  triton_xla.insert %o into %x[0, 0] [129, 32] [1, 1] : tensor<129x32xi32> into memref<129x32xi32>
  triton_xla.return
}
