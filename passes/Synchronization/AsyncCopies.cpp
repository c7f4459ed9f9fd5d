//===- AsyncCopies.cpp - Completion of asynchronous copies ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait leaves a number of the youngest groups (or single copies) of a queue
// in flight. A data-flow walk, which iterates over loops to a fixed point,
// tracks the copies that may be in flight. Copies that may complete at a wait
// are pending after it; copies that must complete are no longer in flight.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Synchronization/AsyncCopies.h"

#include "smalti/passes/Synchronization/FunctionProgram.h"
#include "smalti/passes/Synchronization/SyncItems.h"

#include <map>
#include <set>

using namespace mlir;
using namespace smalti;
using sync::NodeId;
using sync::Slot;
using Kind = sync::Node::Kind;

namespace {

/// Older groups are merged into one.
constexpr size_t kMaxGroups = 16;
/// The walk gives up on a loop that does not converge in so many rounds.
constexpr unsigned kMaxRounds = 64;

struct Copy {
  unsigned buffer;
  Slot slot;
  NodeId node; ///< where it starts; of equal copies that of one

  auto key() const {
    return std::make_tuple(buffer, slot.kind, slot.loop, slot.index);
  }
  bool operator<(const Copy &other) const { return key() < other.key(); }
  bool operator==(const Copy &other) const { return key() == other.key(); }
};

struct Queue {
  std::set<Copy> open;                ///< not in a group yet
  std::vector<std::set<Copy>> groups; ///< the youngest first

  bool operator==(const Queue &other) const {
    return open == other.open && groups == other.groups;
  }

  void close() {
    groups.insert(groups.begin(), std::move(open));
    open.clear();
    if (groups.size() <= kMaxGroups)
      return;
    groups[kMaxGroups - 1].insert(groups.back().begin(), groups.back().end());
    groups.pop_back();
  }
  void join(const Queue &other) {
    open.insert(other.open.begin(), other.open.end());
    if (groups.size() < other.groups.size())
      groups.resize(other.groups.size());
    for (auto [mine, theirs] : llvm::zip(groups, other.groups))
      mine.insert(theirs.begin(), theirs.end());
  }
};

using State = std::map<AsyncCompletion, Queue>;

class Completions {
public:
  explicit Completions(FunctionProgram &function)
      : function(function), program(function.program) {}

  void run();

private:
  void findRelevant();
  State walk(const std::vector<NodeId> &nodes, State state);
  State walkLoop(NodeId id, State state);
  void walkStep(NodeId id, State &state);
  void findInFlight(NodeId id, const State &state);
  bool mayTouch(const sync::Access &access, const Copy &copy) const;
  template <typename Fn> State mapSlots(const State &state, Fn change) const;
  static void join(State &state, const State &other) {
    for (auto &[queue, content] : other)
      state[queue].join(content);
  }

  FunctionProgram &function;
  sync::Program &program;
  /// Nodes that contain asynchronous ops.
  std::vector<bool> isRelevant;
  std::map<NodeId, std::set<Copy>> pendingAt;
  /// Steps that access the destination of a copy in flight, and the copy.
  std::map<NodeId, NodeId> inFlightAt;
  /// The groups of slots that loops use in turn.
  DenseMap<NodeId, llvm::DenseSet<unsigned>> turned;
  bool hasGivenUp = false;
};

} // namespace

void Completions::findRelevant() {
  isRelevant.resize(program.size());
  for (NodeId id = program.size(); id-- > 1;) {
    if (function.ops[id])
      isRelevant[id] =
          isRelevant[id] || isa<AsyncCopyOpInterface, AsyncCommitOpInterface,
                                AsyncWaitOpInterface>(function.ops[id]);
    if (isRelevant[id])
      isRelevant[program[id].parent] = true;
    for (const sync::Access &access : program[id].checked)
      if (access.slot.kind == Slot::Kind::OfLoop)
        turned[access.slot.loop].insert(program.getSlotGroup(access.buffer));
  }
}

template <typename Fn>
State Completions::mapSlots(const State &state, Fn change) const {
  State result;
  auto changeAll = [&](const std::set<Copy> &copies) {
    std::set<Copy> changed;
    for (Copy copy : copies) {
      change(copy);
      changed.insert(copy);
    }
    return changed;
  };
  for (auto &[queue, content] : state) {
    Queue &mapped = result[queue];
    mapped.open = changeAll(content.open);
    for (const std::set<Copy> &group : content.groups)
      mapped.groups.push_back(changeAll(group));
  }
  return result;
}

bool Completions::mayTouch(const sync::Access &access, const Copy &copy) const {
  // Accesses that cannot be determined are reported separately.
  if (program.buffers[access.buffer].isEverything ||
      program.buffers[copy.buffer].isEverything ||
      !(program.buffers[access.buffer].spaces & sync::kShared))
    return false;
  return (access.buffer == copy.buffer ||
          program.overlap(access.buffer, copy.buffer)) &&
         !program.areSlotsDisjoint(access.buffer, access.slot, copy.buffer,
                                   copy.slot);
}

