//===- References.td - Parts and views of shared memory ----*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_REFERENCES
#define SMALTI_DIALECTS_MOSAICGPU_OPS_REFERENCES

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/IR/CommonAttrConstraints.td"

def MosaicGPU_SliceSMEMOp : MosaicGPU_Op<"slice_smem", [Pure]> {
  let summary = "A slice of the block's shared memory, at an offset in bytes";
  let description = [{
    All slices of a kernel lie in one buffer; slices may overlap. The offset is a
    multiple of the element's size, and the result is statically shaped memory of
    address space `workgroup`, or 3 in a program of threads. Slices with the same
    `alias` number are the same memory seen with the same transforms. The number
    is an `i32`; the generic form of JAX 0.11, an `i64`, is read too.

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
  let summary = "The same memory, with another shape and layout";
  let description = [{
    The result has as many elements of the same type in the same memory space;
    nothing is moved. Unlike in `memref.reinterpret_cast` there are no offset,
    sizes and strides: the type of the result says all.

    A cast to the type itself and a cast of a cast fold; a cast of a slice of
    shared memory becomes the slice; a cast that is all that `warp_map` does with
    an operand moves in front of it.

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
  let summary = "Says how shared memory is stored";
  let description = [{
    The result is the memory of the operand, stored with `transforms`: at most
    one tile and one swizzle. It is a statement about the memory, not a change of
    it: all uses of the memory agree.

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
  let summary = "The same place in the shared memory of another block of the cluster";
  let description = [{
    Exactly one of `x`, `y` and `z` is given: the index of the other block along
    that dimension of the cluster; in the other dimensions it is this block's.
    The result is in the memory space `#mosaic_gpu.smem_cluster`.

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
    : MosaicGPU_Op<"assume_multiple", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "Says that a number is a multiple of another";
  let description = [{
    The result is the operand, of which passes may assume that `multiple` divides
    it. If it does not, the behaviour is undefined.

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
