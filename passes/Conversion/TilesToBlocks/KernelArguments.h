//===- KernelArguments.h - Memory of kernel arguments -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_KERNELARGUMENTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_KERNELARGUMENTS_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace smalti {

/// The type of an element in memory: i64 for index, the next integer of 8, 16,
/// 32 or 64 bits for other integers, i8 for floats that are not whole bytes,
/// and otherwise the type itself.
mlir::Type getBufferElement(mlir::Type element);

/// Whether an argument of the kernel has a type that the conversion changes:
/// - Memory stores i1 and floats of 6 bits in a byte each, and index in 64
///   bits. Packed elements remain.
/// - The kernel receives a pointer to the first element, so the type does not
///   have an offset.
/// - Strides of an array without elements are not zero.
/// - The last dimension is contiguous if any is: the kernel has the dimensions
///   of a column-major array in another order.
bool hasConvertedArguments(triton_xla::EntryFuncOp func);

/// Changes these arguments, converts the tiles and scalars that the kernel
/// reads and writes, and transposes the tiles of windows. The attribute
/// kArguments keeps the types of the arguments. Divisors that argument
/// attributes state keep the order of the declared dimensions.
void convertArguments(triton_xla::EntryFuncOp func);

/// For each dimension of a memref argument, the dimension of its declared type.
mlir::SmallVector<int64_t> getDeclaredDims(mlir::BlockArgument memref);

/// The memref with the dimensions in another order: dimension i is dimension
/// `order[i]` of `type`.
mlir::MemRefType permuteDims(mlir::MemRefType type,
                             mlir::ArrayRef<int64_t> order);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_KERNELARGUMENTS_H
