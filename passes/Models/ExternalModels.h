//===- ExternalModels.h - External models of our interfaces -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External models of upstream ops, one file and one registration function per
// theme.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_MODELS_EXTERNALMODELS_H
#define SMALTI_PASSES_MODELS_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Registers all models, which are attached when a context loads the dialect of
/// their ops. Every pass that uses one of the interfaces calls this.
void registerExternalModels(mlir::DialectRegistry &registry);

void registerAccessModels(mlir::DialectRegistry &registry);
void registerAsyncCopyModels(mlir::DialectRegistry &registry);
void registerBarrierModels(mlir::DialectRegistry &registry);
void registerOverwriteModels(mlir::DialectRegistry &registry);
void registerRegisterModels(mlir::DialectRegistry &registry);

} // namespace smalti

#endif // SMALTI_PASSES_MODELS_EXTERNALMODELS_H
