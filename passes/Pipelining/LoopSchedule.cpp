//===- LoopSchedule.cpp - How a loop is pipelined, as data ----------------===//

#include "passes/Pipelining/LoopSchedule.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Interfaces/MemRefViews.h"
#include "passes/Support/IterationSlots.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

StringRef smalti::toString(PipelineMode mode) {
  switch (mode) {
  case PipelineMode::Auto:
    return "auto";
  case PipelineMode::Stream:
    return "stream";
  case PipelineMode::Async:
    return "async";
  }
  return "";
}

namespace {

/// What an op of the body does.
struct Unit {
  Operation *op;
  SmallVector<MemoryAccess> accesses;
  bool readsGlobal = false, writesGlobal = false;
  bool readsShared = false, writesShared = false;
  bool isCopy = false, isCommit = false, isWait = false;

  bool isPure() const {
    return accesses.empty() && !isCommit && !isWait && !isCopy;
  }
};

class Scheduler {
public:
  Scheduler(scf::ForOp loop, const ScheduleOptions &options)
      : loop(loop), options(options) {}

  /// Each step returns the reason where the loop cannot be pipelined.
  std::optional<LoopSchedule> run(std::string &reason);

private:
  using Reason = std::optional<std::string>;

  Reason chooseStages();
  Reason checkLoop();
  Reason classify();
  Reason chooseMode();
  void findHoistable();
  Reason placeStream();
  Reason placeAsync();
  Reason readSchedule();
  Reason placePureOps();
  Reason makeEntries();
  void findBuffers();
  Reason checkValues();
  Reason checkMemory();
  Reason checkWaits();
  Reason checkLayouts();

  /// The values that `op` uses and that the body computes or carries.
  ArrayRef<Value> operandsOf(Operation *op);
  Operation *getBodyOp(Value value);
  /// The op of the body that computes `value`: for a loop-carried value the one
  /// that computes it for the next iteration, for the induction variable none.
  Operation *getProducer(Value value);
  int64_t getSlots(Value root, ArrayRef<Value> memrefs);
  bool isCloneable(const Unit &unit);
  std::optional<unsigned> findEntry(Operation *op, int64_t stage) const;

  scf::ForOp loop;
  ScheduleOptions options;
  LoopSchedule schedule;
  SmallVector<Unit> units;
  DenseMap<Operation *, unsigned> unitOf;
  DenseMap<Operation *, SmallVector<Value>> operandCache;
  /// Ops that depend on nothing but reads of global memory.
  llvm::DenseSet<Operation *> hoistable;
  /// Where computing goes that nothing else waits for.
  Position compute{0, 0};
  /// Why some read of global memory must stay where it is.
  std::string readStays;
  /// Where each op goes; several places for one that is made again.
  DenseMap<Operation *, std::set<Position>> positions;
  DenseMap<Operation *, bool> cloneable;
  DenseMap<std::pair<Operation *, int64_t>, unsigned> entryOf;
};

} // namespace

static std::string quote(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

/// "%a" for a value with a name, as it would be printed.
static std::string nameOf(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, OpPrintingFlags().useLocalScope());
  return text;
}

ArrayRef<Value> Scheduler::operandsOf(Operation *op) {
  auto [it, inserted] = operandCache.try_emplace(op);
  if (!inserted)
    return it->second;
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  for (Value value : values) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (getBodyOp(value) || (argument && argument.getOwner() == loop.getBody()))
      it->second.push_back(value);
  }
  return it->second;
}

Operation *Scheduler::getBodyOp(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() ? op : nullptr;
}

Operation *Scheduler::getProducer(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return getBodyOp(value);
  if (argument == loop.getInductionVar())
    return nullptr;
  return getBodyOp(loop.getTiedLoopYieldedValue(argument)->get());
}

Scheduler::Reason Scheduler::chooseStages() {
  schedule.stages = options.stages;
  Attribute attribute = loop->getAttr(kStagesAttr);
  if (!attribute)
    return std::nullopt;
  auto stages = dyn_cast<IntegerAttr>(attribute);
  if (!stages || stages.getInt() < 1 || stages.getInt() > kMostStages)
    return kStagesAttr.str() + " is not an integer between 1 and " +
           std::to_string(kMostStages);
  schedule.stages = stages.getInt();
  return std::nullopt;
}

