//===- SyncItems.cpp - Sets of pending accesses ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Synchronization/SyncItems.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace smalti::sync;

/// The maximum number of different accesses of one buffer in a set, which keeps
/// the time linear.
static constexpr size_t kMaxItems = 384;

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

static bool isBefore(const Item &item, unsigned buffer) {
  return item.buffer < buffer;
}

void ItemSet::Chunk::insert(const Item &item) {
  auto it = llvm::lower_bound(items, item);
  if (it != items.end() && !(item < *it))
    return;
  items.insert(it, item);
  kinds |= 1 << unsigned(item.kind);
  spaces |= item.spaces;
  crossed |= item.crossed;
  if (items.size() > kMaxItems)
    coarsen(item.buffer);
}

/// Merges the items of a buffer with too many items: first footprints are
/// dropped, then slots.
void ItemSet::Chunk::coarsen(unsigned buffer) {
  auto begin = llvm::lower_bound(items, buffer, isBefore),
       end = std::lower_bound(begin, items.end(), buffer + 1, isBefore);
  if (size_t(end - begin) <= kMaxItems)
    return;
  std::vector<Item> coarse(begin, end);
  for (Item &item : coarse) {
    item.footprint = kNoFootprint;
    item.needsSame = 0;
    item.isSame = UINT8_MAX;
    item.isMany = true;
  }
  llvm::stable_sort(coarse);
  coarse.erase(std::unique(coarse.begin(), coarse.end(),
                           [](const Item &a, const Item &b) {
                             return a.key() == b.key();
                           }),
               coarse.end());
  if (coarse.size() > kMaxItems / 2) {
    Item all = coarse.front();
    all.kind = AccessKind::Write;
    all.slot = Slot();
    for (const Item &item : coarse) {
      all.spaces |= item.spaces;
      all.crossed |= item.crossed;
    }
    coarse.assign(1, all);
    kinds |= 1 << unsigned(all.kind);
  }
  items.insert(items.erase(begin, end), coarse.begin(), coarse.end());
}

void ItemSet::Part::insert(const Item &item) {
  if (chunk->UseCount() > 1 || cleared || crossed) {
    auto own = llvm::makeIntrusiveRefCnt<Chunk>();
    visitUntil([&](const Item &seen) {
      own->insert(seen);
      return false;
    });
    chunk = own;
    cleared = crossed = kNoSpaces;
  }
  chunk->insert(item);
}

ItemSet::Part &ItemSet::getPart(unsigned number) {
  auto it = std::lower_bound(
      parts.begin(), parts.end(), number,
      [](const Part &part, unsigned other) { return part.number < other; });
  if (it == parts.end() || it->number != number)
    it = parts.insert(it, Part(number));
  return *it;
}

const ItemSet::Part *ItemSet::findPart(unsigned number) const {
  auto it = std::lower_bound(
      parts.begin(), parts.end(), number,
      [](const Part &part, unsigned other) { return part.number < other; });
  return it != parts.end() && it->number == number ? &*it : nullptr;
}

bool ItemSet::empty() const {
  return !visitUntil([](const Item &) { return true; });
}

void ItemSet::insert(const Item &item) {
  getPart(item.buffer / kBuffersPerPart).insert(item);
}

void ItemSet::insert(const ItemSet &other) {
  if (other.parts.empty())
    return;
  std::vector<Part> merged;
  merged.reserve(parts.size() + other.parts.size());
  auto mine = parts.begin();
  for (const Part &theirs : other.parts) {
    while (mine != parts.end() && mine->number < theirs.number)
      merged.push_back(std::move(*mine++));
    if (mine == parts.end() || mine->number != theirs.number) {
      merged.push_back(theirs);
      continue;
    }
    merged.push_back(std::move(*mine++));
    Part &part = merged.back();
    // An item with more crossed barriers needs a barrier wherever the same item
    // with fewer does.
    if (part.chunk == theirs.chunk && part.cleared == theirs.cleared) {
      Spaces both = part.crossed | theirs.crossed;
      if (both == part.crossed || both == theirs.crossed) {
        part.crossed = both;
        continue;
      }
    }
    theirs.visitUntil([&](const Item &item) {
      part.insert(item);
      return false;
    });
  }
  merged.insert(merged.end(), std::make_move_iterator(mine),
                std::make_move_iterator(parts.end()));
  parts = std::move(merged);
}

void ItemSet::clear(Spaces spaces) {
  for (Part &part : parts)
    part.cleared |= spaces;
  llvm::erase_if(parts, [](const Part &part) {
    return !(part.chunk->spaces & ~part.cleared);
  });
}

