//===- Text.h - Text that a kernel prints -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TEXT_H
#define SMALTI_DIALECTS_TEXT_H

#include "llvm/Support/JSON.h"

namespace smalti {

/// Whether a kernel can print the text, and Python can read it.
inline bool isText(llvm::StringRef text) {
  return !text.contains('\0') && llvm::json::isUTF8(text);
}

} // namespace smalti

#endif // SMALTI_DIALECTS_TEXT_H
