//===- KernelAttributes.cpp - Attributes of kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/KernelAttributes.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Support/Describe.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

std::optional<int64_t> smalti::getInteger(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!number || isa<BoolAttr>(number) || !number.getValue().isSignedIntN(64))
    return std::nullopt;
  return number.getValue().getSExtValue();
}

std::optional<std::string> smalti::readBool(Operation *op, StringRef name,
                                            std::optional<bool> &value) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return std::nullopt;
  auto boolean = dyn_cast<BoolAttr>(attribute);
  if (!boolean)
    return "has the attribute " + name.str() + " = " + describe(attribute) +
           "; it must be true or false";
  value = boolean.getValue();
  return std::nullopt;
}

/// Exceeds the shared memory of every chip; LLVM accepts it.
static constexpr int64_t kMaxAlignment = 1 << 20;

LogicalResult smalti::verifySharedMemoryAttributes(Operation *kernel) {
  StringRef name = kSharedMemoryBytesAttr;
  if (Attribute bytes = kernel->getAttr(name);
      bytes && getInteger(bytes).value_or(-1) < 0)
    return kernel->emitOpError() << "has '" << name << "' = " << bytes
                                 << "; a non-negative integer is required";
  name = kSharedMemoryAlignmentAttr;
  if (Attribute alignment = kernel->getAttr(name);
      alignment && !(getInteger(alignment).value_or(0) > 0 &&
                     *getInteger(alignment) <= kMaxAlignment &&
                     llvm::isPowerOf2_64(*getInteger(alignment))))
    return kernel->emitOpError()
           << "has '" << name << "' = " << alignment
           << "; a power of two up to " << kMaxAlignment << " is required";
  return success();
}

LogicalResult smalti::verifyKernelAttributes(gpu::GPUFuncOp func) {
  StringRef name = gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName();
  if (Attribute count = func->getAttr(name); count && !isa<IntegerAttr>(count))
    return func.emitOpError()
           << "has '" << name << "' = " << count << "; an integer is required";
  std::pair<StringRef, std::optional<ArrayRef<int32_t>>> sizes[] = {
      {func.getKnownBlockSizeAttrName(), func.getKnownBlockSize()},
      {func.getKnownGridSizeAttrName(), func.getKnownGridSize()},
      {func.getKnownClusterSizeAttrName(), func.getKnownClusterSize()}};
  for (auto [name, size] : sizes)
    if (size && llvm::any_of(*size, [](int32_t extent) { return extent < 1; }))
      return func.emitOpError() << "has '" << name << "' = [" << *size
                                << "]; each of its sizes must be positive";
  return verifySharedMemoryAttributes(func);
}
