//===- ReductionOps.cpp - Reductions, scans and sorts ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/dialects/TritonXLA/Verification.h"
#include "smalti/targets/Text.h"

using namespace mlir;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// Checks that there are inputs and that all have the same shape.
static LogicalResult verifyInputs(Operation *op, ValueRange inputs) {
  if (inputs.empty())
    return op->emitOpError("requires at least one input");
  auto first = cast<RankedTensorType>(inputs.front().getType());
  for (auto [position, input] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getShape() != first.getShape())
      return op->emitOpError(
                 "inputs must have the same shape, but input #0 is ")
             << first << " and input #" << position << " is " << type;
  }
  return success();
}

/// Checks the inputs and initial values of a reduction, and that each result is
/// a tile of `shape` with the elements of its input.
static LogicalResult verifyReduction(Operation *op, ValueRange inputs,
                                     ValueRange inits,
                                     ArrayRef<int64_t> shape) {
  if (inits.size() != inputs.size() || op->getNumResults() != inputs.size())
    return op->emitOpError("requires one initial value and one result for each "
                           "of its ")
           << smalti::counted(inputs.size(), "input") << ", but has "
           << smalti::counted(inits.size(), "initial value") << " and "
           << smalti::counted(op->getNumResults(), "result");
  for (auto [position, input, init, result] :
       llvm::enumerate(inputs, inits, op->getResults())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (init.getType() != type.getElementType())
      return op->emitOpError("initial value #")
             << position << " is " << init.getType() << ", but input #"
             << position << " has elements of " << type.getElementType()
             << "; the types must be equal";
    if (Type expected = type.clone(shape); result.getType() != expected)
      return op->emitOpError("result #") << position << " must be " << expected
                                         << ", but is " << result.getType();
  }
  return success();
}

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

LogicalResult smalti::triton_xla::verifyScalarRegion(Operation *op,
                                                     Region &region,
                                                     TypeRange arguments,
                                                     TypeRange results) {
  Block &block = region.front();
  if (TypeRange(block.getArgumentTypes()) != arguments)
    return op->emitOpError("the arguments of the region must be (")
           << arguments << "), but are (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("the region must end with triton_xla.yield");
  if (TypeRange(yield.getOperandTypes()) != results)
    return op->emitOpError("the region must yield (")
           << results << "), but yields (" << yield.getOperandTypes() << ")";
  WalkResult walk = region.walk([&](Operation *nested) -> WalkResult {
    auto refuse = [&](const Twine &why) {
      InFlightDiagnostic diagnostic =
          nested->emitError()
          << "'" << nested->getName() << "' " << why << "; the region of '"
          << op->getName() << "' requires scalar ops without side effects";
      diagnostic.attachNote(op->getLoc()) << "the region is part of this op";
      return diagnostic;
    };
    if (!llvm::all_of(nested->getOperandTypes(), isScalar) ||
        !llvm::all_of(nested->getResultTypes(), isScalar))
      return refuse("has operands or results that are not scalars");
    if (!isMemoryEffectFree(nested))
      return refuse("may have side effects");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

static SmallVector<Type> getElementTypes(ValueRange tiles) {
  return llvm::map_to_vector(
      tiles, [](Value tile) { return getElementTypeOrSelf(tile); });
}

/// Checks the region that combines two partial results.
static LogicalResult verifyCombiner(Operation *op, Region &region,
                                    ValueRange inputs) {
  SmallVector<Type> elements = getElementTypes(inputs);
  SmallVector<Type> arguments(elements);
  llvm::append_range(arguments, elements);
  return verifyScalarRegion(op, region, arguments, elements);
}

//===----------------------------------------------------------------------===//
// ReduceOp, ScanOp, SortOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(verifyInputs(*this, getInputs())) ||
      failed(verifyDims(*this, getDims(), getInputType().getRank(), "input")))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(getInputType().getShape()))
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      shape.push_back(size);
  return verifyReduction(*this, getInputs(), getInits(), shape);
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getInputs());
}

LogicalResult ScanOp::verify() {
  if (failed(verifyInputs(*this, getInputs())) ||
      failed(verifyDim(*this, getDim(), getInputType())))
    return failure();
  return verifyReduction(*this, getInputs(), getInits(),
                         getInputType().getShape());
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getInputs());
}

LogicalResult SortOp::verify() {
  if (failed(verifyInputs(*this, getInputs())) ||
      failed(verifyDim(*this, getDim(), getInputType())))
    return failure();
  if (getInputs().getTypes() != getSorted().getTypes())
    return emitOpError("the inputs are of types ")
           << getInputs().getTypes() << ", but the results are of types "
           << getSorted().getTypes() << "; the types must be equal";
  return success();
}

LogicalResult SortOp::verifyRegions() {
  SmallVector<Type> arguments;
  for (Type element : getElementTypes(getInputs()))
    arguments.append(2, element);
  return verifyScalarRegion(*this, getComparator(), arguments,
                            Type(IntegerType::get(getContext(), 1)));
}

//===----------------------------------------------------------------------===//
// HistogramOp
//===----------------------------------------------------------------------===//

LogicalResult HistogramOp::verify() {
  RankedTensorType tile = getTile().getType(), result = getResult().getType();
  if (!tile.getElementType().isIntOrIndex())
    return emitOpError("elements of the tile must be integers or index, but "
                       "are ")
           << tile.getElementType();
  if (!result.getElementType().isInteger(32) &&
      !result.getElementType().isInteger(64))
    return emitOpError(
               "elements of the result (counts) must be i32 or i64, but are ")
           << result.getElementType();
  if (result.getRank() != 1 ||
      result.getDimSize(0) != static_cast<int64_t>(getBins()))
    return emitOpError("the result must have rank 1 and ")
           << static_cast<int64_t>(getBins())
           << " elements, one for each bin, but is " << result;
  return success();
}