Scheduler::Reason Scheduler::checkLoop() {
  if (loop.getUnsignedCmp())
    return std::string("its bounds are compared as unsigned numbers");
  // The guard compares with the number of stages in the counter's type.
  if (auto counter = dyn_cast<IntegerType>(loop.getInductionVar().getType());
      counter && counter.getWidth() < 8)
    return "its counter has only " + std::to_string(counter.getWidth()) +
           " bits";
  if (auto step = getConstantIntValue(loop.getStep()); step && *step <= 0)
    return "its step is " + std::to_string(*step);
  for (Value value : loop.getYieldedValues()) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == loop.getBody())
      return std::string("it yields ") +
             (argument == loop.getInductionVar()
                  ? "its induction variable"
                  : "a loop-carried value unchanged");
    if (!getBodyOp(value))
      return std::string("it yields a value from outside the loop");
  }
  auto lower = getConstantIntValue(loop.getLowerBound());
  auto upper = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (lower && upper && step)
    schedule.tripCount =
        *upper > *lower
            ? int64_t(llvm::divideCeil(uint64_t(*upper) - uint64_t(*lower),
                                       uint64_t(*step)))
            : 0;
  return std::nullopt;
}

Scheduler::Reason Scheduler::classify() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<BlockBarrierOpInterface>(op)) {
      schedule.oldBarriers.push_back(&op);
      continue;
    }
    Operation *nested = nullptr;
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        if (isa<BlockBarrierOpInterface, AsyncCopyOpInterface,
                AsyncCommitOpInterface, AsyncWaitOpInterface>(inner))
          nested = inner;
      });
    if (nested)
      return quote(nested) + " stands inside " + quote(&op) +
             ", which is scheduled as a whole";
    Unit unit;
    unit.op = &op;
    unit.isCopy = isa<AsyncCopyOpInterface>(op);
    unit.isCommit = isa<AsyncCommitOpInterface>(op);
    unit.isWait = isa<AsyncWaitOpInterface>(op);
    std::string reason;
    if (!collectAccesses(&op, unit.accesses, reason))
      return reason;
    for (const MemoryAccess &access : unit.accesses) {
      bool &flag =
          access.space == MemorySpace::Global
              ? (access.isWrite ? unit.writesGlobal : unit.readsGlobal)
              : (access.isWrite ? unit.writesShared : unit.readsShared);
      flag |= access.space != MemorySpace::Private;
    }
    unitOf[&op] = units.size();
    units.push_back(std::move(unit));
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::chooseMode() {
  bool hasCopies = llvm::any_of(units, [](const Unit &u) { return u.isCopy; });
  bool hasGroups =
      llvm::any_of(units, [](const Unit &u) { return u.isCommit || u.isWait; });
  schedule.mode = options.mode;
  if (schedule.mode == PipelineMode::Auto)
    schedule.mode =
        hasCopies || hasGroups ? PipelineMode::Async : PipelineMode::Stream;
  if (schedule.mode == PipelineMode::Async && !hasCopies)
    return std::string("it starts no asynchronous copy");
  if (schedule.mode == PipelineMode::Stream && (hasCopies || hasGroups))
    return std::string(
        "it copies asynchronously, which mode=stream leaves alone");
  return std::nullopt;
}

