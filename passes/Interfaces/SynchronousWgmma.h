//===- SynchronousWgmma.h - Synchronous wgmma -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `mosaic_gpu.wgmma` is asynchronous: other ops fence its registers, commit and
// wait. With this attribute the op is synchronous. It is complete after the op
// and only reads its operands, so loop passes can move it. smalti-async-wgmma
// lowers it to the asynchronous form.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H
#define SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

namespace smalti {

inline bool isSynchronousWgmma(mlir::Operation *op) {
  return mlir::isa<mosaic_gpu::WGMMAOp>(op) && op->hasAttr(kSynchronousWgmma);
}

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_SYNCHRONOUSWGMMA_H
