//===- ExpandLoop.cpp - Carrying out a loop's schedule --------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Interfaces/LoopInterfaces.h"
#include "passes/Pipelining/LoopSchedule.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace smalti;

/// Which entry of the schedule an op carries out; it is there only while the
/// loop is expanded.
static constexpr llvm::StringLiteral kEntryAttr = "smalti.schedule_entry";

namespace {

class LoopExpander {
public:
  LoopExpander(const LoopSchedule &schedule, bool useSharedBarrier)
      : schedule(schedule), loop(schedule.loop), rewriter(loop.getContext()),
        useSharedBarrier(useSharedBarrier) {}

  LogicalResult run();

private:
  void guardTripCount();
  void removeBarriers();
  void makeEntryOps();
  void placeBarriersAndWaits();
  void restoreAttributes(scf::ForOp kernel, DictionaryAttr attributes,
                         unsigned oldIterArgs);
  void foldPredicates();
  void createBarrier(Location loc);

  const LoopSchedule &schedule;
  scf::ForOp loop;
  IRRewriter rewriter;
  bool useSharedBarrier;
  Operation *barrierPrototype = nullptr; ///< detached
  /// The op for each entry, before the expansion.
  SmallVector<Operation *> entryOps;
  /// The ops that the expansion made, by place.
  std::map<Place, Operation *> expanded;
  Operation *lastOp = nullptr;
  llvm::SetVector<Value> predicates;
};

} // namespace

/// Makes the loop the first branch of an scf.if, and a copy of it the second:
/// the pipelined loop is entered only where it runs often enough.
void LoopExpander::guardTripCount() {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Type type = loop.getInductionVar().getType();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getIntegerAttr(type, value));
  };
  // The last of the first `stages` iterations exists: (upper - lower - 1) /
  // step >= stages - 1, unsigned once lower < upper is known. In this form
  // nothing overflows.
  Value isNotEmpty = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::slt, lower, upper);
  Value last = arith::SubIOp::create(
      rewriter, loc, arith::SubIOp::create(rewriter, loc, upper, lower),
      constant(1));
  if (!isConstantIntValue(loop.getStep(), 1))
    last = arith::DivUIOp::create(rewriter, loc, last, loop.getStep());
  Value isLong = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                       last, constant(schedule.stages - 1));
  Value condition = arith::AndIOp::create(rewriter, loc, isNotEmpty, isLong);
  auto guard = scf::IfOp::create(rewriter, loc, loop.getResultTypes(),
                                 condition, /*withElseRegion=*/true);
  if (Attribute layouts = loop->getAttr(mosaic_gpu::kOutLayouts))
    guard->setAttr(mosaic_gpu::kOutLayouts, layouts);
  for (auto [result, replacement] :
       llvm::zip_equal(loop.getResults(), guard.getResults()))
    rewriter.replaceAllUsesWith(result, replacement);

  rewriter.setInsertionPointToStart(guard.elseBlock());
  Operation *plain = rewriter.clone(*loop);
  plain->removeAttr(kStagesAttr);
  plain->walk([](Operation *op) {
    op->removeAttr(kStageAttr);
    op->removeAttr(kClusterAttr);
  });
  rewriter.moveOpBefore(loop, guard.thenBlock(), guard.thenBlock()->begin());
  if (loop.getResults().empty())
    return;
  for (auto [block, results] :
       {std::pair(guard.thenBlock(), loop->getResults()),
        std::pair(guard.elseBlock(), plain->getResults())}) {
    rewriter.setInsertionPointToEnd(block);
    auto yield = scf::YieldOp::create(rewriter, loc, results);
    if (Attribute layouts = loop->getAttr(mosaic_gpu::kOutLayouts))
      yield->setAttr(mosaic_gpu::kInLayouts, layouts);
  }
}

void LoopExpander::removeBarriers() {
  for (Operation *barrier : schedule.oldBarriers) {
    // The strongest kind that the loop used is what the new ones are.
    bool isStronger =
        !barrierPrototype ||
        (cast<BlockBarrierOpInterface>(barrier).ordersGlobalMemory() &&
         !cast<BlockBarrierOpInterface>(barrierPrototype).ordersGlobalMemory());
    if (isStronger) {
      if (barrierPrototype)
        barrierPrototype->destroy();
      barrierPrototype = barrier->clone();
    }
    rewriter.eraseOp(barrier);
  }
}

/// Makes ops again that several stages need, and marks every op with the number
/// of its entry.
void LoopExpander::makeEntryOps() {
  DenseMap<Operation *, SmallVector<unsigned, 2>> entriesOf;
  for (auto [i, entry] : llvm::enumerate(schedule.entries))
    entriesOf[entry.op].push_back(i);
  entryOps.resize(schedule.entries.size());
  DenseMap<std::pair<Operation *, int64_t>, Operation *> copyFor;
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    auto it = entriesOf.find(&op);
    if (it == entriesOf.end())
      continue;
    for (auto [i, entry] : llvm::enumerate(it->second)) {
      Operation *copy = &op;
      if (i != 0) {
        rewriter.setInsertionPointAfter(&op);
        copy = rewriter.clone(op);
      }
      entryOps[entry] = copy;
      copyFor[{&op, schedule.entries[entry].position.stage}] = copy;
    }
  }
  for (auto [i, entry] : llvm::enumerate(schedule.entries)) {
    Operation *op = entryOps[i];
    int64_t stage = entry.position.stage;
    auto redirect = [&](OpOperand &operand) {
      auto it = copyFor.find({operand.get().getDefiningOp(), stage});
      if (it == copyFor.end() || it->second == operand.get().getDefiningOp())
        return;
      operand.set(it->second->getResult(
          cast<OpResult>(operand.get()).getResultNumber()));
    };
    for (OpOperand &operand : op->getOpOperands())
      redirect(operand);
    visitUsedValuesDefinedAbove(
        op->getRegions(), [&](OpOperand *operand) { redirect(*operand); });
    op->setAttr(kEntryAttr, rewriter.getI64IntegerAttr(i));
    op->removeAttr(kStageAttr);
    op->removeAttr(kClusterAttr);
  }
}

