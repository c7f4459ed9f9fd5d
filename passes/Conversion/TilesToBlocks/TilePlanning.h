//===- TilePlanning.h - Steps of the plan of a kernel -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Used only by the files in this folder.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLANNING_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLANNING_H

#include "smalti/passes/Conversion/TilesToBlocks/TilePlan.h"
#include "smalti/passes/Support/DynamicArguments.h"

namespace smalti {

/// Maximum bytes of one access of a thread.
inline constexpr int64_t kMaxAccessBytes = 16;

/// Whether values of this type are distributed across threads. A tile of rank 0
/// is a scalar of the kernel.
bool isTileType(mlir::Type type);
inline bool isTile(mlir::Value value) { return isTileType(value.getType()); }

/// The window of an extract or an insert.
std::optional<Window> windowOf(mlir::Operation *op);
/// The largest n such that runs of 2^n elements along the window's last
/// dimension are aligned to 2^n elements and are entirely in or out of bounds.
unsigned log2Run(const Window &window);
/// Why accesses of the window are narrower than 16 bytes and its rows, and the
/// attribute of the argument that would make them wider; nothing if no
/// attribute would.
std::optional<std::string> findMissingFact(const Window &window);

/// The exponent of a power of two that divides the size, or the stride, of a
/// dimension of a memref argument. A dynamic one may be stated by the
/// attributes `triton_xla.size_divisors` and `triton_xla.stride_divisors` of
/// the argument.
unsigned log2SizeDivisor(mlir::BlockArgument memref, int64_t dim);
unsigned log2StrideDivisor(mlir::BlockArgument memref, int64_t dim);

/// Whether all elements of a dynamic argument begin less than 2^31 bytes after
/// its pointer: `triton_xla.max_bytes` is below 2^31, and no static stride is
/// negative.
bool isStatedSmall(mlir::BlockArgument memref);

/// Why a dynamic stride is not proven to be a multiple of `bytes`, and the
/// attribute that states it; nothing if it is proven.
std::optional<std::string> findMissingStrideFact(mlir::BlockArgument memref,
                                                 int64_t dim, int64_t bytes);

/// The same for a dynamic size.
std::optional<std::string> findMissingSizeFact(mlir::BlockArgument memref,
                                               int64_t dim, int64_t bytes);

/// The transpose of a matrix that produces the tile, if only operands A and B
/// of dots use it; null otherwise. Dots read the matrix through a transposed
/// view of shared memory.
triton_xla::TransposeOp getOperandTranspose(mlir::Value tile);
/// Whether the kernel writes the memory of an argument.
bool isWritten(mlir::Value memref);

/// Whether the layouts of operands and results of an op differ.
bool changesShape(mlir::Operation *op);

/// Chooses the layout of each tile. Reports an error at a tile that needs too
/// many registers.
mlir::LogicalResult assignLayouts(TilePlan &plan,
                                  const targets::Target &target);

/// Maximum registers of a tile per thread.
int64_t getMaxTileRegisters(const targets::Target &target);

/// Finds the accesses to global memory that need a barrier before them.
void placeGlobalBarriers(TilePlan &plan);

/// Whether the op orders the elements of its tile that access one location.
bool ordersElements(triton_xla::ScatterOp op);
bool ordersElements(triton_xla::AtomicRMWOp op);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_TILEPLANNING_H
