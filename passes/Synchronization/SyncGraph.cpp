//===- SyncGraph.cpp - Reachability between barriers ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Synchronization/SyncGraph.h"

#include <numeric>

using namespace smalti::sync;

/// The largest number of slots for which iterations are counted.
static constexpr int64_t kLongestPeriod = 64;

static int64_t modulo(int64_t value, int64_t count) {
  return (value % count + count) % count;
}

Graph::Graph(const Program &program)
    : program(program), pointOf(program.size()) {
  unsigned start = addPoint(Program::kRoot, /*isStep=*/false);
  addSequence(program.getSteps(), start);
  for (NodeId id = 0; id < program.size(); ++id)
    for (const auto *accesses : {&program[id].checked, &program[id].pending})
      for (const Access &access : *accesses) {
        if (access.slot.kind != Slot::Kind::OfLoop)
          continue;
        turned.insert({program.getSlotGroup(access.buffer), access.slot.loop});
        int64_t slots = program.buffers[access.buffer].slots;
        int64_t &count = period.try_emplace(access.slot.loop, 1).first->second;
        if (count > kLongestPeriod || slots > kLongestPeriod)
          count = kLongestPeriod + 1;
        else
          count = std::lcm(count, slots);
      }
  for (auto &entry : period)
    if (entry.second > kLongestPeriod)
      entry.second = 1;
}

unsigned Graph::addPoint(NodeId node, bool isStep) {
  points.emplace_back();
  points.back().node = node;
  points.back().isStep = isStep;
  if (isStep)
    pointOf[node] = points.size() - 1;
  return points.size() - 1;
}

void Graph::connect(unsigned from, unsigned to, EdgeKind kind, NodeId loop) {
  points[from].next.push_back({to, kind, loop});
  points[to].previous.push_back({from, kind, loop});
}

unsigned Graph::addSequence(const std::vector<NodeId> &nodes, unsigned from) {
  for (NodeId id : nodes)
    from = addNode(id, from);
  return from;
}

/// Adds the node after `from`; returns the point after the node.
unsigned Graph::addNode(NodeId id, unsigned from) {
  const Node &node = program[id];
  unsigned start = addPoint(id, /*isStep=*/true);
  connect(from, start);
  if (node.kind == Node::Kind::Step || node.kind == Node::Kind::Barrier)
    return start;
  if (node.kind == Node::Kind::Branch) {
    llvm::SmallVector<unsigned> ends;
    for (const std::vector<NodeId> &part : node.parts)
      ends.push_back(addSequence(part, start));
    unsigned end = addPoint(id, /*isStep=*/false);
    for (unsigned last : ends)
      connect(last, end);
    return end;
  }
  unsigned head = addPoint(id, /*isStep=*/false);
  connect(start, head, EdgeKind::Enter, id);
  unsigned test = addSequence(node.parts[0], head);
  unsigned last = addSequence(node.parts[1], test);
  if (last == head)
    last = addPoint(id, /*isStep=*/false), connect(head, last);
  connect(last, head, EdgeKind::Back, id);
  unsigned end = addPoint(id, /*isStep=*/false);
  if (node.runsAtLeastOnce)
    connect(last, end, EdgeKind::BackLeave, id);
  else
    connect(test, end, EdgeKind::Leave, id);
  return end;
}

/// The innermost loop around a node whose iterations must be counted.
NodeId Graph::findHome(NodeId node) const {
  while (node != Program::kRoot) {
    node = program[node].parent;
    auto it = period.find(node);
    if (it != period.end() && it->second > 1)
      return node;
  }
  return Program::kRoot;
}

/// The loops around a node, the outermost first.
llvm::SmallVector<NodeId> Graph::getLoops(NodeId node) const {
  llvm::SmallVector<NodeId> loops;
  while (node != Program::kRoot) {
    node = program[node].parent;
    if (program[node].kind == Node::Kind::Loop)
      loops.insert(loops.begin(), node);
  }
  return loops;
}

