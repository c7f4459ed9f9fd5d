//===- Gather.cpp - Register renaming of vector elements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Registers/Gather.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/LayoutText.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// The element of a vector that a thread holds in a register.
class Elements {
public:
  Elements(const Distribution &distribution, const ThreadGrid &grid)
      : distribution(distribution), grid(grid) {
    ArrayRef<int64_t> shape = distribution.getShape();
    strides.resize(shape.size());
    int64_t stride = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      strides[dim] = stride;
      stride *= shape[dim];
    }
    if (distribution.getKind() != Distribution::Kind::Tiled)
      return;
    // The element is linear in thread, register and position in the register.
    const layout::TiledLayout &tiled = distribution.getTiled();
    for (int64_t thread = 0; thread < grid.numThreads; ++thread)
      threads.push_back(flatten(tiled.elementIndex(
          shape, thread / grid.waveSize, thread % grid.waveSize, 0, 0)));
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
      registers.push_back(flatten(tiled.elementIndex(shape, 0, 0, reg, 0)));
    elementStride =
        distribution.getVectorStride() * strides[distribution.getVectorDim()];
  }

  /// The element's number in row-major order.
  int64_t get(int64_t thread, int64_t reg, int64_t element) const {
    if (distribution.getKind() == Distribution::Kind::Strided)
      return (reg * grid.numThreads + thread) * distribution.getVectorLength() +
             element;
    return threads[thread] + registers[reg] + element * elementStride;
  }
  int64_t flatten(ArrayRef<int64_t> index) const {
    int64_t flat = 0;
    for (auto [position, stride] : llvm::zip_equal(index, strides))
      flat += position * stride;
    return flat;
  }
  SmallVector<int64_t> unflatten(int64_t flat) const {
    SmallVector<int64_t> index;
    for (auto [size, stride] :
         llvm::zip_equal(distribution.getShape(), strides))
      index.push_back(flat / stride % size);
    return index;
  }

private:
  const Distribution &distribution;
  const ThreadGrid &grid;
  SmallVector<int64_t> strides;
  std::vector<int64_t> threads, registers;
  int64_t elementStride = 1;
};
} // namespace

ValueOr<std::vector<ElementPosition>> block_to_thread::planGather(
    const Distribution &to, ArrayRef<const Distribution *> from,
    llvm::function_ref<ElementIndex(ArrayRef<int64_t>)> source,
    const ThreadGrid &grid) {
  using Result = ValueOr<std::vector<ElementPosition>>;
  // The elements are equal, so any of them can be used.
  if (to.isSplat()) {
    if (from.size() == 1 && from.front()->isSplat())
      return std::vector<ElementPosition>{ElementPosition()};
    return Result::none("the result has the splat layout, but its elements "
                        "cannot be proven to be equal; use another layout");
  }
  Elements elements(to, grid);
  std::vector<Elements> sources;
  // The positions of the elements of the first thread: several, if it holds an
  // element twice.
  std::vector<DenseMap<int64_t, SmallVector<ElementPosition, 1>>> held(
      from.size());
  for (auto [vector, distribution] : llvm::enumerate(from)) {
    sources.emplace_back(*distribution, grid);
    if (distribution->isSplat())
      continue;
    for (int64_t reg = 0; reg < distribution->getNumRegisters(); ++reg)
      for (int64_t element = 0; element < distribution->getVectorLength();
           ++element)
        held[vector][sources.back().get(0, reg, element)].push_back(
            {static_cast<unsigned>(vector), reg, element});
  }

  std::vector<ElementPosition> positions;
  for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg)
    for (int64_t element = 0; element < to.getVectorLength(); ++element) {
      SmallVector<ElementPosition, 1> candidates;
      for (int64_t thread = 0; thread < grid.numThreads; ++thread) {
        SmallVector<int64_t> index =
            elements.unflatten(elements.get(thread, reg, element));
        ElementIndex wanted = source(index);
        if (from[wanted.vector]->isSplat()) {
          if (thread == 0)
            candidates = {{wanted.vector, 0, 0}};
        } else {
          int64_t flat = sources[wanted.vector].flatten(wanted.index);
          if (thread == 0)
            candidates = held[wanted.vector].lookup(flat);
          llvm::erase_if(candidates, [&](const ElementPosition &position) {
            return position.vector != wanted.vector ||
                   sources[position.vector].get(thread, position.reg,
                                                position.element) != flat;
          });
        }
        if (candidates.empty() || candidates.front().vector != wanted.vector)
          return Result::none(
              "thread " + std::to_string(thread) + " does not hold element " +
              layout::listText(wanted.index) + " of the source" +
              (thread == 0
                   ? ""
                   : " in the same register as lower-numbered threads"));
      }
      // Prefers a position that continues a register.
      ElementPosition position = candidates.front();
      if (element > 0)
        for (const ElementPosition &candidate : candidates)
          if (candidate.vector == positions.back().vector &&
              candidate.reg == positions.back().reg &&
              candidate.element == positions.back().element + 1)
            position = candidate;
      positions.push_back(position);
    }
  return positions;
}

Registers block_to_thread::emitGather(const Distribution &to, Type elementType,
                                      ArrayRef<Registers> from,
                                      ArrayRef<ElementPosition> positions,
                                      OpBuilder &builder, Location loc) {
  Registers result;
  int64_t length = to.getVectorLength();
  VectorType type = to.getRegisterType(elementType);
  for (; !positions.empty(); positions = positions.drop_front(length)) {
    ArrayRef<ElementPosition> wanted = positions.take_front(length);
    const ElementPosition &first = wanted.front();
    Value whole = from[first.vector][first.reg];
    bool isWhole = whole.getType() == type;
    for (auto [element, position] : llvm::enumerate(wanted))
      isWhole &= position.vector == first.vector && position.reg == first.reg &&
                 position.element == static_cast<int64_t>(element);
    if (isWhole) {
      result.push_back(whole);
      continue;
    }
    SmallVector<Value> scalars;
    for (const ElementPosition &position : wanted)
      scalars.push_back(vector::ExtractOp::create(
          builder, loc, from[position.vector][position.reg],
          ArrayRef<int64_t>{position.element}));
    result.push_back(
        vector::FromElementsOp::create(builder, loc, type, scalars));
  }
  return result;
}

static std::optional<Reorder> getReorder(const Distribution &from,
                                         const Distribution &to,
                                         const ThreadGrid &grid) {
  auto keep = [](ArrayRef<int64_t> index) {
    return ElementIndex{0, SmallVector<int64_t>(index)};
  };
  auto positions = planGather(to, &from, keep, grid);
  if (!positions)
    return std::nullopt;
  return Reorder{to, std::move(*positions.value)};
}

bool block_to_thread::planReorder(VectorType type, const Distribution &held,
                                  const layout::TiledLayout &layout,
                                  const ThreadGrid &grid,
                                  std::optional<Reorder> &forth,
                                  std::optional<Reorder> *back) {
  forth.reset();
  if (back)
    back->reset();
  std::string why;
  std::optional<Distribution> wanted = Distribution::get(
      type, mosaic_gpu::TiledLayoutAttr::get(type.getContext(), layout), grid,
      why);
  if (!wanted)
    return false;
  if (*wanted == held)
    return true;
  forth = getReorder(held, *wanted, grid);
  if (!forth || !back)
    return forth.has_value();
  *back = getReorder(*wanted, held, grid);
  return back->has_value();
}
