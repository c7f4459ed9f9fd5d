//===- Reductions.cpp - Reductions and scans with a region ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Text.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Reductions.cpp.inc"

SmallVector<Type> smalti::mosaic_gpu::getElementTypes(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return getElementTypeOrSelf(type); });
}

/// Checks the inputs and the arguments of the region.
static LogicalResult verifyCombining(Operation *op, ValueRange inputs,
                                     Region &body) {
  if (inputs.empty())
    return op->emitOpError() << "requires at least one input";
  auto first = cast<VectorType>(inputs.front().getType());
  for (Type type : inputs.getTypes())
    if (cast<VectorType>(type).getShape() != first.getShape())
      return op->emitOpError()
             << "all inputs must have the same shape, but found " << first
             << " and " << type;
  SmallVector<Type> elements = getElementTypes(inputs.getTypes()), arguments;
  for (Type type : elements)
    if (!type.isIntOrIndexOrFloat())
      return op->emitOpError() << "elements of inputs must be integers, floats "
                                  "or index, but found "
                               << type;
  arguments.append(elements);
  arguments.append(elements);
  if (body.getNumArguments() != arguments.size())
    return op->emitOpError()
           << "the region has "
           << smalti::counted(body.getNumArguments(), "argument")
           << "; it must have " << arguments.size() << ", two for each input";
  for (auto [index, argument, type] :
       llvm::enumerate(body.getArgumentTypes(), arguments))
    if (argument != type) {
      size_t input = index % elements.size();
      return op->emitOpError()
             << "argument " << index << " of the region must be " << type
             << ", the element type of input " << input << ", but found "
             << argument;
    }
  return verifyLayouts(op);
}

/// Checks that a region ends with a return and contains only ops on scalars
/// without side effects.
static LogicalResult verifyScalarRegion(Operation *op, Region &body) {
  Block &block = body.front();
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return op->emitOpError() << "the region must end with 'mosaic_gpu.return'";
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  WalkResult result = body.walk([&](Operation *inner) -> WalkResult {
    if (!inner->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(inner))
      return inner->emitOpError()
             << "has side effects; ops in the region of '" << op->getName()
             << "' must not have side effects";
    if (llvm::all_of(inner->getOperandTypes(), isScalar) &&
        llvm::all_of(inner->getResultTypes(), isScalar))
      return WalkResult::advance();
    return inner->emitOpError()
           << "must be an op on scalars, because it is in the region of '"
           << op->getName() << "'";
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(verifyCombining(*this, getInputs(), getBody())))
    return failure();
  auto source = cast<VectorType>(getInputs().front().getType());
  int64_t previous = -1;
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= source.getRank())
      return emitOpError() << "'dims' contains " << dim
                           << ", but the inputs have rank " << source.getRank()
                           << " and dimensions are counted from 0";
    if (dim <= previous)
      return emitOpError() << "'dims' must be strictly increasing, but found "
                           << previous << " before " << dim;
    previous = dim;
  }
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(source.getShape()))
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      shape.push_back(size);
  if (getNumResults() != getInputs().size())
    return emitOpError() << "has " << smalti::counted(getNumResults(), "result")
                         << " for "
                         << smalti::counted(getInputs().size(), "input")
                         << "; one result for each input is required";
  for (auto [index, type, element] :
       llvm::enumerate(getResultTypes(), getInits().getTypes())) {
    Type expected = shape.empty() ? element : VectorType::get(shape, element);
    if (type != expected)
      return emitOpError() << "result " << index << " must be " << expected
                           << ", but found " << type;
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody());
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  if (failed(verifyCombining(*this, getInputs(), getBody())))
    return failure();
  int64_t rank = cast<VectorType>(getInputs().front().getType()).getRank(),
          dim = getDim();
  if (dim >= rank)
    return emitOpError() << "'dim' is " << dim << ", but the inputs have rank "
                         << rank << " and dimensions are counted from 0";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody());
}
