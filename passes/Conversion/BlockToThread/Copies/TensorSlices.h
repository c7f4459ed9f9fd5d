//===- TensorSlices.h - Tensor slices that ops copy -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_TENSORSLICES_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_TENSORSLICES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace smalti::block_to_thread {

/// Common operands of async_load, async_store and async_prefetch.
struct SliceOp {
  mlir::Operation *op = nullptr;
  mlir::Value global;
  /// Null for a prefetch.
  mlir::Value shared;
  mlir::OperandRange indices;
  llvm::ArrayRef<int64_t> lengths;
  mlir::Value predicate;
  mlir::ArrayAttr collective;
  bool promisesInside = false;
};
SliceOp getSlice(mlir::Operation *op);

/// Why no target supports the copy, if none does.
std::optional<std::string> refuseSlice(const SliceOp &slice);

/// Whether a barrier of the thread group precedes an op, as JAX's kernels
/// assume for loads.
bool isOrderedLoad(mlir::Operation *op, mlir::gpu::GPUFuncOp func);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_TENSORSLICES_H
