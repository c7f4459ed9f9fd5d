//===- TensorMaps.h - Tensor maps of a kernel -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with TMA copies takes tensor maps as additional arguments of 128
// bytes. The launch encodes them from the attribute `mosaic_gpu.tensor_maps` of
// the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H

#include "smalti/passes/Layouts/Plans/TensorCopyPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace smalti::block_to_thread {

/// The size of a map as an argument.
inline constexpr int64_t kTensorMapBytes = 128;
inline constexpr int64_t kTensorMapAlignment = 64;

/// A tensor map and the tensor that it describes.
struct TensorMapOfKernel {
  /// Index of the kernel argument. If the map is dynamic, the argument is the
  /// pointer of a dynamic memref, and `map.dims` are dimensions of that memref.
  int64_t argument = 0;
  /// Byte offset from the pointer of the argument.
  int64_t offset = 0;
  /// The element type that a reduction uses; signless integers are unsigned.
  mlir::Type element;
  transfers::TensorMap map;

  bool operator==(const TensorMapOfKernel &other) const {
    return argument == other.argument && offset == other.offset &&
           element == other.element && map == other.map;
  }
};

/// Declares that the last arguments of a kernel, which are pointers, are these
/// maps.
void describeTensorMaps(mlir::gpu::GPUFuncOp func,
                        llvm::ArrayRef<TensorMapOfKernel> maps);

/// Appends the arguments and declares them on the kernel.
void addTensorMaps(mlir::gpu::GPUFuncOp func,
                   llvm::ArrayRef<TensorMapOfKernel> maps);

/// Adds the missing operands to launches of such kernels: null pointers, which
/// a launcher replaces by the maps.
void addTensorMapsToLaunches(mlir::Operation *root);

/// The location of a memref in a kernel argument.
struct GlobalTensor {
  int64_t argument = 0;
  int64_t offset = 0;
  /// In elements, or transfers::kDynamicExtent.
  llvm::SmallVector<int64_t> extents, strides;
  /// For a dynamic memref argument: the dimension of the argument that each
  /// dimension represents. Empty otherwise.
  llvm::SmallVector<int64_t> dims;
};

/// The operand of a warp_map region argument; other values as they are.
mlir::Value getOutsideWarpMap(mlir::Value memref);

/// The tensor that a memref in global memory refers to, looking through views;
/// or why it cannot be determined at launch time.
layout::ValueOr<GlobalTensor> findGlobalTensor(mlir::Value memref,
                                               mlir::gpu::GPUFuncOp func);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_TENSORMAPS_H
