// The largest depth within the shared memory, and the limit that kept a buffer from more.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=auto target=gfx942}))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
#shared = #gpu.address_space<workgroup>

// REMARK: Function=few_iterations | Remark="buffer multi-buffered: 3 slots of 2048 B, 6144 B in total; no more slots: the trip count is 3"
// CHECK-LABEL: func.func @few_iterations(
// CHECK:         memref.alloc() : memref<3x1024xf16,
func.func @few_iterations(%source: memref<1024xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = memref.alloc() : memref<1024xf16, #shared>
  scf.for %i = %c0 to %c3 step %c1 {
    memref.copy %source, %a : memref<1024xf16> to memref<1024xf16, #shared>
    memref.copy %a, %source : memref<1024xf16, #shared> to memref<1024xf16>
  }
  return
}

// REMARK: Function=most_that_fit | Remark="buffer multi-buffered: 4 slots of 16384 B, 65536 B in total; no more slots: 5 slots per buffer need 81920 B of shared memory; gfx942 has 65536 B per block"
// CHECK-LABEL: func.func @most_that_fit(
// CHECK:         memref.alloc() : memref<4x8192xf16,
func.func @most_that_fit(%source: memref<8192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<8192xf16, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %a : memref<8192xf16> to memref<8192xf16, #shared>
    memref.copy %a, %source : memref<8192xf16, #shared> to memref<8192xf16>
  }
  return
}

// The attributes ask for more than there is: none is changed.
// REMARK-COUNT-2: Function=of_attributes | Remark="buffer not multi-buffered: the requested slots of all buffers need 81920 B of shared memory; gfx942 has 65536 B per block, so use fewer slots or smaller buffers"
// CHECK-LABEL: func.func @of_attributes(
// CHECK:         memref.alloc() {smalti.slots = 3 : i64} : memref<8192xf16,
// CHECK:         memref.alloc() {smalti.slots = 2 : i64} : memref<8192xf16,
func.func @of_attributes(%source: memref<8192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() {smalti.slots = 3 : i64} : memref<8192xf16, #shared>
  %b = memref.alloc() {smalti.slots = 2 : i64} : memref<8192xf16, #shared>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.copy %source, %a : memref<8192xf16> to memref<8192xf16, #shared>
    memref.copy %source, %b : memref<8192xf16> to memref<8192xf16, #shared>
    memref.copy %a, %source : memref<8192xf16, #shared> to memref<8192xf16>
    memref.copy %b, %source : memref<8192xf16, #shared> to memref<8192xf16>
  }
  return
}
