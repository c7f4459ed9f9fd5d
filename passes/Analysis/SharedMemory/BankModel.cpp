//===- BankModel.cpp - Bank-conflict model of shared memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/SharedMemory/BankModel.h"

#include "smalti/targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace smalti;
using namespace smalti::banks;

BankModel BankModel::get(const targets::Target &target) {
  return {target.sharedMemoryBanks, target.bankBytes, target.waveSize,
          target.wideReadOrder};
}

/// The cycles of one phase; 0 if all lanes are inactive.
static int64_t getPhaseCycles(const BankModel &model, int64_t bytes,
                              llvm::ArrayRef<int64_t> addresses) {
  llvm::SmallVector<int64_t, 128> words;
  for (int64_t address : addresses) {
    if (address == kInactive)
      continue;
    int64_t first = address / model.bankBytes,
            last = (address + bytes - 1) / model.bankBytes;
    for (int64_t word = first; word <= last; ++word)
      words.push_back(word);
  }
  llvm::sort(words);
  words.erase(llvm::unique(words), words.end());
  llvm::SmallVector<int64_t, 64> load(model.banks, 0);
  int64_t most = 0;
  for (int64_t word : words)
    most = std::max(most, ++load[word % model.banks]);
  return most;
}

/// The number of lanes of a phase.
static int64_t getPhaseLanes(const BankModel &model, int64_t bytes) {
  int64_t wordsOfLane = std::max<int64_t>(bytes / model.bankBytes, 1);
  int64_t lanes = std::min(model.banks / wordsOfLane, model.waveSize);
  return std::max<int64_t>(lanes, 1);
}

int64_t banks::getPhases(const BankModel &model, int64_t bytes, int64_t lanes) {
  return llvm::divideCeil(lanes, getPhaseLanes(model, bytes));
}

/// Calls a function with the lanes of each phase of an access of at most
/// kWidestAccess bytes, a power of two.
template <typename Function>
static void forEachPhase(const BankModel &model, int64_t bytes, bool isRead,
                         int64_t lanes, Function function) {
  int64_t together = getPhaseLanes(model, bytes);
  bool isReordered =
      isRead && bytes == kWidestAccess && !model.wideReadOrder.empty();
  llvm::SmallVector<int64_t, 64> phase;
  for (int64_t first = 0; first < model.waveSize; first += together) {
    phase.clear();
    for (int64_t i = first; i < std::min(first + together, model.waveSize);
         ++i) {
      int64_t lane = isReordered ? model.wideReadOrder[i] : i;
      if (lane < lanes)
        phase.push_back(lane);
    }
    function(phase);
  }
}

/// The cost of an access of at most kWidestAccess bytes, a power of two.
static Cost getNarrowCost(const BankModel &model, int64_t bytes, bool isRead,
                          llvm::ArrayRef<int64_t> addresses) {
  Cost cost;
  llvm::SmallVector<int64_t, 64> asked;
  forEachPhase(model, bytes, isRead, addresses.size(),
               [&](llvm::ArrayRef<int64_t> lanes) {
                 asked.clear();
                 for (int64_t lane : lanes)
                   asked.push_back(addresses[lane]);
                 int64_t cycles = getPhaseCycles(model, bytes, asked);
                 cost.cycles += cycles;
                 cost.conflicts += std::max<int64_t>(cycles - 1, 0);
               });
  return cost;
}

std::optional<Conflict> banks::findConflict(const BankModel &model,
                                            int64_t bytes, bool isRead,
                                            llvm::ArrayRef<int64_t> addresses) {
  std::optional<Conflict> found;
  llvm::SmallVector<int64_t, 64> asked;
  forEachPhase(
      model, bytes, isRead, addresses.size(),
      [&](llvm::ArrayRef<int64_t> lanes) {
        if (found)
          return;
        // The first word that is requested from each bank, and the lane that
        // requests it.
        llvm::SmallVector<int64_t, 64> word(model.banks, -1), by(model.banks);
        for (int64_t lane : lanes) {
          if (addresses[lane] == kInactive)
            continue;
          int64_t last = (addresses[lane] + bytes - 1) / model.bankBytes;
          for (int64_t i = addresses[lane] / model.bankBytes; i <= last; ++i) {
            int64_t bank = i % model.banks;
            if (word[bank] == -1) {
              word[bank] = i;
              by[bank] = lane;
            } else if (word[bank] != i && !found) {
              found = Conflict{by[bank], lane, bank, 0};
            }
          }
        }
        if (!found)
          return;
        asked.clear();
        for (int64_t lane : lanes)
          if (addresses[lane] != kInactive)
            for (int64_t i = addresses[lane] / model.bankBytes,
                         last = (addresses[lane] + bytes - 1) / model.bankBytes;
                 i <= last; ++i)
              if (i % model.banks == found->bank)
                asked.push_back(i);
        llvm::sort(asked);
        found->ways = llvm::unique(asked) - asked.begin();
      });
  return found;
}

Cost banks::getCost(const BankModel &model, int64_t bytes, bool isRead,
                    llvm::ArrayRef<int64_t> addresses) {
  Cost cost;
  llvm::SmallVector<int64_t, 64> rest(addresses);
  while (bytes > 0) {
    int64_t piece = std::min<int64_t>(
        llvm::bit_floor(static_cast<uint64_t>(bytes)), kWidestAccess);
    cost += getNarrowCost(model, piece, isRead, rest);
    bytes -= piece;
    for (int64_t &address : rest)
      if (address != kInactive)
        address += piece;
  }
  return cost;
}