/// Finds the steps in a node that access destinations in flight.
void Completions::findInFlight(NodeId id, const State &state) {
  auto find = [&](NodeId step, const std::set<Copy> &copies) {
    // Two copies with the same destination are an ordinary hazard, which
    // barriers order.
    bool isCopy = isa_and_nonnull<AsyncCopyOpInterface>(function.ops[step]);
    for (const Copy &copy : copies)
      for (const sync::Access &access : program[step].checked)
        if (!(isCopy && access.kind == sync::AccessKind::Write) &&
            mayTouch(access, copy))
          inFlightAt.try_emplace(step, copy.node);
  };
  if (llvm::all_of(state, [](const auto &entry) {
        return entry.second.open.empty() && entry.second.groups.empty();
      }))
    return;
  // Nodes are numbered in program order.
  auto isInside = [&](NodeId node) {
    while (node > id)
      node = program[node].parent;
    return node == id;
  };
  for (NodeId step = id; step < program.size() && isInside(step); ++step) {
    if (inFlightAt.count(step))
      continue;
    for (auto &[queue, content] : state) {
      find(step, content.open);
      for (const std::set<Copy> &group : content.groups)
        find(step, group);
    }
  }
}

void Completions::walkStep(NodeId id, State &state) {
  findInFlight(id, state);
  Operation *op = function.ops[id];
  if (auto copy = dyn_cast<AsyncCopyOpInterface>(op)) {
    if (copy.completesAtBlockBarriers())
      return;
    Queue &queue = state[copy.getCompletion()];
    for (const sync::Access &access : program[id].checked)
      if (access.kind == sync::AccessKind::Write)
        queue.open.insert({access.buffer, access.slot, id});
    if (copy.getCompletion() != AsyncCompletion::Groups)
      queue.close();
    return;
  }
  if (isa<AsyncCommitOpInterface>(op))
    state[AsyncCompletion::Groups].close();
  auto wait = dyn_cast<AsyncWaitOpInterface>(op);
  if (!wait)
    return;
  for (AsyncCompletion kind : kCountedCompletions) {
    std::optional<int64_t> inFlight = wait.getPending(kind);
    if (!inFlight)
      continue;
    Queue &queue = state[kind];
    std::set<Copy> &pending = pendingAt[id];
    pending.insert(queue.open.begin(), queue.open.end());
    for (const std::set<Copy> &group : queue.groups)
      pending.insert(group.begin(), group.end());
    if (size_t(*inFlight) < queue.groups.size())
      queue.groups.resize(*inFlight);
  }
}

State Completions::walkLoop(NodeId id, State state) {
  const llvm::DenseSet<unsigned> &groups = turned[id];
  State entering = mapSlots(state, [&](Copy &copy) {
    if (copy.slot.kind == Slot::Kind::Fixed &&
        groups.contains(program.getSlotGroup(copy.buffer)))
      copy.slot = Slot::ofLoop(id, copy.slot.index);
  });
  State atTest, atEnd;
  for (unsigned round = 0;; ++round) {
    if (round == kMaxRounds) {
      hasGivenUp = true;
      break;
    }
    atTest = walk(program[id].parts[0], entering);
    atEnd = mapSlots(walk(program[id].parts[1], atTest), [&](Copy &copy) {
      if (copy.slot.kind == Slot::Kind::OfLoop && copy.slot.loop == id)
        copy.slot = shifted(copy.slot, -1, program.buffers[copy.buffer].slots);
    });
    State joined = entering;
    join(joined, atEnd);
    if (joined == entering)
      break;
    entering = std::move(joined);
  }
  std::optional<int64_t> trips = program[id].tripCount;
  return mapSlots(
      program[id].runsAtLeastOnce ? atEnd : atTest, [&](Copy &copy) {
        if (copy.slot.loop != id)
          return;
        if (copy.slot.kind == Slot::Kind::AfterLoop)
          copy.slot = Slot();
        else if (copy.slot.kind == Slot::Kind::OfLoop)
          copy.slot = trips ? shifted(Slot::fixed(copy.slot.index), *trips,
                                      program.buffers[copy.buffer].slots)
                            : Slot::afterLoop(id, copy.slot.index);
      });
}

State Completions::walk(const std::vector<NodeId> &nodes, State state) {
  for (NodeId id : nodes) {
    if (!isRelevant[id]) {
      findInFlight(id, state);
      continue;
    }
    switch (program[id].kind) {
    case Kind::Step:
      walkStep(id, state);
      break;
    case Kind::Barrier:
      break;
    case Kind::Loop:
      state = walkLoop(id, std::move(state));
      break;
    case Kind::Branch: {
      State merged;
      bool isFirst = true;
      for (const std::vector<NodeId> &part : program[id].parts) {
        State end = walk(part, state);
        if (isFirst)
          merged = std::move(end);
        else
          join(merged, end);
        isFirst = false;
      }
      state = std::move(merged);
      break;
    }
    }
  }
  return state;
}

void Completions::run() {
  findRelevant();
  if (!isRelevant[sync::Program::kRoot])
    return;
  walk(program.getSteps(), State());
  if (hasGivenUp) {
    // In that case every copy may complete at every wait.
    std::set<Copy> all;
    for (NodeId id = 1; id < program.size(); ++id)
      if (isa_and_nonnull<AsyncCopyOpInterface>(function.ops[id]))
        for (const sync::Access &access : program[id].checked)
          if (access.kind == sync::AccessKind::Write)
            all.insert({access.buffer, Slot(), id});
    for (auto &entry : pendingAt)
      entry.second = all;
  }
  for (auto [step, copy] : inFlightAt)
    function.inFlight.emplace_back(copy, step);
  for (auto &[id, copies] : pendingAt)
    for (const Copy &copy : copies)
      program[id].pending.push_back(
          {copy.buffer, sync::AccessKind::Write, copy.slot});
}

void smalti::addCompletions(FunctionProgram &program) {
  Completions(program).run();
}
