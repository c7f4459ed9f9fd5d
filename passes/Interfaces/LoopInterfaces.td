//===- LoopInterfaces.td - What loop passes ask of an op ---*- tablegen -*-===//
//
// Memory effects say what an op reads and writes. These interfaces say the
// rest that loop passes need. Ops of other dialects implement them through
// external models (ExternalModels.cpp), so that no pass holds a list of op
// names.
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
    The op starts a copy into shared memory and does not wait for it. The copy
    belongs to the group that the next op with AsyncCommitOpInterface makes, and
    is complete for the thread that started it after a wait for that group
    (AsyncWaitOpInterface).
  }];
  let methods = [
    InterfaceMethod<"The memref that is read.", "::mlir::Value", "getCopySource">,
    InterfaceMethod<"The memref in shared memory that is written.", "::mlir::Value", "getCopyDestination">
  ];
}

def Smalti_AsyncCommitOpInterface : Smalti_OpInterface<"AsyncCommitOpInterface"> {
  let description = [{
    The op makes one group of the copies that were started since the last group,
    possibly an empty one. Groups complete in the order in which they are made.
  }];
}

def Smalti_AsyncWaitOpInterface : Smalti_OpInterface<"AsyncWaitOpInterface"> {
  let description = [{
    The op waits until at most `getPendingGroups()` groups are not complete.
  }];
  let methods = [
    InterfaceMethod<"How many groups may still be in flight afterwards.", "int64_t", "getPendingGroups">,
    InterfaceMethod<"Changes that number.", "void", "setPendingGroups", (ins "int64_t":$pending)>
  ];
}

def Smalti_BlockBarrierOpInterface : Smalti_OpInterface<"BlockBarrierOpInterface"> {
  let description = [{
    Every thread of the block waits in the op for all the others, and what they
    wrote to shared memory before is visible after it.
  }];
  let methods = [
    InterfaceMethod<"Whether writes to global memory are made visible too.", "bool", "ordersGlobalMemory">
  ];
}

def Smalti_FullOverwriteOpInterface : Smalti_OpInterface<"FullOverwriteOpInterface"> {
  let description = [{
    The op writes memory and can tell whether it writes all of a memref.
  }];
  let methods = [
    InterfaceMethod<"Whether the op writes every element of its operand `memref` each time it is executed.",
                    "bool", "overwrites", (ins "::mlir::Value":$memref)>
  ];
}

def Smalti_StridedAccessOpInterface : Smalti_OpInterface<"StridedAccessOpInterface"> {
  let description = [{
    The op finds the elements of a memref by the strides of its type: a memref of the same shape with other strides does
    as well. It accesses no memory but that of its memrefs. What it knows about the addresses, it tells for one of its
    memref operands.
  }];
  let methods = [
    InterfaceMethod<"What one thread accesses by the indices that it gives, if that is consecutive elements of a row.",
                    "std::optional<::smalti::RowAccess>", "getRowAccess", (ins "::mlir::OpOperand &":$memref),
                    "", "return std::nullopt;">,
    InterfaceMethod<"Accesses another memref at other indices instead; only of a row access.",
                    "void", "setRowAccess",
                    (ins "::mlir::OpOperand &":$memref, "::mlir::Value":$newMemRef, "::mlir::ValueRange":$newIndices),
                    "", "llvm_unreachable(\"not a row access\");">,
    InterfaceMethod<"What the whole block accesses, if the op accesses all of the memref for it.",
                    "std::optional<::smalti::BlockAccess>", "getBlockAccess", (ins "::mlir::OpOperand &":$memref),
                    "", "return std::nullopt;">,
    InterfaceMethod<"Bytes that every row must be aligned to.", "int64_t", "getRowAlignment",
                    (ins "::mlir::OpOperand &":$memref), "", "return 1;">,
    InterfaceMethod<"Tells the op that rows are now `elements` apart, where it does not take that from the type.",
                    "void", "setRowPitch", (ins "::mlir::OpOperand &":$memref, "int64_t":$elements), "", "return;">
  ];
}

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES
