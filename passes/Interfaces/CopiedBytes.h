//===- CopiedBytes.h - What copies by a descriptor write --------*- C++ -*-===//

#ifndef SMALTI_PASSES_INTERFACES_COPIEDBYTES_H
#define SMALTI_PASSES_INTERFACES_COPIEDBYTES_H

#include "llvm/ADT/StringRef.h"

namespace smalti {

/// How many bytes from its destination on a copy writes whose descriptor alone
/// says that.
inline constexpr llvm::StringLiteral kCopiedBytesAttr = "smalti.copied_bytes";

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_COPIEDBYTES_H
