//===- DynamicArguments.h - Kernel arguments of dynamic shape ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel receives a memref argument with dynamic sizes or strides as a
// pointer to the first element (a memref of rank 0), followed by these sizes
// and strides.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_DYNAMICARGUMENTS_H
#define SMALTI_PASSES_SUPPORT_DYNAMICARGUMENTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir {
class Value;
namespace gpu {
class GPUFuncOp;
} // namespace gpu
} // namespace mlir

namespace smalti {

/// Whether shape, strides or offset of a memref are dynamic.
bool isDynamic(mlir::MemRefType type);

/// The type of a strided memref argument as the compiler and launches see it:
///   - The offset is 0, since a launch passes the address of the first element.
///   - In an array without elements, strides that are 0 or that the sizes do
///     not determine are 1. No element is accessed.
mlir::MemRefType getArgumentType(mlir::MemRefType type);

/// Whether a static stride of a memref is negative.
bool hasNegativeStride(mlir::MemRefType type);

/// The dimensions whose sizes and strides a kernel receives after the pointer.
/// Strides of a row-major memref follow from the sizes.
struct DynamicParameters {
  mlir::SmallVector<int64_t> sizes, strides;
  size_t count() const { return sizes.size() + strides.size(); }
};
DynamicParameters getDynamicParameters(mlir::MemRefType type);

/// The declared type of the dynamic memref whose pointer is parameter
/// `position` of the kernel; nothing for another parameter.
std::optional<mlir::MemRefType> getDeclaredMemRef(mlir::gpu::GPUFuncOp func,
                                                  unsigned position);

/// The parameter of the pointer if `memref` is exactly the dynamic memref that
/// the kernel receives; nothing otherwise.
std::optional<unsigned> getDynamicArgument(mlir::Value memref,
                                           mlir::gpu::GPUFuncOp func);

/// Whether all elements of a global memref begin less than 2^31 bytes after the
/// pointer of a dynamic kernel argument. `triton_xla.max_bytes` states this,
/// because dynamic strides are then not negative.
bool hasSmallOffsets(mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_DYNAMICARGUMENTS_H
