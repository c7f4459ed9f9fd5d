//===- WgmmaPlan.h - Operands of products by four warps ---------*- C++ -*-===//
//
// Pure functions: how a product is cut into instructions (NVIDIA's
// wgmma.mma_async), and what tells an instruction where an operand is in shared
// memory. No MLIR object takes part.
//
// An instruction multiplies 64 rows of A by up to 256 columns of B, over 32
// bytes of K. A descriptor is 64 bits: the address (bits 0 to 13), the leading
// and the stride byte offset (16 to 29, 32 to 45), all in units of 16 bytes,
// the row of the swizzle pattern at which the matrix begins (49 to 51; 0 here)
// and the swizzle (62 and 63).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

namespace smalti::transfers {

inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kMostWgmmaColumns = 256;
/// Of K, for every element type.
inline constexpr int64_t kWgmmaDepthBytes = 32;

/// Rows of A or columns of B, of one instruction.
struct WgmmaBlock {
  int64_t start = 0;
  int64_t size = 0;
};

/// The columns of each instruction, or why there is no such cut. Integers have
/// fewer shapes than other types.
layout::ValueOr<llvm::SmallVector<WgmmaBlock>>
splitWgmmaColumns(int64_t columns, bool isInteger);

/// An operand of two dimensions in shared memory.
struct WgmmaOperandProblem {
  MemoryLayout memory;
  int64_t elementBits = 0;
  /// The dimension that is not K: 0 of A, 1 of B.
  int64_t outerDim = 0;
  /// Along that dimension. Group `g` of four warps has what is `g * 64` further
  /// along.
  llvm::SmallVector<WgmmaBlock> blocks;
  int64_t groups = 1;
};

struct WgmmaOperandPlan {
  /// Whether the elements of a row (of A) or column (of B) are not the
  /// neighbours in memory, but those of a column or row.
  bool isTransposed = false;
  /// All but the address.
  uint64_t descriptor = 0;
  /// Bytes from the operand's start to that of an instruction's part, before
  /// the swizzle: for each block, for each step along K.
  llvm::SmallVector<llvm::SmallVector<int64_t>> offsets;
  /// Bytes from group to group.
  int64_t groupStride = 0;
  /// The start of the operand must be a multiple of 2 to this.
  unsigned log2Alignment = 0;
};

/// How instructions find the operand, or why they cannot.
layout::ValueOr<WgmmaOperandPlan>
planWgmmaOperand(const WgmmaOperandProblem &problem);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H
