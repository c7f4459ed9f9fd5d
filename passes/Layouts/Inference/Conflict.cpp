//===- Conflict.cpp - Diagnostics for unsatisfiable layout constraints ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/Conflict.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Layouts/Inference/SearchState.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

//===----------------------------------------------------------------------===//
// Minimal contradiction
//===----------------------------------------------------------------------===//

/// The problem of a subset of the constraints, with their variables.
static Problem makeProblem(ArrayRef<Constraint> all,
                           ArrayRef<int> constraints) {
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
  return part;
}

/// Budget of the search for a minimal contradiction: number of tests,
/// constraints of all tests, and assignments of one test. A test that exceeds
/// it counts as not contradictory, and the constraints remain in the set.
static constexpr int64_t kMaxTests = 400;
static constexpr int64_t kMaxWork = 2 * 1000 * 1000;
static constexpr int64_t kTestFuel = 500, kMinTestFuel = 16;
static constexpr int64_t kTestWork = 20 * 1000;
/// Assignments of the search for a solution with a hint.
static constexpr int64_t kHintFuel = 2000;
/// Limit of the uses in a contradiction that are minimized individually.
static constexpr size_t kMaxUses = 64;
/// Begins a note that suggests a change.
static constexpr char kResolve[] = "to resolve the conflict, ";

/// Whether a constraint only propagates a layout.
static bool isLink(const Constraint &constraint) {
  return constraint.kind == Kind::Use || constraint.kind == Kind::Equal;
}

namespace {

class CoreFinder {
public:
  explicit CoreFinder(Solver &solver)
      : solver(solver),
        all(solver.getEvaluator().getSystem().getConstraints()) {}

  bool isContradiction(ArrayRef<int> constraints) {
    Problem part = makeProblem(all, constraints);
    SolveMode mode;
    mode.asInJAX = false;
    mode.refuteOnly = !needsCandidates;
    mode.firstOnly = true;
    int64_t fuel = solver.getFuel();
    int64_t size = std::max<int64_t>(part.constraints.size(), 1);
    solver.setFuel(std::clamp(kTestWork / size, kMinTestFuel, kTestFuel));
    Solution solution = solver.solve(part, mode);
    solver.setFuel(fuel);
    return solution.status == SolveStatus::Conflict;
  }

  /// Also treats constraints that no known layout satisfies as contradictory.
  void needCandidates() { needsCandidates = true; }

  /// A minimal subset of `constraints` that is contradictory together with
  /// `background`. The algorithm is QuickXplain: it removes halves, and finds k
  /// of n constraints with about k log(n / k) tests.
  std::vector<int> minimize(std::vector<int> &background, bool hasNew,
                            ArrayRef<int> constraints) {
    if (constraints.empty())
      return {};
    if (hasNew && hasBudget(background.size()) && isContradiction(background))
      return {};
    if (constraints.size() == 1 || !hasBudget(0))
      return constraints.vec();
    ArrayRef<int> first = constraints.take_front(constraints.size() / 2);
    ArrayRef<int> second = constraints.drop_front(constraints.size() / 2);
    size_t length = background.size();
    llvm::append_range(background, first);
    std::vector<int> ofSecond = minimize(background, true, second);
    background.resize(length);
    llvm::append_range(background, ofSecond);
    std::vector<int> ofFirst = minimize(background, !ofSecond.empty(), first);
    background.resize(length);
    llvm::append_range(ofFirst, ofSecond);
    return ofFirst;
  }

