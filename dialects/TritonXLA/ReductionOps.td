//===- ReductionOps.td - Reductions, scans and sorts -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_REDUCTIONOPS
#define SMALTI_DIALECTS_TRITONXLA_REDUCTIONOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"

/// An op whose region computes scalars from elements.
class TritonXLA_RegionOp<string mnemonic, list<Trait> traits = []>
    : TritonXLA_Op<mnemonic, traits # [NoMemoryEffect, RecursivelySpeculatable, SingleBlock]> {
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the first input; the others have the same shape.
    ::mlir::RankedTensorType getInputType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getInputs().front().getType());
    }
  }];
}

def TritonXLA_ReduceOp : TritonXLA_RegionOp<"reduce", [AttrSizedOperandSegments]> {
  let summary = "Reduces tiles along dimensions";
  let description = [{
    The op combines all elements along the dimensions in `dims`, and the initial value,
    which enters each result element exactly once. `dims` is strictly increasing. If it
    has all dimensions, the results have rank 0; if it is empty, a result element
    combines the initial value and one element.

    The op has one or more inputs of one shape, and one initial value and one result
    for each of them. The region combines two partial results. Its first arguments are
    the left partial results and its last ones the right ones, one scalar per input in
    each half; it yields the combined ones. It must be associative and commutative, and
    the order in which it is applied depends on the target. If it is only approximately
    associative, such as a sum of floats, so is the result. The region has scalar ops
    without side effects and may use scalars from outside.

    Example: the maximum of each row and its first column.

    ```mlir
    triton_xla.entry_func @argmax(%src: memref<8x64xf32>, %dst: memref<8xi32>, %tile: index) tiles 1 {
      %ninf = arith.constant 0xFF800000 : f32
      %last = arith.constant 64 : i32
      %t = triton_xla.extract %src[0, 0] [8, 64] [1, 1] : memref<8x64xf32> to tensor<8x64xf32>
      %n = triton_xla.iota dim 1 : tensor<8x64xi32>
      %v, %i = triton_xla.reduce %t, %n dims [1] init %ninf, %last
          : (tensor<8x64xf32>, tensor<8x64xi32>, f32, i32) -> (tensor<8xf32>, tensor<8xi32>) {
      ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
        %greater = arith.cmpf ogt, %lv, %rv : f32
        %equal = arith.cmpf oeq, %lv, %rv : f32
        %before = arith.cmpi slt, %li, %ri : i32
        %first = arith.andi %equal, %before : i1
        %left = arith.ori %greater, %first : i1
        %value = arith.select %left, %lv, %rv : f32
        %index = arith.select %left, %li, %ri : i32
        triton_xla.yield %value, %index : f32, i32
      }
      triton_xla.insert %i into %dst[0] [8] [1] : tensor<8xi32> into memref<8xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    Variadic<TritonXLA_Tile>:$inputs, Variadic<TritonXLA_Scalar>:$inits, DenseI64ArrayAttr:$dims);
  let results = (outs Variadic<TritonXLA_Tile>:$reduced);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `dims` $dims `init` $inits attr-dict `:` functional-type(operands, results) $combiner
  }];
}

def TritonXLA_ScanOp : TritonXLA_RegionOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "Prefix reductions (scans) of tiles along a dimension";
  let description = [{
    Along dimension `dim`, with elements `a0`, `a1`, ... and the initial value `init`,
    the inclusive scan has the elements `init a0`, `init a0 a1`, `init a0 a1 a2` and so
    on, where juxtaposition is the region. With `exclusive`, they are `init`,
    `init a0`, `init a0 a1` and so on. With `reverse`, the scan starts at the last
    element: `a0` is the last one, and results are in the position of their last operand.

    The operands, the results and the region are those of `triton_xla.reduce`, but the
    results have the type of the inputs, and the region does not need to be
    commutative. Its left arguments are the reduction of the elements that come first.

    Example:

    ```mlir
    triton_xla.entry_func @cumsum(%src: memref<8x64xf32>, %dst: memref<8x64xf32>, %tile: index) tiles 1 {
      %zero = arith.constant 0.0 : f32
      %t = triton_xla.extract %src[0, 0] [8, 64] [1, 1] : memref<8x64xf32> to tensor<8x64xf32>
      %s = triton_xla.scan %t dim 1 init %zero exclusive : (tensor<8x64xf32>, f32) -> tensor<8x64xf32> {
      ^bb0(%left: f32, %right: f32):
        %sum = arith.addf %left, %right : f32
        triton_xla.yield %sum : f32
      }
      triton_xla.insert %s into %dst[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into memref<8x64xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    Variadic<TritonXLA_Tile>:$inputs, Variadic<TritonXLA_Scalar>:$inits, I64Attr:$dim,
    UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Variadic<TritonXLA_Tile>:$scanned);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `dim` $dim `init` $inits (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:`
    functional-type(operands, results) $combiner
  }];
}

def TritonXLA_SortOp : TritonXLA_RegionOp<"sort"> {
  let summary = "Sorts tiles along a dimension";
  let description = [{
    The op permutes the elements along dimension `dim`, separately for each index of the
    other dimensions. All inputs have the same shape and get the same permutation; the
    results have their types.

    The region compares two elements and yields whether the first one must come before
    the second one. It has two arguments per input, in the order of the inputs: the
    element of the first position and that of the second one. It must be a strict weak
    order; with NaNs, a comparison such as `olt` is not. The sort is stable: elements of
    which neither must come before the other keep their order. The region has scalar ops
    without side effects and may use scalars from outside.

    Example: keys in descending order, with their values.

    ```mlir
    triton_xla.entry_func @sort(%src: memref<8x64xi32>, %dst: memref<8x64xi32>, %tile: index) tiles 1 {
      %k = triton_xla.extract %src[0, 0] [8, 64] [1, 1] : memref<8x64xi32> to tensor<8x64xi32>
      %v = triton_xla.iota dim 1 : tensor<8x64xi16>
      %keys, %values = triton_xla.sort %k, %v dim 1
          : (tensor<8x64xi32>, tensor<8x64xi16>) -> (tensor<8x64xi32>, tensor<8x64xi16>) {
      ^bb0(%k0: i32, %k1: i32, %v0: i16, %v1: i16):
        %before = arith.cmpi sgt, %k0, %k1 : i32
        triton_xla.yield %before : i1
      }
      triton_xla.insert %keys into %dst[0, 0] [8, 64] [1, 1] : tensor<8x64xi32> into memref<8x64xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins Variadic<TritonXLA_Tile>:$inputs, I64Attr:$dim);
  let results = (outs Variadic<TritonXLA_Tile>:$sorted);
  let regions = (region SizedRegion<1>:$comparator);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results) $comparator";
}

def TritonXLA_YieldOp : TritonXLA_Op<"yield",
    [Pure, ReturnLike, Terminator, ParentOneOf<["ReduceOp", "ScanOp", "SortOp", "InlineAsmOp", "ExternCallOp"]>]> {
  let summary = "Terminates the region of a reduction, a scan, a sort or a reference";
  let description = [{
    The operands are the results of the region.

    Example:

    ```mlir
    triton_xla.entry_func @sum(%src: memref<64xi32>, %dst: memref<i32>, %tile: index) tiles 1 {
      %zero = arith.constant 0 : i32
      %t = triton_xla.extract %src[0] [64] [1] : memref<64xi32> to tensor<64xi32>
      %s = triton_xla.reduce %t dims [0] init %zero : (tensor<64xi32>, i32) -> tensor<i32> {
      ^bb0(%left: i32, %right: i32):
        %sum = arith.addi %left, %right : i32
        triton_xla.yield %sum : i32
      }
      triton_xla.insert %s into %dst[] [] [] : tensor<i32> into memref<i32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins Variadic<TritonXLA_Scalar>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def TritonXLA_HistogramOp : TritonXLA_Op<"histogram",
    [Pure, OptionalTypesMatchWith<"mask has i1 elements and the shape of the tile", "tile", "mask",
                                  "::smalti::triton_xla::getMaskType($_self)">]> {
  let summary = "Histogram: counts how often each integer occurs in a tile";
  let description = [{
    Element `i` of the result is the number of elements of the tile that are `i` and
    that `mask`, if it is given, does not exclude. Values outside of `[0, bins)` are not
    counted; elements are signed integers or `index`. Counts are i32 or i64 and wrap.

    Example:

    ```mlir
    triton_xla.entry_func @count(%src: memref<1000xi32>, %dst: memref<256xi32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0] [1024] [1] fill -1 : i32 : memref<1000xi32> to tensor<1024xi32>
      %h = triton_xla.histogram %t bins 256 : tensor<1024xi32> -> tensor<256xi32>
      triton_xla.insert %h into %dst[0] [256] [1] : tensor<256xi32> into memref<256xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins TritonXLA_Tile:$tile, Optional<TritonXLA_Tile>:$mask, ConfinedAttr<I64Attr, [IntPositive]>:$bins);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = "$tile `bins` $bins (`mask` $mask^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

#endif // SMALTI_DIALECTS_TRITONXLA_REDUCTIONOPS