/// Finds the ops that need nothing but the induction variable, values from
/// outside, reads of global memory that nothing in the loop writes, and
/// loop-carried values made of the same.
void Scheduler::findHoistable() {
  SmallVector<Value> writtenRoots;
  SmallVector<std::pair<Value, Operation *>> writes;
  for (const Unit &unit : units)
    for (const MemoryAccess &access : unit.accesses)
      if (access.isWrite && access.space == MemorySpace::Global &&
          !llvm::is_contained(writtenRoots, access.root)) {
        writtenRoots.push_back(access.root);
        writes.emplace_back(access.root, access.op);
      }
  auto isFreeRead = [&](const Unit &unit) {
    if (unit.isCopy || !unit.readsGlobal || unit.writesGlobal ||
        unit.readsShared || unit.writesShared)
      return false;
    for (const MemoryAccess &access : unit.accesses) {
      if (access.space == MemorySpace::Private)
        return false;
      for (auto [root, op] : writes) {
        if (!mayAlias(root, access.root))
          continue;
        if (readStays.empty())
          readStays = quote(op) + " of " + nameOf(root) + " may alias the " +
                      quote(access.op) + " of " + nameOf(access.root) +
                      " in a later iteration";
        return false;
      }
    }
    return true;
  };
  SmallVector<Operation *> worklist;
  DenseMap<Operation *, SmallVector<Operation *>> dependents;
  for (const Unit &unit : units) {
    for (Value operand : operandsOf(unit.op))
      if (Operation *def = getProducer(operand))
        dependents[def].push_back(unit.op);
    if (unit.isPure() || isFreeRead(unit))
      hoistable.insert(unit.op);
    else
      worklist.push_back(unit.op);
  }
  while (!worklist.empty())
    for (Operation *dependent : dependents[worklist.pop_back_val()])
      if (hoistable.erase(dependent))
        worklist.push_back(dependent);
}

Scheduler::Reason Scheduler::placeStream() {
  int64_t stages = schedule.stages;
  // Reads are issued first, computing comes last, and what was read goes to
  // shared memory one step before it is used. In the kernel, computing stands
  // ahead of the stores, so that one buffer is enough.
  Position read{0, stages == 2 ? 0 : 2};
  compute = {stages - 1, stages == 2 ? 1 : 0};
  Position write{stages == 2 ? 0 : stages - 2, stages == 2 ? 2 : 1};
  // Stores of what was computed in the same iteration are part of computing.
  auto canRunAhead = [&](const Unit &unit) {
    return llvm::all_of(operandsOf(unit.op), [&](Value operand) {
      Operation *def = getProducer(operand);
      return !def || hoistable.contains(def);
    });
  };
  bool computes = !loop.getYieldedValues().empty();
  Operation *unsplit = nullptr;
  for (const Unit &unit : units) {
    if (unit.isPure())
      continue;
    if (hoistable.contains(unit.op)) {
      positions[unit.op] = {read};
      ++schedule.readsAhead;
      continue;
    }
    if (unit.readsGlobal && unit.writesShared)
      unsplit = unit.op;
    if (unit.writesShared && !unit.readsShared && !unit.readsGlobal &&
        !unit.writesGlobal && canRunAhead(unit)) {
      positions[unit.op] = {write};
      continue;
    }
    computes = true;
    positions[unit.op] = {compute};
  }
  if (schedule.readsAhead == 0) {
    if (unsplit)
      return quote(unsplit) + " both reads global memory and writes shared "
                              "memory, so that the read cannot run ahead";
    if (!readStays.empty())
      return readStays;
    return std::string("it has no read of global memory that could run ahead");
  }
  if (!computes)
    return std::string("it only copies: there is nothing to overlap with");
  return std::nullopt;
}

Scheduler::Reason Scheduler::placeAsync() {
  Position wait{schedule.stages - 1, 0};
  Position copy{0, 1};
  compute = {schedule.stages - 1, 2};
  // What the copies need runs ahead with them.
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> needed;
  bool computes = !loop.getYieldedValues().empty();
  bool waited = false;
  for (const Unit &unit : units) {
    if (unit.isPure())
      continue;
    if (unit.isCopy || unit.isCommit) {
      positions[unit.op] = {copy};
      worklist.push_back(unit.op);
      schedule.readsAhead += unit.isCopy;
      continue;
    }
    // The first wait stands ahead of the next copies, so that the barrier
    // behind it also says that their buffers are free.
    positions[unit.op] = {unit.isWait && !waited ? wait : compute};
    waited |= unit.isWait;
    computes |= !unit.isWait;
  }
  if (!waited)
    return std::string("it never waits for its asynchronous copies");
  if (!computes)
    return std::string("it only copies: there is nothing to overlap with");
  while (!worklist.empty()) {
    for (Value operand : operandsOf(worklist.pop_back_val())) {
      Operation *def = getProducer(operand);
      if (!def || !needed.insert(def).second)
        continue;
      worklist.push_back(def);
      const Unit &unit = units[unitOf[def]];
      if (unit.isPure() || unit.isCopy || unit.isCommit)
        continue;
      if (!hoistable.contains(def))
        return "its asynchronous copies depend on " + quote(def) +
               ", which cannot run ahead";
      positions[def] = {copy};
    }
  }
  return std::nullopt;
}

