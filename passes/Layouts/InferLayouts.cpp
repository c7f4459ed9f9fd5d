//===- InferLayouts.cpp - Gives every value its layout --------------------===//

#include "passes/Layouts/InferLayouts.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Layouts/Conflict.h"
#include "passes/Layouts/Rules.h"
#include "passes/Resources/Estimate.h"
#include "passes/Support/Remarks.h"
#include "passes/Support/TargetOption.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_MOSAICGPUINFERLAYOUTS
#define GEN_PASS_DEF_MOSAICGPUINFERLAYOUTS
#include "passes/Layouts/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

/// Contradictions that one run of the pass reports.
static constexpr unsigned kMaxReports = 5;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Whether another op's rule speaks for a terminator.
static bool isSpokenFor(Operation *op) {
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
  if (isSpokenFor(op))
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
      return op->emitOpError() << "takes or gives " << type
                               << ": scalable vectors have no layout";
  auto rule = dyn_cast<LayoutInferenceOpInterface>(op);
  if (!rule)
    return op->emitOpError()
           << "has no layout inference rule, but takes or gives "
           << nameOf(*getMemory(first.getType())) << " (" << first.getType()
           << ")";
  system.setOp(op);
  if (failed(rule.addLayoutConstraints(system)))
    return failure();
  auto emitForgotten = [&](StringRef place, unsigned number, Type type) {
    return op->emitOpError() << "has no layout inference rule for " << place
                             << " " << number << " (" << type << ")";
  };
  for (OpOperand &operand : op->getOpOperands())
    if (hasLayout(operand.get()) && system.lookup(operand) == kNoVar)
      return emitForgotten("operand", operand.getOperandNumber(),
                           operand.get().getType());
  for (OpResult result : op->getResults())
    if (hasLayout(result) && system.lookup(Value(result)) == kNoVar)
      return emitForgotten("result", result.getResultNumber(),
                           result.getType());
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

/// The chip that the option, `smalti.target` or JAX's attributes name.
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
        module.emitOpError() << "attribute '" << name
                             << "' must be a number of 32 bits, got " << number;
        return nullptr;
      }
    }
  auto major = module->getAttrOfType<IntegerAttr>(mosaic_gpu::kArchMajor);
  auto minor = module->getAttrOfType<IntegerAttr>(mosaic_gpu::kArchMinor);
  if (!major || !minor)
    return getTarget(module, option);
  const targets::Target *chip = targets::lookupComputeCapability(
      major.getValue().getSExtValue(), minor.getValue().getSExtValue());
  if (!chip)
    module.emitOpError() << "is for compute capability "
                         << major.getValue().getSExtValue() << "."
                         << minor.getValue().getSExtValue()
                         << ", which no known target has; known targets: "
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
  InFlightDiagnostic diagnostic = module.emitOpError()
                                  << "cannot be given layouts: ";
  if (chip->isGPU())
    diagnostic << "option 'warps' must be from 1 to " << most << ", got "
               << warps;
  else
    diagnostic << "the target is no GPU";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// Writes the layouts of all places as JAX does.
class Writer {
public:
  Writer(ConstraintSystem &system, ArrayRef<LayoutId> layouts)
      : system(system), layouts(layouts) {}

  void write(Operation *op) {
    // Its layouts are part of the op.
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
      // What an earlier inference left there may be of another type.
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
  OpOperand *operand;
  LayoutId from, to;
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
  /// Solves one problem into `layouts` and `moves`; an error where it cannot.
  LogicalResult solveProblem(Solver &solver, const Problem &problem,
                             std::vector<LayoutId> &layouts,
                             std::vector<Move> &moves);
  void commit(Evaluator &evaluator, ArrayRef<LayoutId> layouts,
              ArrayRef<Move> moves);
};

} // namespace

/// Relaxes uses of a contradiction, as long as there are any, until there is a
/// solution.
static Solution solveWithRelayouts(Solver &solver, const Problem &problem,
                                   llvm::DenseSet<int> &relaxed,
                                   std::vector<int> core) {
  constexpr int kMaxRounds = 32;
  constexpr size_t kMaxRelaxed = 16;
  // Fewer relayouts than uses are looked for in so many rounds; after that, any
  // use may be one.
  ArrayRef<Constraint> constraints =
      solver.getEvaluator().getSystem().getConstraints();
  Solution solution;
  for (int round = 0; round < kMaxRounds; ++round) {
    // Of a long way between two demands, the places that run least often.
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
    // What still contradicts itself does so without the relaxed uses.
    Problem rest = problem;
    llvm::erase_if(rest.constraints,
                   [&](int number) { return relaxed.contains(number); });
    core = findCore(solver, rest);
    if (core.empty())
      break;
  }
  return solution;
}

