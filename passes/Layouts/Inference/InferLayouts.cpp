//===- InferLayouts.cpp - Layout inference --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/InferLayouts.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Layouts/Inference/Conflict.h"
#include "smalti/passes/Layouts/Rules/Rules.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_MOSAICGPUINFERLAYOUTS
#define GEN_PASS_DEF_MOSAICGPUINFERLAYOUTS
#include "smalti/passes/Layouts/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

/// Number of contradictions that one run of the pass reports.
static constexpr unsigned kMaxReports = 5;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Whether the rule of the parent op covers a terminator.
static bool isCoveredByParent(Operation *op) {
  return isa<RegionBranchTerminatorOpInterface>(op) && op->getParentOp() &&
         isa<RegionBranchOpInterface>(op->getParentOp()) &&
         isa<LayoutInferenceOpInterface>(op->getParentOp());
}

static StringRef nameOf(Memory memory) {
  switch (memory) {
  case Memory::Registers:
    return "a vector";
  case Memory::Shared:
    return "shared memory";
  case Memory::Tensor:
    return "tensor memory";
  }
  return "";
}

static LogicalResult addConstraintsOf(Operation *op, ConstraintSystem &system) {
  if (isCoveredByParent(op))
    return success();
  Value first;
  for (Value value :
       llvm::concat<const Value>(op->getOperands(), op->getResults()))
    if (hasLayout(value)) {
      first = value;
      break;
    }
  if (!first)
    return success();
  for (Value value :
       llvm::concat<const Value>(op->getOperands(), op->getResults()))
    if (auto type = dyn_cast<VectorType>(value.getType());
        type && type.isScalable())
      return op->emitOpError() << "uses or produces " << type
                               << "; scalable vectors are not supported, so "
                                  "use a vector of fixed size";
  auto rule = dyn_cast<LayoutInferenceOpInterface>(op);
  if (!rule)
    return op->emitOpError()
           << "is not supported in block-level kernels: layout inference does "
              "not have a rule for this op, which uses or produces "
           << nameOf(*getMemory(first.getType())) << " (" << first.getType()
           << "); use ops of arith, math or mosaic_gpu";
  system.setOp(op);
  if (failed(rule.addLayoutConstraints(system)))
    return failure();
  auto emitMissing = [&](StringRef kind, unsigned number, Type type) {
    return op->emitOpError() << "is not supported in block-level kernels: "
                                "layout inference does not have a rule for its "
                             << kind << " " << number << " (" << type << ")";
  };
  for (OpOperand &operand : op->getOpOperands())
    if (hasLayout(operand.get()) && system.lookup(operand) == kNoVar)
      return emitMissing("operand", operand.getOperandNumber(),
                         operand.get().getType());
  for (OpResult result : op->getResults())
    if (hasLayout(result) && system.lookup(Value(result)) == kNoVar)
      return emitMissing("result", result.getResultNumber(), result.getType());
  return success();
}

LogicalResult inference::collectConstraints(ModuleOp module,
                                            ConstraintSystem &system) {
  if (failed(checkVectors(module, system.getTarget(),
                          system.getLayouts().getThreads(), /*isJAX=*/true)))
    return failure();
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // The vectors of thread-level kernels have no layouts.
    if (isa<gpu::LaunchOp, gpu::GPUFuncOp>(op) &&
        !mosaic_gpu::hasBlockLevelOps(op))
      return WalkResult::skip();
    if (failed(addConstraintsOf(op, system)))
      return WalkResult::interrupt();
    return isa<mosaic_gpu::CustomPrimitiveOp>(op) ? WalkResult::skip()
                                                  : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  system.linkUses();
  return success();
}

