//===- BankModel.h - Bank-conflict model of shared memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory consists of banks that each serve one word per cycle. An access
// of a wave is served in phases: each phase has as many lanes as could fill the
// banks once. A phase takes as many cycles as distinct words are requested from
// its busiest bank; lanes that request the same word share it. The model is
// pure data: byte addresses in, cycles out.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_SHAREDMEMORY_BANKMODEL_H
#define SMALTI_PASSES_ANALYSIS_SHAREDMEMORY_BANKMODEL_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::banks {

/// The widest access of a lane; wider accesses are split.
inline constexpr int64_t kWidestAccess = 16;

struct BankModel {
  int64_t banks = 0;
  int64_t bankBytes = 0;
  int64_t waveSize = 0;
  /// The order of lanes in reads of kWidestAccess bytes; empty: ascending.
  llvm::ArrayRef<int64_t> wideReadOrder;

  static BankModel get(const targets::Target &target);
  bool hasBanks() const { return banks > 0 && bankBytes > 0 && waveSize > 0; }
};

/// The address of an inactive lane.
inline constexpr int64_t kInactive = -1;

struct Cost {
  /// All cycles.
  int64_t cycles = 0;
  /// The cycles that are due to bank conflicts.
  int64_t conflicts = 0;

  Cost &operator+=(const Cost &other) {
    cycles += other.cycles;
    conflicts += other.conflicts;
    return *this;
  }
};

/// The cost of an access of one wave: lane i reads or writes `bytes` bytes at
/// `addresses[i]`. There are at most `waveSize` addresses. An access that is
/// wider than kWidestAccess, or not a power of two, is split into several.
Cost getCost(const BankModel &model, int64_t bytes, bool isRead,
             llvm::ArrayRef<int64_t> addresses);

/// The number of phases of an access by the first `lanes` lanes of a wave: its
/// cycles without bank conflicts. `bytes` as in findConflict.
int64_t getPhases(const BankModel &model, int64_t bytes, int64_t lanes);

/// Two lanes of an access with a bank conflict.
struct Conflict {
  int64_t firstLane = 0;
  int64_t secondLane = 0;
  int64_t bank = 0;
  /// The number of distinct words that the phase requests from the bank.
  int64_t ways = 0;
};

/// The first two lanes of an access with a bank conflict, if any. The access
/// has at most kWidestAccess bytes, a power of two.
std::optional<Conflict> findConflict(const BankModel &model, int64_t bytes,
                                     bool isRead,
                                     llvm::ArrayRef<int64_t> addresses);

} // namespace smalti::banks

#endif // SMALTI_PASSES_ANALYSIS_SHAREDMEMORY_BANKMODEL_H
