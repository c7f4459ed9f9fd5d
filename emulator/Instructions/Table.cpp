//===- Table.cpp - The table of instructions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Lookup.h"

using namespace smalti::emulator;

static const InstructionList *const lists[] = {
#define SMALTI_INSTRUCTION_LIST(name) &name,
#include "smalti/emulator/Instructions/Lists.def"
};

const Instruction *smalti::emulator::findInstruction(const char *name) {
  return findIn(lists, name);
}

void smalti::emulator::forEachInstruction(void (*use)(const Instruction &,
                                                      void *),
                                          void *data) {
  for (const InstructionList *list : lists)
    for (size_t i = 0; i < list->count; ++i)
      use(list->first[i], data);
}
