//===- PureTable.cpp - The instructions that need no threads --------------===//
//
// In a file of its own, so that who links it alone links no instruction that
// needs `Thread.h`.
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
