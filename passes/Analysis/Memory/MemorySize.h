//===- MemorySize.h - What memrefs take in memory ---------------*- C++ -*-===//
//
// The one place that says how many bytes a buffer in shared memory takes and
// how far the elements of a memref lie apart; nothing in it overflows.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H

#include "smalti/passes/Support/Alignment.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace smalti {

/// Bytes from one element to the next in memory, as LLVM lays them out: whole
/// bytes for what is smaller, a power of two for other integers and for
/// vectors. Nothing where they are not known.
std::optional<int64_t> getElementBytes(mlir::Type element);

/// Bytes of a buffer of this type; nothing where the shape is dynamic, the
/// layout is not the identity, elements have no known size, or 63 bits do not
/// hold the number.
std::optional<int64_t> getBufferBytes(mlir::MemRefType type);

/// Bytes that memory of this type takes, from its begin to the end of its last
/// element, whatever its layout; nothing where shape or layout is dynamic,
/// elements lie before the begin, or 63 bits do not hold the number.
std::optional<int64_t> getAllocatedBytes(mlir::MemRefType type);

/// Where shared memory ends once a buffer of `bytes` follows what ends at
/// `end`: how buffers are placed, and so how passes that ask whether buffers
/// will fit must count. The largest number where 63 bits do not hold it.
int64_t appendBuffer(int64_t end, int64_t bytes,
                     int64_t alignment = kSharedMemoryAlignment);

/// The elements from the first of a static memref up to behind its last one;
/// nothing where a stride is dynamic or negative, or 63 bits do not hold the
/// bytes. The offset is not part of it.
std::optional<int64_t> getElementSpan(mlir::MemRefType type);

/// The dimension that a bounds check by buffer hardware ends with, for a memref
/// whose elements a buffer of 31-bit offsets holds: the buffer is as long as
/// the longest dimension, and `span` of that dimension is exactly its end.
/// Nothing where elements lie behind that end, or the buffer does not start
/// with the first element.
struct RawBuffer {
  int64_t longestDim;
  int64_t bytes;
};
std::optional<RawBuffer> getRawBuffer(mlir::MemRefType type);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYSIZE_H
