//===- ReductionLowering.cpp - Reductions of vectors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Reductions/ThreadExchange.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using vector::CombiningKind;

namespace {
/// The operands and results of a reduction.
struct Reduction {
  ValueRange sources;
  /// One for each source, or none: vectors or scalars.
  ValueRange initial;
  ResultRange results;
  SmallVector<int64_t> axes;
  /// The element types in which it combines.
  SmallVector<Type> types;
};

struct ReductionOpPlan : OpPlan {
  /// The distribution of the sources.
  Distribution from;
  ReductionPlan reduction;
};

class Reductions : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override {
    placeScratch(planner.getPlan());
    return success();
  }
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

static Reduction getReduction(Operation *op) {
  if (auto reduce = dyn_cast<mosaic_gpu::ReduceOp>(op))
    return {reduce.getInputs(), reduce.getInits(), reduce.getResults(),
            SmallVector<int64_t>(reduce.getDims()),
            mosaic_gpu::getElementTypes(reduce.getInputs().getTypes())};
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  ValueRange operands = op->getOperands();
  if (auto reduce = dyn_cast<vector::MultiDimReductionOp>(op))
    return {operands.take_front(1),
            operands.drop_front(),
            op->getResults(),
            SmallVector<int64_t>(reduce.getReductionDims()),
            {getWideType(element, reduce.getKind())}};
  return {operands.take_front(1),
          operands.drop_front(),
          op->getResults(),
          {0},
          {getWideType(element, cast<vector::ReductionOp>(op).getKind())}};
}

static std::unique_ptr<Combiner>
createCombiner(Operation *op, const Emitter &emitter, OpBuilder &builder) {
  if (auto reduce = dyn_cast<mosaic_gpu::ReduceOp>(op))
    return createRegionCombiner(builder, emitter, reduce.getBody());
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  Location loc = op->getLoc();
  if (auto reduce = dyn_cast<vector::MultiDimReductionOp>(op))
    return createKindCombiner(builder, loc, element, reduce.getKind(),
                              arith::FastMathFlagsAttr());
  auto reduce = cast<vector::ReductionOp>(op);
  return createKindCombiner(builder, loc, element, reduce.getKind(),
                            reduce.getFastmathAttr());
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// The layout attribute of a reduced vector.
static Attribute getResultLayout(const layout::RegisterLayout &layout,
                                 VectorType type) {
  MLIRContext *context = type.getContext();
  if (auto *tiled = std::get_if<layout::TiledLayout>(&layout))
    return mosaic_gpu::TiledLayoutAttr::get(context, *tiled);
  if (auto *strided = std::get_if<layout::StridedLayout>(&layout))
    return mosaic_gpu::WGStridedFragLayoutAttr::get(context, type.getShape(),
                                                    strided->vectorSize);
  return mosaic_gpu::WGSplatFragLayoutAttr::get(context, type.getShape());
}

/// Sets the layouts of vector results, and checks that they are the reduced
/// layout.
static LogicalResult planResults(Operation *op, const Reduction &reduction,
                                 const Distribution &from, Planner &planner) {
  auto reduced =
      layout::reduce(getRegisterLayout(from), from.getShape(), reduction.axes,
                     /*keepDims=*/false, planner.getGrid().numThreads);
  if (!reduced)
    return op->emitOpError() << "cannot reduce a vector in layout "
                             << from.str() << ": " << reduced.reason;
  auto canonical = [](layout::RegisterLayout layout) {
    if (auto *tiled = std::get_if<layout::TiledLayout>(&layout))
      return layout::RegisterLayout(tiled->canonical());
    return layout;
  };
  for (auto [index, result] : llvm::enumerate(reduction.results)) {
    Attribute declared = layoutAt(op, mosaic_gpu::kOutLayouts, index);
    if (!declared)
      declared = getResultLayout(*reduced, cast<VectorType>(result.getType()));
    if (failed(planner.setLayout(op, result, declared)))
      return failure();
    const Distribution &to = *planner.find(result);
    const Distribution &first = *planner.find(reduction.results.front());
    if (to != first)
      return op->emitOpError()
             << "has results in layouts " << first.str() << " and " << to.str()
             << "; all results must have the same layout: change 'out_layouts'";
    // A splat can be reduced to any layout.
    if (!from.isSplat() &&
        !(canonical(getRegisterLayout(to)) == canonical(*reduced)))
      return op->emitOpError()
             << "has a result in layout " << to.str()
             << ", but the reduction of a vector in layout " << from.str()
             << " gives another layout; set the layout of the result in "
                "'out_layouts' to "
             << getResultLayout(canonical(*reduced),
                                cast<VectorType>(result.getType()));
    if (reduction.initial.empty() || !isVector(reduction.initial[index]))
      continue;
    const Distribution &initial = *planner.find(reduction.initial[index]);
    if (!initial.isSplat() && initial != to)
      return op->emitOpError()
             << "has an initial value in layout " << initial.str()
             << ", but a result in layout " << to.str()
             << "; insert 'mosaic_gpu.layout_cast' on the initial value";
  }
  return success();
}

LogicalResult Reductions::plan(Operation *op, Planner &planner) const {
  Reduction reduction = getReduction(op);
  if (auto reduce = dyn_cast<mosaic_gpu::ReduceOp>(op)) {
    if (failed(checkCombiningRegion(op, reduce.getBody())))
      return failure();
  } else {
    Type element = getElementTypeOrSelf(reduction.sources.front().getType());
    if (isa<FloatType>(element) && !element.isF16() && !element.isBF16() &&
        !element.isF32() && !element.isF64())
      return op->emitOpError() << "reduces elements of type " << element
                               << ", which is not supported; convert the "
                                  "vector to f16, bf16, f32 or f64 first";
  }
  auto plan = std::make_unique<ReductionOpPlan>();
  if (failed(
          findCommonDistribution(op, reduction.sources, planner, plan->from)))
    return failure();
  const Distribution &from = plan->from;
  const Distribution *to = nullptr;
  if (isVector(reduction.results.front())) {
    if (failed(planResults(op, reduction, from, planner)))
      return failure();
    to = planner.find(reduction.results.front());
  }
  if (!from.isSplat()) {
    plan->reduction =
        planReduction(from, to, reduction.axes, planner.getGrid());
    if (plan->reduction.warps.parts > 1 &&
        failed(planWarpExchange(
            op, reduction.types,
            plan->reduction.resultElements(from.getVectorLength()), planner,
            plan->reduction.warps)))
      return failure();
  }
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Combines the tuples of the lanes of a warp with one instruction per word, if
/// the target has the instruction.
static bool emitWaveReductions(OpBuilder &builder, Location loc,
                               Emitter &emitter, const ReductionPlan &plan,
                               const Combiner &combiner,
                               MutableArrayRef<Tuple> tuples) {
  std::optional<CombiningKind> kind = combiner.getKind();
  if (!kind || !combiner.getTypes().front().isInteger(32) ||
      int64_t(1) << plan.laneBits.size() != emitter.plan.grid.waveSize)
    return false;
  for (Tuple &tuple : tuples) {
    SmallVector<Value> words;
    for (Value word : toWords(builder, loc, tuple.front())) {
      Value reduced =
          emitter.vendor.emitWaveReduction(builder, loc, word, *kind);
      if (!reduced)
        return false;
      words.push_back(reduced);
    }
    tuple = {fromWords(builder, loc, words,
                       cast<VectorType>(tuple.front().getType()))};
  }
  return true;
}

/// Combines the tuples of the lanes of a warp; all lanes get the results.
static void emitLanes(OpBuilder &builder, Location loc, Emitter &emitter,
                      const ReductionPlan &plan, const Combiner &combiner,
                      SmallVector<Tuple> &tuples) {
  if (emitWaveReductions(builder, loc, emitter, plan, combiner, tuples))
    return;
  int64_t lanes = emitter.plan.grid.waveSize;
  int64_t length =
      cast<VectorType>(tuples.front().front().getType()).getDimSize(0);
  SmallVector<Tuple> joined =
      joinTuples(builder, loc, tuples, getPacking(combiner.getTypes(), length));
  for (Tuple &tuple : joined) {
    LaneMove move;
    move.sources.resize(lanes);
    for (int64_t bit : plan.laneBits) {
      for (auto [lane, source] : llvm::enumerate(move.sources))
        source = static_cast<int64_t>(lane) ^ bit;
      tuple = combiner.combine(
          tuple, emitTupleMove(builder, loc, emitter, tuple, move));
      move.same |= bit;
    }
  }
  tuples = splitTuples(builder, loc, joined, length);
}

void Reductions::emit(Operation *op, Emitter &emitter,
                      OpBuilder &builder) const {
  Reduction reduction = getReduction(op);
  Location loc = op->getLoc();
  const auto &opPlan = *emitter.plan.getOpPlan<ReductionOpPlan>(op);
  const ReductionPlan &plan = opPlan.reduction;
  const Distribution &from = opPlan.from;
  std::unique_ptr<Combiner> combiner = createCombiner(op, emitter, builder);
  SmallVector<Registers> held;
  for (Value source : reduction.sources)
    held.push_back(emitter.getRegisters(source, from, builder));
  auto getTuple = [&](int64_t reg) {
    return llvm::map_to_vector<2>(held, [&](const Registers &registers) {
      return combiner->widen(registers[reg]);
    });
  };

  SmallVector<Tuple> tuples;
  if (from.isSplat()) {
    int64_t count = 1;
    for (int64_t axis : reduction.axes)
      count *= from.getShape()[axis];
    tuples.push_back(combiner->repeat(getTuple(0), count));
  } else {
    for (ArrayRef<int64_t> sources : plan.sources) {
      Tuple tuple = combiner->combine(llvm::map_to_vector(sources, getTuple));
      if (plan.reducesElements)
        tuple = combiner->combineElements(tuple);
      tuples.push_back(std::move(tuple));
    }
    if (!plan.laneBits.empty())
      emitLanes(builder, loc, emitter, plan, *combiner, tuples);
    if (plan.warps.parts > 1)
      tuples = emitWarpExchange(builder, loc, emitter, plan.warps, tuples,
                                [&](ArrayRef<Tuple> parts) {
                                  return SmallVector<Tuple>{
                                      combiner->combine(parts)};
                                })
                   .front();
  }

  // The initial values, once per result.
  auto getSplats = [&](ValueRange scalars, const Combiner &by, int64_t length) {
    return llvm::map_to_vector<2>(scalars, [&](Value scalar) -> Value {
      Value wide = by.widen(emitter.lookup(scalar));
      return vector::BroadcastOp::create(
          builder, loc, VectorType::get({length}, wide.getType()), wide);
    });
  };
  if (!isVector(reduction.results.front())) {
    Tuple result = tuples.front();
    if (!reduction.initial.empty())
      result =
          combiner->combine(getSplats(reduction.initial, *combiner, 1), result);
    for (auto [value, vector] : llvm::zip_equal(reduction.results, result))
      emitter.map(value, combiner->narrow(vector::ExtractOp::create(
                             builder, loc, vector, ArrayRef<int64_t>{0})));
    return;
  }
  const Distribution &to =
      emitter.plan.getDistribution(reduction.results.front());
  if (from.isSplat()) {
    Tuple splat =
        llvm::map_to_vector<2>(tuples.front(), [&](Value vector) -> Value {
          Value scalar = vector::ExtractOp::create(builder, loc, vector,
                                                   ArrayRef<int64_t>{0});
          return vector::BroadcastOp::create(
              builder, loc, to.getRegisterType(scalar.getType()), scalar);
        });
    tuples.assign(to.getNumRegisters(), splat);
  }
  SmallVector<Registers> results(reduction.results.size());
  SmallVector<Registers> initial;
  for (Value value : reduction.initial)
    initial.push_back(
        isVector(value)
            ? emitter.getRegisters(value, to, builder)
            : Registers(to.getNumRegisters(),
                        vector::BroadcastOp::create(
                            builder, loc, to.getRegisterType(value.getType()),
                            emitter.lookup(value))));
  for (auto [reg, tuple] : llvm::enumerate(tuples)) {
    Tuple first = llvm::map_to_vector<2>(
        initial, [&, reg = reg](const Registers &registers) {
          return combiner->widen(registers[reg]);
        });
    for (auto [list, value] :
         llvm::zip_equal(results, combiner->combine(first, tuple)))
      list.push_back(combiner->narrow(value));
  }
  for (auto [result, registers] : llvm::zip_equal(reduction.results, results))
    emitter.setRegisters(result, std::move(registers));
}

void block_to_thread::registerReductions(OpLowerings &lowerings) {
  lowerings.add<Reductions, mosaic_gpu::ReduceOp, vector::MultiDimReductionOp,
                vector::ReductionOp>();
}
