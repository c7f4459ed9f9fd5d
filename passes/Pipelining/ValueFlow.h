//===- ValueFlow.h - Where values come from in a pipelined loop -----------===//
//
// The check of a schedule and the expansion of the loop must agree on where
// each operand comes from; both ask here.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_VALUEFLOW_H
#define SMALTI_PASSES_PIPELINING_VALUEFLOW_H

#include "smalti/passes/Pipelining/LoopSchedule.h"

namespace smalti {

/// Where the value comes from that an op uses in some step.
struct ValueSource {
  enum class Kind {
    Outside,   ///< it is the same in all iterations
    Induction, ///< the induction variable
    Carried,   ///< the loop-carried value `value`, at `lag`
    Computed,  ///< the result `value` of `entry`
    Missing,   ///< no entry computes `value` in time
  };
  Kind kind;
  mlir::Value value;
  /// The iteration that the value belongs to is that of stage 0 less this.
  int64_t lag = 0;
  unsigned entry = 0;
};

class ValueFlow {
public:
  explicit ValueFlow(const LoopSchedule &schedule);

  /// Users of this number come behind every entry.
  unsigned atEnd() const { return schedule.entries.size(); }

  /// The source of `value` for the iteration `lag` behind that of stage 0, for
  /// the entry `user`. Loop-carried values are followed to what the iteration
  /// before yields, until the lag is `lastLag`.
  ValueSource find(mlir::Value value, int64_t lag, unsigned user,
                   int64_t lastLag) const;

  /// The results of the body, its arguments and its induction variable that the
  /// entry's op uses, those of nested ops included.
  llvm::ArrayRef<mlir::Value> getUsed(mlir::Operation *op) const;

private:
  const LoopSchedule &schedule;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 1>> entriesOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>> used;
};

/// The values that `op`, nested ops included, uses and that `loop` computes or
/// carries.
llvm::SmallVector<mlir::Value, 4> getUsedInLoop(mlir::Operation *op,
                                                mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_VALUEFLOW_H
