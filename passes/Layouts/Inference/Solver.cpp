//===- Solver.cpp - Search for the cheapest layout assignment -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/Solver.h"

#include "smalti/passes/Layouts/Inference/Candidates.h"
#include "smalti/passes/Layouts/Inference/Improvement.h"

#include <limits>
#include <numeric>
#include <utility>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

/// Limit of nested decisions, which bounds the stack.
static constexpr int kMaxDepth = 2000;
/// If a part of the search has more classes, ops whose operands are all splats
/// are first assumed to be splats, so that long chains of them need no
/// decisions.
static constexpr size_t kManyClasses = 512;
/// A solution replaces the first solution, which is JAX's, only if it is
/// cheaper by one part in this number, because costs are estimates.
static constexpr int64_t kPrecision = 8;
static constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max() / 2;

namespace {

/// Layouts of classes and their cost.
struct Assigned {
  std::vector<std::pair<int, LayoutId>> layouts;
  int64_t cost = 0;

  void add(const Assigned &other) {
    llvm::append_range(layouts, other.layouts);
    cost += other.cost;
  }
};

/// The cheapest solution, and the first one that was found.
struct Found : Assigned {
  Assigned first;
};

class Search {
public:
  Search(SearchState &state, int64_t &fuel, int64_t improvements)
      : state(state), fuel(fuel), improvements(improvements) {}

  /// The cheapest layouts of the classes in `unknown`, if they cost less than
  /// `bound`.
  std::optional<Found> searchAll(std::vector<int> unknown, int64_t bound) {
    if (depth == 0 && unknown.size() > kManyClasses) {
      size_t mark = state.getTrailLength();
      assumeSplats(unknown);
      std::vector<int> rest = takeUnknown(unknown);
      if (rest.size() < unknown.size()) {
        int64_t cost = state.costSince(mark);
        std::optional<Found> found = searchParts(rest, bound - cost);
        if (found)
          takeTrail(mark, cost, *found);
        state.undo(mark);
        if (found || outOfFuel)
          return found;
      }
    }
    return searchParts(unknown, bound);
  }

  bool isOutOfFuel() const { return outOfFuel; }
  ArrayRef<int> getStuck() const { return stuck; }

private:
  std::optional<Found> searchParts(const std::vector<int> &unknown,
                                   int64_t bound) {
    Found found;
    for (const std::vector<int> &part : split(unknown)) {
      std::optional<Found> best = searchPart(part, bound - found.cost);
      if (!best)
        return std::nullopt;
      found.add(*best);
      found.first.add(best->first);
    }
    return found;
  }

  /// Assumes splats in program order, so that each one determines the next.
  void assumeSplats(const std::vector<int> &unknown) {
    LayoutTable &layouts = state.getEvaluator().getLayouts();
    for (int index : unknown) {
      if (state.getLayout(index) != kNoLayout)
        continue;
      bool hasSource = false, isSplat = true;
      for (int number : state.getLinksOf(index)) {
        const Link &link = state.getLinks()[number];
        bool isUse = link.constraint->kind == Constraint::Kind::Use;
        if (isUse && link.b != index)
          continue;
        hasSource = true;
        isSplat &= isUse && state.getLayout(link.a) == layouts.splat();
      }
      size_t mark = state.getTrailLength();
      if (hasSource && isSplat &&
          !(state.assign(index, layouts.splat()) && state.propagate()))
        state.undo(mark);
    }
  }

  std::vector<int> takeUnknown(ArrayRef<int> indices) const {
    std::vector<int> rest;
    for (int index : indices)
      if (state.getLayout(index) == kNoLayout)
        rest.push_back(index);
    return rest;
  }

  /// Adds the layouts that were assigned since the trail had this length.
  void takeTrail(size_t mark, int64_t cost, Found &found) const {
    Assigned trail;
    trail.cost = cost;
    for (int index : state.getTrail().drop_front(mark))
      trail.layouts.push_back({index, state.getLayout(index)});
    found.add(trail);
    found.first.add(trail);
  }

