//===- ControlFlowLowering.cpp - Control flow that carries vectors --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/LayoutText.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class ControlFlow : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

class Terminators : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};
} // namespace

/// Forwarded shared memory may have a different offset in each iteration; its
/// layout and the alignment that accesses rely on stay the same.
static void shareRef(Value from, Value to, Planner &planner) {
  const SharedRef *ref = planner.getSharedRef(from);
  if (!ref)
    return;
  SharedRef passed = *ref;
  int64_t swizzle = ref->layout.swizzleBytes;
  int64_t needed = swizzle == 16 ? kSharedMemoryAlignment
                                 : transfers::swizzlePeriod(swizzle);
  passed.log2Alignment = std::min(ref->log2Alignment, log2Divisor(needed));
  planner.setSharedRef(to, std::move(passed));
}

LogicalResult ControlFlow::plan(Operation *op, Planner &planner) const {
  // A carried vector has one distribution: the declared one, that of its
  // initial value, or, if that is a scalar splat, that of the yielded value.
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
             << "has layout " << planner.find(value)->str()
             << " for loop-carried vector #" << vectorIndex
             << ", but its initial value has layout "
             << planner.find(initial)->str()
             << "; insert 'mosaic_gpu.layout_cast' on the initial value";
    return success();
  };

  unsigned vectorIndex = 0;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [initial, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      shareRef(initial, argument, planner);
      shareRef(initial, result, planner);
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
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    for (OpResult result : branch.getResults()) {
      if (!isVector(result))
        continue;
      Value yielded;
      for (Region &region : branch->getRegions()) {
        yielded = region.front().getTerminator()->getOperand(
            result.getResultNumber());
        if (findDeclaredLayout(yielded))
          break;
      }
      if (failed(choose(result, vectorIndex++, {}, yielded)))
        return failure();
    }
    for (Region &region : branch->getRegions())
      if (failed(planner.planBlock(region.front())))
        return failure();
    return success();
  }
  auto loop = cast<scf::WhileOp>(op);
  unsigned initialIndex = 0;
  for (auto [initial, argument, yielded] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                       loop.getYieldOp().getResults())) {
    shareRef(initial, argument, planner);
    if (isVector(argument)) {
      Attribute declared = layoutAt(op, mosaic_gpu::kInLayouts, initialIndex++);
      if (declared && planner.find(initial)->isSplat()) {
        if (failed(planner.setLayout(op, argument, declared)))
          return failure();
      } else if (!planner.find(initial)->isSplat())
        planner.shareDistribution(initial, argument);
      else if (Attribute layout = findDeclaredLayout(yielded);
               layout && failed(planner.setLayout(op, argument, layout)))
        return failure();
      else if (!layout)
        planner.shareDistribution(initial, argument);
    }
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
  // The types that the condition forwards are known now.
  for (auto [argument, result] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    shareRef(result, argument, planner);
  return planner.planBlock(*loop.getAfterBody());
}

/// The values that the operands of a region terminator are forwarded to, and
/// the index of the first forwarded operand.
static std::pair<ValueRange, unsigned> getTargets(Operation *terminator) {
  Operation *parent = terminator->getParentOp();
  if (isa<scf::ConditionOp>(terminator))
    return {parent->getResults(), 1};
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return {loop.getBeforeArguments(), 0};
  return {parent->getResults(), 0};
}

/// The required distributions of the operands of a region terminator, one per
/// operand (null for scalars).
static SmallVector<const Distribution *>
getTerminatorDistributions(const KernelPlan &plan, Operation *terminator) {
  SmallVector<const Distribution *> wanted(terminator->getNumOperands(),
                                           nullptr);
  auto [targets, first] = getTargets(terminator);
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
             << "forwards a vector in layout " << distribution.str()
             << " to a value in layout " << wanted->str()
             << "; both must be equal: insert 'mosaic_gpu.layout_cast' before "
                "this op";
  }
  auto [targets, first] = getTargets(op);
  for (auto [operand, target] :
       llvm::zip_equal(op->getOperands().drop_front(first), targets)) {
    const SharedRef *ref = planner.getSharedRef(operand),
                    *wanted = planner.getSharedRef(target);
    if (ref && !wanted) {
      shareRef(operand, target, planner);
    } else if (!ref != !wanted) {
      return op->emitOpError()
             << "forwards memory that is not proven to be shared memory, but "
                "another path forwards shared memory to the same value; use "
                "shared memory on both paths";
    } else if (ref && !ref->isStoredAs(*wanted)) {
      return op->emitOpError()
             << "forwards shared memory with layout '" << ref->str()
             << "' and strides " << layout::listText(ref->layout.strides)
             << ", but another path forwards shared memory with layout '"
             << wanted->str() << "' and strides "
             << layout::listText(wanted->layout.strides)
             << " to the same value; use the same tile, swizzle and strides on "
                "both paths";
    } else if (ref && ref->log2Alignment < wanted->log2Alignment) {
      return op->emitOpError()
             << "forwards shared memory whose address is only proven to be a "
                "multiple of "
             << (int64_t(1) << ref->log2Alignment)
             << " bytes, but the address on another path to the same value is "
                "a multiple of "
             << (int64_t(1) << wanted->log2Alignment)
             << " bytes; use offsets that are multiples of "
             << (int64_t(1) << wanted->log2Alignment) << " bytes";
    }
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
  lowerings.add<ControlFlow, scf::ForOp, scf::IfOp, scf::IndexSwitchOp,
                scf::WhileOp>();
  lowerings.add<Terminators, scf::YieldOp, scf::ConditionOp>();
}
