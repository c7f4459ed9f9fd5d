// One thread's programs, run on the CPU before and after: the numbers must be
// the same for every number of iterations, lower bound and step. The sums are
// not symmetric in the iterations, so that order counts. Barriers do nothing
// for one thread.
//
// DEFINE: %{lower} = sed '/gpu.barrier/d' | mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t2 | %{lower} | %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t2
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer,smalti-pipeline-loops))' \
// RUN:   | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer{depth=3}))' | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pipeline-loops{stages=3}))' \
// RUN:   --remarks-filter=smalti-pipeline-loops 2>%t3 | %{lower} | %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t3
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-multi-buffer,smalti-pipeline-loops{stages=4},canonicalize,cse))' \
// RUN:   | %{lower} | %{run} | FileCheck %s

// REMARK-DAG: Function=through_shared | Remark="loop pipelined
// REMARK-DAG: Function=registers_only | Remark="loop pipelined
// REMARK-DAG: Function=carried_index | Remark="loop pipelined
// REMARK-DAG: Function=static_bounds | Remark="loop pipelined

// Through shared memory; bounds and step are known at run time.
func.func @through_shared(%a: memref<?x4xi64>, %lower: index, %upper: index, %step: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %factor = arith.constant 31 : i64
  %one = arith.constant 1 : i64
  %shared = memref.alloc() : memref<4xi64, 3>
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %one) -> i64 {
    %row = vector.load %a[%i, %c0] : memref<?x4xi64>, vector<4xi64>
    vector.store %row, %shared[%c0] : memref<4xi64, 3>, vector<4xi64>
    gpu.barrier
    %back = memref.load %shared[%c2] : memref<4xi64, 3>
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %back : i64
    gpu.barrier
    scf.yield %next : i64
  }
  return %sum : i64
}

// No shared memory; the bounds are of a narrow type, and an scf.if computes.
func.func @registers_only(%a: memref<?x4xi64>, %lower: i32, %upper: i32, %step: i32) -> i64 {
  %c1 = arith.constant 1 : index
  %factor = arith.constant 31 : i64
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %one) -> i64 : i32 {
    %row = arith.index_cast %i : i32 to index
    %value = memref.load %a[%row, %c1] : memref<?x4xi64>
    %late = arith.cmpi sge, %i, %four : i32
    %next = scf.if %late -> i64 {
      %scaled = arith.muli %acc, %factor : i64
      %sum = arith.addi %scaled, %value : i64
      scf.yield %sum : i64
    } else {
      %sum = arith.addi %acc, %value : i64
      scf.yield %sum : i64
    }
    scf.yield %next : i64
  }
  return %sum : i64
}

// The row comes from a loop-carried index; one result is the last index.
func.func @carried_index(%a: memref<?x4xi64>, %lower: index, %upper: index, %step: index) -> (i64, index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %factor = arith.constant 31 : i64
  %one = arith.constant 1 : i64
  %sum:2 = scf.for %i = %lower to %upper step %step iter_args(%acc = %one, %row = %lower) -> (i64, index) {
    %value = memref.load %a[%row, %c3] : memref<?x4xi64>
    %scaled = arith.muli %acc, %factor : i64
    %next = arith.addi %scaled, %value : i64
    %next_row = arith.addi %row, %step : index
    scf.yield %next, %next_row : i64, index
  }
  return %sum#0, %sum#1 : i64, index
}

// Constant bounds: 7 iterations, and an output in every one.
func.func @static_bounds(%a: memref<?x4xi64> {llvm.noalias}, %out: memref<64xi64> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c24 = arith.constant 24 : index
  %c3 = arith.constant 3 : index
  %shared = memref.alloc() : memref<4xi64, 3>
  scf.for %i = %c5 to %c24 step %c3 {
    %row = vector.load %a[%i, %c0] : memref<?x4xi64>, vector<4xi64>
    vector.store %row, %shared[%c0] : memref<4xi64, 3>, vector<4xi64>
    gpu.barrier
    %back = memref.load %shared[%c1] : memref<4xi64, 3>
    memref.store %back, %out[%i] : memref<64xi64>
    gpu.barrier
  }
  return
}

