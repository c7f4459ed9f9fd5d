//===- PackedMemory.h - Elements that share bytes ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of 2 and 4 bits are packed in memory. The first element is in the
// low bits of its byte. Elements of type i1 and floats of 6 bits are not
// packed: in a tile-level kernel, each has a byte. At lower levels, the size of
// an i1 in memory depends on the op that accesses it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace smalti {

/// The bits of an element that shares bytes with others; 0 for other types.
int64_t getPackedBits(mlir::Type element);

/// The largest n for which 2^n provably divides the number of elements between
/// an address with more than any access's alignment and the first element of a
/// packed memref. Kernel arguments have the alignment kArgumentAlignment.
unsigned log2PackedStart(mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H
