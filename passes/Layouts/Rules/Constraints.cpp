//===- Constraints.cpp - Constraint system of layout inference ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Constraints.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

/// Assumed trip count of a loop, and limit of counted loops.
static constexpr int64_t kIterations = 8;
static constexpr int64_t kMaxDepth = 4;

Operation *Variable::getOp() const {
  const Site &site = sites.front();
  if (site.operand)
    return site.operand->getOwner();
  if (Operation *producer = site.value.getDefiningOp())
    return producer;
  return cast<BlockArgument>(site.value).getOwner()->getParentOp();
}

static int64_t computeWeight(Operation *op) {
  int64_t weight = 1, depth = 0;
  for (Operation *parent = op->getParentOp(); parent && depth < kMaxDepth;
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent)) {
      weight *= kIterations;
      ++depth;
    }
  return weight;
}

void ConstraintSystem::setOp(Operation *newOp) {
  op = newOp;
  auto [entry, isNew] = weights.try_emplace(op->getBlock(), 1);
  if (isNew)
    entry->second = computeWeight(op);
  weight = entry->second;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VarId ConstraintSystem::newVariable(Memory memory, Type type) {
  variables.push_back({memory, type, {}});
  return variables.size() - 1;
}

VarId ConstraintSystem::create(OpOperand &operand) {
  VarId var =
      newVariable(*getMemory(operand.get().getType()), operand.get().getType());
  bind(var, operand);
  return var;
}

VarId ConstraintSystem::create(Value value) {
  VarId var = newVariable(*getMemory(value.getType()), value.getType());
  bind(var, value);
  return var;
}

void ConstraintSystem::bind(VarId var, OpOperand &operand) {
  operandVars[&operand] = var;
  variables[var].sites.push_back({&operand, operand.get()});
}

void ConstraintSystem::bind(VarId var, Value value) {
  valueVars[value] = var;
  Operation *producer = value.getDefiningOp();
  bool isComputed = producer && producer->hasTrait<OpTrait::Elementwise>();
  variables[var].sites.push_back({nullptr, value, isComputed ? weight : 0});
}

VarId ConstraintSystem::share(OpOperand &operand) {
  VarId var = lookup(operand.get());
  // Values without a producer, such as function arguments.
  if (var == kNoVar)
    var = create(operand.get());
  bind(var, operand);
  return var;
}

VarId ConstraintSystem::createDetached(OpOperand &operand) {
  detached[&operand] = true;
  return create(operand);
}

VarId ConstraintSystem::getAlias(Value value, int64_t kind, int64_t offset,
                                 int64_t alias) {
  auto [entry, isNew] = aliases.try_emplace({kind, offset, alias}, kNoVar);
  if (isNew)
    return entry->second = create(value);
  if (variables[entry->second].type == value.getType()) {
    bind(entry->second, value);
    return entry->second;
  }
  // Another type needs its own variable.
  VarId first = entry->second, other = create(value);
  equal(first, other,
        "slices of memory with the same alias id have the same layout");
  return other;
}

VarId ConstraintSystem::lookup(OpOperand &operand) const {
  auto entry = operandVars.find(&operand);
  return entry == operandVars.end() ? kNoVar : entry->second;
}

VarId ConstraintSystem::lookup(Value value) const {
  auto entry = valueVars.find(value);
  return entry == valueVars.end() ? kNoVar : entry->second;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

Constraint &ConstraintSystem::add(Constraint::Kind kind, VarId a, VarId b,
                                  StringRef reason) {
  constraints.emplace_back();
  Constraint &constraint = constraints.back();
  constraint.kind = kind;
  constraint.a = a;
  constraint.b = b;
  constraint.op = op;
  constraint.reason = reason;
  constraint.weight = weight;
  return constraint;
}

void ConstraintSystem::assign(VarId var, LayoutId layout, StringRef reason) {
  add(Constraint::Kind::Assign, var, kNoVar, reason).layouts = {layout};
}

void ConstraintSystem::oneOf(VarId var, ArrayRef<LayoutId> candidates,
                             StringRef reason) {
  add(Constraint::Kind::OneOf, var, kNoVar, reason)
      .layouts.assign(candidates.begin(), candidates.end());
}

void ConstraintSystem::equal(VarId a, VarId b, StringRef reason) {
  add(Constraint::Kind::Equal, a, b, reason);
}

void ConstraintSystem::notSplat(VarId var, StringRef reason, bool isJAXOnly) {
  add(Constraint::Kind::NotSplat, var, kNoVar, reason).isJAXOnly = isJAXOnly;
}

void ConstraintSystem::notStrided(VarId var, StringRef reason) {
  add(Constraint::Kind::NotStrided, var, kNoVar, reason);
}

void ConstraintSystem::divides(VarId var, ArrayRef<int64_t> multiples,
                               StringRef reason) {
  add(Constraint::Kind::Divides, var, kNoVar, reason)
      .numbers.assign(multiples.begin(), multiples.end());
}

Constraint &ConstraintSystem::becomes(VarId source, VarId result, Steps steps,
                                      StringRef reason) {
  // Most programs repeat a few steps: search the most recent ones.
  constexpr int kRecent = 32;
  int number = allSteps.size() - 1;
  int first = std::max(number - kRecent, -1);
  while (number > first && allSteps[number] != steps)
    --number;
  if (number == first) {
    number = allSteps.size();
    allSteps.push_back(std::move(steps));
  }
  Constraint &constraint =
      add(Constraint::Kind::Becomes, source, result, reason);
  constraint.steps = number;
  return constraint;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

void ConstraintSystem::link(OpOperand &operand, VarId producer, VarId user) {
  if (producer == user)
    return;
  setOp(operand.getOwner());
  bool isVector = isa<VectorType>(operand.get().getType());
  if (!isVector && detached.count(&operand))
    return;
  Constraint &constraint =
      add(isVector ? Constraint::Kind::Use : Constraint::Kind::Equal, producer,
          user,
          isVector ? "only splats are converted to another layout without a "
                     "'mosaic_gpu.layout_cast'"
                   : "all uses of a buffer must have the same layout");
  constraint.operand = &operand;
  constraint.type = operand.get().getType();
}

void ConstraintSystem::linkUses() {
  // Visit variables in order, and each edge with its first variable. This is
  // the order in which JAX propagates layouts from producers to users.
  std::vector<bool> visited(variables.size(), false);
  for (VarId var = 0, end = variables.size(); var < end; ++var) {
    for (size_t index = 0; index < variables[var].sites.size(); ++index) {
      Site site = variables[var].sites[index];
      if (site.operand) {
        VarId producer = lookup(site.operand->get());
        // A value without a producer has the layout of its users.
        if (producer == kNoVar) {
          setOp(site.operand->getOwner());
          producer = create(site.operand->get());
          visited.push_back(false);
          if (isa<VectorType>(site.operand->get().getType()))
            notSplat(producer, "the elements of the vector may differ");
        }
        if (!visited[producer])
          link(*site.operand, producer, var);
        continue;
      }
      for (OpOperand &use : site.value.getUses()) {
        VarId user = lookup(use);
        if (user != kNoVar && !visited[user])
          link(use, var, user);
      }
    }
    visited[var] = true;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void inference::mergeMultiples(SmallVectorImpl<int64_t> &into,
                               ArrayRef<int64_t> multiples) {
  size_t length = std::min(into.size(), multiples.size());
  SmallVector<int64_t> merged;
  for (auto [left, right] :
       llvm::zip_equal(ArrayRef<int64_t>(into).take_back(length),
                       multiples.take_back(length)))
    merged.push_back(std::gcd(left, right));
  into.assign(merged.begin(), merged.end());
}

/// Transposes a tile; fails if the permutation swaps a tiled dimension and an
/// untiled one.
static LayoutId transposeTile(LayoutTable &layouts,
                              ArrayRef<int64_t> permutation, LayoutId layout) {
  ArrayRef<int64_t> tile = layouts[layout].tile;
  int64_t first = permutation.size() - tile.size();
  SmallVector<int64_t> result;
  for (int64_t dim : permutation.take_back(tile.size())) {
    if (dim < first)
      return kNoLayout;
    result.push_back(tile[dim - first]);
  }
  return layouts.transforms(result, layouts[layout].swizzle);
}

/// Collapses a tile. In each group, the tile sizes must be ones, then any size,
/// then whole dimensions: otherwise the elements of a tile are not contiguous
/// in the collapsed dimension.
static LayoutId collapseTile(LayoutTable &layouts, const Step &step,
                             LayoutId layout) {
  ArrayRef<int64_t> tile = layouts[layout].tile;
  if (tile.size() > step.source.size())
    return kNoLayout;
  ArrayRef<int64_t> sizes = ArrayRef(step.source).take_back(tile.size());
  for (auto [size, part] : llvm::zip_equal(sizes, tile))
    if (size % part != 0)
      return kNoLayout;
  size_t end = tile.size();
  SmallVector<int64_t> result;
  for (int64_t count : llvm::reverse(step.numbers)) {
    if (end == 0)
      break;
    // The group is only partly tiled.
    if (end < static_cast<size_t>(count))
      return kNoLayout;
    size_t begin = end - count, partial = end;
    int64_t elements = 1;
    for (size_t dim = begin; dim < end; ++dim)
      elements *= tile[dim];
    while (partial > begin && tile[partial - 1] == sizes[partial - 1])
      --partial;
    // `partial - 1` may have any size; the dimensions before it must have size
    // one.
    for (size_t dim = begin; dim + 1 < partial; ++dim)
      if (tile[dim] != 1)
        return kNoLayout;
    result.insert(result.begin(), elements);
    end = begin;
  }
  if (end != 0)
    return kNoLayout;
  return layouts.transforms(result, layouts[layout].swizzle);
}

/// Whether JAX supports a reshape of a tiled layout: only the first tiled
/// dimension may change.
static bool isReshapeInJAX(const layout::TiledLayout &layout,
                           const Step &step) {
  ArrayRef<int64_t> tile = layout.tiling.front();
  ArrayRef<int64_t> source = step.source, target = step.target;
  if (target.size() < tile.size() || source.size() < tile.size())
    return false;
  return source.take_back(tile.size() - 1) ==
             target.take_back(tile.size() - 1) &&
         target[target.size() - tile.size()] % tile.front() == 0;
}

static LayoutId applyStep(LayoutTable &layouts, const Step &step,
                          LayoutId layout, bool asInJAX) {
  const LayoutValue &value = layouts[layout];
  if (value.kind == LayoutValue::Kind::Transforms) {
    if (layout == layouts.noTransforms())
      return layout;
    if (value.tile.empty())
      return kNoLayout;
    if (step.kind == Step::Kind::Transpose)
      return transposeTile(layouts, step.numbers, layout);
    return step.kind == Step::Kind::Collapse
               ? collapseTile(layouts, step, layout)
               : kNoLayout;
  }
  layout::RegisterLayout registers =
      layouts.toRegisterLayout(layout, step.source);
  std::optional<layout::RegisterLayout> result;
  switch (step.kind) {
  case Step::Kind::Reduce:
    if (asInJAX && step.keepDims && layouts.isTiled(layout))
      return kNoLayout;
    result = layout::reduce(registers, step.source, step.numbers, step.keepDims,
                            layouts.getThreads())
                 .value;
    break;
  case Step::Kind::Reshape:
    if (asInJAX && layouts.isTiled(layout) &&
        !isReshapeInJAX(value.tiled, step))
      return kNoLayout;
    result = layout::reshape(registers, step.source, step.target).value;
    break;
  case Step::Kind::Transpose:
    result = layout::transpose(registers, step.source, step.numbers).value;
    break;
  case Step::Kind::BitCast:
    result = layout::bitcast(registers, step.source, step.target).value;
    break;
  case Step::Kind::Collapse:
    break;
  }
  return result ? layouts.fromRegisterLayout(*result) : kNoLayout;
}

LayoutId inference::applySteps(LayoutTable &layouts, const Steps &steps,
                               LayoutId layout, bool asInJAX) {
  for (const Step &step : steps) {
    layout = applyStep(layouts, step, layout, asInJAX);
    if (layout == kNoLayout)
      break;
  }
  return layout;
}