  /// The links that connect the variables of some constraints, on the shortest
  /// paths from the first one.
  std::vector<int> connect(ArrayRef<int> requirements, ArrayRef<int> links) {
    llvm::DenseMap<VarId, SmallVector<int, 2>> edges;
    for (int number : llvm::concat<const int>(requirements, links))
      if (all[number].b != kNoVar) {
        edges[all[number].a].push_back(number);
        edges[all[number].b].push_back(number);
      }
    llvm::DenseMap<VarId, int> via;
    std::vector<VarId> queue{all[requirements.front()].a};
    via[queue.front()] = -1;
    for (size_t next = 0; next < queue.size(); ++next)
      for (int number : edges[queue[next]]) {
        VarId other =
            all[number].a == queue[next] ? all[number].b : all[number].a;
        if (via.try_emplace(other, number).second)
          queue.push_back(other);
      }
    llvm::DenseSet<int> taken;
    for (int requirement : requirements)
      for (VarId var : {all[requirement].a, all[requirement].b})
        while (var != kNoVar && via.count(var) && via[var] >= 0 &&
               taken.insert(via[var]).second)
          var = all[via[var]].a == var ? all[via[var]].b : all[via[var]].a;
    std::vector<int> result;
    for (int number : taken)
      if (isLink(all[number]))
        result.push_back(number);
    llvm::sort(result);
    return result;
  }

private:
  bool hasBudget(int64_t size) {
    if (size > 0) {
      ++tests;
      work += size;
    }
    return tests <= kMaxTests && work <= kMaxWork;
  }

  Solver &solver;
  ArrayRef<Constraint> all;
  int64_t tests = 0, work = 0;
  bool needsCandidates = false;
};

} // namespace

std::vector<int> inference::findCore(Solver &solver, const Problem &problem) {
  CoreFinder finder(solver);
  if (!finder.isContradiction(problem.constraints)) {
    finder.needCandidates();
    if (!finder.isContradiction(problem.constraints))
      return {};
  }
  ArrayRef<Constraint> all = solver.getEvaluator().getSystem().getConstraints();
  std::vector<int> links, requirements;
  for (int number : problem.constraints)
    (isLink(all[number]) ? links : requirements).push_back(number);
  std::vector<int> background = links;
  std::vector<int> core =
      finder.minimize(background, !links.empty(), requirements);
  if (!core.empty()) {
    std::vector<int> between = finder.connect(core, links);
    std::vector<int> both = core;
    llvm::append_range(both, between);
    if (finder.isContradiction(both))
      links = std::move(between);
  }
  if (links.size() <= kMaxUses) {
    background = core;
    links = finder.minimize(background, true, links);
  }
  llvm::append_range(core, links);
  llvm::sort(core);
  return core;
}

//===----------------------------------------------------------------------===//
// Message text
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

/// "operand 0", "the result" or "a block argument", for a value of an op.
static std::string siteText(const Site &site, Operation *op) {
  if (site.operand)
    return "operand " + std::to_string(site.operand->getOperandNumber());
  auto result = dyn_cast<OpResult>(site.value);
  if (!result)
    return "a block argument";
  return op->getNumResults() == 1
             ? "the result"
             : "result " + std::to_string(result.getResultNumber());
}

static StringRef memoryText(Memory memory) {
  switch (memory) {
  case Memory::Registers:
    return "in registers";
  case Memory::Shared:
    return "in shared memory";
  case Memory::Tensor:
    return "in tensor memory";
  }
  llvm_unreachable("unknown memory");
}

/// The operands and results of `op` that share a variable:
/// "operand 0 and the result (vector<64xf32> in registers)". The type is not
/// written without `withType`, and neither it nor the memory with `omitted`.
static std::string subjectText(const Variable &variable, Operation *op,
                               const OpOperand *omitted = nullptr,
                               bool withType = true) {
  SmallVector<std::string> names;
  Type type = variable.type;
  for (const Site &site : variable.sites) {
    Operation *owner =
        site.operand ? site.operand->getOwner() : site.value.getDefiningOp();
    if (owner != op || (omitted && site.operand == omitted))
      continue;
    if (names.empty())
      type =
          site.operand ? site.operand->get().getType() : site.value.getType();
    names.push_back(siteText(site, op));
  }
  if (omitted)
    return llvm::join(names, " and ");
  if (names.empty()) {
    Operation *owner = variable.getOp();
    names.push_back(siteText(variable.sites.front(), owner) + " of " +
                    (owner->getName() == op->getName() ? "another '" : "'") +
                    owner->getName().getStringRef().str() + "'");
  }
  std::string text = llvm::join(names, " and ");
  StringRef memory = memoryText(variable.memory);
  return withType ? text + " (" + typeText(type) + " " + memory.str() + ")"
                  : text + " " + memory.str();
}

