// RUN: smalti-opt %s -smalti-finalize-kernels=target=sm_90a | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: smalti-opt %s -smalti-finalize-kernels=target=gfx942 | FileCheck %s --check-prefixes=CHECK,AMD

// CHECK-LABEL: gpu.module @names
gpu.module @names {
  // Dynamic shared memory, as upstream's conversion declares it, and an array of fixed size.
  // NVIDIA: llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // AMD:    llvm.mlir.global internal @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.mlir.global internal @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  // CHECK:  llvm.mlir.global internal @fixed() {addr_space = 3 : i32} : !llvm.array<4 x i8>
  llvm.mlir.global internal @fixed() {addr_space = 3 : i32} : !llvm.array<4 x i8>

  // Upstream drops an address space that is not an integer.
  // CHECK:  llvm.mlir.global internal @no_space() : !llvm.array<0 x i8>
  llvm.mlir.global internal @no_space() {addr_space = unit} : !llvm.array<0 x i8>

  // A valid name is kept. The alignment of the shared memory is the one that the kernel requires.
  // NVIDIA: llvm.func @valid() attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32, smalti.shared_memory_alignment = 1024 : i64} {
  // AMD:    llvm.func @valid() attributes {gpu.kernel, nvvm.kernel, smalti.shared_memory_alignment = 1024 : i64} {
  llvm.func @valid() attributes {gpu.kernel, nvvm.kernel, smalti.shared_memory_alignment = 1024 : i64} {
    llvm.return
  }
  // A number of resident blocks is kept.
  // CHECK: llvm.func @two_blocks() attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 2 : i32} {
  llvm.func @two_blocks() attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 2 : i32} {
    llvm.return
  }
  // The new name of the second function differs from that of the first.
  // CHECK: llvm.func @a_b()
  llvm.func @a_b() {
    llvm.return
  }
  // CHECK: llvm.func @a_b_() attributes {{{.*}}smalti.source_name = "a.b"
  llvm.func @a.b() {
    // CHECK-NEXT: llvm.call @kernel_1() : () -> ()
    llvm.call @"1"() : () -> ()
    llvm.return
  }
  // CHECK: llvm.func @kernel_1() attributes {{{.*}}smalti.source_name = "1"
  llvm.func @"1"() {
    llvm.return
  }
}

// RUN: smalti-opt %s -smalti-finalize-kernels=target=gfx942 -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOC
// Upstream's pass for debug information crashes at a call site outside of a function.
// LOC-LABEL: gpu.module @locations
// LOC:       llvm.mlir.global {{.*}}@text("text") {{.*}} loc({{.*}}"k.py":1:2{{.*}})
// LOC:       llvm.return loc(callsite("f"("k.py":1:2) at "k"("k.py":3:4)))
gpu.module @locations {
  llvm.mlir.global internal constant @text("text") {addr_space = 0 : i32} loc(callsite("f"("k.py":1:2) at "k"("k.py":3:4)))
  llvm.func @located() {
    llvm.return loc(callsite("f"("k.py":1:2) at "k"("k.py":3:4)))
  }
}

// CHECK-LABEL: gpu.module @frozen
gpu.module @frozen {
  // LLVM would move a masked load to a select with the same mask, past the store.
  // CHECK: llvm.func @select(
  llvm.func @select(%p: !llvm.ptr, %m: vector<4xi1>, %x: vector<4xf32>) -> vector<4xf32> {
    // CHECK:      %[[LOAD:.*]] = llvm.intr.masked.load
    // CHECK-NEXT: %[[FROZEN:.*]] = llvm.freeze %[[LOAD]] : vector<4xf32>
    // CHECK-NEXT: llvm.store
    // CHECK-NEXT: llvm.select %{{.*}}, %[[FROZEN]], %
    %v = llvm.intr.masked.load %p, %m, %x {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.store %x, %p : vector<4xf32>, !llvm.ptr
    %r = llvm.select %m, %v, %x : vector<4xi1>, vector<4xf32>
    llvm.return %r : vector<4xf32>
  }
  // Results that are poison for some operands.
  // CHECK: llvm.func @shift(
  llvm.func @shift(%x: i32, %n: i32) -> i32 {
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    // CHECK:      %[[A:.*]] = llvm.shl %{{.*}}, %
    // CHECK-NEXT: %[[B:.*]] = llvm.ashr %[[A]]
    // CHECK-NEXT: %[[C:.*]] = llvm.freeze %[[B]] : i32
    // CHECK-NEXT: %[[D:.*]] = llvm.lshr %[[C]]
    // CHECK-NEXT: %[[E:.*]] = llvm.freeze %[[D]] : i32
    // CHECK-NEXT: llvm.return %[[E]]
    %a = llvm.shl %x, %c31 : i32
    %b = llvm.ashr %a, %c32 : i32
    %c = llvm.lshr %b, %n : i32
    llvm.return %c : i32
  }
  // CHECK: llvm.func @shifts(
  llvm.func @shifts(%x: vector<2xi32>) -> vector<2xi32> {
    %inside = llvm.mlir.constant(dense<[0, 31]> : vector<2xi32>) : vector<2xi32>
    %outside = llvm.mlir.constant(dense<[0, 32]> : vector<2xi32>) : vector<2xi32>
    // CHECK:      %[[A:.*]] = llvm.shl %
    // CHECK-NEXT: %[[B:.*]] = llvm.shl %[[A]]
    // CHECK-NEXT: %[[C:.*]] = llvm.freeze %[[B]] : vector<2xi32>
    // CHECK-NEXT: llvm.return %[[C]]
    %a = llvm.shl %x, %inside : vector<2xi32>
    %b = llvm.shl %a, %outside : vector<2xi32>
    llvm.return %b : vector<2xi32>
  }
  // CHECK: llvm.func @cast(
  llvm.func @cast(%x: f32, %y: vector<2xf16>) -> vector<2xi8> {
    // CHECK:      %[[A:.*]] = llvm.fptosi
    // CHECK-NEXT: %[[B:.*]] = llvm.freeze %[[A]] : i8
    // CHECK-NEXT: %[[C:.*]] = llvm.fptoui
    // CHECK-NEXT: %[[D:.*]] = llvm.freeze %[[C]] : vector<2xi8>
    // CHECK:      llvm.insertelement %[[B]], %[[D]]
    %a = llvm.fptosi %x : f32 to i8
    %b = llvm.fptoui %y : vector<2xf16> to vector<2xi8>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %c = llvm.insertelement %a, %b[%zero : i32] : vector<2xi8>
    llvm.return %c : vector<2xi8>
  }
}