Scheduler::Reason Scheduler::readSchedule() {
  int64_t stages = 0;
  bool any = false;
  for (const Unit &unit : units) {
    auto stage = unit.op->getAttrOfType<IntegerAttr>(kStageAttr);
    auto cluster = unit.op->getAttrOfType<IntegerAttr>(kClusterAttr);
    any |= stage || cluster;
    if (!stage && !cluster && unit.isPure())
      continue;
    if (!stage || !cluster)
      return quote(unit.op) + " has no " +
             (stage ? kClusterAttr : kStageAttr).str() + " attribute";
    if (stage.getInt() < 0)
      return quote(unit.op) + " has a negative stage";
    positions[unit.op] = {{stage.getInt(), cluster.getInt()}};
    stages = std::max(stages, stage.getInt() + 1);
    compute = std::max(compute, {stage.getInt(), cluster.getInt()});
  }
  if (!any)
    return std::string("it carries no schedule");
  if (stages < 2 || stages > kMostStages)
    return "its schedule has " + std::to_string(stages) +
           " stages, which is not between 2 and " + std::to_string(kMostStages);
  for (const Unit &unit : units)
    if (positions.contains(unit.op) &&
        positions[unit.op].begin()->stage < stages - 1 &&
        (unit.isCopy || unit.readsGlobal))
      ++schedule.readsAhead;
  schedule.stages = stages;
  return std::nullopt;
}

/// Whether making the op again for another stage is cheaper than carrying its
/// results there: scalars and views that need nothing but the induction
/// variable.
bool Scheduler::isCloneable(const Unit &unit) {
  auto it = cloneable.find(unit.op);
  if (it != cloneable.end())
    return it->second;
  bool hasVectorOperand =
      llvm::any_of(unit.op->getOperandTypes(), llvm::IsaPred<VectorType>);
  bool isYielded = llvm::any_of(unit.op->getUsers(), [&](Operation *user) {
    return user == loop.getBody()->getTerminator();
  });
  bool result =
      unit.isPure() && !isYielded &&
      (!hasVectorOperand ||
       llvm::none_of(unit.op->getResultTypes(), llvm::IsaPred<VectorType>)) &&
      llvm::all_of(operandsOf(unit.op), [&](Value operand) {
        // Operands come earlier in the block, so they were decided before.
        Operation *def = getBodyOp(operand);
        return def ? cloneable.lookup(def) : operand == loop.getInductionVar();
      });
  cloneable[unit.op] = result;
  return result;
}

/// Puts ops without effects where their users are.
Scheduler::Reason Scheduler::placePureOps() {
  for (const Unit &unit : units)
    isCloneable(unit);
  DenseMap<Operation *, SmallVector<Operation *>> users;
  for (const Unit &unit : units)
    for (Value operand : operandsOf(unit.op))
      if (Operation *def = getProducer(operand))
        users[def].push_back(unit.op);

  // What nothing but the loop's results needs is part of computing.
  llvm::DenseSet<Operation *> needed, fixed;
  SmallVector<Operation *> sources;
  for (auto &[op, places] : positions) {
    fixed.insert(op);
    sources.push_back(op);
  }
  while (!sources.empty())
    for (Value operand : operandsOf(sources.pop_back_val()))
      if (Operation *def = getProducer(operand);
          def && needed.insert(def).second)
        sources.push_back(def);
  for (const Unit &unit : units)
    if (!needed.contains(unit.op) && fixed.insert(unit.op).second)
      positions[unit.op] = {compute};

  // The rest goes where its users are. Loop-carried values make cycles: repeat
  // until nothing changes; places only grow, so this ends.
  SetVector<Operation *> worklist;
  for (const Unit &unit : units)
    worklist.insert(unit.op);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (fixed.contains(op))
      continue;
    std::set<Position> wanted;
    for (Operation *user : users[op])
      if (auto it = positions.find(user); it != positions.end())
        wanted.insert(it->second.begin(), it->second.end());
    if (wanted.empty())
      continue;
    std::set<Position> places;
    if (cloneable.lookup(op)) {
      // One op a stage, ahead of its first user there.
      for (const Position &place : wanted)
        if (places.empty() || places.rbegin()->stage != place.stage)
          places.insert(place);
    } else {
      places.insert(*wanted.begin());
    }
    if (places == positions.lookup(op))
      continue;
    positions[op] = places;
    for (Value operand : operandsOf(op))
      if (Operation *def = getProducer(operand))
        worklist.insert(def);
  }
  return std::nullopt;
}

