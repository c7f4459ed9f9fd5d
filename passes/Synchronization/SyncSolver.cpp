//===- SyncSolver.cpp - The least barriers of a program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First, a barrier is inserted before everything that conflicts with pending
// accesses, assuming that all accesses of a loop may be pending at its start.
// Then every barrier is removed whose hazards are all ordered by others.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Synchronization/SyncGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace smalti::sync;

/// The budget of steps for all searches of a program.
static constexpr size_t kLeastBudget = 1 << 16;
static constexpr size_t kBudgetPerNode = 256;

namespace {

/// The effects of a part of the program, as seen from outside.
struct Summary {
  ItemSet first; ///< checked, without a barrier before it.
  ItemSet last;  ///< pending at the end.
  /// The spaces for which a path through the part does not contain a barrier,
  /// and those in which it contains removed barriers.
  Spaces through = kAllSpaces;
  Spaces crossed = kNoSpaces;
};

/// A loop's body as seen by its iterations, and the whole loop as seen from
/// outside.
struct NodeSummary {
  Summary body, whole;
};

class Solver {
public:
  Solver(const Program &program, const Options &options, const Graph &graph,
         bool keepOld);

  void run();
  bool isCheaperThan(const Solver &other) const;
  void findUnordered();
  Placement getPlacement();

private:
  Summary summarize(const std::vector<NodeId> &nodes);
  Summary summarize(NodeId id);
  ItemSet walk(const std::vector<NodeId> &nodes, ItemSet pending,
               bool mayInsert);
  ItemSet walkLoop(NodeId id, ItemSet pending, bool mayInsert);
  bool coversEntry(const ItemSet &pending, const ItemSet &back,
                   const ItemSet &first);
  void insertBefore(NodeId node, ItemSet &pending);
  void passInserted(NodeId node, ItemSet &pending) const {
    if (Spaces spaces = barriers.inserted[node])
      pending.clear(spaces);
  }

  void dropFootprint(Item &item, NodeId loop) const;
  llvm::ArrayRef<unsigned> changedBy(NodeId loop) const;
  ItemSet enter(const ItemSet &items, NodeId loop) const;
  ItemSet leave(const ItemSet &items, NodeId loop) const;
  ItemSet turn(const ItemSet &items, NodeId loop) const;
  ItemSet closeOverTurns(const ItemSet &items, NodeId loop,
                         const Summary &body) const;

  struct Verdict {
    bool isNeeded;
    std::optional<std::pair<Item, Item>> hazard; ///< if it was found
  };
  size_t getBudget() const {
    return kLeastBudget + kBudgetPerNode * program.size();
  }
  Verdict search(BarrierPoint at, Spaces spaces, bool onlyNode = false);
  void removeUnneeded();
  void moveBeforeReads(NodeId node);
  void returnToOld();
  std::vector<unsigned> countByDepth() const;

  const Program &program;
  const Options &options;
  const Graph &graph;
  Conflicts conflicts;
  Barriers barriers;
  std::vector<NodeSummary> summaries;
  /// The loops that use the slots of a group in turn.
  llvm::DenseMap<std::pair<unsigned, NodeId>, bool> isTurned;
  /// The buffers whose slots depend on the loop, and all buffers.
  llvm::DenseMap<NodeId, std::vector<unsigned>> slotsOf;
  std::vector<unsigned> allBuffers;
  /// The conflicts in the last walk at points where no barrier may be inserted.
  std::vector<std::pair<Item, Item>> conflicting;
  std::vector<Hazard> unordered;
  size_t budget; ///< of steps for searches
};

} // namespace

