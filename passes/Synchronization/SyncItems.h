//===- SyncItems.h - Accesses that are under way ----------------*- C++ -*-===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCITEMS_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCITEMS_H

#include "passes/Synchronization/SyncProgram.h"

#include "llvm/ADT/DenseMap.h"

#include <set>
#include <tuple>

namespace smalti::sync {

/// An access seen from somewhere else in the program, with no barrier between.
struct Item {
  unsigned buffer;
  AccessKind kind;
  Slot slot; ///< seen from there
  int footprint;
  Spaces spaces;  ///< in which no barrier lies between
  Spaces crossed; ///< in which a barrier of the program lay between
  NodeId node;    ///< the first one that was found
  /// Of the loops around the place from which it is seen, those whose iteration
  /// has to be the same for the footprint to count, and those where it is.
  uint8_t needsSame = 0, isSame = UINT8_MAX;

  auto key() const {
    return std::make_tuple(buffer, kind, slot.kind, slot.loop, slot.index,
                           footprint, spaces, crossed, needsSame, isSame);
  }
  bool operator<(const Item &other) const { return key() < other.key(); }
};

/// Stands for more accesses than anyone wants to keep apart.
inline constexpr unsigned kOverflow = ~0u;

class ItemSet {
public:
  using const_iterator = std::set<Item>::const_iterator;
  const_iterator begin() const { return items.begin(); }
  const_iterator end() const { return items.end(); }
  bool empty() const { return items.empty(); }

  void insert(const Item &item);
  void insert(const ItemSet &other);
  /// A barrier: nothing is under way in these spaces.
  void clear(Spaces spaces);
  /// The place of a barrier that was taken out.
  void cross(Spaces spaces);
  /// The same with every item changed.
  template <typename Fn> ItemSet map(Fn change) const {
    ItemSet result;
    for (Item item : items) {
      change(item);
      result.insert(item);
    }
    return result;
  }

private:
  std::set<Item> items;
};

/// Tells which accesses are hazards.
class Conflicts {
public:
  Conflicts(const Program &program, Spaces required)
      : program(program), required(required) {}

  /// The spaces in which the two need a barrier between them.
  Spaces operator()(const Item &first, const Item &second);
  /// A pair that does, the first in the order of the sets.
  std::optional<std::pair<Item, Item>> find(const ItemSet &first,
                                            const ItemSet &second);

  Spaces spacesOf(const Access &access) const {
    return program.buffers[access.buffer].spaces;
  }
  Item makeItem(const Access &access, NodeId node) const {
    return {
        access.buffer,    access.kind,           access.slot, access.footprint,
        spacesOf(access), /*crossed=*/kNoSpaces, node};
  }

private:
  bool mayOverlap(unsigned a, unsigned b);

  const Program &program;
  Spaces required;
  llvm::DenseMap<std::pair<unsigned, unsigned>, bool> overlaps;
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
