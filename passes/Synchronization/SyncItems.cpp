//===- SyncItems.cpp - Accesses that are under way ------------------------===//

#include "passes/Synchronization/SyncItems.h"

using namespace smalti::sync;

/// Sets stay this small, so that time stays in proportion to the program.
static constexpr size_t kMostItems = 384;

void ItemSet::insert(const Item &item) {
  items.insert(item);
  if (items.size() <= kMostItems)
    return;
  // Which elements threads access is given up first.
  std::set<Item> coarse;
  for (Item other : items) {
    other.footprint = kNoFootprint;
    other.needsSame = 0;
    other.isSame = UINT8_MAX;
    coarse.insert(other);
  }
  items = std::move(coarse);
  if (items.size() <= kMostItems / 2)
    return;
  NodeId node = items.begin()->node;
  items.clear();
  items.insert({kOverflow, AccessKind::Write, Slot(), kNoFootprint, kAllSpaces,
                kAllSpaces, node});
}

void ItemSet::insert(const ItemSet &other) {
  for (const Item &item : other)
    insert(item);
}

void ItemSet::clear(Spaces spaces) {
  if (spaces == kAllSpaces)
    return items.clear();
  ItemSet rest;
  for (Item item : items) {
    item.spaces &= ~spaces;
    if (item.spaces)
      rest.insert(item);
  }
  *this = std::move(rest);
}

void ItemSet::cross(Spaces spaces) {
  *this = map([&](Item &item) { item.crossed |= spaces; });
}

bool Conflicts::mayOverlap(unsigned a, unsigned b) {
  if (!program.overlap)
    return false;
  auto [it, inserted] =
      overlaps.try_emplace({std::min(a, b), std::max(a, b)}, false);
  if (inserted)
    it->second = program.overlap(a, b);
  return it->second;
}

Spaces Conflicts::operator()(const Item &first, const Item &second) {
  if (first.kind == second.kind && first.kind != AccessKind::Write)
    return kNoSpaces;
  Spaces spaces = first.spaces & second.spaces;
  if (!spaces)
    return kNoSpaces;
  if (first.buffer == kOverflow || second.buffer == kOverflow)
    return spaces;
  bool isEverything = program.buffers[first.buffer].isEverything ||
                      program.buffers[second.buffer].isEverything;
  // No one can say what unknown code does; only what was ordered stays so.
  spaces &=
      (isEverything ? kNoSpaces : required) | first.crossed | second.crossed;
  if (!spaces || isEverything)
    return spaces;
  if (first.buffer != second.buffer)
    return mayOverlap(first.buffer, second.buffer) ? spaces : kNoSpaces;
  const Slot &a = first.slot, &b = second.slot;
  if (a.kind != Slot::Kind::Any && a.kind == b.kind && a.loop == b.loop &&
      a.index != b.index)
    return kNoSpaces;
  uint8_t isSame = std::min(first.isSame, second.isSame);
  if (first.footprint != kNoFootprint && second.footprint != kNoFootprint &&
      first.needsSame <= isSame && second.needsSame <= isSame &&
      !program.footprintsMeet(first.footprint, second.footprint))
    return kNoSpaces;
  return spaces;
}

std::optional<std::pair<Item, Item>> Conflicts::find(const ItemSet &first,
                                                     const ItemSet &second) {
  for (const Item &a : first)
    for (const Item &b : second)
      if ((*this)(a, b))
        return std::pair(a, b);
  return std::nullopt;
}
