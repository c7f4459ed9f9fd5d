//===- TritonXLAOps.td - The triton_xla dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_TRITONXLAOPS
#define SMALTI_DIALECTS_TRITONXLA_TRITONXLAOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"
include "smalti/dialects/TritonXLA/ShapeOps.td"
include "smalti/dialects/TritonXLA/ReductionOps.td"
include "smalti/dialects/TritonXLA/IndexedOps.td"
include "smalti/dialects/TritonXLA/MatmulOps.td"
include "smalti/dialects/TritonXLA/DebugOps.td"
include "smalti/dialects/TritonXLA/ExternalOps.td"

/// A named constraint: builders in Python are registered by name.
def TritonXLA_FunctionTypeAttr : TypeAttrOf<FunctionType>;

def TritonXLA_EntryFuncOp : TritonXLA_Op<"entry_func",
    [IsolatedFromAbove, AutomaticAllocationScope, FunctionOpInterface, Symbol,
     SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Tile-level kernel: runs once for each of `num_tiles` tile ids";
  let description = [{
    The arguments are ranked memrefs and scalars (signless integers, `index`,
    floats), followed by the tile id, an `index` in `[0, num_tiles)`. With several
    dimensions, as in `tiles [4, 8]`, the last arguments are one id for each of them,
    and `num_tiles` is the number of all tiles. The function does not have results.
    Instances with different tile ids run in any order or concurrently. Accesses of two
    instances to the same element conflict if one of them is a write. Conflicting accesses
    must all be atomic (`triton_xla.atomic_rmw`, `atomic_cas`), or one must happen before
    the other by atomic accesses with `acquire` and `release` ordering. Otherwise the value
    that is read, and the final value, are undefined. Memrefs may overlap only
    in elements that the kernel does not write. An argument attribute `llvm.align`
    must be a power of two of at most 2^32. Argument attributes that change how LLVM
    passes a value, such as `llvm.byval`, are errors.

    Sizes and strides of a memref may be dynamic. The argument attributes
    `triton_xla.size_divisors` and `triton_xla.stride_divisors` state a divisor for
    each dimension (`array<i64: 1, 16>`). With them, accesses of dynamic memrefs can be
    as wide as those of static ones. `triton_xla.max_bytes = 2147483647 : i64` states a
    bound of the bytes from the first element to the end of the last, and of each size
    times the bytes of an element. Dynamic strides are then not negative. Below 2^31 bytes, offsets of elements are computed
    in 32 bits, and AMD GPUs use buffer loads. The behavior is undefined if an array
    does not match an attribute; a launch checks them.

    The number of tiles may depend on arguments: `size(%src, 0)` is a size of a memref,
    and `%n` a scalar integer or index. Each may be divided by a positive constant with
    `ceildiv`, and `*` multiplies several of them. The number is computed at each launch.
    It must be positive and at most 2^31 - 1; `num_tiles` is this bound.

    ```mlir
    triton_xla.entry_func @rows(%src: memref<?x64xf32>, %dst: memref<?x64xf32>, %i: index, %j: index)
        tiles [size(%src, 0) ceildiv 16, 2] {
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %row = arith.muli %i, %c16 : index
      %column = arith.muli %j, %c32 : index
      %t = triton_xla.extract %src[%row, %column] [16, 32] [1, 1] : memref<?x64xf32> to tensor<16x32xf32>
      triton_xla.insert %t into %dst[%row, %column] [16, 32] [1, 1] : tensor<16x32xf32> into memref<?x64xf32>
      triton_xla.return
    }
    ```

    Example:

    ```mlir
    triton_xla.entry_func @copy(%src: memref<100xf32>, %dst: memref<100xf32>, %tile: index) tiles 4 {
      %c32 = arith.constant 32 : index
      %offset = arith.muli %tile, %c32 : index
      %t = triton_xla.extract %src[%offset] [32] [1] : memref<100xf32> to tensor<32xf32>
      triton_xla.insert %t into %dst[%offset] [32] [1] : tensor<32xf32> into memref<100xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TritonXLA_FunctionTypeAttr:$function_type,
    ConfinedAttr<I64Attr, [IntPositive]>:$num_tiles,
    OptionalAttr<DenseI64ArrayAttr>:$grid,
    OptionalAttr<ArrayAttr>:$dynamic_grid,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The id of the tile that this instance of the kernel computes, in the last
    /// dimension of the grid.
    ::mlir::BlockArgument getTileId() { return getBody().getArguments().back(); }
    /// The ids of that tile, one for each dimension of the grid.
    ::mlir::Block::BlockArgListType getTileIds() {
      return getBody().getArguments().take_back(getNumTilesPerDim().size());
    }
    /// The number of tiles in each dimension of the grid; ShapedType::kDynamic if
    /// it depends on arguments.
    ::llvm::SmallVector<int64_t> getNumTilesPerDim();
    /// The factors of the number of tiles in each dimension of the grid.
    ::llvm::SmallVector<::llvm::SmallVector<::smalti::triton_xla::TileFactor>> getTileFactors();
    /// Sets the grid. The function type must have one id for each dimension.
    void setTileFactors(::llvm::ArrayRef<::llvm::SmallVector<::smalti::triton_xla::TileFactor>> factors);
    /// All arguments except the tile ids.
    ::mlir::Block::BlockArgListType getKernelArguments() {
      return getBody().getArguments().drop_back(getNumTilesPerDim().size());
    }

    // FunctionOpInterface
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}

def TritonXLA_ReturnOp : TritonXLA_Op<"return", [Pure, HasParent<"EntryFuncOp">, ReturnLike, Terminator]> {
  let summary = "Terminates a tile-level kernel";
  let description = [{
    Terminator of `triton_xla.entry_func`, without operands. A kernel returns results
    with `triton_xla.insert`.

    Example:

    ```mlir
    triton_xla.entry_func @nothing(%tile: index) tiles 1 {
      triton_xla.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TritonXLA_NumTilesOp : TritonXLA_Op<"num_tiles", [Pure]> {
  let summary = "Number of tiles in a dimension of the grid";
  let description = [{
    A constant of the enclosing kernel, for code that does not depend on the grid.

    Example:

    ```mlir
    triton_xla.entry_func @last(%dst: memref<1xindex>, %row: index, %column: index) tiles [4, 8] {
      %n = triton_xla.num_tiles dim 1
      %t = tensor.splat %n : tensor<1xindex>
      triton_xla.insert %t into %dst[0] [1] [1] : tensor<1xindex> into memref<1xindex>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$number);
  let assemblyFormat = "`dim` $dim attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TritonXLA_ExtractOp : TritonXLA_Op<"extract",
    [AttrSizedOperandSegments, OffsetSizeAndStrideOpInterface, TritonXLA_HasFill,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Reads a window of a memref into a tile";
  let description = [{
    Element `(i, j, ...)` of the tile is `source[o0 + i * s0, o1 + j * s1, ...]` with
    offsets `o` and strides `s` in elements. An index outside of the source, below
    zero or not below the extent, reads `fill` instead, so a window may extend past the
    source. The default of `fill` is zero, or code 0 of f8E8M0FNU, 2^-127. Offsets are static or `index` values; a negative
    constant must be a value. Sizes and strides are static and at least 1, and
    size times stride must be in the 64-bit range. The shape of the tile is the size
    list, or the size list without some of its dimensions of size 1. `fill` has the
    element type of the tile, which is that of the source.

    The ops that use the tile also compute the elements outside of the source: if the tile is an
    integer divisor, `fill` must not be zero.

    `cache` or `eviction` is a hint that does not change the result. A hint does not promise
    an access: reads without a write in between may be merged, also with `cv`.

    | hint | meaning |
    |---|---|
    | `cache ca` | cached at all levels, the default of loads |
    | `cache cg` | cached in L2 only |
    | `cache cs` | streaming: accessed once |
    | `cache cv` | not cached: a load reads memory again |
    | `eviction evict_first`, `evict_last` | evicted before, or after, other data |
    | `eviction no_allocate` | does not displace other data of L1 |

    Example:

    ```mlir
    triton_xla.entry_func @rows(%src: memref<100x60xf16>, %dst: memref<64xf16>, %tile: index) tiles 1 {
      %t = triton_xla.extract %src[%tile, 0] [1, 64] [1, 1] fill 1.0 : f16
          : memref<100x60xf16> to tensor<64xf16>
      triton_xla.insert %t into %dst[0] [64] [1] : tensor<64xf16> into memref<64xf16>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyStridedMemRef, "source">:$source,
    Variadic<Index>:$offsets, Variadic<Index>:$sizes, Variadic<Index>:$strides,
    DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes, DenseI64ArrayAttr:$static_strides,
    OptionalAttr<TypedAttrInterface>:$fill, OptionalAttr<TritonXLA_CacheModifier>:$cache,
    OptionalAttr<TritonXLA_EvictionPolicy>:$eviction);
  let results = (outs TritonXLA_Tile:$tile);
  let assemblyFormat = [{
    $source `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes)
    custom<DynamicIndexList>($strides, $static_strides)
    (`fill` $fill^)? (`cache` $cache^)? (`eviction` $eviction^)? attr-dict `:` type($source) `to` type($tile)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::RankedTensorType":$tile, "::mlir::Value":$source,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets, "::llvm::ArrayRef<int64_t>":$sizes,
                   "::llvm::ArrayRef<int64_t>":$strides, CArg<"::mlir::TypedAttr", "{}">:$fill)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::RankedTensorType getTileType() { return getTile().getType(); }
    /// The window's dimensions that the tile does not have (unit dimensions).
    ::llvm::SmallBitVector getDroppedDims();

    // OffsetSizeAndStrideOpInterface
    static unsigned getOffsetSizeAndStrideStartOperandIndex() { return 1; }
    std::array<unsigned, 3> getArrayAttrMaxRanks() {
      unsigned rank = getSourceType().getRank();
      return {rank, rank, rank};
    }
  }];
}

def TritonXLA_InsertOp : TritonXLA_Op<"insert",
    [AttrSizedOperandSegments, OffsetSizeAndStrideOpInterface,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Writes a tile into a window of a memref";
  let description = [{
    The inverse of `triton_xla.extract`: the op writes element `(i, j, ...)` of the tile
    to `destination[o0 + i * s0, o1 + j * s1, ...]`. Elements whose index is outside of
    the destination are not written, but they are computed: the ops that produce the tile must be
    defined for them. The requirements and hints are those of
    `triton_xla.extract`; `cache` is `wb` (write-back, the default of stores), `cg`, `cs` or
    `wt` (write-through).

    Example:

    ```mlir
    triton_xla.entry_func @ones(%dst: memref<100x60xf32>, %tile: index) tiles 2 {
      %ones = arith.constant dense<1.0> : tensor<64x64xf32>
      %c64 = arith.constant 64 : index
      %row = arith.muli %tile, %c64 : index
      triton_xla.insert %ones into %dst[%row, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<100x60xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$tile,
    Arg<AnyStridedMemRef, "destination">:$destination,
    Variadic<Index>:$offsets, Variadic<Index>:$sizes, Variadic<Index>:$strides,
    DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes, DenseI64ArrayAttr:$static_strides,
    OptionalAttr<TritonXLA_CacheModifier>:$cache, OptionalAttr<TritonXLA_EvictionPolicy>:$eviction);
  let assemblyFormat = [{
    $tile `into` $destination `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes)
    custom<DynamicIndexList>($strides, $static_strides)
    (`cache` $cache^)? (`eviction` $eviction^)? attr-dict `:` type($tile) `into` type($destination)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$tile, "::mlir::Value":$destination,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets, "::llvm::ArrayRef<int64_t>":$sizes,
                   "::llvm::ArrayRef<int64_t>":$strides)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getDestinationType() { return ::llvm::cast<::mlir::MemRefType>(getDestination().getType()); }
    ::mlir::RankedTensorType getTileType() { return getTile().getType(); }
    /// The window's dimensions that the tile does not have (unit dimensions).
    ::llvm::SmallBitVector getDroppedDims();

    // OffsetSizeAndStrideOpInterface
    static unsigned getOffsetSizeAndStrideStartOperandIndex() { return 2; }
    std::array<unsigned, 3> getArrayAttrMaxRanks() {
      unsigned rank = getDestinationType().getRank();
      return {rank, rank, rank};
    }
  }];
}

def TritonXLA_MaskOp : TritonXLA_Op<"mask",
    [Pure, AllTypesMatch<["tile", "result"]>,
     TypesMatchWith<"value has the element type of the tile", "tile", "value",
                    "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "Replaces the elements of a tile whose index reaches a bound with a scalar";
  let description = [{
    An element is kept if its index is below the bound in every dimension; other
    elements become the scalar `value`. The op has one bound for each dimension: a
    constant in `[0, size]`, or an `index` value. A value that is not positive masks
    all elements; a value of at least the size masks none.

    Example:

    ```mlir
    triton_xla.entry_func @first(%src: memref<32x16xf32>, %n: index, %tile: index) tiles 1 {
      %zero = arith.constant 0.0 : f32
      %t = triton_xla.extract %src[0, 0] [32, 16] [1, 1] : memref<32x16xf32> to tensor<32x16xf32>
      %m = triton_xla.mask %t [%n, 8], %zero : tensor<32x16xf32>
      triton_xla.insert %m into %src[0, 0] [32, 16] [1, 1] : tensor<32x16xf32> into memref<32x16xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_Tile:$tile, Variadic<Index>:$bounds, DenseI64ArrayAttr:$static_bounds, AnyType:$value);
  let results = (outs TritonXLA_Tile:$result);
  let assemblyFormat = [{
    $tile custom<DynamicIndexList>($bounds, $static_bounds) `,` $value attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// One bound per dimension: an `IntegerAttr` or an `index` value.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedBounds();
  }];
}

#endif // SMALTI_DIALECTS_TRITONXLA_TRITONXLAOPS