ArrayRef<LayoutAttributeNames> inference::getLayoutAttributeNames() {
  static const LayoutAttributeNames names[] = {
      {Memory::Registers, mosaic_gpu::kInLayouts, mosaic_gpu::kOutLayouts},
      {Memory::Tensor, mosaic_gpu::kInTMEMLayouts, mosaic_gpu::kOutTMEMLayouts},
      {Memory::Shared, mosaic_gpu::kInTransforms, mosaic_gpu::kOutTransforms},
  };
  return names;
}

/// The target that the option, `smalti.target` or JAX's attributes state.
static const targets::Target *findNamedChip(ModuleOp module, StringRef option) {
  FailureOr<const targets::Target *> named = findTarget(module, option);
  if (failed(named))
    return nullptr;
  if (*named)
    return *named;
  for (StringRef name : {mosaic_gpu::kArchMajor, mosaic_gpu::kArchMinor})
    if (Attribute number = module->getAttr(name)) {
      auto integer = dyn_cast<IntegerAttr>(number);
      if (!integer || !integer.getValue().isSignedIntN(32)) {
        module.emitOpError()
            << "attribute '" << name
            << "' must be an integer of at most 32 bits, but is " << number;
        return nullptr;
      }
    }
  auto majorAttr = module->getAttrOfType<IntegerAttr>(mosaic_gpu::kArchMajor);
  auto minorAttr = module->getAttrOfType<IntegerAttr>(mosaic_gpu::kArchMinor);
  if (!majorAttr || !minorAttr)
    return getTarget(module, option);
  int64_t major = majorAttr.getValue().getSExtValue();
  int64_t minor = minorAttr.getValue().getSExtValue();
  const targets::Target *chip = targets::lookupComputeCapability(major, minor);
  if (!chip)
    module.emitOpError()
        << "has compute capability " << major << "." << minor
        << ", which does not match a known target; known targets: "
        << targets::knownNames();
  return chip;
}

const targets::Target *inference::findChip(ModuleOp module, StringRef option,
                                           int64_t warps) {
  const targets::Target *chip = findNamedChip(module, option);
  if (!chip)
    return nullptr;
  int64_t most = chip->maxThreadsPerBlock / chip->waveSize;
  if (chip->isGPU() && warps > 0 && warps <= most)
    return chip;
  if (chip->isGPU())
    module.emitOpError() << "option 'warps' is " << warps
                         << "; it must be from 1 to " << most << " on "
                         << chip->name;
  else
    module.emitOpError()
        << "is compiled for " << chip->name
        << ", which is not a GPU; layouts require a GPU target";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// Writes the layouts of all values in the attributes of JAX.
class Writer {
public:
  Writer(ConstraintSystem &system, ArrayRef<LayoutId> layouts)
      : system(system), layouts(layouts) {}

  void write(Operation *op) {
    // The layouts of a custom primitive are part of the op.
    if (isa<mosaic_gpu::CustomPrimitiveOp>(op))
      return;
    SmallVector<Attribute> lists[3], resultLists[3];
    for (OpOperand &operand : op->getOpOperands())
      if (VarId var = system.lookup(operand); var != kNoVar)
        append(lists, var, operand.get().getType());
    for (Value result : op->getResults())
      if (VarId var = system.lookup(result); var != kNoVar)
        append(resultLists, var, result.getType());
    for (const LayoutAttributeNames &entry : getLayoutAttributeNames()) {
      auto &in = lists[static_cast<int>(entry.memory)];
      auto &out = resultLists[static_cast<int>(entry.memory)];
      // Remove the attributes of an earlier inference.
      setOrRemove(op, entry.in, in);
      setOrRemove(op, entry.out, out);
    }
  }

private:
  static void setOrRemove(Operation *op, StringRef name,
                          ArrayRef<Attribute> list) {
    if (list.empty())
      op->removeDiscardableAttr(name);
    else
      op->setAttr(name, ArrayAttr::get(op->getContext(), list));
  }

  void append(SmallVector<Attribute> *lists, VarId var, Type type) {
    Attribute &attribute = attributes[{layouts[var], type}];
    if (!attribute)
      attribute = system.getLayouts().toAttribute(layouts[var], type);
    lists[static_cast<int>(*getMemory(type))].push_back(attribute);
  }

  ConstraintSystem &system;
  ArrayRef<LayoutId> layouts;
  DenseMap<std::pair<LayoutId, Type>, Attribute> attributes;
};

/// A relayout of the operand of an op.
struct Move {
  LayoutId from, to;
};

/// The layouts of all variables so far.
struct Layouts {
  std::vector<LayoutId> layouts;
  /// The uses at which a relayout may be inserted.
  llvm::DenseSet<int> relaxed;
};

/// The register pressure of a function and its limit.
struct Pressure {
  Registers most;
  int64_t available = 0;
  /// Values that are live where the pressure exceeds the limit.
  SmallVector<Value> values;
};

struct MosaicGPUInferLayouts
    : smalti::impl::MosaicGPUInferLayoutsBase<MosaicGPUInferLayouts> {
  using MosaicGPUInferLayoutsBase::MosaicGPUInferLayoutsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    MosaicGPUInferLayoutsBase::getDependentDialects(registry);
    registerLayoutRules(registry);
  }

  void runOnOperation() override;

private:
  /// Solves one problem, or emits an error.
  LogicalResult solveProblem(Solver &solver, const Problem &problem,
                             Layouts &result);
  void reducePressure(Solver &solver, ArrayRef<Problem> problems,
                      Layouts &result);
  SmallVector<Pressure> measure(Evaluator &evaluator, const Layouts &layouts);
  void commit(Evaluator &evaluator, const Layouts &result);
};

} // namespace

