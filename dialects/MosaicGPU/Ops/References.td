//===- References.td - Slices and views of shared memory ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REFERENCES
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REFERENCES

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/IR/CommonAttrConstraints.td"

def MosaicGPU_SliceSMEMOp : MosaicGPU_Op<"slice_smem", [Pure]> {
  let summary = "Slice of the block's shared memory at a byte offset";
  let description = [{
    All slices of a kernel are parts of one buffer, and slices may overlap. The
    offset must be a multiple of the size of an element (8 bytes for a barrier).
    The result has a static shape and is in the address space `workgroup`, or in
    address space 3 in a thread-level kernel. Slices with the same offset and the
    same `alias` number have the same transforms. The number is an `i32`; the parser
    also accepts the `i64` of JAX 0.11 in the generic form.

    Example:

    ```mlir
    func.func @slices() {
      %a = mosaic_gpu.slice_smem 0 : memref<128x64xf16, #gpu.address_space<workgroup>>
      %b = mosaic_gpu.slice_smem 16384 alias 1 : memref<64x128xf16, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$offset, OptionalAttr<I32Attr>:$alias_id);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$offset (`alias` $alias_id^)? attr-dict `:` type($result)";
}

def MosaicGPU_ReinterpretCastOp : MosaicGPU_Op<"reinterpret_cast", [Pure, MosaicGPU_View]> {
  let summary = "View of the same memory with another shape and memref layout";
  let description = [{
    Source and result have static shapes, the same number of elements, the same
    element type and the same memory space. No data moves. Unlike
    `memref.reinterpret_cast`, the op has no operands for offset, sizes and strides:
    the result type states them.

    Canonicalization folds a cast to the same type and a cast of a cast, and
    replaces a cast of a `slice_smem` by a slice. If all uses of an argument of
    `warp_map` cast it to one type, the cast moves before the `warp_map`.

    Example:

    ```mlir
    func.func @rows(%m: memref<128x64xf16, #gpu.address_space<workgroup>>)
        -> memref<8192xf16, #gpu.address_space<workgroup>> {
      %r = mosaic_gpu.reinterpret_cast %m
          : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<8192xf16, #gpu.address_space<workgroup>>
      return %r : memref<8192xf16, #gpu.address_space<workgroup>>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MosaicGPU_WithTransformsOp
    : MosaicGPU_Op<"with_transforms", [Pure, MosaicGPU_View, AllTypesMatch<["ref", "result"]>]> {
  let summary = "States the tile and swizzle of shared memory";
  let description = [{
    The result is the memory of the operand, which is stored with `transforms`: at
    most one tile and one swizzle. The op does not change the memory; all uses of the
    buffer must have the same transforms. Errors: a barrier; memory that is not
    shared; transforms that are not valid for the memref type.

    Example:

    ```mlir
    func.func @tiled(%m: memref<128x64xf16, #gpu.address_space<workgroup>>) {
      %r = mosaic_gpu.with_transforms %m [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]
          : memref<128x64xf16, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$ref, ArrayAttr:$transforms);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$ref $transforms attr-dict `:` type($ref)";
}

def MosaicGPU_GetClusterRefOp
    : MosaicGPU_InferringOp<"get_cluster_ref", [Pure, AttrSizedOperandSegments]> {
  let summary = "The same address in the shared memory of another block of the cluster";
  let description = [{
    Exactly one of `x`, `y` and `z` is required: the index of the other block along
    that dimension of the cluster. In the other dimensions, the index is that of
    this block. The result has the type of the source in the memory space
    `#mosaic_gpu.smem_cluster`.

    Example:

    ```mlir
    func.func @peer(%m: memref<64xf32, #gpu.address_space<workgroup>>, %block: i32) {
      %p = mosaic_gpu.get_cluster_ref %m y(%block)
          : memref<64xf32, #gpu.address_space<workgroup>> -> memref<64xf32, #mosaic_gpu.smem_cluster>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Optional<I32>:$x, Optional<I32>:$y, Optional<I32>:$z);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $source (`x` `(` $x^ `)`)? (`y` `(` $y^ `)`)? (`z` `(` $z^ `)`)? attr-dict `:` type($source) `->` type($result)
  }];
}

def MosaicGPU_AssumeMultipleOp
    : MosaicGPU_Op<"assume_multiple", [NoMemoryEffect, AllTypesMatch<["value", "result"]>]> {
  let summary = "States that an integer is a multiple of a constant";
  let description = [{
    The result is the operand. Passes may assume that it is a multiple of `multiple`,
    which is positive; if it is not, the behavior is undefined. The op is therefore not
    hoisted out of a loop that may run zero times. A `multiple` that exceeds the range of the type is an error.

    Example:

    ```mlir
    func.func @rows(%i: i32) -> i32 {
      %r = mosaic_gpu.assume_multiple %i, 64 : i32
      return %r : i32
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[Index, AnyInteger]>:$value, ConfinedAttr<I32Attr, [IntPositive]>:$multiple);
  let results = (outs AnyTypeOf<[Index, AnyInteger]>:$result);
  let assemblyFormat = "$value `,` $multiple attr-dict `:` type($result)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_REFERENCES
