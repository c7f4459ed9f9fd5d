//===- IndexedOps.td - Indexed accesses and atomics --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_INDEXEDOPS
#define SMALTI_DIALECTS_TRITONXLA_INDEXEDOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"
include "smalti/dialects/TritonXLA/TritonXLAEnums.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"

/// A tile, or a scalar of a tile's element types.
def TritonXLA_TileOrScalar : AnyTypeOf<[TritonXLA_Tile, TritonXLA_Scalar], "tile or scalar">;
/// An index, or one for each element of a tile.
def TritonXLA_Indices : AnyTypeOf<[Index, I32, I64, TritonXLA_Tile], "index, i32, i64, or a tile of them">;

/// The mask of an optional operand `mask` for the lanes of `lanes`.
class TritonXLA_MaskOf<string lanes>
    : OptionalTypesMatchWith<"mask is i1 or has i1 elements, and has the shape of " # lanes, lanes, "mask",
                             "::smalti::triton_xla::getMaskType($_self)">;

def TritonXLA_GatherTileOp : TritonXLA_Op<"gather_tile", [Pure, TritonXLA_HasFill]> {
  let summary = "Selects elements of a tile along a dimension at the positions in an index tile";
  let description = [{
    Element `(i, j, ...)` of the result is the element of the tile at the same position,
    with `indices[i, j, ...]` in dimension `dim`: for `dim 1` of rank 2 it is
    `tile[i, indices[i, j]]`. The shape of the result is that of `indices`, which is that
    of the tile except in dimension `dim`. Indices are i8, i16, i32, i64 or `index`, and
    signed. An index that is negative or not below the size reads `fill` (default: zero,
    or code 0 of f8E8M0FNU, 2^-127).

    Example:

    ```mlir
    triton_xla.entry_func @pick(%src: memref<8x16xf32>, %n: memref<8x32xi32>, %dst: memref<8x32xf32>,
                                %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to tensor<8x16xf32>
      %i = triton_xla.extract %n[0, 0] [8, 32] [1, 1] : memref<8x32xi32> to tensor<8x32xi32>
      %r = triton_xla.gather_tile %t[%i] dim 1 fill -1.0 : f32
          : tensor<8x16xf32>, tensor<8x32xi32> -> tensor<8x32xf32>
      triton_xla.insert %r into %dst[0, 0] [8, 32] [1, 1] : tensor<8x32xf32> into memref<8x32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$tile, TritonXLA_Tile:$indices, I64Attr:$dim, OptionalAttr<TypedAttrInterface>:$fill);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $tile `` `[` $indices `]` `dim` $dim (`fill` $fill^)? attr-dict `:`
    type($tile) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TritonXLA_GatherOp : TritonXLA_Op<"gather",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TritonXLA_MaskOf<"result">,
     TritonXLA_HasFill]> {
  let summary = "Reads elements of a memref by index";
  let description = [{
    Each element of the result is `source[i0, i1, ...]`, with one index for each dimension
    of the source. An index is a tile with the shape of the result, or one scalar for all
    elements, of `index`, i32 or i64, and signed. An element is `fill`, and the source is not
    read, if an index is negative or not below the extent, or if its `mask` is false. The
    default of `fill` is zero, or code 0 of f8E8M0FNU, 2^-127.

    Example:

    ```mlir
    triton_xla.entry_func @rows(%src: memref<100x60xf32>, %n: memref<32xi32>, %dst: memref<32xf32>,
                                %tile: index) tiles 1 {
      %i = triton_xla.extract %n[0] [32] [1] : memref<32xi32> to tensor<32xi32>
      %zero = arith.constant dense<0> : tensor<32xi32>
      %m = arith.cmpi ne, %i, %zero : tensor<32xi32>
      %r = triton_xla.gather %src[%i, %tile] mask %m fill 1.0 : f32
          : memref<100x60xf32>, tensor<32xi32>, index -> tensor<32xf32>
      triton_xla.insert %r into %dst[0] [32] [1] : tensor<32xf32> into memref<32xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyStridedMemRef, "source">:$source, Variadic<TritonXLA_Indices>:$indices,
    Optional<AnyType>:$mask, OptionalAttr<TypedAttrInterface>:$fill);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $source `` `[` $indices `]` (`mask` $mask^)? (`fill` $fill^)? attr-dict `:`
    type($source) (`,` type($indices)^)? `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
  }];
}

def TritonXLA_ScatterOp : TritonXLA_Op<"scatter",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TritonXLA_MaskOf<"tile">]> {
  let summary = "Writes elements of a tile to a memref by index";
  let description = [{
    The op writes each element of the tile to `destination[i0, i1, ...]`, with one index for
    each dimension of the destination. An index is a tile with the shape of the tile, or one
    scalar for all elements, of `index`, i32 or i64, and signed. An element is not written
    if an index is negative or not below the extent, or if its `mask` is false.

    If several elements are written to one location, the one with the last row-major
    position in the tile is stored. `unique` states that this does not occur; the stored
    value is undefined if it does. `sorted` states that the locations, as row-major
    positions in the destination, do not decrease with the row-major position in the
    tile. `triton_xla.atomic_rmw` combines elements instead.

    Example:

    ```mlir
    triton_xla.entry_func @rows(%src: memref<32xf32>, %n: memref<32xi32>, %dst: memref<100x60xf32>,
                                %tile: index) tiles 60 {
      %t = triton_xla.extract %src[0] [32] [1] : memref<32xf32> to tensor<32xf32>
      %i = triton_xla.extract %n[0] [32] [1] : memref<32xi32> to tensor<32xi32>
      triton_xla.scatter %t into %dst[%i, %tile] unique : tensor<32xf32> into memref<100x60xf32>, tensor<32xi32>, index
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$tile, Arg<AnyStridedMemRef, "destination">:$destination, Variadic<TritonXLA_Indices>:$indices,
    Optional<AnyType>:$mask, UnitAttr:$unique, UnitAttr:$sorted);
  let assemblyFormat = [{
    $tile `into` $destination `` `[` $indices `]` (`mask` $mask^)? (`unique` $unique^)? (`sorted` $sorted^)? attr-dict
    `:` type($tile) `into` type($destination) (`,` type($indices)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getDestinationType() { return ::llvm::cast<::mlir::MemRefType>(getDestination().getType()); }
  }];
}

class TritonXLA_AtomicOp<string mnemonic, string lanes, list<Trait> traits>
    : TritonXLA_Op<mnemonic, traits # [AttrSizedOperandSegments, TritonXLA_MaskOf<lanes>,
                                       DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs TritonXLA_TileOrScalar:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getDestinationType() { return ::llvm::cast<::mlir::MemRefType>(getDestination().getType()); }
  }];
}

