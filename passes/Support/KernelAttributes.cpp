//===- KernelAttributes.cpp - What a kernel says about itself -------------===//

#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace smalti;

LogicalResult smalti::verifyKernelAttributes(gpu::GPUFuncOp func) {
  StringRef name = gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName();
  if (Attribute count = func->getAttr(name); count && !isa<IntegerAttr>(count))
    return func.emitOpError()
           << "has '" << name << "' = " << count << ", which is not an integer";
  std::pair<StringRef, std::optional<ArrayRef<int32_t>>> sizes[] = {
      {func.getKnownBlockSizeAttrName(), func.getKnownBlockSize()},
      {func.getKnownGridSizeAttrName(), func.getKnownGridSize()},
      {func.getKnownClusterSizeAttrName(), func.getKnownClusterSize()}};
  for (auto [name, size] : sizes)
    if (size && llvm::any_of(*size, [](int32_t extent) { return extent < 1; }))
      return func.emitOpError() << "has '" << name << "' = [" << *size
                                << "]; each of its sizes must be positive";
  return success();
}
