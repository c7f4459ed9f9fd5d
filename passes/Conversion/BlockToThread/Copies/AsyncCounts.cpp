//===- AsyncCounts.cpp - Outstanding copies at a wait ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Copies/AsyncCounts.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {

/// The outstanding copies at a program point.
struct InFlight {
  /// Copies per group, newest first. A group beyond the list was never
  /// committed, so no wait is needed for it.
  SmallVector<int64_t> groups;
  /// Copies that are not in a committed group.
  int64_t open = 0;

  bool operator!=(const InFlight &other) const {
    return open != other.open || groups != other.groups;
  }
};

class Counter {
public:
  Counter(Operation *root, llvm::function_ref<int64_t(Operation *)> countCopies)
      : countCopies(countCopies) {
    root->walk([&](mosaic_gpu::AsyncWaitGroupOp wait) {
      mostPending = std::max<size_t>(mostPending, wait.getPending());
    });
    InFlight state;
    for (Region &region : root->getRegions())
      visit(region, state);
  }

  DenseMap<Operation *, int64_t> takeCounts() { return std::move(counts); }

private:
  void visit(Region &region, InFlight &state) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op, state);
  }
  void visit(Operation *op, InFlight &state);
  void visitBranch(scf::IfOp op, InFlight &state);
  void visitLoop(Operation *op, InFlight &state);

  /// The minimum of two paths, group by group.
  static InFlight join(const InFlight &lhs, const InFlight &rhs) {
    InFlight joined = lhs.groups.size() < rhs.groups.size() ? rhs : lhs;
    const InFlight &other = lhs.groups.size() < rhs.groups.size() ? lhs : rhs;
    for (auto [group, least] : llvm::zip(other.groups, joined.groups))
      least = std::min(least, group);
    joined.open = std::min(lhs.open, rhs.open);
    return joined;
  }

  llvm::function_ref<int64_t(Operation *)> countCopies;
  size_t mostPending = 0;
  DenseMap<Operation *, int64_t> counts;
};

} // namespace

void Counter::visit(Operation *op, InFlight &state) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](mosaic_gpu::AsyncCopyOp copy) {
        state.open += countCopies(copy);
      })
      .Case([&](mosaic_gpu::AsyncCommitGroupOp) {
        state.groups.insert(state.groups.begin(), state.open);
        if (state.groups.size() > mostPending)
          state.groups.resize(mostPending);
        state.open = 0;
      })
      .Case([&](mosaic_gpu::AsyncWaitGroupOp wait) {
        int64_t count = state.open;
        ArrayRef<int64_t> groups = state.groups;
        for (int64_t group : groups.take_front(
                 std::min<size_t>(wait.getPending(), groups.size())))
          count += group;
        // The last visit of a loop body has the minimum.
        counts[wait] = count;
      })
      .Case([&](scf::IfOp branch) { visitBranch(branch, state); })
      .Default([&](Operation *) {
        if (op->getNumRegions() > 0)
          visitLoop(op, state);
      });
}

void Counter::visitBranch(scf::IfOp op, InFlight &state) {
  InFlight other = state;
  visit(op.getThenRegion(), state);
  visit(op.getElseRegion(), other);
  state = join(state, other);
}

/// Any op with regions is treated as a loop whose regions run in any order.
/// Counts only decrease from visit to visit, so the iteration terminates.
void Counter::visitLoop(Operation *op, InFlight &state) {
  while (true) {
    InFlight next = state;
    for (Region &region : op->getRegions()) {
      InFlight inside = state;
      visit(region, inside);
      next = join(next, inside);
    }
    if (!(next != state))
      return;
    state = std::move(next);
  }
}

DenseMap<Operation *, int64_t> block_to_thread::countCopiesInFlight(
    Operation *root, llvm::function_ref<int64_t(Operation *)> countCopies) {
  return Counter(root, countCopies).takeCounts();
}
