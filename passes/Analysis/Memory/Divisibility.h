//===- Divisibility.h - Power-of-two divisors -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_DIVISIBILITY_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_DIVISIBILITY_H

#include "mlir/IR/OpDefinition.h"

namespace smalti {

/// The largest n for which 2^n provably divides an integer or index value (62
/// for zero). Only powers of two, because they hold after the value wraps.
/// Looks through arith and affine.apply, and at the bounds of scf.for.
unsigned log2Divisor(mlir::Value value);
unsigned log2Divisor(mlir::OpFoldResult value);
unsigned log2Divisor(int64_t value);

/// The alignment in bytes of a memref argument without llvm.align: that of the
/// first element of an array whose lowest address is aligned to
/// kArgumentAlignment. With negative strides, the first element is at a higher
/// address.
int64_t getDefaultAlignment(mlir::MemRefType type);

/// The exponent of the power of two that divides the address, in bytes, of the
/// first element of a function's memref argument: the value of llvm.align, or
/// getDefaultAlignment. Elements start after the offset of the layout.
unsigned log2ArgumentAlignment(mlir::BlockArgument argument);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_DIVISIBILITY_H