std::string inference::describeLayouts(const ConstraintSystem &system,
                                       const LayoutTable &table,
                                       const Constraint &constraint,
                                       ArrayRef<LayoutId> layouts) {
  auto describe = [&](VarId var) {
    return table.name(layouts[var]) + " for " +
           subjectText(system.getVariables()[var], constraint.op,
                       /*omitted=*/nullptr, /*withType=*/false);
  };
  if (constraint.b == kNoVar)
    return "the unsupported layout " + describe(constraint.a);
  return "the unsupported combination of the layouts " +
         describe(constraint.a) + ", and " + describe(constraint.b);
}

static bool isUntiled(LayoutTable &layouts, const Constraint &constraint) {
  return constraint.kind == Kind::Assign &&
         constraint.layouts.front() == layouts.noTransforms();
}

std::string inference::describeConstraint(Evaluator &evaluator,
                                          const Constraint &constraint) {
  LayoutTable &layouts = evaluator.getLayouts();
  auto joinNames = [&](ArrayRef<LayoutId> ids) {
    return llvm::join(
        llvm::map_range(ids, [&](LayoutId id) { return layouts.name(id); }),
        " or ");
  };
  auto getVariable = [&](VarId var) -> const Variable & {
    return evaluator.getSystem().getVariables()[var];
  };
  auto subject = [&](VarId var) {
    return subjectText(getVariable(var), constraint.op);
  };
  std::string ofA = " for " + subject(constraint.a);
  switch (constraint.kind) {
  case Kind::Assign:
  case Kind::OneOf:
    if (isUntiled(layouts, constraint))
      return "requires untiled memory" + ofA;
    return (getVariable(constraint.a).memory == Memory::Shared
                ? "requires "
                : "requires layout ") +
           joinNames(constraint.layouts) + ofA;
  case Kind::NotSplat:
    return "requires a layout other than splat (one scalar for all "
           "elements)" +
           ofA;
  case Kind::NotStrided:
    return "requires a layout other than strided" + ofA;
  case Kind::SharedTransfer:
    return "requires a layout for " + subject(constraint.b) + " that can be " +
           (constraint.isLoad ? "loaded from " : "stored to ") +
           typeText(constraint.type) +
           (constraint.need == transfers::TransferNeed::Optimized
                ? " without bank conflicts"
                : "");
  case Kind::TensorTransfer:
    return "requires a layout for " + subject(constraint.b) +
           " that can be loaded from and stored to " +
           typeText(constraint.type) + " in tensor memory";
  case Kind::MmaTile: {
    std::string tiles;
    int64_t bits = getElementBits(constraint.type);
    for (const auto &tile : getMmaTiles(bits, constraint.isTransposed,
                                        constraint.allowsUnswizzled))
      tiles += (tiles.empty() ? "" : " or ") + std::to_string(tile[0]) + "x" +
               std::to_string(tile[1]);
    return "requires tiles of " + tiles +
           ", with a swizzle as wide as the tile's rows," + ofA;
  }
  case Kind::Divides:
    return "requires tiles whose sizes divide " + listText(constraint.numbers) +
           ofA;
  case Kind::MinorDivisible:
    return "requires tiles whose rows are a multiple of " +
           std::to_string(constraint.numbers.front()) + " elements" + ofA;
  case Kind::Relayout:
    return "requires a layout that can be converted to the layout of " +
           subject(constraint.b) + ofA;
  case Kind::Use: {
    OpOperand *operand = constraint.operand;
    Operation *producer = operand->get().getDefiningOp();
    std::string text =
        "requires operand " + std::to_string(operand->getOperandNumber()) +
        " (" + typeText(operand->get().getType()) +
        " in registers) in the layout of " +
        (producer ? "the result of '" +
                        producer->getName().getStringRef().str() + "'"
                  : "the block argument");
    std::string others =
        subjectText(getVariable(constraint.b), constraint.op, operand);
    return others.empty() ? text : text + ", and the same layout for " + others;
  }
  case Kind::GlobalTransfer:
    return "requires a layout" + ofA + " that can access " +
           typeText(constraint.type) + " in global memory";
  case Kind::BulkCopy:
    return "copies the rows of " + typeText(constraint.type);
  case Kind::Equal:
  case Kind::Becomes:
  case Kind::Broadcast:
    break;
  }
  return "requires matching layouts" + ofA + " and " + subject(constraint.b);
}

