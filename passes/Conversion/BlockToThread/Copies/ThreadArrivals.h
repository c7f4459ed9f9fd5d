//===- ThreadArrivals.h - Arrivals after thread copies ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If mbarriers do not count bytes, a thread that expects the bytes of later
// copies arrives after these copies instead.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_THREADARRIVALS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_THREADARRIVALS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/KernelPlan.h"

#include "mlir/IR/Builders.h"

namespace smalti::block_to_thread {

class Emitter;
class OpLowerings;
class Planner;

/// Plan of an arrive_expect_tx.
struct ArrivalPlan : OpPlan {
  /// The last of the copies that follow, after which the thread arrives; null
  /// if none follows.
  mlir::Operation *last = nullptr;
  /// Total bytes of the copies.
  int64_t bytes = 0;
};

/// Plan of an async_load before the copy itself is planned.
struct LoadArrival : OpPlan {
  /// The op that arrives after this load; null if another load follows.
  mlir::Operation *arrival = nullptr;
};

/// For the MLIR block of an op, finds the copies that follow each
/// arrive_expect_tx on the same mbarrier. Synchronization must not occur in
/// between, because the time of the arrival would then matter. Each op gets a
/// plan, except loads without an arrive_expect_tx.
void planThreadArrivals(mlir::Operation *op, Planner &planner);

/// Arrives for an arrive_expect_tx; with `isAfterCopies`, when the previous
/// copies of the thread are complete. A lane of a warp also arrives for the
/// lanes with the same id in the other warps.
void emitArrival(mlir::Operation *arrivalOp, bool isAfterCopies,
                 Emitter &emitter, mlir::OpBuilder &builder);

/// Lowers arrive_expect_tx on mbarriers that do not count bytes.
void registerThreadArrivals(OpLowerings &lowerings);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_THREADARRIVALS_H
