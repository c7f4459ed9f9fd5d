//===- BankModel.cpp - What accesses to shared memory cost ----------------===//

#include "passes/SharedMemory/BankModel.h"

#include "targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace smalti;
using namespace smalti::banks;

BankModel BankModel::get(const targets::Target &target) {
  return {target.sharedMemoryBanks, target.bankBytes, target.waveSize,
          target.wideReadOrder};
}

/// Cycles of the lanes of one phase; nothing where no lane takes part.
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

/// The cost of an access of at most kWidestAccess bytes, a power of two.
static Cost getNarrowCost(const BankModel &model, int64_t bytes, bool isRead,
                          llvm::ArrayRef<int64_t> addresses) {
  int64_t wordsOfLane = std::max<int64_t>(bytes / model.bankBytes, 1);
  int64_t lanes = std::min(model.banks / wordsOfLane, model.waveSize);
  lanes = std::max<int64_t>(lanes, 1);
  bool isReordered =
      isRead && bytes == kWidestAccess && !model.wideReadOrder.empty();
  Cost cost;
  llvm::SmallVector<int64_t, 64> phase;
  for (int64_t first = 0; first < model.waveSize; first += lanes) {
    phase.clear();
    for (int64_t i = first; i < std::min(first + lanes, model.waveSize); ++i) {
      int64_t lane = isReordered ? model.wideReadOrder[i] : i;
      if (lane < static_cast<int64_t>(addresses.size()))
        phase.push_back(addresses[lane]);
    }
    int64_t cycles = getPhaseCycles(model, bytes, phase);
    cost.cycles += cycles;
    cost.conflicts += std::max<int64_t>(cycles - 1, 0);
  }
  return cost;
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
