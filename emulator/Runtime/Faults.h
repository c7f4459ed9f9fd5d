//===- Faults.h - Signals that end a worker -------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_FAULTS_H
#define SMALTI_EMULATOR_RUNTIME_FAULTS_H

namespace smalti::emulator {

/// The signal that says that the time is over.
extern const int timeoutSignal;

/// From here on a fault of the kernel, and the end of its time, is a finding.
void handleFaults();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FAULTS_H
