//===- PaddedCopies.h - cp.async copies with zero fill ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A padded read of global memory whose result the same thread writes to shared
// memory can be lowered to cp.async, which reads fewer bytes than it writes and
// fills the rest with zeros. It does not need registers for the data.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_PADDEDCOPIES_H
#define SMALTI_PASSES_PADLOWERING_PADDEDCOPIES_H

#include "smalti/passes/Analysis/Memory/BufferAliasing.h"
#include "smalti/passes/PadLowering/PaddedTransfers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// A read and the write of its result.
struct CopyPlan {
  mlir::vector::TransferReadOp read;
  mlir::vector::TransferWriteOp write;
  /// The dimensions of the read.
  llvm::SmallVector<TransferDim> dims;
  /// Why TMA is not used; empty if tensor maps are not enabled.
  std::string tmaRejectionReason;
  /// Size of one copy; a row may need several copies.
  int64_t bytes = 0;
  int64_t elements = 0;
};

/// The ops of an MLIR block that prevent moving a read to its write.
class MoveHazards {
public:
  explicit MoveHazards(mlir::Operation *function)
      : aliasing(makeAliasAnalysis(function)) {}

  /// Why `read` cannot be moved to `write`, a later op of the block.
  std::optional<std::string> find(mlir::Operation *read,
                                  mlir::Operation *write);

private:
  struct Hazard {
    unsigned position;
    mlir::Operation *op;
    /// The roots that it writes; empty: it may write any memory.
    llvm::SmallVector<mlir::Value> roots;
  };
  void scan(mlir::Block *block);

  mlir::AliasAnalysis aliasing;
  llvm::DenseMap<mlir::Block *, std::vector<Hazard>> hazards;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
};

/// Whether the chip has cp.async.
bool hasZeroFillCopies(const targets::Target *target);

/// The write to shared memory that is the only use of the read, or null.
mlir::vector::TransferWriteOp getSharedWrite(mlir::vector::TransferReadOp read);

/// The read of shared memory whose only use is the write to global memory, or
/// null.
mlir::vector::TransferReadOp getSharedRead(mlir::vector::TransferWriteOp write);

/// Log2 of the proven alignment in bytes of the first element of a window.
unsigned log2WindowAlignment(mlir::VectorTransferOpInterface op);

/// Checks that the pair copies to shared memory, with zeros out of bounds.
/// Returns a reason otherwise.
std::optional<std::string> checkCopiedPair(mlir::vector::TransferReadOp read,
                                           mlir::vector::TransferWriteOp write);

/// Checks that the pair copies shared memory to global memory, up to the
/// bounds. Returns a reason otherwise.
std::optional<std::string> checkStoredPair(mlir::vector::TransferReadOp read,
                                           mlir::vector::TransferWriteOp write);

/// Fills in the plan, or returns why cp.async is not used.
std::optional<std::string>
planCopy(CopyPlan &plan, const targets::Target &target, MoveHazards &hazards);

/// Text of the applied remark.
std::string describeCopy(const CopyPlan &plan);

/// Creates the copies, and waits before each op that may access the memory that
/// they read or write.
void commitCopies(mlir::RewriterBase &rewriter, llvm::ArrayRef<CopyPlan> plans);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDEDCOPIES_H
