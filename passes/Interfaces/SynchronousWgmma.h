//===- SynchronousWgmma.h - Products of warp groups as reads ----*- C++ -*-===//
//
// `mosaic_gpu.wgmma` starts a product and does not wait for it: other ops fence
// its registers, commit and wait. With this attribute it stands for all of
// them. It is then complete behind the op, and a mere read of its operands,
// which loop passes can move; smalti-async-wgmma writes the others.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H
#define SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

namespace smalti {

inline constexpr llvm::StringLiteral kSynchronousWgmma = "smalti.synchronous";

inline bool isSynchronousWgmma(mlir::Operation *op) {
  return mlir::isa<mosaic_gpu::WGMMAOp>(op) && op->hasAttr(kSynchronousWgmma);
}

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H
