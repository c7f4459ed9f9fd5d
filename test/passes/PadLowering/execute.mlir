// Pads and padded transfers, run on the CPU after the pass.
//
// DEFINE: %{lower} = mlir-opt --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops --convert-vector-to-scf --convert-scf-to-cf \
// DEFINE:   --expand-strided-metadata --lower-affine --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm \
// DEFINE:   --convert-cf-to-llvm --convert-func-to-llvm --convert-ub-to-llvm --reconcile-unrealized-casts
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{strict=true}))' > %t
// RUN: FileCheck %s --check-prefix=LOWERED < %t
// RUN: %{lower} < %t | mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs | FileCheck %s
//
// LOWERED-NOT: tensor.pad

func.func @static_low(%source: tensor<1x5xf32>) -> tensor<1x8xf32> {
  %pad = arith.constant 9.0 : f32
  %padded = tensor.pad %source low[0, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f32
  } : tensor<1x5xf32> to tensor<1x8xf32>
  return %padded : tensor<1x8xf32>
}

func.func @dynamic(%source: tensor<?x?xf32>, %low0: index, %low1: index, %high0: index, %high1: index, %pad: f32)
    -> tensor<4x6xf32> {
  %padded = tensor.pad %source low[%low0, %low1] high[%high0, %high1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f32
  } : tensor<?x?xf32> to tensor<4x6xf32>
  return %padded : tensor<4x6xf32>
}

func.func @high_only(%source: tensor<?x?xf32>, %high0: index, %high1: index) -> tensor<4x6xf32> {
  %padded = tensor.pad %source low[0, 0] high[%high0, %high1] {
  ^bb0(%i: index, %j: index):
    %pad = arith.constant 0x7FC00000 : f32
    tensor.yield %pad : f32
  } : tensor<?x?xf32> to tensor<4x6xf32>
  return %padded : tensor<4x6xf32>
}

