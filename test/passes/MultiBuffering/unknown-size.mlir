// A buffer of dynamic size, with which the free shared memory is unknown: the passes that need it change no other
// buffer, and report why.
// RUN: smalti-opt %s --split-input-file -o %t.before
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2 target=sm_90a}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=auto target=sm_90a}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --split-input-file -o /dev/null 2>&1 \
// RUN:   --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2 target=sm_90a strict=true}))' \
// RUN:   | FileCheck %s --check-prefix=STRICT

// CHECK: Function=dynamic | Remark="buffer not multi-buffered: the function has a shared-memory buffer of type memref<?xf32, 3>, whose size in bytes is dynamic or exceeds 64 bits, so no number of slots is proven to fit on sm_90a"
// STRICT: error: smalti-multi-buffer: buffer not multi-buffered: the function has a shared-memory buffer of type memref<?xf32, 3>, whose size in bytes is dynamic or exceeds 64 bits
func.func @dynamic(%source: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %other = memref.alloc(%n) : memref<?xf32, 3>
  %a = memref.alloc() : memref<64xf32, 3>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %source, %a : memref<64xf32> to memref<64xf32, 3>
    memref.copy %a, %source : memref<64xf32, 3> to memref<64xf32>
  }
  return
}

// -----

// CHECK: Function=too_large | Remark="buffer not multi-buffered: the function has a shared-memory buffer of type memref<4294967296x4294967296xf32, 3>, whose size in bytes is dynamic or exceeds 64 bits
func.func @too_large(%source: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %other = memref.alloc() : memref<4294967296x4294967296xf32, 3>
  %a = memref.alloc() : memref<64xf32, 3>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %source, %a : memref<64xf32> to memref<64xf32, 3>
    memref.copy %a, %source : memref<64xf32, 3> to memref<64xf32>
  }
  return
}

// -----

// CHECK: Function=layout | Remark="buffer not multi-buffered: 2 slots per buffer need 3996768 B of shared memory; sm_90a has 232448 B per block, so use smaller buffers"
func.func @layout(%source: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %other = memref.alloc() : memref<1000x64xf32, strided<[1000, 1]>, 3>
  %a = memref.alloc() : memref<64xf32, 3>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %source, %a : memref<64xf32> to memref<64xf32, 3>
    memref.copy %a, %source : memref<64xf32, 3> to memref<64xf32>
  }
  return
}
