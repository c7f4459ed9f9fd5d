//===- GuardFolds.cpp - smalti-guard-folds --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTIGUARDFOLDS
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {

/// Values that canonicalization may replace by constants.
class MaybeConstants {
public:
  bool contains(Value value);

private:
  bool compute(Value value);

  llvm::DenseMap<Value, bool> known;
};

} // namespace

/// Whether the op computes with floats alone, so that its result depends on
/// each operand. Fast-math flags permit folds such as x * 0 = 0.
static bool computesFloats(Operation *op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return llvm::all_of(op->getOperandTypes(), isFloat) &&
         llvm::all_of(op->getResultTypes(), isFloat) &&
         (!flags || !flags.getFastMathFlagsAttr() ||
          flags.getFastMathFlagsAttr().getValue() ==
              arith::FastMathFlags::none);
}

bool MaybeConstants::contains(Value value) {
  auto [position, isNew] = known.try_emplace(value, true);
  if (!isNew)
    return position->second;
  bool result = compute(value);
  return known[value] = result;
}

bool MaybeConstants::compute(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument)
    return !isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() != 0)
    return true;
  if (!isMemoryEffectFree(op))
    return false;
  if (!isa<CastOpInterface>(op) && !computesFloats(op))
    return true;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return contains(operand); });
}

static Value createSplat(ImplicitLocOpBuilder &builder, Type type,
                         double value) {
  TypedAttr attribute = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
  return arith::ConstantOp::create(builder, attribute);
}

/// Replaces x by 1 with its sign if x and y are zeros, which does not change
/// atan2(y, x).
static void guard(math::Atan2Op op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value y = op.getLhs(), x = op.getRhs();
  Value zero = createSplat(builder, op.getType(), 0);
  auto isZero = [&](Value number) {
    return arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, number,
                                 zero);
  };
  Value areZeros = arith::AndIOp::create(builder, isZero(y), isZero(x));
  Value signedOne = math::CopySignOp::create(
      builder, createSplat(builder, op.getType(), 1), x);
  op.getRhsMutable().assign(
      arith::SelectOp::create(builder, areZeros, signedOne, x));
}

/// Whether upstream's folder of the conversion of a small float can be wrong.
static bool convertsWrongly(Operation *op) {
  return canExpandSmallFloats(op) &&
         (isSmallFloat(getElementTypeOrSelf(op->getResult(0).getType())) ||
          isa<Float8E8M0FNUType>(
              getElementTypeOrSelf(op->getOperand(0).getType())));
}

static bool isGuarded(math::Atan2Op op) {
  auto select = op.getRhs().getDefiningOp<arith::SelectOp>();
  return select && select.getTrueValue().getDefiningOp<math::CopySignOp>();
}

namespace {
struct SmaltiGuardFolds : smalti::impl::SmaltiGuardFoldsBase<SmaltiGuardFolds> {
  void runOnOperation() override {
    MaybeConstants constants;
    SmallVector<Operation *> wrong;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // In block-level kernels, new ops would not have layouts.
      if (isa<FunctionOpInterface>(op) &&
          !isa<triton_xla::EntryFuncOp, func::FuncOp>(op))
        return WalkResult::skip();
      auto atan2 = dyn_cast<math::Atan2Op>(op);
      if ((atan2 && !isGuarded(atan2)) || convertsWrongly(op))
        if (llvm::all_of(op->getOperands(), [&](Value operand) {
              return constants.contains(operand);
            }))
          wrong.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : wrong) {
      if (auto atan2 = dyn_cast<math::Atan2Op>(op)) {
        remarkApplied(op, "smalti-guard-folds")
            << "atan2 guarded: upstream folds atan2 of two zeros to NaN";
        guard(atan2);
        continue;
      }
      remarkApplied(op, "smalti-guard-folds")
          << "conversion expanded to integer ops: upstream folds conversions "
             "of floats of "
             "at most 8 bits to other values than the targets";
      expandSmallFloatConversion(op);
    }
  }
};
} // namespace
