//===- OpLowerings.h - Registry of op lowerings -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of block-level kernels does not handle any op directly. Each
// family of ops has a lowering with a planning and an emission function, which
// is registered here.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_OPLOWERINGS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_OPLOWERINGS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace mlir {
class OpBuilder;
} // namespace mlir

namespace smalti::block_to_thread {

class Emitter;
class Planner;

/// The lowering of a family of ops. Stateless: the decisions of `plan` that
/// `emit` needs are stored with Planner::setOpPlan.
class OpLowering {
public:
  virtual ~OpLowering();

  /// Decides everything, or refuses with an error at the op. The distributions
  /// of the operands are set; `plan` sets those of the results and of region
  /// arguments. Changes nothing.
  virtual mlir::LogicalResult plan(mlir::Operation *op,
                                   Planner &planner) const = 0;
  /// Called once for a kernel that has such ops, after all ops are planned.
  virtual mlir::LogicalResult planKernel(Planner &planner) const;
  /// Emits the plan and maps the results; cannot fail.
  virtual void emit(mlir::Operation *op, Emitter &emitter,
                    mlir::OpBuilder &builder) const = 0;
  /// Whether the ops support memrefs in shared memory whose layout differs from
  /// the type (tiles, swizzle). Otherwise such operands are refused.
  virtual bool acceptsTransforms() const { return false; }
  /// Whether they support memrefs in the shared memory of another block of the
  /// cluster. Otherwise such operands are refused.
  virtual bool acceptsPeers() const { return false; }
};

/// A typed lowering of one op.
template <typename OpTy> class LoweringOf : public OpLowering {
public:
  virtual mlir::LogicalResult plan(OpTy op, Planner &planner) const = 0;
  virtual void emit(OpTy op, Emitter &emitter,
                    mlir::OpBuilder &builder) const = 0;

  mlir::LogicalResult plan(mlir::Operation *op, Planner &planner) const final {
    return plan(mlir::cast<OpTy>(op), planner);
  }
  void emit(mlir::Operation *op, Emitter &emitter,
            mlir::OpBuilder &builder) const final {
    emit(mlir::cast<OpTy>(op), emitter, builder);
  }
};

/// The lowerings of a conversion, by op.
class OpLowerings {
public:
  /// Registers `Lowering` for these ops; replaces an earlier registration.
  template <typename Lowering, typename... OpTys> void add() {
    static_assert(sizeof...(OpTys) > 0, "a lowering handles at least one op");
    owned.push_back(std::make_unique<Lowering>());
    const OpLowering *lowering = owned.back().get();
    ((byOp[mlir::TypeID::get<OpTys>()] = lowering), ...);
  }

  /// Null for an op without a lowering.
  const OpLowering *find(mlir::Operation *op) const {
    return byOp.lookup(op->getName().getTypeID());
  }

private:
  llvm::SmallVector<std::unique_ptr<OpLowering>> owned;
  llvm::DenseMap<mlir::TypeID, const OpLowering *> byOp;
};

// One function per file.
void registerAsyncCopies(OpLowerings &lowerings);
void registerMbarriers(OpLowerings &lowerings);
void registerBlockBarriers(OpLowerings &lowerings);
void registerControlFlow(OpLowerings &lowerings);
void registerAtomics(OpLowerings &lowerings);
void registerElementwise(OpLowerings &lowerings);
void registerExternalCode(OpLowerings &lowerings);
void registerIndexedAccesses(OpLowerings &lowerings);
void registerMma(OpLowerings &lowerings);
void registerOpaque(OpLowerings &lowerings);
void registerReductions(OpLowerings &lowerings);
void registerRegions(OpLowerings &lowerings);
void registerRelayouts(OpLowerings &lowerings);
void registerScans(OpLowerings &lowerings);
void registerShapes(OpLowerings &lowerings);
void registerTransfers(OpLowerings &lowerings);
void registerViews(OpLowerings &lowerings);

// For NVIDIA GPUs only.
void registerPeerMemory(OpLowerings &lowerings);
void registerTensorCopies(OpLowerings &lowerings);
void registerWgmma(OpLowerings &lowerings);

/// Lowerings that are the same on every chip.
void registerCommonLowerings(OpLowerings &lowerings);

/// Lowering of element-wise ops on vectors.
const OpLowering &getElementwiseLowering();

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_OPLOWERINGS_H