/// Whether the purpose of an op is to state a layout.
static bool isAnnotation(Operation *op) {
  return isa<mosaic_gpu::LayoutCastOp, mosaic_gpu::WithTransformsOp,
             mosaic_gpu::TmemLayoutCastOp>(op);
}

/// Suggests the next larger sizes that can be distributed evenly, if no layout
/// is valid for the sizes of a vector.
static bool suggestPadding(InFlightDiagnostic &diagnostic, Evaluator &evaluator,
                           const Variable &variable) {
  auto type = dyn_cast<VectorType>(variable.type);
  auto hasLayout = [&](VectorType vector) {
    // The last one is the splat.
    return evaluator.getRegisterLayouts(vector).size() > 1;
  };
  if (!type || hasLayout(type))
    return false;
  SmallVector<int64_t> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(llvm::PowerOf2Ceil(size));
  auto padded = VectorType::get(sizes, type.getElementType());
  if (!hasLayout(padded))
    return false;
  diagnostic.attachNote(variable.getOp()->getLoc())
      << kResolve << "pad the vector to " << padded
      << ", whose elements can be divided evenly among the "
      << evaluator.getLayouts().getThreads() << " threads";
  return true;
}

namespace {

class Reporter {
public:
  Reporter(Solver &solver, const Problem &problem, ArrayRef<int> core,
           bool allowsRelayouts)
      : problem(problem), allowsRelayouts(allowsRelayouts), solver(solver),
        evaluator(solver.getEvaluator()),
        constraints(evaluator.getSystem().getConstraints()), core(core) {
    if (allowsRelayouts)
      for (int number : problem.constraints)
        if (constraints[number].kind == Kind::Use)
          usual.insert(number);
  }

  /// `stuck`: a variable without remaining candidates, if any.
  void report(VarId stuck) {
    // The error is on the op of the last constraint.
    int last = core.back();
    for (int number : core)
      if (!isLink(constraints[number]))
        last = number;
    const Constraint &end = constraints[last];
    const Variable *variable =
        stuck == kNoVar ? nullptr
                        : &evaluator.getSystem().getVariables()[stuck];
    InFlightDiagnostic diagnostic =
        (variable ? variable->getOp() : end.op)->emitOpError();
    if (variable)
      diagnostic << "requires a layout for "
                 << subjectText(*variable, variable->getOp())
                 << "; no known layout satisfies all requirements in the notes";
    else
      diagnostic << describeConstraint(evaluator, end)
                 << "; no layout assignment satisfies all requirements in the "
                    "notes";
    attachAll(diagnostic);
    if (!variable || !suggestPadding(diagnostic, evaluator, *variable))
      suggest(diagnostic);
  }

private:
  /// Attaches a note for each constraint, and for the links if they are few.
  void attachAll(InFlightDiagnostic &diagnostic) {
    constexpr size_t kShownLinks = 4, kShownDemands = 12;
    size_t links = llvm::count_if(
        core, [&](int number) { return isLink(constraints[number]); });
    size_t shown = 0;
    for (int number : core) {
      if (isLink(constraints[number]) ? links > kShownLinks
                                      : ++shown > kShownDemands)
        continue;
      attach(diagnostic, constraints[number]);
    }
    if (shown > kShownDemands)
      diagnostic.attachNote() << "and " << shown - kShownDemands << " more";
  }

  void attach(InFlightDiagnostic &diagnostic, const Constraint &constraint) {
    diagnostic.attachNote(constraint.op->getLoc())
        << "'" << constraint.op->getName() << "' "
        << describeConstraint(evaluator, constraint) << ": "
        << constraint.reason
        << (isUntiled(evaluator.getLayouts(), constraint)
                ? "; use a separate buffer for the ops that require tiles"
                : "");
  }

