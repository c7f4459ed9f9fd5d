// Loop-carried values, run on the CPU: the pipelined program prints the same as the plain one. Trip counts are 0 to 9,
// in loops with signed and unsigned counters of several widths.
//
// DEFINE: %{lower} = sed '/gpu.barrier/d' | mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s | %{lower} | %{run} > %t.plain
// RUN: FileCheck %s < %t.plain
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t.remarks2 | %{lower} | %{run} > %t.2
// RUN: diff %t.plain %t.2
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks2
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t.remarks3 | %{lower} | %{run} > %t.3
// RUN: diff %t.plain %t.3
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks3
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=4},canonicalize,cse))' | %{lower} | %{run} > %t.4
// RUN: diff %t.plain %t.4
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=5}))' | %{lower} | %{run} > %t.5
// RUN: diff %t.plain %t.5
//
// A schedule is written and read back with the same result, also with ops that are cloned for several stages.
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3 emit-schedule=true}))' \
// RUN:   | smalti-opt --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{use-schedule=true}))' -o %t.read
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' -o %t.direct
// RUN: diff %t.read %t.direct

// REMARK-DAG: Function=swapped | Remark="loop pipelined
// REMARK-DAG: Function=delayed | Remark="loop pipelined
// REMARK-DAG: Function=not_carried | Remark="loop pipelined
// REMARK-DAG: Function=index_in_stages | Remark="loop pipelined
// REMARK-DAG: Function=unsigned_narrow | Remark="loop pipelined
// REMARK-DAG: Function=signed_narrow | Remark="loop pipelined

// Two sums change places in every iteration.
func.func @swapped(%a: memref<64xi64>, %lower: index, %upper: index, %step: index) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %factor = arith.constant 31 : i64
  %sum:2 = scf.for %i = %lower to %upper step %step iter_args(%x = %one, %y = %two) -> (i64, i64) {
    %value = memref.load %a[%i] : memref<64xi64>
    %scaled = arith.muli %y, %factor : i64
    %next = arith.addi %scaled, %value : i64
    scf.yield %next, %x : i64, i64
  }
  %result = arith.muli %sum#0, %sum#1 : i64
  return %result : i64
}

// A loaded value is used again one, two and three iterations later.
func.func @delayed(%a: memref<64xi64>, %lower: index, %upper: index, %step: index) -> i64 {
  %c5 = arith.constant 5 : i64
  %c6 = arith.constant 6 : i64
  %c7 = arith.constant 7 : i64
  %c8 = arith.constant 8 : i64
  %factor = arith.constant 31 : i64
  %sum:4 = scf.for %i = %lower to %upper step %step iter_args(%acc = %c5, %x1 = %c6, %x2 = %c7, %x3 = %c8) -> (i64, i64, i64, i64) {
    %value = memref.load %a[%i] : memref<64xi64>
    %s0 = arith.muli %acc, %factor : i64
    %s1 = arith.addi %s0, %value : i64
    %s2 = arith.addi %s1, %x1 : i64
    %s3 = arith.muli %s2, %x2 : i64
    %s4 = arith.subi %s3, %x3 : i64
    scf.yield %s4, %value, %x1, %x2 : i64, i64, i64, i64
  }
  %r1 = arith.muli %sum#0, %factor : i64
  %r2 = arith.addi %r1, %sum#1 : i64
  %r3 = arith.muli %r2, %sum#2 : i64
  %r4 = arith.subi %r3, %sum#3 : i64
  return %r4 : i64
}

// Yielded: a value from outside, the counter, two that stay or go round.
func.func @not_carried(%a: memref<64xi64>, %lower: index, %upper: index, %step: index) -> i64 {
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %nine = arith.constant 9 : i64
  %c63 = arith.constant 63 : index
  %sum:5 = scf.for %i = %lower to %upper step %step
      iter_args(%acc = %one, %outside = %three, %last = %c63, %p = %one, %q = %nine) -> (i64, i64, index, i64, i64) {
    %value = memref.load %a[%i] : memref<64xi64>
    %before = memref.load %a[%last] : memref<64xi64>
    %s0 = arith.muli %acc, %outside : i64
    %s1 = arith.addi %s0, %value : i64
    %s2 = arith.muli %s1, %p : i64
    %s3 = arith.subi %s2, %before : i64
    scf.yield %s3, %nine, %i, %q, %p : i64, i64, index, i64, i64
  }
  %last = arith.index_cast %sum#2 : index to i64
  %r0 = arith.muli %sum#0, %sum#1 : i64
  %r1 = arith.addi %r0, %last : i64
  %r2 = arith.muli %r1, %sum#3 : i64
  %r3 = arith.addi %r2, %sum#4 : i64
  return %r3 : i64
}

