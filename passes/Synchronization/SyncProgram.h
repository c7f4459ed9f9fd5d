//===- SyncProgram.h - What threads must wait for, as data ------*- C++ -*-===//
//
// A program as barriers see it: which buffers its steps access, where the
// threads of a block wait for one another, and the loops and branches around
// that. It knows nothing of ops, so that a function and the plan of a pipelined
// loop can both be turned into one.
//
// Two accesses are a hazard where different threads may make them, both may
// touch the same memory, and one of them writes. Every path from the first to
// the second must pass a barrier that orders their memory space.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCPROGRAM_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCPROGRAM_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace smalti::sync {

/// A set of memory spaces, by bits.
using Spaces = uint8_t;
inline constexpr Spaces kNoSpaces = 0;
inline constexpr Spaces kShared = 1;
inline constexpr Spaces kGlobal = 2;
inline constexpr Spaces kAllSpaces = kShared | kGlobal;

/// Atomic accesses need no order among themselves.
enum class AccessKind : uint8_t { Read, Write, Atomic };

using NodeId = unsigned;

/// The part of a buffer that an access uses. A buffer of n slots is used in
/// turn: in iteration number i of a loop the access uses slot (i + index) mod
/// n. Outside of such a loop a slot has a fixed number, or behind the loop one
/// that counts from the loop's number of iterations on.
struct Slot {
  enum class Kind : uint8_t { Any, Fixed, OfLoop, BehindLoop };
  Kind kind = Kind::Any;
  NodeId loop = 0; ///< of OfLoop and BehindLoop
  int64_t index = 0;

  static Slot fixed(int64_t index) { return {Kind::Fixed, 0, index}; }
  static Slot ofLoop(NodeId loop, int64_t index) {
    return {Kind::OfLoop, loop, index};
  }
  static Slot behindLoop(NodeId loop, int64_t index) {
    return {Kind::BehindLoop, loop, index};
  }
};

inline constexpr int kNoFootprint = -1;

struct Access {
  unsigned buffer;
  AccessKind kind;
  Slot slot;
  /// Which elements each thread accesses; what numbers mean, the caller knows.
  int footprint = kNoFootprint;
};

struct Buffer {
  Spaces spaces = kShared;
  /// How many slots are told apart.
  int64_t slots = 1;
  /// The buffer that the slots are counted with, or none but this one. Two
  /// buffers with the same one have equally many slots, and what they access
  /// does not overlap where the numbers of the slots differ.
  std::optional<unsigned> slotGroup;
  /// Stands for all memory of its spaces: for what an op does that is not
  /// known.
  bool isEverything = false;
  /// What it is and what it may overlap, by bits below the highest: another
  /// buffer overlaps it only where one of these and one of those are the same.
  uint64_t is = 0, meets = 0;
};

/// One step of the program, or a structure of steps.
struct Node {
  enum class Kind : uint8_t { Step, Barrier, Loop, Branch };
  Kind kind = Kind::Step;
  NodeId parent = 0;

  /// A step: what must be ordered after earlier accesses, and what later ones
  /// must be ordered after. Mostly both are the same; an asynchronous copy is
  /// the first where it starts and the second where it was waited for.
  llvm::SmallVector<Access, 2> checked, pending;
  /// A step whose own accesses run in an order that is not known, any number of
  /// times each.
  bool hasUnknownOrder = false;
  /// A step that reads global memory: a barrier stands better ahead of it.
  bool readsAhead = false;
  /// A step that only reads global memory, for a later step of its sequence
  /// that had to wait for the value: the reads are over where that one is.
  std::optional<NodeId> isOverAt;

  /// A barrier: what it orders, and whether it has to stay.
  Spaces orders = kAllSpaces;
  bool isFixed = false;

  /// A loop: what runs before it is decided whether to go on, and what runs
  /// behind that. A branch: its alternatives.
  llvm::SmallVector<std::vector<NodeId>, 2> parts;
  /// Whether all threads of a block take the same way through it, so that a
  /// barrier may be placed inside.
  bool isUniform = true;
  /// A loop that is left behind its last part, not between the two.
  bool runsAtLeastOnce = false;
  std::optional<int64_t> tripCount;
};

class Program {
public:
  Program();

  /// The sequence of steps that the program is.
  static constexpr NodeId kRoot = 0;

  unsigned addBuffer(Buffer buffer) {
    buffers.push_back(buffer);
    return buffers.size() - 1;
  }
  /// Adds a node behind what is in part `part` of the parent.
  NodeId addNode(Node::Kind kind, NodeId parent = kRoot, unsigned part = 0);

  Node &operator[](NodeId id) { return nodes[id]; }
  const Node &operator[](NodeId id) const { return nodes[id]; }
  unsigned size() const { return nodes.size(); }
  const std::vector<NodeId> &getSteps() const { return nodes[kRoot].parts[0]; }

  /// The buffer that stands for all those whose slots are counted together.
  unsigned getSlotGroup(unsigned buffer) const {
    return buffers[buffer].slotGroup.value_or(buffer);
  }
  /// Whether the slots say that two accesses do not overlap: slots of one
  /// group, seen from the same place.
  bool areSlotsApart(unsigned bufferA, const Slot &a, unsigned bufferB,
                     const Slot &b) const {
    return getSlotGroup(bufferA) == getSlotGroup(bufferB) &&
           a.kind != Slot::Kind::Any && a.kind == b.kind && a.loop == b.loop &&
           a.index != b.index;
  }

  /// Whether all threads pass the node together: a barrier may stand beside it.
  bool isUniform(NodeId id) const;
  /// The number of loops around a node.
  unsigned getDepth(NodeId id) const;

  std::vector<Buffer> buffers;
  /// Whether two different buffers may overlap, where their bits say that they
  /// might.
  std::function<bool(unsigned, unsigned)> overlap;
  /// Whether accesses of two footprints by different threads may touch the same
  /// element.
  std::function<bool(int, int)> footprintsMeet;
  /// Footprints whose addresses change with the iterations of the loop; none
  /// do where it is null.
  std::function<bool(int, NodeId)> changesIn;

private:
  std::vector<Node> nodes;
};

struct Options {
  /// Hazards in these spaces are ordered in any case. In the others only those
  /// are that a barrier of the program orders already.
  Spaces required = kAllSpaces;
  /// Whether a barrier orders no more than it has to.
  bool weaken = false;
  /// Whether barriers that are there are worth more than others in better
  /// places, if the latter are not fewer.
  bool preferOld = true;
  /// Whether to look for the hazards that the placed barriers leave.
  bool findUnordered = false;
};

/// Two accesses that no barrier orders.
struct Hazard {
  NodeId first, second;
  Spaces spaces;
};

struct Placement {
  struct Barrier {
    /// A barrier of the program, or what a new one stands before.
    NodeId node;
    Spaces orders;
    /// Two accesses that it orders, and no other barrier does. Both are the
    /// node where none were found in the steps that searches may take.
    NodeId first, second;
    /// One of the two stands for more accesses of a buffer than are kept apart.
    bool isOfMany = false;
  };
  /// In the order of the program.
  std::vector<Barrier> inserted, kept;
  std::vector<NodeId> removed;
  /// The hazards that stay: those in spaces that are not required, and those
  /// where a barrier would stand where not all threads come by. One of each
  /// step and memory space.
  std::vector<Hazard> unordered;
};

/// Places the least barriers that order every hazard: none of them can be taken
/// out. Takes time in proportion to the number of steps.
Placement placeBarriers(const Program &program, const Options &options);

} // namespace smalti::sync

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCPROGRAM_H
