//===- AccessLists.h - The accesses of a loop by what they may alias ------===//
//
// Finding what one access may conflict with must not look at all others: a
// list for each buffer and one for each kind of buffer are enough, since
// buffers of the same kind alias alike.
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

/// When an access happens: the stage, and in it the place in the kernel.
using AccessTime = std::pair<int64_t, unsigned>;

struct TimedAccess {
  const MemoryAccess *access; ///< null where only the buffer is known
  unsigned buffer;
  bool isWrite;
  AccessTime time;
  unsigned order; ///< in the body of the plain loop
};

struct AccessList {
  llvm::SmallVector<const TimedAccess *> items;
  AccessTime earliest, latest;
  /// The buffer of all items, if it is one: two roots may be the same global.
  std::optional<unsigned> buffer;

  void add(const TimedAccess *access);
};

class AccessLists {
public:
  /// `buffer` tells the buffers of one identity from others.
  void add(const TimedAccess *access, const AliasClass &buffer);

  /// Calls `visit` with the lists of what conflicts with an access to `buffer`:
  /// the writes of it, for a write also the reads, and those of other buffers
  /// that may alias it. Stops, and returns true, where `visit` does.
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