Solver::Solver(const Program &program, const Options &options,
               const Graph &graph, bool keepOld)
    : program(program), options(options), graph(graph),
      conflicts(program, options.required), barriers(program),
      summaries(program.size()), budget(getBudget()) {
  for (NodeId id = 0; id < program.size(); ++id) {
    const Node &node = program[id];
    if (node.kind == Node::Kind::Barrier && (keepOld || node.isFixed))
      barriers.old[id] = node.orders;
    for (const auto *accesses : {&node.checked, &node.pending})
      for (const Access &access : *accesses)
        if (access.slot.kind == Slot::Kind::OfLoop ||
            access.slot.kind == Slot::Kind::AfterLoop) {
          unsigned group = program.getSlotGroup(access.buffer);
          slotsOf[access.slot.loop].push_back(group);
          if (access.slot.kind == Slot::Kind::OfLoop)
            isTurned[{group, access.slot.loop}] = true;
        }
  }
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned>> others;
  for (auto [i, buffer] : llvm::enumerate(program.buffers))
    if (buffer.slotGroup && *buffer.slotGroup != i)
      others[*buffer.slotGroup].push_back(i);
  for (auto &[loop, buffers] : slotsOf) {
    for (size_t i = 0, end = buffers.size(); i < end; ++i)
      llvm::append_range(buffers, others.lookup(buffers[i]));
    llvm::sort(buffers);
    buffers.erase(llvm::unique(buffers), buffers.end());
  }
  for (unsigned i = 0; program.changesIn && i < program.buffers.size(); ++i)
    allBuffers.push_back(i);
}

//===----------------------------------------------------------------------===//
// Accesses as seen from other points
//===----------------------------------------------------------------------===//

/// The addresses may differ in other iterations.
void Solver::dropFootprint(Item &item, NodeId loop) const {
  if (item.footprint != kNoFootprint && program.changesIn &&
      program.changesIn(item.footprint, loop))
    item.footprint = kNoFootprint;
}

/// The buffers whose accesses look different from outside the loop, or from
/// another of its iterations.
llvm::ArrayRef<unsigned> Solver::changedBy(NodeId loop) const {
  if (program.changesIn)
    return allBuffers;
  auto it = slotsOf.find(loop);
  if (it == slotsOf.end())
    return {};
  return it->second;
}

/// As seen from the first iteration of a loop.
ItemSet Solver::enter(const ItemSet &items, NodeId loop) const {
  return items.map(changedBy(loop), [&](Item &item) {
    if (item.slot.kind == Slot::Kind::Fixed &&
        isTurned.lookup({program.getSlotGroup(item.buffer), loop}))
      item.slot = Slot::ofLoop(loop, item.slot.index);
  });
}

/// As seen from after the loop; the items are from its last iteration.
ItemSet Solver::leave(const ItemSet &items, NodeId loop) const {
  std::optional<int64_t> trips = program[loop].tripCount;
  return items.map(changedBy(loop), [&](Item &item) {
    dropFootprint(item, loop);
    if (item.slot.loop != loop)
      return;
    // A slot that counts from the end of the loop now refers to an earlier
    // execution.
    if (item.slot.kind == Slot::Kind::AfterLoop)
      item.slot = Slot();
    else if (item.slot.kind == Slot::Kind::OfLoop)
      item.slot = trips ? shifted(Slot::fixed(item.slot.index), *trips,
                                  program.buffers[item.buffer].slots)
                        : Slot::afterLoop(loop, item.slot.index);
  });
}

/// As seen from the next iteration.
ItemSet Solver::turn(const ItemSet &items, NodeId loop) const {
  return items.map(changedBy(loop), [&](Item &item) {
    dropFootprint(item, loop);
    if (item.slot.kind == Slot::Kind::OfLoop && item.slot.loop == loop)
      item.slot = shifted(item.slot, -1, program.buffers[item.buffer].slots);
  });
}

/// As seen from all later iterations, as far as iterations can be passed
/// without a barrier. Slots of buffers with more slots are not distinguished.
static constexpr int64_t kMaxTurns = 4096;

