//===- Barriers.td - Barriers and cluster launch control ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS
#define SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS

include "smalti/dialects/MosaicGPU/Ops/Base.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

def MosaicGPU_InitializeBarrierOp : MosaicGPU_Op<"initialize_barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "Initializes consecutive barriers in shared memory";
  let description = [{
    Initializes `num_barriers` barriers of 8 bytes each at `base_pointer`. A phase
    of a barrier completes after `arrival_count` arrivals; both numbers must be
    positive. Other threads may use the barriers after a `gpu.barrier`. With
    `orders_tensor_core` (default false), the barriers also order asynchronous
    operations of the tensor core.

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
    Counts one arrival of the current phase. The arrival has release semantics: a
    wait for the phase is ordered after the accesses before the arrival. With
    `orders_tensor_core` (default false), this includes asynchronous operations of
    the tensor core. The barrier is a rank-0 memref in shared memory.

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
  let summary = "Arrives on a barrier and adds bytes that the phase expects from copies";
  let description = [{
    The phase completes when all arrivals are counted and all expected bytes have
    been delivered. The number of bytes is either a constant, which must not be
    negative, or an `i32` value; both or neither is an error.

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
  let summary = "Waits until the phase of a barrier with this parity is complete";
  let description = [{
    The phases of a barrier have parity 0, 1, 0, 1 and so on. The wait has acquire
    semantics: accesses before the arrivals of the phase happen before accesses
    after the wait. Passes do not move loads and stores across a wait.

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
  let summary = "Arrives on a barrier when outstanding tensor core operations are complete";
  let description = [{
    The arrival is counted when all asynchronous tensor core operations that this
    warp has issued before the op (`tcgen05_mma`, copies to tensor memory) are
    complete. With `collective` (default false), the op arrives on the barriers of
    both blocks of a pair.

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
// Cluster launch control
//===----------------------------------------------------------------------===//

def MosaicGPU_TryClusterCancelOp : MosaicGPU_Op<"try_cluster_cancel", [MosaicGPU_Asynchronous]> {
  let summary = "Asks the hardware to cancel a cluster that is not launched yet, so that this cluster can do its work";
  let description = [{
    The hardware writes a response of 16 bytes to shared memory asynchronously;
    `query_cluster_cancel` decodes the response. The barrier counts the bytes, so
    its phase must expect 16 bytes. If the response reports success, the launch of
    that cluster is canceled, and this cluster can compute its tiles. If
    `predicate` is false, the op sends no request. The response is a `memref<16xi8>` in
    shared memory.

    Example:

    ```mlir
    func.func @request(%r: memref<16xi8, #gpu.address_space<workgroup>>,
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
  let summary = "Reads from the response to try_cluster_cancel whether a cluster was canceled, and its first block";
  let description = [{
    `success` is true if the launch of a cluster was canceled. In that case `x`,
    `y` and `z` are the index of the first block of that cluster. The response must
    be complete: wait for the phase of its barrier first.

    Example:

    ```mlir
    func.func @response(%r: memref<16xi8, #gpu.address_space<workgroup>>) -> (i32, i1) {
      %x, %y, %z, %success = mosaic_gpu.query_cluster_cancel %r : memref<16xi8, #gpu.address_space<workgroup>>
      return %x, %success : i32, i1
    }
    ```
  }];
  let arguments = (ins Arg<MemRefOf<[I8]>, "response", [MemRead]>:$cancellation_result);
  let results = (outs I32:$x, I32:$y, I32:$z, I1:$success);
  let assemblyFormat = "$cancellation_result attr-dict `:` type($cancellation_result)";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS
