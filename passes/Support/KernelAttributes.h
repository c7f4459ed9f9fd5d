//===- KernelAttributes.h - Attributes of kernels ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes that the conversions set on kernels and the launchers read.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
#define SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
class Attribute;
class Operation;
namespace gpu {
class GPUFuncOp;
} // namespace gpu
} // namespace mlir

namespace smalti {

/// Alignment of a memref argument in bytes, unless the argument has llvm.align.
inline constexpr int64_t kArgumentAlignment = 16;

/// The value of an integer attribute that fits in 64 bits, or std::nullopt for
/// any other attribute or null. Booleans are not integers.
std::optional<int64_t> getInteger(mlir::Attribute attribute);

/// Reads the boolean attribute `name`, if the op has it, into `value`. Returns
/// what is wrong with an attribute of another type.
std::optional<std::string> readBool(mlir::Operation *op, llvm::StringRef name,
                                    std::optional<bool> &value);

/// Reports an error if the attributes for the size and the alignment of shared
/// memory are invalid.
llvm::LogicalResult verifySharedMemoryAttributes(mlir::Operation *kernel);

/// Reports an error for invalid attributes that upstream's verifier of gpu.func
/// accepts: a size that is not positive, a number of workgroup attributions
/// that is not an integer, or invalid shared-memory attributes.
llvm::LogicalResult verifyKernelAttributes(mlir::gpu::GPUFuncOp func);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
