//===- AsyncAnalysis.h - Which wait covers which copy ---------------------===//
//
// Private to the files that make schedules.
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

struct Unit;

/// A copy that a unit starts, a group that it makes or an arrival: the op
/// itself or one in its regions.
struct AsyncEvent {
  mlir::Operation *op;
  AsyncQueue queue;
  /// The conditions of scf.if that it stands under, with the branch.
  llvm::SmallVector<std::pair<mlir::Value, bool>, 1> conditions;
  /// How many times it surely happens under these conditions.
  int64_t times;
};

/// What is counted in a queue: a group, or a copy of a counter.
struct QueueUnit {
  mlir::Operation *op; ///< the op of the body that makes it
  unsigned key;        ///< the conditions that it is made under; 0: none
  int64_t times;
};

using QueueUnits = llvm::SmallVector<QueueUnit>;

/// A wait of the body, or a block barrier that is one.
struct AsyncWait {
  unsigned body; ///< the unit of the body
  mlir::Operation *at;
  /// The same op; where that is a block barrier, a copy that makes waits.
  mlir::Operation *op;
  struct Awaited {
    AsyncQueue queue;
    /// For each condition the last unit of the queue that is complete.
    llvm::SmallVector<std::pair<unsigned, unsigned>> lastOfKey;
  };
  llvm::SmallVector<Awaited, 1> awaited = {};
  /// Buffers whose copies are complete for the thread that waits, and for every
  /// thread that waits.
  llvm::SetVector<mlir::Value> completed = {}, acquired = {};
};

class AsyncAnalysis {
public:
  AsyncAnalysis(mlir::scf::ForOp loop, llvm::ArrayRef<Unit> units,
                ValueNames &names)
      : loop(loop), units(units), names(names) {
    getKey({nullptr, AsyncQueue::Groups, {}, 1});
  }

  /// Returns why the waits cannot be understood.
  std::optional<std::string> run();

  /// In the order of the body.
  llvm::ArrayRef<AsyncWait> getWaits() const { return waits; }
  llvm::ArrayRef<QueueUnit> getUnits(AsyncQueue queue) const {
    return queues[unsigned(queue)];
  }
  /// Whether units under the conditions are made in every iteration, or none.
  bool isFixed(unsigned key) const { return keyIsFixed[key]; }
  /// The units under these conditions.
  llvm::ArrayRef<unsigned> getPlaces(AsyncQueue queue, unsigned key) const {
    auto it = placesOfKey[unsigned(queue)].find(key);
    if (it == placesOfKey[unsigned(queue)].end())
      return {};
    return it->second;
  }

private:
  static constexpr unsigned kQueues = 4;

  struct CopyState {
    AsyncCopyOpInterface op;
    mlir::Value root;
    AsyncQueue queue;
    unsigned key;
    std::optional<unsigned> place = {}; ///< of its unit in the queue
    std::optional<BarrierRef> barrier = {};
    bool isAcquired = false;
  };
  struct BarrierState {
    unsigned body;
    mlir::Operation *op;
    unsigned sizes[kQueues]; ///< of the queues when it is reached
  };

  unsigned getKey(const AsyncEvent &event);
  bool isInvariant(mlir::Value value);
  void addUnit(AsyncQueue queue, mlir::Operation *op, const AsyncEvent &event);
  llvm::SmallVector<std::pair<unsigned, unsigned>>
  lastOfKey(AsyncQueue queue, unsigned size) const;
  void completeQueue(AsyncQueue queue, int64_t pending, unsigned size,
                     AsyncWait &wait);
  void setComplete(AsyncQueue queue, unsigned place);
  void noteCompleted(AsyncWait &wait);
  bool isDone(const CopyState &copy) const;
  bool waitAtBarrier(const CopyState &copy);
  std::optional<std::string> start(const Unit &unit);
  std::optional<std::string> waitForBarrier(unsigned body,
                                            BarrierObjectOpInterface op);
  std::optional<std::string> waitForQueues(unsigned body,
                                           AsyncWaitOpInterface op);
  std::optional<std::string> use(const Unit &unit, const MemoryAccess &access);

  mlir::scf::ForOp loop;
  llvm::ArrayRef<Unit> units;
  ValueNames &names;
  std::map<std::vector<std::pair<void *, bool>>, unsigned> keys;
  llvm::SmallVector<bool> keyIsFixed;
  llvm::DenseMap<mlir::Value, bool> invariant;

  QueueUnits queues[kQueues];
  llvm::MapVector<unsigned, llvm::SmallVector<unsigned>> placesOfKey[kQueues];
  /// Of each unit: whether it is complete, and the copies that are then.
  llvm::SmallVector<bool> isComplete[kQueues];
  std::vector<llvm::SmallVector<unsigned, 1>> copiesAt[kQueues];
  unsigned completeBelow[kQueues] = {};
  bool startsIn[kQueues + 1] = {};

  llvm::SmallVector<CopyState> copies;
  llvm::SmallVector<unsigned> ungrouped;
  /// Copies into a buffer that no use has seen to be complete.
  llvm::MapVector<mlir::Value, llvm::SmallVector<unsigned>> open;
  /// Since the last wait was noted.
  llvm::SmallVector<unsigned> completedCopies;
  /// Copies that no wait for their barrier was seen for, by the barrier's root.
  llvm::MapVector<mlir::Value, llvm::SmallVector<unsigned>> onBarrier;
  llvm::SetVector<mlir::Value> copiedRoots, barrierRoots;
  /// The numbers of the copied roots of one identity, and by what they may
  /// alias those that are not known to be copied and complete.
  llvm::DenseMap<const void *, llvm::SmallVector<unsigned, 1>> rootsOf;
  llvm::DenseMap<mlir::Value, unsigned> numberOf;
  std::map<std::pair<MemorySpace, RootKind>, std::set<unsigned>> unsettled;
  llvm::SmallVector<BarrierState> barriers;
  llvm::SmallVector<BarrierRef> waitedBarriers;
  llvm::SmallVector<AsyncWait> waits;
};

/// Finds the copies, groups and arrivals of an op. Returns why it cannot be
/// scheduled as one.
std::optional<std::string> classifyAsync(mlir::Operation *op, Unit &unit,
                                         ValueNames &names);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_ASYNCANALYSIS_H
