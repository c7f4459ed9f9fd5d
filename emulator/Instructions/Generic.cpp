//===- Generic.cpp - Intrinsics of both vendors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;

namespace {

void trap(const Call &) {
  std::string line = getLastLine();
  failAs("trap",
         "the kernel executed a trap or reached code marked unreachable%s%s",
         line.empty() ? "" : "; the thread printed: ", line.c_str());
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
    {"llvm.readcyclecounter", readCounter, nullptr, "LLVM Language Reference, \"llvm.readcyclecounter\""},
    {"llvm.readsteadycounter", readCounter, nullptr, "LLVM Language Reference, \"llvm.readsteadycounter\""},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::generic = table;
