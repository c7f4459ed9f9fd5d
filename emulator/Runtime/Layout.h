//===- Layout.h - Constants shared by rewriter and runtime ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriter embeds these numbers in kernel libraries, so both must be built
// with the same version of this file.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_LAYOUT_H
#define SMALTI_EMULATOR_RUNTIME_LAYOUT_H

#include <cstdint>

namespace smalti::emulator {

/// The address of shared memory of the running block, in every kernel library
/// and process. It is below 4 GiB, so that addresses fit in 32 bits.
/// Executables and sanitizers do not use this range.
constexpr uint64_t sharedBaseAddress = 0x50000000;

/// The maximum size of shared memory: more than on any GPU.
constexpr uint64_t sharedCapacity = 1 << 20;

/// The shared memories of the blocks of a cluster are contiguous.
constexpr uint64_t maxClusterBlocks = 16;

/// Static arrays come first; dynamic shared memory begins after
/// `smalti_emu_shared_bytes`, at the next multiple of this number.
constexpr uint64_t dynamicSharedAlignment = 16;

/// Bits of `smalti_emu_flags` of a kernel library.
enum KernelLibraryFlags : uint32_t {
  /// It has writable variables outside shared memory: blocks must run in one
  /// process.
  hasWritableGlobals = 1,
};

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_LAYOUT_H
