//===- Chips.h - Chip table of the vendors ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_TARGETS_CHIPS_H
#define SMALTI_TARGETS_CHIPS_H

#include "smalti/targets/Target.h"

#include <deque>
#include <utility>
#include <vector>

namespace smalti::targets {

/// Owns the chips. The deque keeps the addresses of entries, into which their
/// `mmas` and `pairedMmas` point.
class ChipTable {
public:
  void add(Target target, std::vector<MmaInstruction> mmas,
           std::vector<MmaInstruction> pairedMmas = {}) {
    Entry &entry = entries.emplace_back(
        Entry{target, std::move(mmas), std::move(pairedMmas)});
    entry.target.mmas = entry.mmas;
    entry.target.pairedMmas = entry.pairedMmas;
    order.push_back(&entry.target);
  }
  llvm::ArrayRef<const Target *> targets() const { return order; }

private:
  struct Entry {
    Target target;
    std::vector<MmaInstruction> mmas, pairedMmas;
  };
  std::deque<Entry> entries;
  std::vector<const Target *> order;
};

void addCPU(ChipTable &table);
void addNVIDIA(ChipTable &table);
void addAMD(ChipTable &table);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_CHIPS_H
