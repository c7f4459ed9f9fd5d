//===- TensorMemory.td - Tensor memory ---------------------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_TENSORMEMORY
#define SMALTI_DIALECTS_MOSAICGPU_OPS_TENSORMEMORY

include "smalti/dialects/MosaicGPU/Ops/Base.td"

class MosaicGPU_TMEMRef<list<Type> elements> : MemRefRankOf<elements, [2]>;

//===----------------------------------------------------------------------===//
// Allocation and views
//===----------------------------------------------------------------------===//

def MosaicGPU_TmemAllocOp : MosaicGPU_Op<"tmem_alloc", [MosaicGPU_Asynchronous]> {
  let summary = "Allocates columns of tensor memory";
  let description = [{
    The address is written to `smem_ptr` in shared memory. The result has rows and columns of elements: `packing` of
    them share a column of 32 bits, which is 1 or as many as fit. As many columns are allocated as the result takes,
    rounded up to a power of two from 32 to 512. With `collective` two blocks allocate together. All the memory is given
    back by `tmem_dealloc`.

    Example:

    ```mlir
    func.func @allocate(%p: memref<i32, #gpu.address_space<workgroup>>) {
      %m = mosaic_gpu.tmem_alloc smem_ptr(%p : memref<i32, #gpu.address_space<workgroup>>)
          -> memref<128x256xf32, #mosaic_gpu.tmem>
      mosaic_gpu.tmem_dealloc tmem_ref(%m : memref<128x256xf32, #mosaic_gpu.tmem>)
      return
    }
    ```
  }];
  let arguments = (ins MemRefRankOf<[I32], [0]>:$smem_ptr, DefaultValuedAttr<BoolAttr, "false">:$collective,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$packing);
  let results = (outs Res<MosaicGPU_TMEMRef<[AnyType]>, "memory", [MemAlloc]>:$result);
  let assemblyFormat = "`smem_ptr` `(` $smem_ptr `:` type($smem_ptr) `)` attr-dict `->` type($result)";
}