ItemSet Solver::closeOverTurns(const ItemSet &items, NodeId loop,
                               const Summary &body) const {
  ItemSet all = items, later = items;
  later.clear(~body.through & kAllSpaces);
  later.cross(body.crossed);
  later.forEachOf(changedBy(loop), [&](Item item) {
    if (item.slot.kind != Slot::Kind::OfLoop || item.slot.loop != loop)
      return;
    int64_t slots = program.buffers[item.buffer].slots;
    if (slots > kMaxTurns) {
      item.slot = Slot();
      all.insert(item);
      return;
    }
    for (int64_t i = 0; i < slots; ++i) {
      all.insert(item);
      item.slot = shifted(item.slot, -1, slots);
    }
  });
  all.insert(later);
  return all;
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

Summary Solver::summarize(const std::vector<NodeId> &nodes) {
  Summary all;
  auto addFirst = [&](Item item) {
    item.spaces &= all.through;
    item.crossed |= all.crossed;
    // Before the loop, a slot that counts from its end refers to an earlier
    // execution.
    if (item.slot.kind == Slot::Kind::AfterLoop)
      item.slot = Slot();
    if (item.spaces)
      all.first.insert(item);
  };
  for (NodeId id : nodes) {
    const Node &node = program[id];
    passInserted(id, all.last);
    all.through &= ~barriers.inserted[id];
    if (node.kind == Node::Kind::Step) {
      for (const Access &access : node.checked)
        addFirst(conflicts.makeItem(access, id));
      for (const Access &access : node.pending)
        all.last.insert(conflicts.makeItem(access, id));
      continue;
    }
    Summary part = summarize(id);
    part.first.forEach(addFirst);
    all.last.clear(~part.through & kAllSpaces);
    if (part.crossed)
      all.last.cross(part.crossed);
    all.last.insert(part.last);
    all.through &= part.through;
    all.crossed |= part.crossed;
  }
  return all;
}

Summary Solver::summarize(NodeId id) {
  const Node &node = program[id];
  Summary whole;
  if (node.kind == Node::Kind::Barrier) {
    whole.through = ~barriers.old[id] & kAllSpaces;
    whole.crossed = node.orders & whole.through;
    return whole;
  }
  if (node.kind == Node::Kind::Branch) {
    whole.through = kNoSpaces;
    for (const std::vector<NodeId> &part : node.parts) {
      Summary alternative = summarize(part);
      whole.first.insert(alternative.first);
      whole.last.insert(alternative.last);
      whole.through |= alternative.through;
      whole.crossed |= alternative.crossed;
    }
    summaries[id].whole = whole;
    return whole;
  }
  Summary before = summarize(node.parts[0]);
  Summary after = summarize(node.parts[1]);
  Summary body;
  body.first = before.first;
  body.first.insert(after.first);
  ItemSet passed = before.last;
  passed.clear(~after.through & kAllSpaces);
  passed.cross(after.crossed);
  body.last = after.last;
  body.last.insert(passed);
  body.through = before.through & after.through;
  body.crossed = before.crossed | after.crossed;
  summaries[id].body = body;

  // From outside, the first iteration has number 0.
  body.first.forEach([&](Item item) {
    bool isSlot = item.slot.kind == Slot::Kind::OfLoop && item.slot.loop == id;
    dropFootprint(item, id);
    if (isSlot)
      item.slot = Slot::fixed(item.slot.index);
    whole.first.insert(item);
    if (isSlot)
      item.slot = Slot();
    item.spaces &= body.through;
    item.crossed |= body.crossed;
    if (item.spaces)
      whole.first.insert(item);
  });
  ItemSet last = closeOverTurns(turn(body.last, id), id, body);
  if (!node.runsAtLeastOnce)
    last.insert(before.last);
  whole.last = leave(last, id);
  whole.through = node.runsAtLeastOnce ? body.through : before.through;
  whole.crossed = body.crossed;
  summaries[id].whole = whole;
  return whole;
}

//===----------------------------------------------------------------------===//
// Insertion of barriers
//===----------------------------------------------------------------------===//

void Solver::insertBefore(NodeId node, ItemSet &pending) {
  barriers.inserted[node] = kAllSpaces;
  pending.clear(kAllSpaces);
}

/// Whether everything that conflicts with accesses from before the loop also
/// conflicts with an earlier iteration, so that a barrier inside orders both.
bool Solver::coversEntry(const ItemSet &pending, const ItemSet &back,
                         const ItemSet &first) {
  return !first.visitUntil([&](const Item &item) {
    return conflicts.find(pending, item) && !conflicts.find(back, item);
  });
}

ItemSet Solver::walkLoop(NodeId id, ItemSet pending, bool mayInsert) {
  const Node &node = program[id];
  const Summary &body = summaries[id].body;
  ItemSet back = closeOverTurns(turn(body.last, id), id, body);
  ItemSet entering = enter(pending, id);
  if (mayInsert && conflicts.find(entering, body.first) &&
      (!node.isUniform || !coversEntry(entering, back, body.first))) {
    insertBefore(id, pending);
    entering = pending;
  }
  // Along iterations without a barrier, the items are pending in later
  // iterations too.
  ItemSet again = turn(entering, id);
  again.clear(~body.through & kAllSpaces);
  again.cross(body.crossed);
  entering.insert(closeOverTurns(again, id, body));
  entering.insert(back);
  bool holds = mayInsert && node.isUniform;
  ItemSet atTest = walk(node.parts[0], std::move(entering), holds);
  if (!node.runsAtLeastOnce) {
    walk(node.parts[1], atTest, holds);
    return leave(atTest, id);
  }
  return leave(turn(walk(node.parts[1], std::move(atTest), holds), id), id);
}

ItemSet Solver::walk(const std::vector<NodeId> &nodes, ItemSet pending,
                     bool mayInsert) {
  for (NodeId id : nodes) {
    const Node &node = program[id];
    passInserted(id, pending);
    switch (node.kind) {
    case Node::Kind::Step: {
      ItemSet checked;
      for (const Access &access : node.checked)
        checked.insert(conflicts.makeItem(access, id));
      if (auto hazard = conflicts.find(pending, checked)) {
        if (mayInsert)
          insertBefore(id, pending);
        else
          conflicting.push_back(*hazard);
      }
      for (const Access &access : node.pending)
        pending.insert(conflicts.makeItem(access, id));
      break;
    }
    case Node::Kind::Barrier:
      pending.clear(barriers.old[id]);
      if (Spaces crossed = node.orders & ~barriers.old[id])
        pending.cross(crossed);
      break;
    case Node::Kind::Loop:
      pending = walkLoop(id, std::move(pending), mayInsert);
      break;
    case Node::Kind::Branch: {
      if (mayInsert && conflicts.find(pending, summaries[id].whole.first))
        insertBefore(id, pending);
      ItemSet after;
      for (const std::vector<NodeId> &part : node.parts)
        after.insert(walk(part, pending, mayInsert && node.isUniform));
      pending = std::move(after);
      break;
    }
    }
  }
  return pending;
}

//===----------------------------------------------------------------------===//
// Removal of barriers
//===----------------------------------------------------------------------===//

/// Finds two accesses that only this barrier orders in these spaces. Near
/// accesses are searched first, which is usually sufficient. All searches share
/// a budget of steps per node. If the budget is exhausted, the barrier counts
/// as needed. `onlyNode`: the second access is in the node that the new barrier
/// precedes.
Solver::Verdict Solver::search(BarrierPoint at, Spaces spaces, bool onlyNode) {
  for (size_t steps : {size_t(64), size_t(1024), budget}) {
    size_t back = std::min(steps, budget), forward = onlyNode ? 0 : back;
    size_t limits = back + forward;
    ItemSet before = graph.explore(barriers, at, spaces, false, back);
    ItemSet after = graph.explore(barriers, at, spaces, true, forward);
    bool isComplete = back > 0 && (onlyNode || forward > 0);
    budget -= std::min(budget, limits - back - forward);
    auto hazard = conflicts.find(before, after);
    if (hazard || isComplete)
      return {hazard.has_value(), hazard};
  }
  return {true, std::nullopt};
}

void Solver::removeUnneeded() {
  struct Candidate {
    BarrierPoint at;
    unsigned depth, round;
  };
  std::vector<Candidate> candidates;
  for (NodeId id = 0; id < program.size(); ++id) {
    if (barriers.inserted[id])
      candidates.push_back({{id, true}, program.getDepth(id), 0});
    if (barriers.old[id] && !program[id].isFixed)
      candidates.push_back({{id, false}, program.getDepth(id), 0});
  }
  // Barriers in inner loops are tried first, and new ones before existing ones.
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::make_tuple(-int(a.depth), !a.at.isNew) <
           std::make_tuple(-int(b.depth), !b.at.isNew);
  });
  // Removing neighbors one after the other would make the path to the nearest
  // barrier longer each time: every second one first.
  constexpr size_t kManyBarriers = 64;
  if (candidates.size() > kManyBarriers) {
    for (size_t i = 0; i < candidates.size(); ++i)
      candidates[i].round = llvm::countr_zero(i + 1);
    llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
      return std::make_tuple(-int(a.depth), !a.at.isNew, a.round) <
             std::make_tuple(-int(b.depth), !b.at.isNew, b.round);
    });
  }
  for (const Candidate &candidate : candidates) {
    auto [id, isNew] = candidate.at;
    Spaces &spaces = isNew ? barriers.inserted[id] : barriers.old[id];
    if (spaces && !search(candidate.at, spaces).isNeeded)
      spaces = kNoSpaces;
  }
  if (!options.weaken)
    return;
  for (const Candidate &candidate : candidates) {
    auto [id, isNew] = candidate.at;
    Spaces &spaces = isNew ? barriers.inserted[id] : barriers.old[id];
    if (spaces == kAllSpaces && !search(candidate.at, kGlobal).isNeeded)
      spaces = kShared;
  }
}

