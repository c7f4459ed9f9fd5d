//===- BarrierSlots.h - Multi-buffering of mbarriers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that complete on an mbarrier overlap only if the mbarrier has slots
// like their buffers. Iteration i then uses the mbarrier of slot i mod N and
// waits for its phase i / N, so the parity of the wait changes.
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

/// The plan of one group of mbarriers: an nvgpu group, or a buffer that holds
/// only mbarriers.
struct BarrierPlan {
  mlir::Value barriers;
  /// The plan of the buffer that holds the mbarriers.
  std::optional<BufferPlan> memory;
  mlir::Operation *op; ///< the op that remarks name
  mlir::scf::ForOp loop;
  /// The buffers whose copies complete on the mbarriers.
  llvm::SmallVector<mlir::Value> buffers;
  int64_t count = 0; ///< of mbarriers
  int64_t depth = 0;
  /// Ops of the loop, with the index of the mbarrier that each uses.
  llvm::SmallVector<std::pair<BarrierObjectOpInterface, int64_t>> users;
  /// Initializations of mbarriers that the loop uses.
  llvm::SmallVector<BarrierObjectOpInterface> inits;
  /// The loop already selects the mbarriers by slot, and does not change.
  bool hasSlots = false;

  /// The type of the mbarriers in shared memory with `slots` slots.
  mlir::MemRefType getType(int64_t slots) const;
};

/// Plans the mbarriers of one function.
class BarrierPlanner {
public:
  /// If `target` is null, nothing that depends on the wave size is known.
  BarrierPlanner(mlir::FunctionOpInterface function,
                 const UniformityAnalysis &uniformity,
                 const targets::Target *target)
      : function(function), uniformity(uniformity), ranges(function),
        values(function, target, ThreadValues::Assume::Nothing) {}

  /// Completes the plan of `plan.barriers` for `plan.loop`, or returns the
  /// reason against it.
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
  /// The ops on mbarriers in program order.
  llvm::DenseMap<mlir::Operation *, unsigned> order;
};

/// Gives the mbarriers their `plan.depth` slots.
void commitBarriers(const BarrierPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_MULTIBUFFERING_BARRIERSLOTS_H
