//===- PackedMemory.h - Elements that share bytes of memory -----*- C++ -*-===//
//
// Elements of 2 and 4 bits are packed in memory: the first of a byte is in its
// low bits. i1 is not: its place in memory depends on who accesses it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace smalti {

/// The bits of an element that shares bytes with others; 0 for other types.
int64_t getPackedBits(mlir::Type element);

/// The largest n for which 2^n provably divides the number of elements between
/// an address that is aligned to more than any access and the first element of
/// a packed memref. Arguments of a kernel are aligned as kArgumentAlignment
/// states.
unsigned log2PackedStart(mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_PACKEDMEMORY_H
