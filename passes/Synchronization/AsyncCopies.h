//===- AsyncCopies.h - When asynchronous copies are over --------*- C++ -*-===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H
#define SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H

namespace smalti {

class FunctionProgram;

/// Finds for every wait which copies may be in flight there, and makes their
/// writes pending behind it.
void addCompletions(FunctionProgram &program);

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_ASYNCCOPIES_H
