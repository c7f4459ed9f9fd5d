//===- RawBuffers.h - Memory whose bounds the hardware checks ---*- C++ -*-===//
//
// An AMD chip reads 0 past the end of a raw buffer and drops what is written
// there. It checks each dword of an access, by an offset of 32 bits from the
// buffer's begin. Buffers begin where the memref does that all views come from,
// so one descriptor serves them all, and end behind its last element.
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

/// The most bytes that lanes of one transfer may lie past a buffer's end.
inline constexpr int64_t kMostBytesPastBuffer = int64_t(1) << 20;

/// What becomes a buffer, and how the memref of a transfer is made of it.
struct BufferSource {
  mlir::Value root;
  /// Views between the root and the memref, the root's user first.
  llvm::SmallVector<mlir::Operation *> views;
  int64_t elementBytes = 0;
  /// Elements from the root's pointer up to behind its last one; nothing where
  /// that is known at run time.
  std::optional<int64_t> end;
  /// Whether the end must be compared at run time with what offsets reach.
  bool checksExtent = false;
};

/// Finds the buffer for `memref`, or the reason why it is none.
std::optional<std::string>
findBufferSource(mlir::Value memref, bool assumesSmall, BufferSource &source);

/// The largest n for which 2^n provably divides the distance of neighbours
/// along a dimension; 0 where it is not known.
unsigned log2Stride(mlir::MemRefType type, unsigned dim);

/// Whether the buffer's end is a multiple of `elements`, a power of two.
bool endsAtMultipleOf(const BufferSource &source, int64_t elements);

/// The buffers that were made so far.
class RawBuffers {
public:
  struct Buffer {
    mlir::Value memref;
    /// As BufferSource::end, of type index.
    mlir::Value end;
    /// Whether offsets reach the end; null where they do.
    mlir::Value fits;
  };

  /// The buffer of the source's root. It is made behind its definition.
  const Buffer &getRoot(mlir::RewriterBase &rewriter,
                        const BufferSource &source);
  /// `memref`, a view of the source's root, as a view of the buffer.
  mlir::Value getView(mlir::RewriterBase &rewriter, const BufferSource &source,
                      mlir::Value memref);

private:
  llvm::DenseMap<mlir::Value, Buffer> roots;
  llvm::DenseMap<mlir::Value, mlir::Value> views;
};

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_RAWBUFFERS_H
