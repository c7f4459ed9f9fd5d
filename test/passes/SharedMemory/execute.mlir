// Stores through one view and loads through others, on the CPU: the checksums of the elements must be the same
// with and without the passes. The checksums are not symmetric in the elements, so they depend on positions.
//
// DEFINE: %{lower} = mlir-opt --convert-vector-to-scf --convert-scf-to-cf --expand-strided-metadata --lower-affine \
// DEFINE:   --convert-vector-to-llvm --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// DEFINE:   --reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_runner_libs
//
// RUN: smalti-opt %s | %{lower} | %{run} | FileCheck %s
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=gfx942 only-when-conflicts=false strict=true}))' \
// RUN:   --remarks-filter=smalti-pad-shared-memory 2>%t.pad | %{lower} | %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=PAD < %t.pad
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=gfx942 only-when-conflicts=false strict=true}))' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory 2>%t.swizzle | %{lower} | %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=SWIZZLE < %t.swizzle
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=gfx942 only-when-conflicts=false},canonicalize,cse))' \
// RUN:   | %{lower} | %{run} | FileCheck %s

// PAD-DAG: Function=power_of_two | Remark="rows padded by
// PAD-DAG: Function=odd_chunks | Remark="rows padded by
// SWIZZLE-DAG: Function=power_of_two | Remark="buffer swizzled: chunks of 16 B XORed with row mod 8
// SWIZZLE-DAG: Function=odd_chunks | Remark="buffer swizzled: chunks of 8 B rotated by row mod 7

// 3 slots of 16x64xi16; read through a cast of a slot and through its rows split into chunks.
func.func @power_of_two() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %factor = arith.constant 31 : i64
  %zero = arith.constant 0 : i64
  %buffer = memref.alloc() : memref<3x16x64xi16, 3>
  scf.for %s = %c0 to %c3 step %c1 {
    scf.for %r = %c0 to %c16 step %c1 {
      scf.for %c = %c0 to %c64 step %c1 {
        %slots = arith.muli %s, %c16 : index
        %row = arith.addi %slots, %r : index
        %rows = arith.muli %row, %c64 : index
        %number = arith.addi %rows, %c : index
        %value = arith.index_cast %number : index to i16
        memref.store %value, %buffer[%s, %r, %c] : memref<3x16x64xi16, 3>
      }
    }
  }
  %sum = scf.for %s = %c0 to %c3 step %c1 iter_args(%sum_s = %zero) -> i64 {
    %slot = memref.subview %buffer[%s, 0, 0] [1, 16, 64] [1, 1, 1]
      : memref<3x16x64xi16, 3> to memref<16x64xi16, strided<[64, 1], offset: ?>, 3>
    %cast = memref.cast %slot : memref<16x64xi16, strided<[64, 1], offset: ?>, 3> to memref<?x64xi16, strided<[64, 1], offset: ?>, 3>
    %chunks = memref.expand_shape %slot [[0], [1, 2]] output_shape [16, 8, 8]
      : memref<16x64xi16, strided<[64, 1], offset: ?>, 3> into memref<16x8x8xi16, strided<[64, 8, 1], offset: ?>, 3>
    %sum_1 = scf.for %c = %c0 to %c8 step %c1 iter_args(%sum_c = %sum_s) -> i64 {
      %sum_2 = scf.for %r = %c0 to %c16 step %c1 iter_args(%sum_r = %sum_c) -> i64 {
        %column = arith.muli %c, %c8 : index
        %v = vector.load %cast[%r, %column] : memref<?x64xi16, strided<[64, 1], offset: ?>, 3>, vector<8xi16>
        %w = vector.load %chunks[%r, %c, %c0] : memref<16x8x8xi16, strided<[64, 8, 1], offset: ?>, 3>, vector<8xi16>
        %product = arith.muli %v, %w : vector<8xi16>
        %first = vector.extract %product[1] : i16 from vector<8xi16>
        %all = vector.reduction <add>, %product : vector<8xi16> into i16
        %mixed = arith.addi %first, %all : i16
        %wide = arith.extui %mixed : i16 to i64
        %scaled = arith.muli %sum_r, %factor : i64
        %next = arith.addi %scaled, %wide : i64
        scf.yield %next : i64
      }
      scf.yield %sum_2 : i64
    }
    scf.yield %sum_1 : i64
  }
  return %sum : i64
}

// 12 rows of 7 chunks of two i32, read through a part of them.
func.func @odd_chunks() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %c12 = arith.constant 12 : index
  %factor = arith.constant 31 : i64
  %zero = arith.constant 0 : i64
  %buffer = memref.alloc() : memref<12x14xi32, 3>
  scf.for %r = %c0 to %c12 step %c1 {
    scf.for %c = %c0 to %c7 step %c1 {
      %rows = arith.muli %r, %c7 : index
      %number = arith.addi %rows, %c : index
      %value = arith.index_cast %number : index to i32
      %low = vector.broadcast %value : i32 to vector<2xi32>
      %steps = arith.constant dense<[0, 1000]> : vector<2xi32>
      %pair = arith.addi %low, %steps : vector<2xi32>
      %column = arith.muli %c, %c2 : index
      vector.store %pair, %buffer[%r, %column] : memref<12x14xi32, 3>, vector<2xi32>
    }
  }
  %part = memref.subview %buffer[1, 2] [10, 10] [1, 1] : memref<12x14xi32, 3> to memref<10x10xi32, strided<[14, 1], offset: 16>, 3>
  %sum = scf.for %c = %c0 to %c10 step %c1 iter_args(%sum_c = %zero) -> i64 {
    %sum_1 = scf.for %r = %c0 to %c10 step %c1 iter_args(%sum_r = %sum_c) -> i64 {
      %v = memref.load %part[%r, %c] : memref<10x10xi32, strided<[14, 1], offset: 16>, 3>
      %wide = arith.extui %v : i32 to i64
      %scaled = arith.muli %sum_r, %factor : i64
      %next = arith.addi %scaled, %wide : i64
      scf.yield %next : i64
    }
    scf.yield %sum_1 : i64
  }
  return %sum : i64
}

func.func @main() {
  // CHECK: 8497763304580306944
  // CHECK-NEXT: -7317274543653548002
  %a = func.call @power_of_two() : () -> i64
  vector.print %a : i64
  %b = func.call @odd_chunks() : () -> i64
  vector.print %b : i64
  return
}
