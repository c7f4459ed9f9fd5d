//===- Layout.h - Where things lie that the rewriter and the runtime share ===//
//
// The rewriter puts these numbers into kernel libraries: they are built against
// one version of this file.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_LAYOUT_H
#define SMALTI_EMULATOR_RUNTIME_LAYOUT_H

#include <cstdint>

namespace smalti::emulator {

/// Where shared memory of the running block lies, in every kernel library and
/// process: below 4 GiB, so that its addresses fit 32 bits, and where neither
/// an executable nor a sanitizer puts anything.
constexpr uint64_t sharedBaseAddress = 0x50000000;

/// The most bytes of shared memory: more than any GPU has.
constexpr uint64_t sharedCapacity = 1 << 20;

/// Blocks of a cluster have theirs one behind the other.
constexpr uint64_t maxClusterBlocks = 16;

/// Static arrays come first; dynamic shared memory begins at the next multiple
/// of this behind `smalti_emu_shared_bytes`.
constexpr uint64_t dynamicSharedAlignment = 16;

/// Bits of `smalti_emu_flags` of a kernel library.
enum KernelLibraryFlags : uint32_t {
  /// It has writable variables outside shared memory: blocks must run in one
  /// process.
  hasWritableGlobals = 1,
};

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_LAYOUT_H
