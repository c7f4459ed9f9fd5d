// Uses before, between and after loops see the same values as without slots, for every
// trip count, on the CPU. The sums are not symmetric in the iterations, so that order
// counts.
//
// DEFINE: %{lower} = mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s | %{lower} | %{run} > %t.plain
// RUN: FileCheck %s --check-prefix=RAN < %t.plain
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=2}))' \
// RUN:   --remarks-filter=smalti-multi-buffer 2>%t.remarks | %{lower} | %{run} | diff %t.plain -
// RUN: FileCheck %s < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' \
// RUN:   | %{lower} | %{run} | diff %t.plain -
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=5}))' \
// RUN:   | %{lower} | %{run} | diff %t.plain -

// RAN-COUNT-128: {{^-?[0-9]+$}}
// CHECK: Function=around | Remark="buffer multi-buffered: 2 slots of 16 B, 32 B in total"
// CHECK: Function=nested | Remark="buffer multi-buffered: 2 slots of 16 B, 32 B in total"

// Before, between and after two loops, through views, in a counter of i32.
func.func @around(%n: i32, %m: i32) -> i32 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  %i7 = arith.constant 7 : i32
  %i31 = arith.constant 31 : i32
  %buffer = memref.alloc() : memref<4xi32, 3>
  %pairs = memref.expand_shape %buffer [[0, 1]] output_shape [2, 2] : memref<4xi32, 3> into memref<2x2xi32, 3>
  %start = vector.broadcast %i7 : i32 to vector<4xi32>
  vector.store %start, %buffer[%c0] : memref<4xi32, 3>, vector<4xi32>
  %before = memref.load %pairs[%c1, %c0] : memref<2x2xi32, 3>
  %first = scf.for %i = %i1 to %n step %i2 iter_args(%sum = %before) -> i32 : i32 {
    %value = vector.broadcast %i : i32 to vector<4xi32>
    vector.store %value, %buffer[%c0] : memref<4xi32, 3>, vector<4xi32>
    %back = memref.load %pairs[%c1, %c1] : memref<2x2xi32, 3>
    %more = arith.muli %sum, %i31 : i32
    %next = arith.addi %more, %back : i32
    scf.yield %next : i32
  }
  %between = memref.load %pairs[%c0, %c1] : memref<2x2xi32, 3>
  %twice = arith.muli %first, %i31 : i32
  %joined = arith.addi %twice, %between : i32
  %second = scf.for %i = %i0 to %m step %i1 iter_args(%sum = %joined) -> i32 : i32 {
    %changed = arith.muli %i, %i7 : i32
    %value = vector.broadcast %changed : i32 to vector<4xi32>
    vector.store %value, %buffer[%c0] : memref<4xi32, 3>, vector<4xi32>
    %back = memref.load %buffer[%c1] : memref<4xi32, 3>
    %more = arith.muli %sum, %i31 : i32
    %next = arith.addi %more, %back : i32
    scf.yield %next : i32
  }
  %last = memref.load %pairs[%c0, %c0] : memref<2x2xi32, 3>
  %thrice = arith.muli %second, %i31 : i32
  %result = arith.addi %thrice, %last : i32
  return %result : i32
}

// An outer loop fills the buffer again before an inner loop forwards values and another one overwrites
// them.
func.func @nested(%n: index, %m: index) -> i32 attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i1 = arith.constant 1 : i32
  %i31 = arith.constant 31 : i32
  %buffer = memref.alloc() : memref<4xi32, 3>
  %result = scf.for %j = %c0 to %n step %c1 iter_args(%total = %i1) -> i32 {
    %number = arith.index_cast %j : index to i32
    %fill = vector.broadcast %number : i32 to vector<4xi32>
    vector.store %fill, %buffer[%c0] : memref<4xi32, 3>, vector<4xi32>
    scf.for %i = %c0 to %m step %c1 {
      %old = memref.load %buffer[%c1] : memref<4xi32, 3>
      %new = arith.addi %old, %i1 : i32
      memref.store %new, %buffer[%c1] : memref<4xi32, 3>
    }
    scf.for %i = %c2 to %m step %c1 {
      %value = arith.index_cast %i : index to i32
      %vector = vector.broadcast %value : i32 to vector<4xi32>
      vector.store %vector, %buffer[%c0] : memref<4xi32, 3>, vector<4xi32>
    }
    %back = memref.load %buffer[%c1] : memref<4xi32, 3>
    %more = arith.muli %total, %i31 : i32
    %next = arith.addi %more, %back : i32
    scf.yield %next : i32
  } {smalti.slots = 1 : i64}
  return %result : i32
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %n = %c0 to %c8 step %c1 {
    scf.for %m = %c0 to %c8 step %c1 {
      %ni = arith.index_cast %n : index to i32
      %mi = arith.index_cast %m : index to i32
      %a = func.call @around(%ni, %mi) : (i32, i32) -> i32
      vector.print %a : i32
      %b = func.call @nested(%n, %m) : (index, index) -> i32
      vector.print %b : i32
    }
  }
  return
}
