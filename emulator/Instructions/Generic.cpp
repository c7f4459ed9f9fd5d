//===- Generic.cpp - Intrinsics of both vendors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;

namespace {

void trap(const Call &) {
  std::string line = getLastLine();
  failAs("trap",
         "the kernel executed a trap, as a failed assertion does, or reached "
         "code marked unreachable%s%s",
         line.empty() ? "" : "; the thread printed: ", line.c_str());
}

/// A check of `smalti-expand-tile-ops`: index, size and dimension.
void checkIndex(const Call &call) {
  auto index = call.get<int64_t>(0), size = call.get<int64_t>(1);
  if (uint64_t(index) >= uint64_t(size))
    failAs("out-of-bounds",
           "the index %lld of dimension %lld is out of bounds; the size is "
           "%lld",
           static_cast<long long>(index),
           static_cast<long long>(call.get<int64_t>(2)),
           static_cast<long long>(size));
}

/// A counter that grows.
void readCounter(const Call &call) {
  static uint64_t count = 0;
  call.set<uint64_t>(count += 32);
}

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.trap", trap, nullptr, "LLVM Language Reference, \"llvm.trap\""},
    {"llvm.debugtrap", trap, nullptr, "LLVM Language Reference, \"llvm.debugtrap\""},
    {"llvm.ubsantrap", trap, nullptr, "LLVM Language Reference, \"llvm.ubsantrap\""},
    {"smalti.check_index", checkIndex, nullptr, "Smalti, `smalti-expand-tile-ops`"},
    {"llvm.readcyclecounter", readCounter, nullptr, "LLVM Language Reference, \"llvm.readcyclecounter\""},
    {"llvm.readsteadycounter", readCounter, nullptr, "LLVM Language Reference, \"llvm.readsteadycounter\""},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::generic = table;