  /// Splits unknown classes into connected parts, in order.
  std::vector<std::vector<int>> split(ArrayRef<int> unknown) {
    std::vector<std::vector<int>> parts;
    partOf.resize(state.getClasses().size(), -1);
    for (int index : unknown)
      partOf[index] = -1;
    std::vector<int> queue;
    for (int first : unknown) {
      if (partOf[first] >= 0)
        continue;
      int part = parts.size();
      parts.emplace_back();
      queue.push_back(first);
      partOf[first] = part;
      while (!queue.empty()) {
        int index = queue.back();
        queue.pop_back();
        for (int number : state.getLinksOf(index)) {
          const Link &link = state.getLinks()[number];
          int other = link.a == index ? link.b : link.a;
          if (other < 0 || state.getLayout(other) != kNoLayout ||
              partOf[other] == part)
            continue;
          partOf[other] = part;
          queue.push_back(other);
        }
      }
    }
    for (int index : unknown)
      parts[partOf[index]].push_back(index);
    return parts;
  }

  std::optional<Found> searchPart(const std::vector<int> &unknown,
                                  int64_t bound) {
    if (!state.getMode().asInJAX)
      return searchByClass(unknown);
    std::vector<Candidate> candidates = listCandidates(state, unknown);
    if (candidates.empty()) {
      noteStuck(unknown);
      return std::nullopt;
    }
    if (++depth > kMaxDepth)
      outOfFuel = true;
    std::optional<Found> best;
    SmallVector<Candidate> forbidden;
    for (const Candidate &candidate : candidates) {
      // The search for a cheaper solution has its own budget, so that the fuel
      // is reserved for the first solution.
      bool isBetter = best || improving;
      if (outOfFuel || (!isBetter && fuel <= 0)) {
        outOfFuel = true;
        if (!best)
          noteStuck(unknown);
        break;
      }
      if (state.isForbidden(candidate.index, candidate.layout))
        continue;
      int64_t &budget = isBetter ? improvements : fuel;
      if (budget <= 0)
        break;
      --budget;
      bool wasImproving = std::exchange(improving, isBetter);
      std::optional<Found> found =
          tryCandidate(candidate, unknown, best ? best->cost : bound);
      improving = wasImproving;
      if (found) {
        if (best)
          found->first = std::move(best->first);
        best = std::move(found);
      }
      // All solutions with this candidate have been searched.
      state.forbid(candidate.index, candidate.layout);
      forbidden.push_back(candidate);
    }
    for (const Candidate &candidate : forbidden)
      state.allow(candidate.index, candidate.layout);
    --depth;
    return best;
  }

  /// Tries the layouts of one class, the cheapest first. If all fail, the
  /// problem has no solution. The class with the largest vector is first,
  /// because it determines other layouts; ties prefer a class next to a known
  /// one.
  std::optional<Found> searchByClass(const std::vector<int> &unknown) {
    bool isRefutation = state.getMode().refuteOnly;
    int index = chooseClass(unknown);
    std::vector<LayoutId> layouts = listLayouts(state, index);
    if (layouts.empty()) {
      noteStuck({index});
      // No contradiction was found.
      return isRefutation ? std::optional(Found()) : std::nullopt;
    }
    if (!isRefutation)
      layouts = rank(index, layouts);
    if (++depth > kMaxDepth)
      outOfFuel = true;
    std::optional<Found> found;
    for (LayoutId layout : layouts) {
      if (outOfFuel || fuel <= 0) {
        outOfFuel = true;
        break;
      }
      --fuel;
      found = tryCandidate({index, layout}, unknown, kNoBound);
      if (found)
        break;
    }
    if (outOfFuel && !found)
      noteStuck(unknown);
    --depth;
    return found;
  }

  int chooseClass(ArrayRef<int> unknown) const {
    auto getRank = [&](int index) {
      const VarClass &varClass = state.getClasses()[index];
      bool isNext = llvm::any_of(state.getLinksOf(index), [&](int number) {
        const Link &link = state.getLinks()[number];
        int other = link.a == index ? link.b : link.a;
        return other >= 0 && state.getLayout(other) != kNoLayout;
      });
      auto type = dyn_cast<VectorType>(varClass.types.front());
      return std::make_pair(type ? type.getNumElements() : 0, isNext);
    };
    int best = unknown.front();
    for (int index : unknown.drop_front())
      if (getRank(index) > getRank(best))
        best = index;
    return best;
  }

