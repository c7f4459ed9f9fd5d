//===- BankModel.h - What accesses to shared memory cost ------------------===//
//
// Shared memory is made of banks that serve one word a cycle each. An access of
// a wave is served in phases: as many lanes at a time as could fill the banks
// once. A phase takes as many cycles as the words that are asked of its busiest
// bank; lanes that ask for the same word share it. Pure data: byte addresses
// in, cycles out.
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

/// The widest access of a lane; wider ones are several.
inline constexpr int64_t kWidestAccess = 16;

struct BankModel {
  int64_t banks = 0;
  int64_t bankBytes = 0;
  int64_t waveSize = 0;
  /// The lanes as reads of kWidestAccess bytes are served; empty: in order.
  llvm::ArrayRef<int64_t> wideReadOrder;

  static BankModel get(const targets::Target &target);
  bool hasBanks() const { return banks > 0 && bankBytes > 0 && waveSize > 0; }
};

/// The address of a lane that takes no part in an access.
inline constexpr int64_t kInactive = -1;

struct Cost {
  /// Cycles in all.
  int64_t cycles = 0;
  /// Those that are there because lanes of a phase wait for one another.
  int64_t conflicts = 0;

  Cost &operator+=(const Cost &other) {
    cycles += other.cycles;
    conflicts += other.conflicts;
    return *this;
  }
};

/// The cost of an access of one wave: lane i reads or writes `bytes` bytes from
/// `addresses[i]` on. There are at most `waveSize` addresses. What is wider
/// than kWidestAccess, or no power of two, is a sequence of accesses.
Cost getCost(const BankModel &model, int64_t bytes, bool isRead,
             llvm::ArrayRef<int64_t> addresses);

/// How many phases serve an access in which the first `lanes` lanes of a wave
/// take part: its cycles if none waits for another. `bytes` as of findConflict.
int64_t getPhases(const BankModel &model, int64_t bytes, int64_t lanes);

/// Two lanes of an access that wait for one another.
struct Conflict {
  int64_t firstLane = 0;
  int64_t secondLane = 0;
  int64_t bank = 0;
  /// Words that the lanes of the phase ask the bank for.
  int64_t ways = 0;
};

/// The first lanes of an access that wait for one another, if any do; of the
/// access that `getCost` costs, at most kWidestAccess bytes and a power of two.
std::optional<Conflict> findConflict(const BankModel &model, int64_t bytes,
                                     bool isRead,
                                     llvm::ArrayRef<int64_t> addresses);

} // namespace smalti::banks

#endif // SMALTI_PASSES_ANALYSIS_SHAREDMEMORY_BANKMODEL_H
