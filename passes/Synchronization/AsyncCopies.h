//===- AsyncCopies.h - Completion of asynchronous copies --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H
#define SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H

namespace smalti {

class FunctionProgram;

/// Finds for every wait the copies that may be in flight there, and makes their
/// writes pending after it.
void addCompletions(FunctionProgram &program);

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H
