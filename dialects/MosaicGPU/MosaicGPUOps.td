//===- MosaicGPUOps.td - The mosaic_gpu dialect's ops ------*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS

include "dialects/MosaicGPU/MosaicGPUAttrs.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class MosaicGPU_Op<string mnemonic, list<Trait> traits = []> : Op<MosaicGPU_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

def MosaicGPU_BarrierRef : MemRefOf<[MosaicGPU_Barrier]>;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def MosaicGPU_SliceSMEMOp : MosaicGPU_Op<"slice_smem", [Pure]> {
  let summary = "A slice of the block's shared memory, at an offset in bytes";
  let description = [{
    All slices of a kernel lie in one buffer; slices may overlap. The offset is a
    multiple of the element's size, and the result is statically shaped memory of
    address space `workgroup`, or 3 in a program of threads. Slices with the same
    `alias` number are the same memory seen with the same transforms.

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

//===----------------------------------------------------------------------===//
// Registers and memory
//===----------------------------------------------------------------------===//

def MosaicGPU_VectorLoadOp : MosaicGPU_Op<"vector_load"> {
  let summary = "Loads a block-level vector from memory of the same shape";
  let description = [{
    The block reads all of `source` into a vector whose elements are spread over
    warps, lanes and registers as `out_layouts` says. The memory is shared
    (address space `workgroup`) or global (none, or `global`). `optimized`: true
    asks for a transfer without bank conflicts, false allows any, and absent
    leaves the choice to the lowering.

    Example:

    ```mlir
    func.func @load(%m: memref<64x64xf16, #gpu.address_space<workgroup>>) -> vector<64x64xf16> {
      %v = mosaic_gpu.vector_load %m {optimized = true}
          : memref<64x64xf16, #gpu.address_space<workgroup>> -> vector<64x64xf16>
      return %v : vector<64x64xf16>
    }
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "source", [MemRead]>:$source, OptionalAttr<BoolAttr>:$optimized);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def MosaicGPU_VectorStoreOp : MosaicGPU_Op<"vector_store"> {
  let summary = "Stores a block-level vector to memory of the same shape";
  let description = [{
    The block writes all of `destination`. Elements that several lanes hold are
    written once. `optimized` is that of `vector_load`. `multimem` writes to the
    same place in the memory of every device of the group; the destination is
    then a multicast address in global memory.

    Example:

    ```mlir
    func.func @store(%v: vector<64x64xf16>, %m: memref<64x64xf16>) {
      mosaic_gpu.vector_store %v, %m : vector<64x64xf16>, memref<64x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$valueToStore,
                       Arg<AnyMemRef, "destination", [MemWrite]>:$destination,
                       OptionalAttr<BoolAttr>:$optimized, DefaultValuedAttr<BoolAttr, "false">:$multimem);
  let assemblyFormat = "$valueToStore `,` $destination attr-dict `:` type($valueToStore) `,` type($destination)";
}

def MosaicGPU_LayoutCastOp : MosaicGPU_Op<"layout_cast", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Says which layout a vector has from here on";
  let description = [{
    The result holds the same elements in `new_layout`. Where the operand has
    another layout, the elements are moved.

    Example:

    ```mlir
    func.func @cast(%v: vector<64x128xf32>) -> vector<64x128xf32> {
      %r = mosaic_gpu.layout_cast x(%v : vector<64x128xf32>)
          {new_layout = #mosaic_gpu.WGStridedFragLayout<[64, 128], 2>}
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$x, AnyAttr:$new_layout);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = "`x` `(` $x `:` type($x) `)` attr-dict";
}

//===----------------------------------------------------------------------===//
// Asynchronous copies in groups
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
// Asynchronous copies that complete on barriers
//===----------------------------------------------------------------------===//

def MosaicGPU_AsyncLoadOp : MosaicGPU_Op<"async_load", [AttrSizedOperandSegments]> {
  let summary = "Starts copying a slice of global memory to shared memory; a barrier counts its bytes";
  let description = [{
    The slice begins at `indices`, one for each dimension of the source, and is as long as `slice_lengths` says; a
    dimension of length -1 is one element long and not there in the destination. One of the indices may be a vector:
    then the slice gathers that many rows of its dimension. What lies outside of the source is written as zero
    (`oob_fill_mode` 2, the only one that is understood). The op does not arrive on the barrier: the bytes must have been
    announced by `arrive_expect_tx`, and the destination may be read after a `wait` for the phase.

    Where `predicate` is false nothing is copied. With `collective` the blocks of a cluster along these dimensions share
    the copy, which `leader_tracked` has the first one's barrier count.

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
                       Variadic<AnyTypeOf<[I32, VectorOfRankAndType<[1], [I8, I16, I32]>]>>:$indices,
                       Optional<I1>:$predicate, DenseI64ArrayAttr:$slice_lengths,
                       DefaultValuedAttr<ArrayAttr, "{}">:$collective, OptionalAttr<AnyAttr>:$leader_tracked,
                       DefaultValuedAttr<I32Attr, "2">:$oob_fill_mode);
  let assemblyFormat = [{
    $source `[` $indices `]` $slice_lengths `to` $destination `barrier` `(` $barrier `)`
    (`predicate` `(` $predicate^ `)`)? attr-dict
    `:` type($source) `[` type($indices) `]` `to` type($destination) `,` type($barrier)
  }];
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def MosaicGPU_MMAOp : MosaicGPU_Op<"mma", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Matrix product of block-level vectors in registers, added to an accumulator";
  let description = [{
    `result[M x N] = accumulator[M x N] + a[M x K] * b[K x N]`. Operands are of
    one type, f16, bf16, f32 or an 8-bit float, with an f32 accumulator, or i8 or
    i4 with an i32 accumulator; two 8-bit floats of one family may be mixed.
    `allow_tf32` permits f32 operands to be rounded to TF32 before they are
    multiplied; without it they are not.

    The layouts are those of the fragments of a matrix instruction, spread over
    the warps of the block.

    Example:

    ```mlir
    func.func @product(%c: vector<64x128xf32>, %a: vector<64x16xf16>, %b: vector<16x128xf16>) -> vector<64x128xf32> {
      %r = mosaic_gpu.mma accumulator(%c : vector<64x128xf32>) a(%a : vector<64x16xf16>) b(%b : vector<16x128xf16>)
          -> vector<64x128xf32>
      return %r : vector<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyFixedVectorOfNonZeroRank:$accumulator, AnyFixedVectorOfNonZeroRank:$a,
                       AnyFixedVectorOfNonZeroRank:$b, UnitAttr:$allow_tf32);
  let results = (outs AnyFixedVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    `accumulator` `(` $accumulator `:` type($accumulator) `)` `a` `(` $a `:` type($a) `)`
    `b` `(` $b `:` type($b) `)` attr-dict `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

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

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUOPS
