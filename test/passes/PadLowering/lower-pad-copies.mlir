// Padded reads that are only written to shared memory: cp.async with zero fill.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{target=sm_80}))' \
// RUN:   --remarks-filter=smalti-lower-pad 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{target=gfx942}))' \
// RUN:   | FileCheck %s --check-prefix=AMD
// AMD-NOT: nvgpu

!shared = memref<8x32xf16, #gpu.address_space<workgroup>>

// REMARK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=rows | Remark="padded read and its write to shared memory lowered to 4 cp.async copies of 16 B with zero fill"
// REMARK: Function=rows | Remark="padded read and its write to shared memory lowered to 4 cp.async copies of 16 B with zero fill"
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[SOURCE:.*]]: memref<?x13xf16, strided<[16, 1]>>
// Elements from column 8 to the end of the row, and none past the last row.
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         nvgpu.device_async_copy %[[SOURCE]][%{{.*}}, %{{.*}}], %[[BUFFER:.*]][%{{.*}}, %{{.*}}], 8, %{{.*}} {bypassL1}
// CHECK:         %[[C8:.*]] = arith.addi
// CHECK:         %[[REST:.*]] = arith.subi %{{.*}}, %[[C8]]
// CHECK:         %[[ABOVE:.*]] = arith.maxsi %[[REST]]
// CHECK:         %[[COUNT:.*]] = arith.minsi %[[ABOVE]]
// CHECK:         %[[IN_ROWS:.*]] = arith.cmpi slt
// CHECK:         %[[ELEMENTS:.*]] = arith.select %[[IN_ROWS]], %[[COUNT]]
// CHECK:         nvgpu.device_async_copy %[[SOURCE]][%{{.*}}, %[[C8]]], %[[BUFFER]][%{{.*}}], 8, %[[ELEMENTS]] {bypassL1}
// CHECK-COUNT-6: nvgpu.device_async_copy
// One wait for both copies, before other threads may access the buffer.
// CHECK:         %[[GROUP:.*]] = nvgpu.device_async_create_group %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NEXT:    nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
// CHECK-NEXT:    gpu.barrier
// CHECK-NOT:     vector.transfer_read
// CHECK:         return
func.func @rows(%source: memref<?x13xf16, strided<[16, 1]>>, %i: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f16
  %buffer = memref.alloc() : !shared
  %row = arith.maxsi %i, %c0 : index
  %next = arith.addi %row, %c2 : index
  %r0 = vector.transfer_read %source[%row, %c0], %zero : memref<?x13xf16, strided<[16, 1]>>, vector<2x16xf16>
  %r1 = vector.transfer_read %source[%next, %c0], %zero : memref<?x13xf16, strided<[16, 1]>>, vector<2x16xf16>
  vector.transfer_write %r0, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf16>, !shared
  vector.transfer_write %r1, %buffer[%c2, %c0] {in_bounds = [true, true]} : vector<2x16xf16>, !shared
  gpu.barrier
  return
}

// Copies that may write the same elements are not outstanding together, and no op reads them earlier.
// CHECK-LABEL: func.func @order(
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK-NEXT:    vector.load
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK-NEXT:    vector.store
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK-NEXT:    return
func.func @order(%source: memref<?x64xf16>, %i: index) -> vector<8xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %zeros = arith.constant dense<0.0> : vector<8xf16>
  %buffer = memref.alloc() : !shared
  %r0 = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x64xf16>, vector<1x8xf16>
  %r1 = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x64xf16>, vector<1x8xf16>
  vector.transfer_write %r0, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, !shared
  vector.transfer_write %r1, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, !shared
  %v = vector.load %buffer[%c0, %c0] : !shared, vector<8xf16>
  %r2 = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x64xf16>, vector<1x8xf16>
  vector.transfer_write %r2, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, !shared
  vector.store %zeros, %source[%c0, %c0] : memref<?x64xf16>, vector<8xf16>
  %r3 = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x64xf16>, vector<1x8xf16>
  vector.transfer_write %r3, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, !shared
  return %v : vector<8xf16>
}

