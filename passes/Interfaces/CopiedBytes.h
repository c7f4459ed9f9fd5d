//===- CopiedBytes.h - Bytes written by descriptor copies -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_INTERFACES_COPIEDBYTES_H
#define SMALTI_PASSES_INTERFACES_COPIEDBYTES_H

#include "llvm/ADT/StringRef.h"

namespace smalti {

/// Number of bytes that a copy writes from its destination address, for copies
/// whose size is only in the descriptor.
inline constexpr llvm::StringLiteral kCopiedBytesAttr = "smalti.copied_bytes";

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_COPIEDBYTES_H
