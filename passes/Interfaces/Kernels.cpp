//===- Kernels.cpp - Kernels and their block size -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Interfaces/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace smalti;

bool smalti::isKernel(FunctionOpInterface function) {
  Operation *op = function;
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
    return kernel.isKernel();
  return op->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
         op->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) ||
         op->hasAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName());
}

/// Exceeds the block size of every chip.
static constexpr int64_t kMaxThreads = 1 << 16;

static std::optional<std::array<int64_t, 3>>
checkBlockSize(std::array<int64_t, 3> size) {
  int64_t threads = 1;
  for (int64_t length : size) {
    if (length <= 0 || length > kMaxThreads)
      return std::nullopt;
    threads *= length;
    if (threads > kMaxThreads)
      return std::nullopt;
  }
  return size;
}

std::optional<std::array<int64_t, 3>>
smalti::getBlockSize(FunctionOpInterface function, Operation *op) {
  auto launch = dyn_cast<gpu::LaunchOp>(op);
  if (!launch)
    launch = op->getParentOfType<gpu::LaunchOp>();
  if (launch) {
    gpu::KernelDim3 size = launch.getBlockSizeOperandValues();
    std::optional<int64_t> x = getConstantIntValue(size.x),
                           y = getConstantIntValue(size.y),
                           z = getConstantIntValue(size.z);
    return x && y && z ? checkBlockSize({*x, *y, *z}) : std::nullopt;
  }
  Operation *kernel = function;
  std::optional<ArrayRef<int32_t>> size;
  if (auto gpuFunction = dyn_cast<gpu::GPUFuncOp>(kernel))
    size = gpuFunction.getKnownBlockSize();
  else if (auto attribute = kernel->getAttrOfType<DenseI32ArrayAttr>(
               gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr()))
    size = attribute.asArrayRef();
  if (!size || size->size() != 3)
    return std::nullopt;
  return checkBlockSize({(*size)[0], (*size)[1], (*size)[2]});
}
