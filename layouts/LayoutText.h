//===- LayoutText.h - Text of sizes in messages -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_LAYOUTS_LAYOUTTEXT_H
#define SMALTI_LAYOUTS_LAYOUTTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace smalti::layout {

/// "[8, 64]".
inline std::string listText(llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(sizes, os);
  os << "]";
  return text;
}

} // namespace smalti::layout

#endif // SMALTI_LAYOUTS_LAYOUTTEXT_H
