//===- Text.h - Words of messages -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TEXT_H
#define SMALTI_TARGETS_TEXT_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace smalti {

/// A number with its noun: "1 dimension", "2 dimensions".
inline std::string counted(int64_t number, llvm::StringRef noun,
                           llvm::StringRef plural = "") {
  if (number == 1)
    return ("1 " + noun).str();
  return (llvm::Twine(number) + " " +
          (plural.empty() ? noun + "s" : llvm::Twine(plural)))
      .str();
}

} // namespace smalti

#endif // SMALTI_TARGETS_TEXT_H
