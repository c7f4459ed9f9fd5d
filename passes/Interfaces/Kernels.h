//===- Kernels.h - Functions that the host launches -------------*- C++ -*-===//

#ifndef SMALTI_PASSES_INTERFACES_KERNELS_H
#define SMALTI_PASSES_INTERFACES_KERNELS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <array>
#include <optional>

namespace smalti {

/// Whether the function is a kernel: no access is outstanding when it starts,
/// and its arguments are block-uniform.
bool isKernel(mlir::FunctionOpInterface function);

/// Threads of a block along x, y and z around an op: what the launch or the
/// kernel's attributes state.
std::optional<std::array<int64_t, 3>>
getBlockSize(mlir::FunctionOpInterface function, mlir::Operation *op);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_KERNELS_H
