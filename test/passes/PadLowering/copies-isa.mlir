// A padded copy to shared memory in PTX: cp.async with a source size and without a load.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{strict=true}),canonicalize,convert-nvgpu-to-nvvm,convert-gpu-to-nvvm,convert-arith-to-llvm,reconcile-unrealized-casts))' \
// RUN:   > %t.mlir
// RUN: sed -e 's/gpu.module @kernels.*{$/module {/' -e '1d' -e '/^}$/d' %t.mlir > %t.llvm.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 -mattr=+ptx71 | FileCheck %s
//
// CHECK-LABEL: .entry rows(
// CHECK-NOT:   ld.global
// CHECK:       cp.async.cg.shared.global [%{{[^,]*}}], [%{{[^,]*}}], 16, %r{{[0-9]+}};
// CHECK:       cp.async.cg.shared.global [%{{[^,]*}}], [%{{[^,]*}}], 16, %r{{[0-9]+}};
// CHECK-NEXT:  cp.async.commit_group;
// CHECK-NEXT:  cp.async.wait_group 0;
// CHECK:       bar.sync

module attributes {smalti.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @rows(%source: memref<?x24xf16>, %out: memref<64x16xf16>)
        workgroup(%buffer: memref<64x16xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f16
      %row = gpu.thread_id x
      %read = vector.transfer_read %source[%row, %c8], %zero : memref<?x24xf16>, vector<1x16xf16>
      vector.transfer_write %read, %buffer[%row, %c0] {in_bounds = [true, true]}
        : vector<1x16xf16>, memref<64x16xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %back = vector.load %buffer[%c0, %c0] : memref<64x16xf16, #gpu.address_space<workgroup>>, vector<16xf16>
      vector.store %back, %out[%row, %c0] : memref<64x16xf16>, vector<16xf16>
      gpu.return
    }
  }
}
