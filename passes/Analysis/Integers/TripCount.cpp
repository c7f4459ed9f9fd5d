//===- TripCount.cpp - Trip counts of scf.for -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Integers/TripCount.h"

#include "smalti/passes/Analysis/Integers/IntegerSum.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using smalti::evaluateConstant;

bool smalti::hasWideCounter(scf::ForOp loop) {
  auto type = dyn_cast<IntegerType>(loop.getInductionVar().getType());
  return type && type.getWidth() > 64;
}

/// The constant bound as the loop compares it: unsigned if the loop is.
static std::optional<int64_t> getBound(scf::ForOp loop, Value bound,
                                       bool evaluate = false) {
  std::optional<int64_t> constant =
      evaluate ? evaluateConstant(bound) : getConstantIntValue(bound);
  auto type = dyn_cast<IntegerType>(bound.getType());
  if (!constant || !loop.getUnsignedCmp() || !type || type.getWidth() == 64)
    return constant;
  return *constant & llvm::maskTrailingOnes<uint64_t>(type.getWidth());
}

// scf.for's own getStaticTripCount subtracts in the type of the induction
// variable, so a signed difference of more than half its range becomes
// negative.
static std::optional<uint64_t> getTripCount(scf::ForOp loop, bool evaluate) {
  if (smalti::hasWideCounter(loop))
    return std::nullopt;
  auto lower = getBound(loop, loop.getLowerBound(), evaluate);
  auto upper = getBound(loop, loop.getUpperBound(), evaluate);
  auto step = getBound(loop, loop.getStep(), evaluate);
  if (!lower || !upper || !step || *step == 0 ||
      (*step < 0 && !loop.getUnsignedCmp()))
    return std::nullopt;
  bool isEmpty = loop.getUnsignedCmp() ? uint64_t(*lower) >= uint64_t(*upper)
                                       : *lower >= *upper;
  if (isEmpty)
    return 0;
  return llvm::divideCeil(uint64_t(*upper) - uint64_t(*lower), uint64_t(*step));
}

std::optional<uint64_t> smalti::getConstantTripCount(scf::ForOp loop) {
  return getTripCount(loop, /*evaluate=*/false);
}

std::optional<uint64_t> smalti::evaluateTripCount(scf::ForOp loop) {
  return getTripCount(loop, /*evaluate=*/true);
}

LogicalResult smalti::checkLoopSteps(Operation *root) {
  bool isValid = true;
  root->walk([&](scf::ForOp loop) {
    std::optional<int64_t> step = getBound(loop, loop.getStep());
    if (!step || (loop.getUnsignedCmp() ? *step != 0 : *step > 0))
      return;
    isValid = false;
    loop.emitOpError("has a step of ")
        << *step << "; the step must be positive";
  });
  return success(isValid);
}