// The widest copy that the alignment of rows allows: 7 columns of 4 bytes.
// REMARK: Function=narrow | Remark="padded read and its write to shared memory lowered to 4 cp.async copies of 4 B with zero fill"
// CHECK-LABEL: func.func @narrow(
// CHECK-COUNT-4: nvgpu.device_async_copy {{.*}}, 1, %{{[^{]*}} :
// CHECK:         nvgpu.device_async_create_group
func.func @narrow(%source: memref<?x7xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %buffer = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  %r = vector.transfer_read %source[%i, %c0], %zero : memref<?x7xf32>, vector<4xf32>
  vector.transfer_write %r, %buffer[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// Reasons why cp.async is not used; the read is masked.
// CHECK-LABEL: func.func @refused(
// CHECK-NOT:     nvgpu
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: the padding value is not proven to be all zero bits; use the constant 0"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: the padding value is not proven to be all zero bits; use the constant 0"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: the read or the write has a mask; only transfers without a mask are supported"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: the vector.transfer_write to shared memory may be out of bounds; if it is not, mark that op as in_bounds"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: the elements of a vector row are not contiguous in memory; contiguous rows are required"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: rows of 10 B with alignment 16 B cannot be split into copies of 4 to 16 B; use rows and addresses that are multiples of these sizes"
// REMARK: Function=refused | Remark="padded read lowered to a masked read; cp.async not used: rows of 8 B with alignment 2 B cannot be split into copies of 4 to 16 B; use rows and addresses that are multiples of these sizes"
func.func @refused(%source: memref<16x64xf16>, %odd: memref<16x7xf16>, %i: index, %m: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %c60 = arith.constant 60 : index
  %one = arith.constant 1.0 : f16
  %negative = arith.constant -0.0 : f16
  %zero = arith.constant 0.0 : f16
  %b = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
  %r0 = vector.transfer_read %source[%c15, %c60], %one : memref<16x64xf16>, vector<8xf16>
  vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true]} : vector<8xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r1 = vector.transfer_read %source[%c15, %c60], %negative : memref<16x64xf16>, vector<8xf16>
  vector.transfer_write %r1, %b[%c0, %c0] {in_bounds = [true]} : vector<8xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r2 = vector.transfer_read %source[%c15, %c60], %zero, %m : memref<16x64xf16>, vector<8xf16>
  vector.transfer_write %r2, %b[%c0, %c0] {in_bounds = [true]} : vector<8xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r3 = vector.transfer_read %source[%c15, %c60], %zero : memref<16x64xf16>, vector<8xf16>
  vector.transfer_write %r3, %b[%c0, %c60] : vector<8xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r4 = vector.transfer_read %source[%c15, %c60], %zero {permutation_map = affine_map<(d0, d1) -> (d0)>}
    : memref<16x64xf16>, vector<8xf16>
  vector.transfer_write %r4, %b[%c0, %c0] {in_bounds = [true]} : vector<8xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r5 = vector.transfer_read %source[%c15, %c0], %zero {in_bounds = [false, true]} : memref<16x64xf16>, vector<2x5xf16>
  vector.transfer_write %r5, %b[%c0, %c0] {in_bounds = [true, true]} : vector<2x5xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  %r6 = vector.transfer_read %odd[%c15, %c0], %zero : memref<16x7xf16>, vector<2x4xf16>
  vector.transfer_write %r6, %b[%c0, %c0] {in_bounds = [true, true]} : vector<2x4xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
  return
}

// The read cannot move to the write.
// REMARK: Function=moved | Remark="padded read lowered to a masked read; cp.async not used: 'gpu.barrier' is between the read and the write to shared memory, and the read cannot be moved after the op; move the op before the read or after the write"
// REMARK: Function=moved | Remark="padded read lowered to a masked read; cp.async not used: 'vector.store' is between the read and the write to shared memory, and the read cannot be moved after the op; move the op before the read or after the write"
// REMARK: Function=moved | Remark="padded read lowered to a masked read; cp.async not used: the read and the write are in different MLIR blocks; move them to one block"
func.func @moved(%source: memref<16x64xf16>, %other: memref<64xf16>, %i: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %zero = arith.constant 0.0 : f16
  %zeros = arith.constant dense<0.0> : vector<8xf16>
  %b = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
  %c = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
  %r0 = vector.transfer_read %source[%c15, %c0], %zero : memref<16x64xf16>, vector<8xf16>
  gpu.barrier
  vector.transfer_write %r0, %b[%c0] {in_bounds = [true]} : vector<8xf16>, memref<64xf16, #gpu.address_space<workgroup>>
  %r1 = vector.transfer_read %source[%c15, %c0], %zero : memref<16x64xf16>, vector<8xf16>
  vector.store %zeros, %other[%c0] : memref<64xf16>, vector<8xf16>
  vector.transfer_write %r1, %b[%c0] {in_bounds = [true]} : vector<8xf16>, memref<64xf16, #gpu.address_space<workgroup>>
  %r2 = vector.transfer_read %source[%c15, %c0], %zero : memref<16x64xf16>, vector<8xf16>
  scf.if %flag {
    vector.transfer_write %r2, %c[%c0] {in_bounds = [true]} : vector<8xf16>, memref<64xf16, #gpu.address_space<workgroup>>
  }
  return
}

// REMARK: Function=numbered_source | Remark="padded read lowered to a masked read, which also masks elements at negative indices; cp.async not used: the global memref is in memory space 1 : i64; only the default memory space is supported"
func.func @numbered_source(%source: memref<?x32xf16, 1>, %buffer: memref<8x32xf16, #gpu.address_space<workgroup>>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %r = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x32xf16, 1>, vector<1x8xf16>
  vector.transfer_write %r, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, memref<8x32xf16, #gpu.address_space<workgroup>>
  return
}

// REMARK: Function=numbered_buffer | Remark="padded read lowered to a masked read, which also masks elements at negative indices; cp.async not used: the destination or source is not in shared memory (#gpu.address_space<workgroup>)"
func.func @numbered_buffer(%source: memref<?x32xf16>, %buffer: memref<8x32xf16, 3>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %r = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x32xf16>, vector<1x8xf16>
  vector.transfer_write %r, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, memref<8x32xf16, 3>
  return
}

// REMARK: Function=too_many_copies | Remark="padded read lowered to a masked read, which also masks elements at negative indices; cp.async not used: the vector needs 64 copies of 16 B per thread; at most 32 are supported, so use a smaller vector"
func.func @too_many_copies(%source: memref<?x32xf16>, %buffer: memref<64x32xf16, #gpu.address_space<workgroup>>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %r = vector.transfer_read %source[%i, %c0], %zero {in_bounds = [false, true]} : memref<?x32xf16>, vector<64x8xf16>
  vector.transfer_write %r, %buffer[%c0, %c0] {in_bounds = [true, true]} : vector<64x8xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  return
}
