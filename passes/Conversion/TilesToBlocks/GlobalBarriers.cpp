//===- GlobalBarriers.cpp - Barriers between accesses to memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

namespace {

/// An access to an argument's memory since the last barrier.
struct Access {
  Operation *op = nullptr;
  Value memref;
  bool isWrite = false;
  bool isAtomic = false;
  /// The outermost loop of which it is from an earlier iteration, with other
  /// offset values.
  Operation *earlierIn = nullptr;

  bool operator==(const Access &other) const {
    return op == other.op && memref == other.memref &&
           earlierIn == other.earlierIn;
  }
};

/// Accesses of different threads to global memory are ordered only by a
/// barrier. If windows and layouts of two accesses are the same, each element
/// is accessed by one thread, and no barrier is needed. Different arguments do
/// not overlap in written elements.
class GlobalBarriers {
public:
  explicit GlobalBarriers(TilePlan &plan) : plan(plan) {}
  using State = SmallVector<Access>;

  void visit(Block &block, State &state) {
    for (Operation &op : block)
      visit(&op, state);
  }

private:
  void visit(Operation *op, State &state) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return visitLoop(op, state);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State other = state;
      visit(*branch.thenBlock(), state);
      if (branch.elseBlock())
        visit(*branch.elseBlock(), other);
      merge(state, other);
      return;
    }
    // A dot with MMAs has a block barrier; a wgmma dot only waits for copies.
    if (isa<triton_xla::DotOp>(op)) {
      if (plan.dots.contains(op))
        state.clear();
      return;
    }

    SmallVector<Access> accesses = getAccesses(op);
    bool needsBarrier = llvm::any_of(state, [&](const Access &before) {
      return llvm::any_of(accesses, [&](const Access &access) {
        return mustOrder(before, access);
      });
    });
    if (needsBarrier) {
      plan.barrierBefore.insert(op);
      state.clear();
    }
    llvm::append_range(state, accesses);
  }

  /// The accesses of an op without regions, one for each memref.
  static SmallVector<Access> getAccesses(Operation *op) {
    SmallVector<Access> accesses;
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || op->getNumRegions() != 0)
      return accesses;
    for (Value memref : op->getOperands()) {
      if (!isa<MemRefType>(memref.getType()))
        continue;
      Access access;
      access.op = op;
      access.memref = memref;
      access.isWrite =
          effects.getEffectOnValue<MemoryEffects::Write>(memref).has_value();
      access.isAtomic =
          isa<triton_xla::AtomicRMWOp, triton_xla::AtomicCASOp>(op);
      accesses.push_back(access);
    }
    return accesses;
  }

  /// A while loop leaves from its first region; after it, accesses of the
  /// second region may be the last ones, too.
  void visitLoop(Operation *loop, State &state) {
    State entry = state;
    size_t barriers;
    do {
      barriers = plan.barrierBefore.size();
      State body = entry;
      for (Region &region : loop->getRegions())
        visit(region.front(), body);
      for (Access &access : body)
        if (loop->isAncestor(access.op) &&
            (!access.earlierIn || loop->isAncestor(access.earlierIn)))
          access.earlierIn = loop;
      State next = state;
      merge(next, body);
      bool isStable =
          next.size() == entry.size() && barriers == plan.barrierBefore.size();
      entry = std::move(next);
      if (isStable)
        break;
    } while (true);
    state = std::move(entry);
  }

  static void merge(State &into, const State &from) {
    for (const Access &access : from)
      if (!llvm::is_contained(into, access))
        into.push_back(access);
  }

  bool mustOrder(const Access &before, const Access &after) const {
    if (before.memref != after.memref || (!before.isWrite && !after.isWrite) ||
        (before.isAtomic && after.isAtomic))
      return false;
    std::optional<Window> first = windowOf(before.op),
                          second = windowOf(after.op);
    if (first && second && isStrip(before, *first, *second))
      return false;
    if (before.earlierIn || !first || !second ||
        first->offsets != second->offsets || first->sizes != second->sizes ||
        first->strides != second->strides ||
        first->tile.getShape() != second->tile.getShape())
      return true;
    Attribute layout = layoutAt(before.op);
    return !layout || layout != layoutAt(after.op) || isReplicated(layout);
  }

  /// Whether all elements of an array are known to have different addresses:
  /// each stride exceeds the extent of the dimensions with smaller strides.
  static bool hasDistinctElements(MemRefType type) {
    if (type.getLayout().isIdentity())
      return true;
    SmallVector<int64_t> strides = type.getStridesAndOffset().first;
    SmallVector<std::pair<int64_t, int64_t>> dims;
    for (auto [stride, size] : llvm::zip_equal(strides, type.getShape())) {
      if (ShapedType::isDynamic(stride))
        return false;
      dims.emplace_back(stride < 0 ? -stride : stride, size);
    }
    llvm::sort(dims);
    int64_t extent = 0;
    for (auto [number, dim] : llvm::enumerate(dims)) {
      auto [stride, size] = dim;
      if (stride <= extent)
        return false;
      int64_t rest;
      if (number + 1 != dims.size() &&
          (ShapedType::isDynamic(size) ||
           llvm::MulOverflow(size - 1, stride, rest) ||
           llvm::AddOverflow(extent, rest, extent)))
        return false;
    }
    return true;
  }

  /// Whether the second window is beyond the first one, from an earlier
  /// iteration of a loop, because the loop variable is the offset of both and
  /// the step is at least the size.
  static bool isStrip(const Access &before, const Window &first,
                      const Window &second) {
    auto loop = dyn_cast_or_null<scf::ForOp>(before.earlierIn);
    std::optional<int64_t> step =
        loop ? getConstantIntValue(loop.getStep()) : std::nullopt;
    if (!step || *step <= 0)
      return false;
    OpFoldResult variable = loop.getInductionVar();
    if (!hasDistinctElements(first.memref.getType()))
      return false;
    for (size_t dim = 0; dim < first.offsets.size(); ++dim) {
      if (first.offsets[dim] != variable || second.offsets[dim] != variable)
        continue;
      int64_t last = (first.sizes[dim] - 1) * first.strides[dim];
      int64_t start = (second.sizes[dim] - 1) * second.strides[dim];
      if (*step + std::min<int64_t>(start, 0) > std::max<int64_t>(last, 0))
        return true;
    }
    return false;
  }

  Attribute layoutAt(Operation *op) const {
    if (auto insert = dyn_cast<triton_xla::InsertOp>(op))
      return plan.layouts.lookup(insert.getTile());
    return plan.layouts.lookup(op->getResult(0));
  }

  TilePlan &plan;
};

} // namespace

void smalti::placeGlobalBarriers(TilePlan &plan) {
  GlobalBarriers::State state;
  GlobalBarriers(plan).visit(plan.func.getBody().front(), state);
}
