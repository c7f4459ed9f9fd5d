//===- BlockFragments.h - Block-level fragment layouts of MMAs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts of block-level vectors as operands of the chip's MMAs (mma.sync,
// MFMA, WMMA).
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_BLOCKFRAGMENTS_H
#define SMALTI_TARGETS_BLOCKFRAGMENTS_H

#include "smalti/targets/Target.h"

namespace smalti::targets {

enum class Operand { A, B, Accumulator };

/// The layout of an operand if the MMA tiles of M and N are distributed
/// round-robin across `warpsM` x `warpsN` warps. Warp `warpsN * m + n` has row
/// m and column n of the tiles. A and B are replicated across the warps that
/// need the same part.
layout::TiledLayout blockFragment(const MmaInstruction &instruction,
                                  Operand operand, int64_t warpsM,
                                  int64_t warpsN);

/// The layout of an M x N accumulator if operands A and B of the MMA are
/// swapped, so that it computes the transpose.
layout::TiledLayout transposedAccumulator(const MmaInstruction &instruction,
                                          int64_t warpsM, int64_t warpsN);

struct BlockFragment {
  const MmaInstruction *instruction = nullptr;
  Operand operand = Operand::Accumulator;
  int64_t warpsM = 1;
  int64_t warpsN = 1;
  layout::TiledLayout layout;
};

/// All layouts, on `warps` warps, of a vector as an operand of the chip's MMAs.
/// The last two dimensions of `shape` are those of the operand. The best MMA
/// comes first, and for one MMA the most warps along M. Scalar multiply-adds
/// are not included.
llvm::SmallVector<BlockFragment> blockFragments(const Target &target,
                                                Operand operand,
                                                llvm::ArrayRef<int64_t> shape,
                                                Element element, int64_t warps);

llvm::StringRef toString(Operand operand);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_BLOCKFRAGMENTS_H