def MosaicGPU_TmemRelinquishAllocPermitOp
    : MosaicGPU_Op<"tmem_relinquish_alloc_permit", [MosaicGPU_Asynchronous]> {
  let summary = "Says that the block allocates no more tensor memory";
  let description = [{
    Another block of the same unit may allocate from here on; this one must not
    any more. `collective` is that of the allocations.

    Example:

    ```mlir
    func.func @allocated() {
      mosaic_gpu.tmem_relinquish_alloc_permit
      return
    }
    ```
  }];
  let arguments = (ins DefaultValuedAttr<BoolAttr, "false">:$collective);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def MosaicGPU_TmemDeallocOp : MosaicGPU_Op<"tmem_dealloc", [MosaicGPU_Asynchronous]> {
  let summary = "Frees tensor memory";
  let description = [{
    Example:

    ```mlir
    func.func @free(%m: memref<128x256xf32, #mosaic_gpu.tmem>) {
      mosaic_gpu.tmem_dealloc tmem_ref(%m : memref<128x256xf32, #mosaic_gpu.tmem>)
      return
    }
    ```
  }];
  let arguments = (ins Arg<MosaicGPU_TMEMRef<[AnyType]>, "memory", [MemFree]>:$tmem_ref);
  let assemblyFormat = "`tmem_ref` `(` $tmem_ref `:` type($tmem_ref) `)` attr-dict";
}

def MosaicGPU_SliceTmemOp : MosaicGPU_Op<"slice_tmem", [Pure, MosaicGPU_View]> {
  let summary = "A part of tensor memory that begins at a column";
  let description = [{
    `offset` counts columns of 32 bits, and is a multiple of 4. The result may have another element type and another
    layout than the source. Slices with the same `alias` number have the same layout.

    Example:

    ```mlir
    func.func @slices(%m: memref<128x256xi32, #mosaic_gpu.tmem>) {
      %a = mosaic_gpu.slice_tmem %m 0 : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x128xf32, #mosaic_gpu.tmem>
      %b = mosaic_gpu.slice_tmem %m 128 alias 1
          : memref<128x256xi32, #mosaic_gpu.tmem> to memref<128x128xf32, #mosaic_gpu.tmem>
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_TMEMRef<[AnyType]>:$source, ConfinedAttr<I32Attr, [IntNonNegative]>:$offset,
                       OptionalAttr<I32Attr>:$alias_id);
  let results = (outs MosaicGPU_TMEMRef<[AnyType]>:$result);
  let assemblyFormat = "$source $offset (`alias` $alias_id^)? attr-dict `:` type($source) `to` type($result)";
}

def MosaicGPU_TmemLayoutCastOp
    : MosaicGPU_Op<"tmem_layout_cast", [Pure, MosaicGPU_View, AllTypesMatch<["ref", "result"]>]> {
  let summary = "Says how tensor memory is laid out";
  let description = [{
    The result is the memory of the operand, laid out as `new_layout` says: `warp_dims` are the quarters of the rows,
    each of which one warp can reach, `lane_dims` the rows of a quarter, `vector_dim` the elements of one column.

    Example:

    ```mlir
    func.func @rows(%m: memref<128x256xf32, #mosaic_gpu.tmem>) {
      %r = mosaic_gpu.tmem_layout_cast %m : memref<128x256xf32, #mosaic_gpu.tmem>
          to #mosaic_gpu.TiledLayout<[[128, 1], [32, 1]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_TMEMRef<[AnyType]>:$ref, MosaicGPU_TiledLayout:$new_layout);
  let results = (outs MosaicGPU_TMEMRef<[AnyType]>:$result);
  let assemblyFormat = "$ref attr-dict `:` type($ref) `to` qualified($new_layout)";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncLoadTmemOp : MosaicGPU_InferringOp<"async_load_tmem", [MosaicGPU_Asynchronous]> {
  let summary = "Starts loading a vector from tensor memory";
  let description = [{
    The vector has the shape of the source; it is there after the program has
    waited for its loads of tensor memory. With `reduce`, of f32 and i32 alone,
    there is a second result: each row's elements, reduced.

    Example:

    ```mlir
    func.func @load(%m: memref<128x64xf32, #mosaic_gpu.tmem>) -> (vector<128x64xf32>, vector<128xf32>) {
      %v, %max = mosaic_gpu.async_load_tmem %m reduce max
          : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>, vector<128xf32>
      return %v, %max : vector<128x64xf32>, vector<128xf32>
    }
    ```
  }];
  let arguments = (ins MosaicGPU_TMEMRef<[AnyType]>:$source, OptionalAttr<MosaicGPU_TMEMLoadReduction>:$reduce);
  let results = (outs Variadic<AnyFixedVectorOfNonZeroRank>:$results);
  let assemblyFormat = "$source (`reduce` $reduce^)? attr-dict `:` type($source) `->` type($results)";
}

def MosaicGPU_AsyncStoreTmemOp : MosaicGPU_Op<"async_store_tmem", [MosaicGPU_Asynchronous]> {
  let summary = "Starts storing a vector to tensor memory";
  let description = [{
    The memory may be read after the program has waited for its stores to tensor
    memory.

    Example:

    ```mlir
    func.func @store(%v: vector<128x64xf32>, %m: memref<128x64xf32, #mosaic_gpu.tmem>) {
      mosaic_gpu.async_store_tmem %v, %m : vector<128x64xf32>, memref<128x64xf32, #mosaic_gpu.tmem>
      return
    }
    ```
  }];
  let arguments = (ins VectorOfRank<[2]>:$source, MosaicGPU_TMEMRef<[AnyType]>:$destination);
  let assemblyFormat = "$source `,` $destination attr-dict `:` type($source) `,` type($destination)";
}

class MosaicGPU_CopyToTmemOp<string mnemonic, list<Type> elements, int sourceRank>
    : MosaicGPU_Op<mnemonic, [MosaicGPU_Asynchronous]> {
  let arguments = (ins MemRefRankOf<elements, [sourceRank]>:$source, MosaicGPU_TMEMRef<elements>:$destination,
                       DefaultValuedAttr<BoolAttr, "false">:$collective);
  let assemblyFormat = "$source `to` $destination attr-dict `:` type($source) `to` type($destination)";
}

def MosaicGPU_AsyncStoreSmemToTmemOp : MosaicGPU_CopyToTmemOp<"async_store_smem_to_tmem", [AnyType], 2> {
  let summary = "Starts copying shared memory to tensor memory";
  let description = [{
    Both have one shape and one element type. With `collective`, one block of a
    pair copies for both. `tcgen05_commit_arrive` tells a barrier when the copy
    is done; products that are started afterwards wait for it by themselves.

    Example:

    ```mlir
    func.func @copy(%s: memref<128x64xf16, #gpu.address_space<workgroup>>, %m: memref<128x64xf16, #mosaic_gpu.tmem>) {
      mosaic_gpu.async_store_smem_to_tmem %s to %m
          : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<128x64xf16, #mosaic_gpu.tmem>
      return
    }
    ```
  }];
}

def MosaicGPU_AsyncStoreSparseMetadataSmemToTmemOp
    : MosaicGPU_CopyToTmemOp<"async_store_sparse_metadata_smem_to_tmem", [I<2>], 4> {
  let summary = "Starts copying the metadata of a sparse operand to tensor memory";
  let description = [{
    Metadata of M rows and N columns, multiples of 128 and 64, lies in shared
    memory as `[M / 128, N / 64, 128, 64]`. The rest is as in
    `async_store_smem_to_tmem`.

    Example:

    ```mlir
    func.func @copy(%s: memref<1x2x128x64xi2, #gpu.address_space<workgroup>>,
                    %m: memref<128x128xi2, #mosaic_gpu.tmem>) {
      mosaic_gpu.async_store_sparse_metadata_smem_to_tmem %s to %m
          : memref<1x2x128x64xi2, #gpu.address_space<workgroup>> to memref<128x128xi2, #mosaic_gpu.tmem>
      return
    }
    ```
  }];
}

def MosaicGPU_AsyncStoreScalesSmemToTmemOp
    : MosaicGPU_CopyToTmemOp<"async_store_scales_smem_to_tmem", [F8E8M0FNU, F8E4M3FN], 4> {
  let summary = "Starts copying the scales of an operand to tensor memory";
  let description = [{
    Scales of M rows and N columns, multiples of 128 and 4, lie in shared memory
    as `[M / 128, N / 4, 32, 16]`; those of `b` of a collective product with 64
    rows a block as `[1, N / 4, 64, 16]`. The rest is as in
    `async_store_smem_to_tmem`.

    Example:

    ```mlir
    func.func @copy(%s: memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>>,
                    %m: memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>) {
      mosaic_gpu.async_store_scales_smem_to_tmem %s to %m
          : memref<1x1x32x16xf8E8M0FNU, #gpu.address_space<workgroup>> to memref<128x4xf8E8M0FNU, #mosaic_gpu.tmem>
      return
    }
    ```
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_TENSORMEMORY
