//===- BlockToThread.h - Conversion to thread level -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor-independent part of convert-mosaic-gpu-to-nvvm and -rocdl: kernels
// whose vectors belong to a whole block become kernels of one thread, which
// holds its registers of every vector.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_BLOCKTOTHREAD_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_BLOCKTOTHREAD_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti::block_to_thread {

class OpLowerings;
class VendorLowering;

/// Converts every block-level kernel at or below `root`. All kernels are
/// checked before the first is changed; an op that cannot be converted is an
/// error at the op, and nothing changes. In thread-level kernels, only buffers
/// in shared memory are lowered.
mlir::LogicalResult convertKernels(mlir::Operation *root,
                                   const VendorLowering &vendor,
                                   const OpLowerings &lowerings);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_BLOCKTOTHREAD_H