/// Moves a new barrier before reads of global memory that are between the
/// accesses that it orders: on some chips the barrier waits for outstanding
/// reads.
void Solver::moveBeforeReads(NodeId node) {
  const Node &parent = program[program[node].parent];
  const std::vector<NodeId> *sequence = nullptr;
  size_t at = 0;
  for (const std::vector<NodeId> &part : parent.parts) {
    auto it = llvm::lower_bound(part, node);
    if (it != part.end() && *it == node) {
      sequence = &part;
      at = it - part.begin();
    }
  }
  size_t limit = 1024;
  ItemSet after = graph.explore(barriers, {node, true}, kAllSpaces,
                                /*forward=*/true, limit);
  if (limit == 0)
    return;
  NodeId best = node;
  while (at-- > 0) {
    NodeId id = (*sequence)[at];
    const Node &step = program[id];
    auto isShared = [&](const Access &access) {
      return conflicts.spacesOf(access) & kShared;
    };
    if (step.kind != Node::Kind::Step || llvm::any_of(step.checked, isShared) ||
        llvm::any_of(step.pending, isShared) || barriers.inserted[id])
      break;
    ItemSet pending;
    for (const Access &access : step.pending)
      pending.insert(conflicts.makeItem(access, id));
    if (conflicts.find(pending, after))
      break;
    if (step.isGlobalRead)
      best = id;
  }
  if (best != node)
    std::swap(barriers.inserted[best], barriers.inserted[node]);
}