void LoopExpander::createBarrier(Location loc) {
  if (useSharedBarrier)
    amdgpu::LDSBarrierOp::create(rewriter, loc);
  else
    rewriter.clone(*barrierPrototype);
}

void LoopExpander::placeBarriersAndWaits() {
  for (const Place &place : schedule.barriers) {
    Operation *op = expanded.at(place);
    rewriter.setInsertionPoint(op);
    createBarrier(op->getLoc());
  }
  if (schedule.barrierAfter) {
    rewriter.setInsertionPointAfter(lastOp);
    createBarrier(lastOp->getLoc());
  }
  for (auto &[place, op] : expanded) {
    auto wait = dyn_cast<AsyncWaitOpInterface>(op);
    if (!wait)
      continue;
    int64_t groups = schedule.kernelWaits.lookup(place.entry);
    if (place.part == Part::Epilogue)
      for (auto [step, entry, inFlight] : schedule.epilogueWaits)
        if (step == place.step && entry == place.entry)
          groups = inFlight;
    wait.setPending(AsyncQueue::Groups, groups);
  }
}

/// The guard proves every predicate that the expander put into a loop with
/// dynamic bounds.
void LoopExpander::foldPredicates() {
  for (Value predicate : predicates) {
    for (Operation *user : llvm::make_early_inc_range(predicate.getUsers()))
      if (auto select = dyn_cast<arith::SelectOp>(user);
          select && select.getCondition() == predicate)
        rewriter.replaceOp(select, select.getTrueValue());
  }
  SmallVector<Value> worklist = predicates.takeVector();
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
    llvm::erase(worklist, op->getResult(0));
    rewriter.eraseOp(op);
  }
}

/// The expander drops the loop's attributes. Layouts are one for each vector
/// that the loop carries, and it may carry more now.
void LoopExpander::restoreAttributes(scf::ForOp kernel,
                                     DictionaryAttr attributes,
                                     unsigned oldIterArgs) {
  for (NamedAttribute attribute : attributes)
    if (attribute.getName() != kStagesAttr)
      kernel->setAttr(attribute.getName(), attribute.getValue());
  for (StringRef name : {mosaic_gpu::kInLayouts, mosaic_gpu::kOutLayouts}) {
    auto layouts = kernel->getAttrOfType<ArrayAttr>(name);
    if (!layouts)
      continue;
    SmallVector<Attribute> all = llvm::to_vector(layouts.getValue());
    for (Value init : kernel.getInitArgs().drop_front(oldIterArgs)) {
      Operation *def = init.getDefiningOp();
      if (!isa<VectorType>(init.getType()) || !def)
        continue;
      unsigned index = 0;
      for (Value result : def->getResults()) {
        if (result == init)
          break;
        index += isa<VectorType>(result.getType());
      }
      if (Attribute layout = mosaic_gpu::getOutLayout(def, index))
        all.push_back(layout);
    }
    kernel->setAttr(name, rewriter.getArrayAttr(all));
    kernel.getBody()->getTerminator()->setAttr(mosaic_gpu::kInLayouts,
                                               rewriter.getArrayAttr(all));
  }
}

LogicalResult LoopExpander::run() {
  bool isDynamic = !schedule.tripCount;
  if (isDynamic)
    guardTripCount();
  removeBarriers();
  makeEntryOps();

  scf::PipeliningOption options;
  options.getScheduleFn =
      [&](scf::ForOp, std::vector<std::pair<Operation *, unsigned>> &order) {
        for (auto [entry, op] : llvm::zip_equal(schedule.entries, entryOps))
          order.emplace_back(op, entry.position.stage);
      };
  options.annotateFn = [&](Operation *op,
                           scf::PipeliningOption::PipelinerPart part,
                           unsigned step) {
    auto entry = op->getAttrOfType<IntegerAttr>(kEntryAttr);
    Part where = Part::Kernel;
    if (part == scf::PipeliningOption::PipelinerPart::Prologue)
      where = Part::Prologue;
    else if (part == scf::PipeliningOption::PipelinerPart::Epilogue)
      where = Part::Epilogue;
    expanded[{where, where == Part::Kernel ? 0 : int64_t(step),
              unsigned(entry.getInt())}] = op;
    if (where == Part::Epilogue)
      lastOp = op;
  };
  options.supportDynamicLoops = isDynamic;
  options.predicateFn = [&](RewriterBase &, Operation *op, Value predicate) {
    predicates.insert(predicate);
    return op;
  };

  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  unsigned oldIterArgs = loop.getInitArgs().size();
  rewriter.setInsertionPoint(loop);
  FailureOr<scf::ForOp> kernel = scf::pipelineForLoop(rewriter, loop, options);
  if (failed(kernel))
    return failure();
  foldPredicates();
  restoreAttributes(*kernel, attributes, oldIterArgs);
  placeBarriersAndWaits();
  for (auto &[place, op] : expanded)
    op->removeAttr(kEntryAttr);
  if (barrierPrototype)
    barrierPrototype->destroy();
  return success();
}

LogicalResult smalti::applySchedule(const LoopSchedule &schedule,
                                    bool useSharedBarrier) {
  return LoopExpander(schedule, useSharedBarrier).run();
}
