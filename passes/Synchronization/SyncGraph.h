//===- SyncGraph.h - Reachability between barriers --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the accesses that are pending at a barrier, and those that follow it,
// up to the surrounding barriers. Slots are compared as seen from the barrier:
// iterations are counted along the path through the loop that uses the slots in
// turn.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H

#include "smalti/passes/Synchronization/SyncItems.h"

#include "llvm/ADT/DenseSet.h"

namespace smalti::sync {

/// The current barriers.
struct Barriers {
  explicit Barriers(const Program &program)
      : old(program.size()), inserted(program.size()) {}

  std::vector<Spaces> old; ///< by node: what an existing barrier orders
  std::vector<Spaces>
      inserted; ///< by node: what a new barrier before it orders
};

/// A barrier of the program, or a new one before a node.
struct BarrierPoint {
  NodeId node;
  bool isNew;
};

class Graph {
public:
  explicit Graph(const Program &program);

  /// The accesses that are pending at the barrier, or checked after it, if it
  /// did not order `spaces`. Stops after `limit` steps, and subtracts the steps
  /// from the limit.
  ItemSet explore(const Barriers &barriers, BarrierPoint at, Spaces spaces,
                  bool forward, size_t &limit) const;

private:
  enum class EdgeKind : uint8_t { Plain, Enter, Back, Leave, BackLeave };
  struct Edge {
    unsigned to;
    EdgeKind kind;
    NodeId loop;
  };
  struct Point {
    NodeId node = 0;
    bool isStep = false; ///< stands for the node, not for a part of it
    llvm::SmallVector<Edge, 2> next, previous;
  };
  /// How slots are seen at a point of the search.
  enum class View : uint8_t {
    Fixed,  ///< by their numbers
    Inside, ///< inside `loop`, `turns` iterations away from the start
    Before, ///< before the loop of the barrier, which ran `turns` iterations
    After,  ///< after the loop of the barrier, `turns` iterations later
    Unknown
  };
  struct State {
    unsigned point;
    View view;
    NodeId loop;
    int64_t turns;
    Spaces spaces, crossed;
    /// The path passed a loop that uses slots in turn: numbers that count from
    /// the end of a loop may refer to an earlier execution.
    bool hasPassedLoop;
    /// How many of the loops around the barrier, from the outermost, are in the
    /// same iteration.
    uint8_t same;
  };

  unsigned addPoint(NodeId node, bool isStep);
  void connect(unsigned from, unsigned to, EdgeKind kind = EdgeKind::Plain,
               NodeId loop = 0);
  unsigned addSequence(const std::vector<NodeId> &nodes, unsigned from);
  unsigned addNode(NodeId id, unsigned from);
  State follow(const Edge &edge, State state, NodeId home, bool forward) const;
  Slot viewSlot(const Access &access, const State &state, NodeId home,
                bool forward) const;
  NodeId findHome(NodeId node) const;
  llvm::SmallVector<NodeId> getLoops(NodeId node) const;

  const Program &program;
  std::vector<Point> points;
  std::vector<unsigned> pointOf; ///< of each node
  /// Groups of slots, and the loops that use them in turn.
  llvm::DenseSet<std::pair<unsigned, NodeId>> turned;
  /// The least common multiple of the numbers of slots that a loop uses in
  /// turn; 1 if the loop does not use slots, or uses too many to count.
  llvm::DenseMap<NodeId, int64_t> period;
};

} // namespace smalti::sync

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H
