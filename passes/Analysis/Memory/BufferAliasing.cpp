//===- BufferAliasing.cpp - Buffers that may overlap ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace smalti;

static bool isNoAliasArgument(Value root) {
  FunctionOpInterface function = getFunctionOfArgument(root);
  return function &&
         function.getArgAttr(cast<BlockArgument>(root).getArgNumber(),
                             "llvm.noalias");
}

AliasClass smalti::getAliasClass(Value root) {
  AliasClass result = {getMemorySpace(root), RootKind::Other,
                       root.getAsOpaquePointer()};
  if (auto global = root.getDefiningOp<memref::GetGlobalOp>()) {
    result.kind = RootKind::Global;
    result.identity = global.getNameAttr().getAsOpaquePointer();
  } else if (auto global = root.getDefiningOp<LLVM::AddressOfOp>()) {
    result.kind = RootKind::Global;
    result.identity = global.getGlobalNameAttr().getAsOpaquePointer();
  } else if (isAllocation(root)) {
    result.kind = RootKind::Allocation;
  } else if (getFunctionOfArgument(root)) {
    result.kind = isNoAliasArgument(root) ? RootKind::NoAliasArgument
                                          : RootKind::Argument;
  }
  return result;
}

bool smalti::mayAlias(RootKind kindA, RootKind kindB) {
  if (kindA == RootKind::Other || kindB == RootKind::Other)
    return true;
  if (kindA == RootKind::Allocation || kindB == RootKind::Allocation)
    return false;
  if (kindA == RootKind::Global || kindB == RootKind::Global)
    return kindA != kindB;
  return kindA == RootKind::Argument && kindB == RootKind::Argument;
}

static bool isUnknownMemory(MemorySpace space) {
  return space == MemorySpace::Other;
}

/// Whether the memory may be the shared memory of this block.
static bool isBlockMemory(MemorySpace space) {
  return space == MemorySpace::Shared || space == MemorySpace::Cluster;
}

/// Whether the two are disjoint parts of a kernel's shared memory.
static bool areDisjointParts(Value rootA, Value rootB) {
  auto a = rootA.getDefiningOp<mosaic_gpu::SliceSMEMOp>();
  auto b = rootB.getDefiningOp<mosaic_gpu::SliceSMEMOp>();
  // smalti-allocate-shared-memory places allocations after all slices.
  if ((a && rootB.getDefiningOp<memref::AllocOp>()) ||
      (b && rootA.getDefiningOp<memref::AllocOp>()))
    return true;
  if (!a || !b)
    return false;
  std::optional<int64_t> bytesA = getBufferBytes(cast<MemRefType>(a.getType()));
  std::optional<int64_t> bytesB = getBufferBytes(cast<MemRefType>(b.getType()));
  int64_t beginA = a.getOffset(), beginB = b.getOffset();
  return (bytesA && *bytesA <= beginB - beginA) ||
         (bytesB && *bytesB <= beginA - beginB);
}

bool smalti::mayAlias(Value rootA, Value rootB) {
  if (areDisjointParts(rootA, rootB))
    return false;
  AliasClass a = getAliasClass(rootA), b = getAliasClass(rootB);
  if (a.identity == b.identity)
    return true;
  if (isUnknownMemory(a.space) || isUnknownMemory(b.space) ||
      (isBlockMemory(a.space) && isBlockMemory(b.space) && a.space != b.space))
    return true;
  return a.space == b.space && mayAlias(a.kind, b.kind);
}

AliasResult BufferAliasAnalysis::alias(Value a, Value b) {
  if (a == b)
    return AliasResult::MustAlias;
  return mayAlias(getRootBuffer(a), getRootBuffer(b)) ? AliasResult::MayAlias
                                                      : AliasResult::NoAlias;
}

ModRefResult BufferAliasAnalysis::getModRef(Operation *op, Value location) {
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason))
    return ModRefResult::getModAndRef();
  ModRefResult result = ModRefResult::getNoModRef();
  for (const MemoryAccess &access : accesses)
    if (!alias(access.memref, location).isNo())
      result = result.merge(access.isWrite ? ModRefResult::getMod()
                                           : ModRefResult::getRef());
  return result;
}

AliasAnalysis smalti::makeAliasAnalysis(Operation *op) {
  AliasAnalysis aliasing(op);
  aliasing.addAnalysisImplementation(BufferAliasAnalysis());
  return aliasing;
}
