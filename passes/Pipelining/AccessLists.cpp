//===- AccessLists.cpp - Accesses of a loop, grouped by alias class -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Pipelining/AccessLists.h"

using namespace smalti;

void AccessList::add(const TimedAccess *access) {
  if (items.empty()) {
    earliest = latest = access->time;
    buffer = access->buffer;
  }
  if (buffer != access->buffer)
    buffer.reset();
  earliest = std::min(earliest, access->time);
  latest = std::max(latest, access->time);
  items.push_back(access);
}

void AccessLists::add(const TimedAccess *access, const AliasClass &buffer) {
  ofBuffer[{buffer.identity, access->isWrite}].add(access);
  ofKind[{buffer.space, buffer.kind, access->isWrite}].add(access);
}

bool AccessLists::visitConflicting(
    const AliasClass &buffer, bool isWrite,
    llvm::function_ref<bool(const AccessList &, bool)> visit) const {
  for (bool otherIsWrite : {true, false}) {
    if (!otherIsWrite && !isWrite)
      break;
    auto same = ofBuffer.find({buffer.identity, otherIsWrite});
    if (same != ofBuffer.end() && visit(same->second, /*isSameBuffer=*/true))
      return true;
    for (RootKind kind :
         {RootKind::Allocation, RootKind::Global, RootKind::NoAliasArgument,
          RootKind::Argument, RootKind::Other}) {
      if (!mayAlias(buffer.kind, kind))
        continue;
      auto others = ofKind.find({buffer.space, kind, otherIsWrite});
      if (others != ofKind.end() &&
          visit(others->second, /*isSameBuffer=*/false))
        return true;
    }
  }
  return false;
}
