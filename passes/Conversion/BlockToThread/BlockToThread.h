//===- BlockToThread.h - Block programs to thread programs ------*- C++ -*-===//
//
// The part of convert-mosaic-gpu-to-nvvm and -rocdl that both share: kernels
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
/// checked before the first is changed; what cannot be converted is an error at
/// the op that is in the way, and nothing has changed then. In kernels whose
/// ops belong to threads, the buffers in shared memory get their addresses, and
/// the rest stays as it is.
mlir::LogicalResult convertKernels(mlir::Operation *root,
                                   const VendorLowering &vendor,
                                   const OpLowerings &lowerings);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_BLOCKTOTHREAD_H
