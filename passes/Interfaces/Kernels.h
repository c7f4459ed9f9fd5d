//===- Kernels.h - Kernels and their block size -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_INTERFACES_KERNELS_H
#define SMALTI_PASSES_INTERFACES_KERNELS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <array>
#include <optional>

namespace smalti {

/// Whether the function is a kernel: no access is outstanding when it starts,
/// and its arguments are block-uniform.
bool isKernel(mlir::FunctionOpInterface function);

/// Block size along x, y and z at an op, from the enclosing launch or the
/// kernel's attributes.
std::optional<std::array<int64_t, 3>>
getBlockSize(mlir::FunctionOpInterface function, mlir::Operation *op);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_KERNELS_H
