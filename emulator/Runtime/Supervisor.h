//===- Supervisor.h - The processes of a launch ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_SUPERVISOR_H
#define SMALTI_EMULATOR_RUNTIME_SUPERVISOR_H

#include "smalti/emulator/Runtime/Findings.h"

namespace smalti::emulator {

/// Runs the launch described on standard input, in worker processes that share
/// the memory of the arguments. Returns the exit code.
ExitCode runLaunch();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_SUPERVISOR_H
