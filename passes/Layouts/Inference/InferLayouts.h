//===- InferLayouts.h - What passes on layouts of a module share ----------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H

#include "smalti/passes/Layouts/Rules/Constraints.h"

#include "mlir/IR/BuiltinOps.h"

namespace smalti::inference {

/// The names of the attributes that list the layouts of values in one memory.
struct LayoutAttributeNames {
  Memory memory;
  llvm::StringRef in, out;
};
llvm::ArrayRef<LayoutAttributeNames> getLayoutAttributeNames();

/// The chip that the option, `smalti.target` or JAX's attributes name, and that
/// has layouts for this many warps; null after an error.
const targets::Target *findChip(mlir::ModuleOp module, llvm::StringRef option,
                                int64_t warps);

/// Adds what all ops of a module demand, and that producers and users agree. An
/// error where an op has no rule.
llvm::LogicalResult collectConstraints(mlir::ModuleOp module,
                                       ConstraintSystem &system);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_INFERLAYOUTS_H
