//===- BarrierSlots.h - Barrier objects with one slot an iteration --------===//
//
// Copies that complete on a barrier object overlap only where the barrier has
// slots as their buffers have. Iteration i then uses the barrier of slot i mod
// N, for the phase i / N of it: the parity that it waits for is another one.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_MULTIBUFFERING_BARRIERSLOTS_H
#define SMALTI_PASSES_MULTIBUFFERING_BARRIERSLOTS_H

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Analysis/Threads/ThreadValues.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/MultiBuffering/BufferSlots.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace smalti {

/// How barrier objects get their slots: a group of nvgpu, or a buffer that
/// holds nothing else.
struct BarrierPlan {
  mlir::Value barriers;
  /// Of a buffer.
  std::optional<BufferPlan> memory;
  mlir::Operation *op; ///< where remarks go
  mlir::scf::ForOp loop;
  /// The buffers that copies fill which complete on the barriers.
  llvm::SmallVector<mlir::Value> buffers;
  int64_t count = 0; ///< of the barriers
  int64_t depth = 0;
  /// Ops of the loop, with the number of the barrier that they work on.
  llvm::SmallVector<std::pair<BarrierObjectOpInterface, int64_t>> users;
  /// What initialises barriers that the loop uses.
  llvm::SmallVector<BarrierObjectOpInterface> inits;
  /// The loop chooses among the barriers by slots already: nothing is to do.
  bool hasSlots = false;

  /// What the barriers take in shared memory with that many slots.
  mlir::MemRefType getType(int64_t slots) const;
};

/// Plans the barrier objects of one function.
class BarrierPlanner {
public:
  /// `target` may be null: then nothing that depends on waves is known.
  BarrierPlanner(mlir::FunctionOpInterface function,
                 const UniformityAnalysis &uniformity,
                 const targets::Target *target)
      : function(function), uniformity(uniformity), ranges(function),
        values(function, target, ThreadValues::Assume::Nothing) {}

  /// Fills in the plan of `plan.barriers` for `plan.loop`, or says why there is
  /// none.
  std::optional<std::string> plan(BarrierPlan &plan);

private:
  std::optional<std::string> planGroup(BarrierPlan &plan);
  std::optional<std::string> planMemory(BarrierPlan &plan);
  std::optional<std::string> sortUsers(BarrierPlan &plan);
  std::optional<std::string>
  checkBarrier(const BarrierPlan &plan,
               llvm::ArrayRef<BarrierObjectOpInterface> users,
               llvm::ArrayRef<BarrierObjectOpInterface> inits);
  std::optional<std::string>
  checkOrder(llvm::ArrayRef<BarrierObjectOpInterface> users);
  std::optional<std::string> countArrivals(const BarrierPlan &plan,
                                           BarrierObjectOpInterface op,
                                           int64_t &arrivals);
  std::optional<int64_t>
  countExecuting(llvm::ArrayRef<std::pair<mlir::Value, bool>> conditions,
                 int64_t threads);
  std::optional<int64_t> evaluateForBlock(mlir::OpFoldResult number);

  mlir::FunctionOpInterface function;
  const UniformityAnalysis &uniformity;
  IntegerRanges ranges;
  ThreadValues values;
  /// The ops on barrier objects in the order of the program.
  llvm::DenseMap<mlir::Operation *, unsigned> order;
};

/// Gives the barriers their `plan.depth` slots.
void commitBarriers(const BarrierPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_MULTIBUFFERING_BARRIERSLOTS_H
