//===- AccessLists.h - Accesses of a loop, grouped by alias class ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses that may conflict with a given one are found without looking at
// all accesses. A list per buffer and a list per kind of buffer are sufficient,
// since buffers of the same kind have the same aliasing rules.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_ACCESSLISTS_H
#define SMALTI_PASSES_PIPELINING_ACCESSLISTS_H

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>
#include <tuple>

namespace smalti {

/// The time of an access: its stage, and its position in the kernel.
using AccessTime = std::pair<int64_t, unsigned>;

struct TimedAccess {
  const MemoryAccess *access; ///< null if only the buffer is known
  unsigned buffer;
  bool isWrite;
  AccessTime time;
  unsigned order; ///< in the original body
};

struct AccessList {
  llvm::SmallVector<const TimedAccess *> items;
  AccessTime earliest, latest;
  /// The buffer of all items, if it is the same: two roots may be one global.
  std::optional<unsigned> buffer;

  void add(const TimedAccess *access);
};

class AccessLists {
public:
  /// `buffer` identifies the buffer.
  void add(const TimedAccess *access, const AliasClass &buffer);

  /// Calls `visit` with the lists of accesses that conflict with an access to
  /// `buffer`. These are its writes, for a write also its reads, and those of
  /// other buffers that may alias it. Stops, and returns true, if `visit` does.
  bool visitConflicting(
      const AliasClass &buffer, bool isWrite,
      llvm::function_ref<bool(const AccessList &, bool isSameBuffer)> visit)
      const;

private:
  /// Reads, writes.
  std::map<std::pair<const void *, bool>, AccessList> ofBuffer;
  std::map<std::tuple<MemorySpace, RootKind, bool>, AccessList> ofKind;
};

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_ACCESSLISTS_H
