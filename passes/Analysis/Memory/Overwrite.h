//===- Overwrite.h - Whether ops together overwrite a buffer ----*- C++ -*-===//
//
// A buffer that is overwritten before it is read carries nothing from before.
// The proof goes through the ops in their order and collects the elements that
// they certainly write: whole views, and what every thread of the block writes
// in every iteration of inner loops, address by address.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_OVERWRITE_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_OVERWRITE_H

#include "smalti/passes/Analysis/Memory/BufferUses.h"
#include "smalti/passes/Analysis/Threads/ThreadValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace smalti {

class UniformityAnalysis;

class OverwriteProof {
public:
  /// About one buffer with a static shape and the identity layout. `target` may
  /// be null: then nothing that depends on waves is known.
  OverwriteProof(mlir::FunctionOpInterface function,
                 const UniformityAnalysis &uniformity,
                 const targets::Target *target, mlir::Value buffer,
                 const BufferUses &uses);

  /// Why it is not shown that an execution of the block reads nothing of the
  /// buffer that was there before; nothing where it is. With `mustWrite` all of
  /// the buffer is to be overwritten as well, read or not. Loops in
  /// `overwriting` are known to read nothing from before, and to overwrite the
  /// buffer in each of their iterations.
  std::optional<std::string>
  check(mlir::Block &block, bool mustWrite,
        llvm::ArrayRef<mlir::scf::ForOp> overwriting = {});

private:
  /// The elements that are certainly overwritten.
  struct Written {
    bool all = false;
    int64_t count = 0;
    llvm::BitVector elements; ///< empty: none
  };
  /// An op around a write that repeats it or keeps threads from it.
  struct Frame {
    mlir::Operation *op;
    bool isElse;
  };
  using Active = llvm::SmallVector<bool, 64>;

  /// These return false, and set `reason`, where something is read that may
  /// have been there before.
  bool walk(mlir::Block &block, Written &written);
  bool visit(mlir::Operation *op, Written &written);
  bool visitUser(mlir::Operation *op, Written &written);
  bool visitBranch(mlir::scf::IfOp branch, Written &written);
  bool visitRegions(mlir::Operation *op, Written &written);

  /// Add what an op writes. They return false where it cannot be told, and then
  /// remember why.
  bool addWrites(mlir::Operation *op, Written &written);
  bool addWritesOfAnyElected(const Active &active, mlir::Operation *op,
                             Written &written);
  static void keepCommon(Written &written, Written other);
  bool addFrame(size_t frame, const Active &active, mlir::Operation *op,
                Written &written);
  bool addIterations(size_t frame, const Active &active, mlir::Operation *op,
                     Written &written);
  bool addWritesOfWave(mlir::Operation *op, const Active &reaching,
                       Written &written);
  bool addView(mlir::Operation *op, mlir::Value memref, const Active &active,
               Written &written);
  bool addRow(mlir::OpOperand &memref, const Active &active, Written &written);
  bool addBytes(mlir::Operation *op, mlir::Value address, const Active &active,
                Written &written);
  std::optional<Lanes> getByteOffset(mlir::Value address);
  void mark(int64_t element, Written &written) const;

  bool isKnown(mlir::Value condition);
  bool ignore(mlir::Operation *op, const llvm::Twine &why);
  std::string describeUnknown() const;

  mlir::FunctionOpInterface function;
  const UniformityAnalysis &uniformity;
  const targets::Target *target;
  mlir::Value buffer;
  int64_t numElements;
  /// The elements that views show, where that is not all.
  std::optional<llvm::BitVector> used;
  int64_t numUsed;
  llvm::DenseSet<mlir::Value> views; ///< the buffer and its views
  llvm::DenseSet<mlir::Value> addresses;
  llvm::DenseSet<mlir::Operation *> users;
  /// The users of each block and the ops around users, in order.
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> opsOf;
  llvm::ArrayRef<mlir::scf::ForOp> overwritingLoops;
  /// All threads of a block of known size execute the block alike. If not, the
  /// proof is about each thread alone.
  bool areThreadsTogether = false;
  std::optional<ThreadValues> values;
  llvm::SmallVector<Frame> frames;
  /// Whether all was overwritten where the outermost inner loop began.
  std::optional<bool> wasAllWritten;
  int64_t steps = 0;
  std::string ignored;
  std::string reason;
};

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_OVERWRITE_H
