//===- PaddedTransfers.h - Transfers that may be out of bounds --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transfer that may be out of bounds is lowered to a masked transfer or, if
// the hardware checks bounds (RawBuffers.h), to a transfer of a raw buffer. A
// plan holds all decisions; applying it cannot fail.
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

/// One dimension of a memref that a transfer accesses.
struct TransferDim {
  unsigned memref;    ///< the dimension of the memref
  unsigned vector;    ///< the dimension of the vector
  int64_t size;       ///< the size of the vector in this dimension
  bool inBounds;      ///< all lanes are in bounds
  bool mayBeNegative; ///< a lane may be before the start
};

/// Plan of a transfer through a raw buffer.
struct BufferedTransfer {
  enum class Kind {
    /// Unchanged: every lane out of bounds is past the end of the buffer.
    Whole,
    /// A read; a select replaces lanes out of bounds by the padding value.
    Select,
    /// A write, split into rows; lanes out of bounds are stored past the end.
    Rows,
  };
  Kind kind = Kind::Whole;
  BufferSource source;
  /// Kind::Whole: the dimension whose end is the end of the buffer.
  unsigned endDim = 0;
  /// A dword may contain lanes in bounds and out of bounds, so the buffer is
  /// used only if all lanes are inside.
  bool checksEnd = false;
};

struct TransferPlan {
  mlir::VectorTransferOpInterface op;
  /// In the order of the memref's dimensions.
  llvm::SmallVector<TransferDim> dims;
  std::optional<BufferedTransfer> buffer;
  /// Why a buffer is not used, if the chip supports buffers.
  std::string bufferRejectionReason;
  /// Why cp.async is not used, if the chip supports it.
  std::string cpAsyncRejectionReason;
  /// Why TMA is not used; empty if tensor maps are not enabled.
  std::string tmaRejectionReason;

  bool isRead() const;
  bool mayBeNegative() const;
};

/// Options from the chip and the user.
struct TransferOptions {
  bool hasBuffers = false;
  /// Memrefs of dynamic size fit in a raw buffer.
  bool assumesSmall = false;
};

/// Whether a lane may be before the start of the memref.
bool mayStartBeforeMemRef(mlir::VectorTransferOpInterface op,
                          const IntegerRanges &ranges);

/// Fills in the plan, or returns why the transfer is not lowered.
std::optional<std::string> planTransfer(TransferPlan &plan,
                                        const IntegerRanges &ranges,
                                        const TransferOptions &options);

/// Text of the applied remark.
std::string describeTransfer(const TransferPlan &plan);

void commitTransfer(mlir::RewriterBase &rewriter, const TransferPlan &plan,
                    RawBuffers &buffers);

/// min(max(value, 0), limit), for mask bounds and numbers of copied elements.
mlir::Value clampCount(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, int64_t limit);

/// Whether all bits of this padding value are 0.
bool isZeroBits(mlir::Value padding);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDEDTRANSFERS_H
