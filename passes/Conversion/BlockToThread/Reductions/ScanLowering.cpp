//===- ScanLowering.cpp - Scans of vectors --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Reductions/ThreadExchange.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using Kind = ScanDigit::Kind;

namespace {
struct ScanOpPlan : OpPlan {
  ScanPlan scan;
};

class Scans : public LoweringOf<mosaic_gpu::ScanOp> {
public:
  LogicalResult plan(mosaic_gpu::ScanOp op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override {
    placeScratch(planner.getPlan());
    return success();
  }
  void emit(mosaic_gpu::ScanOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

/// The prefixes along one digit: in item `i`, those that end with its digit,
/// and those that end before it (for registers, they are the inclusive ones of
/// another item). `isFirst` is whether the digit of the thread is the first.
struct Prefixes {
  SmallVector<Tuple> inclusive, exclusive;
  Value isFirst;
};

class ScanEmitter {
public:
  ScanEmitter(mosaic_gpu::ScanOp op, const ScanPlan &plan, Emitter &emitter,
              OpBuilder &builder)
      : op(op), plan(plan), emitter(emitter), builder(builder),
        loc(op.getLoc()),
        combiner(createRegionCombiner(builder, emitter, op.getBody())),
        isReverse(op.getReverse()), isInclusive(!op.getExclusive()) {}

  void emit();

private:
  using Items = ArrayRef<int64_t>;

  SmallVector<Tuple> getItems(const Distribution &distribution);
  void scanRegisters(const ScanDigit &digit, Items items, Prefixes &prefixes);
  void scanLanes(const ScanDigit &digit, Items items, bool needsExclusive,
                 bool needsTotals, Prefixes &prefixes);
  void scanWarps(const ScanDigit &digit, Items items, Prefixes &prefixes);
  /// Combines values before the items with the prefixes along a digit.
  void addPrefixes(const ScanDigit &digit, Items items, bool takesInclusive,
                   const Prefixes &prefixes, SmallVector<Tuple> &before);

  /// The number of an element with this digit in the order of the scan, and
  /// back.
  int64_t reorder(const ScanDigit &digit, int64_t number) const {
    return isReverse ? digit.size - 1 - number : number;
  }
  /// The same for the digit of the thread, at the head of the kernel.
  Value getNumber(const ScanDigit &digit);
  Value isGreater(Value number, int64_t constant);
  /// Chooses `ifTrue` if the condition holds.
  Tuple select(Value condition, const Tuple &ifTrue, const Tuple &ifFalse);
  SmallVector<Tuple> take(Items items) const {
    return llvm::map_to_vector(items,
                               [&](int64_t item) { return totals[item]; });
  }

  mosaic_gpu::ScanOp op;
  const ScanPlan &plan;
  Emitter &emitter;
  OpBuilder &builder;
  Location loc;
  std::unique_ptr<Combiner> combiner;
  bool isReverse, isInclusive;
  /// The totals of the elements that differ only in the digits that are already
  /// scanned; of registers, in the item with digit 0.
  SmallVector<Tuple> totals;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

LogicalResult Scans::plan(mosaic_gpu::ScanOp op, Planner &planner) const {
  if (failed(checkCombiningRegion(op, op.getBody())))
    return failure();
  Distribution from;
  if (failed(findCommonDistribution(op, op.getInputs(), planner, from)))
    return failure();
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    if (Attribute declared = layoutAt(op, mosaic_gpu::kOutLayouts, index)) {
      if (failed(planner.setLayout(op, result, declared)))
        return failure();
    } else {
      planner.setDistribution(result, from);
    }
    const Distribution &to = *planner.find(result);
    if (to.isSplat())
      return op.emitOpError() << "has a result in the splat layout, in which "
                                 "all elements are equal, but the prefixes of "
                                 "a scan may differ; use another layout";
    const Distribution &first = *planner.find(op.getResult(0));
    const Distribution &other = from.isSplat() ? first : from;
    if ((!from.isSplat() && to != from) || to != first)
      return op.emitOpError()
             << "has a result in layout " << to.str()
             << ", but an input or another result in layout " << other.str()
             << "; all must have the same layout";
  }
  const Distribution &to = *planner.find(op.getResult(0));
  auto scan =
      planScan(to, static_cast<int64_t>(op.getDim()), planner.getGrid());
  if (!scan)
    return op.emitOpError() << "cannot scan a vector in layout " << to.str()
                            << ": " << scan.reason;
  auto plan = std::make_unique<ScanOpPlan>();
  plan->scan = *scan;
  int64_t items = plan->scan.items;
  int64_t length = plan->scan.splitsElements ? 1 : to.getVectorLength();
  for (ScanDigit &digit : plan->scan.digits) {
    if (digit.kind == Kind::Register)
      items /= digit.size;
    else if (digit.kind == Kind::Warp &&
             failed(planWarpExchange(
                 op, mosaic_gpu::getElementTypes(op.getInputs().getTypes()),
                 items * length, planner, digit.warps)))
      return failure();
  }
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Value ScanEmitter::getNumber(const ScanDigit &digit) {
  ThreadIndices &indices = emitter.indices;
  Value number = indices.div(indices.getThread(), digit.step);
  if (digit.step * digit.size < indices.getGrid().numThreads)
    number = indices.rem(number, digit.size);
  if (!isReverse)
    return number;
  return arith::SubIOp::create(indices.getBuilder(), indices.getLoc(),
                               indices.getConstant(digit.size - 1), number);
}

Value ScanEmitter::isGreater(Value number, int64_t constant) {
  ThreadIndices &indices = emitter.indices;
  return arith::CmpIOp::create(indices.getBuilder(), indices.getLoc(),
                               arith::CmpIPredicate::ugt, number,
                               indices.getConstant(constant));
}

Tuple ScanEmitter::select(Value condition, const Tuple &ifTrue,
                          const Tuple &ifFalse) {
  Tuple results;
  for (auto [first, second] : llvm::zip_equal(ifTrue, ifFalse))
    results.push_back(
        arith::SelectOp::create(builder, loc, condition, first, second));
  return results;
}

SmallVector<Tuple> ScanEmitter::getItems(const Distribution &distribution) {
  SmallVector<Tuple> tuples(distribution.getNumRegisters());
  for (Value input : op.getInputs())
    for (auto [tuple, value] : llvm::zip_equal(
             tuples, emitter.getRegisters(input, distribution, builder)))
      tuple.push_back(value);
  return plan.splitsElements ? splitTuples(builder, loc, tuples, /*length=*/1)
                             : tuples;
}

void ScanEmitter::scanRegisters(const ScanDigit &digit, Items items,
                                Prefixes &prefixes) {
  for (int64_t item : items) {
    if (item / digit.step % digit.size != 0)
      continue;
    Tuple total;
    for (int64_t number = 0; number < digit.size; ++number) {
      int64_t other = item + reorder(digit, number) * digit.step;
      total =
          number == 0 ? totals[other] : combiner->combine(total, totals[other]);
      prefixes.inclusive[other] = total;
    }
    totals[item] = total;
  }
}

void ScanEmitter::scanLanes(const ScanDigit &digit, Items items,
                            bool needsExclusive, bool needsTotals,
                            Prefixes &prefixes) {
  int64_t lanes = emitter.plan.grid.waveSize, size = digit.size;
  Value number = getNumber(digit);
  prefixes.isFirst = arith::CmpIOp::create(
      emitter.indices.getBuilder(), emitter.indices.getLoc(),
      arith::CmpIPredicate::eq, number, emitter.indices.getConstant(0));
  // Lane `source(number)` of the same digits, where it is not negative.
  auto getMove = [&](llvm::function_ref<int64_t(int64_t)> getSource) {
    LaneMove move;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t own = lane / digit.step % size;
      int64_t source = getSource(reorder(digit, own));
      move.sources.push_back(
          source < 0 ? -1 : lane + (reorder(digit, source) - own) * digit.step);
    }
    return move;
  };
  SmallVector<Tuple> tuples = take(items);
  int64_t length =
      cast<VectorType>(tuples.front().front().getType()).getDimSize(0);
  SmallVector<Tuple> joined = joinTuples(
      builder, loc, tuples, getPacking(combiner->getTypes(), length));
  SmallVector<Tuple> exclusive, all;
  for (Tuple &tuple : joined) {
    // First in rows of lanes in which shifts are fast, then across rows: there,
    // lanes read the last lane of the preceding half.
    int64_t row = std::clamp<int64_t>(
        emitter.vendor.getShiftedLanes() / digit.step, 1, size);
    for (int64_t step = 1; step < size; step *= 2) {
      bool isShift = step < row;
      int64_t period = isShift ? row : 2 * step;
      LaneMove move = getMove([&](int64_t lane) {
        if (lane % period < step)
          return int64_t(-1);
        return isShift ? lane - step : lane / period * period + step - 1;
      });
      ThreadIndices &indices = emitter.indices;
      Value isAfter = isGreater(
          period < size ? indices.rem(number, period) : number, step - 1);
      Tuple before = emitTupleMove(builder, loc, emitter, tuple, move);
      tuple = select(isAfter, combiner->combine(before, tuple), tuple);
    }
    if (needsExclusive)
      exclusive.push_back(
          emitTupleMove(builder, loc, emitter, tuple,
                        getMove([](int64_t lane) { return lane - 1; })));
    if (needsTotals)
      all.push_back(emitTupleMove(builder, loc, emitter, tuple,
                                  getMove([&](int64_t) { return size - 1; })));
  }
  auto put = [&](ArrayRef<Tuple> from, SmallVector<Tuple> &to) {
    for (auto [item, tuple] :
         llvm::zip(items, splitTuples(builder, loc, from, length)))
      to[item] = tuple;
  };
  put(joined, prefixes.inclusive);
  put(exclusive, prefixes.exclusive);
  put(all, totals);
}

void ScanEmitter::scanWarps(const ScanDigit &digit, Items items,
                            Prefixes &prefixes) {
  Value number = getNumber(digit);
  prefixes.isFirst = arith::CmpIOp::create(
      emitter.indices.getBuilder(), emitter.indices.getLoc(),
      arith::CmpIPredicate::eq, number, emitter.indices.getConstant(0));
  auto lists = emitWarpExchange(
      builder, loc, emitter, digit.warps, take(items),
      [&](ArrayRef<Tuple> parts) {
        Tuple total = parts[reorder(digit, 0)], inclusive = total,
              exclusive = total;
        for (int64_t part = 1; part < digit.size; ++part) {
          Tuple before = total;
          total = combiner->combine(total, parts[reorder(digit, part)]);
          Value isReached = isGreater(number, part - 1);
          inclusive = select(isReached, total, inclusive);
          if (part > 1)
            exclusive = select(isReached, before, exclusive);
        }
        return SmallVector<Tuple>{inclusive, exclusive, total};
      });
  for (auto [index, item] : llvm::enumerate(items)) {
    prefixes.inclusive[item] = lists[0][index];
    prefixes.exclusive[item] = lists[1][index];
    totals[item] = lists[2][index];
  }
}

void ScanEmitter::addPrefixes(const ScanDigit &digit, Items items,
                              bool takesInclusive, const Prefixes &prefixes,
                              SmallVector<Tuple> &before) {
  for (int64_t item : llvm::reverse(items)) {
    if (digit.kind != Kind::Register) {
      before[item] =
          takesInclusive
              ? combiner->combine(before[item], prefixes.inclusive[item])
              : select(
                    prefixes.isFirst, before[item],
                    combiner->combine(before[item], prefixes.exclusive[item]));
      continue;
    }
    int64_t own = item / digit.step % digit.size;
    int64_t number = reorder(digit, own);
    int64_t first = item - own * digit.step;
    // In descending order of items, the item with digit 0 is the last one that
    // reads its value.
    if (takesInclusive)
      before[item] = combiner->combine(before[first], prefixes.inclusive[item]);
    else if (number == 0)
      before[item] = before[first];
    else
      before[item] = combiner->combine(
          before[first],
          prefixes.inclusive[first + reorder(digit, number - 1) * digit.step]);
  }
}

void ScanEmitter::emit() {
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult(0));
  SmallVector<Tuple> elements = getItems(distribution);
  totals = elements;
  // The items before each digit is scanned.
  SmallVector<SmallVector<int64_t>> items;
  items.push_back(llvm::to_vector(llvm::seq<int64_t>(0, plan.items)));
  SmallVector<Prefixes> all(plan.digits.size());
  for (auto [index, digit] : llvm::enumerate(plan.digits)) {
    Items own = items.back();
    Prefixes &prefixes = all[index];
    prefixes.inclusive.resize(plan.items);
    prefixes.exclusive.resize(plan.items);
    switch (digit.kind) {
    case Kind::Register:
      scanRegisters(digit, own, prefixes);
      break;
    case Kind::Lane:
      scanLanes(digit, own, /*needsExclusive=*/index != 0 || !isInclusive,
                /*needsTotals=*/index + 1 != plan.digits.size(), prefixes);
      break;
    case Kind::Warp:
      scanWarps(digit, own, prefixes);
      break;
    }
    SmallVector<int64_t> next(own);
    if (digit.kind == Kind::Register)
      llvm::erase_if(next, [&, &digit = digit](int64_t item) {
        return item / digit.step % digit.size != 0;
      });
    items.push_back(std::move(next));
  }

  int64_t length =
      cast<VectorType>(elements.front().front().getType()).getDimSize(0);
  Tuple initial =
      llvm::map_to_vector<2>(op.getInits(), [&](Value scalar) -> Value {
        return vector::BroadcastOp::create(
            builder, loc, VectorType::get({length}, scalar.getType()),
            emitter.lookup(scalar));
      });
  SmallVector<Tuple> before(plan.items, initial);
  for (size_t index = plan.digits.size(); index-- > 0;)
    addPrefixes(plan.digits[index], items[index],
                /*takesInclusive=*/isInclusive && index == 0, all[index],
                before);
  if (plan.digits.empty() && isInclusive)
    for (auto [item, tuple] : llvm::enumerate(elements))
      before[item] = combiner->combine(before[item], tuple);
  if (plan.splitsElements)
    before = joinTuples(builder, loc, before, distribution.getVectorLength());
  for (auto [input, result] : llvm::enumerate(op.getResults()))
    emitter.setRegisters(
        result,
        llvm::map_to_vector(before, [&, input = input](const Tuple &tuple) {
          return tuple[input];
        }));
}

void Scans::emit(mosaic_gpu::ScanOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  ScanEmitter(op, emitter.plan.getOpPlan<ScanOpPlan>(op)->scan, emitter,
              builder)
      .emit();
}

void block_to_thread::registerScans(OpLowerings &lowerings) {
  lowerings.add<Scans, mosaic_gpu::ScanOp>();
}