/// If a new barrier directly follows a removed one, the removed one is restored
/// instead.
void Solver::returnToOld() {
  for (NodeId id = 1; id < program.size(); ++id) {
    if (!barriers.inserted[id])
      continue;
    for (const std::vector<NodeId> &part : program[program[id].parent].parts) {
      auto it = llvm::lower_bound(part, id);
      if (it == part.begin() || it == part.end() || *it != id)
        continue;
      NodeId old = *std::prev(it);
      if (program[old].kind != Node::Kind::Barrier ||
          (barriers.inserted[id] & ~program[old].orders))
        continue;
      barriers.old[old] = barriers.inserted[id];
      barriers.inserted[id] = kNoSpaces;
    }
  }
}

void Solver::run() {
  summarize(program.getSteps());
  walk(program.getSteps(), ItemSet(), /*mayInsert=*/true);
  removeUnneeded();
  for (NodeId id = 1; id < program.size(); ++id)
    if (barriers.inserted[id])
      moveBeforeReads(id);
  // After a barrier moved, another may have become redundant.
  removeUnneeded();
  returnToOld();
}

/// Finds the hazards that remain. The walk may report ordered accesses, e.g. if
/// several loops use slots in turn; a search from the access confirms each
/// hazard.
void Solver::findUnordered() {
  size_t budgetLeft = budget;
  summarize(program.getSteps());
  for (Spaces spaces : {kShared, kGlobal}) {
    conflicts.setRequired(spaces);
    conflicting.clear();
    walk(program.getSteps(), ItemSet(), /*mayInsert=*/false);
    budget = getBudget();
    for (const auto &[first, second] : conflicting) {
      auto [isNeeded, hazard] =
          search({second.node, /*isNew=*/true}, spaces, /*onlyNode=*/true);
      if (isNeeded)
        unordered.push_back(
            {hazard ? hazard->first.node : first.node, second.node, spaces});
    }
    for (NodeId id = 0; id < program.size(); ++id) {
      const Node &node = program[id];
      if (!node.hasUnknownOrder)
        continue;
      ItemSet pending, checked;
      for (const Access &access : node.pending)
        pending.insert(conflicts.makeItem(access, id));
      for (const Access &access : node.checked)
        checked.insert(conflicts.makeItem(access, id));
      if (conflicts.find(pending, checked))
        unordered.push_back({id, id, spaces});
    }
  }
  conflicts.setRequired(options.required);
  budget = budgetLeft;
}

