//===- ExpandLoop.cpp - Carrying out a loop's schedule --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step T of the pipelined loop executes every stage s for iteration T - s. The
// prologue contains the steps before all stages are active, the kernel repeats
// the steps in which they are, and the epilogue drains. A value that is used n
// steps after its definition passes through n loop-carried values of the
// kernel. A loop-carried value of the original loop that the last stage uses
// stays one.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Pipelining/LoopSchedule.h"
#include "smalti/passes/Pipelining/ValueFlow.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smalti;

namespace {

/// A result of an entry.
using EntryResult = std::pair<unsigned, unsigned>;

class LoopExpander {
public:
  LoopExpander(const LoopSchedule &schedule, bool useSharedBarrier)
      : schedule(schedule), loop(schedule.loop), flow(schedule),
        rewriter(loop.getContext()), stages(schedule.stages),
        useSharedBarrier(useSharedBarrier) {}

  ExpandedLoop run();

private:
  Value createConstant(int64_t value);
  Value createMultipleOfStep(int64_t factor);
  Value addToCounter(Value value, int64_t steps);
  Value checkTripCount();
  scf::IfOp createGuard();
  void choosePrototype();

  // Loop-carried values of the kernel.
  void findCarried();
  void demand(ValueSource source, int64_t age);
  /// The number of steps between the definition and the use; for a use in the
  /// epilogue, relative to the end of the kernel.
  int64_t getAge(const ValueSource &source, int64_t step) const {
    return source.kind == ValueSource::Kind::Computed
               ? source.lag - step -
                     schedule.entries[source.entry].position.stage
               : 0;
  }

  // The three parts. `step` counts from the first step of the part.
  Value resolveInPrologue(Value value, int64_t step, unsigned entry);
  Value resolveInKernel(Value value, int64_t lag, unsigned user);
  Value resolveInEpilogue(Value value, int64_t step, int64_t lag,
                          unsigned user);
  Operation *emit(PipelinePoint point,
                  llvm::function_ref<Value(Value)> resolve);
  void emitPrologue();
  void emitKernel();
  void emitEpilogue(SmallVectorImpl<Value> &results);
  void createBarrier(Location loc);
  void setWait(Operation *op, PipelinePoint point);
  void setLayouts();

  Value getCounterFromStart(int64_t iteration);
  Value getCounterInKernel(int64_t lag);
  Value getCounterFromEnd(int64_t distance);

  const LoopSchedule &schedule;
  scf::ForOp loop, kernel;
  ValueFlow flow;
  IRRewriter rewriter;
  int64_t stages;
  bool useSharedBarrier;
  Operation *barrierPrototype = nullptr;
  ExpandedLoop expanded;

  /// Loop-carried values of the original loop that the kernel carries, and
  /// their positions.
  llvm::DenseSet<Value> carried;
  llvm::MapVector<Value, unsigned> carriedArguments;
  /// For each result, how many steps it must be kept, and its position among
  /// the carried values: the oldest first.
  llvm::MapVector<EntryResult, int64_t> ages;
  DenseMap<EntryResult, unsigned> carriedResults;

  DenseMap<std::pair<unsigned, int64_t>, Operation *> prologueOps, epilogueOps;
  DenseMap<unsigned, Operation *> kernelOps;
  DenseMap<int64_t, Value> startCounters, kernelCounters, endCounters;
  /// The number of the last iteration, if the trip count is dynamic.
  Value lastIteration;
};

} // namespace

Value LoopExpander::createConstant(int64_t value) {
  Type type = loop.getInductionVar().getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt number(width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
  return arith::ConstantOp::create(rewriter, loop.getLoc(),
                                   rewriter.getIntegerAttr(type, number));
}

Value LoopExpander::createMultipleOfStep(int64_t factor) {
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep()))
    return createConstant(int64_t(uint64_t(*step) * uint64_t(factor)));
  if (factor == 1)
    return loop.getStep();
  return arith::MulIOp::create(rewriter, loop.getLoc(), loop.getStep(),
                               createConstant(factor));
}

