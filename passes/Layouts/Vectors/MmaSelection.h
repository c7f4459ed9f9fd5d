//===- MmaSelection.h - Matrix instructions for block-level products ------===//
//
// Which matrix instruction computes a block-level product, how the warps of
// the block share its M x N tile, and which layouts the operands have then.
// The conversion to mosaic_gpu asks forwards (selectMma), the distribution
// over threads backwards from the layouts (findMma); both go through
// arrangeMma, so they cannot disagree.
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
} // namespace mlir

namespace smalti {

/// A block-level product D[m x n] = A[m x k] * B[k x n] + C[m x n] on
/// `warpsM * warpsN` warps. Instruction tiles are dealt to the warps in turn:
/// warp (i, j) has the instruction tiles whose row is i modulo warpsM and
/// whose column is j modulo warpsN. The warp index is i * warpsN + j.
struct BlockMma {
  const targets::MmaInstruction *instruction = nullptr;
  int64_t m = 0, n = 0, k = 0;
  int64_t warpsM = 1, warpsN = 1;
  layout::TiledLayout a, b, accumulator;

  /// Instruction tiles of one warp along each dimension.
  int64_t tilesM() const { return m / (instruction->m * warpsM); }
  int64_t tilesN() const { return n / (instruction->n * warpsN); }
  int64_t tilesK() const { return k / instruction->k; }
};

/// The element type as matrix instructions see it; nothing for others.
std::optional<targets::Element> getMmaElement(mlir::Type type);

/// The product with this instruction and this grid of warps, if it fits the
/// tile.
std::optional<BlockMma> arrangeMma(const targets::MmaInstruction &instruction,
                                   int64_t m, int64_t n, int64_t k,
                                   int64_t warpsM, int64_t warpsN);

/// The best instruction of the target for these element types and this tile
/// (k may be any multiple of the k-step that is wanted; the instruction's own k
/// divides it), with the grid of warps that reads the least shared memory.
std::optional<BlockMma> selectMma(const targets::Target &target,
                                  targets::Element a, targets::Element b,
                                  targets::Element accumulator, int64_t m,
                                  int64_t n, int64_t k, int64_t numWarps);

/// The first instruction and grid of warps that `accepts`, of those for these
/// element types and this tile; or nothing.
std::optional<BlockMma>
findMma(const targets::Target &target, targets::Element a, targets::Element b,
        targets::Element accumulator, int64_t m, int64_t n, int64_t k,
        int64_t numWarps, llvm::function_ref<bool(const BlockMma &)> accepts);

} // namespace smalti

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_MMASELECTION_H