// A carried index is used where the reads are and where the result goes.
func.func @index_in_stages(%a: memref<64xi64> {llvm.noalias}, %out: memref<64xi64> {llvm.noalias},
                           %lower: index, %upper: index, %step: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %shared = memref.alloc() : memref<2xi64, 3>
  %row = scf.for %i = %lower to %upper step %step iter_args(%row = %c2) -> index {
    %at = arith.addi %row, %c1 : index
    %value = memref.load %a[%at] : memref<64xi64>
    memref.store %value, %shared[%c1] : memref<2xi64, 3>
    gpu.barrier
    %back = memref.load %shared[%c1] : memref<2xi64, 3>
    %doubled = arith.addi %back, %back : i64
    memref.store %doubled, %out[%at] : memref<64xi64>
    gpu.barrier
    %next = arith.addi %row, %c2 : index
    scf.yield %next : index
  }
  %result = arith.index_cast %row : index to i64
  return %result : i64
}

// Counters of 4 bits: the trip count exceeds a signed one.
func.func @unsigned_narrow(%a: memref<64xi64>, %lower: i4, %upper: i4, %step: i4) -> i64 {
  %one = arith.constant 1 : i64
  %factor = arith.constant 31 : i64
  %sum = scf.for unsigned %i = %lower to %upper step %step iter_args(%acc = %one) -> i64 : i4 {
    %at = arith.index_castui %i : i4 to index
    %value = memref.load %a[%at] : memref<64xi64>
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %value : i64
    scf.yield %next : i64
  }
  return %sum : i64
}

func.func @signed_narrow(%a: memref<64xi64>, %lower: i4, %upper: i4, %step: i4) -> i64 {
  %one = arith.constant 1 : i64
  %factor = arith.constant 31 : i64
  %c32 = arith.constant 32 : index
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %one) -> i64 : i4 {
    %signed = arith.index_cast %i : i4 to index
    %at = arith.addi %signed, %c32 : index
    %value = memref.load %a[%at] : memref<64xi64>
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %value : i64
    scf.yield %next : i64
  }
  return %sum : i64
}

func.func @check(%a: memref<64xi64>, %out: memref<64xi64>, %lower: index, %upper: index, %step: index) {
  %0 = func.call @swapped(%a, %lower, %upper, %step) : (memref<64xi64>, index, index, index) -> i64
  %1 = func.call @delayed(%a, %lower, %upper, %step) : (memref<64xi64>, index, index, index) -> i64
  %2 = func.call @not_carried(%a, %lower, %upper, %step) : (memref<64xi64>, index, index, index) -> i64
  %3 = func.call @index_in_stages(%a, %out, %lower, %upper, %step) : (memref<64xi64>, memref<64xi64>, index, index, index) -> i64
  %lower4 = arith.index_cast %lower : index to i4
  %upper4 = arith.index_cast %upper : index to i4
  %step4 = arith.index_cast %step : index to i4
  %4 = func.call @unsigned_narrow(%a, %lower4, %upper4, %step4) : (memref<64xi64>, i4, i4, i4) -> i64
  %c8 = arith.constant -8 : i4
  %lower_signed = arith.addi %lower4, %c8 : i4
  %upper_signed = arith.addi %upper4, %c8 : i4
  %5 = func.call @signed_narrow(%a, %lower_signed, %upper_signed, %step4) : (memref<64xi64>, i4, i4, i4) -> i64
  vector.print %0 : i64
  vector.print %1 : i64
  vector.print %2 : i64
  vector.print %3 : i64
  vector.print %4 : i64
  vector.print %5 : i64
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<64xi64>
  %out = memref.alloc() : memref<64xi64>
  scf.for %i = %c0 to %c64 step %c1 {
    %square = arith.muli %i, %i : index
    %sum = arith.addi %square, %c3 : index
    %value = arith.index_cast %sum : index to i64
    memref.store %value, %a[%i] : memref<64xi64>
    memref.store %value, %out[%i] : memref<64xi64>
  } {smalti.stages = 1 : i64}
  // With no iteration, the values that the loops start with.
  // CHECK: {{^2$}}
  scf.for %n = %c0 to %c10 step %c1 {
    func.call @check(%a, %out, %c0, %n, %c1) : (memref<64xi64>, memref<64xi64>, index, index, index) -> ()
    %upper = arith.addi %n, %c4 : index
    func.call @check(%a, %out, %c3, %upper, %c2) : (memref<64xi64>, memref<64xi64>, index, index, index) -> ()
    func.call @check(%a, %out, %c2, %upper, %c3) : (memref<64xi64>, memref<64xi64>, index, index, index) -> ()
  }
  %result = vector.load %out[%c0] : memref<64xi64>, vector<32xi64>
  vector.print %result : vector<32xi64>
  return
}