/// `value` plus `steps` times the step. It wraps like the induction variable,
/// and the iterations exist, so it is exact for every width.
Value LoopExpander::addToCounter(Value value, int64_t steps) {
  if (steps == 0)
    return value;
  auto number = getConstantIntValue(value);
  auto step = getConstantIntValue(loop.getStep());
  if (number && step)
    return createConstant(
        int64_t(uint64_t(*number) + uint64_t(*step) * uint64_t(steps)));
  if (steps < 0)
    return arith::SubIOp::create(rewriter, loop.getLoc(), value,
                                 createMultipleOfStep(-steps));
  return arith::AddIOp::create(rewriter, loop.getLoc(), value,
                               createMultipleOfStep(steps));
}

/// Whether the trip count is at least the number of stages.
Value LoopExpander::checkTripCount() {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  // The last of the first `stages` iterations exists: (upper - lower - 1) /
  // step >= stages - 1, unsigned, if lower < upper. This form does not
  // overflow.
  Value isNotEmpty =
      arith::CmpIOp::create(rewriter, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            lower, upper);
  lastIteration = arith::SubIOp::create(
      rewriter, loc, arith::SubIOp::create(rewriter, loc, upper, lower),
      createConstant(1));
  if (!isConstantIntValue(loop.getStep(), 1))
    lastIteration =
        arith::DivUIOp::create(rewriter, loc, lastIteration, loop.getStep());
  Value isLong =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                            lastIteration, createConstant(stages - 1));
  return arith::AndIOp::create(rewriter, loc, isNotEmpty, isLong);
}

/// Creates an scf.if with the pipelined loop in its first branch, if the trip
/// count and the limits allow it, and the original loop in its second.
scf::IfOp LoopExpander::createGuard() {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value condition = schedule.tripCount ? Value() : checkTripCount();
  for (const CountLimit &limit : schedule.limits) {
    Value holds = limit.createCheck(rewriter, loop, lastIteration);
    condition = condition
                    ? arith::AndIOp::create(rewriter, loc, condition, holds)
                    : holds;
  }
  auto guard = scf::IfOp::create(rewriter, loc, loop.getResultTypes(),
                                 condition, /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), guard.getResults());
  rewriter.moveOpBefore(loop, guard.elseBlock(), guard.elseBlock()->begin());
  Attribute layouts = loop->getAttr(mosaic_gpu::kOutLayouts);
  if (layouts)
    guard->setAttr(mosaic_gpu::kOutLayouts, layouts);
  if (!loop.getResults().empty()) {
    rewriter.setInsertionPointToEnd(guard.elseBlock());
    auto yield = scf::YieldOp::create(rewriter, loc, loop.getResults());
    if (layouts)
      yield->setAttr(mosaic_gpu::kInLayouts, layouts);
  }
  return guard;
}

/// The new barriers are clones of the strongest barrier of the loop.
void LoopExpander::choosePrototype() {
  for (Operation *barrier : schedule.oldBarriers)
    if (!barrierPrototype ||
        (cast<BlockBarrierOpInterface>(barrier).ordersGlobalMemory() &&
         !cast<BlockBarrierOpInterface>(barrierPrototype).ordersGlobalMemory()))
      barrierPrototype = barrier;
}

//===----------------------------------------------------------------------===//
// Loop-carried values of the kernel
//===----------------------------------------------------------------------===//

/// Makes the kernel carry a value that is `age` steps old at its use.
void LoopExpander::demand(ValueSource source, int64_t age) {
  // The values that the kernel carries in its next step must be available too.
  while (source.kind == ValueSource::Kind::Carried) {
    auto argument = cast<BlockArgument>(source.value);
    if (!carried.insert(argument).second)
      return;
    source = flow.find(loop.getTiedLoopYieldedValue(argument)->get(),
                       stages - 1, flow.atEnd(), stages - 1);
    age = getAge(source, 0);
  }
  if (source.kind != ValueSource::Kind::Computed || age <= 0)
    return;
  int64_t &kept =
      ages[{source.entry, cast<OpResult>(source.value).getResultNumber()}];
  kept = std::max(kept, age);
}