/// The number of barriers at each loop depth.
std::vector<unsigned> Solver::countByDepth() const {
  std::vector<unsigned> count;
  for (NodeId id = 0; id < program.size(); ++id) {
    unsigned here = (barriers.inserted[id] != 0) + (barriers.old[id] != 0);
    if (here == 0)
      continue;
    unsigned depth = program.getDepth(id);
    if (count.size() <= depth)
      count.resize(depth + 1);
    count[depth] += here;
  }
  return count;
}

bool Solver::isCheaperThan(const Solver &other) const {
  std::vector<unsigned> mine = countByDepth(), theirs = other.countByDepth();
  size_t size = std::max(mine.size(), theirs.size());
  mine.resize(size);
  theirs.resize(size);
  return std::lexicographical_compare(mine.rbegin(), mine.rend(),
                                      theirs.rbegin(), theirs.rend());
}

Placement Solver::getPlacement() {
  Placement placement;
  placement.unordered = unordered;
  auto describe = [&](NodeId id, bool isNew, Spaces orders) {
    Placement::Barrier barrier{id, orders, id, id, /*isOfMany=*/false};
    // A hazard in shared memory is the more useful explanation.
    for (Spaces spaces : {Spaces(orders & kShared), orders}) {
      if (auto hazard = search({id, isNew}, spaces).hazard) {
        barrier.first = hazard->first.node;
        barrier.second = hazard->second.node;
        barrier.isOfMany = hazard->first.isMany || hazard->second.isMany;
        break;
      }
    }
    return barrier;
  };
  for (NodeId id = 0; id < program.size(); ++id) {
    if (Spaces spaces = barriers.inserted[id])
      placement.inserted.push_back(describe(id, /*isNew=*/true, spaces));
    if (program[id].kind != Node::Kind::Barrier)
      continue;
    if (Spaces spaces = barriers.old[id])
      placement.kept.push_back(describe(id, /*isNew=*/false, spaces));
    else
      placement.removed.push_back(id);
  }
  return placement;
}

Placement smalti::sync::placeBarriers(const Program &program,
                                      const Options &options) {
  Graph graph(program);
  bool hasOld = false;
  for (NodeId id = 0; id < program.size(); ++id)
    hasOld |= program[id].kind == Node::Kind::Barrier && !program[id].isFixed;
  auto finish = [&](Solver &solver) {
    if (options.findUnordered)
      solver.findUnordered();
    return solver.getPlacement();
  };
  Solver fresh(program, options, graph, /*keepOld=*/false);
  fresh.run();
  if (!hasOld || !options.preferOld)
    return finish(fresh);
  Solver withOld(program, options, graph, /*keepOld=*/true);
  withOld.run();
  return finish(fresh.isCheaperThan(withOld) ? fresh : withOld);
}
