//===- Announcements.h - Which copies a barrier waits for -------*- C++ -*-===//
//
// Where barriers do not count bytes, a thread that announces the bytes of
// copies to come must arrive behind them instead.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ANNOUNCEMENTS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ANNOUNCEMENTS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/KernelPlan.h"

#include "mlir/IR/Builders.h"

namespace smalti::block_to_thread {

class Emitter;
class OpLowerings;
class Planner;

/// Of an arrive_expect_tx.
struct Announcement : OpPlan {
  /// The last of the copies that follow, behind which it arrives; null: none
  /// follow.
  mlir::Operation *last = nullptr;
  /// Of all of them.
  int64_t bytes = 0;
};

/// Of an async_load, until it has a plan.
struct AnnouncedLoad : OpPlan {
  /// What arrives behind this load; null where another load follows.
  mlir::Operation *arrival = nullptr;
};

/// Finds, for all of the block that an op is in, the copies that follow each
/// announcement to the same barrier: with nothing in between that may order
/// threads, as then it matters when it arrives. Each gets a plan, but loads
/// that nothing announces.
void planAnnouncements(mlir::Operation *op, Planner &planner);

/// Arrives for an announcement; with `isBehindCopies` when the copies of the
/// thread so far are done. A lane of a warp arrives for its like in the others.
void emitArrival(mlir::Operation *announcement, bool isBehindCopies,
                 Emitter &emitter, mlir::OpBuilder &builder);

/// Of arrive_expect_tx, instead of that of barriers that count bytes.
void registerAnnouncements(OpLowerings &lowerings);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ANNOUNCEMENTS_H
