//===- TensorMemory.td - Tensor memory ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    The op writes the address to `smem_ptr` in shared memory. The result is a memref of rows and columns of elements;
    `packing` (default 1) elements share a column of 32 bits. `packing` is 1 or fills the 32 bits, and it divides the
    number of columns. The allocation is the number of columns of the result, rounded up to a power of two from 32 to
    512. More columns than the target has are an error. With `collective` (default false), two blocks allocate together.
    `tmem_dealloc` frees the memory.

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
  let summary = "Gives up the right of the block to allocate tensor memory";
  let description = [{
    The block must not allocate tensor memory after the op, and another block on the
    same streaming multiprocessor (SM) may allocate. `collective` (default false) is
    that of the allocations.

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
    Frees all columns of a `tmem_alloc`.

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
  let summary = "Slice of tensor memory at a column offset";
  let description = [{
    `offset` is a number of columns of 32 bits and a multiple of 4. Element type and layout of the result may differ from
    those of the source. Slices with the same offset and the same `alias` number have the same layout.

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
  let summary = "States the layout of tensor memory";
  let description = [{
    The result is the memory of the operand with the layout `new_layout`. `warp_dims` are the four groups of 32 rows, each
    of which one warp accesses; `lane_dims` are the rows of a group; `vector_dim` are the elements of one column. The
    layout must cover 128 rows, and a column holds one element or 32 bits.

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
    The vector has the shape and element type of the source. It is available after
    a wait for outstanding loads of tensor memory. With `reduce`, which requires f32
    or i32, a second result holds the reduction of each row.

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
    The memory may be read after a wait for outstanding stores to tensor memory.
    Vector and memory have the same shape and element type.

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
  let summary = "Starts an asynchronous copy from shared memory to tensor memory";
  let description = [{
    Source and destination have the same shape and element type. With `collective`
    (default false), one block of a pair copies for both. `tcgen05_commit_arrive`
    arrives on a barrier when the copy is complete. A `tcgen05_mma` after the op is
    ordered after the copy without a wait.

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
  let summary = "Starts an asynchronous copy of sparse operand metadata to tensor memory";
  let description = [{
    The destination has M rows and N columns, multiples of 128 and 64. The source in
    shared memory has the shape `[M / 128, N / 64, 128, 64]`. Completion and
    `collective` are those of `async_store_smem_to_tmem`.

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
  let summary = "Starts an asynchronous copy of operand scales to tensor memory";
  let description = [{
    The destination has M rows and N columns, multiples of 128 and 4. The source in shared memory has the shape `[M /
    128, N / 4, 32, 16]`. For the scales of `b` of a collective matmul with 64 rows per block, it has the shape `[1, N /
    4, 64, 16]`. Completion and `collective` are those of `async_store_smem_to_tmem`.

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
