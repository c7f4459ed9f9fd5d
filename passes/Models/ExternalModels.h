//===- ExternalModels.h - Ops of other dialects in our interfaces ---------===//
//
// One file per theme holds external models and a function that registers them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_MODELS_EXTERNALMODELS_H
#define SMALTI_PASSES_MODELS_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Registers all of them; they are attached when a context loads the dialect of
/// their ops. Every pass that asks an interface calls this for its registry.
void registerExternalModels(mlir::DialectRegistry &registry);

void registerAccessModels(mlir::DialectRegistry &registry);
void registerAsyncCopyModels(mlir::DialectRegistry &registry);
void registerBarrierModels(mlir::DialectRegistry &registry);
void registerOverwriteModels(mlir::DialectRegistry &registry);
void registerRegisterModels(mlir::DialectRegistry &registry);

} // namespace smalti

#endif // SMALTI_PASSES_MODELS_EXTERNALMODELS_H
