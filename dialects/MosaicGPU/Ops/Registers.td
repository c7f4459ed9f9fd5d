//===- Registers.td - Vectors in registers -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REGISTERS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REGISTERS

include "smalti/dialects/MosaicGPU/Ops/Base.td"

def MosaicGPU_VectorLoadOp : MosaicGPU_InferringOp<"vector_load"> {
  let summary = "Loads a block-level vector from memory of the same shape";
  let description = [{
    The block loads all of `source` into a vector. `out_layouts` distributes its
    elements across warps, lanes and registers. The memory is shared (address space
    `workgroup`), shared in another block (`#mosaic_gpu.smem_cluster`) or global (no
    address space, or `global`). It is strided and has the shape and element type
    of the vector. `optimized = true` requires a transfer without bank conflicts
    (layout inference reports an error if none exists), `false` allows conflicts.
    An absent attribute is treated as true by layout inference.

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
    The block stores the vector to all of `destination`. An element that several lanes hold is stored once. `optimized`
    has the meaning of `vector_load`, but a store without the attribute allows conflicts. With `multimem` (default
    false), the destination is a multicast address in global memory. The op then writes to the memory of every device of
    the group. `atomic_type` combines each element atomically with the element in memory instead of replacing it; `and`,
    `or` and `xor` require integers.

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
  let summary = "Loads a vector from the memory of every device of a group and reduces across devices";
  let description = [{
    `source` is a multicast address in global memory: the same address in the
    memory of each device. The op reduces each element across the devices with
    `reduction_type`. Integers have 32 or 64 bits. They require `umin`, `smin`, `umax`
    or `smax` instead of `min` and `max`. f16, bf16 and 8-bit floats support `add`,
    `min` and `max`; f32 supports only `add`. Other combinations are errors.

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
  let summary = "Converts a vector to another layout";
  let description = [{
    The result has the elements of the operand in the layout `new_layout`. If the
    operand has another layout, the elements move: within a thread, between lanes
    by shuffles, or through shared memory. A layout that is not valid for the vector
    type, or `out_layouts` that differ from `new_layout`, are errors.

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
  let summary = "Broadcasts a vector along new dimensions and along dimensions of size one";
  let description = [{
    Dimension `i` of the operand becomes dimension `broadcast_dimensions[i]` of the
    result. The list is strictly increasing and has one entry for each dimension of
    the operand, whose rank is at least 1. A dimension has the same size in the
    result, or has size one and is repeated. The op repeats the operand along the
    other dimensions of the result.

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
  let summary = "Concatenates vectors along a dimension";
  let description = [{
    The operands, at least one, have the same element type and differ in size only
    along `dimension`. The size of the result along `dimension` is the sum of the
    sizes of the operands.

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
  let summary = "Vector whose elements are their index along a dimension";
  let description = [{
    Element `[i, j, ...]` is its index along `dimension`, which must be less than the rank. Elements are integers, `index`
    or floats.

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
  let summary = "Returns its operands unchanged; passes do not optimize across it";
  let description = [{
    The results are the operands, at least one. The op has unknown side effects, so
    passes neither fold it nor move memory accesses across it.

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
