// Reasons for a lowering without TMA; the transfers are lowered as without tensor maps.
//
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(any(smalti-lower-pad{target=sm_90a tensor-maps=true})))' \
// RUN:   --remarks-filter=smalti-lower-pad -o %t.with 2>%t
// RUN: FileCheck %s < %t
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(any(smalti-lower-pad{target=sm_90a})))' \
// RUN:   -o %t.without
// RUN: diff %t.without %t.with
// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(any(smalti-lower-pad{target=sm_80 tensor-maps=true})))' \
// RUN:   --remarks-filter=smalti-lower-pad -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMPERE
// AMPERE: Function=thread | Remark="padded read and its write to shared memory lowered to 1 cp.async copy of 16 B with zero fill; TMA not used: the chip does not have TMA"

#smem = #gpu.address_space<workgroup>
!source = memref<100x80xf16>
!shared = memref<64x64xf16, #smem>
!half = vector<64x64xf16>

gpu.module @kernels {
  // Each thread copies its own row.
  // CHECK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=thread | Remark="padded read and its write to shared memory lowered to 1 cp.async copy of 16 B with zero fill; TMA not used: the indices in global memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  gpu.func @thread(%source: !source) workgroup(%b: memref<64x8xf16, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %x = gpu.thread_id x
    %r = vector.transfer_read %source[%x, %c0], %zero {in_bounds = [false, true]} : !source, vector<1x8xf16>
    vector.transfer_write %r, %b[%x, %c0] {in_bounds = [true, true]} : vector<1x8xf16>, memref<64x8xf16, #smem>
    gpu.return
  }

  // CHECK: Function=offsets | Remark="{{.*}}; TMA not used: the indices in shared memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  // CHECK: Function=offsets | Remark="{{.*}}; TMA not used: the indices in shared memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  // CHECK: Function=offsets | Remark="{{.*}}; TMA not used: the indices in global memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  gpu.func @offsets(%source: !source, %table: memref<4xindex>)
      workgroup(%b: memref<256x64xf16, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %x = gpu.thread_id x
    %w = arith.muli %x, %c64 : index
    %r0 = vector.transfer_read %source[%c64, %c64], %zero : !source, vector<64x64xf16>
    vector.transfer_write %r0, %b[%w, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<256x64xf16, #smem>
    %view = memref.subview %b[%w, 0] [64, 64] [1, 1] : memref<256x64xf16, #smem> to memref<64x64xf16, strided<[64, 1], offset: ?>, #smem>
    %r1 = vector.transfer_read %source[%c64, %c64], %zero : !source, vector<64x64xf16>
    vector.transfer_write %r1, %view[%c0, %c0] {in_bounds = [true, true]}
      : vector<64x64xf16>, memref<64x64xf16, strided<[64, 1], offset: ?>, #smem>
    // Another op may write the source in between.
    %i = memref.load %table[%c0] : memref<4xindex>
    %r2 = vector.transfer_read %source[%i, %c64], %zero : !source, vector<64x64xf16>
    vector.transfer_write %r2, %b[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<256x64xf16, #smem>
    gpu.return
  }

  // Divergent control flow, or an unknown number of executions.
  // CHECK: Function=control | Remark="{{.*}}; TMA not used: the condition of the enclosing scf.if may differ between threads; use a condition that is proven to be equal for all threads of the block"
  // CHECK: Function=control | Remark="{{.*}}; TMA not used: the bounds of the enclosing scf.for may differ between threads; use bounds that are proven to be equal for all threads of the block"
  // CHECK: Function=control | Remark="{{.*}}; TMA not used: the copy is nested in 'scf.while'; TMA copies may be nested only in scf.for and scf.if"
  gpu.func @control(%source: !source, %flag: i1) workgroup(%b: !shared {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %x = gpu.thread_id x
    %own = arith.cmpi ult, %x, %c64 : index
    scf.if %own {
      %r0 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
      vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    }
    scf.for %i = %c0 to %x step %c1 {
      %r1 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
      vector.transfer_write %r1, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    }
    scf.while : () -> () {
      scf.condition(%flag)
    } do {
      %r2 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
      vector.transfer_write %r2, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
      scf.yield
    }
    gpu.return
  }

  // CHECK: Function=branch | Remark="{{.*}}; TMA not used: the copy is after a branch between MLIR blocks; use scf.for and scf.if"
  gpu.func @branch(%source: !source) workgroup(%b: !shared {llvm.align = 128 : i64}) kernel {
    cf.br ^next
  ^next:
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %r0 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
    vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    gpu.return
  }

  // Limits of tensor maps.
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the sizes of the global memref are dynamic; static sizes are required"
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the tensor map of the global memref has a stride of 26 bytes; it must be a multiple of 16 bytes below 2^40"
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the rows of the slice in shared memory have 24 bytes; a multiple of 16 bytes is required"
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the offset of the global memref in the kernel argument is dynamic; a static offset is required"
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the global memref begins at element 4 of the kernel argument, whose elements have 16 bits; the offset must be a multiple of 16 bytes"
  // CHECK: Function=maps | Remark="{{.*}}; TMA not used: the attribute llvm.align of the kernel argument states 8 B; TMA requires 16 B, so raise the attribute if the argument is aligned"
  // CHECK: Function=maps | Remark="padded read lowered to a masked read; cp.async not used: the global memref is in memory space #gpu.address_space<global>; only the default memory space is supported"
  gpu.func @maps(%dynamic: memref<?x80xf16>, %odd: memref<100x13xf16>, %source: !source,
                 %behind: memref<100x80xf16, strided<[80, 1], offset: 4>>, %low: !source {llvm.align = 8 : i64}, %i: index,
                 %space: memref<100x80xf16, #gpu.address_space<global>>)
      workgroup(%b: !shared {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %r0 = vector.transfer_read %dynamic[%c64, %c64], %zero : memref<?x80xf16>, !half
    vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r1 = vector.transfer_read %odd[%c64, %c64], %zero : memref<100x13xf16>, !half
    vector.transfer_write %r1, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r2 = vector.transfer_read %source[%c64, %c64], %zero : !source, vector<64x12xf16>
    vector.transfer_write %r2, %b[%c0, %c0] {in_bounds = [true, true]} : vector<64x12xf16>, !shared
    %view = memref.subview %source[%i, 0] [64, 70] [1, 1] : !source to memref<64x70xf16, strided<[80, 1], offset: ?>>
    %r3 = vector.transfer_read %view[%c0, %c64], %zero : memref<64x70xf16, strided<[80, 1], offset: ?>>, !half
    vector.transfer_write %r3, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r4 = vector.transfer_read %behind[%c0, %c64], %zero : memref<100x80xf16, strided<[80, 1], offset: 4>>, !half
    vector.transfer_write %r4, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r5 = vector.transfer_read %low[%c0, %c64], %zero : !source, !half
    vector.transfer_write %r5, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r6 = vector.transfer_read %space[%c64, %c64], %zero : memref<100x80xf16, #gpu.address_space<global>>, !half
    vector.transfer_write %r6, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    gpu.return
  }

  // CHECK: Function=large | Remark="{{.*}}; TMA not used: a dimension of the global memref has 1073741825 elements; at most 2^30 are supported"
  // CHECK: Function=large | Remark="{{.*}}; TMA not used: the copy needs 262144 B of shared memory; a block has at most 232448 B"
  // CHECK: Function=large | Remark="{{.*}}; TMA not used: the slice needs a tensor map of 6 dimensions; TMA supports at most 5, so copy a slice with fewer dimensions, or tile fewer dimensions of it"
  gpu.func @large(%long: memref<1073741825xi8>, %wide: memref<300x300xf32>, %deep: memref<3x3x3x3x3x24xf16>)
      workgroup(%a: memref<64xi8, #smem> {llvm.align = 128 : i64}, %b: memref<256x256xf32, #smem> {llvm.align = 128 : i64},
                %c: memref<2x2x2x2x2x16xf16, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant 0 : i8
    %single = arith.constant 0.0 : f32
    %zero = arith.constant 0.0 : f16
    %at = arith.constant 1073741800 : index
    %r0 = vector.transfer_read %long[%at], %none : memref<1073741825xi8>, vector<64xi8>
    vector.transfer_write %r0, %a[%c0] {in_bounds = [true]} : vector<64xi8>, memref<64xi8, #smem>
    %r1 = vector.transfer_read %wide[%c64, %c64], %single : memref<300x300xf32>, vector<256x256xf32>
    vector.transfer_write %r1, %b[%c0, %c0] {in_bounds = [true, true]} : vector<256x256xf32>, memref<256x256xf32, #smem>
    %r2 = vector.transfer_read %deep[%c2, %c2, %c2, %c2, %c2, %c0], %zero : memref<3x3x3x3x3x24xf16>, vector<2x2x2x2x2x16xf16>
    vector.transfer_write %r2, %c[%c0, %c0, %c0, %c0, %c0, %c0] {in_bounds = [true, true, true, true, true, true]}
      : vector<2x2x2x2x2x16xf16>, memref<2x2x2x2x2x16xf16, #smem>
    gpu.return
  }

  // Alignment of shared memory, and ops between the read and the write. TMA does not fill with a usable NaN.
  // CHECK: Function=memory | Remark="{{.*}}; TMA not used: the window in shared memory is only proven to be aligned to 16 B; TMA requires 128 B, so align the buffer and use constant indices"
  // CHECK: Function=memory | Remark="{{.*}}; TMA not used: the window in shared memory is only proven to be aligned to 64 B; TMA requires 128 B, so align the buffer and use constant indices"
  // CHECK: Function=memory | Remark="padded read lowered to a masked read; cp.async not used: the padding value is not proven to be all zero bits; use the constant 0"
  // CHECK: Function=memory | Remark="padded read lowered to a masked read; cp.async not used: the vector needs 512 copies of 16 B per thread; at most 32 are supported, so use a smaller vector; TMA not used: 'gpu.barrier' is between the read and the write to shared memory, and the read cannot be moved after the op; move the op before the read or after the write"
  gpu.func @memory(%source: !source) workgroup(%a: !shared {llvm.align = 16 : i64}, %b: !shared {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %nan = arith.constant 0x7E00 : f16
    %r0 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
    vector.transfer_write %r0, %a[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r1 = vector.transfer_read %source[%c64, %c64], %zero : !source, vector<64x32xf16>
    vector.transfer_write %r1, %b[%c0, %c32] {in_bounds = [true, true]} : vector<64x32xf16>, !shared
    %r2 = vector.transfer_read %source[%c64, %c64], %nan : !source, !half
    vector.transfer_write %r2, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    %r3 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
    gpu.barrier
    vector.transfer_write %r3, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    gpu.return
  }

  // The same for stores.
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: the indices in global memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: the indices in shared memory are not proven to be block-uniform; use indices that are equal for all threads of the block"
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: 'memref.store' is between the read and the write to shared memory, and the read cannot be moved after the op; move the op before the read or after the write"
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: the vector.transfer_read of shared memory may be out of bounds; if it is not, mark that op as in_bounds"
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: the read or the write has a mask; only transfers without a mask are supported"
  // CHECK: Function=stores | Remark="padded write lowered to a masked write; TMA not used: the read and the write are in different MLIR blocks; move them to one block"
  gpu.func @stores(%dest: !source, %m: vector<64x64xi1>) workgroup(%b: memref<128x64xf16, #smem> {llvm.align = 128 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c100 = arith.constant 100 : index
    %zero = arith.constant 0.0 : f16
    %x = gpu.thread_id x
    %w = arith.muli %x, %c64 : index
    %v0 = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<128x64xf16, #smem>, !half
    vector.transfer_write %v0, %dest[%x, %c64] : !half, !source
    %v1 = vector.transfer_read %b[%w, %c0], %zero {in_bounds = [true, true]} : memref<128x64xf16, #smem>, !half
    vector.transfer_write %v1, %dest[%c64, %c64] : !half, !source
    %v2 = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<128x64xf16, #smem>, !half
    memref.store %zero, %b[%x, %c0] : memref<128x64xf16, #smem>
    vector.transfer_write %v2, %dest[%c64, %c64] : !half, !source
    %v3 = vector.transfer_read %b[%c100, %c0], %zero {in_bounds = [false, true]} : memref<128x64xf16, #smem>, !half
    vector.transfer_write %v3, %dest[%c64, %c64] : !half, !source
    %v4 = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<128x64xf16, #smem>, !half
    vector.transfer_write %v4, %dest[%c64, %c64], %m : !half, !source
    %v5 = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<128x64xf16, #smem>, !half
    scf.for %i = %c0 to %c64 step %c1 {
      vector.transfer_write %v5, %dest[%i, %c64] : !half, !source
    }
    gpu.return
  }

  // CHECK: Function=no_kernel | Remark="{{.*}}; TMA not used: the function is not a gpu.func kernel; TMA requires tensor maps, which the launch of a kernel creates"
  gpu.func @no_kernel(%source: !source) workgroup(%b: !shared {llvm.align = 128 : i64}) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %r0 = vector.transfer_read %source[%c64, %c64], %zero : !source, !half
    vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true, true]} : !half, !shared
    gpu.return
  }
}

// -----

// A launch in the IR does not pass tensor maps.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK: Function=launched | Remark="{{.*}}; TMA not used: the module (gpu.container_module) contains launches, which do not pass tensor maps; compile the kernel in a module without launches"
    gpu.func @launched(%source: memref<100x80xf16>) workgroup(%b: memref<64x64xf16, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f16
      %r0 = vector.transfer_read %source[%c64, %c64], %zero : memref<100x80xf16>, vector<64x64xf16>
      vector.transfer_write %r0, %b[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}
