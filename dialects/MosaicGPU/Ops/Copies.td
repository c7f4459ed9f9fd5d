//===- Copies.td - Asynchronous copies ---------------------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_COPIES
#define SMALTI_DIALECTS_MOSAICGPU_OPS_COPIES

include "smalti/dialects/MosaicGPU/Ops/Base.td"

//===----------------------------------------------------------------------===//
// In groups
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncCopyOp : MosaicGPU_Op<"async_copy"> {
  let summary = "Starts copying a window of global memory to shared memory; lanes outside read zero";
  let description = [{
    The window begins at `indices` and has the shape of the destination. What
    lies outside of the source, below zero or past the end, is written as zero.
    The copy belongs to the group that the next `async_commit_group` closes;
    the destination may be read after an `async_wait_group` that covers the group
    and a barrier of the block.

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
  let summary = "Makes one group of the copies started since the last group";
  let description = [{
    The group may be empty. Groups complete in the order in which they were made.

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
  let summary = "Waits until at most `pending` groups are still in flight";
  let description = [{
    The newest `pending` groups may still be in flight afterwards; all older ones
    have completed, for the thread that waits. Another thread sees their data
    after a barrier. Loads and stores do not move across a wait.

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
// In bulk
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncLoadOp : MosaicGPU_Op<"async_load", [AttrSizedOperandSegments]> {
  let summary = "Starts copying a slice of global memory to shared memory; a barrier counts its bytes";
  let description = [{
    The slice begins at `indices`, one for each dimension of the source, and is as long as `slice_lengths` says; a
    dimension of length -1 is one element long and not there in the destination. One of the indices may be a vector:
    then the slice gathers that many rows of its dimension. What is written for elements outside of the source says
    `oob_fill_mode`: 0, anything; 1, the program promises that there are none; 2, the default, zeros. The op does not
    arrive on the barrier: the bytes must have been announced by `arrive_expect_tx`, and the destination may be read
    after a `wait` for the phase.

    Where `predicate` is false nothing is copied. With `gmem_peer_id` the source is that device's memory. With
    `collective` the blocks of a cluster along these dimensions share the copy: each fetches a part and sends it to all.
    `leader_tracked` has the first block's barrier alone count the bytes, of the same data for all blocks
    (`#mosaic_gpu.copy_replicated`) or of a part for each (`#mosaic_gpu.copy_partitioned`).

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
  let summary = "Starts fetching a slice of global memory into the cache that all blocks share";
  let description = [{
    The slice is that of `async_load`; nothing tells when it is there. With
    `collective` each block of the cluster along these dimensions fetches a part.
    Nothing is fetched where `predicate` is false.

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
  let summary = "Starts copying shared memory to a slice of global memory";
  let description = [{
    The slice begins at `indices`, one for each dimension of the destination, and is as long as `slice_lengths` says; a
    dimension of length -1 is one element long and not there in the source. One of the indices may be a vector: then
    the slice scatters that many rows. With `commit_group`, the default, the copy and those before it since the last
    group are made one group, which the program waits for before it writes the source again. `reduction_op` combines
    the elements with those of the destination instead of replacing them.

    Where `predicate` is false nothing is copied. With `gmem_peer_id` the destination is that device's memory, with
    `is_global_broadcast` that of all devices.

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
  let summary = "Starts storing a vector to the shared memory of another block of the cluster";
  let description = [{
    The other block is number `cluster_idx` along `cluster_dim`. `destination` and `barrier` name the places in this
    block's shared memory; what is written and what counts the bytes are the same places of the other block.
    `atomic_type` combines the elements with those that are there instead of replacing them. `optimized` is that of
    `vector_store`.

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
