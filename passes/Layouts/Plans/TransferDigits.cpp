//===- TransferDigits.cpp - Element addresses as sums of digits -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/TransferDigits.h"

#include "smalti/layouts/NamedLayouts.h"

#include "llvm/ADT/STLExtras.h"

using namespace smalti;
using namespace smalti::transfers;
using layout::PartitionDim;
using layout::SplatLayout;
using layout::StridedLayout;
using layout::TiledDim;
using layout::TiledLayout;
using layout::ValueOr;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

std::optional<std::string>
transfers::splitDigit(const TiledDim &dim, const MemorySteps &steps,
                      int64_t elementBits, SmallVectorImpl<Digit> &digits) {
  if (dim.size == 1)
    return std::nullopt;
  int64_t end = dim.stride * dim.size;
  auto inTile = [&](int64_t size) -> Digit {
    return {size, dim.stride * steps.innerStride * elementBits};
  };
  if (dim.stride % steps.inner == 0) {
    digits.push_back(
        {dim.size, dim.stride / steps.inner * steps.outerStride * elementBits});
    return std::nullopt;
  }
  if (steps.inner % end == 0) {
    digits.push_back(inTile(dim.size));
    return std::nullopt;
  }
  if (steps.inner % dim.stride != 0 || end % steps.inner != 0)
    return "the layout of the vector splits dimension " +
           std::to_string(dim.logicalDim) + " into parts of " +
           std::to_string(dim.stride) +
           " elements, but the memory has tiles of " +
           std::to_string(steps.inner) + "; one must divide the other";
  digits.push_back({end / steps.inner, steps.outerStride * elementBits});
  digits.push_back(inTile(steps.inner / dim.stride));
  return std::nullopt;
}

/// Whether the elements are in row-major order without gaps.
static bool isRowMajor(const MemoryLayout &memory) {
  int64_t expected = 1;
  for (size_t dim = memory.shape.size(); dim-- > 0;) {
    if (memory.shape[dim] > 1 && memory.strides[dim] != expected)
      return false;
    expected *= memory.shape[dim];
  }
  return memory.tile.empty();
}

/// Converts a strided layout to a tiled layout of `memory`, whose shape may be
/// flattened.
static ValueOr<TiledLayout> tileStrided(const StridedLayout &strided,
                                        int64_t threads, int64_t waveSize,
                                        MemoryLayout &memory) {
  int64_t elements = strided.numElements();
  TiledLayout flat;
  flat.tiling = {{threads * strided.vectorSize},
                 {waveSize * strided.vectorSize},
                 {strided.vectorSize}};
  flat.warpDims = {PartitionDim::of(-3)};
  flat.laneDims = {PartitionDim::of(-2)};
  flat.vectorDim = -1;
  if (!isRowMajor(memory))
    return flat.reshape({elements}, memory.shape);
  int64_t swizzle = memory.swizzleBytes;
  memory = MemoryLayout::rowMajor({elements});
  memory.swizzleBytes = swizzle;
  return flat;
}

ValueOr<TransferDigits> transfers::getDigits(const TransferProblem &problem,
                                             int64_t waveSize) {
  using Result = ValueOr<TransferDigits>;
  int64_t bits = problem.elementBits;
  if (auto reason = problem.memory.validate(bits))
    return Result::none(*reason);
  if (problem.warps <= 0)
    return Result::none("the number of warps is " +
                        std::to_string(problem.warps) +
                        "; it must be positive");
  ArrayRef<int64_t> shape = problem.memory.shape;
  auto *ownTiled = std::get_if<TiledLayout>(&problem.registers);
  if (ownTiled)
    if (auto reason = ownTiled->validate())
      return Result::none(*reason);
  int64_t warps = ownTiled ? ownTiled->numWarps() : problem.warps;
  int64_t threads = warps * waveSize;
  if (auto reason =
          layout::validateFor(problem.registers, shape, threads, waveSize))
    return Result::none(*reason);

  MemoryLayout memory = problem.memory;
  TiledLayout tiled;
  if (ownTiled) {
    tiled = *ownTiled;
  } else {
    StridedLayout strided;
    if (auto *own = std::get_if<StridedLayout>(&problem.registers)) {
      strided = *own;
    } else {
      if (problem.isLoad)
        return Result::none(
            "the result of a load cannot have the splat layout, in which all "
            "elements are equal; use another layout");
      std::optional<StridedLayout> chosen =
          layout::strided(shape, bits, threads);
      strided =
          chosen ? *chosen : StridedLayout{SmallVector<int64_t>(shape), 1};
      if (auto reason = strided.validateForThreads(threads))
        return Result::none(*reason);
    }
    ValueOr<TiledLayout> result =
        tileStrided(strided, threads, waveSize, memory);
    if (!result)
      return Result::none(result.reason);
    tiled = *result;
  }

  ValueOr<SmallVector<MemorySteps>> steps = getMemorySteps(memory);
  SmallVector<TiledDim> dims = tiled.tile(memory.shape);
  TransferDigits digits;
  digits.numWarps = warps;
  digits.elementBits = bits;
  digits.vectorLength = tiled.vectorLength();
  auto split = [&](const TiledDim &dim, SmallVectorImpl<Digit> &list) {
    return splitDigit(dim, (*steps)[dim.logicalDim], bits, list);
  };
  auto splitParts =
      [&](ArrayRef<PartitionDim> parts,
          SmallVectorImpl<Digit> &list) -> std::optional<std::string> {
    for (const PartitionDim &part : parts) {
      if (part.isReplicated()) {
        if (part.times > 1)
          list.push_back({part.times, 0});
      } else if (auto reason = split(dims[dims.size() + part.dim], list)) {
        return reason;
      }
    }
    return std::nullopt;
  };
  /// Numbers the digits of the registers of a thread.
  auto number = [](SmallVectorImpl<Digit> &list, int64_t Digit::*member) {
    int64_t step = 1;
    for (Digit &digit : llvm::reverse(list)) {
      digit.*member = step;
      step *= digit.size;
    }
  };
  if (auto reason = splitParts(tiled.warpDims, digits.warps))
    return Result::none(*reason);
  if (auto reason = splitParts(tiled.laneDims, digits.lanes))
    return Result::none(*reason);
  for (const TiledDim &dim : tiled.registerDims(memory.shape))
    if (auto reason = split(dim, digits.registers))
      return Result::none(*reason);
  if (auto reason = split(dims[dims.size() + tiled.vectorDim], digits.vector))
    return Result::none(*reason);
  number(digits.registers, &Digit::reg);
  number(digits.vector, &Digit::element);
  return digits;
}
