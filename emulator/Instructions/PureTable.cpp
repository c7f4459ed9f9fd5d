//===- PureTable.cpp - The table of pure instructions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A separate file, so that an executable that uses only pure instructions does
// not link those that need `Thread.h`.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Lookup.h"

using namespace smalti::emulator;

static const InstructionList *const lists[] = {
#define SMALTI_PURE_INSTRUCTION_LIST(name) &name,
#include "smalti/emulator/Instructions/Lists.def"
};

const Instruction *smalti::emulator::findPureInstruction(const char *name) {
  return findIn(lists, name);
}
