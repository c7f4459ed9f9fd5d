// RUN: smalti-opt --split-input-file --verify-diagnostics %s

func.func @initialize_space(%p: !llvm.ptr) {
  // expected-error @+1 {{operand #0 must be LLVM pointer in address space 3, but got '!llvm.ptr'}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr
  return
}

// -----

func.func @initialize_arrivals(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{'arrival_count' failed to satisfy constraint}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 0 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
  return
}

// -----

func.func @initialize_barriers(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{'num_barriers' failed to satisfy constraint}}
  mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 0 : i32} : !llvm.ptr<3>
  return
}

// -----

func.func @arrive_rank(%b: memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{barrier must be a memref of rank 0, but found 'memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.arrive %b : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @arrive_space(%b: memref<!mosaic_gpu.barrier>) {
  // expected-error @+1 {{barrier must be in the address space workgroup, but found 'memref<!mosaic_gpu.barrier>'}}
  mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier>
  return
}

// -----

func.func @arrive_element(%b: memref<i64, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand #0 must be memref of mbarrier (barrier object in shared memory) values, but got 'memref<i64, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.arrive %b : memref<i64, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @expect_both(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %n: i32) {
  // expected-error @+1 {{requires the number of expected bytes either as the attribute 'expect_tx' or as an operand, not both}}
  "mosaic_gpu.arrive_expect_tx"(%b, %n) <{expect_tx = 8 : i32}>
      : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, i32) -> ()
  return
}

// -----

func.func @expect_none(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{requires the number of expected bytes either as the attribute 'expect_tx' or as an operand, not both}}
  "mosaic_gpu.arrive_expect_tx"(%b) : (memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -> ()
  return
}

// -----

func.func @expect_negative(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{'expect_tx' failed to satisfy constraint}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) -8
  return
}

// -----

func.func @expect_rank(%b: memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{barrier must be a memref of rank 0}}
  mosaic_gpu.arrive_expect_tx barrier(%b : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8
  return
}

// -----

func.func @wait_rank(%b: memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %p: i1) {
  // expected-error @+1 {{barrier must be a memref of rank 0}}
  mosaic_gpu.wait barrier(%b : memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%p : i1)
  return
}

// -----

func.func @commit_rank(%b: memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{barrier must be a memref of rank 0, but found 'memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.tcgen05_commit_arrive %b : memref<2x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cancel_size(%r: memref<8xi8, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the response must be a memref<16xi8>, but found 'memref<8xi8, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<8xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cancel_rank(%r: memref<1x16xi8, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the response must be a memref<16xi8>, but found 'memref<1x16xi8, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<1x16xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cancel_element(%r: memref<16xi32, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{operand #0 must be memref of 8-bit signless integer values, but got 'memref<16xi32, #gpu.address_space<workgroup>>'}}
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<16xi32, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cancel_space(%r: memref<16xi8>, %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the response must be in the address space workgroup, but found 'memref<16xi8>'}}
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<16xi8>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @cancel_barrier(%r: memref<16xi8, #gpu.address_space<workgroup>>, %b: memref<!mosaic_gpu.barrier>) {
  // expected-error @+1 {{barrier must be in the address space workgroup, but found 'memref<!mosaic_gpu.barrier>'}}
  mosaic_gpu.try_cluster_cancel %r barrier(%b) : memref<16xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier>
  return
}

// -----

func.func @query_size(%r: memref<?xi8, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{the response must be a memref<16xi8>, but found 'memref<?xi8, #gpu.address_space<workgroup>>'}}
  %x, %y, %z, %s = mosaic_gpu.query_cluster_cancel %r : memref<?xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @query_space(%r: memref<16xi8>) {
  // expected-error @+1 {{the response must be in the address space workgroup, but found 'memref<16xi8>'}}
  %x, %y, %z, %s = mosaic_gpu.query_cluster_cancel %r : memref<16xi8>
  return
}
