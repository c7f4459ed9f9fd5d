// wgmma ops that share a fence, a commit and a wait.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-async-wgmma))' \
// RUN:   --remarks-filter=smalti-async-wgmma 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!a = memref<64x64xf16, #gpu.address_space<workgroup>>
!sum = vector<64x64xf32>

// REMARK: Function=sums | Remark="2 synchronous mosaic_gpu.wgmma lowered to 1 group of asynchronous wgmma"
// CHECK-LABEL: func.func @sums
// CHECK:         nvvm.wgmma.fence.aligned
// CHECK-COUNT-2: mosaic_gpu.wgmma
// CHECK-NEXT:    nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:    nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NOT:     nvvm.wgmma
func.func @sums(%c: !sum, %a: !a, %b: !a) -> !sum {
  %r = mosaic_gpu.wgmma accumulator(%c : !sum) a(%a : !a) b(%b : !a)
      {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> !sum
  %s = mosaic_gpu.wgmma accumulator(%r : !sum) a(%b : !a) b(%a : !a)
      {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> !sum
  return %s : !sum
}

// The accumulator of the second wgmma is written after the first fence.
// REMARK: Function=computed_sum | Remark="2 synchronous mosaic_gpu.wgmma lowered to 2 groups of asynchronous wgmma"
// CHECK-LABEL: func.func @computed_sum
// CHECK:         nvvm.wgmma.fence.aligned
// CHECK-NEXT:    mosaic_gpu.wgmma
// CHECK-NEXT:    nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:    nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    nvvm.wgmma.fence.aligned
// CHECK-NEXT:    mosaic_gpu.wgmma
// CHECK-NEXT:    nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:    nvvm.wgmma.wait.group.sync.aligned 0
func.func @computed_sum(%c: !sum, %d: !sum, %a: !a, %b: !a) -> (!sum, !sum) {
  %r = mosaic_gpu.wgmma accumulator(%c : !sum) a(%a : !a) b(%b : !a)
      {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> !sum
  %e = arith.addf %c, %d {in_layouts = [#acc, #acc], out_layouts = [#acc]} : !sum
  %s = mosaic_gpu.wgmma accumulator(%e : !sum) a(%b : !a) b(%a : !a)
      {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> !sum
  return %r, %s : !sum, !sum
}

// The same for an operand in registers, unless it is available before the fence.
// REMARK: Function=operands | Remark="3 synchronous mosaic_gpu.wgmma lowered to 2 groups of asynchronous wgmma"
// CHECK-LABEL: func.func @operands
// CHECK:         nvvm.wgmma.fence.aligned
// CHECK-NEXT:    mosaic_gpu.wgmma
// CHECK-NEXT:    mosaic_gpu.wgmma
// CHECK:         nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT:    arith.negf
// CHECK-NEXT:    nvvm.wgmma.fence.aligned
// CHECK-NEXT:    mosaic_gpu.wgmma
func.func @operands(%c: !sum, %d: !sum, %e: !sum, %x: vector<64x64xf16>, %b: !a) -> (!sum, !sum, !sum) {
  %r = mosaic_gpu.wgmma accumulator(%c : !sum) a(%x : vector<64x64xf16>) b(%b : !a)
      {smalti.synchronous, in_layouts = [#acc, #acc], out_layouts = [#acc]} -> !sum
  %s = mosaic_gpu.wgmma accumulator(%d : !sum) a(%x : vector<64x64xf16>) b(%b : !a)
      {smalti.synchronous, in_layouts = [#acc, #acc], out_layouts = [#acc]} -> !sum
  %y = arith.negf %x {in_layouts = [#acc], out_layouts = [#acc]} : vector<64x64xf16>
  %t = mosaic_gpu.wgmma accumulator(%e : !sum) a(%y : vector<64x64xf16>) b(%b : !a)
      {smalti.synchronous, in_layouts = [#acc, #acc], out_layouts = [#acc]} -> !sum
  return %r, %s, %t : !sum, !sum, !sum
}
