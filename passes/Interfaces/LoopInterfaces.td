//===- LoopInterfaces.td - What loop passes ask of an op ---*- tablegen -*-===//
//
// Memory effects say what an op reads and writes. These interfaces say the
// rest that loop passes need. Ops of other dialects implement them through
// external models (ExternalModels.h), so that no pass holds a list of op
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
    The op starts a copy into shared memory and does not wait for it. `AsyncQueue` says how the copy completes:
    - `Groups`: it belongs to the group that the next op with AsyncCommitOpInterface makes;
    - `LoadCounter`, `AsyncCounter`, `TensorCounter`: it is a unit of its own in that queue of the wave;
    - `BarrierObject`: it completes the phase of a barrier object (BarrierObjectOpInterface) together with others.
    Groups, and the units of one counter, complete in the order in which they were made or started. What has completed
    is there for the thread or wave that waited (AsyncWaitOpInterface), and for others after a block barrier; what a
    barrier object completed is there for every thread that waits for the phase.
  }];
  let methods = [
    InterfaceMethod<"The memref, pointer or descriptor through which global memory is read; null where that is not known.",
                    "::mlir::Value", "getCopySource">,
    InterfaceMethod<"The memref or pointer through which shared memory is written; null where that is not known.",
                    "::mlir::Value", "getCopyDestination">,
    InterfaceMethod<"How many bytes the op writes for each thread that executes it, from the address on that the "
                    "destination is for that thread; 0 where it does anything else.",
                    "int64_t", "getBytesOfThread", (ins), "", "return 0;">,
    InterfaceMethod<"How the copy completes.", "::smalti::AsyncQueue", "getQueue", (ins), "",
                    "return ::smalti::AsyncQueue::Groups;">,
    InterfaceMethod<"Whether code generation makes every block barrier wait for the copy, so that no other wait is "
                    "needed before one.", "bool", "completesAtBlockBarriers", (ins), "", "return false;">,
    InterfaceMethod<"Makes a wait that leaves `pending` units of the copy's queue in flight; for copies that complete "
                    "at block barriers. Null for others.",
                    "::mlir::Operation *", "createWait",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "int64_t":$pending), "",
                    "return nullptr;">
  ];
}

def Smalti_AsyncCommitOpInterface : Smalti_OpInterface<"AsyncCommitOpInterface"> {
  let description = [{
    The op makes one group of the copies of the queue `Groups` that were started since the last group, possibly an empty
    one. Groups complete in the order in which they are made.
  }];
}

def Smalti_AsyncWaitOpInterface : Smalti_OpInterface<"AsyncWaitOpInterface"> {
  let description = [{
    The op waits until at most so many groups, or units of a counter, are not complete. It may wait for several queues.
  }];
  let methods = [
    InterfaceMethod<"How many may still be in flight afterwards; nothing where the op does not wait for the queue.",
                    "std::optional<int64_t>", "getPending", (ins "::smalti::AsyncQueue":$queue)>,
    InterfaceMethod<"Changes that number; a larger one than the op can state becomes the largest that it can.",
                    "void", "setPending", (ins "::smalti::AsyncQueue":$queue, "int64_t":$pending)>
  ];
}

def Smalti_BarrierObjectOpInterface : Smalti_OpInterface<"BarrierObjectOpInterface"> {
  let description = [{
    The op works on a barrier object in shared memory (mbarrier). A barrier counts arrivals, and bytes that were
    announced and have come; its phases have parity 0, 1, 0, 1 and so on. A copy that completes on a barrier implements
    this next to AsyncCopyOpInterface.
  }];
  let methods = [
    InterfaceMethod<"What the op does.", "::smalti::BarrierAction", "getBarrierAction">,
    InterfaceMethod<"The barrier, or what holds it together with others.",
                    "::mlir::OpOperand &", "getBarrierMutable">,
    InterfaceMethod<"The number of the barrier within the operand above; null where that is one barrier.",
                    "::mlir::OpOperand *", "getBarrierIndexMutable", (ins), "", "return nullptr;">,
    InterfaceMethod<"How many barriers in a row the op initialises, from the operand above on.",
                    "int64_t", "getNumBarriers", (ins), "", "return 1;">,
    InterfaceMethod<"The parity of the phase that a wait waits for, an `i1` or `i32`; null for other actions.",
                    "::mlir::OpOperand *", "getParityMutable", (ins), "", "return nullptr;">,
    InterfaceMethod<"How many arrivals complete a phase of a barrier that the op initialises, or as how many the op "
                    "counts each time a thread executes it; null for other actions.",
                    "::mlir::OpFoldResult", "getArrivals">,
    InterfaceMethod<"The `i1` that keeps threads from executing the op where it is false; null where nothing does.",
                    "::mlir::Value", "getPredicate", (ins), "", "return {};">,
    InterfaceMethod<"Whether the threads of the block execute the op as one, and arrive once.",
                    "bool", "isOfBlock", (ins), "", "return false;">
  ];
}

def Smalti_MemoryDescriptorOpInterface : Smalti_OpInterface<"MemoryDescriptorOpInterface"> {
  let description = [{
    The op's one result describes memory for ops that access it, like the descriptor of a copy by a DMA engine. It has
    no effects itself, and the result goes nowhere but into other descriptors and into such accesses.
  }];
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

def Smalti_RegisterOpInterface : Smalti_OpInterface<"RegisterOpInterface"> {
  let description = [{
    The op states no memory effects, but accesses no memory: it computes with registers, be it those of other lanes of
    its wave, or is a hint to code generation that stands where it stands for a reason.
  }];
}

def Smalti_LaneExchangeOpInterface : Smalti_OpInterface<"LaneExchangeOpInterface"> {
  let description = [{
    What the op gives a lane depends on which other lanes of its wave execute it along with that one, and on what these
    give it.
  }];
}

def Smalti_AtomicAccessOpInterface : Smalti_OpInterface<"AtomicAccessOpInterface"> {
  let description = [{
    Each element that the op accesses it reads and writes in one step, which no other such op of any thread interrupts.
  }];
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
