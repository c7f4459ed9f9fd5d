//===- RawBuffers.h - Raw buffers with bounds checks ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On AMD, loads past the end of a raw buffer return 0 and stores are dropped.
// The hardware checks each dword of an access by its 32-bit offset from the
// start of the buffer. A buffer starts at the root memref, so that one
// descriptor serves all of its views, and ends after the last element.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_RAWBUFFERS_H
#define SMALTI_PASSES_PADLOWERING_RAWBUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace smalti {

/// Maximum distance in bytes of a lane past the end of a buffer.
inline constexpr int64_t kMaxBytesPastBuffer = int64_t(1) << 20;

/// The root memref of a buffer, and the views from it to the memref of a
/// transfer.
struct BufferSource {
  mlir::Value root;
  /// Views from the root to the memref, in order.
  llvm::SmallVector<mlir::Operation *> views;
  int64_t elementBytes = 0;
  /// Elements from the root's pointer to the end of the last element;
  /// std::nullopt if it is dynamic.
  std::optional<int64_t> end;
  /// Whether the size must be checked at run time.
  bool checksExtent = false;
};

/// Finds the buffer for `memref`, or returns why a buffer is not used.
std::optional<std::string>
findBufferSource(mlir::Value memref, bool assumesSmall, BufferSource &source);

/// The largest n for which 2^n is proven to divide the stride of a dimension; 0
/// if the stride is dynamic.
unsigned log2Stride(mlir::MemRefType type, unsigned dim);

/// Whether the end of the buffer is a multiple of `elements`, a power of two.
bool endsAtMultipleOf(const BufferSource &source, int64_t elements);

/// The created buffers.
class RawBuffers {
public:
  struct Buffer {
    mlir::Value memref;
    /// BufferSource::end as an index value.
    mlir::Value end;
    /// i1: whether the size is supported; null if it always is.
    mlir::Value fits;
  };

  /// The buffer of the source's root, created after its definition.
  const Buffer &getRoot(mlir::RewriterBase &rewriter,
                        const BufferSource &source);
  /// Recreates `memref`, a view of the source's root, as a view of the buffer.
  mlir::Value getView(mlir::RewriterBase &rewriter, const BufferSource &source,
                      mlir::Value memref);

private:
  llvm::DenseMap<mlir::Value, Buffer> roots;
  llvm::DenseMap<mlir::Value, mlir::Value> views;
};

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_RAWBUFFERS_H
