//===- InferLayouts.h - Shared parts of layout inference and evaluation ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H

#include "smalti/passes/Layouts/Rules/Constraints.h"

#include "mlir/IR/BuiltinOps.h"

namespace smalti::inference {

/// The names of the layout attributes of values in one memory.
struct LayoutAttributeNames {
  Memory memory;
  llvm::StringRef in, out;
};
llvm::ArrayRef<LayoutAttributeNames> getLayoutAttributeNames();

/// The target that the option, `smalti.target` or JAX's attributes state; null
/// after an error. A target that is not a GPU or does not support this number
/// of warps per block is an error.
const targets::Target *findChip(mlir::ModuleOp module, llvm::StringRef option,
                                int64_t warps);

/// Adds the constraints of all ops of a module, and those between producers and
/// users. Emits an error for an op without a rule.
llvm::LogicalResult collectConstraints(mlir::ModuleOp module,
                                       ConstraintSystem &system);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H
