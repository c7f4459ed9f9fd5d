//===- HostTensorMaps.h - Tensor maps encoded by host code ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with JAX's lane semantics encode tensor maps in the function that
// launches them: calls of `mosaic_gpu_init_tma_desc` fill an array of bytes,
// and the launch takes the array by value. This file converts the calls to the
// descriptions in the kernel attribute `mosaic_gpu.tensor_maps`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TOGPU_HOSTTENSORMAPS_H
#define SMALTI_PASSES_CONVERSION_TOGPU_HOSTTENSORMAPS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace smalti {

/// The tensor maps in an array of bytes, by their offset in it.
using HostTensorMaps = std::map<int64_t, block_to_thread::TensorMapOfKernel>;

/// The number of the entry of the pointer array that a memref covers; nothing,
/// and the reason, otherwise.
using GetEntry =
    llvm::function_ref<std::optional<int64_t>(mlir::Value, std::string &)>;

/// Why the tensor maps of an array cannot be determined statically.
struct TensorMapRefusal {
  std::string reason;
  /// The op that the reason refers to, and its note.
  mlir::Operation *op = nullptr;
  std::string note;
};

/// Whether a value is an array of bytes that may contain tensor maps.
bool isHostArray(mlir::Value value);

/// The tensor maps that the host code writes to the array; nothing, and the
/// reason, if they cannot be determined statically.
std::optional<HostTensorMaps> readHostTensorMaps(mlir::Value array,
                                                 GetEntry getEntry,
                                                 TensorMapRefusal &refusal);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOGPU_HOSTTENSORMAPS_H
