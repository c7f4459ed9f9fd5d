//===- IntegerRanges.cpp - Ranges of integers and indices -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace smalti;

namespace {

class RangeDataFlow : public dataflow::IntegerRangeAnalysis {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RangeDataFlow)
  using IntegerRangeAnalysis::IntegerRangeAnalysis;

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    auto entry = argument ? dyn_cast_or_null<triton_xla::EntryFuncOp>(
                                argument.getOwner()->getParentOp())
                          : triton_xla::EntryFuncOp();
    SmallVector<int64_t> grid =
        entry ? entry.getNumTilesPerDim() : SmallVector<int64_t>();
    unsigned numOthers =
        entry ? entry.getNumArguments() - static_cast<unsigned>(grid.size())
              : 0;
    if (!entry || argument.getArgNumber() < numOthers)
      return IntegerRangeAnalysis::setToEntryState(lattice);
    unsigned width = ConstantIntRanges::getStorageBitwidth(argument.getType());
    int64_t size = grid[argument.getArgNumber() - numOthers];
    if (ShapedType::isDynamic(size))
      size = triton_xla::kMaxDynamicTiles;
    APInt last(width, size - 1);
    auto range = ConstantIntRanges::fromSigned(APInt::getZero(width), last);
    propagateIfChanged(lattice, lattice->join(IntegerValueRange(range)));
  }

  void visitNonControlFlowArguments(
      Operation *op, const RegionSuccessor &successor,
      ArrayRef<dataflow::IntegerValueRangeLattice *> arguments,
      unsigned firstIndex) override {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop.getUnsignedCmp()) {
      auto isNonNegative = [&](Value bound) {
        const auto *lattice =
            getLatticeElementFor(getProgramPointBefore(loop.getBody()), bound);
        const IntegerValueRange &range = lattice->getValue();
        return range.isUninitialized() ||
               range.getValue().smin().isNonNegative();
      };
      if (!isNonNegative(loop.getLowerBound()) ||
          !isNonNegative(loop.getUpperBound()))
        return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(
            op, successor, arguments, firstIndex);
    }
    IntegerRangeAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                       firstIndex);
  }
};

} // namespace

IntegerRanges::IntegerRanges(Operation *root) : root(root) {}
IntegerRanges::~IntegerRanges() = default;

void IntegerRanges::reset() { solver.reset(); }

DataFlowSolver &IntegerRanges::getSolver() const {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>(
        DataFlowConfig().setInterprocedural(false));
    dataflow::loadBaselineAnalyses(*solver);
    solver->load<RangeDataFlow>();
    // It fails only if an analysis fails, and these analyses do not.
    (void)solver->initializeAndRun(root);
  }
  return *solver;
}

bool IntegerRanges::isLive(Operation *op) const {
  DataFlowSolver &results = getSolver();
  for (; op != root && op->getBlock(); op = op->getParentOp()) {
    const auto *state = results.lookupState<dataflow::Executable>(
        results.getProgramPointBefore(op->getBlock()));
    if (state && !state->isLive())
      return false;
    // The dead code analysis propagates only constants.
    auto branch = dyn_cast_or_null<scf::IfOp>(op->getParentOp());
    if (!branch)
      continue;
    std::optional<APInt> condition =
        getRanges(branch.getCondition()).getConstantValue();
    if (condition && condition->isZero() ==
                         (op->getParentRegion() == &branch.getThenRegion()))
      return false;
  }
  return true;
}

ConstantIntRanges IntegerRanges::getRanges(Value value) const {
  DataFlowSolver &results = getSolver();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  const auto *state =
      results.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return ConstantIntRanges::maxRange(
        ConstantIntRanges::getStorageBitwidth(value.getType()));
  return state->getValue().getValue();
}

std::optional<SignedRange> IntegerRanges::get(OpFoldResult number) const {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return SignedRange{*constant, *constant};
  auto value = dyn_cast_if_present<Value>(number);
  if (!value)
    return std::nullopt;
  ConstantIntRanges ranges = getRanges(value);
  unsigned width = ranges.smin().getBitWidth();
  if (width == 0 || width > 64)
    return std::nullopt;
  return SignedRange{ranges.smin().getSExtValue(),
                     ranges.smax().getSExtValue()};
}

static std::optional<int64_t>
findConstantBound(presburger::BoundType type,
                  const ValueBoundsConstraintSet::Variable &variable) {
  constexpr unsigned mostValues = 16;
  unsigned seen = 0;
  auto isFar = [&](Value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
    return ++seen > mostValues;
  };
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      type, variable, isFar, /*closedUB=*/true);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

std::optional<int64_t> smalti::findConstantUpperBound(Value shaped,
                                                      int64_t dim) {
  return findConstantBound(presburger::BoundType::UB, {shaped, dim});
}

bool IntegerRanges::isNonNegative(Value index) const {
  std::optional<int64_t> bound =
      findConstantBound(presburger::BoundType::LB, index);
  return (bound && *bound >= 0) || getRanges(index).smin().isNonNegative();
}