void LoopExpander::findCarried() {
  auto demandAt = [&](Value value, int64_t step, int64_t lag, unsigned user) {
    ValueSource source = flow.find(value, lag, user, stages - 1 + step);
    demand(source, getAge(source, step));
  };
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    for (Value value : flow.getUsed(entry.op)) {
      int64_t stage = entry.position.stage;
      demandAt(value, /*step=*/0, stage, i);
      for (int64_t step = 1; step < stage; ++step)
        demandAt(value, step, stage, i);
    }
  for (BlockArgument argument : loop.getRegionIterArgs())
    demandAt(argument, stages - 2, stages - 2, flow.atEnd());
  // Accumulators come first, in the order of the original loop.
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (carried.contains(argument))
      carriedArguments.insert({argument, unsigned(carriedArguments.size())});
}

//===----------------------------------------------------------------------===//
// Induction variables
//===----------------------------------------------------------------------===//

Value LoopExpander::getCounterFromStart(int64_t iteration) {
  Value &counter = startCounters[iteration];
  if (!counter)
    counter = addToCounter(loop.getLowerBound(), iteration);
  return counter;
}

Value LoopExpander::getCounterInKernel(int64_t lag) {
  Value &counter = kernelCounters[lag];
  if (!counter)
    counter = addToCounter(kernel.getInductionVar(), stages - 1 - lag);
  return counter;
}

/// The induction variable of an iteration, counted from the end; 1: the last
/// one.
Value LoopExpander::getCounterFromEnd(int64_t distance) {
  Value &counter = endCounters[distance];
  if (counter)
    return counter;
  if (!lastIteration)
    return counter = addToCounter(loop.getLowerBound(),
                                  *schedule.tripCount - distance);
  if (isConstantIntValue(loop.getStep(), 1))
    return counter = addToCounter(loop.getUpperBound(), -distance);
  if (distance != 1)
    return counter = addToCounter(getCounterFromEnd(1), 1 - distance);
  Location loc = loop.getLoc();
  return counter = arith::AddIOp::create(rewriter, loc, loop.getLowerBound(),
                                         arith::MulIOp::create(rewriter, loc,
                                                               lastIteration,
                                                               loop.getStep()));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static Value getResultLike(Operation *op, Value value) {
  return op->getResult(cast<OpResult>(value).getResultNumber());
}

Value LoopExpander::resolveInPrologue(Value value, int64_t step,
                                      unsigned user) {
  // Loop-carried values are followed back to the first iteration.
  ValueSource source = flow.find(value, schedule.entries[user].position.stage,
                                 user, /*lastLag=*/step);
  switch (source.kind) {
  case ValueSource::Kind::Induction:
    return getCounterFromStart(step - source.lag);
  case ValueSource::Kind::Carried:
    return loop.getTiedLoopInit(cast<BlockArgument>(source.value))->get();
  case ValueSource::Kind::Computed:
    return getResultLike(prologueOps.at({source.entry, step - source.lag}),
                         source.value);
  default:
    return source.value;
  }
}

Value LoopExpander::resolveInKernel(Value value, int64_t lag, unsigned user) {
  ValueSource source = flow.find(value, lag, user, stages - 1);
  switch (source.kind) {
  case ValueSource::Kind::Induction:
    return getCounterInKernel(source.lag);
  case ValueSource::Kind::Carried:
    return kernel.getRegionIterArg(carriedArguments.lookup(source.value));
  case ValueSource::Kind::Computed: {
    int64_t age = getAge(source, 0);
    if (age == 0)
      return getResultLike(kernelOps.at(source.entry), source.value);
    EntryResult result = {source.entry,
                          cast<OpResult>(source.value).getResultNumber()};
    return kernel.getRegionIterArg(carriedResults.at(result) +
                                   ages.lookup(result) - age);
  }
  default:
    return source.value;
  }
}

Value LoopExpander::resolveInEpilogue(Value value, int64_t step, int64_t lag,
                                      unsigned user) {
  ValueSource source = flow.find(value, lag, user, stages - 1 + step);
  int64_t fromEnd = source.lag - step;
  switch (source.kind) {
  case ValueSource::Kind::Induction:
    return getCounterFromEnd(fromEnd);
  case ValueSource::Kind::Carried:
    return kernel.getResult(carriedArguments.lookup(source.value));
  case ValueSource::Kind::Computed: {
    // The step of the epilogue; negative: before its first step.
    int64_t computed = -getAge(source, step);
    if (computed >= 0)
      return getResultLike(epilogueOps.at({source.entry, computed}),
                           source.value);
    EntryResult result = {source.entry,
                          cast<OpResult>(source.value).getResultNumber()};
    return kernel.getResult(carriedResults.at(result) + ages.lookup(result) +
                            computed);
  }
  default:
    return source.value;
  }
}

//===----------------------------------------------------------------------===//
// Prologue, kernel and epilogue
//===----------------------------------------------------------------------===//

void LoopExpander::createBarrier(Location loc) {
  if (useSharedBarrier) {
    amdgpu::LDSBarrierOp::create(rewriter, loc);
    return;
  }
  // A barrier that completes copies may have schedule attributes.
  Operation *barrier = rewriter.clone(*barrierPrototype);
  barrier->removeAttr(kStageAttr);
  barrier->removeAttr(kClusterAttr);
}

/// Sets what a wait at this point leaves in flight.
void LoopExpander::setWait(Operation *op, PipelinePoint point) {
  auto it = schedule.waits.find(point);
  if (it == schedule.waits.end())
    return;
  auto wait = cast<AsyncWaitOpInterface>(op);
  for (auto [queue, pending] : it->second)
    wait.setPending(queue, pending);
}

Operation *LoopExpander::emit(PipelinePoint point,
                              llvm::function_ref<Value(Value)> resolve) {
  Operation *op = schedule.entries[point.entry].op;
  IRMapping mapping;
  for (Value value : flow.getUsed(op))
    mapping.map(value, resolve(value));
  if (schedule.barriers.count(point))
    createBarrier(op->getLoc());
  // A block barrier that completes copies becomes a wait for them.
  AsyncCopyOpInterface creator = schedule.waitCreators.lookup(op);
  Operation *copy =
      creator ? creator.createWait(rewriter, op->getLoc(), /*pending=*/0)
              : rewriter.clone(*op, mapping);
  copy->removeAttr(kStageAttr);
  copy->removeAttr(kClusterAttr);
  copy->walk<WalkOrder::PreOrder>([&](scf::ForOp inner) {
    expanded.innerLoops.push_back(inner);
    return WalkResult::skip();
  });
  setWait(copy, point);
  return copy;
}

void LoopExpander::emitPrologue() {
  for (int64_t step = 0; step < stages - 1; ++step)
    for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
      int64_t stage = schedule.entries[i].position.stage;
      if (stage <= step)
        prologueOps[{i, step - stage}] =
            emit({Part::Prologue, step, i}, [&](Value value) {
              return resolveInPrologue(value, step, i);
            });
    }
}