void ItemSet::cross(Spaces spaces) {
  for (Part &part : parts)
    part.crossed |= spaces;
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

Conflicts::Conflicts(const Program &program, Spaces required)
    : program(program), required(required),
      partIs(program.buffers.size() / ItemSet::kBuffersPerPart + 1) {
  for (auto [i, buffer] : llvm::enumerate(program.buffers)) {
    partIs[i / ItemSet::kBuffersPerPart] |=
        buffer.isEverything ? ~uint64_t(0) : buffer.is;
    partsMeeting.try_emplace(buffer.meets);
  }
  for (auto &[meets, numbers] : partsMeeting)
    for (auto [number, is] : llvm::enumerate(partIs))
      if ((meets | kEverything) & is)
        numbers.push_back(number);
}

bool Conflicts::mayOverlap(unsigned a, unsigned b) const {
  if (!(program.buffers[a].meets & program.buffers[b].is))
    return false;
  auto [it, inserted] =
      overlaps.try_emplace({std::min(a, b), std::max(a, b)}, false);
  if (inserted)
    it->second = program.overlap(a, b);
  return it->second;
}

Spaces Conflicts::operator()(const Item &first, const Item &second) const {
  if (first.kind == second.kind && first.kind != AccessKind::Write)
    return kNoSpaces;
  Spaces spaces = first.spaces & second.spaces;
  if (!spaces)
    return kNoSpaces;
  bool isEverything = program.buffers[first.buffer].isEverything ||
                      program.buffers[second.buffer].isEverything;
  // The accesses of unknown code are not required to be ordered; only existing
  // order is preserved.
  spaces &=
      (isEverything ? kNoSpaces : required) | first.crossed | second.crossed;
  if (!spaces || isEverything)
    return spaces;
  bool isSameBuffer = first.buffer == second.buffer;
  if ((!isSameBuffer && !mayOverlap(first.buffer, second.buffer)) ||
      program.areSlotsDisjoint(first.buffer, first.slot, second.buffer,
                               second.slot))
    return kNoSpaces;
  // Footprints count elements from the start of the buffer.
  if (!isSameBuffer)
    return spaces;
  uint8_t isSame = std::min(first.isSame, second.isSame);
  if (first.footprint != kNoFootprint && second.footprint != kNoFootprint &&
      first.needsSame <= isSame && second.needsSame <= isSame &&
      !program.footprintsMeet(first.footprint, second.footprint))
    return kNoSpaces;
  return spaces;
}

/// Whether an item of the part may conflict: a fast approximation that may
/// return true too often.
bool Conflicts::mayConflict(const ItemSet::Part &part, const Item &item) const {
  const Buffer &buffer = program.buffers[item.buffer];
  const ItemSet::Chunk &chunk = *part.chunk;
  if (item.kind != AccessKind::Write && chunk.kinds == 1 << unsigned(item.kind))
    return false;
  Spaces spaces = item.spaces & chunk.spaces & ~part.cleared;
  Spaces ordered = (buffer.isEverything ? kNoSpaces : required) | item.crossed |
                   chunk.crossed | part.crossed;
  return spaces & ordered;
}

std::optional<Item> Conflicts::find(const ItemSet &set,
                                    const Item &item) const {
  std::optional<Item> found;
  auto isFound = [&](const ItemSet::Part &part) {
    return mayConflict(part, item) && part.visitUntil([&](const Item &other) {
      if ((*this)(other, item))
        found = other;
      return found.has_value();
    });
  };
  const Buffer &buffer = program.buffers[item.buffer];
  const std::vector<unsigned> &others = partsMeeting.at(buffer.meets);
  // Few parts may overlap the buffer, usually only its own.
  if (buffer.isEverything || others.size() >= set.parts.size()) {
    llvm::any_of(set.parts, isFound);
    return found;
  }
  unsigned own = item.buffer / ItemSet::kBuffersPerPart;
  bool isOwnDone = false;
  auto visit = [&](unsigned number) {
    const ItemSet::Part *part = set.findPart(number);
    return part && isFound(*part);
  };
  for (unsigned number : others) {
    if (number >= own && !std::exchange(isOwnDone, true) && visit(own))
      return found;
    if (number != own && visit(number))
      return found;
  }
  if (!isOwnDone)
    visit(own);
  return found;
}

std::optional<std::pair<Item, Item>>
Conflicts::find(const ItemSet &first, const ItemSet &second) const {
  std::optional<std::pair<Item, Item>> found;
  if (first.parts.size() <= second.parts.size()) {
    first.visitUntil([&](const Item &item) {
      if (std::optional<Item> other = find(second, item))
        found.emplace(item, *other);
      return found.has_value();
    });
    return found;
  }
  second.forEach([&](const Item &item) {
    std::optional<Item> other = find(first, item);
    if (other && (!found || *other < found->first))
      found.emplace(*other, item);
  });
  return found;
}
