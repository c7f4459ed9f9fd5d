//===- MmaSelection.h - MMA instructions of block-level matmuls -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MMA instruction of a block-level matmul, the arrangement of the warps
// over its M x N tile, and the layouts of the operands. The conversion to
// mosaic_gpu selects an instruction (selectMma), and the distribution across
// threads finds it from the layouts (findMma). Both use arrangeMma, so they are
// consistent.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_VECTORS_MMASELECTION_H
#define SMALTI_PASSES_LAYOUTS_VECTORS_MMASELECTION_H

#include "smalti/layouts/LayoutAlgebra.h"
#include "smalti/targets/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
class Type;
class Value;
} // namespace mlir

namespace smalti {

/// A block-level matmul D[m x n] = A[m x k] * B[k x n] + C[m x n] on
/// `warpsM * warpsN` warps. Instruction tiles are distributed round-robin: warp
/// (i, j) has the instruction tiles whose row is i modulo warpsM and whose
/// column is j modulo warpsN. The warp index is i * warpsN + j.
///
/// A transposed matmul multiplies transpose(B) by transpose(A). Its accumulator
/// has the transposed layout of the instruction, and A and B have the same
/// layouts as in a matmul that is not transposed.
struct BlockMma {
  const targets::MmaInstruction *instruction = nullptr;
  int64_t m = 0, n = 0, k = 0;
  int64_t warpsM = 1, warpsN = 1;
  bool isTransposed = false;
  layout::TiledLayout a, b, accumulator;

  /// Instruction tiles of one warp along each dimension.
  int64_t tilesM() const { return m / (instruction->m * warpsM); }
  int64_t tilesN() const { return n / (instruction->n * warpsN); }
  int64_t tilesK() const { return k / instruction->k; }
};

/// The element type in the MMA table; no value for other types.
std::optional<targets::Element> getMmaElement(mlir::Type type);

/// The element types of a matmul.
struct MmaElements {
  targets::Element a, b, accumulator;
  /// Whether an i8 operand is unsigned.
  bool hasUnsigned = false;

  /// The element types of these vectors or tiles; no value for types that are
  /// not in the MMA table.
  static std::optional<MmaElements>
  get(mlir::Value a, mlir::Value b, mlir::Value accumulator, bool hasUnsigned);
  /// f32 operands that may be rounded to TF32; no value for other operands.
  std::optional<MmaElements> getTF32() const;
  bool match(const targets::MmaInstruction &instruction) const;
};

/// The matmul with this instruction and this grid of warps, if they divide the
/// tile. A transposed matmul requires an instruction whose operands A and B
/// have the same type and layout (MFMA and WMMA).
std::optional<BlockMma> arrangeMma(const targets::MmaInstruction &instruction,
                                   int64_t m, int64_t n, int64_t k,
                                   int64_t warpsM, int64_t warpsN,
                                   bool isTransposed = false);

/// The best instruction of the target for these element types and this tile,
/// and the grid of warps that reads the least shared memory. The instruction
/// divides k. The matmul is not transposed.
std::optional<BlockMma> selectMma(const targets::Target &target,
                                  const MmaElements &elements, int64_t m,
                                  int64_t n, int64_t k, int64_t numWarps);

/// The first instruction and grid of warps for these element types and this
/// tile that satisfies `accepts`, or no value. For each grid, the transposed
/// matmul comes last, and paired instructions come after all others.
std::optional<BlockMma>
findMma(const targets::Target &target, const MmaElements &elements, int64_t m,
        int64_t n, int64_t k, int64_t numWarps,
        llvm::function_ref<bool(const BlockMma &)> accepts);

/// The matmul with a pairing of rows or columns, if the instruction has it and
/// it divides the tile.
std::optional<BlockMma> pairMma(const targets::Target &target,
                                const BlockMma &mma,
                                targets::MmaPairing pairing);

} // namespace smalti

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_MMASELECTION_H
