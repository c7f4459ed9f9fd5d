//===- PaddedTransfers.h - Reads and writes that overhang -------*- C++ -*-===//
//
// A transfer whose lanes may lie outside its memref becomes one under a mask.
// Where the hardware checks bounds (RawBuffers.h) it becomes a transfer of a
// raw buffer. What is decided about a transfer lies in its plan; making it so
// cannot fail.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_PADDEDTRANSFERS_H
#define SMALTI_PASSES_PADLOWERING_PADDEDTRANSFERS_H

#include "smalti/passes/PadLowering/RawBuffers.h"

#include "mlir/Interfaces/VectorInterfaces.h"

#include <optional>
#include <string>

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace smalti {

class IntegerRanges;

/// One dimension of a memref that a transfer runs along.
struct TransferDim {
  unsigned memref;    ///< the dimension of the memref
  unsigned vector;    ///< and of the vector
  int64_t size;       ///< the vector's length along it
  bool inBounds;      ///< no lane lies past the end, or ahead of the begin
  bool mayBeNegative; ///< some lane may lie ahead of the begin
};

/// How a transfer goes through a raw buffer.
struct BufferedTransfer {
  enum class Kind {
    /// As it is: every lane that is out of bounds lies past the buffer's end.
    Whole,
    /// A read, of whose lanes some are replaced by the padding value.
    Select,
    /// A write, row by row: what is out of bounds is moved past the end.
    Rows,
  };
  Kind kind = Kind::Whole;
  BufferSource source;
  /// The dimension whose end is the buffer's, of Kind::Whole.
  unsigned endDim = 0;
  /// A dword may hold lanes that are in bounds and others that are not: only
  /// what lies wholly inside the buffer is read through it.
  bool checksEnd = false;
};

struct TransferPlan {
  mlir::VectorTransferOpInterface op;
  /// Ordered as the memref's dimensions are, whatever the vector's order is.
  llvm::SmallVector<TransferDim> dims;
  std::optional<BufferedTransfer> buffer;
  /// Why there is none, where the chip has them.
  std::string whyNoBuffer;
  /// Why what is read is no asynchronous copy, where it could be one.
  std::string whyNoCopy;
  /// Why TMA does not copy it, where it may.
  std::string whyNoWindow;

  bool isRead() const;
  bool mayBeNegative() const;
};

/// What the chip and the user allow.
struct TransferOptions {
  bool hasBuffers = false;
  /// Memrefs of a size that is known at run time fit a raw buffer.
  bool assumesSmall = false;
};

/// Whether some lane may lie ahead of the memory.
bool mayBeginAhead(mlir::VectorTransferOpInterface op,
                   const IntegerRanges &ranges);

/// The reason why a transfer stays as it is, if it does.
std::optional<std::string> planTransfer(TransferPlan &plan,
                                        const IntegerRanges &ranges,
                                        const TransferOptions &options);

/// What is done with the transfer, in words.
std::string describeTransfer(const TransferPlan &plan);

void commitTransfer(mlir::RewriterBase &rewriter, const TransferPlan &plan,
                    RawBuffers &buffers);

/// min(max(value, 0), limit): what a mask's bound or a number of elements to
/// copy must be.
mlir::Value clampCount(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, int64_t limit);

/// Whether all bits of this padding value are 0.
bool isZeroBits(mlir::Value padding);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDEDTRANSFERS_H
