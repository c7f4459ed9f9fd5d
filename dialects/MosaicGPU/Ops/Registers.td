//===- Registers.td - Vectors in registers -----------------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REGISTERS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REGISTERS

include "smalti/dialects/MosaicGPU/Ops/Base.td"

def MosaicGPU_VectorLoadOp : MosaicGPU_InferringOp<"vector_load"> {
  let summary = "Loads a block-level vector from memory of the same shape";
  let description = [{
    The block reads all of `source` into a vector whose elements are spread over
    warps, lanes and registers as `out_layouts` says. The memory is shared
    (address space `workgroup`), another block's (`#mosaic_gpu.smem_cluster`) or
    global (none, or `global`). `optimized`: true
    asks for a transfer without bank conflicts, false allows any, and absent
    leaves the choice to the lowering.

    Example:

    ```mlir
    func.func @load(%m: memref<64x64xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf16> {
      %v = mosaic_gpu.vector_load %m {optimized = true}
          : memref<64x64xf16, #gpu.address_space<workgroup>> -> vector<64x64xf16>
      return %v : vector<64x64xf16>
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source, OptionalAttr<BoolAttr>:$optimized);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def MosaicGPU_VectorStoreOp : MosaicGPU_Op<"vector_store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Stores a block-level vector to memory of the same shape";
  let description = [{
    The block writes all of `destination`. Elements that several lanes hold are
    written once. `optimized` is that of `vector_load`. `multimem` writes to the
    same place in the memory of every device of the group; the destination is
    then a multicast address in global memory. `atomic_type` combines each
    element with the one that is there, in one step, instead of replacing it.

    Example:

    ```mlir
    func.func @store(%v: vector<64x64xf16>, %m: memref<64x64xf16>) {
      mosaic_gpu.vector_store %v, %m : vector<64x64xf16>, memref<64x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$valueToStore, AnyMemRef:$destination,
                       OptionalAttr<BoolAttr>:$optimized, OptionalAttr<MosaicGPU_AtomicOpType>:$atomic_type,
                       DefaultValuedAttr<BoolAttr, "false">:$multimem);
  let assemblyFormat = "$valueToStore `,` $destination attr-dict `:` type($valueToStore) `,` type($destination)";
}

def MosaicGPU_MultimemLoadReduceOp : MosaicGPU_InferringOp<"multimem_load_reduce"> {
  let summary = "Loads a vector from the memory of every device of a group, and combines the values";
  let description = [{
    `source` is a multicast address in global memory, which stands for the same
    place in the memory of each device; element by element the devices' values
    are combined as `reduction_type` says. Integers have 32 or 64 bits, and `min`
    and `max` of them say whether they are signed (`umin`, `smin`, `umax`,
    `smax`). Of f16, bf16 and the 8-bit floats there are `add`, `min` and `max`,
    of f32 only `add`.

    Example:

    ```mlir
    func.func @sum(%m: memref<64x64xf16>) -> vector<64x64xf16> {
      %v = mosaic_gpu.multimem_load_reduce add %m : memref<64x64xf16> -> vector<64x64xf16>
      return %v : vector<64x64xf16>
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source,
                       MosaicGPU_MultimemLoadReductionType:$reduction_type);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "$reduction_type $source attr-dict `:` type($source) `->` type($result)";
}

def MosaicGPU_LayoutCastOp : MosaicGPU_Op<"layout_cast", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Says which layout a vector has from here on";
  let description = [{
    The result holds the same elements in `new_layout`. Where the operand has
    another layout, the elements are moved.

    Example:

    ```mlir
    func.func @cast(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>)
          {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 128], 2>}
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$x, AnyAttr:$new_layout);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "`x` `(` $x `:` type($x) `)` attr-dict";
}

def MosaicGPU_BroadcastInDimOp : MosaicGPU_Op<"broadcast_in_dim", [Pure]> {
  let summary = "Repeats a vector along new dimensions, and along dimensions of size one";
  let description = [{
    Dimension `i` of the operand becomes dimension `broadcast_dimensions[i]` of
    the result; these are strictly increasing. It has the same size there, or is
    of size one and repeated. In the other dimensions of the result the operand
    is repeated.

    Example:

    ```mlir
    func.func @rows(%v: vector<64xf32>) -> vector<64x128xf32> {
      %r = mosaic_gpu.broadcast_in_dim(%v : vector<64xf32>) {broadcast_dimensions = array<i64: 0>} -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyVectorOfAnyRank:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = "`(` $operand `:` type($operand) `)` attr-dict `->` type($result)";
}

def MosaicGPU_VectorConcatOp : MosaicGPU_InferringOp<"vector_concat", [Pure]> {
  let summary = "Vectors behind one another along a dimension";
  let description = [{
    The operands have one element type and one shape but for `dimension`, along
    which the result is as long as all of them together.

    Example:

    ```mlir
    func.func @both(%a: vector<64x64xf32>, %b: vector<64x128xf32>) -> vector<64x192xf32> {
      %r = mosaic_gpu.vector_concat(%a, %b : vector<64x64xf32>, vector<64x128xf32>) {dimension = 1 : i32}
          -> vector<64x192xf32>
      return %r : vector<64x192xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyVectorOfNonZeroRank>:$operands, I32Attr:$dimension);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "`(` $operands `:` type($operands) `)` attr-dict `->` type($result)";
}

def MosaicGPU_BroadcastedIotaOp : MosaicGPU_Op<"broadcasted_iota", [Pure]> {
  let summary = "A vector whose elements are their index along a dimension";
  let description = [{
    Example:

    ```mlir
    func.func @columns() -> vector<64x128xi32> {
      %r = mosaic_gpu.broadcasted_iota 1 : vector<64x128xi32>
      return %r : vector<64x128xi32>
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$dimension);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "$dimension attr-dict `:` type($result)";
}

def MosaicGPU_OptimizationBarrierOp : MosaicGPU_InferringOp<"optimization_barrier"> {
  let summary = "Values that no pass looks through, and a place that nothing moves across";
  let description = [{
    The results are the operands. It is unknown what else the op does.

    Example:

    ```mlir
    func.func @opaque(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = mosaic_gpu.optimization_barrier %v : vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_REGISTERS
