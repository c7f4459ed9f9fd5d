//===- Candidates.cpp - Candidate layouts of the search -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Inference/Candidates.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Layouts/Vectors/LayoutChoices.h"
#include "smalti/targets/Target.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using Kind = Constraint::Kind;

namespace {

class Lister {
public:
  Lister(const SearchState &state, ArrayRef<int> unknown)
      : state(state), evaluator(state.getEvaluator()),
        system(evaluator.getSystem()), layouts(evaluator.getLayouts()),
        unknown(unknown) {}

  std::vector<Candidate> run() {
    std::vector<int> numbers;
    for (int index : unknown)
      llvm::append_range(numbers, state.getLinksOf(index));
    llvm::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    auto isUse = [&](int number) {
      Kind kind = state.getLinks()[number].constraint->kind;
      return kind == Kind::Use || kind == Kind::Relayout;
    };
    for (int number : numbers)
      if (isUse(number))
        addOfUse(state.getLinks()[number]);
    for (int number : numbers)
      if (!isUse(number))
        addOfConstraint(state.getLinks()[number]);
    for (const Candidate &candidate : later)
      append(candidate.index, candidate.layout);
    for (int index : unknown)
      addDefault(index);
    return result;
  }

  std::vector<LayoutId> runOne() {
    int index = unknown.front();
    run();
    for (int number : state.getLinksOf(index))
      addResults(state.getLinks()[number], index);
    addAny(index);
    std::vector<LayoutId> list;
    for (const Candidate &candidate : result)
      if (candidate.index == index)
        list.push_back(candidate.layout);
    return list;
  }

private:
  void append(int index, LayoutId layout) {
    if (layout != kNoLayout && state.canHave(index, layout) &&
        seen.insert({index, layout}).second)
      result.push_back({index, layout});
  }
  void add(int index, LayoutId layout) {
    if (layout == kNoLayout)
      return;
    LayoutValue::Kind kind = layouts[layout].kind;
    if (kind == LayoutValue::Kind::Splat || kind == LayoutValue::Kind::Strided)
      later.push_back({index, layout});
    else
      append(index, layout);
  }
  void add(int index, const std::optional<layout::TiledLayout> &layout) {
    if (layout)
      add(index, layouts.tiled(*layout));
  }
  bool isUnknown(int index) const {
    return index >= 0 && state.getLayout(index) == kNoLayout;
  }

  void addOfUse(const Link &link) {
    if (isUnknown(link.a) && !isUnknown(link.b))
      add(link.a, state.getLayout(link.b));
    else if (isUnknown(link.b) && !isUnknown(link.a))
      add(link.b, state.getLayout(link.a));
  }

  void addOfConstraint(const Link &link) {
    const Constraint &constraint = *link.constraint;
    bool isKnownA = !isUnknown(link.a), isKnownB = !isUnknown(link.b);
    switch (constraint.kind) {
    case Kind::TensorTransfer:
      if (isKnownA != isKnownB)
        isKnownA ? addTensorRegisters(link) : addTensorMemory(link);
      break;
    case Kind::SharedTransfer:
      if (isKnownA != isKnownB)
        isKnownA ? addSharedRegisters(link) : addSharedMemory(link);
      break;
    case Kind::Becomes:
      if (!isKnownA && isKnownB)
        addBeforeReduction(link);
      break;
    case Kind::MmaTile:
      if (!isKnownA)
        addMmaTiles(link);
      break;
    case Kind::Broadcast:
      if (isKnownA && !isKnownB && !layouts.isTiled(state.getLayout(link.a)))
        add(link.b, state.getLayout(link.a));
      break;
    case Kind::OneOf:
      if (!isKnownA)
        for (LayoutId layout : constraint.layouts)
          add(link.a, layout);
      break;
    default:
      break;
    }
  }

  /// MMA tiles that divide the memory.
  void addMmaTiles(const Link &link) {
    const Constraint &constraint = *link.constraint;
    auto type = cast<MemRefType>(constraint.type);
    ArrayRef<int64_t> sizes = type.getShape().take_back(2);
    for (const auto &tile :
         getMmaTiles(getElementBits(type), constraint.isTransposed,
                     constraint.allowsUnswizzled))
      if (sizes[0] % tile[0] == 0 && sizes[1] % tile[1] == 0)
        add(link.a, layouts.tiledTransforms(tile, type));
  }

