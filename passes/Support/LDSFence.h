//===- LDSFence.h - Where LLVM keeps accesses to LDS apart ------*- C++ -*-===//
//
// Loads to LDS that are in flight across barriers need barriers for which the
// code generator does not wait, and accesses that it knows not to touch what
// the loads write. Both leave the order of accesses to the program's own
// waits and barriers, which a fence keeps: no instruction, but nothing in LLVM
// moves an access to memory across it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_LDSFENCE_H
#define SMALTI_PASSES_SUPPORT_LDSFENCE_H

#include "mlir/IR/Builders.h"

namespace smalti {

/// On a fence (unit): whether the program itself orders the accesses to LDS
/// behind it, up to the next fence or barrier, behind all loads to LDS whose
/// memory they touch.
inline constexpr llvm::StringLiteral kOrderedAttr = "smalti.lds_ordered";

/// An empty inline assembly that clobbers memory.
void createLDSFence(mlir::OpBuilder &builder, mlir::Location loc,
                    bool isOrdered);

/// A barrier that orders LDS, and leaves loads to LDS in flight, with fences on
/// both sides.
void createLDSBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                      bool isOrdered);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_LDSFENCE_H
