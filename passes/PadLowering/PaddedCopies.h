//===- PaddedCopies.h - Copies that fill in zeros ---------------*- C++ -*-===//
//
// A padded read of global memory that is written to shared memory as it is, by
// the same thread, needs no registers where the chip has asynchronous copies
// that read less than they write and fill the rest with zeros (cp.async).
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

/// A read and the write of what was read.
struct CopyPlan {
  mlir::vector::TransferReadOp read;
  mlir::vector::TransferWriteOp write;
  /// The read's.
  llvm::SmallVector<TransferDim> dims;
  /// Why TMA does not copy it, where it may.
  std::string whyNoWindow;
  /// How many bytes each copy takes; a row may be several.
  int64_t bytes = 0;
  int64_t elements = 0;
};

/// The ops between which a read can be moved to its write, of one block.
class MoveHazards {
public:
  explicit MoveHazards(mlir::Operation *function)
      : aliasing(makeAliasAnalysis(function)) {}

  /// Why what `read` reads may not be read at `write`, a later op of the block.
  std::optional<std::string> find(mlir::Operation *read,
                                  mlir::Operation *write);

private:
  struct Hazard {
    unsigned position;
    mlir::Operation *op;
    /// The roots that it writes; empty: it may write anything.
    llvm::SmallVector<mlir::Value> roots;
  };
  void scan(mlir::Block *block);

  mlir::AliasAnalysis aliasing;
  llvm::DenseMap<mlir::Block *, std::vector<Hazard>> hazards;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
};

/// Whether the chip has such copies.
bool hasZeroFillCopies(const targets::Target *target);

/// Whether the read is a candidate at all: written to shared memory, and used
/// by nothing else.
mlir::vector::TransferWriteOp getSharedWrite(mlir::vector::TransferReadOp read);

/// The read of shared memory that a write to global memory is the only use of.
mlir::vector::TransferReadOp getSharedRead(mlir::vector::TransferWriteOp write);

/// The power of two that divides the address, in bytes, of a window's first
/// element.
unsigned log2WindowAlignment(mlir::VectorTransferOpInterface op);

/// Why what is read is not written to shared memory as it is, with zeros for
/// what is out of bounds, if it is not.
std::optional<std::string> checkCopiedPair(mlir::vector::TransferReadOp read,
                                           mlir::vector::TransferWriteOp write);

/// Why what is read of shared memory is not written to global memory as it is,
/// up to the bounds there, if it is not.
std::optional<std::string> checkStoredPair(mlir::vector::TransferReadOp read,
                                           mlir::vector::TransferWriteOp write);

/// The reason why read and write stay apart, if they do.
std::optional<std::string>
planCopy(CopyPlan &plan, const targets::Target &target, MoveHazards &hazards);

/// What is done, in words.
std::string describeCopy(const CopyPlan &plan);

/// Makes the copies, and waits for them ahead of whatever may touch what they
/// read or write.
void commitCopies(mlir::RewriterBase &rewriter, llvm::ArrayRef<CopyPlan> plans);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_PADDEDCOPIES_H
