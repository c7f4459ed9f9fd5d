//===- LoopInterfaces.td - Interfaces for loop passes ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts that loop passes need in addition to memory effects. Ops of other
// dialects implement the interfaces through external models (ExternalModels.h),
// so that passes do not contain lists of op names.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_INTERFACES_LOOPINTERFACES
#define SMALTI_PASSES_INTERFACES_LOOPINTERFACES

include "mlir/IR/OpBase.td"

class Smalti_OpInterface<string name> : OpInterface<name> {
  let cppNamespace = "::smalti";
}

def Smalti_AsyncCopyOpInterface : Smalti_OpInterface<"AsyncCopyOpInterface"> {
  let description = [{
    The op issues a copy into shared memory and does not wait for it. `AsyncCompletion` is the completion mechanism:
    - `Groups`: the next op with AsyncCommitOpInterface commits the copy to a group;
    - `LoadCounter`, `AsyncCounter`, `TensorCounter`: the copy increments this wait counter of the wave;
    - `BarrierObject`: the copy completes bytes of an mbarrier phase (BarrierObjectOpInterface).
    Groups complete in commit order, and the copies of one counter in issue order. After a wait (AsyncWaitOpInterface),
    the data are visible to the waiting thread or wave, and to others after a block barrier. Data of an mbarrier phase are
    visible to every thread that waits for the phase.
  }];
  let methods = [
    InterfaceMethod<"The memref, pointer or descriptor through which global memory is read; null if unknown.",
                    "::mlir::Value", "getCopySource">,
    InterfaceMethod<"The memref or pointer through which shared memory is written; null if unknown.",
                    "::mlir::Value", "getCopyDestination">,
    InterfaceMethod<"The number of bytes that each executing thread writes from its destination address; 0 if the op "
                    "writes anything else.",
                    "int64_t", "getBytesOfThread", (ins), "", "return 0;">,
    InterfaceMethod<"The completion mechanism of the copy.", "::smalti::AsyncCompletion", "getCompletion", (ins), "",
                    "return ::smalti::AsyncCompletion::Groups;">,
    InterfaceMethod<"Whether code generation makes every block barrier wait for the copy, so that a barrier needs no "
                    "other wait.", "bool", "completesAtBlockBarriers", (ins), "", "return false;">,
    InterfaceMethod<"Creates a wait that leaves `pending` copies outstanding, for copies that complete at block "
                    "barriers. Null for others.",
                    "::mlir::Operation *", "createWait",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "int64_t":$pending), "",
                    "return nullptr;">
  ];
}

def Smalti_AsyncCommitOpInterface : Smalti_OpInterface<"AsyncCommitOpInterface"> {
  let description = [{
    The op commits the copies with `Groups` that were issued since the last commit to a group, which may be empty.
    Groups complete in commit order.
  }];
}

def Smalti_AsyncWaitOpInterface : Smalti_OpInterface<"AsyncWaitOpInterface"> {
  let description = [{
    The op waits until at most a given number of groups, or of copies of a counter, are outstanding. It may wait for
    several mechanisms.
  }];
  let methods = [
    InterfaceMethod<"The maximum number of outstanding copies or groups after the op; std::nullopt if it does not wait for this mechanism.",
                    "std::optional<int64_t>", "getPending", (ins "::smalti::AsyncCompletion":$queue)>,
    InterfaceMethod<"Sets that number, clamped to the maximum of the op.",
                    "void", "setPending", (ins "::smalti::AsyncCompletion":$queue, "int64_t":$pending)>
  ];
}