func.func @check(%a: memref<?x4xi64>, %lower: index, %upper: index, %step: index) {
  %shared = func.call @through_shared(%a, %lower, %upper, %step) : (memref<?x4xi64>, index, index, index) -> i64
  %lower32 = arith.index_cast %lower : index to i32
  %upper32 = arith.index_cast %upper : index to i32
  %step32 = arith.index_cast %step : index to i32
  %registers = func.call @registers_only(%a, %lower32, %upper32, %step32) : (memref<?x4xi64>, i32, i32, i32) -> i64
  %carried:2 = func.call @carried_index(%a, %lower, %upper, %step) : (memref<?x4xi64>, index, index, index) -> (i64, index)
  vector.print %shared : i64
  vector.print %registers : i64
  vector.print %carried#0 : i64
  %last = arith.index_cast %carried#1 : index to i64
  vector.print %last : i64
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
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c24 = arith.constant 24 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc(%c64) : memref<?x4xi64>
  // a[i][j] = 10 i + j
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %tens = arith.muli %i, %c10 : index
      %sum = arith.addi %tens, %j : index
      %value = arith.index_cast %sum : index to i64
      memref.store %value, %a[%i, %j] : memref<?x4xi64>
    } {smalti.stages = 1 : i64}
  } {smalti.stages = 1 : i64}
  // 0 iterations: an empty range, and one that runs backwards.
  // CHECK:      {{^1$}}
  // CHECK-NEXT: {{^1$}}
  // CHECK-NEXT: {{^1$}}
  // CHECK-NEXT: {{^5$}}
  call @check(%a, %c5, %c5, %c1) : (memref<?x4xi64>, index, index, index) -> ()
  // CHECK-NEXT: {{^1$}}
  // CHECK-NEXT: {{^1$}}
  // CHECK-NEXT: {{^1$}}
  // CHECK-NEXT: {{^8$}}
  call @check(%a, %c8, %c2, %c3) : (memref<?x4xi64>, index, index, index) -> ()
  // 1 iteration: 31 + 22, and 1 + 21, and 31 + 23.
  // CHECK-NEXT: {{^53$}}
  // CHECK-NEXT: {{^22$}}
  // CHECK-NEXT: {{^54$}}
  // CHECK-NEXT: {{^5$}}
  call @check(%a, %c2, %c4, %c3) : (memref<?x4xi64>, index, index, index) -> ()
  // 2 iterations, of which the second is cut short.
  // CHECK-NEXT: {{^1695$}}
  // CHECK-NEXT: {{^733$}}
  // CHECK-NEXT: {{^1727$}}
  // CHECK-NEXT: {{^8$}}
  call @check(%a, %c2, %c7, %c3) : (memref<?x4xi64>, index, index, index) -> ()
  // 3 iterations.
  // CHECK-NEXT: {{^32107$}}
  // CHECK-NEXT: {{^34$}}
  // CHECK-NEXT: {{^33100$}}
  // CHECK-NEXT: {{^3$}}
  call @check(%a, %c0, %c3, %c1) : (memref<?x4xi64>, index, index, index) -> ()
  // 4 and 7 iterations.
  // CHECK-NEXT: {{^1313449$}}
  // CHECK-NEXT: {{^42975$}}
  // CHECK-NEXT: {{^1344233$}}
  // CHECK-NEXT: {{^9$}}
  call @check(%a, %c1, %c9, %c2) : (memref<?x4xi64>, index, index, index) -> ()
  // CHECK-NEXT: {{^76118232365$}}
  // CHECK-NEXT: {{^75201145228$}}
  // CHECK-NEXT: {{^77035319502$}}
  // CHECK-NEXT: {{^26$}}
  call @check(%a, %c5, %c24, %c3) : (memref<?x4xi64>, index, index, index) -> ()

  %out = memref.alloc() : memref<64xi64>
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %out[%i] : memref<64xi64>
  } {smalti.stages = 1 : i64}
  call @static_bounds(%a, %out) : (memref<?x4xi64>, memref<64xi64>) -> ()
  // CHECK-NEXT: ( 0, 0, 0, 0, 0, 51, 0, 0, 81, 0, 0, 111, 0, 0, 141, 0, 0, 171, 0, 0, 201, 0, 0, 231, 0, 0 )
  %result = vector.load %out[%c0] : memref<64xi64>, vector<26xi64>
  vector.print %result : vector<26xi64>
  return
}
