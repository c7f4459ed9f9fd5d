//===- MatmulOps.td - Matmuls of tiles ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_MATMULOPS
#define SMALTI_DIALECTS_TRITONXLA_MATMULOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"
include "smalti/dialects/TritonXLA/TritonXLAEnums.td"

def TritonXLA_DotOp : TritonXLA_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Matmul of two tiles, added to an accumulator";
  let description = [{
    `result[m, n] = accumulator[m, n] + sum over k of lhs[m, k] * rhs[k, n]`. Tiles of rank
    3 are batches: the first dimension, which has the same size in all tiles, is the
    number of the matmul.

    | lhs and rhs | accumulator |
    |---|---|
    | f16 | f32 or f16 |
    | bf16, f32 | f32 |
    | f64 | f64 |
    | f8E4M3FN and f8E5M2 in any combination | f32 |
    | f8E4M3FNUZ and f8E5M2FNUZ (gfx942) in any combination | f32 |
    | i8, signed or, with `unsigned_lhs` and `unsigned_rhs`, unsigned | i32, which wraps |

    Except for the f8 types, `lhs` and `rhs` have one element type. Multiplications of 8-
    and 16-bit operands are exact before they are added; the order and, with an f16
    accumulator, the rounding of the additions depend on the target. f32 operands are
    multiplied in f32, and f64 operands in f64. A NaN or an infinity in an operand
    propagates to every element of the result that depends on it, even if the other
    operand is zero.

    An `algorithm` other than `default` and `ieee` requires f32 operands and allows a
    target to round them:

    | algorithm | multiplications |
    |---|---|
    | `default` | as above |
    | `ieee` | as above, of f32 or f64 operands; a target may not choose another algorithm |
    | `tf32` | of operands rounded to TF32 (10 mantissa bits); short form: `tf32` without `algorithm` |
    | `tf32x3` | 3 of two TF32 parts of each operand |
    | `bf16` | of operands rounded to bf16 |
    | `bf16x3`, `bf16x6`, `bf16x9` | 3 of two, 6 of three or 9 of three bf16 parts of each operand |

    The algorithms with several parts have the NaNs and infinities of the multiplication
    in f32. `bf16x9` has its accuracy.

    Example:

    ```mlir
    triton_xla.entry_func @mm(%a: memref<32x16xf16>, %b: memref<16x32xf16>, %c: memref<32x32xf32>, %tile: index) tiles 1 {
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      %at = triton_xla.extract %a[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
      %bt = triton_xla.extract %b[0, 0] [16, 32] [1, 1] : memref<16x32xf16> to tensor<16x32xf16>
      %x = triton_xla.extract %c[0, 0] [32, 32] [1, 1] : memref<32x32xf32> to tensor<32x32xf32>
      %r = triton_xla.dot %at, %bt, %zero : tensor<32x16xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
      %fast = triton_xla.dot %x, %x, %r algorithm bf16x3 : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
      triton_xla.insert %fast into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$lhs, TritonXLA_Tile:$rhs, TritonXLA_Tile:$accumulator,
    DefaultValuedAttr<TritonXLA_DotAlgorithm, "DotAlgorithm::Default">:$algorithm,
    UnitAttr:$unsigned_lhs, UnitAttr:$unsigned_rhs);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator (custom<Algorithm>($algorithm)^)? (`unsigned_lhs` $unsigned_lhs^)?
    (`unsigned_rhs` $unsigned_rhs^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether operands may be rounded to TF32.
    bool getTf32() { return getAlgorithm() == DotAlgorithm::TF32; }
  }];
}

#endif // SMALTI_DIALECTS_TRITONXLA_MATMULOPS