// The result has a dynamic size of at most 7.
func.func @bounded(%source: tensor<?xf32>, %n: index, %low: index) {
  %c0 = arith.constant 0 : index
  %nine = arith.constant 9.0 : f32
  %zero = arith.constant 0.0 : f32
  %size = affine.min affine_map<(d0) -> (d0, 3)>(%n)
  %first = affine.min affine_map<(d0) -> (d0, 2)>(%low)
  %part = tensor.extract_slice %source[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %padded = tensor.pad %part low[%first] high[2] {
  ^bb0(%i: index):
    tensor.yield %nine : f32
  } : tensor<?xf32> to tensor<?xf32>
  %result = vector.transfer_read %padded[%c0], %zero : tensor<?xf32>, vector<8xf32>
  vector.print %result : vector<8xf32>
  %high = tensor.pad %part low[0] high[%first] {
  ^bb0(%i: index):
    tensor.yield %nine : f32
  } : tensor<?xf32> to tensor<?xf32>
  %high_result = vector.transfer_read %high[%c0], %zero : tensor<?xf32>, vector<8xf32>
  vector.print %high_result : vector<8xf32>
  return
}

func.func @read(%source: memref<3x5xi32>, %i: index, %j: index) -> vector<4x8xi32> {
  %pad = arith.constant -1 : i32
  %read = vector.transfer_read %source[%i, %j], %pad : memref<3x5xi32>, vector<4x8xi32>
  return %read : vector<4x8xi32>
}

func.func @read_row(%source: memref<?x?xi32>, %i: index, %j: index) -> vector<4xi32> {
  %pad = arith.constant -1 : i32
  %read = vector.transfer_read %source[%i, %j], %pad : memref<?x?xi32>, vector<4xi32>
  return %read : vector<4xi32>
}

func.func @read_transposed(%source: memref<?x?xi32>, %i: index, %j: index) -> vector<3x2x4xi32> {
  %pad = arith.constant -1 : i32
  %read = vector.transfer_read %source[%i, %j], %pad
    {in_bounds = [false, true, false], permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>}
    : memref<?x?xi32>, vector<3x2x4xi32>
  return %read : vector<3x2x4xi32>
}

func.func @write(%dest: memref<?x?xi32, strided<[9, 1], offset: 11>>, %i: index, %j: index) {
  %vector = arith.constant dense<[[91, 92, 93], [94, 95, 96]]> : vector<2x3xi32>
  vector.transfer_write %vector, %dest[%i, %j] : vector<2x3xi32>, memref<?x?xi32, strided<[9, 1], offset: 11>>
  return
}

func.func @write_transposed(%dest: memref<?x?xi32, strided<[9, 1], offset: 11>>, %i: index, %j: index) {
  %vector = arith.constant dense<[[91, 92, 93], [94, 95, 96]]> : vector<2x3xi32>
  %mask = arith.constant dense<[[true, true], [false, true], [true, true]]> : vector<3x2xi1>
  vector.transfer_write %vector, %dest[%i, %j], %mask {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
    : vector<2x3xi32>, memref<?x?xi32, strided<[9, 1], offset: 11>>
  return
}

// Writes into three rows of five zeros, surrounded by zeros.
func.func @print_write(%i: index, %j: index, %transposed: i1) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  %zeros = arith.constant dense<0> : vector<5x9xi32>
  %whole = memref.alloc() : memref<5x9xi32>
  vector.transfer_write %zeros, %whole[%c0, %c0] {in_bounds = [true, true]} : vector<5x9xi32>, memref<5x9xi32>
  %dest = memref.subview %whole[1, 2] [%c3, %c5] [1, 1] : memref<5x9xi32> to memref<?x?xi32, strided<[9, 1], offset: 11>>
  scf.if %transposed {
    func.call @write_transposed(%dest, %i, %j) : (memref<?x?xi32, strided<[9, 1], offset: 11>>, index, index) -> ()
  } else {
    func.call @write(%dest, %i, %j) : (memref<?x?xi32, strided<[9, 1], offset: 11>>, index, index) -> ()
  }
  %all = vector.transfer_read %whole[%c0, %c0], %zero {in_bounds = [true, true]} : memref<5x9xi32>, vector<5x9xi32>
  vector.print %all : vector<5x9xi32>
  memref.dealloc %whole : memref<5x9xi32>
  return
}

func.func @print_dynamic(%rows: index, %columns: index, %low0: index, %low1: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %pad = arith.constant 9.0 : f32
  %one = arith.constant 1.0 : f32
  %ten = arith.constant 10 : index
  // source[i][j] = 10 i + j + 1
  %source = tensor.generate %rows, %columns {
  ^bb0(%i: index, %j: index):
    %tens = arith.muli %i, %ten : index
    %sum = arith.addi %tens, %j : index
    %next = arith.addi %sum, %c1 : index
    %int = arith.index_cast %next : index to i32
    %value = arith.sitofp %int : i32 to f32
    tensor.yield %value : f32
  } : tensor<?x?xf32>
  %filled_rows = arith.addi %rows, %low0 : index
  %filled_columns = arith.addi %columns, %low1 : index
  %high0 = arith.subi %c4, %filled_rows : index
  %high1 = arith.subi %c6, %filled_columns : index
  %padded = func.call @dynamic(%source, %low0, %low1, %high0, %high1, %pad)
    : (tensor<?x?xf32>, index, index, index, index, f32) -> tensor<4x6xf32>
  %result = vector.transfer_read %padded[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<4x6xf32>, vector<4x6xf32>
  vector.print %result : vector<4x6xf32>
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %m1 = arith.constant -1 : index
  %m2 = arith.constant -2 : index
  %m9 = arith.constant -9 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32

  // Static low padding is kept.
  // CHECK: ( ( 9, 9, 1, 2, 3, 4, 5, 9 ) )
  %row = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  %padded = call @static_low(%row) : (tensor<1x5xf32>) -> tensor<1x8xf32>
  %result = vector.transfer_read %padded[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<1x8xf32>, vector<1x8xf32>
  vector.print %result : vector<1x8xf32>

  // Low and high padding in both dimensions.
  // CHECK-NEXT: ( ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 1, 2, 3, 9 ), ( 9, 9, 11, 12, 13, 9 ), ( 9, 9, 9, 9, 9, 9 ) )
  call @print_dynamic(%c2, %c3, %c1, %c2) : (index, index, index, index) -> ()
  // No padding.
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5, 6 ), ( 11, 12, 13, 14, 15, 16 ), ( 21, 22, 23, 24, 25, 26 ), ( 31, 32, 33, 34, 35, 36 ) )
  call @print_dynamic(%c4, %c6, %c0, %c0) : (index, index, index, index) -> ()
  // Low padding only.
  // CHECK-NEXT: ( ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 1 ) )
  call @print_dynamic(%c1, %c1, %c3, %c5) : (index, index, index, index) -> ()
  // Negative padding truncates: rows 1.., columns ..5 from the second.
  // CHECK-NEXT: ( ( 12, 13, 14, 15, 16, 9 ), ( 22, 23, 24, 25, 26, 9 ), ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ) )
  call @print_dynamic(%c3, %c6, %m1, %m1) : (index, index, index, index) -> ()
  // Negative high padding truncates the end of the source.
  // CHECK-NEXT: ( ( 9, 1, 2, 3, 4, 5 ), ( 9, 11, 12, 13, 14, 15 ), ( 9, 21, 22, 23, 24, 25 ), ( 9, 31, 32, 33, 34, 35 ) )
  call @print_dynamic(%c5, %c6, %c0, %c1) : (index, index, index, index) -> ()
  // An empty source.
  // CHECK-NEXT: ( ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ), ( 9, 9, 9, 9, 9, 9 ) )
  call @print_dynamic(%c0, %c3, %c1, %c1) : (index, index, index, index) -> ()

  // NaN as the padding value.
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5, nan ), ( nan, nan, nan, nan, nan, nan ), ( nan, nan, nan, nan, nan, nan ), ( nan, nan, nan, nan, nan, nan ) )
  %source = tensor.cast %row : tensor<1x5xf32> to tensor<?x?xf32>
  %nan = call @high_only(%source, %c3, %c1) : (tensor<?x?xf32>, index, index) -> tensor<4x6xf32>
  %nan_result = vector.transfer_read %nan[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<4x6xf32>, vector<4x6xf32>
  vector.print %nan_result : vector<4x6xf32>

  // For any size, lanes past the end of the result are not written, and read as 0.
  %five = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %line = tensor.cast %five : tensor<5xf32> to tensor<?xf32>
  // CHECK-NEXT: ( 9, 1, 2, 3, 9, 9, 0, 0 )
  // CHECK-NEXT: ( 1, 2, 3, 9, 0, 0, 0, 0 )
  call @bounded(%line, %c4, %c1) : (tensor<?xf32>, index, index) -> ()
  // CHECK-NEXT: ( 9, 9, 1, 9, 9, 0, 0, 0 )
  // CHECK-NEXT: ( 1, 9, 9, 0, 0, 0, 0, 0 )
  call @bounded(%line, %c1, %c2) : (tensor<?xf32>, index, index) -> ()
  // CHECK-NEXT: ( 9, 9, 0, 0, 0, 0, 0, 0 )
  // CHECK-NEXT: ( 0, 0, 0, 0, 0, 0, 0, 0 )
  call @bounded(%line, %c0, %c0) : (tensor<?xf32>, index, index) -> ()
  // Negative low padding truncates the source.
  // CHECK-NEXT: ( 2, 3, 9, 9, 0, 0, 0, 0 )
  // CHECK-NEXT: ( 1, 2, 0, 0, 0, 0, 0, 0 )
  call @bounded(%line, %c3, %m1) : (tensor<?xf32>, index, index) -> ()

  %buffer = memref.alloc() : memref<3x5xi32>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %ten = arith.constant 10 : index
      %tens = arith.muli %i, %ten : index
      %sum = arith.addi %tens, %j : index
      %value = arith.index_cast %sum : index to i32
      memref.store %value, %buffer[%i, %j] : memref<3x5xi32>
    }
  }
  // Past the end in both dimensions.
  // CHECK-NEXT: ( ( 13, 14, -1, -1, -1, -1, -1, -1 ), ( 23, 24, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ) )
  %r0 = call @read(%buffer, %c1, %c3) : (memref<3x5xi32>, index, index) -> vector<4x8xi32>
  vector.print %r0 : vector<4x8xi32>
  // Before the start in both dimensions.
  // CHECK-NEXT: ( ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, 0, 1, 2, 3, 4, -1 ), ( -1, -1, 10, 11, 12, 13, 14, -1 ), ( -1, -1, 20, 21, 22, 23, 24, -1 ) )
  %r1 = call @read(%buffer, %m1, %m2) : (memref<3x5xi32>, index, index) -> vector<4x8xi32>
  vector.print %r1 : vector<4x8xi32>
  // Entirely out of bounds, on either side.
  // CHECK-NEXT: ( ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ) )
  %r2 = call @read(%buffer, %m9, %c0) : (memref<3x5xi32>, index, index) -> vector<4x8xi32>
  vector.print %r2 : vector<4x8xi32>
  // CHECK-NEXT: ( ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1, -1, -1, -1 ) )
  %r3 = call @read(%buffer, %c0, %c100) : (memref<3x5xi32>, index, index) -> vector<4x8xi32>
  vector.print %r3 : vector<4x8xi32>

  // One row with dynamic sizes.
  %dynamic = memref.cast %buffer : memref<3x5xi32> to memref<?x?xi32>
  // CHECK-NEXT: ( 23, 24, -1, -1 )
  %v0 = call @read_row(%dynamic, %c2, %c3) : (memref<?x?xi32>, index, index) -> vector<4xi32>
  vector.print %v0 : vector<4xi32>
  // CHECK-NEXT: ( -1, -1, 0, 1 )
  %v1 = call @read_row(%dynamic, %c0, %m2) : (memref<?x?xi32>, index, index) -> vector<4xi32>
  vector.print %v1 : vector<4xi32>

  // Columns from the fourth as rows, each twice; rows from the second as columns.
  // CHECK-NEXT: ( ( ( 13, 23, -1, -1 ), ( 13, 23, -1, -1 ) ), ( ( 14, 24, -1, -1 ), ( 14, 24, -1, -1 ) ), ( ( -1, -1, -1, -1 ), ( -1, -1, -1, -1 ) ) )
  %t0 = call @read_transposed(%dynamic, %c1, %c3) : (memref<?x?xi32>, index, index) -> vector<3x2x4xi32>
  vector.print %t0 : vector<3x2x4xi32>
  // CHECK-NEXT: ( ( ( -1, -1, -1, -1 ), ( -1, -1, -1, -1 ) ), ( ( -1, -1, -1, -1 ), ( -1, -1, -1, -1 ) ), ( ( -1, 0, 10, 20 ), ( -1, 0, 10, 20 ) ) )
  %t1 = call @read_transposed(%dynamic, %m1, %m2) : (memref<?x?xi32>, index, index) -> vector<3x2x4xi32>
  vector.print %t1 : vector<3x2x4xi32>

  // Writes past the end, before the start, entirely out of bounds.
  %false = arith.constant false
  %true = arith.constant true
  // CHECK-NEXT: ( ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 91, 92, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ) )
  call @print_write(%c2, %c3, %false) : (index, index, i1) -> ()
  // CHECK-NEXT: ( ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 96, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ) )
  call @print_write(%m1, %m2, %false) : (index, index, i1) -> ()
  // CHECK-NEXT: ( ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ) )
  call @print_write(%c0, %m9, %false) : (index, index, i1) -> ()
  // Rows of the vector are columns: 91 94 above 92 95 above 93 96, without 92, which was masked.
  // CHECK-NEXT: ( ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 91, 94, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 95, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ) )
  call @print_write(%c1, %c3, %true) : (index, index, i1) -> ()
  // CHECK-NEXT: ( ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 95, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 96, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ), ( 0, 0, 0, 0, 0, 0, 0, 0, 0 ) )
  call @print_write(%m1, %m1, %true) : (index, index, i1) -> ()
  return
}