  //===--------------------------------------------------------------------===//
  // Transfers
  //===--------------------------------------------------------------------===//

  void addTensorRegisters(const Link &link) {
    const Constraint &transfer = *link.constraint;
    LayoutId memory = state.getLayout(link.a);
    int64_t columns = cast<MemRefType>(transfer.type).getDimSize(1);
    int64_t warps = layouts.getWarps(), lanes = layouts.getLanes();
    for (const std::optional<layout::TiledLayout> &layout :
         {std::optional(layout::tcgen05(warps)),
          std::optional(layouts[memory].tiled),
          std::optional(layout::tmemNative(2, warps, lanes)),
          std::optional(layout::wgmma(warps)),
          layout::m64Collective(columns)}) {
      if (!layout)
        continue;
      LayoutId id = layouts.tiled(*layout);
      if (evaluator.holds(transfer, memory, id, true))
        add(link.b, id);
    }
  }

  void addTensorMemory(const Link &link) {
    const Constraint &transfer = *link.constraint;
    LayoutId registers = state.getLayout(link.b);
    auto type = cast<MemRefType>(transfer.type);
    int64_t packed = getPacking(type);
    for (int64_t packing : {packed, int64_t(1)}) {
      int64_t columns = type.getDimSize(1);
      for (const std::optional<layout::TiledLayout> &layout :
           {layout::tmemDefault(packing),
            layout::tmemHalfLane(columns, packing),
            layout::tmemM64Collective(columns, packing)}) {
        if (!layout)
          continue;
        LayoutId id = layouts.tensor(*layout);
        if (evaluator.holds(transfer, id, registers, true))
          add(link.a, id);
      }
    }
  }

  void addSharedRegisters(const Link &link) {
    const Constraint &transfer = *link.constraint;
    auto type = cast<MemRefType>(transfer.type);
    if (layouts[state.getLayout(link.a)].tile.empty()) {
      auto vector = VectorType::get(type.getShape(), type.getElementType());
      add(link.b, layouts.widestStrided(vector));
      return;
    }
    for (const layout::TiledLayout &layout :
         listTileLayouts(system.getTarget(), layouts.getWarps()))
      add(link.b, layouts.tiled(layout));
  }

  void addSharedMemory(const Link &link) {
    auto type = cast<MemRefType>(link.constraint->type);
    if (layouts.isTiled(state.getLayout(link.b)))
      addTiles(link.a, type);
  }

  /// Tiles of 8 rows of 128, 64 or 32 bytes, as far as the constraints allow.
  void addTiles(int index, MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset, rank = type.getRank();
    if (rank < 2 || !type.hasStaticShape() ||
        failed(type.getStridesAndOffset(strides, offset)))
      return;
    SmallVector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](int64_t left, int64_t right) {
      return strides[left] < strides[right];
    });
    // Only the last two dimensions are tiled, in either order.
    if (order[0] + order[1] != 2 * rank - 3 ||
        std::max(order[0], order[1]) != rank - 1)
      return;
    if (type.getDimSize(order[1]) % 8 != 0 || getElementBits(type) == 0)
      return;
    for (auto &tile : getMmaTiles(getElementBits(type), order[0] != rank - 1,
                                  /*withUnswizzled=*/false)) {
      if (type.getDimSize(order[0]) % tile[order[0] != rank - 1 ? 0 : 1] != 0)
        continue;
      SmallVector<int64_t, 2> merged = tile;
      if (auto &multiples = state.getClasses()[index].multiples)
        mergeMultiples(merged, *multiples);
      add(index, layouts.tiledTransforms(merged, type));
    }
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  /// Layouts whose reduction is the known layout.
  static std::optional<layout::TiledLayout>
  keepReduced(const layout::TiledLayout &layout, const Step &step,
              ArrayRef<int64_t> axes) {
    return layout.reduce(step.source.size(), axes, /*keepDims=*/true).value;
  }

