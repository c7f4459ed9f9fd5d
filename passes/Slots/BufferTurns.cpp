//===- BufferTurns.cpp - Buffers that loop iterations swap ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Slots/BufferTurns.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Slots/IterationParity.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smalti;

/// Collects the initial value of the carried value `argument`, and its values
/// in later iterations, if the loop permutes its carried values.
static bool collectRotation(BlockArgument argument, scf::ForOp loop,
                            SmallVectorImpl<Value> &memrefs) {
  constexpr size_t kMaxBuffers = 64;
  Value current = argument;
  do {
    auto carried = dyn_cast<BlockArgument>(current);
    if (!carried || carried.getOwner() != loop.getBody() ||
        carried == loop.getInductionVar() || memrefs.size() == kMaxBuffers)
      return false;
    memrefs.push_back(loop.getTiedLoopInit(carried)->get());
    current = loop.getTiedLoopYieldedValue(carried)->get();
  } while (current != argument);
  return true;
}

static std::optional<BufferTurn> matchSelected(arith::SelectOp select) {
  if (!select.getCondition().getType().isInteger(1))
    return std::nullopt;
  for (auto loop = select->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<bool> first =
        hasWideCounter(loop)
            ? std::nullopt
            : matchIterationParity(select.getCondition(), loop);
    if (!first)
      continue;
    Value yes = select.getTrueValue(), no = select.getFalseValue();
    if (!loop.isDefinedOutsideOfLoop(yes) || !loop.isDefinedOutsideOfLoop(no))
      return std::nullopt;
    BufferTurn turn{loop, {yes, no}};
    if (!*first)
      std::swap(turn.memrefs[0], turn.memrefs[1]);
    return turn;
  }
  return std::nullopt;
}

std::optional<BufferTurn> smalti::matchBufferTurn(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    BufferTurn turn{loop, {}};
    if (loop && collectRotation(argument, loop, turn.memrefs))
      return turn;
    return std::nullopt;
  }
  auto result = cast<OpResult>(memref);
  if (auto select = dyn_cast<arith::SelectOp>(result.getOwner()))
    return matchSelected(select);
  auto loop = dyn_cast<scf::ForOp>(result.getOwner());
  BufferTurn turn{loop, {}, /*isAfter=*/true};
  if (loop &&
      collectRotation(loop.getRegionIterArgs()[result.getResultNumber()], loop,
                      turn.memrefs))
    return turn;
  return std::nullopt;
}
