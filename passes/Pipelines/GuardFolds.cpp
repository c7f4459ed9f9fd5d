//===- GuardFolds.cpp - smalti-guard-folds --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/SmallFloats.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTIGUARDFOLDS
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-guard-folds";

/// Names of functions that are called or whose address is taken.
static llvm::DenseSet<StringAttr> findCallees(Operation *root) {
  llvm::DenseSet<StringAttr> names;
  root->walk([&](Operation *op) {
    if (isa<CallOpInterface, func::ConstantOp>(op))
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        names.insert(symbol.getLeafReference());
      });
  });
  return names;
}

namespace {

/// Values that canonicalization cannot replace by constants, even after
/// inlining. Ops are added in the order of the code.
class RuntimeValues {
public:
  explicit RuntimeValues(Operation *root) : callees(findCallees(root)) {}

  void addArguments(FunctionOpInterface function);
  void addResults(Operation *op);
  bool dependOn(ValueRange operands) const {
    return llvm::any_of(
        operands, [&](Value operand) { return values.contains(operand); });
  }

private:
  llvm::DenseSet<StringAttr> callees;
  llvm::DenseSet<Value> values;
};

} // namespace

/// Whether each result depends on each operand: false for a float op with
/// fast-math flags, which permit folds such as x * 0 = 0.
static bool needsAllOperands(Operation *op) {
  if (isa<CastOpInterface, triton_xla::BroadcastOp, triton_xla::TransposeOp,
          triton_xla::ReshapeOp, triton_xla::SqueezeDimsOp>(op))
    return true;
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperandTypes(), isFloat) &&
         llvm::all_of(op->getResultTypes(), isFloat) &&
         (!flags || !flags.getFastMathFlagsAttr() ||
          flags.getFastMathFlagsAttr().getValue() ==
              arith::FastMathFlags::none);
}

/// Whether a constant offset puts elements of the window outside of the
/// source. They are constants.
static bool readsFill(triton_xla::ExtractOp op) {
  auto extents = cast<ShapedType>(op.getSource().getType()).getShape();
  for (auto [offset, size, stride, extent] :
       llvm::zip_equal(op.getMixedOffsets(), op.getStaticSizes(),
                       op.getStaticStrides(), extents)) {
    std::optional<int64_t> first = getConstantIntValue(offset);
    if (!first || ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> last =
        llvm::checkedMulAdd<int64_t>(size - 1, stride, *first);
    if (*first < 0 || !last || *last >= extent)
      return true;
  }
  return false;
}

void RuntimeValues::addArguments(FunctionOpInterface function) {
  if (function.isExternal())
    return;
  if (auto entry = dyn_cast<triton_xla::EntryFuncOp>(*function)) {
    // A tile id is 0 if its dimension has one tile.
    values.insert_range(entry.getKernelArguments());
    return;
  }
  if (!callees.contains(function.getNameAttr()))
    values.insert_range(function.getArguments());
}

void RuntimeValues::addResults(Operation *op) {
  if (op->getNumRegions() != 0 || isa<CallOpInterface>(op))
    return;
  auto isRuntime = [&](Value operand) {
    return isa<MemRefType>(operand.getType()) || values.contains(operand);
  };
  bool isAdded = false;
  if (isMemoryEffectFree(op))
    isAdded = needsAllOperands(op) && dependOn(op->getOperands());
  else if (auto extract = dyn_cast<triton_xla::ExtractOp>(op))
    isAdded = !readsFill(extract);
  else // A constant index or mask can select a fill value.
    isAdded =
        isa<memref::LoadOp>(op) || llvm::all_of(op->getOperands(), isRuntime);
  if (isAdded)
    values.insert_range(op->getResults());
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

/// Whether the second operand is the one that guard() creates.
static bool isGuarded(math::Atan2Op op) {
  auto select = op.getRhs().getDefiningOp<arith::SelectOp>();
  if (!select)
    return false;
  Value y = op.getLhs(), x = select.getFalseValue();
  auto isZero = [](Value condition, Value number) {
    auto compare = condition.getDefiningOp<arith::CmpFOp>();
    return compare && compare.getPredicate() == arith::CmpFPredicate::OEQ &&
           compare.getLhs() == number &&
           matchPattern(compare.getRhs(), m_AnyZeroFloat());
  };
  auto areZeros = select.getCondition().getDefiningOp<arith::AndIOp>();
  auto signedOne = select.getTrueValue().getDefiningOp<math::CopySignOp>();
  return areZeros && isZero(areZeros.getLhs(), y) &&
         isZero(areZeros.getRhs(), x) && signedOne && signedOne.getRhs() == x &&
         matchPattern(signedOne.getLhs(), m_OneFloat());
}

/// Whether the op casts an index to fewer bits, and may change its value.
static bool truncatesIndex(Operation *op, const IntegerRanges &ranges) {
  if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) ||
      !getElementTypeOrSelf(op->getOperand(0).getType()).isIndex())
    return false;
  unsigned bits =
      getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  ConstantIntRanges range = ranges.getRanges(op->getOperand(0));
  if (isa<arith::IndexCastUIOp>(op))
    return !range.umax().isIntN(bits);
  return !range.smin().isSignedIntN(bits) || !range.smax().isSignedIntN(bits);
}

/// Makes the truncation an op of its own.
static void guardIndexCast(Operation *op) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Value index = op->getOperand(0), result = op->getResult(0);
  Value wide = arith::IndexCastOp::create(
      builder, withElement(index.getType(), builder.getI64Type()), index);
  result.replaceAllUsesWith(
      arith::TruncIOp::create(builder, result.getType(), wide));
  op->erase();
}

namespace {
struct SmaltiGuardFolds : smalti::impl::SmaltiGuardFoldsBase<SmaltiGuardFolds> {
  void runOnOperation() override {
    RuntimeValues runtime(getOperation());
    IntegerRanges ranges(getOperation());
    SmallVector<Operation *> wrong;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op)) {
        // In block-level kernels, new ops would not have layouts.
        if (!isa<triton_xla::EntryFuncOp, func::FuncOp>(op))
          return WalkResult::skip();
        runtime.addArguments(function);
      }
      auto atan2 = dyn_cast<math::Atan2Op>(op);
      if ((((atan2 && !isGuarded(atan2)) || convertsWrongly(op)) &&
           !runtime.dependOn(op->getOperands())) ||
          truncatesIndex(op, ranges))
        wrong.push_back(op);
      runtime.addResults(op);
      return WalkResult::advance();
    });
    for (Operation *op : wrong) {
      if (auto atan2 = dyn_cast<math::Atan2Op>(op)) {
        remarkApplied(op, kPassName)
            << "math.atan2 protected from constant folding, in which MLIR "
               "evaluates atan2 of two zeros to NaN";
        guard(atan2);
        continue;
      }
      if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
        remarkApplied(op, kPassName)
            << "arith.trunci inserted in a cast from index to "
            << getElementTypeOrSelf(op->getResult(0).getType())
            << ": without it, MLIR removes the cast and the cast back, and the "
               "index is not truncated";
        guardIndexCast(op);
        continue;
      }
      remarkApplied(op, kPassName)
          << "conversion expanded to integer ops: the constant folding of MLIR "
             "converts floats of at most 8 bits to other values than the GPU";
      expandSmallFloatConversion(op);
    }
  }
};
} // namespace
