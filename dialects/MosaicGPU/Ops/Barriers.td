//===- Barriers.td - Barriers, and requests that complete on them -*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

def MosaicGPU_InitializeBarrierOp : MosaicGPU_Op<"initialize_barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "Initialises a run of barriers in shared memory";
  let description = [{
    `num_barriers` barriers of 8 bytes each, from `base_pointer` on; a phase of
    each completes after `arrival_count` arrivals. The block sees them after a
    `gpu.barrier`.

    Example:

    ```mlir
    func.func @init(%p: !llvm.ptr<3>) {
      mosaic_gpu.initialize_barrier %p {arrival_count = 1 : i64, num_barriers = 4 : i32} : !llvm.ptr<3>
      gpu.barrier
      return
    }
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$base_pointer, ConfinedAttr<I64Attr, [IntPositive]>:$arrival_count,
                       ConfinedAttr<I32Attr, [IntPositive]>:$num_barriers,
                       DefaultValuedAttr<BoolAttr, "false">:$orders_tensor_core);
  let assemblyFormat = "$base_pointer attr-dict `:` qualified(type($base_pointer))";
  let hasVerifier = 0;
}

def MosaicGPU_ArriveOp : MosaicGPU_Op<"arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives on a barrier";
  let description = [{
    Counts one arrival. What was done before it is visible to those that wait for
    the phase, and with `orders_tensor_core` asynchronous work of the tensor core
    too.

    Example:

    ```mlir
    func.func @arrive(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) {
      mosaic_gpu.arrive %b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_BarrierRef:$barrier, DefaultValuedAttr<BoolAttr, "false">:$orders_tensor_core);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def MosaicGPU_ArriveExpectTxOp : MosaicGPU_Op<"arrive_expect_tx", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives on a barrier and announces bytes that copies will deliver";
  let description = [{
    The phase completes when all arrivals were counted and all announced bytes
    have arrived. The number is written out or is an `i32` value.

    Example:

    ```mlir
    func.func @arrive(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %bytes: i32) {
      mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 8192
      mosaic_gpu.arrive_expect_tx barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) %bytes
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_BarrierRef:$barrier, Optional<I32>:$dynamic_expect_tx,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$expect_tx);
  let assemblyFormat = [{
    `barrier` `(` $barrier `:` type($barrier) `)` custom<ExpectTx>($dynamic_expect_tx, $expect_tx) attr-dict
  }];
}

def MosaicGPU_WaitOp : MosaicGPU_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the phase of a barrier with this parity to complete";
  let description = [{
    Phases of a barrier have parity 0, 1, 0, 1 and so on. What was done before
    the arrivals of the phase is visible afterwards. Loads and stores do not move
    across a wait.

    Example:

    ```mlir
    func.func @wait(%b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %parity: i1) {
      mosaic_gpu.wait barrier(%b : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) parity(%parity : i1)
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_BarrierRef:$barrier, I1:$parity);
  let assemblyFormat = [{
    `barrier` `(` $barrier `:` type($barrier) `)` `parity` `(` $parity `:` type($parity) `)` attr-dict
  }];
}

def MosaicGPU_TcGen05CommitArriveOp : MosaicGPU_Op<"tcgen05_commit_arrive", [MosaicGPU_Asynchronous]> {
  let summary = "Arrives on a barrier when the tensor core's asynchronous work is done";
  let description = [{
    The arrival comes when everything that this thread's warp has asked of the
    tensor core before (`tcgen05_mma`, copies to tensor memory) is complete. With
    `collective` it arrives on the barriers of both blocks of a pair.

    Example:

    ```mlir
    func.func @commit(%b: memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>) {
      mosaic_gpu.tcgen05_commit_arrive %b
          : memref<!mosaic_gpu.barrier<orders_tensor_core = true>, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins MosaicGPU_BarrierRef:$barrier, DefaultValuedAttr<BoolAttr, "false">:$collective);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

//===----------------------------------------------------------------------===//
// Blocks that take the work of others
//===----------------------------------------------------------------------===//

def MosaicGPU_TryClusterCancelOp : MosaicGPU_Op<"try_cluster_cancel", [MosaicGPU_Asynchronous]> {
  let summary = "Asks for the work of a cluster that has not been launched yet";
  let description = [{
    The answer, 16 bytes that `query_cluster_cancel` decodes, is written to
    shared memory later; its arrival is counted by the barrier, which must have
    been told to expect 16 bytes. Where the answer says so, the launch of that
    cluster is cancelled, and this one does its work. Nothing is asked where
    `predicate` is false.

    Example:

    ```mlir
    func.func @ask(%r: memref<16xi8, #gpu.address_space<workgroup>>,
                   %b: memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>, %p: i1) {
      mosaic_gpu.try_cluster_cancel %r barrier(%b) predicate(%p)
          : memref<16xi8, #gpu.address_space<workgroup>>, memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
      return
    }
    ```
  }];
  let arguments = (ins MemRefOf<[I8]>:$cancellation_result, MosaicGPU_BarrierRef:$barrier, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $cancellation_result `barrier` `(` $barrier `)` (`predicate` `(` $predicate^ `)`)? attr-dict
    `:` type($cancellation_result) `,` type($barrier)
  }];
}

def MosaicGPU_QueryClusterCancelOp : MosaicGPU_Op<"query_cluster_cancel"> {
  let summary = "Decodes the answer to try_cluster_cancel";
  let description = [{
    `success` says whether the launch of a cluster was cancelled; then `x`, `y`
    and `z` are the index of its first block.

    Example:

    ```mlir
    func.func @answer(%r: memref<16xi8, #gpu.address_space<workgroup>>) -> (i32, i1) {
      %x, %y, %z, %success = mosaic_gpu.query_cluster_cancel %r : memref<16xi8, #gpu.address_space<workgroup>>
      return %x, %success : i32, i1
    }
    ```
  }];
  let arguments = (ins Arg<MemRefOf<[I8]>, "answer", [MemRead]>:$cancellation_result);
  let results = (outs I32:$x, I32:$y, I32:$z, I1:$success);
  let assemblyFormat = "$cancellation_result attr-dict `:` type($cancellation_result)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS
