//===- LoopSchedule.h - How a loop is pipelined, as data ------------------===//
//
// A schedule says for every op of a loop's body in which stage it executes and
// where in the kernel it stands. All that can refuse a loop is decided while
// the schedule is made; carrying it out cannot fail.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H
#define SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H

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

/// Attributes by which a schedule is written on ops and read back.
inline constexpr llvm::StringLiteral kStageAttr = "smalti.stage";
inline constexpr llvm::StringLiteral kClusterAttr = "smalti.cluster";
/// How many stages a loop, or every loop of a function, shall have; 1 leaves it
/// as it is.
inline constexpr llvm::StringLiteral kStagesAttr = "smalti.stages";
/// On a function that asks for a number of stages: the most that one of its
/// loops got (i64).
inline constexpr llvm::StringLiteral kPipelinedStagesAttr =
    "smalti.pipelined_stages";
/// By which mode a loop shall be pipelined: "auto", "stream" or "async".
inline constexpr llvm::StringLiteral kModeAttr = "smalti.mode";
/// More stages than any chip has a use for only make code.
inline constexpr int64_t kMostStages = 16;

/// In stage s an op works on the iteration s before the one of stage 0. Ops of
/// a lower cluster stand earlier in the kernel.
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

/// One op in the kernel. A cheap op that several stages need has several
/// entries: it is made again for each of these stages.
struct ScheduleEntry {
  mlir::Operation *op;
  Position position;
};

/// A buffer that the loop accesses.
struct LoopBuffer {
  mlir::Value root;
  MemorySpace space;
  /// How many iterations in a row use different parts of it; 1 where that is
  /// not known.
  int64_t slots;
  /// It holds barrier objects: arrivals write it, waits read it, and a wait
  /// needs no block barrier behind the arrivals that it waits for.
  bool isBarrierObject = false;
  /// Some accesses are in the slot of their iteration, and others are not.
  bool usesOtherSlots = false;
};

/// What one entry does to one buffer.
struct BufferAccess {
  unsigned buffer; ///< index into LoopSchedule::buffers
  bool isWrite;
};

/// The parts of a pipelined loop. Step k of the prologue executes the stages up
/// to k; step k of the epilogue those from k + 1.
enum class Part { Prologue, Kernel, Epilogue };

/// A place in the pipelined loop: before the entry, in that step of the part.
struct Place {
  Part part;
  int64_t step;
  unsigned entry;
  bool operator<(const Place &other) const {
    return std::tie(part, step, entry) <
           std::tie(other.part, other.step, other.entry);
  }
};

struct LoopSchedule {
  mlir::scf::ForOp loop;
  PipelineMode mode = PipelineMode::Stream;
  int64_t stages = 0;
  std::optional<int64_t> tripCount;
  /// The number of stages that was asked for, where the loop runs fewer times.
  int64_t clampedFrom = 0;
  /// In the order of the kernel.
  llvm::SmallVector<ScheduleEntry> entries;
  llvm::SmallVector<LoopBuffer> buffers;
  /// For each entry.
  llvm::SmallVector<llvm::SmallVector<BufferAccess, 2>> accesses;
  /// Whether the entry starts asynchronous copies, for each entry: what it
  /// writes is written when it was waited for.
  llvm::SmallVector<bool> startsCopies;
  /// Buffers whose asynchronous writes the entry waits for, for each entry.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> completes;
  /// The same for waits that every thread makes: what they complete needs no
  /// block barrier to be seen.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> acquires;
  /// The barriers of the body; they are taken out, and new ones are placed.
  llvm::SmallVector<mlir::Operation *> oldBarriers;
  std::set<Place> barriers;
  bool barrierBeforeKernel = false; ///< one more behind the prologue
  bool barrierAfter = false;        ///< one more behind the epilogue
  /// Whether every hazard around the loop is in shared memory, so that a
  /// barrier that orders only that would do.
  bool onlySharedHazards = false;
  /// How many groups or units of each queue the waits leave in flight.
  std::map<Place, llvm::SmallVector<std::pair<AsyncQueue, int64_t>, 1>> waits;
  /// Block barriers that are waits as well, with a copy that makes waits.
  llvm::DenseMap<mlir::Operation *, AsyncCopyOpInterface> waitMakers;
  unsigned readsAhead = 0;
  /// What must hold for the buffers to have their slots: where it does not, the
  /// loop executes as it was.
  llvm::SmallVector<CountLimit> limits;
  /// What kept a loop from more stages, where it was given the choice.
  std::string limit;
  /// What is to be known where accesses were too many to compare them all.
  std::string notCompared;

  bool isGuarded() const { return !tripCount || !limits.empty(); }

  bool executes(Part part, int64_t step, unsigned entry) const {
    int64_t stage = entries[entry].position.stage;
    return part == Part::Kernel ||
           (part == Part::Prologue ? stage <= step : stage > step);
  }
};

struct ScheduleOptions {
  /// `auto`: as many as fit and help.
  AutoOrNumber stages = 2;
  PipelineMode mode = PipelineMode::Auto;
  bool useSchedule = false;
  /// Beside asynchronous copies, let reads and stores of other buffers run one
  /// step ahead.
  bool streamsBesideCopies = true;
  /// Start copies that are counted ahead of the wait, if there are two stages.
  bool startsCopiesFirst = true;
  /// The chip counts groups, too.
  bool countsGroups = false;
  /// Registers that one thread has, the chip's name, and what counts them; null
  /// where the chip is not known.
  int64_t registers = 0;
  std::string chip;
  RegisterModel *registerModel = nullptr;
  /// The loop is a copy that was made since the registers were counted.
  bool isCopy = false;
  /// How reasons name values; never null.
  ValueNames *names = nullptr;
  /// Of the function as it is when the loop is planned; never null.
  const UniformityAnalysis *uniformity = nullptr;
  const IntegerRanges *ranges = nullptr;
};

/// Takes what the attributes of a loop, or of the function for its loops, ask
/// for into the options, which they win over. Returns what is wrong with them.
std::optional<std::string> readScheduleAttributes(mlir::Operation *op,
                                                  ScheduleOptions &options);

/// Makes the schedule of a loop, or says why there is none. An empty reason
/// says that the loop is not asked to be pipelined.
std::optional<LoopSchedule> makeSchedule(mlir::scf::ForOp loop,
                                         const ScheduleOptions &options,
                                         std::string &reason);

/// Places the barriers of a schedule: the least that order every hazard between
/// threads in shared and global memory, within the pipelined loop and with what
/// stands before and after it. Nothing is placed where the loop had none.
void placeBarriers(LoopSchedule &schedule);

/// The most registers of one thread that values take at once in the kernel of
/// the pipelined loop, where those that are carried to later steps live on.
/// `isCopy`: the loop was not there when the model was first asked.
int64_t countKernelRegisters(const LoopSchedule &schedule, RegisterModel &model,
                             bool isCopy);

/// Writes the schedule on the loop's ops.
void annotateSchedule(const LoopSchedule &schedule);

/// What became of a loop.
struct ExpandedLoop {
  mlir::scf::ForOp kernel;
  /// The loop as it was, behind a guard; null where there is none.
  mlir::scf::ForOp plain;
  /// The copies of the loops that stood inside it.
  llvm::SmallVector<mlir::scf::ForOp> innerLoops;
};

/// Pipelines the loop. `useSharedBarrier` makes the new barriers order shared
/// memory alone.
ExpandedLoop applySchedule(const LoopSchedule &schedule, bool useSharedBarrier);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_LOOPSCHEDULE_H
