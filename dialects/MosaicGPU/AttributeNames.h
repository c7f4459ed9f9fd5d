//===- AttributeNames.h - Names of the smalti.* attributes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_ATTRIBUTENAMES_H
#define SMALTI_DIALECTS_MOSAICGPU_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace smalti {

#define SMALTI_ATTRIBUTE(CONSTANT, NAME)                                       \
  inline constexpr llvm::StringLiteral CONSTANT = NAME;
#include "smalti/dialects/MosaicGPU/AttributeNames.def"

/// The names of all attributes.
inline constexpr llvm::StringLiteral kAttributeNames[] = {
#define SMALTI_ATTRIBUTE(CONSTANT, NAME) CONSTANT,
#include "smalti/dialects/MosaicGPU/AttributeNames.def"
};

} // namespace smalti

#endif // SMALTI_DIALECTS_MOSAICGPU_ATTRIBUTENAMES_H
