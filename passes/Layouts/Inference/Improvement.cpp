//===- Improvement.cpp - Local search for cheaper solutions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/Improvement.h"

#include "smalti/passes/Layouts/Inference/Candidates.h"

#include "llvm/ADT/MapVector.h"

#include <limits>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

/// Upper bound of the number of changes.
static constexpr int64_t kMaxChanges = 100 * 1000;

namespace {

class Improver {
public:
  Improver(SearchState &state, int64_t limit)
      : state(state), budget(std::min<int64_t>(
                          kMaxChanges, limit * state.getClasses().size())) {}

  int64_t run() {
    int64_t total = 0;
    int count = state.getClasses().size();
    // Stop after all classes were tried since the last improvement.
    for (int index = 0, untouched = 0; untouched < count && budget > 0;
         index = (index + 1) % count) {
      int64_t gain = improve(index);
      total += gain;
      untouched = gain < 0 ? 0 : untouched + 1;
    }
    return total;
  }

private:
  /// Applies the best change that begins with a class.
  int64_t improve(int index) {
    int64_t best = 0;
    std::vector<std::pair<int, LayoutId>> bestLayouts;
    for (LayoutId layout : list(index)) {
      if (layout == state.getLayout(index))
        continue;
      for (bool takesNeighbors : {false, true}) {
        // The second variant differs only for classes with relaxed uses.
        if (takesNeighbors && !hasSameNeighbor(index))
          continue;
        if (!takesNeighbors && !canBeCheaper(index, layout))
          continue;
        if (--budget < 0)
          break;
        changed.clear();
        LayoutId taken = takesNeighbors ? state.getLayout(index) : kNoLayout;
        change(index, layout);
        if (repair(taken)) {
          int64_t difference = compare();
          if (difference < best) {
            best = difference;
            bestLayouts.clear();
            for (auto [other, old] : changed)
              bestLayouts.push_back({other, state.getLayout(other)});
          }
        }
        revert();
      }
    }
    for (auto [other, layout] : bestLayouts)
      state.set(other, layout);
    return best;
  }

  /// Whether a class can become cheaper with a layout, if its links cost 0.
  bool canBeCheaper(int index, LayoutId layout) {
    int64_t before = state.classCost(index);
    for (int number : state.getLinksOf(index))
      before += state.linkCost(state.getLinks()[number]);
    LayoutId old = state.getLayout(index);
    state.set(index, layout);
    int64_t after = state.classCost(index);
    state.set(index, old);
    return after < before;
  }

  /// The possible layouts of a class with the current layouts of its neighbors.
  std::vector<LayoutId> list(int index) {
    LayoutId layout = state.getLayout(index);
    state.set(index, kNoLayout);
    std::vector<LayoutId> layouts = listLayouts(state, index);
    state.set(index, layout);
    return layouts;
  }

  bool hasSameNeighbor(int index) const {
    return llvm::any_of(state.getLinksOf(index), [&](int number) {
      const Link &link = state.getLinks()[number];
      return link.isMove && state.getLayout(link.a) == state.getLayout(link.b);
    });
  }

  void change(int index, LayoutId layout) {
    changed.insert({index, state.getLayout(index)});
    state.set(index, layout);
  }

  void revert() {
    for (auto [index, layout] : changed)
      state.set(index, layout);
  }

  /// Changes the neighbors of changed classes until all constraints are
  /// satisfied. Neighbors across relaxed uses that have the layout `taken`, if
  /// any, change with the first class.
  bool repair(LayoutId taken) {
    LayoutId first = state.getLayout(changed.front().first);
    for (size_t next = 0; next < changed.size(); ++next) {
      auto [index, old] = changed.begin()[next];
      LayoutId layout = state.getLayout(index);
      for (int number : state.getLinksOf(index)) {
        const Link &link = state.getLinks()[number];
        int other = link.a == index ? link.b : link.a;
        bool isFree = other >= 0 && !changed.contains(other);
        if (isFree && link.isMove && taken != kNoLayout && old == taken &&
            layout == first && state.getLayout(other) == taken &&
            state.canHave(other, layout)) {
          change(other, layout);
          continue;
        }
        if (state.holds(link))
          continue;
        LayoutId fitting = isFree ? choose(link, other) : kNoLayout;
        if (fitting == kNoLayout)
          return false;
        change(other, fitting);
      }
    }
    return true;
  }

  /// The cheapest layout of a class that satisfies a link.
  LayoutId choose(const Link &link, int other) {
    LayoutId old = state.getLayout(other), best = kNoLayout;
    int64_t bestCost = std::numeric_limits<int64_t>::max();
    auto consider = [&](LayoutId layout) {
      if (layout == kNoLayout || !state.canHave(other, layout))
        return;
      state.set(other, layout);
      if (state.holds(link)) {
        int64_t cost = state.classCost(other) + state.linkCost(link);
        if (cost < bestCost) {
          best = layout;
          bestCost = cost;
        }
      }
      state.set(other, old);
    };
    const Constraint &constraint = *link.constraint;
    if (constraint.kind == Kind::Use && !link.isMove) {
      consider(state.getLayout(other == link.a ? link.b : link.a));
    } else if (constraint.kind == Kind::Becomes && other == link.b) {
      consider(state.getEvaluator().apply(constraint, state.getLayout(link.a),
                                          /*asInJAX=*/false));
    } else {
      for (LayoutId layout : list(other))
        consider(layout);
    }
    return best;
  }

  /// The difference in cost of the changed classes and their links.
  int64_t compare() {
    llvm::DenseSet<int> links;
    for (auto [index, old] : changed)
      links.insert(state.getLinksOf(index).begin(),
                   state.getLinksOf(index).end());
    auto getCost = [&] {
      int64_t cost = 0;
      for (auto [index, old] : changed)
        cost += state.classCost(index);
      for (int number : links)
        cost += state.linkCost(state.getLinks()[number]);
      return cost;
    };
    int64_t after = getCost();
    swapLayouts();
    int64_t before = getCost();
    swapLayouts();
    return after - before;
  }

  void swapLayouts() {
    for (auto &[index, layout] : changed) {
      LayoutId current = state.getLayout(index);
      state.set(index, layout);
      layout = current;
    }
  }

  SearchState &state;
  int64_t budget;
  /// The previous layouts of changed classes.
  llvm::MapVector<int, LayoutId> changed;
};

} // namespace

int64_t inference::improveSolution(SearchState &state, int64_t limit) {
  return limit > 0 ? Improver(state, limit).run() : 0;
}
