//===- Scheduler.h - Making the schedule of a loop ------------------------===//
//
// Private to the files that make schedules: LoopChecks.cpp says what the ops
// are, AsyncUnits.cpp what they copy asynchronously and wait for,
// StreamSchedule.cpp and AsyncSchedule.cpp place the ops with effects,
// ScheduleAttributes.cpp reads a schedule that was written by hand,
// LoopSchedule.cpp places the rest and ScheduleChecks.cpp finds what would go
// wrong.
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

/// What an op of the body does.
struct Unit {
  mlir::Operation *op;
  llvm::SmallVector<MemoryAccess> accesses;
  bool readsGlobal = false, writesGlobal = false;
  bool readsShared = false, writesShared = false;
  /// What it starts asynchronously, itself or in its regions.
  llvm::SmallVector<AsyncEvent, 1> events;
  bool isCopy = false, isCommit = false, isArrive = false, isWait = false;
  bool hasLoop = false; ///< is or holds a loop

  bool isPure() const { return accesses.empty() && events.empty() && !isWait; }
};

class QueueCounts;

/// Why a loop that does not compute is not pipelined.
inline constexpr llvm::StringLiteral kOnlyCopies =
    "the body only copies; no computation can overlap with the copies";

class Scheduler {
public:
  Scheduler(mlir::scf::ForOp loop, const ScheduleOptions &options)
      : loop(loop), options(options), names(*options.names) {}

  /// Each step returns the reason where the loop cannot be pipelined.
  std::optional<LoopSchedule> run(std::string &reason);

  /// Whether reads and stores run ahead beside asynchronous copies.
  bool hasStreamOfAsync() const { return streamsBesideCopies; }

  /// Whether the copies of the next iteration start ahead of waits.
  bool hasCopiesFirst() const { return startsCopiesFirst; }

  /// What is to be known where accesses were too many to compare them all.
  std::string whatIsNotCompared() const;

  /// The most stages that may help, and why no more do: as many as shared
  /// buffers have slots in async mode, 3 in stream mode where what is read goes
  /// to shared memory, and no more than iterations.
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
  bool mayStartCopiesFirst() const;
  bool waitsForNextCopies() const;
  Reason placeAsync();
  Reason hoistOperandsOfCopies(Position place);
  void placeStreamOfAsync(Position copy, Position read);
  Reason checkQueue(AsyncQueue queue);
  Reason setWait(unsigned wait, const AsyncWait::Awaited &awaited,
                 QueueCounts &counts);
  llvm::SmallVector<mlir::Value> findCopiesInFlight(AsyncQueue queue);
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
  /// The op of the body that computes `value`: for a loop-carried value the one
  /// that computes it for a later iteration, or none, as for the induction
  /// variable.
  mlir::Operation *getProducer(mlir::Value value);
  bool takeSlot(const std::optional<IterationSlot> &found,
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
  bool isCloneable(const Unit &unit);

  mlir::scf::ForOp loop;
  ScheduleOptions options;
  ValueNames &names;
  LoopSchedule schedule;
  llvm::SmallVector<Unit> units;
  llvm::DenseMap<mlir::Operation *, unsigned> unitOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>>
      operandCache;
  /// For loop-carried values.
  llvm::DenseMap<mlir::Value, mlir::Operation *> producerOf;
  /// What each thread copies through pointers; 0 where that is not known.
  llvm::DenseMap<mlir::Value, int64_t> bytesOfThread;
  std::optional<AsyncAnalysis> async;
  bool streamsBesideCopies = false, startsCopiesFirst = false;
  /// The entry of an op that is there once.
  llvm::DenseMap<mlir::Operation *, unsigned> entryNumber;
  std::optional<IterationDependence> dependence;
  /// Comparisons of accesses so far: a limit keeps the pass linear.
  size_t comparisons = 0, mostComparisons = 0;
  /// Ops that depend on nothing but reads of global memory.
  llvm::DenseSet<mlir::Operation *> hoistable;
  /// Where computing goes that nothing else waits for.
  Position compute{0, 0};
  /// Why some read of global memory must stay where it is.
  std::string readStays;
  /// Where each op goes; several places for one that is made again.
  llvm::DenseMap<mlir::Operation *, std::set<Position>> positions;
  llvm::DenseMap<mlir::Operation *, bool> cloneable;
};

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_SCHEDULER_H
