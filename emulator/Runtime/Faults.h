//===- Faults.h - Signals as findings -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_RUNTIME_FAULTS_H
#define SMALTI_EMULATOR_RUNTIME_FAULTS_H

namespace smalti::emulator {

/// The signal for an exceeded time limit.
extern const int timeoutSignal;

/// Installs handlers that report faults of the kernel and an exceeded time
/// limit as findings.
void handleFaults();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FAULTS_H
