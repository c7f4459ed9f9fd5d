// Loops that read and write one buffer, loops in loops and guarded copies, run on the CPU: the pipelined program prints
// what the plain one does.
//
// DEFINE: %{lower} = sed '/gpu.barrier/d' | mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s | %{lower} | %{run} > %t.plain
// RUN: FileCheck %s < %t.plain
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t.remarks | %{lower} | %{run} > %t.2
// RUN: diff %t.plain %t.2
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' | %{lower} | %{run} > %t.3
// RUN: diff %t.plain %t.3
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=5}))' | %{lower} | %{run} > %t.5
// RUN: diff %t.plain %t.5

// REMARK-DAG: Function=in_place | Remark="loop pipelined
// REMARK-DAG: Function=distance_two | Remark="loop pipelined
// REMARK-DAG: Function=rows | Remark="loop pipelined
// REMARK-DAG: Function=guarded | Remark="loop pipelined

func.func @in_place(%a: memref<64xi64>, %lower: index, %upper: index, %step: index) {
  %factor = arith.constant 31 : i64
  scf.for %i = %lower to %upper step %step {
    %x = memref.load %a[%i] : memref<64xi64>
    %y = arith.muli %x, %factor : i64
    memref.store %y, %a[%i] : memref<64xi64>
  }
  return
}

// a[i] = 3 a[i - 2] + 1: pipelined with two stages and not with three.
func.func @distance_two(%a: memref<64xi64>, %upper: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  scf.for %i = %c2 to %upper step %c1 {
    %at = arith.subi %i, %c2 : index
    %x = memref.load %a[%at] : memref<64xi64>
    %y = arith.muli %x, %three : i64
    %z = arith.addi %y, %one : i64
    memref.store %z, %a[%i] : memref<64xi64>
  }
  return
}

// The inner loop writes the row that the outer one has read.
func.func @rows(%a: memref<16x4xi64>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = vector.load %a[%i, %c0] : memref<16x4xi64>, vector<4xi64>
    scf.for %j = %c0 to %c4 step %c1 {
      %x = vector.extract %row[%j] : i64 from vector<4xi64>
      %y = vector.extract %row[0] : i64 from vector<4xi64>
      %z = arith.addi %x, %y : i64
      memref.store %z, %a[%i, %j] : memref<16x4xi64>
    }
  }
  return
}

// A copy for even rows alone; the others see what was copied before.
func.func @guarded(%a: memref<16x4xi64>, %rows: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i64
  %factor = arith.constant 31 : i64
  %shared = memref.alloc() : memref<4xi64, 3>
  memref.store %zero, %shared[%c1] : memref<4xi64, 3>
  %sum = scf.for %i = %c0 to %rows step %c1 iter_args(%acc = %zero) -> i64 {
    %odd = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %odd, %c0 : index
    scf.if %even {
      %x = memref.load %a[%i, %c1] : memref<16x4xi64>
      memref.store %x, %shared[%c1] : memref<4xi64, 3>
    }
    gpu.barrier
    %y = memref.load %shared[%c1] : memref<4xi64, 3>
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %y : i64
    gpu.barrier
    scf.yield %next : i64
  }
  return %sum : i64
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<64xi64>
  %rows = memref.alloc() : memref<16x4xi64>
  scf.for %n = %c0 to %c10 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %value = arith.index_cast %i : index to i64
      memref.store %value, %a[%i] : memref<64xi64>
    } {smalti.stages = 1 : i64}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %sum = arith.addi %i, %j : index
        %value = arith.index_cast %sum : index to i64
        memref.store %value, %rows[%i, %j] : memref<16x4xi64>
      } {smalti.stages = 1 : i64}
    } {smalti.stages = 1 : i64}
    %upper = arith.addi %n, %c2 : index
    func.call @in_place(%a, %c0, %n, %c1) : (memref<64xi64>, index, index, index) -> ()
    %far = arith.muli %upper, %c3 : index
    func.call @in_place(%a, %c10, %far, %c3) : (memref<64xi64>, index, index, index) -> ()
    func.call @distance_two(%a, %upper) : (memref<64xi64>, index) -> ()
    func.call @rows(%rows, %n) : (memref<16x4xi64>, index) -> ()
    %guarded = func.call @guarded(%rows, %n) : (memref<16x4xi64>, index) -> i64
    %flat = vector.load %a[%c0] : memref<64xi64>, vector<48xi64>
    vector.print %flat : vector<48xi64>
    %last = vector.load %rows[%c3, %c0] : memref<16x4xi64>, vector<4xi64>
    vector.print %last : vector<4xi64>
    vector.print %guarded : i64
  } {smalti.stages = 1 : i64}
  // With no iteration: as it was.
  // CHECK:      ( 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  // CHECK-NEXT: ( 3, 4, 5, 6 )
  // CHECK-NEXT: 0
  // With four: the fourth row is changed.
  // CHECK:      ( 6, 7, 8, 9 )
  return
}
