// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=4}))' \
// RUN:   --remarks-filter=smalti-multi-buffer -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=65}))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DEPTH
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{target=sm_1}))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=4 target=sm_90a}))' \
// RUN:   | FileCheck %s --check-prefix=FITS

// All slots of all buffers count, and no buffer is changed if they exceed the capacity.
// CHECK-COUNT-2: Remark="buffer not multi-buffered: 4 slots per buffer need 131072 B of shared memory; gfx942 has 65536 B per block, so use fewer slots or smaller buffers"
// DEPTH: error: smalti-multi-buffer: 'depth' must be 'auto' or between 1 and 64, but is 65
// TARGET: error: unknown target 'sm_1'
// FITS: memref.alloc() : memref<4x8192xf16, #gpu.address_space<workgroup>>
// FITS: memref.alloc() : memref<4x8192xf16, #gpu.address_space<workgroup>>
#shared = #gpu.address_space<workgroup>
module attributes {smalti.target = "gfx942"} {
  func.func @two_buffers(%source: memref<8192xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %a = memref.alloc() : memref<8192xf16, #shared>
    %b = memref.alloc() : memref<8192xf16, #shared>
    scf.for %i = %c0 to %c64 step %c1 {
      memref.copy %source, %a : memref<8192xf16> to memref<8192xf16, #shared>
      memref.copy %source, %b : memref<8192xf16> to memref<8192xf16, #shared>
      memref.copy %a, %source : memref<8192xf16, #shared> to memref<8192xf16>
      memref.copy %b, %source : memref<8192xf16, #shared> to memref<8192xf16>
    }
    return
  }
}
