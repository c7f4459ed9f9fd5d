//===- Passes.h - Smalti's passes -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_PASSES_H
#define SMALTI_PASSES_PASSES_H

namespace smalti {

/// Registers every pass and pipeline of Smalti.
void registerPasses();

} // namespace smalti

#endif // SMALTI_PASSES_PASSES_H
