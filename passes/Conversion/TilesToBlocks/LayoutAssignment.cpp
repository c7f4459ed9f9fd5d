//===- LayoutAssignment.cpp - Layouts of the tiles of a kernel ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that element-wise ops, loops and branches connect form a class, which
// has one layout. A reduction, broadcast, transpose or reshape relates the
// layouts of two classes: with the related layout, every thread keeps its
// elements. Classes get their layouts in this order:
//
//   1. the layout of an MMA accumulator;
//   2. a layout that a relation derives from a class that has one;
//   3. a blocked layout, if the class is reduced, scanned or broadcast to;
//   4. the layout with the widest accesses to global memory.
//
// The emitter changes the layout of a tile where a relation does not hold.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace smalti;
using targets::Target;

/// The last dimension that the tile has.
static int64_t getLastDim(const Window &window) {
  int64_t last = static_cast<int64_t>(window.sizes.size()) - 1;
  while (last > 0 && window.dropped.test(last))
    --last;
  return last;
}

static unsigned log2ElementBytes(const Window &window) {
  return llvm::Log2_64(std::max<int64_t>(
      getElementBytes(window.memref.getType().getElementType()).value_or(1),
      1));
}

/// `log2Run`; with `hasAllFacts`, as if dynamic sizes and strides were
/// multiples of every power of two.
static unsigned getRun(const Window &window, bool hasAllFacts) {
  constexpr unsigned all = 62;
  auto memref = cast<BlockArgument>(window.memref);
  MemRefType type = window.memref.getType();
  auto rank = static_cast<int64_t>(window.sizes.size());
  int64_t last = getLastDim(window);
  auto [strides, offset] = type.getStridesAndOffset();
  if (rank == 0 || strides[last] != 1 || window.strides[last] != 1)
    return 0;
  unsigned run = hasAllFacts && type.isDynamicDim(last)
                     ? all
                     : log2SizeDivisor(memref, last);
  run = std::min({run, log2Divisor(offset), log2Divisor(window.sizes[last])});
  unsigned alignment = log2ArgumentAlignment(memref);
  unsigned log2Element = log2ElementBytes(window);
  run = std::min(run, alignment > log2Element ? alignment - log2Element : 0);
  for (int64_t dim = 0; dim < rank; ++dim) {
    unsigned stride = hasAllFacts && ShapedType::isDynamic(strides[dim])
                          ? all
                          : log2StrideDivisor(memref, dim);
    run = std::min(run, log2Divisor(window.offsets[dim]) + stride);
    if (dim != last && window.sizes[dim] > 1)
      run = std::min(run, log2Divisor(window.strides[dim]) + stride);
  }
  return run;
}

unsigned smalti::log2Run(const Window &window) {
  return getRun(window, /*hasAllFacts=*/false);
}

std::optional<std::string> smalti::findMissingFact(const Window &window) {
  unsigned log2Element = log2ElementBytes(window),
           possible =
               std::min(getRun(window, /*hasAllFacts=*/true),
                        unsigned(llvm::Log2_64(kMaxAccessBytes)) - log2Element);
  if (log2Run(window) >= possible)
    return std::nullopt;
  auto memref = cast<BlockArgument>(window.memref);
  int64_t bytes = int64_t(1) << (possible + log2Element);
  for (int64_t dim = 0; dim < window.memref.getType().getRank(); ++dim)
    if (auto reason = findMissingStrideFact(memref, dim, bytes))
      return reason;
  return findMissingSizeFact(memref, getLastDim(window), bytes);
}

