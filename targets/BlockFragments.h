//===- BlockFragments.h - Operands of products that a block makes ---------===//
//
// The layouts that a block's vectors have as operands of the chip's matrix
// instructions (mma.sync, MFMA, WMMA): what the accumulator of `wgmma` is on
// Hopper, on every chip.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_BLOCKFRAGMENTS_H
#define SMALTI_TARGETS_BLOCKFRAGMENTS_H

#include "smalti/targets/Target.h"

namespace smalti::targets {

enum class Operand { A, B, Accumulator };

/// The layout of an operand when `warpsM` x `warpsN` warps take the
/// instruction's tiles of M and N in turn: warp `warpsN * m + n` has row m and
/// column n of them. Warps that need the same part of A or B all hold it.
layout::TiledLayout blockFragment(const MmaInstruction &instruction,
                                  Operand operand, int64_t warpsM,
                                  int64_t warpsN);

struct BlockFragment {
  const MmaInstruction *instruction = nullptr;
  Operand operand = Operand::Accumulator;
  int64_t warpsM = 1;
  int64_t warpsN = 1;
  layout::TiledLayout layout;
};

/// All layouts that a vector of `shape`, whose last two dimensions are the
/// operand's, and elements `element` can have as an operand of the chip's
/// matrix instructions, over `warps` warps: the best instruction first, and of
/// one instruction most warps along M first. Scalar fused multiply-adds are
/// none.
llvm::SmallVector<BlockFragment> blockFragments(const Target &target,
                                                Operand operand,
                                                llvm::ArrayRef<int64_t> shape,
                                                Element element, int64_t warps);

llvm::StringRef toString(Operand operand);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_BLOCKFRAGMENTS_H