void LoopExpander::emitKernel() {
  SmallVector<Value> inits;
  for (auto [argument, index] : carriedArguments)
    inits.push_back(loop.getTiedLoopInit(cast<BlockArgument>(argument))->get());
  for (auto [result, age] : ages) {
    carriedResults[result] = inits.size();
    int64_t stage = schedule.entries[result.first].position.stage;
    for (int64_t i = age; i > 0; --i)
      inits.push_back(prologueOps.at({result.first, stages - 1 - stage - i})
                          ->getResult(result.second));
  }
  Location loc = loop.getLoc();
  Value upper = addToCounter(loop.getUpperBound(), 1 - stages);
  if (schedule.barrierBeforeKernel)
    createBarrier(loc);
  kernel =
      scf::ForOp::create(rewriter, loc, loop.getLowerBound(), upper,
                         loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
  if (inits.empty())
    kernel.getBody()->getTerminator()->erase();
  rewriter.setInsertionPointToStart(kernel.getBody());
  for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i)
    kernelOps[i] = emit({Part::Kernel, 0, i}, [&](Value value) {
      return resolveInKernel(value, schedule.entries[i].position.stage, i);
    });
  SmallVector<Value> yielded;
  for (auto [argument, index] : carriedArguments)
    yielded.push_back(resolveInKernel(
        loop.getTiedLoopYieldedValue(cast<BlockArgument>(argument))->get(),
        stages - 1, flow.atEnd()));
  for (auto [result, age] : ages) {
    for (int64_t i = 1; i < age; ++i)
      yielded.push_back(kernel.getRegionIterArg(carriedResults.at(result) + i));
    yielded.push_back(kernelOps.at(result.first)->getResult(result.second));
  }
  scf::YieldOp::create(rewriter, loc, yielded);
  rewriter.setInsertionPointAfter(kernel);
}