/// The view of slots after an edge. `home` is the loop around the barrier of
/// the search, or the root.
Graph::State Graph::follow(const Edge &edge, State state, NodeId home,
                           bool forward) const {
  state.point = edge.to;
  if (edge.kind == EdgeKind::Plain)
    return state;
  auto it = period.find(edge.loop);
  int64_t count = it == period.end() ? 1 : it->second;
  if (count == 1)
    return state;
  bool isInside = state.view == View::Inside && state.loop == edge.loop;
  auto inside = [&](int64_t turns) {
    state.view = View::Inside;
    state.loop = edge.loop;
    state.turns = modulo(turns, count);
  };
  bool isBack = edge.kind == EdgeKind::Back || edge.kind == EdgeKind::BackLeave;
  bool isLeave =
      edge.kind == EdgeKind::Leave || edge.kind == EdgeKind::BackLeave;
  // Relative to the search direction.
  bool enters = forward ? edge.kind == EdgeKind::Enter : isLeave;
  bool leaves = forward ? isLeave : edge.kind == EdgeKind::Enter;
  if (enters) {
    if (state.view == View::Fixed && home == Program::kRoot) {
      inside(isBack ? 1 : 0);
    } else if (state.view != View::Inside) {
      state.view = View::Unknown;
      state.turns = 0;
      state.loop = 0;
    }
    return state;
  }
  if (isInside && isBack)
    inside(state.turns + 1);
  if (isInside && leaves) {
    state.view = home != edge.loop ? View::Fixed
                 : forward         ? View::After
                                   : View::Before;
    state.loop = 0;
    if (state.view == View::Fixed)
      state.turns = 0;
    state.hasPassedLoop = true;
  }
  return state;
}

Slot Graph::viewSlot(const Access &access, const State &state, NodeId home,
                     bool forward) const {
  Slot slot = access.slot;
  int64_t slots = program.buffers[access.buffer].slots;
  if (slot.kind == Slot::Kind::Any)
    return slot;
  bool isFixed = slot.kind == Slot::Kind::Fixed;
  bool isAfter = slot.kind == Slot::Kind::AfterLoop;
  // Iterations are counted for the groups that the loop uses in turn; for other
  // groups, the iteration modulo the slots is unknown.
  if (isFixed && !turned.contains({program.getSlotGroup(access.buffer), home}))
    return slot;
  switch (state.view) {
  case View::Fixed:
    return isFixed || (isAfter && !state.hasPassedLoop) ? slot : Slot();
  case View::Before:
    // The iteration of the barrier is the number of counted iterations.
    return isFixed
               ? shifted(Slot::ofLoop(home, slot.index), -state.turns, slots)
               : Slot();
  case View::After: {
    // The iteration of the barrier is the trip count minus the counted
    // iterations.
    std::optional<int64_t> trips = program[home].tripCount;
    if (isFixed && trips)
      return shifted(Slot::ofLoop(home, slot.index), state.turns - *trips,
                     slots);
    if (isAfter && slot.loop == home)
      return shifted(Slot::ofLoop(home, slot.index), state.turns, slots);
    return Slot();
  }
  case View::Unknown:
    return Slot();
  case View::Inside:
    break;
  }
  bool isAtHome = state.loop == home;
  if (isFixed)
    return slot;
  if (isAfter || slot.loop != state.loop)
    return Slot();
  if (isAtHome)
    return shifted(slot, forward ? state.turns : -state.turns, slots);
  if (forward)
    return shifted(Slot::fixed(slot.index), state.turns, slots);
  if (std::optional<int64_t> trips = program[slot.loop].tripCount)
    return shifted(Slot::fixed(slot.index), *trips - state.turns, slots);
  if (state.hasPassedLoop)
    return Slot();
  return shifted(Slot::afterLoop(slot.loop, slot.index), -state.turns, slots);
}

