//===- Conflict.cpp - Why there are no layouts ----------------------------===//

#include "passes/Layouts/Conflict.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Layouts/SearchState.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

//===----------------------------------------------------------------------===//
// The smallest contradiction
//===----------------------------------------------------------------------===//

/// Searches for a contradiction in parts of a problem, and assignments that
/// each may try: what takes longer is taken for no contradiction.
static constexpr int kMaxTests = 400;
static constexpr int64_t kTestFuel = 500;

namespace {

/// QuickXplain: halves of the constraints are left out at once, so that k of n
/// are found with about k log(n / k) tests.
class CoreFinder {
public:
  CoreFinder(Solver &solver) : solver(solver) {}

  bool isContradiction(ArrayRef<int> constraints) {
    ArrayRef<Constraint> all =
        solver.getEvaluator().getSystem().getConstraints();
    Problem part;
    part.constraints.assign(constraints.begin(), constraints.end());
    llvm::sort(part.constraints);
    for (int number : constraints) {
      part.vars.push_back(all[number].a);
      if (all[number].b != kNoVar)
        part.vars.push_back(all[number].b);
    }
    llvm::sort(part.vars);
    part.vars.erase(std::unique(part.vars.begin(), part.vars.end()),
                    part.vars.end());
    SolveMode mode;
    mode.asInJAX = false;
    mode.refuteOnly = true;
    int64_t fuel = solver.getFuel();
    solver.setFuel(kTestFuel);
    Solution solution = solver.solve(part, mode);
    solver.setFuel(fuel);
    return solution.status == SolveStatus::Conflict;
  }

  /// Those of `constraints` without which `background` and the others are no
  /// contradiction.
  std::vector<int> find(std::vector<int> &background, bool hasNew,
                        ArrayRef<int> constraints) {
    if (hasNew && ++tests <= kMaxTests && isContradiction(background))
      return {};
    if (constraints.size() == 1 || tests > kMaxTests)
      return constraints.vec();
    ArrayRef<int> first = constraints.take_front(constraints.size() / 2);
    ArrayRef<int> second = constraints.drop_front(constraints.size() / 2);
    size_t length = background.size();
    llvm::append_range(background, first);
    std::vector<int> ofSecond = find(background, true, second);
    background.resize(length);
    llvm::append_range(background, ofSecond);
    std::vector<int> ofFirst = find(background, !ofSecond.empty(), first);
    background.resize(length);
    llvm::append_range(ofFirst, ofSecond);
    return ofFirst;
  }

private:
  Solver &solver;
  int tests = 0;
};

} // namespace

