//===- RegisterOrder.cpp - Op order that reduces register pressure --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterOrder.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

/// The 32-bit registers of a value. Indices and addresses are not counted:
/// those of the registers of a vector differ by constants.
static int64_t countWords(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && matchPattern(op, m_Constant()))
    return 0;
  Type type = value.getType();
  int64_t elements = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    elements = vector.getNumElements();
    type = vector.getElementType();
  }
  if (!type.isIntOrFloat())
    return 0;
  return llvm::divideCeil(elements * type.getIntOrFloatBitWidth(), 32);
}

/// Whether it is a register of a vector that fills words.
static bool fillsWords(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isIntOrFloat())
    return false;
  int64_t bits = vector.getElementTypeBitWidth();
  return bits >= 8 && bits * vector.getNumElements() % 32 == 0;
}

/// Whether the op may be reordered with other movable ops.
static bool isMovable(Operation *op) {
  if (op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isMemoryEffectFree(op))
    return true;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::all_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect());
  });
}

namespace {
/// The ops of a block and the live ranges of their values. Values from outside
/// the block are not counted.
class Schedule {
public:
  explicit Schedule(Block &block);

  /// Reorders each run of movable ops that needs more registers than available.
  void reorder(int64_t budget, PinFn hold);

private:
  /// A run: the ops from `first` to before `end`.
  struct Run {
    int64_t first, end;
  };

  /// Depth-first order from the values that ops after the run use; with
  /// `isReadFirst`, after all memory reads.
  SmallVector<Operation *> orderDepthFirst(Run run, bool isReadFirst) const;
  /// The peak register pressure of a run in this order.
  int64_t findPeak(Run run, ArrayRef<Operation *> order) const;

  /// Pins the computation of results of an op that ops after the run use.
  void pinResults(Operation *op, Run run, PinFn hold);

  Block &block;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int64_t> positions;
  /// The position of the last op that uses a value, also in regions; -1 if
  /// unused.
  DenseMap<Value, int64_t> lastUses;
  /// Live registers at the start of an op.
  SmallVector<int64_t> live;
};
} // namespace

Schedule::Schedule(Block &block) : block(block) {
  for (Operation &op : block) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  SmallVector<int64_t> freed(ops.size(), 0);
  auto record = [&](Value value) {
    int64_t last = -1;
    for (Operation *user : value.getUsers()) {
      // A use in another block is after all of this one.
      auto position = positions.find(block.findAncestorOpInBlock(*user));
      last = std::max<int64_t>(last, position == positions.end()
                                         ? ops.size() - 1
                                         : position->second);
    }
    lastUses[value] = last;
    if (last < 0)
      return int64_t(0);
    int64_t words = countWords(value);
    freed[last] += words;
    return words;
  };
  int64_t now = 0;
  for (Value argument : block.getArguments())
    now += record(argument);
  for (auto [position, op] : llvm::enumerate(ops)) {
    live.push_back(now);
    for (Value result : op->getResults())
      now += record(result);
    now -= freed[position];
  }
}

SmallVector<Operation *> Schedule::orderDepthFirst(Run run,
                                                   bool isReadFirst) const {
  auto isInRun = [&](Operation *op) {
    auto it = positions.find(op);
    return it != positions.end() && it->second >= run.first &&
           it->second < run.end;
  };
  SmallVector<Operation *> order;
  llvm::SmallPtrSet<Operation *, 32> visited;
  // Ops with the number of their operands that were visited.
  SmallVector<std::pair<Operation *, unsigned>> open;
  auto visit = [&](Operation *root) {
    if (!visited.insert(root).second)
      return;
    open.push_back({root, 0});
    while (!open.empty()) {
      auto &[op, operand] = open.back();
      if (operand == op->getNumOperands()) {
        order.push_back(op);
        open.pop_back();
        continue;
      }
      Operation *source = op->getOperand(operand++).getDefiningOp();
      if (source && isInRun(source) && visited.insert(source).second)
        open.push_back({source, 0});
    }
  };
  ArrayRef<Operation *> all =
      ArrayRef(ops).slice(run.first, run.end - run.first);
  if (isReadFirst)
    for (Operation *op : all)
      if (!isMemoryEffectFree(op))
        visit(op);
  // Ops follow when they are needed, the others in their order.
  for (Operation *op : all) {
    auto isOnlyInside = [&](Value result) {
      int64_t last = lastUses.lookup(result);
      return last >= 0 && last < run.end;
    };
    if (op->getNumResults() == 0 ||
        !llvm::all_of(op->getResults(), isOnlyInside))
      visit(op);
  }
  return order;
}

int64_t Schedule::findPeak(Run run, ArrayRef<Operation *> order) const {
  // How many ops still have to use a value that is not used after the run.
  DenseMap<Value, int64_t> users;
  auto forEachEnding = [&](Operation *op, auto use) {
    llvm::SmallPtrSet<Value, 4> seen;
    for (Value operand : op->getOperands()) {
      auto it = lastUses.find(operand);
      if (it != lastUses.end() && it->second < run.end &&
          seen.insert(operand).second)
        use(operand);
    }
  };
  for (Operation *op : order)
    forEachEnding(op, [&](Value operand) { ++users[operand]; });
  int64_t now = live[run.first], peak = now;
  for (Operation *op : order) {
    // A result can reuse the register of an operand.
    forEachEnding(op, [&](Value operand) {
      if (--users[operand] == 0)
        now -= countWords(operand);
    });
    for (Value result : op->getResults())
      if (lastUses.lookup(result) >= 0)
        now += countWords(result);
    peak = std::max(peak, now);
  }
  return peak;
}

void Schedule::pinResults(Operation *op, Run run, PinFn hold) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    int64_t last = lastUses.lookup(result);
    if (last < run.end || !fillsWords(result.getType()))
      continue;
    Value held = hold(builder, result);
    result.replaceUsesWithIf(held, [&](OpOperand &use) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      auto position = positions.find(user);
      return position != positions.end() && position->second >= run.end;
    });
    lastUses[held] = last;
  }
}

void Schedule::reorder(int64_t budget, PinFn hold) {
  int64_t count = ops.size();
  for (int64_t first = 0; first < count; ++first) {
    if (!isMovable(ops[first]))
      continue;
    Run run = {first, first + 1};
    while (run.end < count && isMovable(ops[run.end]))
      ++run.end;
    first = run.end;
    ArrayRef<Operation *> old =
        ArrayRef(ops).slice(run.first, run.end - run.first);
    int64_t peak = findPeak(run, old);
    if (peak <= budget)
      continue;
    // Reads are issued early if their values fit in the registers.
    SmallVector<Operation *> order = orderDepthFirst(run, /*isReadFirst=*/true);
    int64_t newPeak = findPeak(run, order);
    if (newPeak > budget) {
      order = orderDepthFirst(run, /*isReadFirst=*/false);
      newPeak = findPeak(run, order);
    }
    if (newPeak >= peak)
      continue;
    // A block ends with a terminator, which is not movable.
    for (Operation *op : order)
      op->moveBefore(ops[run.end]);
    for (Operation *op : order)
      pinResults(op, run, hold);
  }
}

void block_to_thread::orderForRegisters(Operation *root, int64_t budget,
                                        PinFn hold) {
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    Schedule(*block).reorder(budget, hold);
}
