//===- MatmulOps.td - Matmuls of tiles ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_MATMULOPS
#define SMALTI_DIALECTS_TRITONXLA_MATMULOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"

def TritonXLA_DotOp : TritonXLA_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Matmul of two tiles, added to an accumulator";
  let description = [{
    `result[m, n] = accumulator[m, n] + sum over k of lhs[m, k] * rhs[k, n]`.

    `lhs` and `rhs` have one element type. f16, bf16, f32, f8E4M3FN, f8E5M2, f8E4M3FNUZ
    and f8E5M2FNUZ (gfx942) require an f32 accumulator. i8 is signed and requires an
    i32 accumulator, which wraps. Multiplications of 8- and 16-bit operands are exact
    in the accumulator type; the order of the additions depends on the target. f32
    operands are multiplied in f32. With `tf32`, which requires f32 operands, a target
    may first round them to TF32 (10 mantissa bits). A NaN or an infinity in an
    operand propagates to every element of the result that depends on it, even if
    the other operand is zero.

    Example:

    ```mlir
    triton_xla.entry_func @mm(%a: memref<32x16xf16>, %b: memref<16x32xf16>, %c: memref<32x32xf32>, %tile: index) tiles 1 {
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      %at = triton_xla.extract %a[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
      %bt = triton_xla.extract %b[0, 0] [16, 32] [1, 1] : memref<16x32xf16> to tensor<16x32xf16>
      %r = triton_xla.dot %at, %bt, %zero : tensor<32x16xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
      triton_xla.insert %r into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$lhs, TritonXLA_Tile:$rhs, TritonXLA_Tile:$accumulator, UnitAttr:$tf32);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator (`tf32` $tf32^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // SMALTI_DIALECTS_TRITONXLA_MATMULOPS
