//===- OpLowerings.h - How each op becomes one of a thread ------*- C++ -*-===//
//
// The conversion of block programs knows no op itself. A family of ops brings
// its two halves, the decision and the emission, and registers them here.
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

/// How the ops of a family are lowered. Stateless: what `plan` decides and
/// `emit` needs is kept with Planner::setOpPlan.
class OpLowering {
public:
  virtual ~OpLowering();

  /// Decides everything, or refuses with an error at the op. The distributions
  /// of the operands are known; those of the results, and of the arguments of
  /// regions, are to be set. Changes nothing.
  virtual mlir::LogicalResult plan(mlir::Operation *op,
                                   Planner &planner) const = 0;
  /// Called once for a kernel that has such ops, after all ops were planned.
  virtual mlir::LogicalResult planKernel(Planner &planner) const;
  /// Emits what the plan says and maps the results; cannot fail.
  virtual void emit(mlir::Operation *op, Emitter &emitter,
                    mlir::OpBuilder &builder) const = 0;
  /// Whether the ops understand memrefs in shared memory whose elements do not
  /// lie as the type says (tiles, swizzle). Of others they are refused.
  virtual bool acceptsTransforms() const { return false; }
  /// Whether they understand memrefs in the shared memory of another block of
  /// the cluster. Of others they are refused.
  virtual bool acceptsPeers() const { return false; }
};

/// A lowering of one op, with its type.
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
  /// `Lowering` lowers these ops; it replaces what was registered for them.
  template <typename Lowering, typename... OpTys> void add() {
    static_assert(sizeof...(OpTys) > 0, "a lowering handles at least one op");
    owned.push_back(std::make_unique<Lowering>());
    const OpLowering *lowering = owned.back().get();
    ((byOp[mlir::TypeID::get<OpTys>()] = lowering), ...);
  }

  /// Null for an op that has none of its own.
  const OpLowering *find(mlir::Operation *op) const {
    return byOp.lookup(op->getName().getTypeID());
  }

private:
  llvm::SmallVector<std::unique_ptr<OpLowering>> owned;
  llvm::DenseMap<mlir::TypeID, const OpLowering *> byOp;
};

// One function a file.
void registerAsyncCopies(OpLowerings &lowerings);
void registerBarrierObjects(OpLowerings &lowerings);
void registerBlockBarriers(OpLowerings &lowerings);
void registerControlFlow(OpLowerings &lowerings);
void registerElementwise(OpLowerings &lowerings);
void registerMma(OpLowerings &lowerings);
void registerOpaque(OpLowerings &lowerings);
void registerRegions(OpLowerings &lowerings);
void registerRelayouts(OpLowerings &lowerings);
void registerShapes(OpLowerings &lowerings);
void registerTransfers(OpLowerings &lowerings);
void registerViews(OpLowerings &lowerings);

// Of NVIDIA's chips alone.
void registerPeerMemory(OpLowerings &lowerings);
void registerTensorCopies(OpLowerings &lowerings);
void registerWgmma(OpLowerings &lowerings);

/// Those that are the same on every chip.
void registerCommonLowerings(OpLowerings &lowerings);

/// Of ops on vectors that work element by element, whatever they are.
const OpLowering &getElementwiseLowering();

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_OPLOWERINGS_H
