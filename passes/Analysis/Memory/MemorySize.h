//===- MemorySize.h - Sizes of memrefs in bytes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place that computes the bytes of a buffer in shared memory and the
// distances between elements of a memref. No computation overflows.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H

#include "smalti/passes/Support/Alignment.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace smalti {

/// The distance in bytes between elements in memory, as LLVM lays them out:
/// whole bytes for small types, a power of two for other integers and for
/// vectors. Returns nothing if it is unknown.
std::optional<int64_t> getElementBytes(mlir::Type element);

/// The bytes of a buffer of this type. Returns nothing if the shape is dynamic,
/// the layout is not the identity, the element size is unknown, or the number
/// exceeds 63 bits.
std::optional<int64_t> getBufferBytes(mlir::MemRefType type);

/// The bytes from the start of the memory to the end of its last element, for
/// any layout. Returns nothing if shape or layout is dynamic, elements precede
/// the start, or the number exceeds 63 bits.
std::optional<int64_t> getAllocatedBytes(mlir::MemRefType type);

/// The end of shared memory if a buffer of `bytes` is placed after `end`.
/// Placement and all passes that check capacity use this function. The largest
/// number if the result exceeds 63 bits.
int64_t appendBuffer(int64_t end, int64_t bytes,
                     int64_t alignment = kSharedMemoryAlignment);

/// The number of elements from the lowest to the highest address of a static
/// memref; nothing if a stride is dynamic, or the bytes exceed 63 bits. The
/// offset is not included.
std::optional<int64_t> getElementSpan(mlir::MemRefType type);

/// A memref that hardware with 31-bit buffer offsets can bounds-check: the
/// buffer ends with the longest dimension. Returns nothing if elements are
/// after that end, or precede its first element.
struct RawBuffer {
  int64_t longestDim;
  int64_t bytes;
};
std::optional<RawBuffer> getRawBuffer(mlir::MemRefType type);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H