/// In problems with more uses, relayouts are tried at only some of them.
static constexpr size_t kMaxUses = 1000;
/// Fuel of the search for JAX's solution: a constant, and more for each
/// variable.
static constexpr int64_t kJAXFuel = 4000;
static constexpr int64_t kJAXFuelOfVariable = 4;

/// The uses of a problem at which a relayout can be inserted; empty if they
/// exceed the limit.
static llvm::DenseSet<int> findUses(const ConstraintSystem &system,
                                    const Problem &problem) {
  llvm::DenseSet<int> uses;
  for (int number : problem.constraints)
    if (system.getConstraints()[number].kind == Constraint::Kind::Use)
      uses.insert(number);
  return uses.size() > kMaxUses ? llvm::DenseSet<int>() : uses;
}

/// Relaxes uses of the contradiction until a solution exists or no use remains.
static Solution solveWithRelayouts(Solver &solver, const Problem &problem,
                                   llvm::DenseSet<int> &relaxed,
                                   std::vector<int> core) {
  constexpr int kMaxRounds = 32;
  constexpr size_t kMaxRelaxed = 16;
  // The rounds try to find few relayouts; the last round relaxes all uses.
  ArrayRef<Constraint> constraints =
      solver.getEvaluator().getSystem().getConstraints();
  Solution solution;
  for (int round = 0; round < kMaxRounds; ++round) {
    // On a long path between two constraints, prefer uses that execute rarely.
    llvm::erase_if(core, [&](int number) {
      return constraints[number].kind != Constraint::Kind::Use;
    });
    llvm::stable_sort(core, [&](int left, int right) {
      return constraints[left].weight < constraints[right].weight;
    });
    bool isNew = false;
    for (int number : ArrayRef(core).take_front(kMaxRelaxed))
      isNew |= relaxed.insert(number).second;
    if (isNew && round == kMaxRounds - 1)
      for (int number : problem.constraints)
        if (constraints[number].kind == Constraint::Kind::Use)
          relaxed.insert(number);
    if (!isNew)
      break;
    SolveMode mode;
    mode.asInJAX = false;
    mode.relaxed = &relaxed;
    solution = solver.solve(problem, mode);
    if (solution.status != SolveStatus::Conflict)
      break;
    // The remaining contradiction does not contain the relaxed uses.
    Problem rest = problem;
    llvm::erase_if(rest.constraints,
                   [&](int number) { return relaxed.contains(number); });
    core = findCore(solver, rest);
    if (core.empty())
      break;
  }
  return solution;
}

