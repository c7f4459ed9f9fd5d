//===- RegisterSmalti.h - Registration for all tools ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tools, the plugin and the Python extension register only through this
// header, so that they provide the same dialects and passes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TOOLS_REGISTERSMALTI_H
#define SMALTI_TOOLS_REGISTERSMALTI_H

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Passes.h"

namespace smalti {

inline void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<triton_xla::TritonXLADialect, mosaic_gpu::MosaicGPUDialect>();
}

} // namespace smalti

#endif // SMALTI_TOOLS_REGISTERSMALTI_H
