//===- SearchState.cpp - Variable classes and constraint propagation ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/SearchState.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

SearchState::SearchState(Evaluator &evaluator, const Problem &problem,
                         const SolveMode &mode, std::vector<int> &locals)
    : evaluator(evaluator), system(evaluator.getSystem()), mode(mode) {
  for (auto [index, var] : llvm::enumerate(problem.vars))
    locals[var] = index;
  mergeClasses(problem, locals);
  buildLinks(problem, locals);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {

/// Equal variables, as a union-find and a ring through each class, and whether
/// they cannot be splats.
struct Merger {
  std::vector<int> parent, next;
  std::vector<bool> isNotSplat;
  std::vector<int> queue;

  explicit Merger(size_t count) : parent(count), isNotSplat(count, false) {
    std::iota(parent.begin(), parent.end(), 0);
    next = parent;
  }
  int find(int var) {
    while (parent[var] != var)
      var = parent[var] = parent[parent[var]];
    return var;
  }
  /// Marks all members of the class of a variable as not splat.
  void mark(int var) {
    if (isNotSplat[var])
      return;
    int member = var;
    do {
      isNotSplat[member] = true;
      queue.push_back(member);
      member = next[member];
    } while (member != var);
  }
  void merge(int a, int b) {
    int left = find(a), right = find(b);
    if (left == right)
      return;
    if (isNotSplat[left] != isNotSplat[right])
      mark(isNotSplat[left] ? right : left);
    std::swap(next[left], next[right]);
    parent[std::max(left, right)] = std::min(left, right);
  }
};

/// The neighbors of each variable, in one array.
struct Neighbors {
  std::vector<int> begin, entries;
  template <typename Visit> Neighbors(size_t count, Visit visit) {
    begin.assign(count + 1, 0);
    visit([&](int from, int) { ++begin[from + 1]; });
    for (size_t index = 1; index <= count; ++index)
      begin[index] += begin[index - 1];
    entries.resize(begin.back());
    std::vector<int> fill(begin.begin(), begin.end() - 1);
    visit([&](int from, int entry) { entries[fill[from]++] = entry; });
  }
};

} // namespace

static void addRegisterCost(VarClass &varClass, VectorType type, int64_t cost) {
  if (cost == 0)
    return;
  for (auto &[known, sum] : varClass.registerCosts)
    if (known == type) {
      sum += cost;
      return;
    }
  varClass.registerCosts.push_back({type, cost});
}

void SearchState::mergeClasses(const Problem &problem,
                               std::vector<int> &locals) {
  LayoutTable &layouts = evaluator.getLayouts();
  ArrayRef<Constraint> constraints = system.getConstraints();
  Merger merger(problem.vars.size());
  for (int number : problem.constraints)
    if (constraints[number].kind == Kind::Equal)
      merger.merge(locals[constraints[number].a],
                   locals[constraints[number].b]);

  // A step of a splat is a splat. A use of a value that is not a splat is equal
  // to it.
  Neighbors flow(problem.vars.size(), [&](auto add) {
    for (int number : problem.constraints) {
      const Constraint &constraint = constraints[number];
      bool isStep = constraint.kind == Kind::Becomes ||
                    constraint.kind == Kind::Broadcast;
      if (!isStep && constraint.kind != Kind::Use &&
          constraint.kind != Kind::Relayout)
        continue;
      add(locals[constraint.a], number);
      if (isStep)
        add(locals[constraint.b], number);
    }
  });
  for (int number : problem.constraints) {
    const Constraint &constraint = constraints[number];
    bool isNotSplat = constraint.kind == Kind::NotSplat &&
                      (mode.asInJAX || !constraint.isJAXOnly);
    if (constraint.kind == Kind::Assign || constraint.kind == Kind::OneOf)
      isNotSplat = llvm::none_of(
          constraint.layouts, [&](LayoutId id) { return layouts.isSplat(id); });
    if (isNotSplat)
      merger.mark(locals[constraint.a]);
    if (constraint.kind == Kind::TensorTransfer)
      merger.mark(locals[constraint.b]);
  }
  while (!merger.queue.empty()) {
    int var = merger.queue.back();
    merger.queue.pop_back();
    for (int entry = flow.begin[var]; entry < flow.begin[var + 1]; ++entry) {
      int number = flow.entries[entry];
      const Constraint &constraint = constraints[number];
      int a = locals[constraint.a], b = locals[constraint.b];
      bool isEqual = constraint.kind == Kind::Use &&
                     !(mode.relaxed && mode.relaxed->contains(number));
      if (isEqual)
        merger.merge(a, b);
      else
        merger.mark(var == a ? b : a);
    }
  }

  classOf.assign(problem.vars.size(), -1);
  for (size_t var = 0; var < problem.vars.size(); ++var) {
    int root = merger.find(var);
    if (classOf[root] < 0) {
      classOf[root] = classes.size();
      VarClass newClass;
      newClass.first = problem.vars[var];
      newClass.memory = system.getVariables()[problem.vars[var]].memory;
      classes.push_back(std::move(newClass));
    }
    classOf[var] = classOf[root];
    VarClass &varClass = classes[classOf[var]];
    varClass.isNotSplat |= merger.isNotSplat[var];
    const Variable &variable = system.getVariables()[problem.vars[var]];
    if (!llvm::is_contained(varClass.types, variable.type))
      varClass.types.push_back(variable.type);
    for (const Site &site : variable.sites)
      if (auto type = dyn_cast<VectorType>(site.value.getType());
          type && !site.operand)
        addRegisterCost(varClass, type,
                        variable.registerPrice + site.work * kCycle);
  }
}

void SearchState::buildLinks(const Problem &problem,
                             const std::vector<int> &locals) {
  auto classOfVar = [&](VarId var) {
    return var == kNoVar ? -1 : classOf[locals[var]];
  };
  for (int number : problem.constraints) {
    const Constraint &constraint = system.getConstraints()[number];
    int a = classOfVar(constraint.a), b = classOfVar(constraint.b);
    switch (constraint.kind) {
    case Kind::Equal:
      break;
    case Kind::Assign:
      isRequiredUnique &= classes[a].required == kNoLayout ||
                          classes[a].required == constraint.layouts.front();
      classes[a].required = constraint.layouts.front();
      break;
    case Kind::NotSplat:
      break;
    case Kind::NotStrided:
      classes[a].isNotStrided = true;
      break;
    case Kind::Divides:
      if (auto &multiples = classes[a].multiples)
        mergeMultiples(*multiples, constraint.numbers);
      else
        multiples.emplace(constraint.numbers);
      break;
    case Kind::Use:
    case Kind::Relayout:
      if (a == b)
        break;
      classes[b].isOrigin = false;
      links.push_back({&constraint, a, b,
                       constraint.kind == Kind::Relayout ||
                           (mode.relaxed && mode.relaxed->contains(number))});
      break;
    default:
      links.push_back({&constraint, a, b});
      break;
    }
  }
  Neighbors neighbors(classes.size(), [&](auto add) {
    for (auto [index, link] : llvm::enumerate(links)) {
      add(link.a, index);
      if (link.b >= 0 && link.b != link.a)
        add(link.b, index);
    }
  });
  adjacentBegin = std::move(neighbors.begin);
  adjacent = std::move(neighbors.entries);
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

static Memory getMemory(const LayoutValue &value) {
  switch (value.kind) {
  case LayoutValue::Kind::Transforms:
    return Memory::Shared;
  case LayoutValue::Kind::Tensor:
    return Memory::Tensor;
  default:
    return Memory::Registers;
  }
}

bool SearchState::canHave(int index, LayoutId layout) const {
  const VarClass &varClass = classes[index];
  LayoutTable &layouts = evaluator.getLayouts();
  if (layout == kNoLayout || ::getMemory(layouts[layout]) != varClass.memory)
    return false;
  if (varClass.required != kNoLayout && varClass.required != layout)
    return false;
  if ((varClass.isNotSplat && layouts.isSplat(layout)) ||
      (varClass.isNotStrided && layouts.isStrided(layout)))
    return false;
  if (varClass.multiples &&
      !dividesMultiples(layouts[layout], *varClass.multiples))
    return false;
  return llvm::all_of(varClass.types,
                      [&](Type type) { return layouts.fits(layout, type); });
}

bool SearchState::assign(int index, LayoutId layout) {
  VarClass &varClass = classes[index];
  if (varClass.layout != kNoLayout)
    return varClass.layout == layout;
  if (!canHave(index, layout) || isForbidden(index, layout))
    return false;
  varClass.layout = layout;
  varClass.position = trail.size();
  trail.push_back(index);
  return true;
}

void SearchState::undo(size_t length) {
  while (trail.size() > length) {
    classes[trail.back()].layout = kNoLayout;
    trail.pop_back();
  }
  propagated = length;
}

bool SearchState::start() {
  if (!isRequiredUnique)
    return false;
  for (auto [index, varClass] : llvm::enumerate(classes))
    if (varClass.required != kNoLayout && !assign(index, varClass.required))
      return false;
  for (const Link &link : links)
    if (!examine(link))
      return false;
  return propagate();
}

bool SearchState::propagate() {
  while (propagated < trail.size())
    for (int link : getLinksOf(trail[propagated++]))
      if (!examine(links[link]))
        return false;
  return true;
}

bool SearchState::examineUse(const Link &link) {
  LayoutTable &layouts = evaluator.getLayouts();
  LayoutId a = getLayout(link.a), b = getLayout(link.b);
  if (a != kNoLayout && !link.isMove && !layouts.isSplat(a))
    return assign(link.b, a);
  // Only a splat can be used as a splat.
  if (b != kNoLayout && layouts.isSplat(b))
    return assign(link.a, b);
  if (a == kNoLayout || b == kNoLayout)
    return true;
  return evaluator.holds(*link.constraint, a, b, mode.asInJAX);
}

bool SearchState::examine(const Link &link) {
  LayoutTable &layouts = evaluator.getLayouts();
  const Constraint &constraint = *link.constraint;
  LayoutId a = getLayout(link.a);
  LayoutId b = link.b < 0 ? kNoLayout : getLayout(link.b);
  switch (constraint.kind) {
  case Kind::Use:
  case Kind::Relayout:
    return examineUse(link);
  case Kind::OneOf: {
    if (a != kNoLayout)
      return llvm::is_contained(constraint.layouts, a);
    LayoutId only = kNoLayout;
    for (LayoutId layout : constraint.layouts) {
      if (!canHave(link.a, layout))
        continue;
      if (only != kNoLayout)
        return true;
      only = layout;
    }
    return only != kNoLayout && assign(link.a, only);
  }
  case Kind::SharedTransfer:
    if (b != kNoLayout && a == kNoLayout && !layouts.isTiled(b))
      return assign(link.a, layouts.noTransforms());
    break;
  case Kind::TensorTransfer:
    if (b != kNoLayout && !layouts.isTiled(b))
      return false;
    break;
  case Kind::MmaTile:
  case Kind::MinorDivisible:
  case Kind::GlobalTransfer:
    return a == kNoLayout || evaluator.holds(constraint, a, b, mode.asInJAX);
  case Kind::Becomes:
    if (a == kNoLayout) {
      // Only a step of a splat is a splat.
      if (b != kNoLayout && layouts.isSplat(b))
        return assign(link.a, b);
      return true;
    }
    a = evaluator.apply(constraint, a, mode.asInJAX);
    return a != kNoLayout && assign(link.b, a);
  case Kind::Broadcast:
    if (b == kNoLayout && a != kNoLayout && layouts.isSplat(a))
      return assign(link.b, a);
    break;
  default:
    break;
  }
  return a == kNoLayout || b == kNoLayout ||
         evaluator.holds(constraint, a, b, mode.asInJAX);
}

bool SearchState::holds(const Link &link) const {
  LayoutId a = getLayout(link.a);
  LayoutId b = link.b < 0 ? kNoLayout : getLayout(link.b);
  if (link.constraint->kind == Kind::Use && !link.isMove)
    return a == b || evaluator.getLayouts().isSplat(a);
  return evaluator.holds(*link.constraint, a, b, mode.asInJAX);
}

int64_t SearchState::classCost(int index) const {
  const VarClass &varClass = classes[index];
  int64_t total = 0;
  if (varClass.memory == Memory::Registers && varClass.isOrigin)
    total = evaluator.countRegisters(varClass.layout,
                                     cast<VectorType>(varClass.types.front()));
  for (auto [type, cost] : varClass.registerCosts)
    total += evaluator.countRegisters(varClass.layout, type) * cost;
  return total;
}

int64_t SearchState::costSince(size_t length) const {
  int64_t total = 0;
  for (int index : ArrayRef(trail).drop_front(length)) {
    const VarClass &varClass = classes[index];
    total += classCost(index);
    for (int number : getLinksOf(index)) {
      const Link &link = links[number];
      // The link is counted with the later of its two classes.
      if (link.b >= 0) {
        const VarClass &other = classes[link.a == index ? link.b : link.a];
        if (other.layout == kNoLayout || other.position > varClass.position)
          continue;
      }
      total += linkCost(link);
    }
  }
  return total;
}
