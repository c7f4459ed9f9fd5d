//===- SyncGraph.h - Where one comes from a barrier -------------*- C++ -*-===//
//
// Finds what is under way at a barrier, and what comes after it, up to the
// barriers around it. Slots are told apart as seen from the barrier: on the way
// through the loop that uses them in turn, iterations are counted.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H

#include "smalti/passes/Synchronization/SyncItems.h"

#include "llvm/ADT/DenseSet.h"

namespace smalti::sync {

/// Which barriers there are at the moment.
struct Barriers {
  explicit Barriers(const Program &program)
      : old(program.size()), inserted(program.size()) {}

  std::vector<Spaces> old; ///< by node: what a barrier still orders
  std::vector<Spaces>
      inserted; ///< by node: what a new barrier before it orders
};

/// A barrier of the program, or a new one before a node.
struct BarrierPlace {
  NodeId node;
  bool isNew;
};

class Graph {
public:
  explicit Graph(const Program &program);

  /// What is pending at the barrier, or is checked after it, if it did not
  /// order `spaces`: all of it, or what is met in the first `limit` steps.
  /// Takes the steps off the limit.
  ItemSet explore(const Barriers &barriers, BarrierPlace place, Spaces spaces,
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
  /// How slots are seen at a point that was reached.
  enum class View : uint8_t {
    Fixed,  ///< by their numbers
    Inside, ///< from `loop`, so many iterations away from where one came from
    Before, ///< before the barrier's loop, of which that many iterations ran
    Behind, ///< behind the barrier's loop, that many iterations later
    NotTellable
  };
  struct State {
    unsigned point;
    View view;
    NodeId loop;
    int64_t turns;
    Spaces spaces, crossed;
    /// A loop that uses slots in turn lies between: numbers that count from the
    /// end of a loop may be about an earlier time.
    bool hasPassed;
    /// Of the loops around the barrier, those in whose iteration one still is.
    uint8_t same;
  };

  unsigned addPoint(NodeId node, bool isStep);
  void connect(unsigned from, unsigned to, EdgeKind kind = EdgeKind::Plain,
               NodeId loop = 0);
  unsigned addSequence(const std::vector<NodeId> &nodes, unsigned from);
  unsigned addNode(NodeId id, unsigned from);
  State follow(const Edge &edge, State state, NodeId home, bool forward) const;
  Slot slotSeen(const Access &access, const State &state, NodeId home,
                bool forward) const;
  NodeId findHome(NodeId node) const;
  llvm::SmallVector<NodeId> getLoops(NodeId node) const;

  const Program &program;
  std::vector<Point> points;
  std::vector<unsigned> pointOf; ///< of each node
  /// Groups of slots, and the loops that use them in turn.
  llvm::DenseSet<std::pair<unsigned, NodeId>> turned;
  /// The least common multiple of the numbers of slots that a loop uses in
  /// turn; 1 where there are none, or too many to count.
  llvm::DenseMap<NodeId, int64_t> period;
};

} // namespace smalti::sync

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCGRAPH_H
