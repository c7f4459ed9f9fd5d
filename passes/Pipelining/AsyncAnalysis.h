//===- AsyncAnalysis.h - Matching of copies and waits -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the files that create schedules.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_ASYNCANALYSIS_H
#define SMALTI_PASSES_PIPELINING_ASYNCANALYSIS_H

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smalti {

class ValueNames;

struct BodyOp;

/// A copy that a body op starts, a group that it commits, or an arrival: the op
/// itself or one in its regions.
struct AsyncEvent {
  mlir::Operation *op;
  AsyncCompletion queue;
  /// The conditions of the scf.if ops around it, with the branch.
  llvm::SmallVector<std::pair<mlir::Value, bool>, 1> conditions;
  /// How often it certainly executes under these conditions.
  int64_t times;
};

/// An entry of a queue: a committed group, or a copy that a wait counter
/// counts.
struct QueuedOp {
  mlir::Operation *op; ///< the body op that starts it
  unsigned key;        ///< the conditions that it executes under; 0: none
  int64_t times;
};

using QueuedOps = llvm::SmallVector<QueuedOp>;

/// A wait of the body, or a block barrier that acts as a wait.
struct AsyncWait {
  unsigned body; ///< index of the body op
  mlir::Operation *at;
  /// The same op; for a block barrier, a copy that can create waits.
  mlir::Operation *op;
  struct Awaited {
    AsyncCompletion queue;
    /// For each condition the last entry of the queue that is complete.
    llvm::SmallVector<std::pair<unsigned, unsigned>> lastOfKey;
  };
  llvm::SmallVector<Awaited, 1> awaited = {};
  /// Buffers whose copies are complete for the waiting thread, and for every
  /// thread that waits.
  llvm::SetVector<mlir::Value> completed = {}, acquired = {};
};

class AsyncAnalysis {
public:
  AsyncAnalysis(mlir::scf::ForOp loop, llvm::ArrayRef<BodyOp> bodyOps,
                ValueNames &names)
      : loop(loop), bodyOps(bodyOps), names(names) {
    getKey({nullptr, AsyncCompletion::Groups, {}, 1});
  }

  /// Returns why the waits cannot be analyzed.
  std::optional<std::string> run();

  /// In the order of the body.
  llvm::ArrayRef<AsyncWait> getWaits() const { return waits; }
  llvm::ArrayRef<QueuedOp> getQueuedOps(AsyncCompletion queue) const {
    return queues[unsigned(queue)];
  }
  /// Whether entries under the conditions execute in every iteration, or in
  /// none.
  bool isFixed(unsigned key) const { return keyIsFixed[key]; }
  /// The queue positions of entries under these conditions.
  llvm::ArrayRef<unsigned> getPositions(AsyncCompletion queue,
                                        unsigned key) const {
    auto it = positionsOfKey[unsigned(queue)].find(key);
    if (it == positionsOfKey[unsigned(queue)].end())
      return {};
    return it->second;
  }

private:
  static constexpr unsigned kQueues = 4;

  struct CopyState {
    AsyncCopyOpInterface op;
    mlir::Value root;
    AsyncCompletion queue;
    unsigned key;
    std::optional<unsigned> position = {}; ///< of its entry in the queue
    std::optional<BarrierRef> barrier = {};
    bool isAcquired = false;
  };
  struct BarrierState {
    unsigned body;
    mlir::Operation *op;
    unsigned sizes[kQueues]; ///< of the queues at the barrier
  };

  unsigned getKey(const AsyncEvent &event);
  bool isInvariant(mlir::Value value);
  void addQueuedOp(AsyncCompletion queue, mlir::Operation *op,
                   const AsyncEvent &event);
  llvm::SmallVector<std::pair<unsigned, unsigned>>
  lastOfKey(AsyncCompletion queue, unsigned size) const;
  void completeQueue(AsyncCompletion queue, int64_t pending, unsigned size,
                     AsyncWait &wait);
  void setComplete(AsyncCompletion queue, unsigned position);
  void noteCompleted(AsyncWait &wait);
  bool isDone(const CopyState &copy) const;
  bool waitAtBarrier(const CopyState &copy);
  std::optional<std::string> start(const BodyOp &bodyOp);
  std::optional<std::string> waitForBarrier(unsigned body,
                                            BarrierObjectOpInterface op);
  std::optional<std::string> waitForQueues(unsigned body,
                                           AsyncWaitOpInterface op);
  std::optional<std::string> use(const BodyOp &bodyOp,
                                 const MemoryAccess &access);

  mlir::scf::ForOp loop;
  llvm::ArrayRef<BodyOp> bodyOps;
  ValueNames &names;
  std::map<std::vector<std::pair<void *, bool>>, unsigned> keys;
  llvm::SmallVector<bool> keyIsFixed;
  llvm::DenseMap<mlir::Value, bool> invariant;

  QueuedOps queues[kQueues];
  llvm::MapVector<unsigned, llvm::SmallVector<unsigned>>
      positionsOfKey[kQueues];
  /// For each queue entry: whether it is complete, and which copies complete
  /// with it.
  llvm::SmallVector<bool> isComplete[kQueues];
  std::vector<llvm::SmallVector<unsigned, 1>> copiesAt[kQueues];
  unsigned completeBelow[kQueues] = {};
  bool startsIn[kQueues + 1] = {};

  llvm::SmallVector<CopyState> copies;
  llvm::SmallVector<unsigned> ungrouped;
  /// Copies into a buffer that no use has found complete.
  llvm::MapVector<mlir::Value, llvm::SmallVector<unsigned>> open;
  /// Since the last call of noteCompleted().
  llvm::SmallVector<unsigned> completedCopies;
  /// Copies without a wait for their mbarrier so far, by the root of the
  /// mbarrier.
  llvm::MapVector<mlir::Value, llvm::SmallVector<unsigned>> onBarrier;
  llvm::SetVector<mlir::Value> copiedRoots, barrierRoots;
  /// The indices of the copied roots with the same identity. By alias class,
  /// the roots that are not proven to be copied and complete.
  llvm::DenseMap<const void *, llvm::SmallVector<unsigned, 1>> rootsOf;
  llvm::DenseMap<mlir::Value, unsigned> numberOf;
  std::map<std::pair<MemorySpace, RootKind>, std::set<unsigned>> unsettled;
  llvm::SmallVector<BarrierState> barriers;
  llvm::SmallVector<BarrierRef> waitedBarriers;
  llvm::SmallVector<AsyncWait> waits;
};

/// Finds the copies, groups and arrivals of an op. Returns why the op cannot be
/// scheduled as a whole.
std::optional<std::string> classifyAsync(mlir::Operation *op, BodyOp &bodyOp,
                                         ValueNames &names);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_ASYNCANALYSIS_H
