//===- HoldLoads.cpp - smalti-hold-loads ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIHOLDLOADS
#define GEN_PASS_DEF_SMALTIHOLDLOADS
#include "smalti/passes/Pipelining/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-hold-loads";

namespace {

/// The ops of a loop's body that decide whether reads are kept early.
class Body {
public:
  explicit Body(scf::ForOp loop);

  /// The last read of global memory whose value the loop stores only after it
  /// has read shared memory; null if it does not exist.
  Operation *getLastPrefetch() const { return lastPrefetch; }
  /// The first op that stores a prefetched value; null if all are carried or
  /// copied.
  Operation *getFirstStore() const { return firstStore; }
  unsigned countPrefetches() const { return numPrefetched; }
  /// The reads of earlier iterations whose values this iteration stores.
  unsigned countCarriedReads() const { return numCarried; }

private:
  void classify(Operation *op, unsigned position);
  /// Whether values that were read are only stored to shared memory or carried
  /// to the next iteration, and the position of their first store.
  bool findFirstUse(ValueRange values, unsigned &firstUse) const;

  Block *block;
  DenseMap<Operation *, unsigned> positions;
  llvm::DenseSet<Operation *> readers, writers, pure, copies;
  std::optional<unsigned> firstSharedRead;
  bool isScheduled = false;
  Operation *lastPrefetch = nullptr, *firstStore = nullptr;
  unsigned numPrefetched = 0, numCarried = 0;
};

struct SmaltiHoldLoads : smalti::impl::SmaltiHoldLoadsBase<SmaltiHoldLoads> {
  using SmaltiHoldLoadsBase::SmaltiHoldLoadsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiHoldLoadsBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }
  void runOnOperation() override;
};

} // namespace

/// The byte permutation of AMD GPUs does not have an op in MLIR.
static bool isBytePermutation(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin() == "llvm.amdgcn.perm";
}

void Body::classify(Operation *op, unsigned position) {
  positions[op] = position;
  // The body is already scheduled explicitly.
  if (isa<amdgpu::SchedBarrierOp, ROCDL::SchedBarrier, ROCDL::SchedGroupBarrier,
          ROCDL::IglpOpt>(op))
    isScheduled = true;
  if (isMemoryEffectFree(op) || isa<RegisterOpInterface>(op) ||
      isBytePermutation(op)) {
    pure.insert(op);
    return;
  }
  if (isa<AsyncCopyOpInterface>(op)) {
    copies.insert(op);
    return;
  }
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(op, accesses, reason) || accesses.empty())
    return;
  bool reads = false, stores = false, other = false;
  for (const MemoryAccess &access : accesses) {
    if (access.space == MemorySpace::Shared && !access.isWrite &&
        !firstSharedRead)
      firstSharedRead = position;
    if (access.space == MemorySpace::Global && !access.isWrite)
      reads = true;
    else if (access.space == MemorySpace::Shared && access.isWrite)
      stores = true;
    else
      other = true;
  }
  if (reads && !stores && !other)
    readers.insert(op);
  if (stores && !reads && !other)
    writers.insert(op);
}

bool Body::findFirstUse(ValueRange values, unsigned &firstUse) const {
  SmallVector<std::pair<Operation *, bool>> worklist;
  auto addUsers = [&](ValueRange used, bool isRead) {
    for (Value value : used)
      for (Operation *user : value.getUsers())
        worklist.emplace_back(user, isRead);
  };
  addUsers(values, /*isRead=*/true);
  llvm::DenseSet<Operation *> seen;
  firstUse = positions.size();
  while (!worklist.empty()) {
    auto [user, isRead] = worklist.pop_back_val();
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!ancestor)
      return false;
    // A value that is computed from the read and carried on is a result of
    // the loop.
    if (ancestor == block->getTerminator()) {
      if (!isRead)
        return false;
      continue;
    }
    if (!seen.insert(ancestor).second)
      continue;
    if (pure.contains(ancestor)) {
      addUsers(ancestor->getResults(), /*isRead=*/false);
      continue;
    }
    if (!writers.contains(ancestor))
      return false;
    firstUse = std::min(firstUse, positions.lookup(ancestor));
  }
  return true;
}

Body::Body(scf::ForOp loop) : block(loop.getBody()) {
  unsigned position = 0;
  for (Operation &op : *block)
    classify(&op, position++);
  if (isScheduled || !firstSharedRead)
    return;
  unsigned firstPosition = positions.size();
  for (Operation &op : *block) {
    unsigned here = positions.lookup(&op), firstUse = positions.size();
    // Before the first read of shared memory, and used after it.
    if (here > *firstSharedRead)
      break;
    if (copies.contains(&op) ||
        (readers.contains(&op) && findFirstUse(op.getResults(), firstUse) &&
         firstUse > *firstSharedRead)) {
      lastPrefetch = &op;
      ++numPrefetched;
      firstPosition = std::min(firstPosition, firstUse);
    }
  }
  for (BlockArgument carried : loop.getRegionIterArgs()) {
    unsigned firstUse = positions.size();
    OpOperand *yielded = loop.getTiedLoopYieldedValue(carried);
    if (readers.contains(yielded->get().getDefiningOp()) &&
        findFirstUse(carried, firstUse) && firstUse > *firstSharedRead &&
        firstUse < positions.size()) {
      ++numCarried;
      firstPosition = std::min(firstPosition, firstUse);
    }
  }
  for (Operation *writer : writers)
    if (positions.lookup(writer) == firstPosition)
      firstStore = writer;
}

void SmaltiHoldLoads::runOnOperation() {
  Operation *function = getOperation();
  FailureOr<const targets::Target *> chip = findTarget(function, target);
  if (failed(chip))
    return signalPassFailure();
  if (*chip && !(*chip)->sinksLoads)
    return markAllAnalysesPreserved();
  function->walk([&](scf::ForOp loop) {
    Body body(loop);
    Operation *last = body.getLastPrefetch(), *store = body.getFirstStore();
    OpBuilder builder(&getContext());
    auto insertBarrier = [&](Operation *op) {
      amdgpu::SchedBarrierOp::create(builder, op->getLoc(),
                                     amdgpu::sched_barrier_opt_enum::none);
    };
    if (last) {
      builder.setInsertionPointAfter(last);
      insertBarrier(last);
    }
    // Without this barrier, LLVM could move the arithmetic below the stores,
    // and with it the waits above the arithmetic.
    if (store) {
      builder.setInsertionPoint(store);
      insertBarrier(store);
    }
    if (last) {
      unsigned reads = body.countPrefetches();
      bool isOne = reads == 1;
      remarkApplied(loop, kPassName)
          << "scheduling barriers inserted: " << reads
          << (isOne ? " read" : " reads") << " of global memory "
          << (isOne ? "is" : "are") << " issued before the loop's arithmetic"
          << (store ? "; the wait follows the arithmetic" : "");
    } else if (store) {
      unsigned reads = body.countCarriedReads();
      bool isOne = reads == 1;
      remarkApplied(loop, kPassName)
          << "scheduling barrier inserted: the wait for " << reads
          << (isOne ? " read" : " reads")
          << " of global memory by the previous iteration follows the loop's "
             "arithmetic";
    }
  });
}
