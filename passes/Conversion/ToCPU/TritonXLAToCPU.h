//===- TritonXLAToCPU.h - Registration for the CPU conversion ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H
#define SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace smalti {

/// Registers the external models that bufferization of tile-level kernels
/// needs. A pass that runs convert-triton-xla-to-cpu in a dynamic pipeline must
/// call this.
void registerBufferizationModels(mlir::DialectRegistry &registry);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TOCPU_TRITONXLATOCPU_H
