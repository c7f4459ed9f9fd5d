//===- CacheHints.h - Cache hints of accesses -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_CACHEHINTS_H
#define SMALTI_PASSES_SUPPORT_CACHEHINTS_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"

#include "llvm/ADT/StringRef.h"

namespace smalti {

/// Whether the hint states that the data is not accessed again soon.
inline bool isNontemporal(llvm::StringRef hint) {
  return hint == "cs" || hint == "evict_first" || hint == "no_allocate";
}

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_CACHEHINTS_H
