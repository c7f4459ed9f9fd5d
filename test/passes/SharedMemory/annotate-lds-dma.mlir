// RUN: smalti-opt %s --split-input-file --pass-pipeline='builtin.module(llvm.func(smalti-annotate-lds-dma))' \
// RUN:     --remarks-filter=smalti-annotate-lds-dma 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// After an ordered fence, in the same block and in one whose predecessors all contain one. Not after another fence or
// barrier, or if one path to the block does not contain a fence.
// CHECK: #[[$DOMAIN:.*]] = #llvm.alias_scope_domain
// CHECK: #[[$SCOPE:.*]] = #llvm.alias_scope<{{.*}}domain = #[[$DOMAIN]]
// CHECK-LABEL: @ordered
// CHECK: llvm.load %arg1 : !llvm.ptr<3> -> f32
// CHECK: rocdl.load.to.lds %{{.*}}, %{{.*}}, 16, 0, 0 {alias_scopes = [#[[$SCOPE]]]}
// CHECK: smalti.lds_ordered
// CHECK: llvm.load %arg1 {noalias_scopes = [#[[$SCOPE]]]}
// CHECK: rocdl.raw.ptr.buffer.load.lds {{.*}}alias_scopes = [#[[$SCOPE]]]
// CHECK: llvm.store %{{.*}}, %arg1 {noalias_scopes = [#[[$SCOPE]]]}
// CHECK: llvm.load %arg0 : !llvm.ptr<1> -> f32
// CHECK: ^bb1
// CHECK: llvm.load %arg1 {noalias_scopes = [#[[$SCOPE]]]}
// CHECK: rocdl.s.barrier
// CHECK-NEXT: llvm.load %arg1 : !llvm.ptr<3> -> f32
// CHECK: ^bb2
// CHECK: llvm.load %arg1 : !llvm.ptr<3> -> f32
// REMARK: Function=ordered | Remark="3 of 6 LDS accesses no longer wait for the 2 LDS DMA loads; the kernel's own waits and barriers order them"
llvm.func @ordered(%global: !llvm.ptr<1>, %lds: !llvm.ptr<3>, %buffer: !llvm.ptr<8>, %c: i1, %offset: i32) {
  %size = llvm.mlir.constant(4 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %before = llvm.load %lds : !llvm.ptr<3> -> f32
  rocdl.load.to.lds %global, %lds, 16, 0, 0 : !llvm.ptr<1>
  llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
  %a = llvm.load %lds : !llvm.ptr<3> -> f32
  rocdl.raw.ptr.buffer.load.lds %buffer, %lds, %size, %offset, %zero, %zero, %zero
  llvm.store %a, %lds : f32, !llvm.ptr<3>
  %other = llvm.load %global : !llvm.ptr<1> -> f32
  llvm.cond_br %c, ^bb1, ^bb2
^bb1:
  %b = llvm.load %lds : !llvm.ptr<3> -> f32
  rocdl.s.barrier
  %d = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.br ^bb2
^bb2:
  %e = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// A loop whose body ends ordered, but is entered unordered.
// CHECK-LABEL: @loop
// CHECK: ^bb1
// CHECK: llvm.load %arg1 : !llvm.ptr<3> -> f32
// CHECK: llvm.load %arg1 {noalias_scopes
// REMARK: Function=loop | Remark="1 of 2 LDS accesses no longer wait for the 1 LDS DMA loads; the kernel's own waits and barriers order them"
llvm.func @loop(%global: !llvm.ptr<1>, %lds: !llvm.ptr<3>, %c: i1) {
  llvm.br ^bb1
^bb1:
  %a = llvm.load %lds : !llvm.ptr<3> -> f32
  rocdl.load.to.lds %global, %lds, 4, 0, 0 : !llvm.ptr<1>
  llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
  %b = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.cond_br %c, ^bb1, ^bb2
^bb2:
  llvm.return
}

// -----

// No access is ordered: nothing is annotated.
// CHECK-LABEL: @unordered
// CHECK-NOT: alias_scopes
// CHECK: llvm.return
// REMARK: Function=unordered | Remark="LDS accesses not annotated: no wait and barrier order any of the LDS accesses (1) after the LDS DMA loads, so LLVM makes each access wait for all loads (1); place a wait for the loads and a barrier before the accesses"
llvm.func @unordered(%global: !llvm.ptr<1>, %lds: !llvm.ptr<3>) {
  rocdl.load.to.lds %global, %lds, 4, 0, 0 : !llvm.ptr<1>
  rocdl.s.barrier
  %a = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// A fence whose attribute is false does not order anything.
// CHECK-LABEL: @false
// CHECK-NOT: alias_scopes
// CHECK: llvm.return
// REMARK: Function=false | Remark="LDS accesses not annotated: no wait and barrier order any of the LDS accesses (1) after the LDS DMA loads
llvm.func @false(%global: !llvm.ptr<1>, %lds: !llvm.ptr<3>) {
  rocdl.load.to.lds %global, %lds, 4, 0, 0 : !llvm.ptr<1>
  llvm.inline_asm has_side_effects {smalti.lds_ordered = false} "", "~{memory}" : () -> ()
  %a = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// CHECK-LABEL: @no_copies
// CHECK-NOT: alias_scopes
llvm.func @no_copies(%lds: !llvm.ptr<3>) {
  llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()
  %a = llvm.load %lds : !llvm.ptr<3> -> f32
  llvm.return
}
// REMARK-NOT: Remark
