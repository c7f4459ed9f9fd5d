//===- KernelAttributes.h - What a kernel says about itself -----*- C++ -*-===//
//
// Attributes of the gpu.func kernels that the conversions make; the launchers
// read them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
#define SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace smalti {

/// The types of a kernel's arguments before they became pointers (array of
/// types).
inline constexpr llvm::StringLiteral kArguments = "smalti.arguments";
/// Warps of a block (i64).
inline constexpr llvm::StringLiteral kNumWarps = "smalti.num_warps";

/// On mosaic_gpu.async_copy: the bytes of one copy (i64). Windows, rows and
/// tile are multiples of it, so a copy lies wholly inside the source or wholly
/// outside.
inline constexpr llvm::StringLiteral kCopyBytes = "bytes";

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