std::vector<int> inference::findCore(Solver &solver, const Problem &problem) {
  CoreFinder finder(solver);
  if (!finder.isContradiction(problem.constraints))
    return {};
  std::vector<int> background;
  std::vector<int> core = finder.find(background, false, problem.constraints);
  llvm::sort(core);
  return core;
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

static std::string listText(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  os << "]";
  return text;
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

/// What an op demands: "needs WGMMA".
static std::string describe(Evaluator &evaluator,
                            const Constraint &constraint) {
  LayoutTable &layouts = evaluator.getLayouts();
  auto joinNames = [&](ArrayRef<LayoutId> ids) {
    return llvm::join(
        llvm::map_range(ids, [&](LayoutId id) { return layouts.name(id); }),
        " or ");
  };
  switch (constraint.kind) {
  case Kind::Assign:
  case Kind::OneOf:
    return "needs " + joinNames(constraint.layouts);
  case Kind::NotSplat:
    return "needs a layout that is not splat";
  case Kind::NotStrided:
    return "needs a layout that is not strided";
  case Kind::SharedTransfer:
    return std::string("needs a layout that ") +
           (constraint.isLoad ? "reads " : "writes ") +
           typeText(constraint.type) +
           (constraint.need == transfers::TransferNeed::Optimized
                ? " without bank conflicts"
                : "");
  case Kind::TensorTransfer:
    return "needs a layout that moves to or from " + typeText(constraint.type);
  case Kind::MmaTile: {
    std::string tiles;
    int64_t bits = getElementBits(constraint.type);
    for (const auto &tile : getMmaTiles(bits, constraint.isTransposed,
                                        constraint.allowsUnswizzled))
      tiles += (tiles.empty() ? "" : " or ") + std::to_string(tile[0]) + "x" +
               std::to_string(tile[1]);
    return "needs tile " + tiles + ", swizzled over its rows";
  }
  case Kind::Divides:
    return "needs tiles whose sizes divide " + listText(constraint.numbers);
  case Kind::MinorDivisible:
    return "needs tiles whose rows are a multiple of " +
           std::to_string(constraint.numbers.front()) + " elements";
  case Kind::Relayout:
    return "needs a relayout from its operand's layout";
  case Kind::Use:
    return "takes operand " +
           std::to_string(constraint.operand->getOperandNumber()) +
           " as it is laid out";
  case Kind::Equal:
  case Kind::Becomes:
  case Kind::Broadcast:
    break;
  }
  return "relates the layouts of " +
         typeText(evaluator.getSystem().getVariables()[constraint.a].type) +
         " and " +
         typeText(evaluator.getSystem().getVariables()[constraint.b].type);
}

/// Whether an op is there to state a layout.
static bool isAnnotation(Operation *op) {
  return isa<mosaic_gpu::LayoutCastOp, mosaic_gpu::WithTransformsOp,
             mosaic_gpu::TmemLayoutCastOp>(op);
}

namespace {

class Reporter {
public:
  Reporter(Solver &solver, ArrayRef<int> core)
      : solver(solver), evaluator(solver.getEvaluator()),
        constraints(evaluator.getSystem().getConstraints()), core(core) {}

  void report(bool allowsRelayouts) {
    // The op with the last demand; the others are what it meets.
    int last = core.back();
    size_t demands = 0;
    llvm::SmallPtrSet<Operation *, 8> ops;
    for (int number : core) {
      const Constraint &constraint = constraints[number];
      if (constraint.kind == Kind::Use)
        continue;
      last = number;
      demands += ops.insert(constraint.op).second;
    }
    const Constraint &end = constraints[last];
    InFlightDiagnostic diagnostic = end.op->emitOpError();
    diagnostic << describe(evaluator, end) << ", but no layouts meet ";
    if (demands > 1)
      diagnostic << "what these " << demands << " ops demand together";
    else
      diagnostic << "all that it demands";
    for (int number : core)
      attach(diagnostic, constraints[number]);
    suggest(diagnostic, allowsRelayouts);
  }

private:
  void attach(InFlightDiagnostic &diagnostic, const Constraint &constraint) {
    diagnostic.attachNote(constraint.op->getLoc())
        << "'" << constraint.op->getName() << "' "
        << describe(evaluator, constraint) << ": " << constraint.why;
  }

  /// What the core without one constraint makes of the variable `var`.
  LayoutId solveWithout(int dropped, VarId var) {
    Problem part;
    for (int number : core) {
      part.vars.push_back(constraints[number].a);
      if (constraints[number].b != kNoVar)
        part.vars.push_back(constraints[number].b);
      if (number != dropped)
        part.constraints.push_back(number);
    }
    llvm::sort(part.vars);
    part.vars.erase(std::unique(part.vars.begin(), part.vars.end()),
                    part.vars.end());
    SolveMode mode;
    mode.asInJAX = false;
    Solution solution = solver.solve(part, mode);
    if (solution.status != SolveStatus::Solved)
      return kNoLayout;
    return solution
        .layouts[llvm::lower_bound(part.vars, var) - part.vars.begin()];
  }

  void suggest(InFlightDiagnostic &diagnostic, bool allowsRelayouts) {
    for (int number : core) {
      const Constraint &constraint = constraints[number];
      if (constraint.kind == Kind::Use &&
          suggestCast(diagnostic, constraint, number, allowsRelayouts))
        return;
    }
    bool isSuggested = false;
    for (int number : core) {
      const Constraint &constraint = constraints[number];
      if (constraint.kind != Kind::Assign || !isAnnotation(constraint.op))
        continue;
      LayoutId other = solveWithout(number, constraint.a);
      Diagnostic &note = diagnostic.attachNote(constraint.op->getLoc());
      note << "to resolve it, remove this '" << constraint.op->getName() << "'";
      if (other != kNoLayout)
        note << " or let it state " << evaluator.getLayouts().name(other)
             << ", which the others allow";
      isSuggested = true;
    }
    if (isSuggested)
      return;
    for (int number : core)
      if (constraints[number].kind == Kind::Divides) {
        diagnostic.attachNote(constraints[number].op->getLoc())
            << "to resolve it, let this '" << constraints[number].op->getName()
            << "' begin and end at multiples of the tile";
        return;
      }
  }

  /// A cast between producer and user, where the move is possible.
  bool suggestCast(InFlightDiagnostic &diagnostic, const Constraint &use,
                   int number, bool allowsRelayouts) {
    LayoutId from = solveWithout(number, use.a);
    LayoutId to = solveWithout(number, use.b);
    if (from == kNoLayout || to == kNoLayout)
      return false;
    const relayouts::RelayoutCost &move =
        evaluator.relayout(cast<VectorType>(use.type), from, to);
    if (!move.isPossible())
      return false;
    diagnostic.attachNote(use.op->getLoc())
        << "to resolve it, " << (allowsRelayouts ? "" : "allow relayouts or ")
        << "insert 'mosaic_gpu.layout_cast' to "
        << evaluator.getLayouts().name(to) << " for operand "
        << use.operand->getOperandNumber() << " of this '" << use.op->getName()
        << "', which has " << evaluator.getLayouts().name(from) << " ("
        << move.str() << ")";
    return true;
  }

  Solver &solver;
  Evaluator &evaluator;
  ArrayRef<Constraint> constraints;
  ArrayRef<int> core;
};

/// Values are named by the op and place that they are of.
void attachStuck(InFlightDiagnostic &diagnostic, Evaluator &evaluator,
                 ArrayRef<VarId> stuck) {
  constexpr size_t kShown = 5;
  for (VarId var : stuck.take_front(kShown)) {
    const Variable &variable = evaluator.getSystem().getVariables()[var];
    diagnostic.attachNote(variable.getOp()->getLoc())
        << "no layout yet for " << variable.type << " of '"
        << variable.getOp()->getName() << "'; "
        << (variable.memory == Memory::Registers ? "a 'mosaic_gpu.layout_cast'"
            : variable.memory == Memory::Shared
                ? "a 'mosaic_gpu.with_transforms'"
                : "a 'mosaic_gpu.tmem_layout_cast'")
        << " there would help";
  }
  if (stuck.size() > kShown)
    diagnostic.attachNote() << "and " << stuck.size() - kShown << " more";
}

} // namespace

void inference::reportConflict(Solver &solver, const Problem &problem,
                               const Solution &solution, ArrayRef<int> core,
                               bool allowsRelayouts) {
  if (!core.empty()) {
    Reporter(solver, core).report(allowsRelayouts);
    return;
  }
  Evaluator &evaluator = solver.getEvaluator();
  VarId var =
      solution.stuck.empty() ? problem.vars.front() : solution.stuck.front();
  const Variable &variable = evaluator.getSystem().getVariables()[var];
  InFlightDiagnostic diagnostic = variable.getOp()->emitOpError();
  diagnostic << "needs a layout for " << variable.type
             << ", and no known one fits";
  for (int number : problem.constraints) {
    const Constraint &constraint =
        evaluator.getSystem().getConstraints()[number];
    if (constraint.kind == Kind::Use ||
        (constraint.a != var && constraint.b != var))
      continue;
    diagnostic.attachNote(constraint.op->getLoc())
        << "'" << constraint.op->getName() << "' "
        << describe(evaluator, constraint) << ": " << constraint.why;
  }
}

void inference::reportOutOfFuel(Solver &solver, const Solution &solution) {
  Evaluator &evaluator = solver.getEvaluator();
  const Variable &first =
      evaluator.getSystem()
          .getVariables()[solution.stuck.empty() ? 0 : solution.stuck.front()];
  InFlightDiagnostic diagnostic = first.getOp()->emitOpError();
  diagnostic << "has no layout after " << solver.getTried()
             << " assignments that the search tried (option 'fuel')";
  attachStuck(diagnostic, evaluator, solution.stuck);
}
