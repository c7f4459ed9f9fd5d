// Asynchronous copies, run on the CPU by one thread after the passes. Once
// copies complete when they start: a slot that is filled too early gives wrong
// numbers. Once copies complete when a wait demands it: a wait that leaves too
// many groups in flight gives wrong numbers. The runtime below replaces the
// hardware.
//
// DEFINE: %{late} = sed -e '/gpu.barrier/d' \
// DEFINE:   -e 's/= nvgpu.device_async_copy %[^[]*\[\(%[^,]*\), %[^]]*\], \(%[^[]*\)\[.*\], 4 : .* to \(memref.*\)$/= func.call @start(\1, \2) : (index, \3) -> index/' \
// DEFINE:   -e 's/= nvgpu.device_async_create_group .*/= func.call @commit() : () -> index/' \
// DEFINE:   -e 's/nvgpu.device_async_wait .*numGroups = \([0-9]*\) .*/func.call @wait\1() : () -> ()/' \
// DEFINE:   -e 's/!nvgpu.device.async.token/index/g'
// DEFINE: %{eager} = sed 's/@eager : memref<1xindex> = dense<0>/@eager : memref<1xindex> = dense<1>/'
// DEFINE: %{lower} = mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2},smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t | %{late} > %t.two
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: %{lower} < %t.two | %{run} | FileCheck %s
// RUN: %{eager} < %t.two | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3},smalti-pipeline-loops{stages=3}))' \
// RUN:   | %{late} > %t.three
// RUN: %{lower} < %t.three | %{run} | FileCheck %s
// RUN: %{eager} < %t.three | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=5},smalti-pipeline-loops{stages=4}))' \
// RUN:   | %{late} > %t.four
// RUN: %{lower} < %t.four | %{run} | FileCheck %s
// RUN: %{eager} < %t.four | %{lower} | %{run} | FileCheck %s
//
// A wait that left one group more would be seen.
// RUN: sed 's/call @wait0()/call @wait1()/' %t.two | %{lower} | %{run} | not FileCheck %s

// REMARK: Function=kernel | Remark="loop pipelined: 2 stages, async mode, 1 copy prefetched
func.func @kernel(%a: memref<?x4xi32>, %lower: index, %upper: index, %step: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %factor = arith.constant 31 : i64
  %one = arith.constant 1 : i64
  %shared = memref.alloc() : memref<4xi32, 3>
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %one) -> i64 {
    %copy = nvgpu.device_async_copy %a[%i, %c0], %shared[%c0], 4 : memref<?x4xi32> to memref<4xi32, 3>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    %back = memref.load %shared[%c2] : memref<4xi32, 3>
    %wide = arith.extsi %back : i32 to i64
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %wide : i64
    gpu.barrier
    scf.yield %next : i64
  }
  return %sum : i64
}

// Row r of the source is 10 r, 10 r + 1, ...: a copy is its row and where to.
memref.global "private" @eager : memref<1xindex> = dense<0>
memref.global "private" @rows : memref<64xindex> = uninitialized
memref.global "private" @indices : memref<64xindex> = uninitialized
memref.global "private" @ends : memref<64xindex> = uninitialized
// Copies started, groups made, groups complete.
memref.global "private" @counts : memref<3xindex> = dense<0>

func.func private @perform(%row: index, %place: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %tens = arith.muli %row, %c10 : index
    %sum = arith.addi %tens, %j : index
    %value = arith.index_cast %sum : index to i32
    %bytes = arith.muli %j, %c4 : index
    %address = arith.addi %place, %bytes : index
    %integer = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %integer : i64 to !llvm.ptr
    llvm.store %value, %pointer : i32, !llvm.ptr
  } {smalti.stages = 1 : i64}
  return
}

func.func private @start(%row: index, %to: memref<4xi32, strided<[1], offset: ?>, 3>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %base, %offset, %size, %stride = memref.extract_strided_metadata %to
    : memref<4xi32, strided<[1], offset: ?>, 3> -> memref<i32, 3>, index, index, index
  %begin = memref.extract_aligned_pointer_as_index %to : memref<4xi32, strided<[1], offset: ?>, 3> -> index
  %bytes = arith.muli %offset, %c4 : index
  %place = arith.addi %begin, %bytes : index
  %counts = memref.get_global @counts : memref<3xindex>
  %rows = memref.get_global @rows : memref<64xindex>
  %places = memref.get_global @indices : memref<64xindex>
  %n = memref.load %counts[%c0] : memref<3xindex>
  memref.store %row, %rows[%n] : memref<64xindex>
  memref.store %place, %places[%n] : memref<64xindex>
  %next = arith.addi %n, %c1 : index
  memref.store %next, %counts[%c0] : memref<3xindex>
  %eager = memref.get_global @eager : memref<1xindex>
  %flag = memref.load %eager[%c0] : memref<1xindex>
  %is_eager = arith.cmpi eq, %flag, %c1 : index
  scf.if %is_eager {
    func.call @perform(%row, %place) : (index, index) -> ()
  }
  return %n : index
}

