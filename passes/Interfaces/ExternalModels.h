//===- ExternalModels.h - Ops of other dialects in our interfaces ---------===//
//
// One file per theme holds the external models and a function that registers
// them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_INTERFACES_EXTERNALMODELS_H
#define SMALTI_PASSES_INTERFACES_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

void registerAccessModels(mlir::DialectRegistry &registry);
void registerAsyncCopyModels(mlir::DialectRegistry &registry);
void registerBarrierModels(mlir::DialectRegistry &registry);
void registerOverwriteModels(mlir::DialectRegistry &registry);
void registerRegisterModels(mlir::DialectRegistry &registry);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_EXTERNALMODELS_H