def TritonXLA_AtomicRMWOp : TritonXLA_AtomicOp<"atomic_rmw", "value", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Atomically updates elements of a memref by index";
  let description = [{
    For each element of `value`, the op atomically replaces
    `destination[i0, i1, ...]` by its combination with the element. The result is the
    value before the update. The kinds are `addf`, `mulf`, `maximumf`, `minimumf`,
    `maxnumf`, `minnumf` of floats, `addi`, `muli`, `maxs`, `maxu`, `mins`, `minu`, `andi`, `ori`, `xori` of
    integers, and `assign` (exchange) of both.

    The op has one index for each dimension of the destination: a tile of indices with
    the shape of the value, or one scalar for all elements. A scalar value requires scalar
    indices. Indices are `index`, i32 or i64, and signed. If an index is negative or not
    below the extent, or if the element of `mask` is false, the element does not update
    the destination, and its result is zero.

    The updates of one op are in any order. With `deterministic`, those of one location
    are in row-major order of the elements; updates by other instances of the kernel may
    still be in between. `scope` states which threads the updates are atomic for (default: `gpu`),
    and `ordering` how they order other accesses (default: `relaxed`).
    `triton_xla.entry_func` states which accesses of two instances may conflict.

    Example:

    ```mlir
    triton_xla.entry_func @sums(%src: memref<32xf32>, %n: memref<32xi32>, %dst: memref<100xf32>,
                                %tile: index) tiles 1 {
      %t = triton_xla.extract %src[0] [32] [1] : memref<32xf32> to tensor<32xf32>
      %i = triton_xla.extract %n[0] [32] [1] : memref<32xi32> to tensor<32xi32>
      %old = triton_xla.atomic_rmw addf %t into %dst[%i] scope sys ordering acq_rel
          : tensor<32xf32> into memref<100xf32>, tensor<32xi32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    AtomicRMWKindAttr:$kind, TritonXLA_TileOrScalar:$value, Arg<AnyStridedMemRef, "destination">:$destination,
    Variadic<TritonXLA_Indices>:$indices, Optional<AnyType>:$mask,
    DefaultValuedAttr<TritonXLA_MemoryScope, "MemoryScope::GPU">:$scope,
    DefaultValuedAttr<TritonXLA_MemoryOrdering, "MemoryOrdering::Relaxed">:$ordering,
    UnitAttr:$deterministic);
  let assemblyFormat = [{
    $kind $value `into` $destination `` `[` $indices `]` (`mask` $mask^)? (`scope` $scope^)? (`ordering` $ordering^)?
    (`deterministic` $deterministic^)? attr-dict `:` type($value) `into` type($destination) (`,` type($indices)^)?
  }];
}

def TritonXLA_AtomicCASOp : TritonXLA_AtomicOp<"atomic_cas", "expected",
    [AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "Atomic compare-and-swap of elements of a memref by index";
  let description = [{
    For each element of `expected`, the op atomically compares
    `destination[i0, i1, ...]` with it and, if they are equal, replaces it by the element
    of `desired`. The result is the value before the update. Elements are integers.
    Indices, `mask`, `scope` and `ordering` are those of `triton_xla.atomic_rmw`; the
    comparisons of one op are in any order.

    Example:

    ```mlir
    triton_xla.entry_func @lock(%lock: memref<1xi32>, %tile: index) tiles 1 {
      %c0 = arith.constant 0 : index
      %free = arith.constant 0 : i32
      %held = arith.constant 1 : i32
      %old = triton_xla.atomic_cas %free, %held into %lock[%c0] ordering acquire : i32 into memref<1xi32>, index
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_TileOrScalar:$expected, TritonXLA_TileOrScalar:$desired,
    Arg<AnyStridedMemRef, "destination">:$destination, Variadic<TritonXLA_Indices>:$indices, Optional<AnyType>:$mask,
    DefaultValuedAttr<TritonXLA_MemoryScope, "MemoryScope::GPU">:$scope,
    DefaultValuedAttr<TritonXLA_MemoryOrdering, "MemoryOrdering::Relaxed">:$ordering);
  let assemblyFormat = [{
    $expected `,` $desired `into` $destination `` `[` $indices `]` (`mask` $mask^)? (`scope` $scope^)?
    (`ordering` $ordering^)? attr-dict `:` type($expected) `into` type($destination) (`,` type($indices)^)?
  }];
}

#endif // SMALTI_DIALECTS_TRITONXLA_INDEXEDOPS
