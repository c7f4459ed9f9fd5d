//===- MatmulOps.td - Matmuls of tiles ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_MATMULOPS
#define SMALTI_DIALECTS_TRITONXLA_MATMULOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"
include "smalti/dialects/TritonXLA/TritonXLAEnums.td"

/// Enumerator of ScaleLayout as an attribute.
def TritonXLA_ScaleLayoutAttr : EnumAttr<TritonXLA_Dialect, TritonXLA_ScaleLayout, "scale_layout"> {
  let summary = "Order in a tile of the scales of a block-scaled matmul operand";
  let description = [{
    The scales of an operand are a matrix. Its rows are those of lhs or the columns of
    rhs, and its columns are the blocks along K.

    - `linear`: the tile is rows x blocks for lhs, and blocks x columns for rhs.
    - `padded`: as `linear`, but the tile may be larger in both dimensions. The additional
      scales are not used.
    - `swizzled_128x4`: the block layout of cuBLAS and `tcgen05`. The matrix is padded to a
      multiple of 128 rows and 4 columns, and consists of blocks of 128 x 4 scales, in
      row-major order. Scale `(r, c)` of a block is at position
      `r % 32 * 16 + r / 32 * 4 + c`. The tile has rank 1 and all scales in this order.

    Example:

    ```mlir
    triton_xla.entry_func @mx(%tile: index) tiles 1 attributes {layout = #triton_xla.scale_layout<swizzled_128x4>} {
      triton_xla.return
    }
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

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
    and 16-bit operands are exact. The order of the additions depends on the target, and with
    an f16 accumulator also their rounding. f32 operands are multiplied in f32, and f64
    operands in f64. A NaN or an infinity in an operand
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

def TritonXLA_DotScaledOp : TritonXLA_Op<"dot_scaled", [Pure, AttrSizedOperandSegments]> {
  let summary = "Matmul of block-scaled tiles, added to an accumulator";
  let description = [{
    An operand with `scale` has one scale for each block of `block` elements along K, as in
    the microscaling formats (OCP MX 1.0) and NVFP4:

    `result[m, n] = accumulator[m, n] + gl * gr * sum over blocks b of sl[m, b] * sr[b, n] *
    sum over k in b of lhs[m, k] * rhs[k, n]`

    with the scales `sl` and `sr` and the f32 values of `global`, `gl` and `gr`. Those that
    are not given are 1. The sums over a block and their total are in f32, and the
    multiplications of elements are exact. The order of the additions, and whether the scale
    multiplies elements or the sum over a block, depend on the target. The result is
    therefore only specified if both are in the range of f32.

    - Elements: f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN or f4E2M1FN, in any combination.
      One operand may be without a scale; its elements may also be f16 or bf16. The
      accumulator is f32.
    - `as FORMAT packed DIM`: a tile of i8 has the bits of f4E2M1FN, f6E2M3FN or f6E3M2FN
      elements. Consecutive elements along dimension `DIM` are packed without gaps, from
      the lowest bit of the first byte: two of 4 bits per byte, four of 6 bits in three bytes.
    - `block` is 16 or 32. It divides K, or K divides it, and then there is one block.
    - Scales: f8E8M0FNU, whose code `c` is `2^(c - 127)` for 0 to 254 and NaN for 255, or
      f8E4M3FN. `layout` is a `#triton_xla.scale_layout` (default: `linear`).

    A NaN scale makes every element of its block NaN. f8E8M0FNU cannot represent zero: a
    block of zeros has an arbitrary scale, except NaN. An f8E4M3FN scale of zero makes the
    finite elements of its block zero, and infinities NaN. NaNs and infinities of elements
    propagate as in `triton_xla.dot`; the formats of 4 and 6 bits do not have them.

    Example:

    ```mlir
    triton_xla.entry_func @mx(%a: memref<32x64xf8E4M3FN>, %sa: memref<32x2xf8E8M0FNU>, %b: memref<32x32xi8>,
                              %sb: memref<2x32xf8E8M0FNU>, %c: memref<32x32xf32>, %tile: index) tiles 1 {
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      %at = triton_xla.extract %a[0, 0] [32, 64] [1, 1] : memref<32x64xf8E4M3FN> to tensor<32x64xf8E4M3FN>
      %sat = triton_xla.extract %sa[0, 0] [32, 2] [1, 1] : memref<32x2xf8E8M0FNU> to tensor<32x2xf8E8M0FNU>
      %bt = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x32xi8> to tensor<32x32xi8>
      %sbt = triton_xla.extract %sb[0, 0] [2, 32] [1, 1] : memref<2x32xf8E8M0FNU> to tensor<2x32xf8E8M0FNU>
      %r = triton_xla.dot_scaled %at scale %sat, %bt as f4E2M1FN packed 0 scale %sbt, %zero block 32
          : (tensor<32x64xf8E4M3FN>, tensor<32x2xf8E8M0FNU>, tensor<32x32xi8>, tensor<2x32xf8E8M0FNU>,
             tensor<32x32xf32>) -> tensor<32x32xf32>
      triton_xla.insert %r into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$lhs, Optional<TritonXLA_Tile>:$lhs_scale, Optional<F32>:$lhs_global,
    TritonXLA_Tile:$rhs, Optional<TritonXLA_Tile>:$rhs_scale, Optional<F32>:$rhs_global,
    TritonXLA_Tile:$accumulator,
    OptionalAttr<TypeAttr>:$lhs_format, OptionalAttr<I64Attr>:$lhs_packed,
    DefaultValuedAttr<TritonXLA_ScaleLayoutAttr, "ScaleLayout::Linear">:$lhs_layout,
    OptionalAttr<TypeAttr>:$rhs_format, OptionalAttr<I64Attr>:$rhs_packed,
    DefaultValuedAttr<TritonXLA_ScaleLayoutAttr, "ScaleLayout::Linear">:$rhs_layout,
    I64Attr:$block_size);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $lhs (`as` $lhs_format^)? (`packed` $lhs_packed^)? (`scale` $lhs_scale^)? (`layout` `` $lhs_layout^)?
    (`global` $lhs_global^)? `,`
    $rhs (`as` $rhs_format^)? (`packed` $rhs_packed^)? (`scale` $rhs_scale^)? (`layout` `` $rhs_layout^)?
    (`global` $rhs_global^)? `,`
    $accumulator `block` $block_size attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TritonXLA_SparseDotOp : TritonXLA_Op<"sparse_dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "Matmul with a structured sparse operand, added to an accumulator";
  let description = [{
    A `triton_xla.dot` whose `lhs` has half of its elements along K, or, if an operand has
    scales, a `triton_xla.dot_scaled`. The other elements of `lhs` are zero. `metadata`
    states the positions of the elements, in groups of 4 bits along K:

    | elements of lhs | a group is | 4 bits |
    |---|---|---|
    | f16, bf16, i8, f8, f6 (2:4) | 2 of 4 elements | two positions |
    | f32 (1:2) | 1 of 2 elements | 0100 for the first one, 1110 for the second one |
    | f4E2M1FN (paired 4:8) | 2 pairs of 4 pairs of elements | two positions of pairs |

    A position is 2 bits, that of the first element in the low ones. The first position must
    be less than the second one; the result for other bits is unspecified. `metadata` has
    elements of i8, i16 or i32, and one row for each row of `lhs`. The groups of a row are in
    order, from the lowest bits of its first element, as in the registers of `mma.sp`.

    Without scales, element types are those of `triton_xla.dot` except f64; f32 operands may
    be rounded to TF32. With scales, which both operands then have, elements, packing,
    scales and layouts are those of `triton_xla.dot_scaled`. `block` counts elements along K,
    including zeros, and is 16, 32 or 64. Where the element of `lhs` is not stored and that
    of `rhs` is an infinity or NaN, the target may ignore it or make the result NaN.

    Example:

    ```mlir
    triton_xla.entry_func @sparse(%a: memref<32x16xf16>, %e: memref<32x2xi16>, %b: memref<32x32xf16>,
                                  %c: memref<32x32xf32>, %tile: index) tiles 1 {
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      %at = triton_xla.extract %a[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
      %et = triton_xla.extract %e[0, 0] [32, 2] [1, 1] : memref<32x2xi16> to tensor<32x2xi16>
      %bt = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
      %r = triton_xla.sparse_dot %at metadata %et, %bt, %zero
          : (tensor<32x16xf16>, tensor<32x2xi16>, tensor<32x32xf16>, tensor<32x32xf32>) -> tensor<32x32xf32>
      triton_xla.insert %r into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$lhs, TritonXLA_Tile:$metadata, Optional<TritonXLA_Tile>:$lhs_scale, Optional<F32>:$lhs_global,
    TritonXLA_Tile:$rhs, Optional<TritonXLA_Tile>:$rhs_scale, Optional<F32>:$rhs_global,
    TritonXLA_Tile:$accumulator,
    OptionalAttr<TypeAttr>:$lhs_format, OptionalAttr<I64Attr>:$lhs_packed,
    DefaultValuedAttr<TritonXLA_ScaleLayoutAttr, "ScaleLayout::Linear">:$lhs_layout,
    OptionalAttr<TypeAttr>:$rhs_format, OptionalAttr<I64Attr>:$rhs_packed,
    DefaultValuedAttr<TritonXLA_ScaleLayoutAttr, "ScaleLayout::Linear">:$rhs_layout,
    OptionalAttr<I64Attr>:$block_size);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $lhs (`as` $lhs_format^)? (`packed` $lhs_packed^)? `metadata` $metadata (`scale` $lhs_scale^)?
    (`layout` `` $lhs_layout^)? (`global` $lhs_global^)? `,`
    $rhs (`as` $rhs_format^)? (`packed` $rhs_packed^)? (`scale` $rhs_scale^)? (`layout` `` $rhs_layout^)?
    (`global` $rhs_global^)? `,`
    $accumulator (`block` $block_size^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of elements along K that 4 bits of the metadata describe.
    int64_t getGroupSize();
  }];
}

#endif // SMALTI_DIALECTS_TRITONXLA_MATMULOPS