ItemSet Graph::explore(const Barriers &barriers, BarrierPoint at, Spaces spaces,
                       bool forward, size_t &limit) const {
  ItemSet found;
  NodeId home = findHome(at.node);
  unsigned start = pointOf[at.node];
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> seen;
  llvm::SmallVector<State> worklist;
  auto push = [&](const State &state) {
    uint64_t low = uint64_t(state.turns) | uint64_t(state.view) << 16 |
                   uint64_t(state.spaces) << 24 |
                   uint64_t(state.crossed) << 32 | uint64_t(state.same) << 40 |
                   uint64_t(state.hasPassedLoop) << 48;
    if (seen.insert({uint64_t(state.point) << 32 | state.loop, low}).second)
      worklist.push_back(state);
  };
  llvm::SmallVector<NodeId> loops = getLoops(at.node);
  auto step = [&](const State &state) {
    const Point &point = points[state.point];
    for (const Edge &edge : forward ? point.next : point.previous) {
      State next = follow(edge, state, home, forward);
      // An edge of a loop around the barrier leads to another iteration.
      for (unsigned i = 0; edge.kind != EdgeKind::Plain && i < next.same; ++i)
        if (loops[i] == edge.loop)
          next.same = i;
      push(next);
    }
  };
  // Addresses may differ in another iteration.
  auto setFootprint = [&](Item &item, const State &state) {
    if (item.footprint == kNoFootprint)
      return;
    item.isSame = state.same;
    for (NodeId node = item.node; node != Program::kRoot;) {
      node = program[node].parent;
      if (program[node].kind != Node::Kind::Loop || !program.changesIn ||
          !program.changesIn(item.footprint, node))
        continue;
      auto end = loops.begin() + state.same;
      auto it = std::find(loops.begin(), end, node);
      if (it != end) {
        item.needsSame =
            std::max<uint8_t>(item.needsSame, it - loops.begin() + 1);
        continue;
      }
      item.footprint = kNoFootprint;
      item.needsSame = 0;
      item.isSame = UINT8_MAX;
      return;
    }
  };
  // The spaces that the barrier orders apart from `spaces`.
  auto getCurrentOrder = [&](NodeId node, bool isNew) {
    Spaces now = isNew ? barriers.inserted[node] : barriers.old[node];
    if (node == at.node && isNew == at.isNew)
      now &= ~spaces;
    return now;
  };
  auto passNew = [&](State &state) {
    if (points[state.point].isStep)
      state.spaces &=
          ~getCurrentOrder(points[state.point].node, /*isNew=*/true);
  };
  auto passOld = [&](State &state) {
    const Point &point = points[state.point];
    if (!point.isStep || program[point.node].kind != Node::Kind::Barrier)
      return;
    Spaces now = getCurrentOrder(point.node, /*isNew=*/false);
    state.spaces &= ~now;
    state.crossed |= program[point.node].orders & ~now;
  };
  auto collect = [&](const State &state) {
    const Point &point = points[state.point];
    if (!point.isStep)
      return;
    const Node &node = program[point.node];
    // Reads that a later step has completed do not matter after that step.
    if (!forward && node.completesAt && spaces == kGlobal &&
        !(point.node < at.node && at.node <= *node.completesAt))
      return;
    for (const Access &access : forward ? node.checked : node.pending) {
      Item item{access.buffer,
                access.kind,
                viewSlot(access, state, home, forward),
                access.footprint,
                Spaces(program.buffers[access.buffer].spaces & state.spaces),
                state.crossed,
                point.node};
      setFootprint(item, state);
      if (item.spaces)
        found.insert(item);
    }
  };

  bool isHome = home != Program::kRoot;
  State first{start,
              isHome ? View::Inside : View::Fixed,
              isHome ? home : 0,
              0,
              spaces,
              Spaces(at.isNew ? kNoSpaces : program[at.node].orders & spaces),
              /*hasPassedLoop=*/false,
              uint8_t(std::min<size_t>(loops.size(), UINT8_MAX))};
  if (forward) {
    if (at.isNew)
      collect(first);
    step(first);
  } else {
    step(first);
  }
  // Near nodes come first.
  for (size_t next = 0; next < worklist.size() && limit > 0; ++next, --limit) {
    State state = worklist[next];
    if (forward) {
      passNew(state);
      passOld(state);
      if (!state.spaces)
        continue;
      collect(state);
    } else {
      collect(state);
      passOld(state);
      passNew(state);
      if (!state.spaces)
        continue;
    }
    step(state);
  }
  return found;
}