  /// A solution of the whole problem without some constraints, or with
  /// relayouts at some uses; empty if none exists.
  std::vector<LayoutId> solveWithout(ArrayRef<int> dropped,
                                     const llvm::DenseSet<int> &relaxed) {
    Problem part = problem;
    llvm::erase_if(part.constraints, [&](int number) {
      return llvm::is_contained(dropped, number);
    });
    SolveMode mode;
    mode.asInJAX = false;
    mode.relaxed = &relaxed;
    mode.firstOnly = true;
    int64_t fuel = solver.getFuel();
    solver.setFuel(kHintFuel);
    Solution solution = solver.solve(part, mode);
    solver.setFuel(fuel);
    if (solution.status != SolveStatus::Solved)
      return {};
    return std::move(solution.layouts);
  }
  std::vector<LayoutId> solveWithout(ArrayRef<int> dropped) {
    return solveWithout(dropped, usual);
  }

  LayoutId find(ArrayRef<LayoutId> layouts, VarId var) const {
    return layouts[llvm::lower_bound(problem.vars, var) - problem.vars.begin()];
  }

  /// The constraints of an op and a kind in the core.
  SmallVector<int> select(Operation *op, Kind kind) const {
    SmallVector<int> numbers;
    for (int number : core)
      if (constraints[number].op == op && constraints[number].kind == kind)
        numbers.push_back(number);
    return numbers;
  }

  /// The uses where a cast is tried; only those at both ends of a long path.
  SmallVector<int> usesToTry() const {
    size_t each = core.size() > 256 ? 2 : 8;
    SmallVector<int> uses;
    for (int number : core)
      if (constraints[number].kind == Kind::Use)
        uses.push_back(number);
    if (uses.size() > 2 * each)
      uses.erase(uses.begin() + each, uses.end() - each);
    return uses;
  }

  /// Attaches a hint that resolves the whole problem.
  void suggest(InFlightDiagnostic &diagnostic) {
    // If relayouts are allowed, casts have already been tried.
    if (!allowsRelayouts)
      for (int number : usesToTry())
        if (suggestCast(diagnostic, constraints[number]))
          return;
    if (suggestAnnotations(diagnostic))
      return;
    // First try views and slices that split tiles.
    for (bool cutsTile : {true, false})
      for (int number : llvm::reverse(core)) {
        const Constraint &constraint = constraints[number];
        std::string remedy = remedyFor(constraint);
        if (remedy.empty() || cutsTile != (constraint.kind == Kind::Divides) ||
            !isResolvedAt(number))
          continue;
        diagnostic.attachNote(constraint.op->getLoc()) << kResolve << remedy;
        return;
      }
  }

  /// Whether the problem has a solution without a constraint of an op.
  bool isResolvedAt(int number) {
    const Constraint &constraint = constraints[number];
    if (constraint.kind != Kind::SharedTransfer) {
      // The equalities of an op are dropped together.
      SmallVector<int> dropped;
      for (int other : problem.constraints)
        if (constraints[other].op == constraint.op &&
            (constraints[other].kind == constraint.kind ||
             (isEquality(constraint.kind) &&
              isEquality(constraints[other].kind))))
          dropped.push_back(other);
      return !solveWithout(dropped).empty();
    }
    transfers::TransferNeed need = constraint.need;
    evaluator.getSystem().getConstraint(number).need =
        transfers::TransferNeed::Unoptimized;
    bool isResolved = !solveWithout({}).empty();
    evaluator.getSystem().getConstraint(number).need = need;
    return isResolved;
  }

  static bool isEquality(Kind kind) {
    return kind == Kind::Equal || kind == Kind::Divides ||
           kind == Kind::Becomes || kind == Kind::Broadcast ||
           kind == Kind::OneOf;
  }

