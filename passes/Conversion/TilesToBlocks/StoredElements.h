//===- StoredElements.h - Types of elements in memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_STOREDELEMENTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_STOREDELEMENTS_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace smalti {

/// The type in memory of an element that is not a whole number of bytes, or
/// index.
mlir::Type getBufferElement(mlir::Type element);

/// Whether an argument of the kernel has elements that memory stores as
/// integers: i1 and floats of 6 bits in a byte each, and index in 64 bits.
/// Packed elements remain.
bool hasStoredElements(triton_xla::EntryFuncOp func);

/// Changes these arguments to integers, and converts the tiles and scalars that
/// the kernel reads and writes. The attribute kArguments keeps the types of the
/// arguments.
void convertStoredElements(triton_xla::EntryFuncOp func);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_STOREDELEMENTS_H
