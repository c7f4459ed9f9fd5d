//===- TransferMasks.h - Masks of transfers ---------------------*- C++ -*-===//
//
// A transfer has a mask of its own, or a `vector.mask` around it.
//
// Upstream looks at the end of the memory alone: its lowerings mask what lies
// past it, and its folder takes a transfer that begins ahead of its memory, at
// a constant, for one in bounds. Masks are made here before either runs.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_TRANSFERMASKS_H
#define SMALTI_PASSES_PADLOWERING_TRANSFERMASKS_H

#include "mlir/Interfaces/VectorInterfaces.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace smalti {

bool isMaskedTransfer(mlir::VectorTransferOpInterface op);

/// Whether lanes that the mask leaves out come from another vector.
bool hasPassthru(mlir::VectorTransferOpInterface op);

/// The mask of a `vector.mask` around the transfer becomes its own.
void takeOutOfMask(mlir::RewriterBase &rewriter,
                   mlir::VectorTransferOpInterface op);

/// Masks the transfers of memrefs under `root` some of whose lanes may lie
/// ahead of their memory. Where one cannot be masked, that is an error, and
/// nothing is changed.
llvm::LogicalResult maskTransferBegins(mlir::Operation *root,
                                       llvm::StringRef passName);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_TRANSFERMASKS_H