/// A cheaper solution in which any use may be a relayout, of a problem that is
/// not too large to ask.
static void improveWithRelayouts(Solver &solver, const Problem &problem,
                                 llvm::DenseSet<int> &relaxed,
                                 Solution &solution) {
  constexpr size_t kMaxUses = 256;
  ArrayRef<Constraint> constraints =
      solver.getEvaluator().getSystem().getConstraints();
  llvm::DenseSet<int> uses;
  for (int number : problem.constraints)
    if (constraints[number].kind == Constraint::Kind::Use)
      uses.insert(number);
  if (uses.size() > kMaxUses)
    return;
  SolveMode mode;
  mode.asInJAX = false;
  mode.relaxed = &uses;
  Solution other = solver.solve(problem, mode);
  if (other.status != SolveStatus::Solved || other.cost >= solution.cost)
    return;
  solution = std::move(other);
  relaxed = std::move(uses);
}

LogicalResult
MosaicGPUInferLayouts::solveProblem(Solver &solver, const Problem &problem,
                                    std::vector<LayoutId> &layouts,
                                    std::vector<Move> &moves) {
  solver.refuel();
  SolveMode mode;
  Solution solution = solver.solve(problem, mode);
  if (solution.status == SolveStatus::Conflict) {
    mode.asInJAX = false;
    solution = solver.solve(problem, mode);
  }
  llvm::DenseSet<int> relaxed;
  if (solution.status == SolveStatus::Solved && !mode.asInJAX && relayouts)
    improveWithRelayouts(solver, problem, relaxed, solution);
  if (solution.status == SolveStatus::Conflict) {
    std::vector<int> core = findCore(solver, problem);
    Solution withMoves;
    if (relayouts)
      withMoves = solveWithRelayouts(solver, problem, relaxed, core);
    if (withMoves.status == SolveStatus::OutOfFuel) {
      reportOutOfFuel(solver, withMoves);
      return failure();
    }
    if (withMoves.status != SolveStatus::Solved) {
      reportConflict(solver, problem, solution, core, relayouts);
      return failure();
    }
    solution = std::move(withMoves);
  }
  if (solution.status == SolveStatus::OutOfFuel) {
    reportOutOfFuel(solver, solution);
    return failure();
  }
  for (auto [var, layout] : llvm::zip_equal(problem.vars, solution.layouts))
    layouts[var] = layout;
  ConstraintSystem &system = solver.getEvaluator().getSystem();
  for (int number : problem.constraints) {
    if (!relaxed.contains(number))
      continue;
    const Constraint &use = system.getConstraints()[number];
    LayoutId from = layouts[use.a], to = layouts[use.b];
    if (from != to && !system.getLayouts().isSplat(from))
      moves.push_back({use.operand, from, to});
  }
  return success();
}

void MosaicGPUInferLayouts::commit(Evaluator &evaluator,
                                   ArrayRef<LayoutId> layouts,
                                   ArrayRef<Move> moves) {
  ConstraintSystem &system = evaluator.getSystem();
  Writer writer(system, layouts);
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    writer.write(op);
    return isa<mosaic_gpu::CustomPrimitiveOp>(op) ? WalkResult::skip()
                                                  : WalkResult::advance();
  });
  LayoutTable &table = system.getLayouts();
  for (const Move &move : moves) {
    Operation *user = move.operand->getOwner();
    Value value = move.operand->get();
    auto type = cast<VectorType>(value.getType());
    OpBuilder builder(user);
    Attribute to = table.toAttribute(move.to, type);
    auto cast = mosaic_gpu::LayoutCastOp::create(builder, user->getLoc(), type,
                                                 value, to);
    cast->setAttr(mosaic_gpu::kInLayouts,
                  builder.getArrayAttr({table.toAttribute(move.from, type)}));
    cast->setAttr(mosaic_gpu::kOutLayouts, builder.getArrayAttr({to}));
    move.operand->set(cast.getResult());
    remarkApplied(user, getArgument())
        << "inserted a relayout of operand " << move.operand->getOperandNumber()
        << " from " << table.name(move.from) << " to " << table.name(move.to)
        << ": " << evaluator.relayout(type, move.from, move.to).str();
  }
}

void MosaicGPUInferLayouts::runOnOperation() {
  const targets::Target *chip = findChip(getOperation(), target, warps);
  if (!chip)
    return signalPassFailure();
  if (fuel < 1) {
    getOperation().emitOpError()
        << "cannot be given layouts: option 'fuel' must be positive";
    return signalPassFailure();
  }
  LayoutTable table(&getContext(), warps, chip->waveSize);
  ConstraintSystem system(table, *chip);
  if (failed(collectConstraints(getOperation(), system)))
    return signalPassFailure();

  Evaluator evaluator(system);
  Solver solver(evaluator, {fuel, improvements});
  std::vector<LayoutId> layouts(system.getVariables().size(), kNoLayout);
  std::vector<Move> moves;
  unsigned reports = 0;
  for (const Problem &problem : splitIntoProblems(system))
    if (failed(solveProblem(solver, problem, layouts, moves)) &&
        ++reports == kMaxReports)
      break;
  if (reports != 0)
    return signalPassFailure();
  commit(evaluator, layouts, moves);
}