func.func private @commit() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %counts = memref.get_global @counts : memref<3xindex>
  %ends = memref.get_global @ends : memref<64xindex>
  %copies = memref.load %counts[%c0] : memref<3xindex>
  %group = memref.load %counts[%c1] : memref<3xindex>
  memref.store %copies, %ends[%group] : memref<64xindex>
  %next = arith.addi %group, %c1 : index
  memref.store %next, %counts[%c1] : memref<3xindex>
  return %group : index
}

func.func private @wait(%pending: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %counts = memref.get_global @counts : memref<3xindex>
  %ends = memref.get_global @ends : memref<64xindex>
  %rows = memref.get_global @rows : memref<64xindex>
  %places = memref.get_global @indices : memref<64xindex>
  %eager = memref.get_global @eager : memref<1xindex>
  %flag = memref.load %eager[%c0] : memref<1xindex>
  %is_late = arith.cmpi eq, %flag, %c0 : index
  %groups = memref.load %counts[%c1] : memref<3xindex>
  %complete = memref.load %counts[%c2] : memref<3xindex>
  %wanted = arith.subi %groups, %pending : index
  %target = arith.maxsi %wanted, %complete : index
  scf.for %group = %complete to %target step %c1 {
    %is_first = arith.cmpi eq, %group, %c0 : index
    %begin = scf.if %is_first -> index {
      scf.yield %c0 : index
    } else {
      %before = arith.subi %group, %c1 : index
      %end = memref.load %ends[%before] : memref<64xindex>
      scf.yield %end : index
    }
    %end = memref.load %ends[%group] : memref<64xindex>
    scf.for %copy = %begin to %end step %c1 {
      %row = memref.load %rows[%copy] : memref<64xindex>
      %place = memref.load %places[%copy] : memref<64xindex>
      scf.if %is_late {
        func.call @perform(%row, %place) : (index, index) -> ()
      }
    } {smalti.stages = 1 : i64}
  } {smalti.stages = 1 : i64}
  memref.store %target, %counts[%c2] : memref<3xindex>
  return
}

func.func private @wait0() {
  %n = arith.constant 0 : index
  call @wait(%n) : (index) -> ()
  return
}

func.func private @wait1() {
  %n = arith.constant 1 : index
  call @wait(%n) : (index) -> ()
  return
}

func.func private @wait2() {
  %n = arith.constant 2 : index
  call @wait(%n) : (index) -> ()
  return
}

func.func private @wait3() {
  %n = arith.constant 3 : index
  call @wait(%n) : (index) -> ()
  return
}

func.func @check(%lower: index, %upper: index, %step: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %counts = memref.get_global @counts : memref<3xindex>
  memref.store %c0, %counts[%c0] : memref<3xindex>
  memref.store %c0, %counts[%c1] : memref<3xindex>
  memref.store %c0, %counts[%c2] : memref<3xindex>
  %a = memref.alloc(%c64) : memref<?x4xi32>
  %sum = func.call @kernel(%a, %lower, %upper, %step) : (memref<?x4xi32>, index, index, index) -> i64
  vector.print %sum : i64
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %c24 = arith.constant 24 : index
  // 0, 1, 2, 3, 4 and 7 iterations.
  // CHECK:      {{^1$}}
  // CHECK-NEXT: {{^53$}}
  // CHECK-NEXT: {{^1695$}}
  // CHECK-NEXT: {{^32107$}}
  // CHECK-NEXT: {{^1313449$}}
  // CHECK-NEXT: {{^76118232365$}}
  call @check(%c5, %c5, %c1) : (index, index, index) -> ()
  call @check(%c2, %c4, %c3) : (index, index, index) -> ()
  call @check(%c2, %c7, %c3) : (index, index, index) -> ()
  call @check(%c0, %c3, %c1) : (index, index, index) -> ()
  call @check(%c1, %c9, %c2) : (index, index, index) -> ()
  call @check(%c5, %c24, %c3) : (index, index, index) -> ()
  return
}
