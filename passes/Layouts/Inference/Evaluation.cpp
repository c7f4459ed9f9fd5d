//===- Evaluation.cpp - Validity and cost of layouts ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/Evaluation.h"

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Layouts/Vectors/LayoutChoices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

/// Cost per element of a transfer without a plan.
static constexpr int64_t kElementCycles = 8;
/// Cost of a global memory access of a warp, in addition to one cycle per
/// sector.
static constexpr int64_t kGlobalCycles = 4;
static constexpr int64_t kSectorBytes = 32;
static constexpr int64_t kMaxAccessBytes = 16;

SmallVector<SmallVector<int64_t, 2>, 4>
inference::getMmaTiles(int64_t bits, bool isTransposed, bool withUnswizzled) {
  SmallVector<SmallVector<int64_t, 2>, 4> tiles;
  for (int64_t swizzle : {128, 64, 32, 16}) {
    if (swizzle == 16 && !withUnswizzled)
      continue;
    SmallVector<int64_t, 2> tile{8, swizzle * 8 / bits};
    if (isTransposed)
      std::swap(tile[0], tile[1]);
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

bool inference::dividesMultiples(const LayoutValue &value,
                                 ArrayRef<int64_t> multiples) {
  ArrayRef<int64_t> tile = value.tile;
  if (value.kind == LayoutValue::Kind::Tiled ||
      value.kind == LayoutValue::Kind::Tensor)
    tile = value.tiled.tiling.front();
  if (tile.size() > multiples.size())
    return false;
  for (auto [size, multiple] :
       llvm::zip_equal(tile, multiples.take_back(tile.size())))
    if (multiple % size != 0)
      return false;
  return true;
}

bool Evaluator::isMmaTile(const Constraint &constraint, LayoutId layout) {
  const LayoutValue &value = layouts[layout];
  int64_t bits = getElementBits(constraint.type);
  for (const auto &tile :
       getMmaTiles(bits, constraint.isTransposed, constraint.allowsUnswizzled))
    if (ArrayRef<int64_t>(value.tile) == ArrayRef<int64_t>(tile))
      return value.swizzle == tile[constraint.isTransposed ? 0 : 1] * bits / 8;
  return false;
}

/// A strided vector can be broadcast only along leading dimensions: the same
/// threads hold its elements in every repetition.
bool Evaluator::isBroadcast(const Constraint &constraint, LayoutId a,
                            LayoutId b) {
  if (layouts[a].kind != layouts[b].kind)
    return false;
  if (!layouts.isStrided(a))
    return true;
  if (a != b)
    return false;
  const Variable &source = system.getVariables()[constraint.a];
  const Variable &result = system.getVariables()[constraint.b];
  ArrayRef<int64_t> from = cast<VectorType>(source.type).getShape();
  ArrayRef<int64_t> to = cast<VectorType>(result.type).getShape();
  int64_t added = to.size() - from.size();
  bool isPreserved = false;
  for (auto [dim, target] : llvm::enumerate(constraint.numbers)) {
    if (target != added + static_cast<int64_t>(dim))
      return false;
    if (from[dim] == 1 && to[target] > 1 && isPreserved)
      return false;
    isPreserved |= from[dim] > 1;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

transfers::TransferProblem Evaluator::getProblem(const Constraint &transfer,
                                                 LayoutId memory,
                                                 LayoutId registers) {
  auto type = cast<MemRefType>(transfer.type);
  const LayoutValue &value = layouts[memory];
  transfers::TransferProblem problem;
  problem.registers = layouts.toRegisterLayout(registers, type.getShape());
  problem.memory.shape.assign(type.getShape().begin(), type.getShape().end());
  int64_t offset;
  if (failed(type.getStridesAndOffset(problem.memory.strides, offset)))
    problem.memory.strides.clear();
  problem.memory.tile.assign(value.tile.begin(), value.tile.end());
  problem.memory.swizzleBytes = value.swizzle;
  problem.elementBits = getElementBits(type);
  problem.isLoad = transfer.isLoad;
  problem.warps = layouts.getWarps();
  return problem;
}

bool Evaluator::isTransfer(const Constraint &transfer, LayoutId memory,
                           LayoutId registers, bool asInJAX) {
  // A vector without a tiled layout requires untiled memory.
  if (!layouts.isTiled(registers))
    return memory == layouts.noTransforms();
  auto [entry, isNew] = transferable.try_emplace(
      {transfer.type.getAsOpaquePointer(), memory, registers,
       static_cast<int>(transfer.need) * 4 + transfer.isLoad * 2 + asInJAX},
      false);
  if (!isNew)
    return entry->second;
  transfers::TransferProblem problem = getProblem(transfer, memory, registers);
  if (llvm::any_of(problem.memory.strides, ShapedType::isDynamic) ||
      llvm::any_of(problem.memory.shape, ShapedType::isDynamic) ||
      problem.memory.strides.size() != problem.memory.shape.size())
    return false;
  if (asInJAX) {
    entry->second = transfers::isTransferInJAX(problem, transfer.need);
  } else {
    problem.mustBeConflictFree =
        transfer.need == transfers::TransferNeed::Optimized;
    entry->second =
        static_cast<bool>(transfers::planTransfer(problem, system.getTarget()));
  }
  return entry->second;
}

int64_t Evaluator::transferCost(const Constraint &transfer, LayoutId memory,
                                LayoutId registers) {
  auto [entry, isNew] = transferCosts.try_emplace(
      {transfer.type.getAsOpaquePointer(), memory, registers, transfer.isLoad},
      0);
  if (!isNew)
    return entry->second;
  transfers::TransferProblem problem = getProblem(transfer, memory, registers);
  // Address computations are not counted: they are loop-invariant.
  if (auto plan = transfers::planTransfer(problem, system.getTarget()))
    return entry->second = transfers::estimateCycles(
               static_cast<int64_t>(plan->accesses.size()) + plan->selects,
               plan->cost);
  auto type = cast<MemRefType>(transfer.type);
  return entry->second =
             type.getNumElements() / layouts.getThreads() * kElementCycles;
}

/// Elements smaller than a byte require registers of whole bytes of a row.
bool Evaluator::isGlobalTransfer(const Constraint &transfer,
                                 LayoutId registers) {
  int64_t bits = getElementBits(transfer.type);
  if (bits == 0 || bits % 8 == 0 || layouts.isSplat(registers))
    return true;
  const LayoutValue &value = layouts[registers];
  if (layouts.isStrided(registers))
    return value.vectorSize * bits % 8 == 0;
  return value.tiled.vectorDim == -1 &&
         value.tiled.vectorLength() * bits % 8 == 0;
}

/// The cycles of the first warp to load or store its part of a vector in global
/// memory: instructions, and the sectors that each of them accesses.
int64_t Evaluator::globalCost(const Constraint &transfer, LayoutId registers) {
  auto type = cast<MemRefType>(transfer.type);
  if (!type.hasStaticShape() || type.getRank() == 0)
    return 0;
  auto [entry, isNew] = transferCosts.try_emplace(
      {type.getAsOpaquePointer(), kNoLayout, registers, transfer.isLoad}, 0);
  if (!isNew)
    return entry->second;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    strides.assign(type.getRank(), ShapedType::kDynamic);
  // A dynamic stride is assumed to be one sector.
  for (int64_t &stride : strides)
    if (ShapedType::isDynamic(stride))
      stride = kSectorBytes;
  int64_t bits = std::max<int64_t>(getElementBits(type), 1);
  layout::RegisterLayout layout =
      layouts.toRegisterLayout(registers, type.getShape());
  int64_t length = layout::vectorLength(layout);
  // The address of an element of the first register of a lane.
  auto getAddress = [&](int64_t lane, int64_t element) {
    SmallVector<int64_t> index;
    if (auto *tiled = std::get_if<layout::TiledLayout>(&layout))
      index = tiled->elementIndex(type.getShape(), 0, lane, 0, element);
    else if (auto *strided = std::get_if<layout::StridedLayout>(&layout))
      index = strided->elementIndex(layouts.getThreads(), lane, 0, element);
    else
      index.assign(strides.size(), 0);
    int64_t address = 0;
    for (auto [position, stride] : llvm::zip_equal(index, strides))
      address += position * stride;
    return address;
  };
  bool isDense = length > 1 && getAddress(0, 1) == getAddress(0, 0) + 1;
  int64_t width = isDense ? length : 1;
  while (width > 1 && width * bits > kMaxAccessBytes * 8)
    width /= 2;
  llvm::SmallDenseSet<int64_t, 32> sectors;
  for (int64_t lane = 0; lane < layouts.getLanes(); ++lane) {
    int64_t first = getAddress(lane, 0) * bits / 8;
    int64_t last = first + std::max<int64_t>(width * bits / 8, 1) - 1;
    for (int64_t sector = first / kSectorBytes; sector <= last / kSectorBytes;
         ++sector)
      sectors.insert(sector);
  }
  int64_t accesses =
      layout::numRegisters(layout, type.getShape(), layouts.getThreads()) *
      length / width;
  return entry->second =
             accesses * (kGlobalCycles + static_cast<int64_t>(sectors.size()));
}

/// A bulk copy moves one row of a tile per cycle, at most 128 bytes: rows of 32
/// bytes take four times as long.
int64_t Evaluator::copyCost(const Constraint &copy, LayoutId memory) {
  constexpr int64_t kBytesPerCycle = 128;
  auto type = cast<MemRefType>(copy.type);
  if (!type.hasStaticShape())
    return 0;
  const LayoutValue &value = layouts[memory];
  int64_t bits = getElementBits(type);
  int64_t rowBytes = kBytesPerCycle;
  if (value.swizzle != 16)
    rowBytes = value.swizzle;
  else if (!value.tile.empty())
    rowBytes = llvm::divideCeil(value.tile.back() * bits, 8);
  else if (type.getRank() != 0)
    rowBytes = llvm::divideCeil(type.getShape().back() * bits, 8);
  int64_t bytes = llvm::divideCeil(type.getNumElements() * bits, 8);
  return llvm::divideCeil(bytes,
                          std::clamp<int64_t>(rowBytes, 1, kBytesPerCycle));
}

//===----------------------------------------------------------------------===//
// All constraints
//===----------------------------------------------------------------------===//

LayoutId Evaluator::apply(const Constraint &constraint, LayoutId layout,
                          bool asInJAX) {
  auto [entry, isNew] =
      applied.try_emplace({constraint.steps, layout, asInJAX}, kNoLayout);
  if (isNew)
    entry->second =
        applySteps(layouts, system.getSteps(constraint), layout, asInJAX);
  return entry->second;
}

int64_t Evaluator::countRegisters(LayoutId layout, VectorType type) {
  auto [entry, isNew] = registerCounts.try_emplace({layout, type}, 0);
  if (isNew)
    entry->second = layouts.countRegisters(layout, type);
  return entry->second;
}

ArrayRef<LayoutId> Evaluator::getRegisterLayouts(VectorType type) {
  auto [entry, isNew] = registerLayouts.try_emplace(type);
  if (isNew)
    entry->second = listRegisterLayouts(layouts, system.getTarget(), type);
  return entry->second;
}

const relayouts::RelayoutCost &Evaluator::relayout(VectorType type,
                                                   LayoutId from, LayoutId to) {
  auto [entry, isNew] =
      relayoutCosts.try_emplace({type.getAsOpaquePointer(), from, to});
  if (isNew)
    entry->second = relayouts::planRelayout(
        layouts.toRegisterLayout(from, type.getShape()),
        layouts.toRegisterLayout(to, type.getShape()), type.getShape(),
        getElementBits(type), system.getTarget(), layouts.getWarps());
  return entry->second;
}

bool Evaluator::holds(const Constraint &constraint, LayoutId a, LayoutId b,
                      bool asInJAX) {
  switch (constraint.kind) {
  case Kind::Use:
  case Kind::Relayout: {
    if (a == b)
      return true;
    if (layouts.isSplat(a) || layouts.isSplat(b))
      return layouts.isSplat(a);
    auto type = cast<VectorType>(constraint.type);
    if (asInJAX)
      return relayouts::isRelayoutInJAX(
          layouts.toRegisterLayout(a, type.getShape()),
          layouts.toRegisterLayout(b, type.getShape()), getElementBits(type));
    return relayout(type, a, b).isPossible();
  }
  case Kind::SharedTransfer:
    return isTransfer(constraint, a, b, asInJAX);
  case Kind::TensorTransfer: {
    auto type = cast<MemRefType>(constraint.type);
    return layouts.isTiled(b) &&
           layout::isTmemTransfer(layouts[a].tiled, layouts[b].tiled,
                                  type.getShape(), getElementBits(type));
  }
  case Kind::MmaTile:
    return isMmaTile(constraint, a);
  case Kind::MinorDivisible:
    return layouts[a].tile.empty() ||
           layouts[a].tile.back() % constraint.numbers.front() == 0;
  case Kind::OneOf:
    return llvm::is_contained(constraint.layouts, a);
  case Kind::Assign:
    return constraint.layouts.front() == a;
  case Kind::Becomes:
    return apply(constraint, a, asInJAX) == b;
  case Kind::Broadcast:
    return isBroadcast(constraint, a, b);
  case Kind::Equal:
    return a == b;
  case Kind::GlobalTransfer:
    return isGlobalTransfer(constraint, a);
  case Kind::BulkCopy:
    return true;
  case Kind::NotSplat:
    return !layouts.isSplat(a);
  case Kind::NotStrided:
    return !layouts.isStrided(a);
  case Kind::Divides:
    break;
  }
  return dividesMultiples(layouts[a], constraint.numbers);
}

/// The number of lanes that hold the same elements.
static int64_t countReplicas(const layout::TiledLayout &layout) {
  int64_t replicas = 1;
  for (const layout::PartitionDim &part : layout.laneDims)
    if (part.isReplicated())
      replicas *= part.times;
  return replicas;
}

/// Lanes that hold parts of one result combine them in a tree of shuffles.
int64_t Evaluator::reductionCost(const Constraint &constraint, LayoutId a,
                                 LayoutId b) {
  if (!layouts.isTiled(a) || !layouts.isTiled(b))
    return 0;
  int64_t lanes =
      countReplicas(layouts[b].tiled) / countReplicas(layouts[a].tiled);
  return llvm::Log2_64_Ceil(std::max<int64_t>(lanes, 1)) *
         (relayouts::kShuffleCycles + 1) *
         countRegisters(b, cast<VectorType>(constraint.type));
}

int64_t Evaluator::cost(const Constraint &constraint, LayoutId a, LayoutId b) {
  switch (constraint.kind) {
  case Kind::Use:
  case Kind::Relayout:
    if (a == b)
      return 0;
    // A splat is copied to registers.
    if (layouts.isSplat(a))
      return countRegisters(b, cast<VectorType>(constraint.type));
    return relayout(cast<VectorType>(constraint.type), a, b).cycles * kCycle *
           constraint.weight;
  case Kind::SharedTransfer:
    return transferCost(constraint, a, b) * kCycle * constraint.weight;
  case Kind::GlobalTransfer:
    return globalCost(constraint, a) * kCycle * constraint.weight;
  case Kind::BulkCopy:
    return copyCost(constraint, a) * kCycle * constraint.weight;
  case Kind::Becomes:
    return constraint.type
               ? reductionCost(constraint, a, b) * kCycle * constraint.weight
               : 0;
  default:
    return 0;
  }
}
