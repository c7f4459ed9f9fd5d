//===- Table.cpp - The table of instructions ------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Runtime/Instruction.h"

#include <fnmatch.h>

using namespace smalti::emulator;

static const InstructionList *const lists[] = {
#define SMALTI_INSTRUCTION_LIST(name) &name,
#include "emulator/Instructions/Lists.def"
};

const Instruction *smalti::emulator::findInstruction(const char *name) {
  const Instruction *byPattern = nullptr;
  for (const InstructionList *list : lists)
    for (size_t i = 0; i < list->count; ++i) {
      const Instruction &entry = list->first[i];
      if (strcmp(entry.name, name) == 0)
        return &entry;
      if (!byPattern && fnmatch(entry.name, name, 0) == 0)
        byPattern = &entry;
    }
  return byPattern;
}

void smalti::emulator::forEachInstruction(void (*use)(const Instruction &,
                                                      void *),
                                          void *data) {
  for (const InstructionList *list : lists)
    for (size_t i = 0; i < list->count; ++i)
      use(list->first[i], data);
}