LogicalResult MosaicGPUInferLayouts::solveProblem(Solver &solver,
                                                  const Problem &problem,
                                                  Layouts &result) {
  ConstraintSystem &system = solver.getEvaluator().getSystem();
  // Each search has its share of the fuel and the rest of the previous
  // searches. The search for JAX's solution has at most half. A search without
  // fuel still propagates the constraints.
  int64_t jaxFuel = std::min<int64_t>(
      fuel - fuel / 2, kJAXFuel + kJAXFuelOfVariable * problem.vars.size());
  SolveMode mode;
  solver.setFuel(jaxFuel);
  Solution solution = solver.solve(problem, mode);
  solver.setFuel(fuel - jaxFuel + solver.getFuel());
  llvm::DenseSet<int> relaxed;
  if (solution.status != SolveStatus::Solved) {
    if (relayouts)
      relaxed = findUses(system, problem);
    int64_t reserve = relaxed.empty() ? 0 : solver.getFuel() / 2;
    solver.setFuel(solver.getFuel() - reserve);
    // The search that assigned most variables determines the notes.
    auto searchAgain = [&] {
      Solution next = solver.solve(problem, mode);
      if (next.status == SolveStatus::OutOfFuel && !solution.stuck.empty() &&
          solution.status == SolveStatus::OutOfFuel &&
          solution.stuck.size() < next.stuck.size())
        return;
      solution = std::move(next);
    };
    mode.asInJAX = false;
    searchAgain();
    solver.setFuel(solver.getFuel() + reserve);
    if (!relaxed.empty()) {
      // Continue from the solution, or start again.
      mode.relaxed = &relaxed;
      if (solution.status != SolveStatus::Solved)
        searchAgain();
    }
    if (solution.status == SolveStatus::Solved)
      solver.improve(problem, mode, solution.layouts);
  }
  if (solution.status == SolveStatus::Conflict) {
    std::vector<int> core = findCore(solver, problem);
    Solution withMoves;
    if (relayouts && relaxed.empty())
      withMoves = solveWithRelayouts(solver, problem, relaxed, core);
    if (withMoves.status == SolveStatus::Conflict) {
      reportConflict(solver, problem, solution, core, relayouts);
      return failure();
    }
    solution = std::move(withMoves);
  }
  if (solution.status == SolveStatus::OutOfFuel) {
    reportOutOfFuel(solver, problem, solution);
    return failure();
  }
  for (auto [var, layout] : llvm::zip_equal(problem.vars, solution.layouts))
    result.layouts[var] = layout;
  result.relaxed.insert(relaxed.begin(), relaxed.end());
  return success();
}

//===----------------------------------------------------------------------===//
// Register pressure
//===----------------------------------------------------------------------===//

/// Registers of a thread for other values than vectors, such as addresses.
static constexpr int64_t kOtherRegisters = 24;
/// Cost of a spilled register: a store to local memory and a load.
static constexpr int64_t kSpillCost = 16 * kCycle;
static constexpr int kMaxPressureRounds = 4;

