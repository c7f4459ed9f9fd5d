//===- Atomics.td - Atomic operations at index vectors -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_ATOMICS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_ATOMICS

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"

/// Element `i` of the vectors is one atomic operation on element `indices[i]`
/// of the memory.
class MosaicGPU_AtomicOp<string mnemonic, list<Trait> traits = []>
    : MosaicGPU_Op<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])>;

def MosaicGPU_AtomicIndices : VectorOfNonZeroRankOf<[I32, I64, Index]>;

def MosaicGPU_AtomicRMWOp : MosaicGPU_AtomicOp<"atomic_rmw"> {
  let summary = "Combines elements of a vector atomically with elements of memory";
  let description = [{
    For each element `i` of the vectors, the op replaces element `indices[i]` of `destination` by the combination of its
    value and `values[i]`. The old value is element `i` of the result, which may be omitted. An element whose `mask` is
    false does not access memory, and its result is zero.

    An index may occur several times: each occurrence is one operation, and their order is undefined. An element that
    several threads hold is one operation too. An index that is not in bounds and is not masked is undefined behavior.

    | kind | elements |
    |---|---|
    | `addf`, `mulf`, `maximumf`, `minimumf`, `maxnumf`, `minnumf` | f16, bf16, f32, f64 |
    | `addi`, `muli`, `andi`, `ori`, `xori`, `maxs`, `mins`, `maxu`, `minu` | i2 and i4 (packed), i8, i16, i32, i64 |
    | `assign` (exchange) | integers and floats of 2 or 4 bits (packed), 8, 16, 32 or 64 bits |

    The operation is atomic for the threads of the block, of the device, or of the system (`scope`). `ordering` applies to
    each operation and to the thread that executes it. An acquire orders later accesses of the thread after the operation,
    and a release orders earlier accesses before it.

    The memory is one-dimensional, strided, and shared or global (packed elements: global). All vectors have the same shape.

    Example:

    ```mlir
    func.func @histogram(%bins: memref<256xi32>, %bin: vector<128xi32>, %ones: vector<128xi32>, %mask: vector<128xi1>) {
      mosaic_gpu.atomic_rmw addi %ones, %bins[%bin] mask(%mask) device relaxed
          : vector<128xi32>, memref<256xi32>, vector<128xi32>
      %ticket = mosaic_gpu.atomic_rmw addi %ones, %bins[%bin] device acq_rel
          : vector<128xi32>, memref<256xi32>, vector<128xi32> -> vector<128xi32>
      return
    }
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, AnyVectorOfNonZeroRank:$values, AnyMemRef:$destination,
                       MosaicGPU_AtomicIndices:$indices, Optional<VectorOfNonZeroRankOf<[I1]>>:$mask,
                       MosaicGPU_AtomicScope:$scope, MosaicGPU_AtomicOrdering:$ordering);
  let results = (outs Optional<AnyVectorOfNonZeroRank>:$old);
  let assemblyFormat = [{
    $kind $values `,` $destination `[` $indices `]` (`mask` `(` $mask^ `)`)? $scope $ordering attr-dict
    `:` type($values) `,` type($destination) `,` type($indices) ``
    custom<MaskType>(ref($mask), ref(type($indices)), type($mask)) (`->` type($old)^)?
  }];
}

def MosaicGPU_AtomicCASOp : MosaicGPU_AtomicOp<"atomic_cas", [AllTypesMatch<["expected", "desired"]>]> {
  let summary = "Compares elements of memory with a vector and replaces equal elements atomically";
  let description = [{
    For each element `i` of the vectors, the op replaces element `indices[i]` of `destination` by `desired[i]` if its bits
    are those of `expected[i]`. The old value is element `i` of the result, which may be omitted. An element whose `mask`
    is false does not access memory, and its result is zero.

    Elements are integers and floats of 2, 4, 8, 16, 32 or 64 bits. Floats are compared as bits: NaN may equal NaN, and -0.0
    differs from 0.0. Indices, scope, ordering and memory are those of `mosaic_gpu.atomic_rmw`. If an operation does not
    replace the element, it is a load: its release has no effect.

    Example:

    ```mlir
    func.func @claim(%owners: memref<256xi32>, %slot: vector<128xi32>, %free: vector<128xi32>, %me: vector<128xi32>)
        -> vector<128xi32> {
      %old = mosaic_gpu.atomic_cas %free, %me, %owners[%slot] device acq_rel
          : vector<128xi32>, memref<256xi32>, vector<128xi32> -> vector<128xi32>
      return %old : vector<128xi32>
    }
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$expected, AnyVectorOfNonZeroRank:$desired, AnyMemRef:$destination,
                       MosaicGPU_AtomicIndices:$indices, Optional<VectorOfNonZeroRankOf<[I1]>>:$mask,
                       MosaicGPU_AtomicScope:$scope, MosaicGPU_AtomicOrdering:$ordering);
  let results = (outs Optional<AnyVectorOfNonZeroRank>:$old);
  let assemblyFormat = [{
    $expected `,` $desired `,` $destination `[` $indices `]` (`mask` `(` $mask^ `)`)? $scope $ordering attr-dict
    `:` type($expected) `,` type($destination) `,` type($indices) ``
    custom<MaskType>(ref($mask), ref(type($indices)), type($mask)) (`->` type($old)^)?
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_ATOMICS