  /// Suggests to change one stated layout, or to remove all of them.
  bool suggestAnnotations(InFlightDiagnostic &diagnostic) {
    SmallVector<int> all;
    llvm::SmallPtrSet<Operation *, 4> ops;
    bool isSuggested = false;
    for (int number : core) {
      const Constraint &constraint = constraints[number];
      if (constraint.kind != Kind::Assign || !isAnnotation(constraint.op))
        continue;
      SmallVector<int> stated = select(constraint.op, Kind::Assign);
      if (!ops.insert(constraint.op).second)
        continue;
      all.append(stated);
      std::vector<LayoutId> layouts = solveWithout(stated);
      if (layouts.empty())
        continue;
      // A cast that converts a vector to the new layout is still needed.
      bool isMove = false;
      for (int other : problem.constraints)
        if (constraints[other].kind == Kind::Relayout &&
            constraints[other].op == constraint.op)
          isMove |= find(layouts, constraints[other].a) !=
                    find(layouts, constraints[other].b);
      LayoutId other = find(layouts, constraint.a);
      // A splat layout cannot be stated.
      bool isStated = !evaluator.getLayouts().isSplat(other);
      if (isMove && !isStated)
        continue;
      Diagnostic &note = diagnostic.attachNote(constraint.op->getLoc());
      note << kResolve;
      if (!isMove)
        note << "remove this '" << constraint.op->getName() << "'"
             << (isStated ? " or " : "");
      if (isStated)
        note << "change "
             << (isMove ? "the layout of this '" : "the layout of the op")
             << (isMove ? constraint.op->getName().getStringRef() : "")
             << (isMove ? "'" : "") << " to "
             << (other == evaluator.getLayouts().noTransforms()
                     ? "[] (no tile and no swizzle)"
                     : evaluator.getLayouts().name(other))
             << ", which satisfies the other ops";
      isSuggested = true;
    }
    if (isSuggested || ops.size() < 2 || solveWithout(all).empty())
      return isSuggested;
    for (Operation *op : ops)
      diagnostic.attachNote(op->getLoc())
          << kResolve << "remove all " << ops.size()
          << " ops that fix a layout: this '" << op->getName()
          << "' and the others with this note";
    return true;
  }

  /// The hint for a constraint that a cast does not resolve.
  std::string remedyFor(const Constraint &constraint) const {
    std::string op =
        ("this '" + constraint.op->getName().getStringRef() + "'").str();
    switch (constraint.kind) {
    case Kind::Divides:
      return "make the offsets and sizes of " + op + " multiples of " +
             (evaluator.getSystem().getVariables()[constraint.a].memory ==
                      Memory::Registers
                  ? "the tile of a register layout, such as 64x8 for WGMMA"
                  : "the tile that another op in the notes requires");
    case Kind::SharedTransfer:
      return "set 'optimized = false' on " + op +
             ", which then may have bank conflicts";
    case Kind::TensorTransfer:
      return "change the layout of the tensor memory of " + op +
             " with 'mosaic_gpu.tmem_layout_cast'";
    case Kind::MmaTile:
      return "change the sizes in " + op +
             " to multiples of one of the tiles that it requires";
    case Kind::MinorDivisible:
      return "give the shared memory of " + op +
             " a tile whose rows are a multiple of 32 bytes, with "
             "'mosaic_gpu.with_transforms'";
    case Kind::Equal:
    case Kind::Becomes:
    case Kind::Broadcast:
    case Kind::OneOf:
      return "change the sizes in " + op +
             " so that one layout is valid for both values";
    default:
      return "";
    }
  }