std::optional<unsigned> Scheduler::findEntry(Operation *op,
                                             int64_t stage) const {
  auto it = entryOf.find({op, stage});
  if (it != entryOf.end())
    return it->second;
  // An op that is not made again has one entry.
  it = entryOf.find({op, -1});
  if (it != entryOf.end())
    return it->second;
  return std::nullopt;
}

Scheduler::Reason Scheduler::makeEntries() {
  for (const Unit &unit : units)
    for (const Position &place : positions[unit.op])
      schedule.entries.push_back({unit.op, place});
  llvm::stable_sort(schedule.entries,
                    [](const ScheduleEntry &a, const ScheduleEntry &b) {
                      return a.position.cluster < b.position.cluster;
                    });
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    entryOf[{entry.op, entry.position.stage}] = i;
    if (positions[entry.op].size() == 1)
      entryOf[{entry.op, -1}] = i;
  }
  return std::nullopt;
}

/// How many iterations in a row use different slots of the buffer, where every
/// access in the loop goes through the slot of its iteration.
int64_t Scheduler::getSlots(Value root, ArrayRef<Value> memrefs) {
  auto type = dyn_cast<MemRefType>(root.getType());
  if (!type || type.getRank() == 0)
    return 1;
  std::optional<int64_t> slots;
  for (Value memref : memrefs) {
    Operation *outermost = nullptr;
    for (Value value = memref; value != root;) {
      Operation *view = value.getDefiningOp();
      if (!isInsideSource(view))
        return 1;
      outermost = view;
      value = cast<ViewLikeOpInterface>(view).getViewSource();
    }
    auto window = dyn_cast_or_null<OffsetSizeAndStrideOpInterface>(outermost);
    if (!window || !isConstantIntValue(window.getMixedSizes().front(), 1))
      return 1;
    auto offset = dyn_cast<Value>(window.getMixedOffsets().front());
    std::optional<int64_t> depth =
        offset ? matchIterationSlot(offset, loop) : std::nullopt;
    if (!depth || (slots && *slots != *depth) || type.getDimSize(0) < *depth)
      return 1;
    slots = depth;
  }
  return slots.value_or(1);
}

void Scheduler::findBuffers() {
  llvm::MapVector<Value, SetVector<Value>> memrefs;
  for (const Unit &unit : units)
    for (const MemoryAccess &access : unit.accesses)
      memrefs[access.root].insert(access.memref);
  DenseMap<Value, unsigned> number;
  for (auto &[root, views] : memrefs) {
    number[root] = schedule.buffers.size();
    schedule.buffers.push_back(
        {root, getMemorySpace(root), getSlots(root, views.getArrayRef())});
  }
  for (const ScheduleEntry &entry : schedule.entries) {
    SmallVector<BufferAccess, 2> accesses;
    std::set<std::pair<unsigned, bool>> seen;
    for (const MemoryAccess &access : units[unitOf[entry.op]].accesses)
      if (seen.insert({number[access.root], access.isWrite}).second)
        accesses.push_back({number[access.root], access.isWrite});
    schedule.accesses.push_back(std::move(accesses));
  }
  schedule.completes.resize(schedule.entries.size());
}

