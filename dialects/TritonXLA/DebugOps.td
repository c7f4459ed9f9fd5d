//===- DebugOps.td - Debugging, facts and random numbers ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_DEBUGOPS
#define SMALTI_DIALECTS_TRITONXLA_DEBUGOPS

include "smalti/dialects/Text.td"
include "smalti/dialects/TritonXLA/TritonXLABase.td"

def TritonXLA_PrintOp : TritonXLA_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints tiles and scalars";
  let description = [{
    The op prints these lines, which are the same on all targets. `#1` is the position of
    the operand; the line of an only operand does not have it:

    | operand | line |
    |---|---|
    | each element of a tile | `tile 3: TEXT #1 [4, 0] = 0.5` |
    | scalar, or tile of rank 0 | `tile 3: TEXT #1 = 0.5` |
    | no operand | `tile 3: TEXT` |

    Integers are printed as signed decimal numbers, and `i1` as 0 or 1. Floats have the
    format `%.9g` of C, and f64 has `%.17g`, so that different values differ. The sign of
    a NaN and the order of lines may differ between targets. A GPU prints the lines when
    the kernel ends, and may lose lines of a kernel that prints more than the buffer of its
    runtime holds.

    Example:

    ```mlir
    triton_xla.entry_func @show(%src: memref<8xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0] [8] [1] : memref<8xf32> to tensor<8xf32>
      triton_xla.print "source and tile" %t, %tile : tensor<8xf32>, index
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins Smalti_TextAttr:$text, Variadic<AnyTypeOf<[TritonXLA_Tile, TritonXLA_Scalar], "tile or scalar">>:$values);
  let assemblyFormat = "$text ($values^)? attr-dict (`:` type($values)^)?";
  let extraClassDeclaration = [{
    /// `text`, followed by the position of an operand if there are several.
    std::string getLabel(unsigned number);
  }];
}

def TritonXLA_AssertOp : TritonXLA_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stops the kernel with a message if a condition is false";
  let description = [{
    If the condition or an element of it is false, the op stops the kernel with an error
    that contains the message. Effects of the kernel before that are unspecified.

    Example:

    ```mlir
    triton_xla.entry_func @check(%src: memref<8xi32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0] [8] [1] : memref<8xi32> to tensor<8xi32>
      %zero = arith.constant dense<0> : tensor<8xi32>
      %c = arith.cmpi sge, %t, %zero : tensor<8xi32>
      triton_xla.assert %c, "the elements must not be negative" : tensor<8xi1>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[TritonXLA_Tile, TritonXLA_Scalar], "tile or scalar">:$condition, Smalti_TextAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TritonXLA_AssumeOp : TritonXLA_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "Assumption that a condition is true; the behavior is undefined if it is not";
  let description = [{
    The behavior is undefined if the condition is false. The compiler may use it for
    proofs, such as of bounds.

    Example:

    ```mlir
    triton_xla.entry_func @bound(%n: index, %dst: memref<100xindex>, %tile: index) tiles 1 {
      %c68 = arith.constant 68 : index
      %c = arith.cmpi ule, %n, %c68 : index
      triton_xla.assume %c
      %t = triton_xla.iota dim 0 : tensor<32xindex>
      triton_xla.insert %t into %dst[%n] [32] [1] : tensor<32xindex> into memref<100xindex>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
  let hasCanonicalizeMethod = 1;
}

def TritonXLA_AssumeMultipleOp : TritonXLA_Op<"assume_multiple", [NoMemoryEffect, AllTypesMatch<["value", "result"]>]> {
  let summary = "Assumption that a value is a multiple of a constant; the behavior is undefined if it is not";
  let description = [{
    The result is the operand, of i32, i64 or `index`, which must be a multiple of
    `divisor`, a positive value of its type. The behavior is undefined if it is not, so that
    the op is not hoisted out of a loop that may run zero times. The compiler may use it for
    proofs of alignment.

    Example:

    ```mlir
    triton_xla.entry_func @rows(%src: memref<?x64xf32>, %dst: memref<64xf32>, %row: index, %tile: index) tiles 1 {
      %r = triton_xla.assume_multiple %row, 16 : index
      %t = triton_xla.extract %src[%r, 0] [1, 64] [1, 1] : memref<?x64xf32> to tensor<64xf32>
      triton_xla.insert %t into %dst[0] [64] [1] : tensor<64xf32> into memref<64xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[I32, I64, Index]>:$value, ConfinedAttr<I64Attr, [IntPositive]>:$divisor);
  let results = (outs AnyTypeOf<[I32, I64, Index]>:$result);
  let assemblyFormat = "$value `,` $divisor attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_RandomBitsOp : TritonXLA_Op<"random_bits", [Pure]> {
  let summary = "Random bits that Philox4x32-10 computes from a key and a counter";
  let description = [{
    An element of the four results is the output of Philox4x32-10, four words, for the key
    `(key0, key1)` and a counter of up to four words. The words of the counter are the
    elements of the one to four counter tiles; others are zero. The results have the type of the
    counters, a tile of i32. Different counters or keys give independent bits, and the
    results do not depend on the target.

    Example:

    ```mlir
    triton_xla.entry_func @noise(%seed: i32, %stream: i32, %dst: memref<64xi32>, %tile: index) tiles 1 {
      %n = triton_xla.iota dim 0 : tensor<64xi32>
      %r:4 = triton_xla.random_bits %seed, %stream, %n
          : (i32, i32, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>)
      triton_xla.insert %r#0 into %dst[0] [64] [1] : tensor<64xi32> into memref<64xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins I32:$key0, I32:$key1, Variadic<TritonXLA_Tile>:$counters);
  let results = (outs TritonXLA_Tile:$word0, TritonXLA_Tile:$word1, TritonXLA_Tile:$word2, TritonXLA_Tile:$word3);
  let assemblyFormat = [{
    $key0 `,` $key1 `,` $counters attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SMALTI_DIALECTS_TRITONXLA_DEBUGOPS
