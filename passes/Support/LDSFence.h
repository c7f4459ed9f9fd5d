//===- LDSFence.h - Compiler fences for LDS accesses ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To keep LDS DMA loads in flight across barriers, the code generator must not
// insert waits before barriers, and must know which accesses do not alias the
// loads. The kernel's own waits and barriers then order the accesses. A
// compiler fence emits no instruction, but LLVM does not move memory accesses
// across it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_LDSFENCE_H
#define SMALTI_PASSES_SUPPORT_LDSFENCE_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"

#include "mlir/IR/Builders.h"

namespace smalti {

/// Creates an empty inline assembly that clobbers memory.
void createLDSFence(mlir::OpBuilder &builder, mlir::Location loc,
                    bool isOrdered);

/// Creates a workgroup barrier that waits for LDS accesses but not for LDS DMA
/// loads, with a fence before and after it.
void createLDSBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                      bool isOrdered);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_LDSFENCE_H
