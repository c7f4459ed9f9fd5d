//===- TritonXLAToCPU.h - What the CPU conversion registers -----*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H
#define SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Registers the models that the bufferization of tile programs needs. A pass
/// that runs convert-triton-xla-to-cpu in a dynamic pipeline registers them.
void registerBufferizationModels(mlir::DialectRegistry &registry);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H
