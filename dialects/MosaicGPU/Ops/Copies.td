//===- Copies.td - Asynchronous copies ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_COPIES
#define SMALTI_DIALECTS_MOSAICGPU_OPS_COPIES

include "smalti/dialects/MosaicGPU/Ops/Base.td"

//===----------------------------------------------------------------------===//
// Copies in async-groups
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncCopyOp : MosaicGPU_Op<"async_copy"> {
  let summary = "Starts an asynchronous copy from global to shared memory in an async-group";
  let description = [{
    Copies a window of the source that begins at `indices` (elements) and has the
    shape of the destination. Elements outside of the source, below zero or past
    the end, are written as zero. The next `async_commit_group` adds the copy to a
    group. The destination may be read after an `async_wait_group` that covers the
    group and then a block barrier.

    Requirements: source in global memory, destination in shared memory with a
    static shape; the same rank and element type (integer or float); one index for
    each dimension; both strided.

    Example:

    ```mlir
    func.func @copy(%m: memref<500x300xf16>, %s: memref<128x64xf16, #gpu.address_space<workgroup>>,
                    %i: index, %j: index) {
      mosaic_gpu.async_copy %m[%i, %j] to %s
          : memref<500x300xf16> to memref<128x64xf16, #gpu.address_space<workgroup>>
      mosaic_gpu.async_commit_group
      mosaic_gpu.async_wait_group 0
      gpu.barrier
      return
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source, Variadic<Index>:$indices,
                       Arg<AnyMemRef, "destination", [MemWrite]>:$destination);
  let assemblyFormat = "$source `[` $indices `]` `to` $destination attr-dict `:` type($source) `to` type($destination)";
}

def MosaicGPU_AsyncCommitGroupOp : MosaicGPU_Op<"async_commit_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Commits the copies since the last group to one async-group";
  let description = [{
    The group may be empty. Groups complete in the order in which they are
    committed.

    Example:

    ```mlir
    func.func @commit() {
      mosaic_gpu.async_commit_group
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def MosaicGPU_AsyncWaitGroupOp : MosaicGPU_Op<"async_wait_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most `pending` async-groups are in flight";
  let description = [{
    The `pending` most recent groups may be in flight after the op; all older groups
    are complete, and their data is visible to the waiting thread. Other threads
    also need a block barrier after the wait. Passes do not move loads and stores
    across a wait. `pending` must not be negative.

    Example:

    ```mlir
    func.func @wait() {
      mosaic_gpu.async_wait_group 1
      gpu.barrier
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 0;
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncLoadOp : MosaicGPU_Op<"async_load", [AttrSizedOperandSegments]> {
  let summary = "Starts a bulk copy from global to shared memory that completes on a barrier";
  let description = [{
    Copies a slice of the source. The slice begins at `indices` (elements) and has the lengths `slice_lengths`, one of
    each for every dimension of the source. Length -1 means one element and a dimension that the destination does not
    have. One index may be a vector: the slice then gathers one row for each element of the vector.
    `oob_fill_mode` is the value of elements outside of the source: 0, undefined; 1, the kernel guarantees that the
    slice is in bounds; 2 (default), zero.

    The copy completes on the barrier: its phase must expect the bytes (`arrive_expect_tx`), and the destination may be
    read after a `wait` for the phase. The op itself does not arrive on the barrier.

    If `predicate` is false, the op copies nothing. With `gmem_peer_id`, the source is in the memory of that device.
    With `collective`, the blocks of the cluster along these dimensions share the copy: each block fetches one part
    and multicasts it to all. With `leader_tracked`, only the barrier of the first block counts the bytes. The blocks
    receive the same data (`#mosaic_gpu.copy_replicated`) or one part each (`#mosaic_gpu.copy_partitioned`, which
    requires `collective`).

    Requirements: source in global memory, destination in shared memory; the same element type (integer or float); a
    destination of the shape of the slice.

    Example:

    ```mlir
    func.func @load(%m: memref<500x300xf16>, %s: memref<64xf16, #gpu.address_space<workgroup>>,
                    %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %i: i32, %j: i32, %parity: i1) {
      mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 128
      mosaic_gpu.async_load %m[%i, %j] [-1, 64] to %s barrier(%b)
          : memref<500x300xf16>[i32, i32] to memref<64xf16, #gpu.address_space<workgroup>>,
            memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      mosaic_gpu.wait barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%parity : i1)
      return
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source,
                       Arg<AnyMemRef, "destination", [MemWrite]>:$destination,
                       Arg<MosaicGPU_BarrierRef, "barrier", [MemRead, MemWrite]>:$barrier,
                       Variadic<MosaicGPU_Index>:$indices, Optional<I1>:$predicate, Optional<I32>:$gmem_peer_id,
                       DenseI64ArrayAttr:$slice_lengths, DefaultValuedAttr<MosaicGPU_Dimensions, "{}">:$collective,
                       OptionalAttr<AnyAttrOf<[MosaicGPU_CopyReplicated, MosaicGPU_CopyPartitioned]>>:$leader_tracked,
                       DefaultValuedAttr<MosaicGPU_OOBFillMode, "OOBFillMode::Zeros">:$oob_fill_mode);
  let assemblyFormat = [{
    $source `[` $indices `]` $slice_lengths `to` $destination `barrier` `(` $barrier `)`
    (`predicate` `(` $predicate^ `)`)? (`peer` `(` $gmem_peer_id^ `)`)?
    (`collective` custom<Dimensions>($collective)^)? attr-dict
    `:` type($source) `[` type($indices) `]` `to` type($destination) `,` type($barrier)
  }];
}

def MosaicGPU_AsyncPrefetchOp : MosaicGPU_Op<"async_prefetch", [AttrSizedOperandSegments, MosaicGPU_Asynchronous]> {
  let summary = "Starts a prefetch of a slice of global memory into the L2 cache";
  let description = [{
    The slice is defined as in `async_load`. The completion of the prefetch cannot be
    observed. With `collective`, each block of the cluster along these dimensions
    fetches one part. If `predicate` is false, the op fetches nothing.

    Example:

    ```mlir
    func.func @prefetch(%m: memref<500x300xf16>, %i: i32) {
      mosaic_gpu.async_prefetch %m[%i, %i] [64, 64] : memref<500x300xf16>[i32, i32]
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<MosaicGPU_Index>:$indices, Optional<I1>:$predicate,
                       DenseI64ArrayAttr:$slice_lengths, DefaultValuedAttr<MosaicGPU_Dimensions, "{}">:$collective);
  let assemblyFormat = [{
    $source `[` $indices `]` $slice_lengths (`predicate` `(` $predicate^ `)`)?
    (`collective` custom<Dimensions>($collective)^)? attr-dict `:` type($source) `[` type($indices) `]`
  }];
}

def MosaicGPU_AsyncStoreOp : MosaicGPU_Op<"async_store", [AttrSizedOperandSegments, MosaicGPU_Asynchronous]> {
  let summary = "Starts a bulk copy from shared memory to a slice of global memory";
  let description = [{
    Copies the source to a slice of the destination. The slice begins at `indices` (elements) and has the lengths
    `slice_lengths`, one of each for every dimension of the destination. Length -1 means one element and a dimension
    that the source does not have. One index may be a vector: the slice then scatters one row for each element.
    Elements outside of the destination are not written.

    With `commit_group` (default true), the op commits the copy and the earlier copies since the last group to one bulk
    async-group. The kernel must wait for the group before it writes the source again. `reduction_op` combines the
    elements with the elements of the destination instead of replacing them.

    If `predicate` is false, the op copies nothing. With `gmem_peer_id`, the destination is in the memory of that device;
    with `is_global_broadcast` (default false), in the memory of all devices. Both together are an error.

    Example:

    ```mlir
    func.func @store(%s: memref<64x64xf16, #gpu.address_space<workgroup>>, %m: memref<500x300xf16>, %i: i32) {
      mosaic_gpu.async_store %s to %m[%i, %i] [64, 64] {reduction_op = 0 : i32}
          : memref<64x64xf16, #gpu.address_space<workgroup>> to memref<500x300xf16>[i32, i32]
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$destination, Variadic<MosaicGPU_Index>:$indices,
                       Optional<I1>:$predicate, Optional<I32>:$gmem_peer_id, DenseI64ArrayAttr:$slice_lengths,
                       DefaultValuedAttr<BoolAttr, "true">:$commit_group,
                       OptionalAttr<MosaicGPU_TMAReduction>:$reduction_op,
                       DefaultValuedAttr<BoolAttr, "false">:$is_global_broadcast);
  let assemblyFormat = [{
    $source `to` $destination `[` $indices `]` $slice_lengths (`predicate` `(` $predicate^ `)`)?
    (`peer` `(` $gmem_peer_id^ `)`)? attr-dict `:` type($source) `to` type($destination) `[` type($indices) `]`
  }];
}

def MosaicGPU_AsyncStoreSmemOp : MosaicGPU_Op<"async_store_smem", [MosaicGPU_Asynchronous]> {
  let summary = "Starts an asynchronous store of a vector to shared memory of another block of the cluster";
  let description = [{
    The other block is number `cluster_idx` along `cluster_dim`. `destination` and `barrier` are addresses in this
    block's shared memory. The op uses the same addresses in the other block: it writes the elements there, and the
    barrier there counts the bytes. `atomic_type` combines the elements with the elements in memory instead of
    replacing them. `optimized` has the meaning of `vector_store`. Vector and destination must have the same shape and
    element type.

    Example:

    ```mlir
    func.func @send(%v: vector<64x64xf32>, %s: memref<64x64xf32, #gpu.address_space<workgroup>>,
                    %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %block: i32) {
      mosaic_gpu.async_store_smem %v to %s barrier(%b) block(x %block)
          : vector<64x64xf32> to memref<64x64xf32, #gpu.address_space<workgroup>>,
            memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$valueToStore, AnyMemRef:$destination,
                       MosaicGPU_BarrierRef:$barrier, MosaicGPU_Dimension:$cluster_dim, I32:$cluster_idx,
                       OptionalAttr<MosaicGPU_AtomicOpType>:$atomic_type, OptionalAttr<BoolAttr>:$optimized);
  let assemblyFormat = [{
    $valueToStore `to` $destination `barrier` `(` $barrier `)` `block` `(` $cluster_dim $cluster_idx `)` attr-dict
    `:` type($valueToStore) `to` type($destination) `,` type($barrier)
  }];
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_COPIES
