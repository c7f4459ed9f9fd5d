//===- SplitConditionals.cpp - Splitting of scf.if ops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/SplitConditionals.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

/// Collects the reads of global memory in a branch, if its only other accesses
/// are stores to shared memory.
static bool collectReads(Block *block, SmallVectorImpl<Operation *> &reads,
                         bool &writesShared) {
  if (!block)
    return true;
  Builder builder(block->getParent()->getContext());
  for (Operation &op : block->without_terminator()) {
    if (op.getNumRegions() != 0 ||
        isa<AsyncCopyOpInterface, AsyncCommitOpInterface, AsyncWaitOpInterface,
            BlockBarrierOpInterface, BarrierObjectOpInterface>(op))
      return false;
    SmallVector<MemoryAccess> accesses;
    std::string reason;
    if (!collectAccesses(&op, accesses, reason))
      return false;
    bool isRead = false, isWrite = false;
    for (const MemoryAccess &access : accesses) {
      if (access.space !=
          (access.isWrite ? MemorySpace::Shared : MemorySpace::Global))
        return false;
      (access.isWrite ? isWrite : isRead) = true;
    }
    if (isRead && isWrite)
      return false;
    writesShared |= isWrite;
    if (!isRead)
      continue;
    // The value of the branch that is not taken must be a constant, and
    // block-level vectors would need a layout.
    if (op.hasAttr(mosaic_gpu::kOutLayouts) ||
        llvm::any_of(op.getResultTypes(),
                     [&](Type type) { return !builder.getZeroAttr(type); }))
      return false;
    reads.push_back(&op);
  }
  return true;
}

/// Clones `reads`, which are ops of `from`, into `to`, with the ops that
/// compute their operands.
static void cloneReads(OpBuilder &builder, Block *from, Block *to,
                       ArrayRef<Operation *> reads, IRMapping &mapping) {
  llvm::SetVector<Operation *> needed(reads.begin(), reads.end());
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == from)
        needed.insert(def);
  builder.setInsertionPointToStart(to);
  for (Operation &op : from->without_terminator())
    if (needed.contains(&op))
      builder.clone(op, mapping);
}

ConditionalSplitter::ConditionalSplitter(scf::ForOp loop) {
  OpBuilder builder(loop.getContext());
  SmallVector<scf::IfOp> conditionals(loop.getBody()->getOps<scf::IfOp>());
  for (scf::IfOp original : conditionals) {
    SmallVector<Operation *> reads[2];
    bool writesShared = false;
    Block *blocks[2] = {original.thenBlock(), original.elseBlock()};
    if (original.getNumResults() != 0 ||
        !collectReads(blocks[0], reads[0], writesShared) ||
        !collectReads(blocks[1], reads[1], writesShared) || !writesShared ||
        (reads[0].empty() && reads[1].empty()))
      continue;

    SmallVector<Type> types;
    for (auto &branch : reads)
      for (Operation *read : branch)
        llvm::append_range(types, read->getResultTypes());
    Location loc = original.getLoc();
    builder.setInsertionPoint(original);
    auto first = scf::IfOp::create(builder, loc, types, original.getCondition(),
                                   /*withElseRegion=*/true);
    for (unsigned branch : {0, 1}) {
      Block *to = branch == 0 ? first.thenBlock() : first.elseBlock();
      IRMapping mapping;
      if (blocks[branch])
        cloneReads(builder, blocks[branch], to, reads[branch], mapping);
      builder.setInsertionPointToEnd(to);
      SmallVector<Value> yielded;
      for (unsigned from : {0, 1})
        for (Operation *read : reads[from])
          for (Value result : read->getResults())
            yielded.push_back(from == branch
                                  ? mapping.lookup(result)
                                  : arith::ConstantOp::create(
                                        builder, loc,
                                        cast<TypedAttr>(builder.getZeroAttr(
                                            result.getType())))
                                        .getResult());
      scf::YieldOp::create(builder, loc, yielded);
    }
    builder.setInsertionPoint(original);
    IRMapping mapping;
    auto rest = cast<scf::IfOp>(builder.clone(*original, mapping));
    unsigned number = 0;
    for (auto &branch : reads)
      for (Operation *read : branch) {
        Operation *copy = mapping.lookup(read);
        for (Value result : copy->getResults())
          result.replaceAllUsesWith(first.getResult(number++));
        copy->erase();
      }
    original->remove();
    splits.push_back({original, first, rest});
  }
}

void ConditionalSplitter::keep() {
  for (Split &split : splits) {
    // Addresses that only the reads used are computed with the reads now.
    for (Region &region : split.rest->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op))
            op.erase();
    split.original->destroy();
  }
  splits.clear();
}

void ConditionalSplitter::undo() {
  for (Split &split : splits) {
    split.reads->getBlock()->getOperations().insert(split.reads->getIterator(),
                                                    split.original);
    split.rest->erase();
    split.reads->erase();
  }
  splits.clear();
}

ConditionalSplitter::~ConditionalSplitter() { undo(); }
