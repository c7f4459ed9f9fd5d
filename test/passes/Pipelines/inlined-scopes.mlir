// RUN: smalti-opt %s -pass-pipeline='builtin.module(ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly},smalti-inlined-scopes)' -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: smalti-opt %s -smalti-inlined-scopes -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=NONE

// Both inlined functions have their own scopes, with the file of the kernel's debug information. The kernel is the outermost caller.
// CHECK-LABEL: llvm.func @kernel()
// CHECK:       llvm.mlir.constant(0 : i32) : i32 loc(callsite(fused<#llvm.di_subprogram<id = distinct[[[INNER:[0-9]+]]]<>, compileUnit = <{{.*}}>, scope = #llvm.di_file<"h.py" in "/d">, name = "inner",
// CHECK-SAME:    subprogramFlags = "Definition|Optimized"
// CHECK-SAME:    ["/d/h.py":1:2] at callsite(fused<#llvm.di_subprogram<id = distinct[[[OUTER:[0-9]+]]]<>, {{.*}} name = "outer",
// CHECK-SAME:    ["/d/h.py":3:4] at "kernel"("/d/k.py":5:6))))
// The scope of a function is the same at each call.
// CHECK:       llvm.mlir.constant(1 : i32) : i32 loc(callsite(fused<#llvm.di_subprogram<id = distinct[[[OUTER]]]<>
// Call sites without names keep the scopes of upstream.
// CHECK:       llvm.mlir.constant(2 : i32) : i32 loc(callsite(fused<#llvm.di_lexical_block_file<
// CHECK:       llvm.mlir.constant(3 : i32) : i32 loc("/d/k.py":7:8)

// Without debug information, nothing changes.
// NONE: llvm.mlir.constant(0 : i32) : i32 loc(callsite("inner"("/d/h.py":1:2) at callsite("outer"("/d/h.py":3:4) at "kernel"("/d/k.py":5:6))))
llvm.func @kernel() {
  %0 = llvm.mlir.constant(0 : i32) : i32 loc(callsite("inner"("/d/h.py":1:2) at callsite("outer"("/d/h.py":3:4) at "kernel"("/d/k.py":5:6))))
  %1 = llvm.mlir.constant(1 : i32) : i32 loc(callsite("outer"("/d/h.py":3:4) at "kernel"("/d/k.py":6:6)))
  %2 = llvm.mlir.constant(2 : i32) : i32 loc(callsite("/d/h.py":3:4 at "/d/k.py":6:6))
  %3 = llvm.mlir.constant(3 : i32) : i32 loc("/d/k.py":7:8)
  llvm.return loc("/d/k.py":9:1)
} loc("/d/k.py":4:1)
