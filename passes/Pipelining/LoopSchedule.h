//===- LoopSchedule.h - Schedule of a pipelined loop ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule assigns every op of a loop's body a stage and a position in the
// kernel. Every refusal is decided while the schedule is created; applying it
// cannot fail.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H
#define SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Slots/IterationSlots.h"
#include "smalti/passes/Support/Options.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace smalti {
class IntegerRanges;
class RegisterModel;
class UniformityAnalysis;
class ValueNames;

llvm::StringRef toString(PipelineMode mode);

/// The largest number of stages; more only increase code size.
inline constexpr int64_t kMaxStages = 16;

/// In stage s an op works on the iteration that is s before that of stage 0.
/// Ops of a lower cluster come earlier in the kernel.
struct Position {
  int64_t stage;
  int64_t cluster;
  bool operator<(const Position &other) const {
    return std::tie(stage, cluster) < std::tie(other.stage, other.cluster);
  }
  bool operator==(const Position &other) const {
    return stage == other.stage && cluster == other.cluster;
  }
};

/// One op in the kernel. A cheap op that several stages use has an entry for
/// each of these stages.
struct ScheduleEntry {
  mlir::Operation *op;
  Position position;
};

/// A buffer that the loop accesses.
struct LoopBuffer {
  mlir::Value root;
  MemorySpace space;
  /// How many consecutive iterations use different parts of it; 1 if unknown.
  int64_t slots;
  /// The buffer holds mbarriers: arrivals write it and waits read it. A wait
  /// does not need a block barrier after the arrivals that it waits for.
  bool isBarrierObject = false;
  /// Only some accesses are proven to use the slot of their iteration.
  bool usesOtherSlots = false;
};

/// The access of one entry to one buffer.
struct BufferAccess {
  unsigned buffer; ///< index into LoopSchedule::buffers
  bool isWrite;
};

/// The parts of a pipelined loop. Step k of the prologue executes stages up to
/// k; step k of the epilogue executes stages from k + 1.
enum class Part { Prologue, Kernel, Epilogue };

/// A point in the pipelined loop: before the entry, in a step of the part.
struct PipelinePoint {
  Part part;
  int64_t step;
  unsigned entry;
  bool operator<(const PipelinePoint &other) const {
    return std::tie(part, step, entry) <
           std::tie(other.part, other.step, other.entry);
  }
};

struct LoopSchedule {
  mlir::scf::ForOp loop;
  PipelineMode mode = PipelineMode::Stream;
  int64_t stages = 0;
  std::optional<int64_t> tripCount;
  /// The requested number of stages, if the trip count is smaller.
  int64_t clampedFrom = 0;
  /// In the order of the kernel.
  llvm::SmallVector<ScheduleEntry> entries;
  llvm::SmallVector<LoopBuffer> buffers;
  /// For each entry.
  llvm::SmallVector<llvm::SmallVector<BufferAccess, 2>> accesses;
  /// For each entry, whether it starts asynchronous copies: its writes complete
  /// at the wait.
  llvm::SmallVector<bool> startsCopies;
  /// For each entry, the buffers whose asynchronous writes it waits for.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> completes;
  /// The same for waits that every thread executes: the data is visible without
  /// a block barrier.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> acquires;
  /// The barriers of the body, which are replaced.
  llvm::SmallVector<mlir::Operation *> oldBarriers;
  std::set<PipelinePoint> barriers;
  bool barrierBeforeKernel = false; ///< after the prologue
  bool barrierAfter = false;        ///< after the epilogue
  /// Whether every hazard around the loop is in shared memory, so that a
  /// barrier for shared memory only is sufficient.
  bool onlySharedHazards = false;
  /// How many entries of each queue the waits leave in flight.
  std::map<PipelinePoint,
           llvm::SmallVector<std::pair<AsyncCompletion, int64_t>, 1>>
      waits;
  /// Block barriers that act as waits, with a copy that can create waits.
  llvm::DenseMap<mlir::Operation *, AsyncCopyOpInterface> waitCreators;
  unsigned numPrefetched = 0;
  /// Conditions for the buffers to have their slots. If one does not hold at
  /// run time, the original loop executes.
  llvm::SmallVector<CountLimit> limits;
  /// The reason against more stages, if the pass chose.
  std::string limit;
  /// A note if there were too many accesses to compare all pairs.
  std::string comparisonLimit;

  bool isGuarded() const { return !tripCount || !limits.empty(); }

  /// The block barriers of one iteration.
  int64_t countKernelBarriers() const {
    return llvm::count_if(barriers, [](const PipelinePoint &point) {
      return point.part == Part::Kernel;
    });
  }

  bool executes(Part part, int64_t step, unsigned entry) const {
    int64_t stage = entries[entry].position.stage;
    return part == Part::Kernel ||
           (part == Part::Prologue ? stage <= step : stage > step);
  }
};

struct ScheduleOptions {
  /// `auto`: as many as fit and hide more latency.
  AutoOrNumber stages = 2;
  PipelineMode mode = PipelineMode::Auto;
  bool useSchedule = false;
  /// In async mode, prefetch reads and stores of other buffers by one stage.
  bool streamsInAsyncMode = true;
  /// With two stages, start counted copies before the wait.
  bool startsCopiesFirst = true;
  /// The chip counts async-groups too.
  bool countsGroups = false;
  /// The registers per thread, the name of the chip, and the register model;
  /// null if the chip is unknown.
  int64_t registers = 0;
  std::string chip;
  RegisterModel *registerModel = nullptr;
  /// The loop was created after the register model was first queried.
  bool isCopy = false;
  /// Names values in reasons; never null.
  ValueNames *names = nullptr;
  /// Analyses of the function in its current state; never null.
  const UniformityAnalysis *uniformity = nullptr;
  const IntegerRanges *ranges = nullptr;
};

/// Reads the attributes of a loop, or of a function for its loops, into the
/// options, which they override. Returns what is wrong with them.
std::optional<std::string> readScheduleAttributes(mlir::Operation *op,
                                                  ScheduleOptions &options);

/// Creates the schedule of a loop, or returns nothing with the reason. If the
/// reason is empty, pipelining is disabled for the loop.
std::optional<LoopSchedule> makeSchedule(mlir::scf::ForOp loop,
                                         const ScheduleOptions &options,
                                         std::string &reason);

/// Places the barriers of a schedule: a minimal set that orders every hazard in
/// shared and global memory, within the pipelined loop and with the code around
/// it. A loop without barriers gets none.
void placeBarriers(LoopSchedule &schedule);

/// The maximum register pressure per thread in the kernel of the pipelined
/// loop, including values that are carried to later steps. `isCopy`: the loop
/// was created after the model was first queried.
int64_t countKernelRegisters(const LoopSchedule &schedule, RegisterModel &model,
                             bool isCopy);

/// Writes the schedule on the loop and its ops.
void annotateSchedule(const LoopSchedule &schedule, ValueNames &names);

/// The result of pipelining a loop.
struct ExpandedLoop {
  mlir::scf::ForOp kernel;
  /// The original loop, as the fallback of a guard; null without a guard.
  mlir::scf::ForOp plain;
  /// The copies of inner loops.
  llvm::SmallVector<mlir::scf::ForOp> innerLoops;
};

/// Pipelines the loop. With `useSharedBarrier`, the new barriers order shared
/// memory only.
ExpandedLoop applySchedule(const LoopSchedule &schedule, bool useSharedBarrier);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H