static int64_t bitWidth(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

namespace {

/// Sets of tiles that must have the same layout.
class TileClasses {
public:
  unsigned idOf(Value value) {
    auto [it, isNew] = ids.try_emplace(value, parents.size());
    if (isNew) {
      parents.push_back(it->second);
      values.push_back(value);
    }
    return find(it->second);
  }
  void join(Value a, Value b) {
    unsigned first = idOf(a), second = idOf(b);
    // The older id is the root, so that the result is deterministic.
    parents[std::max(first, second)] = std::min(first, second);
  }
  ArrayRef<Value> getValues() const { return values; }

private:
  unsigned find(unsigned id) {
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }
  DenseMap<Value, unsigned> ids;
  SmallVector<unsigned> parents;
  SmallVector<Value> values;
};

/// A layout of one class that follows from that of another.
struct Relation {
  Value from, to;
  /// The layout of `to`; null if none exists.
  std::function<Attribute(Attribute)> derive;
  /// Whether the layout is derived even if `to` accesses global memory.
  bool isStrong = true;
};

struct ClassInfo {
  Attribute layout;
  /// The widest element in bits, and the narrowest one that memory has.
  int64_t maxBits = 0, minMemoryBits = 0;
  /// The widest vector that every access to global memory allows.
  std::optional<unsigned> log2Run;
  /// Whether the class is reduced, scanned, the result of a broadcast, or
  /// transposed without a change of layout.
  bool isBlocked = false;
  int64_t elements = 0;
};

class Assignment {
public:
  Assignment(TilePlan &plan, const Target &target)
      : plan(plan), target(target), context(plan.func.getContext()) {}

  LogicalResult run();

private:
  void join(Operation *op);
  void relate(Operation *op);
  bool hasScratch(Value tile);
  void collectAccesses(Operation *op);
  void setAccumulators();
  void propagate();
  void setDefault(ClassInfo &info, ArrayRef<int64_t> shape);
  LogicalResult checkRegisters(Value value, Attribute layout);
  ClassInfo &infoOf(Value value) { return infos[classes.idOf(value)]; }
  ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  TilePlan &plan;
  const Target &target;
  MLIRContext *context;
  TileClasses classes;
  DenseMap<unsigned, ClassInfo> infos;
  SmallVector<Relation> relations;
};

} // namespace

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

void Assignment::join(Operation *op) {
  // Every tile has a class, except splats.
  Value first;
  auto join = [&](Value value) {
    if (!isTile(value) || isSplat(value))
      return;
    if (first)
      classes.join(first, value);
    else
      first = value;
    classes.idOf(value);
  };
  auto joinAll = [&](ArrayRef<Value> values) {
    first = {};
    for (Value value : values)
      join(value);
  };

  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      joinAll({result, argument, init, yielded});
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] :
         llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                         loop.getYieldOp().getOperands()))
      joinAll({argument, init, yielded});
    for (auto [passed, argument, result] :
         llvm::zip_equal(loop.getConditionOp().getArgs(),
                         loop.getAfterArguments(), loop.getResults()))
      joinAll({result, argument, passed});
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [index, result] : llvm::enumerate(branch.getResults()))
      joinAll({result, branch.thenYield().getOperand(index),
               branch.elseYield().getOperand(index)});
    return;
  }
  if (auto dot = dyn_cast<triton_xla::DotOp>(op))
    return joinAll({dot.getResult(), dot.getAccumulator()});
  if (isa<scf::YieldOp, scf::ConditionOp, triton_xla::InsertOp>(op) ||
      (op->getNumResults() == 1 && isSplat(op->getResult(0))))
    return;
  if (changesShape(op)) {
    if (op->getNumResults() == 1 && getOperandTranspose(op->getResult(0)))
      return; // Not in registers.
    for (Value value : op->getResults())
      joinAll({value});
    // All inputs of a variadic reduction have one layout, and so do its
    // results.
    if (isa<triton_xla::ReduceOp>(op)) {
      joinAll(llvm::to_vector_of<Value>(op->getResults()));
      joinAll(llvm::to_vector_of<Value>(
          cast<triton_xla::ReduceOp>(op).getInputs()));
    }
    return;
  }
  for (Value value : op->getResults())
    join(value);
  for (Value value : op->getOperands())
    join(value);
}

