//===- WgmmaPlan.h - Shared memory operands of wgmma ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pure functions, without MLIR objects: the split of a matmul into
// wgmma.mma_async instructions, and the descriptors of operands in shared
// memory.
//
// An instruction multiplies 64 rows of A by up to 256 columns of B, over 32
// bytes of K. A descriptor has 64 bits: the address (bits 0 to 13), the leading
// and the stride byte offset (16 to 29, 32 to 45), all divided by 16 bytes.
// Bits 49 to 51 are the row of the swizzle pattern at which the matrix begins
// (0 here), and bits 62 and 63 are the swizzle.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H

#include "smalti/passes/Layouts/Plans/TransferPlan.h"

namespace smalti::transfers {

inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kMaxWgmmaColumns = 256;
/// Bytes along K, for every element type.
inline constexpr int64_t kWgmmaDepthBytes = 32;

/// The rows of A or columns of B of one instruction.
struct WgmmaBlock {
  int64_t start = 0;
  int64_t size = 0;
};

/// The columns of each instruction, or the reason why the split does not exist.
/// Integers have fewer shapes than other types.
layout::ValueOr<llvm::SmallVector<WgmmaBlock>>
splitWgmmaColumns(int64_t columns, bool isInteger);

/// A two-dimensional operand in shared memory.
struct WgmmaOperandProblem {
  MemoryLayout memory;
  int64_t elementBits = 0;
  /// The dimension that is not K: 0 for A, 1 for B.
  int64_t outerDim = 0;
  /// The blocks along that dimension. The blocks of warpgroup `g` are `g * 64`
  /// further along.
  llvm::SmallVector<WgmmaBlock> blocks;
  int64_t groups = 1;
};

struct WgmmaOperandPlan {
  /// Whether K is not the contiguous dimension in memory.
  bool isTransposed = false;
  /// The descriptor without the address.
  uint64_t descriptor = 0;
  /// Byte offsets in the operand before the swizzle, for each block and each
  /// step along K.
  llvm::SmallVector<llvm::SmallVector<int64_t>> offsets;
  /// Bytes between warpgroups.
  int64_t groupStride = 0;
  /// Binary logarithm of the required alignment of the operand.
  unsigned log2Alignment = 0;
};

/// The descriptor and offsets of the operand, or the reason why they do not
/// exist.
layout::ValueOr<WgmmaOperandPlan>
planWgmmaOperand(const WgmmaOperandProblem &problem);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_WGMMAPLAN_H
