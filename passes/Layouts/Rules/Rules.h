//===- Rules.h - Registration and helpers of layout rules -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External models of LayoutInferenceOpInterface, one file for each group of
// ops.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_RULES_RULES_H
#define SMALTI_PASSES_LAYOUTS_RULES_RULES_H

#include "smalti/passes/Layouts/Rules/Constraints.h"

#include "mlir/IR/OpDefinition.h"

#include "smalti/passes/Interfaces/LayoutInterfaces.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti::inference {

/// Registers all layout rules.
void registerLayoutRules(mlir::DialectRegistry &registry);

void registerElementwiseRules(mlir::DialectRegistry &registry);
void registerVectorRules(mlir::DialectRegistry &registry);
void registerIndexedRules(mlir::DialectRegistry &registry);
void registerControlFlowRules(mlir::DialectRegistry &registry);
void registerMemRefRules(mlir::DialectRegistry &registry);
void registerRegisterRules(mlir::DialectRegistry &registry);
void registerSharedMemoryRules(mlir::DialectRegistry &registry);
void registerMatmulRules(mlir::DialectRegistry &registry);
void registerTensorMemoryRules(mlir::DialectRegistry &registry);

/// Attaches a model, a class with `static LogicalResult derive(OpTy, System
/// &)`, to an op.
template <typename OpTy, typename Rule>
struct RuleModel
    : LayoutInferenceOpInterface::ExternalModel<RuleModel<OpTy, Rule>, OpTy> {
  llvm::LogicalResult addLayoutConstraints(mlir::Operation *op,
                                           ConstraintSystem &system) const {
    return Rule::derive(mlir::cast<OpTy>(op), system);
  }
};

template <typename Rule, typename... OpTys>
void attachRule(mlir::MLIRContext *context) {
  (OpTys::template attachInterface<RuleModel<OpTys, Rule>>(*context), ...);
}

/// Whether a value has a layout.
inline bool hasLayout(mlir::Value value) {
  return getMemory(value.getType()).has_value();
}

/// Constrains the result of a reduction of the dimensions `dims` of a vector.
void addReduction(ConstraintSystem &system, VarId source, VarId result,
                  mlir::VectorType sourceType, llvm::ArrayRef<int64_t> dims,
                  mlir::Type resultType);

/// Whether a stride of the memref is greater than the previous one.
bool isTransposed(mlir::MemRefType type);

/// The greatest divisor of `size` that is proven to divide an index; 1 for a
/// vector of indices.
int64_t divisorOf(int64_t size, mlir::OpFoldResult index);

/// Requires a layout for the variable of an operand or result; emits an error
/// on the op if it is not valid for the type. `what` is a noun phrase: "the
/// layout of ...".
llvm::LogicalResult requireLayout(ConstraintSystem &system, mlir::Operation *op,
                                  VarId var, LayoutId layout,
                                  llvm::StringRef what);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_RULES_RULES_H
