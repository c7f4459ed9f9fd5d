//===- SyncProgram.h - IR-independent input of barrier placement ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program as input of barrier placement: the accesses of its steps to
// buffers, its barriers, and the loops and branches around them. It does not
// refer to ops, so that both a function and the plan of a pipelined loop can be
// represented.
//
// Two accesses are a hazard if different threads may execute them, both may
// touch the same memory, and one of them is a write. Every path from the first
// to the second must contain a barrier that orders their memory space.
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

/// A set of memory spaces, as bits.
using Spaces = uint8_t;
inline constexpr Spaces kNoSpaces = 0;
inline constexpr Spaces kShared = 1;
inline constexpr Spaces kGlobal = 2;
inline constexpr Spaces kAllSpaces = kShared | kGlobal;

/// Atomic accesses are not ordered among themselves.
enum class AccessKind : uint8_t { Read, Write, Atomic };

using NodeId = unsigned;

/// The slot of a buffer that an access uses. In iteration i of a loop that uses
/// n slots in turn, the access uses slot (i + index) mod n. Outside the loop a
/// slot has a fixed number or, after the loop, a number that counts from the
/// trip count.
struct Slot {
  enum class Kind : uint8_t { Any, Fixed, OfLoop, AfterLoop };
  Kind kind = Kind::Any;
  NodeId loop = 0; ///< of OfLoop and AfterLoop
  int64_t index = 0;

  static Slot fixed(int64_t index) { return {Kind::Fixed, 0, index}; }
  static Slot ofLoop(NodeId loop, int64_t index) {
    return {Kind::OfLoop, loop, index};
  }
  static Slot afterLoop(NodeId loop, int64_t index) {
    return {Kind::AfterLoop, loop, index};
  }
};

inline constexpr int kNoFootprint = -1;

struct Access {
  unsigned buffer;
  AccessKind kind;
  Slot slot;
  /// The elements that each thread accesses; the caller defines the numbers.
  int footprint = kNoFootprint;
};

struct Buffer {
  Spaces spaces = kShared;
  /// How many slots are distinguished.
  int64_t slots = 1;
  /// The buffer that the slots are counted with; nothing: this one. Buffers of
  /// one group have the same number of slots, and accesses to different slots
  /// do not overlap.
  std::optional<unsigned> slotGroup;
  /// Represents all memory of its spaces, for ops with unknown effects.
  bool isEverything = false;
  /// The bits of the buffer, and the bits that it may overlap, below the
  /// highest bit. Two buffers overlap only if `is` of one and `meets` of the
  /// other have a common bit.
  uint64_t is = 0, meets = 0;
};

/// One step of the program, or a structure of steps.
struct Node {
  enum class Kind : uint8_t { Step, Barrier, Loop, Branch };
  Kind kind = Kind::Step;
  NodeId parent = 0;

  /// A step: the accesses that must be ordered after earlier ones, and those
  /// that later ones must be ordered after. Usually both are the same. An
  /// asynchronous copy is checked where it starts and pending after its wait.
  llvm::SmallVector<Access, 2> checked, pending;
  /// A step whose own accesses run in unknown order, any number of times each.
  bool hasUnknownOrder = false;
  /// A step that reads global memory: barriers are preferably placed before it.
  bool isGlobalRead = false;
  /// For a step that only reads global memory: a later step of its sequence
  /// that waits for the value, so that the reads are complete there.
  std::optional<NodeId> completesAt;

  /// A barrier: what it orders, and whether it must stay.
  Spaces orders = kAllSpaces;
  bool isFixed = false;

  /// A loop: the part before the exit test, and the part after it. A branch:
  /// its alternatives.
  llvm::SmallVector<std::vector<NodeId>, 2> parts;
  /// Whether all threads of a block take the same path through it, so that a
  /// barrier may be placed inside.
  bool isUniform = true;
  /// A loop that exits after its last part, not between the parts.
  bool runsAtLeastOnce = false;
  std::optional<int64_t> tripCount;
};

class Program {
public:
  Program();

  /// The sequence of steps of the program.
  static constexpr NodeId kRoot = 0;

  unsigned addBuffer(Buffer buffer) {
    buffers.push_back(buffer);
    return buffers.size() - 1;
  }
  /// Appends a node to part `part` of the parent.
  NodeId addNode(Node::Kind kind, NodeId parent = kRoot, unsigned part = 0);

  Node &operator[](NodeId id) { return nodes[id]; }
  const Node &operator[](NodeId id) const { return nodes[id]; }
  unsigned size() const { return nodes.size(); }
  const std::vector<NodeId> &getSteps() const { return nodes[kRoot].parts[0]; }

  /// The buffer that represents the slot group.
  unsigned getSlotGroup(unsigned buffer) const {
    return buffers[buffer].slotGroup.value_or(buffer);
  }
  /// Whether two accesses do not overlap because of their slots: different
  /// slots of one group, as seen from the same point.
  bool areSlotsDisjoint(unsigned bufferA, const Slot &a, unsigned bufferB,
                        const Slot &b) const {
    return getSlotGroup(bufferA) == getSlotGroup(bufferB) &&
           a.kind != Slot::Kind::Any && a.kind == b.kind && a.loop == b.loop &&
           a.index != b.index;
  }

  /// Whether all threads execute the node uniformly, so that a barrier may be
  /// placed next to it.
  bool isUniform(NodeId id) const;
  /// The number of loops around a node.
  unsigned getDepth(NodeId id) const;

  std::vector<Buffer> buffers;
  /// Whether two different buffers may overlap, if their bits allow it.
  std::function<bool(unsigned, unsigned)> overlap;
  /// Whether accesses with two footprints by different threads may touch the
  /// same element.
  std::function<bool(int, int)> footprintsMeet;
  /// Whether the addresses of a footprint change with the iterations of the
  /// loop; null: they never do.
  std::function<bool(int, NodeId)> changesIn;

private:
  std::vector<Node> nodes;
};

struct Options {
  /// Hazards in these spaces must be ordered. In other spaces, only hazards
  /// that an existing barrier orders.
  Spaces required = kAllSpaces;
  /// Whether barriers are weakened to the spaces that they must order.
  bool weaken = false;
  /// Whether existing barriers are preferred to the same number of new ones.
  bool preferOld = true;
  /// Whether to find the hazards that remain.
  bool findUnordered = false;
};

/// Two accesses that no barrier orders.
struct Hazard {
  NodeId first, second;
  Spaces spaces;
};

struct Placement {
  struct Barrier {
    /// A barrier of the program, or the node that a new one precedes.
    NodeId node;
    Spaces orders;
    /// Two accesses that only this barrier orders. Both are the node if the
    /// search reached its step limit.
    NodeId first, second;
    /// One of the two represents more accesses of a buffer than the set
    /// distinguishes.
    bool isOfMany = false;
  };
  /// In program order.
  std::vector<Barrier> inserted, kept;
  std::vector<NodeId> removed;
  /// The hazards that remain: those in spaces that are not required, and those
  /// under divergent control flow. One for each step and memory space.
  std::vector<Hazard> unordered;
};

/// Places a minimal set of barriers that orders every hazard: none of them can
/// be removed. Takes linear time in the number of steps.
Placement placeBarriers(const Program &program, const Options &options);

} // namespace smalti::sync

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCPROGRAM_H
