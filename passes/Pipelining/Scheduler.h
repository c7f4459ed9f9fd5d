//===- Scheduler.h - Creation of the schedule of a loop ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the files that create schedules. LoopChecks.cpp classifies the
// ops. AsyncEvents.cpp matches asynchronous copies and waits.
// StreamSchedule.cpp and AsyncSchedule.cpp place the ops with side effects,
// ScheduleAttributes.cpp reads a schedule from attributes, and LoopSchedule.cpp
// places the other ops. ScheduleChecks.cpp checks the result.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_SCHEDULER_H
#define SMALTI_PASSES_PIPELINING_SCHEDULER_H

#include "smalti/passes/Analysis/Memory/IterationDependence.h"
#include "smalti/passes/Pipelining/AccessLists.h"
#include "smalti/passes/Pipelining/AsyncAnalysis.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Support/Describe.h"

#include "llvm/ADT/DenseSet.h"

namespace smalti {

/// The effects of an op of the body.
struct BodyOp {
  mlir::Operation *op;
  llvm::SmallVector<MemoryAccess> accesses;
  bool readsGlobal = false, writesGlobal = false;
  bool readsShared = false, writesShared = false;
  /// The asynchronous events of the op or of its regions.
  llvm::SmallVector<AsyncEvent, 1> events;
  bool isCopy = false, isCommit = false, isArrive = false, isWait = false;
  bool hasLoop = false; ///< is or contains a loop

  bool isPure() const { return accesses.empty() && events.empty() && !isWait; }
};

class QueueCounts;

/// The reason against a loop without a computation.
inline constexpr llvm::StringLiteral kOnlyCopies =
    "the body only copies; no computation can overlap with the copies";

class Scheduler {
public:
  Scheduler(mlir::scf::ForOp loop, const ScheduleOptions &options)
      : loop(loop), options(options), names(*options.names) {}

  /// Each step returns the reason if the loop cannot be pipelined.
  std::optional<LoopSchedule> run(std::string &reason);

  /// Whether other buffers are prefetched in async mode.
  bool hasRegisterStream() const { return streamsInAsyncMode; }

  /// Whether the copies of the next iteration start before the waits.
  bool hasCopiesFirst() const { return startsCopiesFirst; }

  /// A note if there were too many accesses to compare all pairs.
  std::string describeComparisonLimit() const;

  /// The largest number of stages that may help, and the reason against more.
  /// It is the number of slots of shared buffers in async mode, 3 in stream
  /// mode if the values go to shared memory, and at most the trip count.
  int64_t getUsefulStages(std::string &limit);

private:
  using Reason = std::optional<std::string>;

  Reason clampStages();
  Reason checkLoop();
  Reason classify();
  Reason checkLanes();
  Reason chooseMode();
  Reason analyzeWaits();
  void findHoistable();
  Reason placeStream();
  void interleaveReads(llvm::ArrayRef<mlir::Operation *> reads,
                       llvm::ArrayRef<mlir::Operation *> writes);
  bool mayStartCopiesFirst() const;
  bool waitsForNextCopies() const;
  Reason placeAsync();
  Reason hoistOperandsOfCopies(Position position);
  void placeRegisterStream(Position copy, Position read);
  Reason checkQueue(AsyncCompletion queue);
  Reason setWait(unsigned wait, const AsyncWait::Awaited &awaited,
                 QueueCounts &counts);
  llvm::SmallVector<mlir::Value> findCopiesInFlight(AsyncCompletion queue);
  Reason readSchedule();
  Reason placePureOps();
  Reason makeEntries();
  void findBuffers();
  Reason checkValues();
  Reason checkMemory();
  static int64_t getNeededSlots(const AccessLists &lists,
                                const AliasClass &buffer);
  bool mayTouchSame(const TimedAccess &a, const TimedAccess &b,
                    int64_t distance);
  Reason checkWaits();

  /// The values that `op` uses and that the body computes or carries.
  llvm::ArrayRef<mlir::Value> operandsOf(mlir::Operation *op);
  mlir::Operation *getBodyOp(mlir::Value value);
  /// The op of the body that computes `value`. For a loop-carried value, the op
  /// that computes it for a later iteration; null for the induction variable.
  mlir::Operation *getProducer(mlir::Value value);
  bool recordSlot(const std::optional<IterationSlot> &found,
                  std::optional<IterationSlot> &slot);
  std::optional<IterationSlot> findSlot(mlir::Value root,
                                        const MemoryAccess &access);
  int64_t getSlots(mlir::Value root,
                   llvm::ArrayRef<const MemoryAccess *> accesses,
                   bool &usesOtherSlots);
  int64_t getBarrierSlots(mlir::Value root,
                          llvm::ArrayRef<mlir::Operation *> ops);
  unsigned getEntry(mlir::Operation *op) const {
    return entryNumber.lookup(op);
  }
  bool isCloneable(const BodyOp &bodyOp);

  mlir::scf::ForOp loop;
  ScheduleOptions options;
  ValueNames &names;
  LoopSchedule schedule;
  llvm::SmallVector<BodyOp> bodyOps;
  llvm::DenseMap<mlir::Operation *, unsigned> bodyOpIndex;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>>
      operandCache;
  /// For loop-carried values.
  llvm::DenseMap<mlir::Value, mlir::Operation *> producerOf;
  /// The bytes that each thread copies through a pointer; 0 if unknown.
  llvm::DenseMap<mlir::Value, int64_t> bytesOfThread;
  std::optional<AsyncAnalysis> async;
  /// A proxy fence in the loop, which writes to shared memory must precede.
  mlir::Operation *proxyFence = nullptr;
  bool streamsInAsyncMode = false, startsCopiesFirst = false;
  /// The entry of an op that is not duplicated.
  llvm::DenseMap<mlir::Operation *, unsigned> entryNumber;
  std::optional<IterationDependence> dependence;
  /// The number of compared pairs of accesses; the limit keeps the pass linear.
  size_t comparisons = 0, mostComparisons = 0;
  /// Ops that depend only on reads of global memory.
  llvm::DenseSet<mlir::Operation *> hoistable;
  /// The position of computations without other constraints.
  Position compute{0, 0};
  /// Why a read of global memory cannot be prefetched.
  std::string blockedRead;
  /// The positions of each op; several for a duplicated op.
  llvm::DenseMap<mlir::Operation *, std::set<Position>> positions;
  llvm::DenseMap<mlir::Operation *, bool> cloneable;
};

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_SCHEDULER_H
