//===- ValueFlow.h - Sources of values in a pipelined loop ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of a schedule and the expansion of the loop must agree on the
// source of each operand; both use this class.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_VALUEFLOW_H
#define SMALTI_PASSES_PIPELINING_VALUEFLOW_H

#include "smalti/passes/Pipelining/LoopSchedule.h"

namespace smalti {

/// The source of a value that an op uses in some step.
struct ValueSource {
  enum class Kind {
    Outside,   ///< loop-invariant
    Induction, ///< the induction variable
    Carried,   ///< the loop-carried value `value`, at `lag`
    Computed,  ///< the result `value` of `entry`
    Missing,   ///< no entry computes `value` in time
  };
  Kind kind;
  mlir::Value value;
  /// The value belongs to the iteration that is `lag` before that of stage 0.
  int64_t lag = 0;
  unsigned entry = 0;
};

class ValueFlow {
public:
  explicit ValueFlow(const LoopSchedule &schedule);

  /// The number of a user after all entries.
  unsigned atEnd() const { return schedule.entries.size(); }

  /// The source of `value` for the iteration that is `lag` before that of stage
  /// 0, for the entry `user`. Loop-carried values are followed to the yielded
  /// values of the previous iteration, until the lag is `lastLag`.
  ValueSource find(mlir::Value value, int64_t lag, unsigned user,
                   int64_t lastLag) const;

  /// The results of the body, its arguments and its induction variable that the
  /// entry's op uses, including nested ops.
  llvm::ArrayRef<mlir::Value> getUsed(mlir::Operation *op) const;

private:
  const LoopSchedule &schedule;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 1>> entriesOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>> used;
};

/// The values that `op`, including nested ops, uses and that `loop` computes or
/// carries.
llvm::SmallVector<mlir::Value, 4> getUsedInLoop(mlir::Operation *op,
                                                mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_VALUEFLOW_H
