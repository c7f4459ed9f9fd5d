// Out-of-bounds transfers in AMD assembly: one bounds-checked load with selects that mask the elements of the next row, and
// one bounds-checked store.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(smalti-lower-pad{strict=true assume-small=true})),transform-interpreter,gpu.module(canonicalize,convert-vector-to-scf,convert-scf-to-cf,convert-amdgpu-to-rocdl{chipset=gfx942},convert-gpu-to-rocdl{chipset=gfx942},convert-vector-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts))' \
// RUN:   > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: sed -e '/transform.named_sequence/,$d' -e 's/gpu.module @kernels.*{$/module {/' -e '1d' %t.mlir > %t.llvm.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir | llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 | FileCheck %s --check-prefix=ISA
//
// The source has 10 rows of 6 elements: the buffer has 240 bytes.
// CHECK:      llvm.mlir.constant(240 : i64)
// CHECK:      rocdl.make.buffer.rsrc
//
// ISA-LABEL:  {{^}}rows:
// ISA-NOT:    {{flat|global}}_load
// ISA:        buffer_load_dwordx4
// ISA-NOT:    {{flat|global}}_load
// ISA-COUNT-4: v_cndmask_b32
// ISA:        s_endpgm
//
// ISA-LABEL:  {{^}}write:
// ISA-NOT:    {{flat|global}}_store
// ISA-NOT:    saveexec
// ISA:        buffer_store_dwordx4
// ISA-NOT:    store
// ISA:        s_endpgm

module attributes {smalti.target = "gfx942", transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @rows(%source: memref<10x6xf32>, %out: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %value = arith.constant 7.0 : f32
      %row = gpu.thread_id x
      %column = gpu.thread_id y
      %rest = arith.remui %column, %c6 : index
      %read = vector.transfer_read %source[%row, %rest], %value : memref<10x6xf32>, vector<4xf32>
      vector.store %read, %out[%c0] : memref<4xf32>, vector<4xf32>
      gpu.return
    }
    gpu.func @write(%values: memref<4xf32>, %dest: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %x = gpu.thread_id x
      %i = arith.muli %x, %c4 : index
      %value = vector.load %values[%c0] : memref<4xf32>, vector<4xf32>
      vector.transfer_write %value, %dest[%i] : vector<4xf32>, memref<?xf32>
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["gpu.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    } : !transform.any_op
    transform.yield
  }
}