void LoopExpander::emitEpilogue(SmallVectorImpl<Value> &results) {
  for (int64_t step = 0; step < stages - 1; ++step)
    for (unsigned i = 0, e = schedule.entries.size(); i < e; ++i) {
      int64_t stage = schedule.entries[i].position.stage;
      if (stage > step)
        epilogueOps[{i, step}] =
            emit({Part::Epilogue, step, i}, [&](Value value) {
              return resolveInEpilogue(value, step, stage, i);
            });
    }
  if (schedule.barrierAfter)
    createBarrier(loop.getLoc());
  for (BlockArgument argument : loop.getRegionIterArgs())
    results.push_back(
        resolveInEpilogue(argument, stages - 2, stages - 2, flow.atEnd()));
}

/// Attributes of a loop that the pipelined loop does not have.
static constexpr StringRef kScheduleAttrs[] = {kStagesAttr, kModeAttr,
                                               kScheduleAttr};

/// A loop has one layout per carried vector.
void LoopExpander::setLayouts() {
  for (NamedAttribute attribute : loop->getDiscardableAttrDictionary())
    if (!llvm::is_contained(kScheduleAttrs, attribute.getName().getValue()))
      kernel->setAttr(attribute.getName(), attribute.getValue());
  bool hasLayouts = false;
  for (StringRef name : {mosaic_gpu::kInLayouts, mosaic_gpu::kOutLayouts}) {
    auto layouts = loop->getAttrOfType<ArrayAttr>(name);
    if (!layouts)
      continue;
    hasLayouts = true;
    // The layout of the vector in the original loop.
    DenseMap<Value, Attribute> ofArgument;
    unsigned index = 0;
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (isa<VectorType>(argument.getType()) && index < layouts.size())
        ofArgument[argument] = layouts[index++];
    SmallVector<Attribute> all;
    for (auto [argument, point] : carriedArguments)
      if (isa<VectorType>(argument.getType()))
        all.push_back(ofArgument.lookup(argument));
    for (auto [result, age] : ages) {
      Operation *op = schedule.entries[result.first].op;
      if (!isa<VectorType>(op->getResult(result.second).getType()))
        continue;
      unsigned number = 0;
      for (Value other : op->getResults().take_front(result.second))
        number += isa<VectorType>(other.getType());
      all.append(age, mosaic_gpu::getOutLayout(op, number));
    }
    if (llvm::all_of(all, [](Attribute layout) { return bool(layout); }))
      kernel->setAttr(name, rewriter.getArrayAttr(all));
  }
  if (!hasLayouts)
    return;
  Attribute layouts = kernel->getAttr(mosaic_gpu::kOutLayouts);
  if (!layouts)
    layouts = kernel->getAttr(mosaic_gpu::kInLayouts);
  kernel.getBody()->getTerminator()->setAttr(mosaic_gpu::kInLayouts, layouts);
}

ExpandedLoop LoopExpander::run() {
  choosePrototype();
  scf::IfOp guard;
  if (schedule.isGuarded()) {
    guard = createGuard();
    rewriter.setInsertionPointToStart(guard.thenBlock());
  } else {
    rewriter.setInsertionPoint(loop);
  }
  findCarried();
  emitPrologue();
  emitKernel();
  SmallVector<Value> results;
  emitEpilogue(results);
  setLayouts();
  expanded.kernel = kernel;
  if (!guard) {
    rewriter.replaceOp(loop, results);
    return std::move(expanded);
  }
  if (!results.empty()) {
    auto yield = scf::YieldOp::create(rewriter, loop.getLoc(), results);
    if (Attribute layouts = loop->getAttr(mosaic_gpu::kOutLayouts))
      yield->setAttr(mosaic_gpu::kInLayouts, layouts);
  }
  for (StringRef name : kScheduleAttrs)
    loop->removeAttr(name);
  for (Operation &op : loop.getBody()->without_terminator()) {
    op.removeAttr(kStageAttr);
    op.removeAttr(kClusterAttr);
  }
  expanded.plain = loop;
  return std::move(expanded);
}

ExpandedLoop smalti::applySchedule(const LoopSchedule &schedule,
                                   bool useSharedBarrier) {
  return LoopExpander(schedule, useSharedBarrier).run();
}
