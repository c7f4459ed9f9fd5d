//===- SyncItems.h - Sets of pending accesses -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCITEMS_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCITEMS_H

#include "smalti/passes/Synchronization/SyncProgram.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <map>
#include <tuple>

namespace smalti::sync {

/// An access as seen from another point of the program, without a barrier
/// between the two.
struct Item {
  unsigned buffer;
  AccessKind kind;
  Slot slot; ///< as seen from there.
  int footprint;
  Spaces spaces;  ///< without a barrier in between.
  Spaces crossed; ///< with a removed barrier in between.
  NodeId node;    ///< the first one that was found.
  /// The loops around the point from which it is seen: the number that must be
  /// in the same iteration for the footprint to be valid, and the number that
  /// are.
  uint8_t needsSame = 0, isSame = UINT8_MAX;
  /// Represents more accesses of the buffer than the set distinguishes.
  bool isMany = false;

  auto key() const {
    return std::make_tuple(buffer, kind, slot.kind, slot.loop, slot.index,
                           footprint, spaces, crossed, needsSame, isSame);
  }
  bool operator<(const Item &other) const { return key() < other.key(); }
};

/// An ordered set of items, grouped by buffer. Copies share storage, and the
/// effect of barriers on all items is applied lazily. The set of pending
/// accesses may be large, and is passed through every loop and branch.
class ItemSet {
public:
  bool empty() const;
  /// If an equal item exists, it stays.
  void insert(const Item &item);
  void insert(const ItemSet &other);
  /// A barrier: nothing is pending in these spaces.
  void clear(Spaces spaces);
  /// The position of a removed barrier.
  void cross(Spaces spaces);

  /// Calls `visit` with each item in order. Stops, and returns true, if `visit`
  /// does.
  template <typename Fn> bool visitUntil(Fn visit) const {
    for (const Part &part : parts)
      if (part.visitUntil(visit))
        return true;
    return false;
  }
  template <typename Fn> void forEach(Fn visit) const {
    visitUntil([&](const Item &item) {
      visit(item);
      return false;
    });
  }
  /// The items of these buffers, which are sorted.
  template <typename Fn>
  void forEachOf(llvm::ArrayRef<unsigned> buffers, Fn visit) const {
    for (const Part &part : parts)
      if (part.holdsOneOf(buffers))
        part.visitUntil([&](const Item &item) {
          if (llvm::binary_search(buffers, item.buffer))
            visit(item);
          return false;
        });
  }
  /// A copy in which the items of these buffers are changed.
  template <typename Fn>
  ItemSet map(llvm::ArrayRef<unsigned> buffers, Fn change) const {
    ItemSet result;
    for (const Part &part : parts) {
      result.parts.push_back(part);
      if (!part.holdsOneOf(buffers))
        continue;
      Part changed(part.number);
      part.visitUntil([&](Item item) {
        if (llvm::binary_search(buffers, item.buffer))
          change(item);
        changed.insert(item);
        return false;
      });
      result.parts.back() = std::move(changed);
    }
    return result;
  }

private:
  friend class Conflicts;
  static constexpr unsigned kBuffersPerPart = 16;

  struct Chunk : llvm::RefCountedBase<Chunk> {
    std::vector<Item> items;
    /// The union over all items.
    uint8_t kinds = 0;
    Spaces spaces = kNoSpaces, crossed = kNoSpaces;

    void insert(const Item &item);
    void coarsen(unsigned buffer);
  };

  /// The items of some buffers: those of the chunk after barriers in `cleared`
  /// and removed barriers in `crossed`.
  struct Part {
    explicit Part(unsigned number)
        : number(number), chunk(llvm::makeIntrusiveRefCnt<Chunk>()) {}

    unsigned number;
    Spaces cleared = kNoSpaces, crossed = kNoSpaces;
    llvm::IntrusiveRefCntPtr<Chunk> chunk;

    bool holdsOneOf(llvm::ArrayRef<unsigned> buffers) const {
      const unsigned *it = llvm::lower_bound(buffers, number * kBuffersPerPart);
      return it != buffers.end() && *it / kBuffersPerPart == number;
    }
    /// Applies the barriers to the item. Returns false if it is not pending any
    /// more.
    bool see(Item &item) const {
      item.spaces &= ~cleared;
      item.crossed |= crossed;
      return item.spaces != kNoSpaces;
    }
    template <typename Fn> bool visitUntil(Fn visit) const {
      for (Item item : chunk->items)
        if (see(item) && visit(item))
          return true;
      return false;
    }
    void insert(const Item &item);
  };

  Part &getPart(unsigned number);
  const Part *findPart(unsigned number) const;

  std::vector<Part> parts; ///< sorted by number
};

/// Determines which accesses are hazards.
class Conflicts {
public:
  Conflicts(const Program &program, Spaces required);

  void setRequired(Spaces spaces) { required = spaces; }

  /// The spaces in which the two need a barrier between them.
  Spaces operator()(const Item &first, const Item &second) const;
  /// The first pair that needs a barrier, in the order of the sets.
  std::optional<std::pair<Item, Item>> find(const ItemSet &first,
                                            const ItemSet &second) const;
  /// The first item of the set that needs a barrier between itself and `item`.
  std::optional<Item> find(const ItemSet &set, const Item &item) const;

  Spaces spacesOf(const Access &access) const {
    return program.buffers[access.buffer].spaces;
  }
  Item makeItem(const Access &access, NodeId node) const {
    return {
        access.buffer,    access.kind,           access.slot, access.footprint,
        spacesOf(access), /*crossed=*/kNoSpaces, node};
  }

private:
  bool mayOverlap(unsigned a, unsigned b) const;
  bool mayConflict(const ItemSet::Part &part, const Item &item) const;

  const Program &program;
  Spaces required;
  /// A bit that no buffer has.
  static constexpr uint64_t kEverything = uint64_t(1) << 63;
  /// The bits of the buffers in each part.
  std::vector<uint64_t> partIs;
  /// The parts with buffers that may overlap others with these bits.
  std::map<uint64_t, std::vector<unsigned>> partsMeeting;
  mutable llvm::DenseMap<std::pair<unsigned, unsigned>, bool> overlaps;
};

/// Slot numbers of a buffer stay between 0 and their count.
inline Slot shifted(Slot slot, int64_t by, int64_t slots) {
  slot.index = (slot.index + by) % slots;
  if (slot.index < 0)
    slot.index += slots;
  return slot;
}

} // namespace smalti::sync

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCITEMS_H
