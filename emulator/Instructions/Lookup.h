//===- Lookup.h - Finding an instruction by its name ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H

#include "smalti/emulator/Instructions/Instruction.h"

#include <fnmatch.h>

namespace smalti::emulator {

/// Entries that name it without wildcards win.
template <size_t n>
const Instruction *findIn(const InstructionList *const (&lists)[n],
                          const char *name) {
  for (const InstructionList *list : lists)
    for (size_t i = 0; i < list->count; ++i)
      if (strcmp(list->first[i].name, name) == 0)
        return &list->first[i];
  for (const InstructionList *list : lists)
    for (size_t i = 0; i < list->count; ++i)
      if (fnmatch(list->first[i].name, name, 0) == 0)
        return &list->first[i];
  return nullptr;
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_LOOKUP_H