  void addBeforeReduction(const Link &link) {
    const Steps &steps = system.getSteps(*link.constraint);
    const Step &step = steps.front();
    if (step.kind != Step::Kind::Reduce)
      return;
    bool asInJAX = state.getMode().asInJAX;
    LayoutId reduced = state.getLayout(link.b);
    if (asInJAX && steps.size() > 1)
      return;
    if (!layouts.isTiled(reduced)) {
      add(link.a, reduced);
      return;
    }
    int64_t warps = layouts.getWarps(), lanes = layouts.getLanes();
    SmallVector<std::optional<layout::TiledLayout>> large{
        layout::wgmma(warps),
        layout::wgmmaTransposed(warps),
        layout::tcgen05(warps),
        layout::tcgen05Transposed(warps),
        layout::tmemNative(2, warps, lanes),
        layout::m64Collective(step.source.back())};
    if (system.getTarget().vendor == targets::Vendor::AMD)
      llvm::append_range(large, listTileLayouts(system.getTarget(), warps));
    large.push_back(layouts[reduced].tiled);
    // For reduced dimensions of size one, also try the layouts that keep them.
    SmallVector<int64_t> sizeOneAxes;
    for (int64_t axis : step.numbers)
      if (step.source[axis] == 1)
        sizeOneAxes.push_back(axis);
    if (!asInJAX && !sizeOneAxes.empty())
      for (size_t i = 0, e = large.size(); i < e; ++i)
        if (auto kept = large[i] ? keepReduced(*large[i], step, sizeOneAxes)
                                 : std::nullopt)
          large.push_back(std::move(kept));
    for (const std::optional<layout::TiledLayout> &layout : large) {
      if (!layout || layout->tiling.front().size() > step.source.size())
        continue;
      LayoutId id = layouts.tiled(*layout);
      if (state.canHave(link.a, id) &&
          evaluator.apply(*link.constraint, id, asInJAX) == reduced)
        add(link.a, id);
    }
  }

  //===--------------------------------------------------------------------===//
  // Defaults
  //===--------------------------------------------------------------------===//

  void addDefault(int index) {
    const VarClass &varClass = state.getClasses()[index];
    switch (varClass.memory) {
    case Memory::Registers:
      append(index,
             layouts.widestStrided(cast<VectorType>(varClass.types.front())));
      break;
    case Memory::Shared:
      append(index, layouts.noTransforms());
      break;
    case Memory::Tensor: {
      auto alloc = dyn_cast<mosaic_gpu::TmemAllocOp>(
          system.getVariables()[varClass.first].getOp());
      if (alloc)
        appendTensor(index, cast<MemRefType>(varClass.types.front()),
                     alloc.getCollective(), 1);
      break;
    }
    }
  }

  void appendTensor(int index, MemRefType type, bool isCollective,
                    int64_t packing) {
    if (auto layout = layout::tmemFor(type.getShape(), isCollective, packing))
      append(index, layouts.tensor(*layout));
  }

  /// The results of a step for all layouts of its source.
  void addResults(const Link &link, int index) {
    if (link.constraint->kind != Kind::Becomes || link.b != index ||
        !isUnknown(link.a))
      return;
    const VarClass &source = state.getClasses()[link.a];
    if (source.memory != Memory::Registers)
      return;
    for (LayoutId layout :
         evaluator.getRegisterLayouts(cast<VectorType>(source.types.front())))
      append(index,
             evaluator.apply(*link.constraint, layout, /*asInJAX=*/false));
  }

  void addAny(int index) {
    const VarClass &varClass = state.getClasses()[index];
    switch (varClass.memory) {
    case Memory::Registers:
      for (LayoutId layout : evaluator.getRegisterLayouts(
               cast<VectorType>(varClass.types.front())))
        append(index, layout);
      break;
    case Memory::Shared:
      addTiles(index, cast<MemRefType>(varClass.types.front()));
      break;
    case Memory::Tensor: {
      auto type = cast<MemRefType>(varClass.types.front());
      int64_t packed = getPacking(type);
      for (int64_t packing : {int64_t(1), packed})
        for (bool isCollective : {false, true})
          appendTensor(index, type, isCollective, packing);
      break;
    }
    }
  }

  const SearchState &state;
  Evaluator &evaluator;
  const ConstraintSystem &system;
  LayoutTable &layouts;
  ArrayRef<int> unknown;
  std::vector<Candidate> result, later;
  llvm::DenseSet<std::pair<int, LayoutId>> seen;
};

} // namespace

std::vector<Candidate> inference::listCandidates(const SearchState &state,
                                                 ArrayRef<int> unknown) {
  return Lister(state, unknown).run();
}

std::vector<LayoutId> inference::listLayouts(const SearchState &state,
                                             int index) {
  return Lister(state, index).runOne();
}
