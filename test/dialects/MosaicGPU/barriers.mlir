// RUN: smalti-opt %s | smalti-opt | FileCheck %s
// RUN: smalti-opt --mlir-print-op-generic %s | smalti-opt | FileCheck %s

!barrier = !mosaic_gpu.barrier
!tc_barrier = !mosaic_gpu.barrier<orders_tensor_core = true>

// CHECK-LABEL: func.func @barriers
func.func @barriers(%p: !llvm.ptr<3>, %b: memref<!barrier, #gpu.address_space<workgroup>>,
                    %t: memref<!tc_barrier, #gpu.address_space<workgroup>>, %n: i32, %parity: i1) {
  // CHECK: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 2 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %p {arrival_count = 2 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
  // CHECK: mosaic_gpu.initialize_barrier %{{.*}} {arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true} : !llvm.ptr<3>
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 1 : i32, orders_tensor_core = true}
      : !llvm.ptr<3>
  // CHECK: mosaic_gpu.arrive %[[B:.*]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  mosaic_gpu.arrive %b : memref<!barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.arrive %{{.*}} {orders_tensor_core = true} : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
  mosaic_gpu.arrive %t {orders_tensor_core = true} : memref<!tc_barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.arrive_expect_tx barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) 8192
  // CHECK: mosaic_gpu.arrive_expect_tx barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) %{{.*}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) %n
  // CHECK: mosaic_gpu.wait barrier(%[[B]] : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%{{.*}} : i1)
  mosaic_gpu.wait barrier(%b : memref<!barrier, #gpu.address_space<workgroup>>) parity(%parity : i1)
  return
}

// CHECK-LABEL: func.func @tensor_core
func.func @tensor_core(%t: memref<!tc_barrier, #gpu.address_space<workgroup>>) {
  // CHECK: mosaic_gpu.tcgen05_commit_arrive %{{.*}} : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
  mosaic_gpu.tcgen05_commit_arrive %t : memref<!tc_barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.tcgen05_commit_arrive %{{.*}} {collective = true} : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
  mosaic_gpu.tcgen05_commit_arrive %t {collective = true} : memref<!tc_barrier, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: func.func @clusters
func.func @clusters(%r: memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, %b: memref<!barrier, #gpu.address_space<workgroup>>, %p: i1) {
  // CHECK: mosaic_gpu.try_cluster_cancel %[[R:.*]] barrier(%[[B:.*]]) : memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!barrier, #gpu.address_space<workgroup>>
  // CHECK: mosaic_gpu.try_cluster_cancel %[[R]] barrier(%[[B]]) predicate(%{{.*}})
  mosaic_gpu.try_cluster_cancel %r barrier(%b) predicate(%p)
      : memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, memref<!barrier, #gpu.address_space<workgroup>>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = mosaic_gpu.query_cluster_cancel %[[R]] : memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
  %x, %y, %z, %success = mosaic_gpu.query_cluster_cancel %r : memref<16xi8, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
  return
}
