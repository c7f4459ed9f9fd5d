//===- Context.h - Engine interface of pure instructions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that each engine implements to execute instructions. An
// instruction whose file includes only this header is a pure function of its
// operands, its lane and the architecture, and does not need threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_CONTEXT_H
#define SMALTI_EMULATOR_INSTRUCTIONS_CONTEXT_H

#include "smalti/emulator/Instructions/Instruction.h"

namespace smalti::emulator {

/// The architecture of the executed chip as the target table names it, such as
/// "CDNA3": some instructions mean different things on two of them. Empty if
/// the engine was not given one. Equal names have equal addresses.
const char *architecture();

/// The lane of its wave that executes the instruction, in an `ofThread`.
int laneId();

/// Reports a use of the instruction that the document forbids, and does not
/// return: the emulator ends the launch, Python raises an exception.
[[noreturn]] void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/// The same in an instruction of a wave, for one of its lanes.
[[noreturn]] void failLane(const Call &call, int lane, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The same with another kind of finding than "fault", as "misaligned", "trap"
/// or "out-of-bounds".
[[noreturn]] void failAs(const char *kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_CONTEXT_H
