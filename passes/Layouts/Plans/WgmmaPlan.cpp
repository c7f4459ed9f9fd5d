//===- WgmmaPlan.cpp - Shared memory operands of wgmma --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/WgmmaPlan.h"

#include "smalti/layouts/LayoutText.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace smalti;
using namespace smalti::transfers;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Rows of a swizzle pattern; a row is as wide as the swizzle.
static constexpr int64_t kPatternRows = 8;

/// Granularity of the descriptor fields in bytes, and their maximum.
static constexpr int64_t kFieldBytes = 16;
static constexpr int64_t kMaxField = (1 << 14) - 1;

layout::ValueOr<SmallVector<WgmmaBlock>>
transfers::splitWgmmaColumns(int64_t columns, bool isInteger) {
  using Result = layout::ValueOr<SmallVector<WgmmaBlock>>;
  SmallVector<WgmmaBlock> blocks;
  for (int64_t start = 0; start < columns; start += kMaxWgmmaColumns)
    blocks.push_back({start, std::min(columns - start, kMaxWgmmaColumns)});
  for (const WgmmaBlock &block : blocks) {
    int64_t multiple = isInteger && block.size > 24 ? 16 : 8;
    if (block.size % multiple != 0)
      return Result::none("N = " + std::to_string(columns) +
                          " is split into instructions of at most " +
                          std::to_string(kMaxWgmmaColumns) +
                          " columns, and one has " +
                          std::to_string(block.size) + "; use a multiple of " +
                          std::to_string(multiple));
  }
  return blocks;
}

namespace {
/// Byte addresses along one dimension, before the swizzle.
struct Line {
  MemorySteps steps;
  int64_t bytes = 1;

  int64_t at(int64_t index) const {
    return (index % steps.inner * steps.innerStride +
            index / steps.inner * steps.outerStride) *
           bytes;
  }
};

/// Addresses in runs: `run` indices that are `step` bytes apart, and `stride`
/// bytes between runs.
struct Runs {
  int64_t run = 1;
  int64_t step = 0;
  /// -1 until two runs are matched.
  int64_t stride = -1;

  /// Whether the indices from `start` on form these runs.
  bool match(const Line &line, int64_t start, int64_t size) {
    for (int64_t index = 0; index < size; ++index) {
      int64_t offset =
          line.at(start + index) - line.at(start) - index % run * step;
      if (index < run) {
        if (offset != 0)
          return false;
        continue;
      }
      if (stride < 0)
        stride = offset;
      if (stride < 0 || offset != index / run * stride)
        return false;
    }
    return true;
  }
  int64_t strideOr(int64_t other) const { return stride < 0 ? other : stride; }
};
} // namespace

layout::ValueOr<WgmmaOperandPlan>
transfers::planWgmmaOperand(const WgmmaOperandProblem &problem) {
  using Result = layout::ValueOr<WgmmaOperandPlan>;
  const MemoryLayout &memory = problem.memory;
  if (auto reason = memory.validate(problem.elementBits))
    return Result::none(*reason);
  auto steps = getMemorySteps(memory);
  if (!steps)
    return Result::none(steps.reason);
  int64_t swizzle = memory.swizzleBytes;
  if (swizzle == 16)
    return Result::none("the shared memory of the operand is not swizzled; a "
                        "swizzle of 32, 64 or 128 bytes is required");
  int64_t bytes = problem.elementBits / 8;
  Line outer{(*steps)[problem.outerDim], bytes},
      inner{(*steps)[1 - problem.outerDim], bytes};
  int64_t depth = memory.shape[1 - problem.outerDim],
          depthStep = kWgmmaDepthBytes / bytes;
  if (depth % depthStep != 0)
    return Result::none(
        "K is " + std::to_string(depth) + "; it must be a multiple of the " +
        std::to_string(depthStep) + " elements of K in one instruction");

  WgmmaOperandPlan plan;
  plan.isTransposed = inner.at(1) != bytes;
  if (plan.isTransposed && outer.at(1) != bytes)
    return Result::none("neither dimension of the operand has stride 1 in "
                        "memory; one must have it");
  if (plan.isTransposed && problem.elementBits != 16)
    return Result::none("the operand is not contiguous along K, which wgmma "
                        "requires for elements of " +
                        std::to_string(problem.elementBits) +
                        " bits (only 16-bit elements may be contiguous along M "
                        "or N); transpose the operand in memory");

  int64_t pattern = kPatternRows * swizzle;
  plan.log2Alignment = llvm::Log2_64(pattern);
  // Runs along a row of the pattern, and from row to row.
  Runs alongRows{swizzle / bytes, bytes}, amongRows{kPatternRows, swizzle};
  Runs &alongOuter = plan.isTransposed ? alongRows : amongRows;
  Runs &alongDepth = plan.isTransposed ? amongRows : alongRows;
  std::string noTiles =
      "wgmma requires tiles with rows of " + std::to_string(swizzle) +
      " bytes (the swizzle), which the memory of the operand, of shape " +
      layout::listText(memory.shape) + " and tile " +
      layout::listText(memory.tile) + ", does not have";
  for (const WgmmaBlock &block : problem.blocks) {
    SmallVector<int64_t> offsets;
    for (int64_t k = 0; k < depth; k += depthStep) {
      int64_t offset = outer.at(block.start) + inner.at(k);
      // An instruction begins in row 0 of a pattern, and along K it stays in
      // the row.
      int64_t inPattern = offset % pattern;
      if (offset % kFieldBytes != 0 ||
          (plan.isTransposed ? inPattern != 0
                             : inPattern + kWgmmaDepthBytes > swizzle) ||
          !alongDepth.match(inner, k, depthStep))
        return Result::none(noTiles);
      offsets.push_back(offset);
    }
    for (int64_t group = 0; group < problem.groups; ++group) {
      int64_t start = block.start + group * kWgmmaRows;
      if (!alongOuter.match(outer, start, block.size))
        return Result::none(noTiles);
      int64_t distance = outer.at(start) - outer.at(block.start);
      if (group == 1 && plan.groupStride == 0)
        plan.groupStride = distance;
      if (distance != group * plan.groupStride || distance % pattern != 0)
        return Result::none(
            "wgmma requires equal tiles at the " + std::to_string(kWgmmaRows) +
            " rows of each warpgroup, which the memory of the operand, of "
            "shape " +
            layout::listText(memory.shape) + " and tile " +
            layout::listText(memory.tile) + ", does not have");
    }
    plan.offsets.push_back(std::move(offsets));
  }

  // Along K, an instruction stays in a row of the pattern, and the field is
  // unused.
  int64_t leading =
              plan.isTransposed ? alongRows.strideOr(kFieldBytes) : kFieldBytes,
          stride = amongRows.strideOr(pattern);
  if (leading % kFieldBytes != 0 || stride % kFieldBytes != 0 ||
      leading / kFieldBytes > kMaxField || stride / kFieldBytes > kMaxField)
    return Result::none(
        "the tiles of the operand are " + std::to_string(leading) + " and " +
        std::to_string(stride) + " bytes apart; wgmma requires multiples of " +
        std::to_string(kFieldBytes) + " bytes up to " +
        std::to_string(kFieldBytes * kMaxField));
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  plan.descriptor = static_cast<uint64_t>(leading / kFieldBytes) << 16 |
                    static_cast<uint64_t>(stride / kFieldBytes) << 32 |
                    mode << 62;
  return plan;
}
