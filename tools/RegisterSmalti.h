//===- RegisterSmalti.h - Registration of dialects and passes in tools ----===//
//
// The tools, the plugin and the Python extension register through this header
// alone, so that they never disagree about what exists.
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
