// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=cpu
// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=sm_90a
// RUN: smalti-opt %s --split-input-file --verify-diagnostics -smalti-compile=target=gfx942

// LLVM treats code after a division by zero as unreachable.
triton_xla.entry_func @scalar(%x: memref<64xi32>, %n: i32, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  // expected-error@+1 {{'arith.divsi' op divides by 0; the divisor must not be 0}}
  %q = arith.divsi %n, %zero : i32
  // expected-error@+1 {{'arith.remui' op divides by 0; the divisor must not be 0}}
  %r = arith.remui %q, %zero : i32
  // expected-error@+1 {{'arith.ceildivsi' op divides by 0; the divisor must not be 0}}
  %i = arith.ceildivsi %tile, %c0 : index
  %at = arith.index_cast %r : i32 to index
  %to = arith.addi %at, %i : index
  %a = triton_xla.extract %x[%c0] [8] [1] : memref<64xi32> to tensor<8xi32>
  triton_xla.insert %a into %x[%to] [8] [1] : tensor<8xi32> into memref<64xi32>
  triton_xla.return
}

// -----

triton_xla.entry_func @tiles(%x: memref<64xi32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64xi32>
  %a = triton_xla.extract %x[%c0] [64] [1] : memref<64xi32> to tensor<64xi32>
  // expected-error@+1 {{'arith.remsi' op divides by 0; the divisor must not be 0}}
  %r = arith.remsi %a, %zero : tensor<64xi32>
  triton_xla.insert %r into %x[%c0] [64] [1] : tensor<64xi32> into memref<64xi32>
  triton_xla.return
}

// -----

// The divisor is 0 in every iteration.
triton_xla.entry_func @computed(%x: memref<64xi64>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant -9223372036854775808 : index
  %minus = arith.constant -1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error@+1 {{'arith.floordivsi' op divides by 0; the divisor must not be 0}}
    %0 = arith.floordivsi %tile, %i : index
    // expected-error@+1 {{'arith.divsi' op divides -9223372036854775808 by -1; the quotient exceeds the range of 'index'}}
    %1 = arith.divsi %least, %minus : index
    %2 = arith.addi %0, %1 : index
    %a = triton_xla.extract %x[%i] [64] [1] : memref<64xi64> to tensor<64xi64>
    triton_xla.insert %a into %x[%2] [64] [1] : tensor<64xi64> into memref<64xi64>
  }
  triton_xla.return
}

// -----

// A select may drop the result, as in modules of JAX.
triton_xla.entry_func @selected(%x: memref<64xi32>, %n: i32, %tile: index) tiles 1 {
  %zero = arith.constant 0 : i32
  %r = arith.remsi %n, %zero : i32
  %sum = arith.addi %r, %n : i32
  %is_less = arith.cmpi slt, %n, %zero : i32
  %chosen = arith.select %is_less, %n, %sum : i32
  %at = arith.index_cast %chosen : i32 to index
  %a = triton_xla.extract %x[%at] [8] [1] : memref<64xi32> to tensor<8xi32>
  triton_xla.insert %a into %x[%at] [8] [1] : tensor<8xi32> into memref<64xi32>
  triton_xla.return
}

// -----

// A kernel with one tile: the range of %tile proves that the division does not run.
triton_xla.entry_func @not_executed(%x: memref<4xi32>, %n: i32, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %t = arith.index_cast %tile : index to i32
  %has = arith.cmpi ne, %t, %zero : i32
  scf.if %has {
    %r = arith.remsi %n, %t : i32
    %at = arith.index_cast %r : i32 to index
    %a = triton_xla.extract %x[%at] [4] [1] : memref<4xi32> to tensor<4xi32>
    triton_xla.insert %a into %x[%c0] [4] [1] : tensor<4xi32> into memref<4xi32>
  }
  triton_xla.return
}
