//===- TensorMaps.h - Tensor maps of a kernel -------------------*- C++ -*-===//
//
// A kernel that copies slices of tensors in bulk takes tensor maps as arguments
// of 128 bytes behind its own. The launch makes them from what the kernel's
// attribute `mosaic_gpu.tensor_maps` says.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H

#include "smalti/passes/Layouts/Plans/TensorCopyPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace smalti::block_to_thread {

/// The tensor maps that a kernel takes as its last arguments (a list, on
/// gpu.func): of which argument's memory, and how.
inline constexpr llvm::StringLiteral kTensorMaps = "mosaic_gpu.tensor_maps";

/// Of a map as an argument.
inline constexpr int64_t kTensorMapBytes = 128;
inline constexpr int64_t kTensorMapAlignment = 64;

/// A tensor map, and which memory it is of.
struct TensorMapOfKernel {
  /// The number of the kernel's argument.
  int64_t argument = 0;
  /// Bytes from what the argument points to.
  int64_t offset = 0;
  /// What a reduction takes the elements for; integers without a sign are
  /// unsigned.
  mlir::Type element;
  transfers::TensorMap map;

  bool operator==(const TensorMapOfKernel &other) const {
    return argument == other.argument && offset == other.offset &&
           element == other.element && map == other.map;
  }
};

/// Says on a kernel that its last arguments, which are pointers, are these
/// maps.
void describeTensorMaps(mlir::gpu::GPUFuncOp func,
                        llvm::ArrayRef<TensorMapOfKernel> maps);

/// Appends the arguments, and says on the kernel what they are.
void addTensorMaps(mlir::gpu::GPUFuncOp func,
                   llvm::ArrayRef<TensorMapOfKernel> maps);

/// Gives the launches of such kernels the operands that they lack: null
/// pointers, in whose place a launcher puts the maps.
void addTensorMapsToLaunches(mlir::Operation *root);

/// Where in memory of the kernel's arguments a memref lies.
struct GlobalTensor {
  int64_t argument = 0;
  int64_t offset = 0;
  /// In elements.
  llvm::SmallVector<int64_t> extents, strides;
};

/// The tensor that a memref of global memory is, looking through views; or why
/// the launch cannot know it.
layout::ValueOr<GlobalTensor> findGlobalTensor(mlir::Value memref,
                                               mlir::gpu::GPUFuncOp func);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H
