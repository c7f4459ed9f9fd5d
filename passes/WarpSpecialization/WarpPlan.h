//===- WarpPlan.h - Which warps copy and which multiply ---------*- C++ -*-===//
//
// Everything that smalti-specialize-warps decides, as data.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H
#define SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H

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

/// Copies that complete on one barrier, and what reads them.
struct CopyGroup {
  mlir::memref::AllocOp barrier;
  mosaic_gpu::InitializeBarrierOp init;
  mosaic_gpu::ArriveExpectTxOp arrive;
  mlir::SmallVector<mosaic_gpu::AsyncLoadOp> loads;
  mosaic_gpu::WaitOp wait;
  /// In the order of the block; the slot is free behind the last one.
  mlir::SmallVector<mosaic_gpu::WGMMAOp> products;
  /// What the copies fill.
  llvm::SetVector<mlir::Operation *> buffers;
  /// The product stays in flight while the next one starts.
  bool isInFlight = false;
};

struct WarpPlan {
  mlir::gpu::GPUFuncOp func;
  /// Those that multiply, and those that copy.
  int64_t threads = 0, producers = 0;
  int64_t depth = 0;
  int64_t slotBytes = 0;
  /// What kept it from more slots, where it was chosen.
  std::string limit;
  /// What a unit takes for a tile, and what it would take if all threads copied
  /// and multiplied in turn, with so many slots.
  BlockTime time, timeInTurn;
  int64_t slotsInTurn = 0;
  /// 0: registers stay as they are.
  int64_t producerRegisters = 0, consumerRegisters = 0;
  std::vector<CopyGroup> groups;
  /// Ops of the body that both roles need, ahead of the roles.
  llvm::SetVector<mlir::Operation *> setup;
  /// The views of the filled buffers, in the order of the program.
  llvm::SetVector<mlir::Operation *> views;
  /// Barriers of the block that the roles make needless.
  llvm::DenseSet<mlir::Operation *> needlessBarriers;

  /// The groups whose copies stand in a loop, by number.
  llvm::DenseMap<mlir::Operation *, mlir::SmallVector<unsigned>> groupsInLoop;
  mlir::ArrayRef<unsigned> groupsIn(mlir::Operation *op) const {
    auto found = groupsInLoop.find(op);
    return found == groupsInLoop.end() ? mlir::ArrayRef<unsigned>()
                                       : mlir::ArrayRef(found->second);
  }
  /// Whether the estimate says that it takes less time.
  bool pays() const { return time.cycles < timeInTurn.cycles; }
};

/// Fills in the plan, or says why the kernel stays as it is, and at which op.
struct WarpRefusal {
  mlir::Operation *op;
  std::string reason;
};
std::optional<WarpRefusal> planWarps(mlir::gpu::GPUFuncOp func,
                                     const targets::Target &target,
                                     std::optional<int64_t> depth,
                                     WarpPlan &plan);

/// The last plan of a kernel. The pass that decides whether to specialize the
/// kernel keeps it, so that the pass that does so need not plan again.
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

/// The estimate of a plan, in words.
std::string describeTimes(const WarpPlan &plan);

/// Whether the kernel has a synchronous `wgmma`, for whose operands warps of
/// their own may copy.
bool hasSynchronousWgmma(mlir::gpu::GPUFuncOp func);

/// Whether warps of their own copy (BoolAttr), on a kernel.
inline constexpr llvm::StringLiteral kSpecializeAttr = "smalti.specialize";
/// More slots than any chip has a use for only make code.
inline constexpr int64_t kMostWarpSlots = 16;

/// Carries the plan out.
void commitWarps(const WarpPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_WARPSPECIALIZATION_WARPPLAN_H