SmallVector<Pressure> MosaicGPUInferLayouts::measure(Evaluator &evaluator,
                                                     const Layouts &result) {
  ConstraintSystem &system = evaluator.getSystem();
  const targets::Target &chip = system.getTarget();
  auto count = [&](Value value) -> int64_t {
    VarId var =
        isa<VectorType>(value.getType()) ? system.lookup(value) : kNoVar;
    // A broadcast value uses the registers of its operand.
    if (var == kNoVar || system.getLayouts().isSplat(result.layouts[var]) ||
        value.getDefiningOp<mosaic_gpu::BroadcastInDimOp>())
      return 0;
    return evaluator.countRegisters(result.layouts[var],
                                    cast<VectorType>(value.getType()));
  };
  // Loads and element-wise ops can be delayed until their first use, up to the
  // next op that uses whole vectors or has side effects.
  auto isPoint = [](Operation *op) {
    return isa<vector::MultiDimReductionOp>(op) || op->getNumRegions() != 0 ||
           (!isa<mosaic_gpu::VectorLoadOp, vector::TransferReadOp>(op) &&
            !isMemoryEffectFree(op));
  };
  SmallVector<Pressure> pressures;
  getOperation()->walk([&](FunctionOpInterface function) {
    if (function.isExternal())
      return;
    // The threads that share the registers; setmaxregister can redistribute
    // them.
    int64_t threads = system.getLayouts().getThreads();
    bool redistributes = false;
    function->walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchOp>(op))
        if (auto size = getBlockSize(function, launch))
          threads = std::max(threads, (*size)[0] * (*size)[1] * (*size)[2]);
      redistributes |= isa<NVVM::SetMaxRegisterOp>(op);
    });
    Pressure pressure;
    pressure.available = chip.registersPerThread;
    if (!redistributes && chip.registersPerUnit > 0)
      pressure.available =
          std::min(pressure.available, chip.registersPerUnit / threads);
    LiveRanges lifetimes(function, count, isPoint);
    pressure.most = lifetimes.getMost();
    pressure.values =
        lifetimes.getValuesAbove(pressure.available - kOtherRegisters);
    pressures.push_back(std::move(pressure));
  });
  return pressures;
}

/// The number of registers above the limit, over all functions.
static int64_t countMissing(ArrayRef<Pressure> pressures) {
  int64_t missing = 0;
  for (const Pressure &pressure : pressures)
    missing += std::max<int64_t>(
        pressure.most.count - pressure.available + kOtherRegisters, 0);
  return missing;
}

