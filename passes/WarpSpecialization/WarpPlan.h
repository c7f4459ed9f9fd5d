//===- WarpPlan.h - Warp-specialization plan --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of smalti-specialize-warps as data: which ops producers and
// consumers execute, the slots and the registers.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H
#define SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/WarpSpecialization/WarpEstimate.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>
#include <vector>

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// TMA loads that complete on one mbarrier, and the wgmma ops that read them.
struct CopyGroup {
  mlir::memref::AllocOp barrier;
  mosaic_gpu::InitializeBarrierOp init;
  mosaic_gpu::ArriveExpectTxOp arrive;
  mlir::SmallVector<mosaic_gpu::AsyncLoadOp> loads;
  mosaic_gpu::WaitOp wait;
  /// In program order; the slot is free after the last one.
  mlir::SmallVector<mosaic_gpu::WGMMAOp> wgmmas;
  /// The allocations that the copies fill.
  llvm::SetVector<mlir::Operation *> buffers;
  /// The wgmma may be in flight when the next one starts.
  bool isInFlight = false;
};

struct WarpPlan {
  mlir::gpu::GPUFuncOp func;
  /// Consumer and producer threads.
  int64_t threads = 0, producers = 0;
  int64_t depth = 0;
  int64_t slotBytes = 0;
  /// Why `depth` is not larger, as the end of a remark; may be empty.
  std::string limit;
  /// Estimated time per tile, with and without specialization. Without it, all
  /// threads copy and multiply in turn, with `slotsUnspecialized` slots.
  BlockTime time, timeUnspecialized;
  int64_t slotsUnspecialized = 0;
  /// 0: the roles keep the registers that they have at launch.
  int64_t producerRegisters = 0, consumerRegisters = 0;
  std::vector<CopyGroup> groups;
  /// Ops of the body that both roles need; they precede the roles.
  llvm::SetVector<mlir::Operation *> setup;
  /// The views of the copied buffers, in program order.
  llvm::SetVector<mlir::Operation *> views;
  /// Block barriers that are redundant after the transformation.
  llvm::DenseSet<mlir::Operation *> redundantBarriers;

  /// The indices of the groups whose copies are in a loop.
  llvm::DenseMap<mlir::Operation *, mlir::SmallVector<unsigned>> groupsInLoop;
  mlir::ArrayRef<unsigned> groupsIn(mlir::Operation *op) const {
    auto found = groupsInLoop.find(op);
    return found == groupsInLoop.end() ? mlir::ArrayRef<unsigned>()
                                       : mlir::ArrayRef(found->second);
  }
  /// Whether specialization is estimated to take less time.
  bool pays() const { return time.cycles < timeUnspecialized.cycles; }
};

/// The reason why a kernel is not specialized, and the op that causes it.
struct WarpRefusal {
  mlir::Operation *op;
  std::string reason;
};
/// Fills in `plan`, or returns why the kernel is not specialized.
std::optional<WarpRefusal> planWarps(mlir::gpu::GPUFuncOp func,
                                     const targets::Target &target,
                                     std::optional<int64_t> depth,
                                     WarpPlan &plan);

/// The last plan of a kernel. smalti-choose-overlap computes the plan, and
/// smalti-specialize-warps reuses it.
class WarpPlanAnalysis {
public:
  explicit WarpPlanAnalysis(mlir::Operation *) {}

  /// Plans as `planWarps` does, unless the last plan is for this target and has
  /// `depth` slots.
  std::optional<WarpRefusal> run(mlir::gpu::GPUFuncOp func,
                                 const targets::Target &target,
                                 std::optional<int64_t> depth);
  const WarpPlan &getPlan() const { return plan; }

private:
  const targets::Target *plannedFor = nullptr;
  WarpPlan plan;
};

/// Text with the estimated times of a plan.
std::string describeTimes(const WarpPlan &plan);

/// Whether the kernel has a synchronous `wgmma`.
bool hasSynchronousWgmma(mlir::gpu::GPUFuncOp func);

/// The largest value of the option `depth`.
inline constexpr int64_t kMaxWarpSlots = 16;

/// Applies the plan to the kernel.
void commitWarps(const WarpPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H
