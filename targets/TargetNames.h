//===- TargetNames.h - Names of targets for messages ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_TARGETS_TARGETNAMES_H
#define SMALTI_TARGETS_TARGETNAMES_H

#include "smalti/targets/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace smalti::targets {

/// The names of the targets that have a property, joined by " or ".
std::string namesWith(llvm::function_ref<bool(const Target &)> hasProperty);

/// The names of the targets with tensor memory.
std::string namesWithTensorMemory();

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TARGETNAMES_H
