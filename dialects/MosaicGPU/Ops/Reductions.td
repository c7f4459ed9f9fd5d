//===- Reductions.td - Reductions and scans with a region --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REDUCTIONS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REDUCTIONS

include "smalti/dialects/MosaicGPU/Ops/Base.td"

/// An op whose region combines two tuples of scalars into one.
class MosaicGPU_CombiningOp<string mnemonic, list<Trait> traits = []>
    : MosaicGPU_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable,
        RangedTypesMatchWith<"initial values have the element types of the inputs", "inputs", "inits",
                             "::smalti::mosaic_gpu::getElementTypes($_self)">])> {
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def MosaicGPU_ReduceOp : MosaicGPU_CombiningOp<"reduce"> {
  let summary = "Reduces one or more vectors together along dimensions; the region combines their elements";
  let description = [{
    The `n` inputs, at least one, have the same shape. The op combines all elements that differ only in their indices
    along `dims`, which are strictly increasing. It combines each result once with the initial values `inits`, one
    scalar per input. The results have the remaining dimensions. They are scalars if no dimension remains. If `dims` is
    empty, the op combines each element with the initial value.

    The region has `2n` scalar arguments: `n` values that are combined with the next `n` values. `mosaic_gpu.return`
    returns the `n` combined values. The types are the element types of the inputs. The region must be associative and
    commutative; the order of the elements is not specified. It contains only ops on scalars without side effects, and
    can use scalars of the kernel.

    All inputs have one layout, and the results have the layout that `layout reduce` gives. A strided layout can only be
    reduced along all dimensions.

    Example:

    ```mlir
    func.func @first_maximum(%values: vector<64x128xf32>, %columns: vector<64x128xi32>, %low: f32, %none: i32)
        -> (vector<64xf32>, vector<64xi32>) {
      %max, %at = mosaic_gpu.reduce %values, %columns dims [1] init %low, %none
          : vector<64x128xf32>, vector<64x128xi32> -> vector<64xf32>, vector<64xi32> {
      ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
        %larger = arith.cmpf ogt, %a, %b : f32
        %equal = arith.cmpf oeq, %a, %b : f32
        %before = arith.cmpi slt, %i, %j : i32
        %first = arith.andi %equal, %before : i1
        %left = arith.ori %larger, %first : i1
        %m = arith.select %left, %a, %b : f32
        %k = arith.select %left, %i, %j : i32
        mosaic_gpu.return %m, %k : f32, i32
      }
      return %max, %at : vector<64xf32>, vector<64xi32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyFixedVectorOfNonZeroRank>:$inputs, Variadic<AnyType>:$inits,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $inputs `dims` $dims `init` $inits attr-dict `:` type($inputs) `->` type($results) $body
  }];
}

def MosaicGPU_ScanOp : MosaicGPU_CombiningOp<"scan", [
    RangedTypesMatchWith<"results have the types of the inputs", "inputs", "results", "$_self">]> {
  let summary = "Prefix reduction (scan) of one or more vectors together along a dimension; the region combines their elements";
  let description = [{
    The `n` inputs, at least one, have the same shape, and so have the results. With the elements `a0, a1, ...` along
    `dim`, the initial value `z` and the region `*`, element `i` of the result is `z * a0 * ... * ai`. With `exclusive`
    it is `z * a0 * ... * a(i-1)`, thus `z` for `i = 0`. With `reverse`, the op scans from the last element: element `i`
    is `z * a(m-1) * ... * ai` for `m` elements, and `ai` is dropped with `exclusive`.

    The region has the form of the region of `mosaic_gpu.reduce`. It must be associative, but not commutative: the op
    keeps the order of the elements.

    Inputs and results have one layout, which is not strided unless the vectors have one dimension.

    Example:

    ```mlir
    func.func @prefix_sums(%counts: vector<64x128xi32>, %zero: i32) -> vector<64x128xi32> {
      %offsets = mosaic_gpu.scan %counts dim 1 init %zero exclusive : vector<64x128xi32> {
      ^bb0(%before: i32, %next: i32):
        %sum = arith.addi %before, %next : i32
        mosaic_gpu.return %sum : i32
      }
      return %offsets : vector<64x128xi32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyFixedVectorOfNonZeroRank>:$inputs, Variadic<AnyType>:$inits,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Variadic<AnyFixedVectorOfNonZeroRank>:$results);
  let assemblyFormat = [{
    $inputs `dim` $dim `init` $inits (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($inputs) $body
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_REDUCTIONS
