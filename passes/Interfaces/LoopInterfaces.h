//===- LoopInterfaces.h - What loop passes ask of an op -------------------===//

#ifndef SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
#define SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include "passes/Interfaces/LoopInterfaces.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Adds the external models by which ops of upstream dialects and of
/// mosaic_gpu implement the interfaces above.
void registerLoopInterfaceModels(mlir::DialectRegistry &registry);

/// Whether `op` writes every element of its operand `memref` each time it is
/// executed, as far as its interfaces tell.
bool overwritesWholeMemRef(mlir::Operation *op, mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
