//===- HostTensorMaps.h - Tensor maps that host code encodes ----*- C++ -*-===//
//
// JAX's lane semantics encode a kernel's tensor maps in the function that
// launches it: calls of `mosaic_gpu_init_tma_desc` fill an array of bytes, and
// the launch takes the array by value. Here the calls are read back into the
// descriptions that a kernel has in `mosaic_gpu.tensor_maps`.
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

/// The number of the entry that a memref is all of; nothing, and why, where it
/// is none.
using GetEntry =
    llvm::function_ref<std::optional<int64_t>(mlir::Value, std::string &)>;

/// Why the tensor maps of an array are not known before the launch.
struct TensorMapRefusal {
  std::string reason;
  /// The op that the reason is about, and what is wrong with it.
  mlir::Operation *op = nullptr;
  std::string note;
};

/// Whether a value is an array of bytes, which may hold tensor maps.
bool isHostArray(mlir::Value value);

/// The tensor maps that the host code writes to the array; nothing, and why,
/// where they are not known before the launch.
std::optional<HostTensorMaps> readHostTensorMaps(mlir::Value array,
                                                 GetEntry getEntry,
                                                 TensorMapRefusal &refusal);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOGPU_HOSTTENSORMAPS_H