/// What the expander demands of SSA values, checked before it runs.
Scheduler::Reason Scheduler::checkValues() {
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    for (Value operand : operandsOf(entry.op)) {
      if (operand == loop.getInductionVar())
        continue;
      if (isa<BlockArgument>(operand)) {
        Operation *update = getProducer(operand);
        std::optional<unsigned> def = findEntry(update, entry.position.stage);
        if (!def ||
            schedule.entries[*def].position.stage != entry.position.stage)
          return "the loop-carried value that " + quote(entry.op) +
                 " uses is updated by " + quote(update) + " in another stage";
        continue;
      }
      std::optional<unsigned> def =
          findEntry(getBodyOp(operand), entry.position.stage);
      if (!def)
        return quote(entry.op) + " uses " + quote(getBodyOp(operand)) +
               ", which no common stage computes";
      int64_t defStage = schedule.entries[*def].position.stage;
      if (defStage > entry.position.stage ||
          (defStage == entry.position.stage && *def >= i))
        return quote(entry.op) + " would execute before " +
               quote(getBodyOp(operand)) + ", whose result it uses";
      if (defStage != entry.position.stage &&
          isa<BaseMemRefType>(operand.getType()))
        return "the view that " + quote(getBodyOp(operand)) +
               " makes would have to be carried to another stage";
    }
  }
  // The expander finds the update of a loop-carried value by one stage.
  for (Value value : loop.getYieldedValues())
    if (positions[getBodyOp(value)].size() != 1)
      return "the loop-carried value that " + quote(getBodyOp(value)) +
             " updates is needed in several stages";
  return std::nullopt;
}

/// Every pair of accesses that depend on each other through memory must keep
/// its order. In time, an op of stage s works on iteration i at step i + s, and
/// within a step the kernel's order counts.
Scheduler::Reason Scheduler::checkMemory() {
  DenseMap<Operation *, unsigned> order;
  for (auto [i, unit] : llvm::enumerate(units))
    order[unit.op] = i;
  /// The first and last read and write of one buffer at one position.
  struct Group {
    unsigned buffer;
    Position position;
    bool isWrite;
    unsigned first, last; ///< in the body's order
    unsigned firstEntry, lastEntry;
    Operation *op;
  };
  SmallVector<Group> groups;
  std::map<std::tuple<unsigned, int64_t, int64_t, bool>, unsigned> groupOf;
  auto addAccess = [&](unsigned entry, unsigned buffer, bool isWrite) {
    const ScheduleEntry &e = schedule.entries[entry];
    auto [it, inserted] =
        groupOf.insert({{buffer, e.position.stage, e.position.cluster, isWrite},
                        unsigned(groups.size())});
    unsigned place = order[e.op];
    if (inserted) {
      groups.push_back(
          {buffer, e.position, isWrite, place, place, entry, entry, e.op});
      return;
    }
    Group &group = groups[it->second];
    group.first = std::min(group.first, place);
    group.last = std::max(group.last, place);
    group.firstEntry = std::min(group.firstEntry, entry);
    group.lastEntry = std::max(group.lastEntry, entry);
  };
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
    for (const BufferAccess &access : schedule.accesses[i])
      addAccess(i, access.buffer, access.isWrite);
    for (unsigned buffer : schedule.completes[i])
      addAccess(i, buffer, /*isWrite=*/true);
  }
  auto text = [&](const Group &a) {
    return quote(a.op) + " of " + nameOf(schedule.buffers[a.buffer].root);
  };
  auto mayDepend = [&](const Group &a, const Group &b) {
    return (a.isWrite || b.isWrite) &&
           mayAlias(schedule.buffers[a.buffer].root,
                    schedule.buffers[b.buffer].root);
  };
  // x before y in one iteration.
  for (const Group &x : groups)
    for (const Group &y : groups) {
      bool isLater = x.position.stage > y.position.stage ||
                     (x.position.stage == y.position.stage &&
                      x.position.cluster > y.position.cluster);
      if (isLater && x.first < y.last && mayDepend(x, y))
        return text(y) + " would overtake " + text(x) +
               ", which it may depend on";
    }
  // y in one iteration before x in the next that may touch the same memory.
  for (const Group &x : groups)
    for (const Group &y : groups) {
      if (!mayDepend(x, y))
        continue;
      const LoopBuffer &buffer = schedule.buffers[x.buffer];
      bool isSameBuffer = x.buffer == y.buffer;
      int64_t distance = isSameBuffer ? buffer.slots : 1;
      int64_t late = y.position.stage - (x.position.stage + distance);
      if (late < 0 || (late == 0 && y.lastEntry < x.firstEntry))
        continue;
      if (isSameBuffer && buffer.space == MemorySpace::Shared) {
        int64_t needed = y.position.stage - x.position.stage +
                         (y.lastEntry < x.firstEntry ? 0 : 1);
        return "the schedule needs " + std::to_string(needed) + " slots of " +
               nameOf(buffer.root) + ", which has " + std::to_string(distance);
      }
      return text(x) + " would overtake " + text(y) +
             " of an earlier iteration, which it may depend on";
    }
  return std::nullopt;
}

