//===- Rules.cpp - Registration and helpers of layout rules ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

#include "smalti/passes/Interfaces/LayoutInterfaces.cpp.inc"

void inference::registerLayoutRules(DialectRegistry &registry) {
  registerElementwiseRules(registry);
  registerVectorRules(registry);
  registerIndexedRules(registry);
  registerControlFlowRules(registry);
  registerMemRefRules(registry);
  registerRegisterRules(registry);
  registerSharedMemoryRules(registry);
  registerMatmulRules(registry);
  registerTensorMemoryRules(registry);
}

bool inference::isTransposed(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (size_t dim = 1; dim < strides.size(); ++dim)
    if (strides[dim] > strides[dim - 1])
      return true;
  return false;
}

int64_t inference::divisorOf(int64_t size, OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return std::gcd(size, *constant);
  auto value = cast<Value>(index);
  if (isa<VectorType>(value.getType()))
    return 1;
  int64_t divisor = std::gcd(size, int64_t(1) << log2Divisor(value));
  // An assumption may have other divisors than powers of two.
  if (auto assumption = value.getDefiningOp<mosaic_gpu::AssumeMultipleOp>())
    divisor = std::lcm(divisor, std::gcd(size, static_cast<int64_t>(
                                                   assumption.getMultiple())));
  return divisor;
}

LogicalResult inference::requireLayout(ConstraintSystem &system, Operation *op,
                                       VarId var, LayoutId layout,
                                       StringRef what) {
  LayoutTable &layouts = system.getLayouts();
  Type type = system.getVariables()[var].type;
  if (layout == kNoLayout || !layouts.fits(layout, type)) {
    InFlightDiagnostic diagnostic = op->emitOpError() << what;
    if (layout == kNoLayout)
      diagnostic << " is not defined for " << type << " with "
                 << layouts.getWarps()
                 << " warps; use another shape or number of warps";
    else
      diagnostic << " is " << layouts.name(layout)
                 << ", which is not valid for " << type << ": "
                 << layouts.getInvalidReason(layout, type);
    return failure();
  }
  system.assign(var, layout, what);
  return success();
}