  /// The layouts that propagation does not refute, the cheapest first.
  std::vector<LayoutId> rank(int index, ArrayRef<LayoutId> layouts) {
    std::vector<std::pair<int64_t, LayoutId>> costs;
    for (LayoutId layout : layouts) {
      size_t mark = state.getTrailLength();
      if (state.assign(index, layout) && state.propagate())
        costs.push_back({state.costSince(mark), layout});
      state.undo(mark);
    }
    llvm::stable_sort(costs, llvm::less_first());
    std::vector<LayoutId> ranked;
    for (auto [cost, layout] : costs)
      ranked.push_back(layout);
    return ranked;
  }

  std::optional<Found> tryCandidate(const Candidate &candidate,
                                    const std::vector<int> &unknown,
                                    int64_t bound) {
    size_t mark = state.getTrailLength();
    std::optional<Found> found;
    if (state.assign(candidate.index, candidate.layout) && state.propagate()) {
      int64_t cost = state.costSince(mark);
      if (cost < bound)
        found = searchAll(takeUnknown(unknown), bound - cost);
      if (found)
        takeTrail(mark, cost, *found);
    }
    state.undo(mark);
    return found;
  }

  void noteStuck(const std::vector<int> &unknown) {
    if (stuck.empty())
      stuck = unknown;
  }

  SearchState &state;
  int64_t &fuel;
  int64_t improvements;
  int depth = 0;
  bool outOfFuel = false;
  /// Whether a solution already exists.
  bool improving = false;
  std::vector<int> partOf;
  std::vector<int> stuck;
};

} // namespace

Solution Solver::solve(const Problem &problem, const SolveMode &mode) {
  locals.resize(evaluator.getSystem().getVariables().size(), -1);
  SearchState state(evaluator, problem, mode, locals);
  Solution solution;
  if (!state.start())
    return solution;
  solution.cost = state.costSince(0);
  std::vector<int> unknown;
  for (size_t index = 0; index < state.getClasses().size(); ++index)
    if (state.getLayout(index) == kNoLayout)
      unknown.push_back(index);
  Search search(state, fuel, limits.improvements);
  std::optional<Found> found = search.searchAll(unknown, kNoBound);
  if (!found) {
    solution.status =
        search.isOutOfFuel() ? SolveStatus::OutOfFuel : SolveStatus::Conflict;
    for (int index : search.getStuck())
      solution.stuck.push_back(state.getClasses()[index].first);
    return solution;
  }
  solution.status = SolveStatus::Solved;
  int64_t known = std::exchange(solution.cost, solution.cost + found->cost);
  int64_t firstCost = known + found->first.cost;
  bool isCheaper = solution.cost <= firstCost - firstCost / kPrecision;
  for (auto [index, layout] : isCheaper ? found->layouts : found->first.layouts)
    state.set(index, layout);
  if (!isCheaper)
    solution.cost = firstCost;
  solution.layouts = takeLayouts(state, problem);
  return solution;
}

std::vector<LayoutId> Solver::takeLayouts(const SearchState &state,
                                          const Problem &problem) {
  std::vector<LayoutId> layouts;
  for (size_t var = 0; var < problem.vars.size(); ++var)
    layouts.push_back(state.getLayout(state.getClass(var)));
  return layouts;
}

void Solver::improve(const Problem &problem, const SolveMode &mode,
                     MutableArrayRef<LayoutId> layouts) {
  locals.resize(evaluator.getSystem().getVariables().size(), -1);
  SearchState state(evaluator, problem, mode, locals);
  for (auto [var, layout] : llvm::enumerate(layouts))
    state.set(state.getClass(var), layout);
  improveSolution(state, limits.improvements);
  llvm::copy(takeLayouts(state, problem), layouts.begin());
}

std::vector<Problem>
inference::splitIntoProblems(const ConstraintSystem &system) {
  size_t count = system.getVariables().size();
  std::vector<int> parent(count);
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int var) {
    while (parent[var] != var)
      var = parent[var] = parent[parent[var]];
    return var;
  };
  for (const Constraint &constraint : system.getConstraints()) {
    if (constraint.b == kNoVar)
      continue;
    int a = find(constraint.a), b = find(constraint.b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<Problem> problems;
  std::vector<int> number(count, -1);
  for (size_t var = 0; var < count; ++var) {
    int root = find(var);
    if (number[root] < 0) {
      number[root] = problems.size();
      problems.emplace_back();
    }
    number[var] = number[root];
    problems[number[var]].vars.push_back(var);
  }
  for (auto [index, constraint] : llvm::enumerate(system.getConstraints()))
    problems[number[constraint.a]].constraints.push_back(index);
  return problems;
}