/// Finds for each wait which copies it waits for, and how many groups it may
/// leave in flight in the pipelined loop.
Scheduler::Reason Scheduler::checkWaits() {
  SmallVector<unsigned> commits, waits;
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    const Unit &unit = units[unitOf[entry.op]];
    if (unit.isCommit)
      commits.push_back(i);
    if (unit.isWait)
      waits.push_back(i);
  }
  if (commits.empty() && waits.empty())
    return std::nullopt;
  int64_t groups = commits.size();
  for (unsigned commit : commits)
    if (schedule.entries[commit].position.stage !=
        schedule.entries[commits.front()].position.stage)
      return std::string("its groups of copies are made in several stages");
  // The group of every copy, and how many groups are made before each op.
  DenseMap<Operation *, int64_t> groupsBefore;
  llvm::MapVector<unsigned, int64_t> groupOfBuffer; // the last one
  int64_t made = 0;
  DenseMap<Value, unsigned> number;
  for (auto [i, buffer] : llvm::enumerate(schedule.buffers))
    number[buffer.root] = i;
  // In the body's order: groups whose copies are known to be complete.
  int64_t complete = 0;
  for (const Unit &unit : units) {
    groupsBefore[unit.op] = made;
    if (unit.isCommit)
      ++made;
    if (unit.isCopy)
      for (const MemoryAccess &access : unit.accesses)
        if (access.isWrite)
          groupOfBuffer[number[access.root]] = made + 1;
    if (unit.isWait) {
      int64_t pending = cast<AsyncWaitOpInterface>(unit.op).getPendingGroups();
      complete = std::max(complete, made - pending);
    }
    if (unit.isCopy || unit.isWait || unit.isCommit)
      continue;
    for (const MemoryAccess &access : unit.accesses) {
      if (access.space != MemorySpace::Shared)
        continue;
      unsigned buffer = number[access.root];
      auto it = groupOfBuffer.find(buffer);
      bool isCopied = it != groupOfBuffer.end();
      if (isCopied && it->second > complete)
        return quote(unit.op) + " uses " + nameOf(access.root) +
               " before the loop waits for the copy into it";
      // A use ahead of the copy sees an earlier iteration's.
      if (!isCopied && llvm::any_of(units, [&](const Unit &other) {
            return other.isCopy &&
                   llvm::any_of(other.accesses, [&](const MemoryAccess &a) {
                     return a.isWrite && a.root == access.root;
                   });
          }))
        return quote(unit.op) + " uses " + nameOf(access.root) +
               " before the copy into it in the same iteration";
    }
  }
  for (auto &[buffer, group] : groupOfBuffer)
    if (group > groups)
      return "a copy into " + nameOf(schedule.buffers[buffer].root) +
             " belongs to no group of the same iteration";

  int64_t commitStage = schedule.entries[commits.front()].position.stage;
  for (unsigned wait : waits) {
    const ScheduleEntry &entry = schedule.entries[wait];
    int64_t pending = cast<AsyncWaitOpInterface>(entry.op).getPendingGroups();
    int64_t before = groupsBefore[entry.op];
    if (pending >= before)
      return quote(entry.op) +
             " waits for no copy of its own iteration: the loop is "
             "pipelined by hand";
    int64_t stage = entry.position.stage;
    if (stage < commitStage)
      return quote(entry.op) + " would execute before the copies start";
    for (auto &[buffer, group] : groupOfBuffer)
      if (group <= before - pending)
        schedule.completes[wait].push_back(buffer);
    // Groups of its iteration that need not be complete.
    int64_t open = pending - before;
    int64_t madeInStep =
        llvm::count_if(commits, [&](unsigned commit) { return commit < wait; });
    schedule.kernelWaits[wait] =
        groups * (stage - commitStage) + madeInStep + open;
    for (int64_t step = 0; step < stage; ++step) {
      int64_t inFlight = step < commitStage ? schedule.kernelWaits[wait]
                                            : groups * (stage - step) + open;
      schedule.epilogueWaits.insert({step, wait, inFlight});
    }
  }
  return std::nullopt;
}

