//===- BlockFragments.cpp - Block-level fragment layouts of MMAs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/targets/BlockFragments.h"

#include <cassert>

using namespace smalti;
using namespace smalti::targets;

llvm::StringRef targets::toString(Operand operand) {
  switch (operand) {
  case Operand::A:
    return "a";
  case Operand::B:
    return "b";
  case Operand::Accumulator:
    return "accumulator";
  }
  return "";
}

layout::TiledLayout targets::blockFragment(const MmaInstruction &instruction,
                                           Operand operand, int64_t warpsM,
                                           int64_t warpsN) {
  // The order of the warp index: 0 rows, 1 columns, 2 replicas.
  switch (operand) {
  case Operand::A:
    return layout::blockLayout(instruction.aLayout, instruction.aShape(),
                               {warpsM, 1}, warpsN, {0, 1, 2});
  case Operand::B:
    return layout::blockLayout(instruction.bLayout, instruction.bShape(),
                               {1, warpsN}, warpsM, {2, 0, 1});
  case Operand::Accumulator:
    break;
  }
  return layout::blockLayout(instruction.cLayout, instruction.cShape(),
                             {warpsM, warpsN}, 1, {0, 1, 2});
}

layout::TiledLayout
targets::transposedAccumulator(const MmaInstruction &instruction,
                               int64_t warpsM, int64_t warpsN) {
  layout::ValueOr<layout::TiledLayout> fragment =
      instruction.cLayout.transpose({1, 0});
  assert(fragment && "the layout of an accumulator must have a transpose");
  return layout::blockLayout(*fragment, {instruction.n, instruction.m},
                             {warpsM, warpsN}, 1, {0, 1, 2});
}

static Element elementOf(const MmaInstruction &instruction, Operand operand) {
  if (operand == Operand::Accumulator)
    return instruction.accumulator;
  return operand == Operand::A ? instruction.a : instruction.b;
}

llvm::SmallVector<BlockFragment>
targets::blockFragments(const Target &target, Operand operand,
                        llvm::ArrayRef<int64_t> shape, Element element,
                        int64_t warps) {
  llvm::SmallVector<BlockFragment> found;
  for (const MmaInstruction &instruction : target.mmas) {
    if (instruction.kind == MmaKind::Fma ||
        elementOf(instruction, operand) != element)
      continue;
    for (int64_t warpsM = warps; warpsM >= 1; --warpsM) {
      if (warps % warpsM != 0)
        continue;
      BlockFragment fragment = {
          &instruction, operand, warpsM, warps / warpsM,
          blockFragment(instruction, operand, warpsM, warps / warpsM)};
      if (!fragment.layout.validateFor(shape))
        found.push_back(std::move(fragment));
    }
  }
  return found;
}