void Assignment::collectAccesses(Operation *op) {
  std::optional<Window> window = windowOf(op);
  if (!window)
    return;
  Value tile =
      isa<triton_xla::ExtractOp>(op) ? op->getResult(0) : op->getOperand(0);
  if (isSplat(tile) || !isTile(tile))
    return;
  ClassInfo &info = infoOf(tile);
  int64_t bits = bitWidth(window->tile.getElementType());
  info.minMemoryBits =
      info.minMemoryBits == 0 ? bits : std::min(info.minMemoryBits, bits);
  std::optional<unsigned> &run = info.log2Run;
  unsigned here = log2Run(*window);
  run = run ? std::min(*run, here) : here;
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

/// Whether a tile can change its layout in shared memory. In a kernel with
/// dots, the buffers of operands may take all of it.
bool Assignment::hasScratch(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return plan.dots.empty() && plan.wgmmaDots.empty() &&
         type.getNumElements() * bitWidth(type.getElementType()) / 8 <=
             target.sharedMemoryPerBlock / 2;
}

void Assignment::relate(Operation *op) {
  auto add = [&](Value from, Value to,
                 std::function<Attribute(Attribute)> derive, bool isStrong) {
    if (isTile(from) && isTile(to) && !isSplat(from) && !isSplat(to))
      relations.push_back({from, to, std::move(derive), isStrong});
  };
  const BlockShape &block = plan.block;
  if (auto reduce = dyn_cast<triton_xla::ReduceOp>(op)) {
    Value input = reduce.getInputs().front();
    if (isSplat(input))
      return;
    infoOf(input).isBlocked = true;
    auto shape = shapeOf(input), dims = reduce.getDims();
    add(
        input, reduce.getResults().front(),
        [=](Attribute layout) {
          return getReducedLayout(layout, shape, dims,
                                  /*keepDims=*/false, block);
        },
        /*isStrong=*/true);
    return;
  }
  if (auto scan = dyn_cast<triton_xla::ScanOp>(op)) {
    for (Value result : scan.getResults())
      infoOf(result).isBlocked = true;
    return;
  }
  if (auto broadcast = dyn_cast<triton_xla::BroadcastOp>(op)) {
    Value operand = broadcast.getTile(), result = broadcast.getResult();
    if (!isTile(operand))
      return;
    infoOf(result).isBlocked = true;
    add(
        result, operand,
        [=, from = shapeOf(operand), to = shapeOf(result),
         dims = broadcast.getDims()](Attribute layout) {
          return getBroadcastOperandLayout(layout, from, to, dims, block);
        },
        /*isStrong=*/true);
    return;
  }
  if (auto transpose = dyn_cast<triton_xla::TransposeOp>(op)) {
    if (getOperandTranspose(transpose.getResult()))
      return;
    Value operand = transpose.getTile(), result = transpose.getResult();
    auto permutation = transpose.getPermutation();
    SmallVector<int64_t> inverse = invertPermutationVector(permutation);
    bool isStrong = !hasScratch(result);
    // A strided layout often does not have a transpose.
    if (isStrong && !isSplat(operand) && !isSplat(result))
      infoOf(operand).isBlocked = infoOf(result).isBlocked = true;
    add(
        operand, result,
        [=, shape = shapeOf(operand)](Attribute layout) {
          return getTransposedLayout(layout, shape, permutation);
        },
        isStrong);
    add(
        result, operand,
        [=, shape = shapeOf(result)](Attribute layout) {
          return getTransposedLayout(layout, shape, inverse);
        },
        isStrong);
    return;
  }
  if (isa<triton_xla::ReshapeOp>(op)) {
    Value operand = op->getOperand(0), result = op->getResult(0);
    if (!isTile(operand) || !isTile(result))
      return;
    auto from = shapeOf(operand), to = shapeOf(result);
    add(
        operand, result,
        [=](Attribute layout) { return getReshapedLayout(layout, from, to); },
        /*isStrong=*/false);
    add(
        result, operand,
        [=](Attribute layout) { return getReshapedLayout(layout, to, from); },
        /*isStrong=*/false);
  }
}

void Assignment::propagate() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Relation &relation : relations) {
      Attribute from = infoOf(relation.from).layout;
      ClassInfo &to = infoOf(relation.to);
      if (!from || to.layout || (to.log2Run && !relation.isStrong))
        continue;
      if (Attribute derived = relation.derive(from)) {
        to.layout = derived;
        changed = true;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The layout of an accumulator is that of its MMA. If dots of one class use
/// different MMAs, the first one decides.
void Assignment::setAccumulators() {
  auto set = [&](Value tile, Attribute layout) {
    if (isSplat(tile))
      return;
    ClassInfo &info = infoOf(tile);
    if (!info.layout)
      info.layout = layout;
  };
  for (auto &[op, dot] : plan.wgmmaDots) {
    auto layout = mosaic_gpu::TiledLayoutAttr::get(
        context, getWarpgroupAccumulator(plan.block.numWarps / 4));
    set(op->getResult(0), layout);
    if (!dot.lhs)
      set(triton_xla::DotOp(dot.dot).getLhs(), layout);
  }
  for (auto &[op, dot] : plan.dots)
    set(op->getResult(0),
        mosaic_gpu::TiledLayoutAttr::get(context, dot.mma.accumulator));
}

void Assignment::setDefault(ClassInfo &info, ArrayRef<int64_t> shape) {
  // The narrowest elements in memory have the widest accesses; wider elements
  // have several accesses per vector.
  int64_t bits = info.log2Run ? info.minMemoryBits : info.maxBits;
  int64_t maxVector =
      std::max<int64_t>(1, kMaxAccessBytes * 8 / std::max<int64_t>(8, bits));
  if (info.log2Run)
    maxVector =
        std::min(maxVector, int64_t(1) << std::min<unsigned>(*info.log2Run, 8));
  info.layout = info.isBlocked
                    ? chooseBlockedLayout(context, shape, maxVector, plan.block)
                    : chooseTileLayout(context, shape, maxVector, plan.block);
}

LogicalResult Assignment::checkRegisters(Value value, Attribute layout) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t registers =
      layout ? llvm::divideCeil(
                   elementsPerThread(layout, type.getShape(), plan.block) *
                       bitWidth(type.getElementType()),
                   32)
             // Layouts do not support more than 2^63 elements.
             : countRegistersOf(type, plan.block.threads());
  return checkRegistersOf(value.getLoc(), "tile", type, registers,
                          plan.block.threads(), getMaxTileRegisters(target),
                          target.name);
}

LogicalResult Assignment::run() {
  Region &body = plan.func.getBody();
  body.walk<WalkOrder::PreOrder>([&](Operation *op) { join(op); });
  for (Value value : classes.getValues()) {
    auto type = cast<RankedTensorType>(value.getType());
    ClassInfo &info = infoOf(value);
    info.maxBits = std::max(info.maxBits, bitWidth(type.getElementType()));
    info.elements = type.getNumElements();
  }
  body.walk([&](Operation *op) {
    collectAccesses(op);
    relate(op);
  });

  // A tile that is copied directly to shared memory is not in registers.
  SmallVector<Value> tiles;
  for (Value value : classes.getValues()) {
    if (plan.asyncCopies.contains(value.getDefiningOp()) ||
        plan.tensorCopies.contains(value.getDefiningOp()))
      continue;
    if (failed(checkRegisters(value, {})))
      return failure();
    tiles.push_back(value);
  }

  // Threads of a strided layout split rows of other lengths, which the tiles of
  // a swizzled buffer do not support.
  for (auto &[op, dot] : plan.wgmmaDots)
    for (const TensorWindow *window : {dot.lhs ? &*dot.lhs : nullptr, &dot.rhs})
      if (window && window->stored &&
          !llvm::isPowerOf2_64(shapeOf(window->stored).back()))
        infoOf(window->stored).isBlocked = true;
  setAccumulators();
  propagate();
  // The largest blocked class first: the others follow from it.
  SmallVector<Value> order(tiles);
  llvm::stable_sort(order, [&](Value a, Value b) {
    const ClassInfo &first = infoOf(a), &second = infoOf(b);
    return std::make_tuple(!first.isBlocked, !first.log2Run, -first.elements) <
           std::make_tuple(!second.isBlocked, !second.log2Run,
                           -second.elements);
  });
  for (Value value : order) {
    ClassInfo &info = infoOf(value);
    if (info.layout)
      continue;
    setDefault(info, shapeOf(value));
    propagate();
  }
  for (Value value : tiles) {
    Attribute layout = infoOf(value).layout;
    plan.layouts[value] = layout;
    if (failed(checkRegisters(value, layout)))
      return failure();
  }
  return success();
}

int64_t smalti::getMaxTileRegisters(const Target &target) {
  return llvm::divideCeil(target.registersPerThread, 2);
}

LogicalResult smalti::assignLayouts(TilePlan &plan, const Target &target) {
  return Assignment(plan, target).run();
}