/// A loop that states the layouts of its vectors gets more of them; they must
/// be known as well.
Scheduler::Reason Scheduler::checkLayouts() {
  if (!loop->hasAttr(mosaic_gpu::kOutLayouts) &&
      !loop->hasAttr(mosaic_gpu::kInLayouts))
    return std::nullopt;
  for (const ScheduleEntry &entry : schedule.entries)
    for (Value operand : operandsOf(entry.op)) {
      Operation *def = getBodyOp(operand);
      if (!def || !isa<VectorType>(operand.getType()))
        continue;
      auto defEntry = findEntry(def, entry.position.stage);
      if (schedule.entries[*defEntry].position.stage != entry.position.stage &&
          !def->hasAttr(mosaic_gpu::kOutLayouts))
        return "the vector that " + quote(def) +
               " computes is carried to another stage and has no layout";
    }
  return std::nullopt;
}

std::optional<LoopSchedule> Scheduler::run(std::string &reason) {
  auto check = [&](Reason result) {
    if (result)
      reason = std::move(*result);
    return !result;
  };
  schedule.loop = loop;
  if (!check(chooseStages()))
    return std::nullopt;
  if (schedule.stages == 1 && !options.useSchedule) {
    reason.clear();
    return std::nullopt;
  }
  if (!check(checkLoop()) || !check(classify()) || !check(chooseMode()))
    return std::nullopt;
  findHoistable();
  Reason placed = options.useSchedule                    ? readSchedule()
                  : schedule.mode == PipelineMode::Async ? placeAsync()
                                                         : placeStream();
  if (!check(std::move(placed)))
    return std::nullopt;
  if (schedule.tripCount && *schedule.tripCount < schedule.stages) {
    reason = "it runs " + std::to_string(*schedule.tripCount) +
             (*schedule.tripCount == 1 ? " time" : " times") +
             ", fewer than its " + std::to_string(schedule.stages) + " stages";
    return std::nullopt;
  }
  if (!check(placePureOps()) || !check(makeEntries()))
    return std::nullopt;
  findBuffers();
  if (!check(checkValues()) || !check(checkWaits()) || !check(checkMemory()) ||
      !check(checkLayouts()))
    return std::nullopt;
  placeBarriers(schedule);
  return std::move(schedule);
}

std::optional<LoopSchedule> smalti::makeSchedule(scf::ForOp loop,
                                                 const ScheduleOptions &options,
                                                 std::string &reason) {
  return Scheduler(loop, options).run(reason);
}

void smalti::annotateSchedule(const LoopSchedule &schedule) {
  scf::ForOp loop = schedule.loop;
  Builder builder(loop.getContext());
  llvm::DenseMap<Operation *, unsigned> count;
  for (const ScheduleEntry &entry : schedule.entries)
    ++count[entry.op];
  for (const ScheduleEntry &entry : schedule.entries) {
    if (count[entry.op] != 1)
      continue;
    entry.op->setAttr(kStageAttr,
                      builder.getI64IntegerAttr(entry.position.stage));
    entry.op->setAttr(kClusterAttr,
                      builder.getI64IntegerAttr(entry.position.cluster));
  }
}