/// Searches for other layouts if the register pressure exceeds the limit:
/// registers of values that are live there cost more, and any use may have a
/// relayout.
void MosaicGPUInferLayouts::reducePressure(Solver &solver,
                                           ArrayRef<Problem> problems,
                                           Layouts &result) {
  Evaluator &evaluator = solver.getEvaluator();
  ConstraintSystem &system = evaluator.getSystem();
  SmallVector<Pressure> pressures = measure(evaluator, result);
  Layouts best = result;
  int64_t least = countMissing(pressures);
  for (int round = 0; round < kMaxPressureRounds && countMissing(pressures) > 0;
       ++round) {
    llvm::DenseSet<VarId> priced;
    for (const Pressure &pressure : pressures)
      for (Value value : pressure.values)
        if (VarId var = system.lookup(value); var != kNoVar) {
          system.setRegisterPrice(
              var, system.getVariables()[var].registerPrice + kSpillCost);
          priced.insert(var);
        }
    for (const Problem &problem : problems) {
      if (llvm::none_of(problem.vars,
                        [&](VarId var) { return priced.contains(var); }))
        continue;
      llvm::DenseSet<int> uses;
      SolveMode mode;
      mode.asInJAX = false;
      if (relayouts)
        uses = findUses(system, problem);
      mode.relaxed = &uses;
      std::vector<LayoutId> layouts;
      for (VarId var : problem.vars)
        layouts.push_back(result.layouts[var]);
      solver.improve(problem, mode, layouts);
      for (auto [var, layout] : llvm::zip_equal(problem.vars, layouts))
        result.layouts[var] = layout;
      result.relaxed.insert(uses.begin(), uses.end());
    }
    pressures = measure(evaluator, result);
    if (int64_t missing = countMissing(pressures); missing < least) {
      least = missing;
      best = result;
    }
  }
  result = std::move(best);
  for (const Pressure &pressure : measure(evaluator, result))
    if (pressure.most.count > pressure.available)
      remarkMissed(pressure.most.op, getArgument())
          << "register pressure exceeds the limit: vectors that are live here "
             "need "
          << pressure.most.count << " registers per thread; the limit is "
          << pressure.available << "; the largest vector, "
          << pressure.most.largest.getType() << ", needs "
          << pressure.most.largestCount
          << "; use smaller vectors or more warps, or expect spills";
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

void MosaicGPUInferLayouts::commit(Evaluator &evaluator,
                                   const Layouts &result) {
  ConstraintSystem &system = evaluator.getSystem();
  LayoutTable &table = system.getLayouts();
  llvm::DenseMap<OpOperand *, Move> moves;
  for (int number : result.relaxed) {
    const Constraint &use = system.getConstraints()[number];
    LayoutId from = result.layouts[use.a], to = result.layouts[use.b];
    if (from != to && !table.isSplat(from))
      moves[use.operand] = {from, to};
  }
  Writer writer(system, result.layouts);
  SmallVector<OpOperand *> moved;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    writer.write(op);
    for (OpOperand &operand : op->getOpOperands())
      if (moves.contains(&operand))
        moved.push_back(&operand);
    return isa<mosaic_gpu::CustomPrimitiveOp>(op) ? WalkResult::skip()
                                                  : WalkResult::advance();
  });
  // A relayout of a value is reused by later uses in its block.
  llvm::DenseMap<std::pair<Value, LayoutId>, mosaic_gpu::LayoutCastOp> casts;
  for (OpOperand *operand : moved) {
    Move move = moves.lookup(operand);
    Operation *user = operand->getOwner();
    Value value = operand->get();
    auto type = cast<VectorType>(value.getType());
    mosaic_gpu::LayoutCastOp &known = casts[{value, move.to}];
    Operation *ancestor =
        known ? known->getBlock()->findAncestorOpInBlock(*user) : nullptr;
    if (ancestor && known->isBeforeInBlock(ancestor)) {
      operand->set(known.getResult());
      continue;
    }
    OpBuilder builder(user);
    Attribute to = table.toAttribute(move.to, type);
    known = mosaic_gpu::LayoutCastOp::create(builder, user->getLoc(), type,
                                             value, to);
    known->setAttr(mosaic_gpu::kInLayouts,
                   builder.getArrayAttr({table.toAttribute(move.from, type)}));
    known->setAttr(mosaic_gpu::kOutLayouts, builder.getArrayAttr({to}));
    operand->set(known.getResult());
    remarkApplied(user, getArgument())
        << "relayout inserted: operand " << operand->getOperandNumber()
        << " converted from " << table.name(move.from) << " to "
        << table.name(move.to) << ", the layout in which this op uses it"
        << " (cost: " << evaluator.relayout(type, move.from, move.to).str()
        << ")";
  }
}

void MosaicGPUInferLayouts::runOnOperation() {
  const targets::Target *chip = findChip(getOperation(), target, warps);
  if (!chip)
    return signalPassFailure();
  if (fuel < 1) {
    getOperation().emitOpError()
        << "option 'fuel' is " << fuel << "; it must be positive";
    return signalPassFailure();
  }
  LayoutTable table(&getContext(), warps, chip->waveSize);
  ConstraintSystem system(table, *chip);
  if (failed(collectConstraints(getOperation(), system)))
    return signalPassFailure();

  Evaluator evaluator(system);
  Solver solver(evaluator, {fuel, improvements});
  Layouts result;
  result.layouts.assign(system.getVariables().size(), kNoLayout);
  std::vector<Problem> problems = splitIntoProblems(system);
  unsigned reports = 0;
  for (const Problem &problem : problems)
    if (failed(solveProblem(solver, problem, result)) &&
        ++reports == kMaxReports)
      break;
  if (reports != 0)
    return signalPassFailure();
  reducePressure(solver, problems, result);
  commit(evaluator, result);
}
