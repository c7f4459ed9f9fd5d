//===- AttributeNames.h - Attributes with the prefix smalti. ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_ATTRIBUTENAMES_H
#define SMALTI_PASSES_SUPPORT_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace smalti {

#define SMALTI_ATTRIBUTE(CONSTANT, NAME)                                       \
  inline constexpr llvm::StringLiteral CONSTANT = NAME;
#include "smalti/passes/Support/AttributeNames.def"

/// The names of all attributes.
inline constexpr llvm::StringLiteral kAttributeNames[] = {
#define SMALTI_ATTRIBUTE(CONSTANT, NAME) CONSTANT,
#include "smalti/passes/Support/AttributeNames.def"
};

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ATTRIBUTENAMES_H
