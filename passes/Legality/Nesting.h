//===- Nesting.h - Depth of brackets in the text of a module ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LEGALITY_NESTING_H
#define SMALTI_PASSES_LEGALITY_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace smalti {

/// The error message for text whose brackets are nested so deeply that the
/// stack of MLIR's recursive parser may overflow. Bytecode is not checked.
std::optional<std::string> checkNesting(llvm::StringRef text);

} // namespace smalti

#endif // SMALTI_PASSES_LEGALITY_NESTING_H
