//===- TransferMasks.h - Masks of transfers ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transfer has a mask operand or is inside a `vector.mask`.
//
// Upstream checks only the end of the memory: its lowerings mask lanes past the
// end, and its folder treats a transfer at a negative constant index as in
// bounds. Smalti creates its masks before either runs.
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

/// Whether masked-off lanes take the values of another vector.
bool hasPassthru(mlir::VectorTransferOpInterface op);

/// Moves the mask of an enclosing `vector.mask` into the transfer.
void takeOutOfMask(mlir::RewriterBase &rewriter,
                   mlir::VectorTransferOpInterface op);

/// Masks the transfers under `root` that may have lanes before their memref.
/// Emits an error and changes nothing if one cannot be masked.
llvm::LogicalResult maskLanesBeforeMemRef(mlir::Operation *root,
                                          llvm::StringRef passName);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_TRANSFERMASKS_H
