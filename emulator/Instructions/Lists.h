//===- Lists.h - The lists of instructions, one for each file -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_LISTS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_LISTS_H

#include "smalti/emulator/Instructions/Instruction.h"

namespace smalti::emulator {

#define SMALTI_INSTRUCTION_LIST(name) extern const InstructionList name;
#include "smalti/emulator/Instructions/Lists.def"

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_LISTS_H
