//===- Overwrite.h - Proof that a buffer is overwritten ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer that is overwritten before it is read does not carry values into an
// iteration. The proof visits ops in program order and collects the elements
// that are certainly written. It counts whole views, and evaluates the
// addresses of stores for every thread of the block and every iteration of
// inner loops.
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
  /// The buffer has a static shape and the identity layout. If `target` is
  /// null, nothing that depends on the wave size is known.
  OverwriteProof(mlir::FunctionOpInterface function,
                 const UniformityAnalysis &uniformity,
                 const targets::Target *target, mlir::Value buffer,
                 const BufferUses &uses);

  /// Why an execution of the block is not proven to read nothing that the
  /// buffer held before; nothing if it is proven. With `mustWrite`, the whole
  /// buffer must be overwritten, read or not. Each iteration of the loops in
  /// `overwriting` is known to overwrite the buffer before it reads it.
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
  /// An op around a write that repeats it or makes it conditional.
  struct Frame {
    mlir::Operation *op;
    bool isElse;
  };
  using Active = llvm::SmallVector<bool, 64>;

  /// These return false, and set `reason`, if a read may observe earlier
  /// values.
  bool walk(mlir::Block &block, Written &written);
  bool visit(mlir::Operation *op, Written &written);
  bool visitUser(mlir::Operation *op, Written &written);
  bool visitBranch(mlir::scf::IfOp branch, Written &written);
  bool visitRegions(mlir::Operation *op, Written &written);

  /// These add the writes of an op. They return false, and record the reason,
  /// if the writes cannot be determined.
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
  bool ignoreCost(mlir::Operation *op);
  bool ignoreSize(mlir::Operation *op, int64_t numElements);
  std::string describeUnknown() const;

  mlir::FunctionOpInterface function;
  const UniformityAnalysis &uniformity;
  const targets::Target *target;
  mlir::Value buffer;
  int64_t numElements;
  /// The elements that views show, if not all.
  std::optional<llvm::BitVector> used;
  int64_t numUsed;
  llvm::DenseSet<mlir::Value> views; ///< the buffer and its views
  llvm::DenseSet<mlir::Value> addresses;
  llvm::DenseSet<mlir::Operation *> users;
  /// For each block, the users in it and the ops around users, in program
  /// order.
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> opsOf;
  llvm::ArrayRef<mlir::scf::ForOp> overwritingLoops;
  /// The block size is known, and all threads execute the block uniformly. If
  /// not, the proof considers each thread alone.
  bool isConvergent = false;
  std::optional<ThreadValues> values;
  llvm::SmallVector<Frame> frames;
  /// Whether the whole buffer was overwritten before the outermost inner loop.
  std::optional<bool> wasAllWritten;
  int64_t steps = 0;
  std::string ignored;
  std::string reason;
};

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_OVERWRITE_H
