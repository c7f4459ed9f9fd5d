//===- SyncBuffers.h - Buffers as input of barrier placement ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_SYNCBUFFERS_H
#define SMALTI_PASSES_SYNCHRONIZATION_SYNCBUFFERS_H

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/Synchronization/SyncProgram.h"

namespace smalti {

/// The buffer of a program for roots of this alias class.
inline sync::Buffer makeSyncBuffer(const AliasClass &root) {
  constexpr RootKind kinds[] = {RootKind::Allocation, RootKind::Global,
                                RootKind::NoAliasArgument, RootKind::Argument,
                                RootKind::Other};
  auto getBit = [&](RootKind kind) {
    return uint64_t(1) << (unsigned(root.space) * std::size(kinds) +
                           unsigned(kind));
  };
  sync::Buffer buffer;
  buffer.spaces =
      root.space == MemorySpace::Shared ? sync::kShared : sync::kGlobal;
  buffer.is = getBit(root.kind);
  for (RootKind kind : kinds)
    if (mayAlias(root.kind, kind))
      buffer.meets |= getBit(kind);
  return buffer;
}

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_SYNCBUFFERS_H
