//===- MosaicGPUOps.td - The mosaic_gpu dialect's ops ------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS

include "dialects/MosaicGPU/MosaicGPUAttrs.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class MosaicGPU_Op<string mnemonic, list<Trait> traits = []> : Op<MosaicGPU_Dialect, mnemonic, traits>;

def MosaicGPU_BarrierRef : MemRefOf<[MosaicGPU_Barrier]>;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def MosaicGPU_SliceSMEMOp : MosaicGPU_Op<"slice_smem", [Pure]> {
  let summary = "A slice of the block's shared memory, at an offset in bytes";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$offset, OptionalAttr<I32Attr>:$alias_id);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$offset (`alias` $alias_id^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Registers and memory
//===----------------------------------------------------------------------===//

def MosaicGPU_VectorLoadOp : MosaicGPU_Op<"vector_load"> {
  let summary = "Loads a block-level vector from memory of the same shape";
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source, OptionalAttr<BoolAttr>:$optimized);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MosaicGPU_VectorStoreOp : MosaicGPU_Op<"vector_store"> {
  let summary = "Stores a block-level vector to memory of the same shape";
  let arguments = (ins AnyVectorOfNonZeroRank:$valueToStore, Arg<AnyMemRef, "destination", [MemWrite]>:$destination,
                       OptionalAttr<BoolAttr>:$optimized, DefaultValuedAttr<BoolAttr, "false">:$multimem);
  let assemblyFormat = "$valueToStore `,` $destination attr-dict `:` type($valueToStore) `,` type($destination)";
  let hasVerifier = 1;
}

def MosaicGPU_LayoutCastOp : MosaicGPU_Op<"layout_cast", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Says which layout a vector has from here on";
  let arguments = (ins AnyVectorOfNonZeroRank:$x, AnyAttr:$new_layout);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "`x` `(` $x `:` type($x) `)` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies in groups
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncCopyOp : MosaicGPU_Op<"async_copy"> {
  let summary = "Starts copying a window of global memory to shared memory; lanes outside read zero";
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source, Variadic<Index>:$indices,
                       Arg<AnyMemRef, "destination", [MemWrite]>:$destination);
  let assemblyFormat = "$source `[` $indices `]` `to` $destination attr-dict `:` type($source) `to` type($destination)";
  let hasVerifier = 1;
}

def MosaicGPU_AsyncCommitGroupOp : MosaicGPU_Op<"async_commit_group"> {
  let summary = "Makes one group of the copies started since the last group";
  let assemblyFormat = "attr-dict";
}

def MosaicGPU_AsyncWaitGroupOp : MosaicGPU_Op<"async_wait_group"> {
  let summary = "Waits until at most `pending` groups are still in flight";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def MosaicGPU_MMAOp : MosaicGPU_Op<"mma", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Matrix product of block-level vectors in registers, added to an accumulator";
  let arguments = (ins AnyVectorOfNonZeroRank:$accumulator, AnyVectorOfNonZeroRank:$a, AnyVectorOfNonZeroRank:$b);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    `accumulator` `(` $accumulator `:` type($accumulator) `)` `a` `(` $a `:` type($a) `)`
    `b` `(` $b `:` type($b) `)` attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def MosaicGPU_InitializeBarrierOp : MosaicGPU_Op<"initialize_barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "Initialises a run of barriers in shared memory";
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$base_pointer, ConfinedAttr<I64Attr, [IntPositive]>:$arrival_count,
                       ConfinedAttr<I32Attr, [IntPositive]>:$num_barriers,
                       DefaultValuedAttr<BoolAttr, "false">:$orders_tensor_core);
  let assemblyFormat = "$base_pointer attr-dict `:` type($base_pointer)";
}

def MosaicGPU_ArriveOp : MosaicGPU_Op<"arrive"> {
  let summary = "Arrives on a barrier";
  let arguments = (ins Arg<MosaicGPU_BarrierRef, "barrier", [MemRead, MemWrite]>:$barrier,
                       DefaultValuedAttr<BoolAttr, "false">:$orders_tensor_core);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def MosaicGPU_ArriveExpectTxOp : MosaicGPU_Op<"arrive_expect_tx"> {
  let summary = "Arrives on a barrier and announces bytes that copies will deliver";
  let arguments = (ins Arg<MosaicGPU_BarrierRef, "barrier", [MemRead, MemWrite]>:$barrier, I32:$expect_tx);
  let assemblyFormat = "`barrier` `(` $barrier `:` type($barrier) `)` $expect_tx attr-dict";
  let hasVerifier = 1;
}

def MosaicGPU_WaitOp : MosaicGPU_Op<"wait"> {
  let summary = "Waits for the phase of a barrier with this parity to complete";
  let arguments = (ins Arg<MosaicGPU_BarrierRef, "barrier", [MemRead, MemWrite]>:$barrier, I1:$parity);
  let assemblyFormat = "`barrier` `(` $barrier `:` type($barrier) `)` `parity` `(` $parity `:` type($parity) `)` attr-dict";
  let hasVerifier = 1;
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
