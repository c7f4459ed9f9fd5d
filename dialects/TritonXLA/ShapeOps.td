//===- ShapeOps.td - Shapes and positions of tiles ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_SHAPEOPS
#define SMALTI_DIALECTS_TRITONXLA_SHAPEOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"

def TritonXLA_BroadcastOp : TritonXLA_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tile along new dimensions and dimensions of size 1";
  let description = [{
    Dimension `i` of the operand becomes dimension `dims[i]` of the result. Its size
    is 1 or the size in the result; a dimension of size 1 is repeated. The tile is also
    repeated along the dimensions of the result that are not in `dims`. `dims` is
    strictly increasing, with one entry for each dimension of the operand. A tile of
    rank 0 becomes a splat. The element type does not change.

    Example:

    ```mlir
    triton_xla.entry_func @rows(%src: memref<16xf32>, %dst: memref<8x16xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0] [16] [1] : memref<16xf32> to tensor<16xf32>
      %b = triton_xla.broadcast %t dims [1] : tensor<16xf32> -> tensor<8x16xf32>
      triton_xla.insert %b into %dst[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into memref<8x16xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile, DenseI64ArrayAttr:$dims);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile `dims` $dims attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_TransposeOp : TritonXLA_Op<"transpose", [Pure]> {
  let summary = "Permutes the dimensions of a tile";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the operand.

    Example:

    ```mlir
    triton_xla.entry_func @transpose(%src: memref<8x4xf32>, %dst: memref<4x8xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 4] [1, 1] : memref<8x4xf32> to tensor<8x4xf32>
      %r = triton_xla.transpose %t [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
      triton_xla.insert %r into %dst[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile, DenseI64ArrayAttr:$permutation);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile $permutation attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_ReshapeOp : TritonXLA_Op<"reshape", [Pure]> {
  let summary = "Changes the shape of a tile, in row-major order";
  let description = [{
    The result has the elements of the operand in the same row-major order, and the
    same number of elements.

    Example:

    ```mlir
    triton_xla.entry_func @flatten(%src: memref<8x4xf32>, %dst: memref<32xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 4] [1, 1] : memref<8x4xf32> to tensor<8x4xf32>
      %r = triton_xla.reshape %t : tensor<8x4xf32> -> tensor<32xf32>
      triton_xla.insert %r into %dst[0] [32] [1] : tensor<32xf32> into memref<32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_SqueezeDimsOp : TritonXLA_Op<"squeeze_dims", [Pure]> {
  let summary = "Removes dimensions of size 1";
  let description = [{
    The op removes the dimensions of the operand in `dims`, which is strictly increasing.
    Each of them has size 1. The canonical form is `triton_xla.reshape`.

    Example:

    ```mlir
    triton_xla.entry_func @squeeze(%src: memref<8x1x4xf32>, %dst: memref<8x4xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0, 0] [8, 1, 4] [1, 1, 1] : memref<8x1x4xf32> to tensor<8x1x4xf32>
      %r = triton_xla.squeeze_dims %t [1] : tensor<8x1x4xf32> -> tensor<8x4xf32>
      triton_xla.insert %r into %dst[0, 0] [8, 4] [1, 1] : tensor<8x4xf32> into memref<8x4xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile, DenseI64ArrayAttr:$dims);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile $dims attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TritonXLA_IotaOp : TritonXLA_Op<"iota", [Pure]> {
  let summary = "Tile of the indices along a dimension";
  let description = [{
    Each element is its index along dimension `dim`, from 0 to the size minus 1.
    Elements are integers, `index` or floats. The last index must be at most the
    largest unsigned value of an integer type, or the largest finite value of a float
    type. Floats are rounded to nearest, ties to even. f8E8M0FNU cannot represent zero,
    so it is not supported.

    Example:

    ```mlir
    triton_xla.entry_func @columns(%dst: memref<8x4xi32>, %tile: index) tiles 1 {
      %t = triton_xla.iota dim 1 : tensor<8x4xi32>
      triton_xla.insert %t into %dst[0, 0] [8, 4] [1, 1] : tensor<8x4xi32> into memref<8x4xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_ConcatOp : TritonXLA_Op<"concat", [Pure]> {
  let summary = "Concatenates tiles along a dimension";
  let description = [{
    The result has the elements of the operands one after the other along dimension
    `dim`. The operands have the element type and the sizes of the result, except along
    `dim`, where the sizes add up to that of the result.

    Example:

    ```mlir
    triton_xla.entry_func @stack(%src: memref<8x4xf32>, %dst: memref<16x4xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 4] [1, 1] : memref<8x4xf32> to tensor<8x4xf32>
      %n = arith.negf %t : tensor<8x4xf32>
      %r = triton_xla.concat %t, %n dim 0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      triton_xla.insert %r into %dst[0, 0] [16, 4] [1, 1] : tensor<16x4xf32> into memref<16x4xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins Variadic<TritonXLA_Tile>:$tiles, I64Attr:$dim);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tiles `dim` $dim attr-dict `:` functional-type($tiles, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_SliceOp : TritonXLA_Op<"slice", [Pure]> {
  let summary = "Window of a tile at constant offsets";
  let description = [{
    Element `(i, j, ...)` of the result is `tile[o0 + i * s0, o1 + j * s1, ...]` with
    static offsets `o` and strides `s`. The window must be inside of the tile, unlike
    that of `triton_xla.extract`. The shape of the result is the size list.

    Example:

    ```mlir
    triton_xla.entry_func @half(%src: memref<8x8xf32>, %dst: memref<8x4xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 8] [1, 1] : memref<8x8xf32> to tensor<8x8xf32>
      %r = triton_xla.slice %t [0, 4] [8, 4] [1, 1] : tensor<8x8xf32> -> tensor<8x4xf32>
      triton_xla.insert %r into %dst[0, 0] [8, 4] [1, 1] : tensor<8x4xf32> into memref<8x4xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$tile, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile $offsets $sizes $strides attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_SplitOp : TritonXLA_Op<"split", [Pure]> {
  let summary = "Splits a tile into equal parts along a dimension";
  let description = [{
    The results are the parts of the operand along dimension `dim`, in order. They have
    the same type. The canonical form is one `triton_xla.slice` for each part.

    Example:

    ```mlir
    triton_xla.entry_func @halves(%src: memref<8x8xf32>, %dst: memref<8x4xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 8] [1, 1] : memref<8x8xf32> to tensor<8x8xf32>
      %a, %b = triton_xla.split %t dim 1 : tensor<8x8xf32> -> (tensor<8x4xf32>, tensor<8x4xf32>)
      %r = arith.addf %a, %b : tensor<8x4xf32>
      triton_xla.insert %r into %dst[0, 0] [8, 4] [1, 1] : tensor<8x4xf32> into memref<8x4xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile, I64Attr:$dim);
  let results = (outs Variadic<TritonXLA_Tile>:$parts);
  let assemblyFormat = "$tile `dim` $dim attr-dict `:` type($tile) `->` `(` type($parts) `)`";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // SMALTI_DIALECTS_TRITONXLA_SHAPEOPS
