//===- Lookup.h - Finding an instruction by its name ----------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H

#include "emulator/Instructions/Instruction.h"

#include <fnmatch.h>

namespace smalti::emulator {

/// Entries that name it without wildcards win.
template <size_t n>
const Instruction *findIn(const InstructionList *const (&lists)[n],
                          const char *name) {
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

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H