  /// Suggests a cast of a value before a user, for all operands of the user
  /// that are the value.
  bool suggestCast(InFlightDiagnostic &diagnostic, const Constraint &use) {
    llvm::DenseSet<int> relaxed = usual;
    SmallVector<unsigned> operands;
    for (int number : problem.constraints) {
      const Constraint &other = constraints[number];
      if (other.kind == Kind::Use && other.op == use.op &&
          other.operand->get() == use.operand->get()) {
        relaxed.insert(number);
        operands.push_back(other.operand->getOperandNumber());
      }
    }
    std::vector<LayoutId> layouts = solveWithout({}, relaxed);
    if (layouts.empty())
      return false;
    LayoutId from = find(layouts, use.a), to = find(layouts, use.b);
    if (from == to || evaluator.getLayouts().isSplat(from))
      return false;
    llvm::sort(operands);
    Diagnostic &note = diagnostic.attachNote(use.op->getLoc());
    note << kResolve
         << "set relayouts=true, or insert a 'mosaic_gpu.layout_cast' to the "
            "layout "
         << evaluator.getLayouts().name(to) << " before operand";
    for (auto [index, operand] : llvm::enumerate(operands))
      note << (index == 0 ? (operands.size() > 1 ? "s " : " ") : " and ")
           << operand;
    note << " of this '" << use.op->getName() << "', whose layout is "
         << evaluator.getLayouts().name(from) << " (cost: "
         << evaluator.relayout(cast<VectorType>(use.type), from, to).str()
         << ")";
    return true;
  }

  const Problem &problem;
  bool allowsRelayouts;
  Solver &solver;
  Evaluator &evaluator;
  ArrayRef<Constraint> constraints;
  ArrayRef<int> core;
  /// The uses at which the pass itself may insert relayouts.
  llvm::DenseSet<int> usual;
};

/// Attaches a note for each value without a layout.
void attachStuck(InFlightDiagnostic &diagnostic, Evaluator &evaluator,
                 ArrayRef<VarId> stuck) {
  constexpr size_t kShown = 5;
  for (VarId var : stuck.take_front(kShown)) {
    const Variable &variable = evaluator.getSystem().getVariables()[var];
    diagnostic.attachNote(variable.getOp()->getLoc())
        << "no layout chosen yet for " << variable.type << " of '"
        << variable.getOp()->getName() << "'; annotate it with "
        << (variable.memory == Memory::Registers ? "'mosaic_gpu.layout_cast'"
            : variable.memory == Memory::Shared
                ? "'mosaic_gpu.with_transforms'"
                : "'mosaic_gpu.tmem_layout_cast'");
  }
  if (stuck.size() > kShown)
    diagnostic.attachNote() << "and " << stuck.size() - kShown << " more";
}

} // namespace

void inference::reportConflict(Solver &solver, const Problem &problem,
                               const Solution &solution, ArrayRef<int> core,
                               bool allowsRelayouts) {
  if (!core.empty()) {
    Reporter(solver, problem, core, allowsRelayouts)
        .report(solution.stuck.empty() ? kNoVar : solution.stuck.front());
    return;
  }
  Evaluator &evaluator = solver.getEvaluator();
  VarId var =
      solution.stuck.empty() ? problem.vars.front() : solution.stuck.front();
  const Variable &variable = evaluator.getSystem().getVariables()[var];
  InFlightDiagnostic diagnostic = variable.getOp()->emitOpError();
  diagnostic << "requires a layout for "
             << subjectText(variable, variable.getOp())
             << "; no known layout is valid for this type and satisfies the "
                "requirements in the notes";
  for (int number : problem.constraints) {
    const Constraint &constraint =
        evaluator.getSystem().getConstraints()[number];
    if (constraint.kind == Kind::Use ||
        (constraint.a != var && constraint.b != var))
      continue;
    diagnostic.attachNote(constraint.op->getLoc())
        << "'" << constraint.op->getName() << "' "
        << describeConstraint(evaluator, constraint) << ": "
        << constraint.reason;
  }
  suggestPadding(diagnostic, evaluator, variable);
}

void inference::reportOutOfFuel(Solver &solver, const Problem &problem,
                                const Solution &solution) {
  Evaluator &evaluator = solver.getEvaluator();
  VarId var =
      solution.stuck.empty() ? problem.vars.front() : solution.stuck.front();
  InFlightDiagnostic diagnostic =
      evaluator.getSystem().getVariables()[var].getOp()->emitOpError();
  diagnostic << "does not have a layout after " << solver.getTried()
             << " search steps; raise the option 'fuel' or annotate the values "
                "in the notes";
  attachStuck(diagnostic, evaluator, solution.stuck);
}