def Smalti_BarrierObjectOpInterface : Smalti_OpInterface<"BarrierObjectOpInterface"> {
  let description = [{
    The op uses an mbarrier in shared memory. An mbarrier counts arrivals, and expected and completed bytes. Its phases
    have parity 0, 1, 0, 1 and so on. A copy that completes on an mbarrier also implements AsyncCopyOpInterface.
  }];
  let methods = [
    InterfaceMethod<"The action of the op.", "::smalti::BarrierAction", "getBarrierAction">,
    InterfaceMethod<"The mbarrier, or an array of mbarriers.",
                    "::mlir::OpOperand &", "getBarrierMutable">,
    InterfaceMethod<"The index of the mbarrier in the operand above; null if that is a single mbarrier.",
                    "::mlir::OpOperand *", "getBarrierIndexMutable", (ins), "", "return nullptr;">,
    InterfaceMethod<"The number of consecutive mbarriers that the op initializes, from the operand above.",
                    "int64_t", "getNumBarriers", (ins), "", "return 1;">,
    InterfaceMethod<"The parity operand of a wait, an `i1` or `i32`; null for other actions.",
                    "::mlir::OpOperand *", "getParityMutable", (ins), "", "return nullptr;">,
    InterfaceMethod<"The number of arrivals per phase of an initialization, or the number of arrivals of one thread that "
                    "executes an arrival; null for other actions.",
                    "::mlir::OpFoldResult", "getArrivals">,
    InterfaceMethod<"The `i1` predicate of the op; null if it is not predicated.",
                    "::mlir::Value", "getPredicate", (ins), "", "return {};">,
    InterfaceMethod<"Whether the op is block-level: all threads of the block together arrive once.",
                    "bool", "isBlockWide", (ins), "", "return false;">
  ];
}

def Smalti_MemoryDescriptorOpInterface : Smalti_OpInterface<"MemoryDescriptorOpInterface"> {
  let description = [{
    The op's single result describes memory for ops that access it, such as the descriptor of a DMA copy. The op does
    not have effects, and only other descriptors and such accesses use the result.
  }];
}

def Smalti_BlockBarrierOpInterface : Smalti_OpInterface<"BlockBarrierOpInterface"> {
  let description = [{
    A block barrier: every thread of the block waits for all others, and earlier
    writes to shared memory are visible after it.
  }];
  let methods = [
    InterfaceMethod<"Whether earlier writes to global memory are visible after it, too.", "bool", "ordersGlobalMemory">
  ];
}

def Smalti_RegisterOpInterface : Smalti_OpInterface<"RegisterOpInterface"> {
  let description = [{
    The op does not declare memory effects but does not access memory: it computes with registers, possibly those of
    other lanes, or is a hint to code generation that must not move.
  }];
}

def Smalti_LaneExchangeOpInterface : Smalti_OpInterface<"LaneExchangeOpInterface"> {
  let description = [{
    The result of the op in a lane depends on which other lanes of the wave execute the op together, and on their
    operands.
  }];
}

def Smalti_AtomicAccessOpInterface : Smalti_OpInterface<"AtomicAccessOpInterface"> {
  let description = [{
    The op reads and writes each element atomically with respect to other such ops of any thread.
  }];
}

def Smalti_FullOverwriteOpInterface : Smalti_OpInterface<"FullOverwriteOpInterface"> {
  let description = [{
    The op writes memory and reports whether it overwrites a whole memref.
  }];
  let methods = [
    InterfaceMethod<"Whether each execution of the op writes every element of its operand `memref`.",
                    "bool", "overwrites", (ins "::mlir::Value":$memref)>
  ];
}

def Smalti_StridedAccessOpInterface : Smalti_OpInterface<"StridedAccessOpInterface"> {
  let description = [{
    The op addresses the elements of a memref by the strides of its type. The operand may be replaced by a memref of the
    same shape with other strides. The op accesses only memory of its memref operands. The methods describe the
    addresses for one memref operand.
  }];
  let methods = [
    InterfaceMethod<"The access of one thread at its indices, if it is consecutive elements of a row.",
                    "std::optional<::smalti::RowAccess>", "getRowAccess", (ins "::mlir::OpOperand &":$memref),
                    "", "return std::nullopt;">,
    InterfaceMethod<"Replaces the memref and the indices; only for a row access.",
                    "void", "setRowAccess",
                    (ins "::mlir::OpOperand &":$memref, "::mlir::Value":$newMemRef, "::mlir::ValueRange":$newIndices),
                    "", "llvm_unreachable(\"not a row access\");">,
    InterfaceMethod<"The access of the whole block, if the op is block-level and accesses all of the memref.",
                    "std::optional<::smalti::BlockAccess>", "getBlockAccess", (ins "::mlir::OpOperand &":$memref),
                    "", "return std::nullopt;">,
    InterfaceMethod<"The required alignment of every row in bytes.", "int64_t", "getRowAlignment",
                    (ins "::mlir::OpOperand &":$memref), "", "return 1;">,
    InterfaceMethod<"Sets the row stride in elements, for ops that do not derive it from the type.",
                    "void", "setRowPitch", (ins "::mlir::OpOperand &":$memref, "int64_t":$elements), "", "return;">
  ];
}

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES
