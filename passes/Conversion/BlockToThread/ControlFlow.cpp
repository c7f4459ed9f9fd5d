//===- ControlFlow.cpp - Loops and branches that pass on vectors ----------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Emitter.h"
#include "passes/Conversion/BlockToThread/Planner.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class ControlFlow : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

class Terminators : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

LogicalResult ControlFlow::plan(Operation *op, Planner &planner) const {
  // A carried vector has one distribution: the declared one, that of its
  // initial value, or, where that is one scalar, that of what a round yields.
  auto choose = [&](Value value, unsigned vectorIndex, Value initial,
                    Value yielded) -> LogicalResult {
    Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, vectorIndex);
    if (!layout && initial && !planner.find(initial)->isSplat()) {
      planner.shareDistribution(initial, value);
      return success();
    }
    if (!layout && yielded)
      layout = findDeclaredLayout(yielded);
    if (!layout)
      layout = mosaic_gpu::WGSplatFragLayoutAttr::get(
          op->getContext(), cast<VectorType>(value.getType()).getShape());
    if (failed(planner.setLayout(op, value, layout)))
      return failure();
    if (initial && !planner.find(initial)->isSplat() &&
        *planner.find(initial) != *planner.find(value))
      return op->emitOpError()
             << "carries a vector in layout " << planner.find(value)->str()
             << ", but its initial value is in "
             << "layout " << planner.find(initial)->str();
    return success();
  };

  unsigned vectorIndex = 0;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [initial, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      if (!isVector(result))
        continue;
      if (failed(choose(result, vectorIndex++, initial, yielded)))
        return failure();
      planner.shareDistribution(result, argument);
    }
    return planner.planBlock(*loop.getBody());
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults()) {
      if (!isVector(result))
        continue;
      Value yielded = branch.thenYield().getOperand(result.getResultNumber());
      if (!findDeclaredLayout(yielded) && branch.elseBlock())
        yielded = branch.elseYield().getOperand(result.getResultNumber());
      if (failed(choose(result, vectorIndex++, {}, yielded)))
        return failure();
    }
    if (failed(planner.planBlock(*branch.thenBlock())))
      return failure();
    return branch.elseBlock() ? planner.planBlock(*branch.elseBlock())
                              : success();
  }
  auto loop = cast<scf::WhileOp>(op);
  for (auto [initial, argument, yielded] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                       loop.getYieldOp().getResults()))
    if (isVector(argument)) {
      if (!planner.find(initial)->isSplat())
        planner.shareDistribution(initial, argument);
      else if (Attribute layout = findDeclaredLayout(yielded);
               layout && failed(planner.setLayout(op, argument, layout)))
        return failure();
      else if (!layout)
        planner.shareDistribution(initial, argument);
    }
  for (auto [passed, argument, result] :
       llvm::zip_equal(loop.getConditionOp().getArgs(),
                       loop.getAfterArguments(), loop.getResults()))
    if (isVector(result)) {
      Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, vectorIndex++);
      if (const Distribution *known = planner.find(passed); !layout && known)
        planner.shareDistribution(passed, result);
      else if (failed(choose(result, vectorIndex - 1, {}, passed)))
        return failure();
      planner.shareDistribution(result, argument);
    }
  if (failed(planner.planBlock(*loop.getBeforeBody())))
    return failure();
  return planner.planBlock(*loop.getAfterBody());
}

/// The distributions that the operands of a region terminator must have, one
/// for each operand (null for scalars).
static SmallVector<const Distribution *>
getTerminatorDistributions(const KernelPlan &plan, Operation *terminator) {
  SmallVector<const Distribution *> wanted(terminator->getNumOperands(),
                                           nullptr);
  ValueRange targets;
  unsigned first = 0;
  Operation *parent = terminator->getParentOp();
  if (isa<scf::ConditionOp>(terminator)) {
    targets = parent->getResults();
    first = 1;
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    targets = loop.getBeforeArguments();
  } else {
    targets = parent->getResults();
  }
  for (auto [index, target] : llvm::enumerate(targets))
    if (isVector(target))
      wanted[first + index] = &plan.getDistribution(target);
  return wanted;
}

LogicalResult Terminators::plan(Operation *op, Planner &planner) const {
  for (auto [operand, wanted] :
       llvm::zip_equal(op->getOperands(),
                       getTerminatorDistributions(planner.getPlan(), op))) {
    if (!wanted)
      continue;
    const Distribution &distribution = *planner.find(operand);
    if (distribution != *wanted && !distribution.isSplat())
      return op->emitOpError()
             << "passes on a vector in layout " << distribution.str()
             << " where layout " << wanted->str() << " is expected";
  }
  return success();
}

void ControlFlow::emit(Operation *op, Emitter &emitter,
                       OpBuilder &builder) const {
  const KernelPlan &plan = emitter.plan;
  SmallVector<const Distribution *> wanted(op->getNumOperands(), nullptr);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (isa<VectorType>(argument.getType()))
        wanted[loop.getNumControlOperands() + index] =
            &plan.getDistribution(argument);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments()))
      if (isa<VectorType>(argument.getType()))
        wanted[index] = &plan.getDistribution(argument);
  }
  Operation *created = emitter.expand(op, wanted, builder);

  emitter.emitRegions(op, created);
  emitter.mapExpanded(op->getResults(), created->getResults(), builder);
}

void Terminators::emit(Operation *op, Emitter &emitter,
                       OpBuilder &builder) const {
  emitter.expand(op, getTerminatorDistributions(emitter.plan, op), builder);
}

void block_to_thread::registerControlFlow(OpLowerings &lowerings) {
  lowerings.add<ControlFlow, scf::ForOp, scf::IfOp, scf::WhileOp>();
  lowerings.add<Terminators, scf::YieldOp, scf::ConditionOp>();
}
