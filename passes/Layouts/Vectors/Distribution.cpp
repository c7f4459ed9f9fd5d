//===- Distribution.cpp - Distribution of vectors across threads ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Vectors/Distribution.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Layouts/Vectors/LayoutChoices.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using layout::PartitionDim;
using layout::TiledDim;

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(shape, os);
  os << "]";
  return text;
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

std::optional<Distribution> Distribution::getStrided(ArrayRef<int64_t> shape,
                                                     int64_t vectorLength,
                                                     const ThreadGrid &grid,
                                                     std::string &reason) {
  layout::StridedLayout strided;
  strided.shape.assign(shape.begin(), shape.end());
  strided.vectorSize = vectorLength;
  if (std::optional<std::string> error =
          strided.validateForThreads(grid.numThreads)) {
    reason = *error;
    return std::nullopt;
  }
  if (shape.empty() || shape.back() % vectorLength != 0) {
    reason = "the last dimension of shape " + shapeText(shape) +
             " is not a multiple of " + std::to_string(vectorLength) +
             ", the number of consecutive elements that the layout gives a "
             "thread";
    return std::nullopt;
  }
  Distribution result;
  result.kind = Kind::Strided;
  result.shape.assign(shape.begin(), shape.end());
  result.numRegisters = strided.numRegisters(grid.numThreads);
  result.vectorLength = vectorLength;
  result.vectorDim = static_cast<int64_t>(shape.size()) - 1;
  return result;
}

std::optional<Distribution>
Distribution::share(VectorType type, int64_t minLength, int64_t maxLength,
                    const ThreadGrid &grid, std::string &reason) {
  ArrayRef<int64_t> shape = type.getShape();
  for (int64_t length = maxLength; length >= minLength; length /= 2)
    if (auto strided = getStrided(shape, length, grid, reason))
      return strided;
  if (shape.empty() || shape.back() % minLength != 0)
    return std::nullopt;
  // The layouts of groups of `minLength` elements.
  SmallVector<int64_t> groups(shape);
  groups.back() /= minLength;
  for (const layout::TiledLayout &tiled : inference::listDistributedLayouts(
           groups, inference::getElementBits(type) * minLength, grid.numWarps(),
           grid.waveSize)) {
    auto whole = tiled.bitcast(1, minLength);
    if (whole && whole->vectorLength() <= maxLength)
      return get(type,
                 mosaic_gpu::TiledLayoutAttr::get(type.getContext(), *whole),
                 grid, reason);
  }
  return std::nullopt;
}

std::optional<Distribution> Distribution::get(VectorType type, Attribute layout,
                                              const ThreadGrid &grid,
                                              std::string &reason) {
  ArrayRef<int64_t> shape = type.getShape();
  if (type.isScalable()) {
    reason = "scalable vectors are not supported";
    return std::nullopt;
  }
  if (auto splat = dyn_cast<mosaic_gpu::WGSplatFragLayoutAttr>(layout)) {
    if (splat.getShape() != shape) {
      reason = "the shape of the layout, " + shapeText(splat.getShape()) +
               ", differs from the shape of the vector";
      return std::nullopt;
    }
    Distribution result;
    result.shape.assign(shape.begin(), shape.end());
    return result;
  }
  if (auto strided = dyn_cast<mosaic_gpu::WGStridedFragLayoutAttr>(layout)) {
    if (strided.getShape() != shape) {
      reason = "the shape of the layout, " + shapeText(strided.getShape()) +
               ", differs from the shape of the vector";
      return std::nullopt;
    }
    return getStrided(shape, strided.getVectorSize(), grid, reason);
  }
  auto tiledAttr = dyn_cast<mosaic_gpu::TiledLayoutAttr>(layout);
  if (!tiledAttr) {
    reason =
        "the attribute is not the layout of a vector; use "
        "#mosaic_gpu.TiledLayout, WGStridedFragLayout or WGSplatFragLayout";
    return std::nullopt;
  }
  Distribution result;
  result.kind = Kind::Tiled;
  result.shape.assign(shape.begin(), shape.end());
  result.tiled = tiledAttr.getLayout();
  if (std::optional<std::string> error = result.tiled.validateFor(shape)) {
    reason = *error;
    return std::nullopt;
  }
  result.tiled = result.tiled.canonical();
  if (result.tiled.numLanes() != grid.waveSize ||
      result.tiled.numWarps() != grid.numWarps()) {
    reason = "the layout is defined for " +
             std::to_string(result.tiled.numWarps()) + " warps of " +
             std::to_string(result.tiled.numLanes()) +
             " lanes, but the kernel has " + std::to_string(grid.numWarps()) +
             " warps of " + std::to_string(grid.waveSize) +
             " lanes; use a layout for this number of warps and lanes";
    return std::nullopt;
  }
  result.numRegisters = result.tiled.numRegisters(shape);
  result.vectorLength = result.tiled.vectorLength();
  SmallVector<TiledDim> dims = result.tiled.tile(shape);
  const TiledDim &vector = dims[dims.size() + result.tiled.vectorDim];
  result.vectorDim = vector.logicalDim;
  result.vectorStride = vector.stride;
  return result;
}

bool Distribution::isReplicated() const {
  auto isRepeated = [](const PartitionDim &part) {
    return part.isReplicated() && part.times > 1;
  };
  return kind == Kind::Splat ||
         (kind == Kind::Tiled && (llvm::any_of(tiled.warpDims, isRepeated) ||
                                  llvm::any_of(tiled.laneDims, isRepeated)));
}

std::string Distribution::str() const {
  switch (kind) {
  case Kind::Splat:
    return "#mosaic_gpu.WGSplatFragLayout<" + shapeText(shape) + ">";
  case Kind::Strided:
    return "#mosaic_gpu.WGStridedFragLayout<" + shapeText(shape) + ", " +
           std::to_string(vectorLength) + ">";
  case Kind::Tiled:
    return "#mosaic_gpu.TiledLayout<" + tiled.str() + ">";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// ThreadIndices
//===----------------------------------------------------------------------===//

ThreadIndices::ThreadIndices(Block *block, Location loc, const ThreadGrid &grid)
    : builder(OpBuilder::atBlockEnd(block)), loc(loc), grid(grid) {
  threadOfBlock = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  thread = threadOfBlock;
  // Index arithmetic is inserted before this op.
  marker = arith::ConstantIndexOp::create(builder, loc, 0);
  builder.setInsertionPoint(marker);
  if (grid.blockThreads > grid.numThreads)
    thread = rem(threadOfBlock, grid.numThreads);
}

void ThreadIndices::finish() {
  if (marker->use_empty())
    marker->erase();
  marker = nullptr;
}

Value ThreadIndices::getConstant(int64_t value) {
  Value &constant = constants[value];
  if (!constant)
    constant = arith::ConstantIndexOp::create(builder, loc, value);
  return constant;
}

Value ThreadIndices::mul(Value value, int64_t factor) {
  if (!value || factor == 0)
    return {};
  if (factor == 1)
    return value;
  return arith::MulIOp::create(builder, loc, value, getConstant(factor),
                               arith::IntegerOverflowFlags::nsw);
}

Value ThreadIndices::div(Value value, int64_t divisor) {
  if (!value || divisor == 1)
    return value;
  return arith::DivUIOp::create(builder, loc, value, getConstant(divisor));
}

Value ThreadIndices::rem(Value value, int64_t divisor) {
  if (!value || divisor == 1)
    return {};
  return arith::RemUIOp::create(builder, loc, value, getConstant(divisor));
}

Value ThreadIndices::add(Value lhs, Value rhs) {
  if (!lhs)
    return rhs;
  if (!rhs)
    return lhs;
  return arith::AddIOp::create(builder, loc, lhs, rhs,
                               arith::IntegerOverflowFlags::nsw);
}

Value ThreadIndices::add(Value value, int64_t constant) {
  if (constant == 0)
    return value;
  return add(value, getConstant(constant));
}

Value ThreadIndices::getLane() {
  if (!lane)
    lane = grid.numWarps() == 1 ? thread : rem(thread, grid.waveSize);
  return lane;
}

Value ThreadIndices::getWarp() {
  if (!warp && grid.numWarps() > 1)
    warp = div(thread, grid.waveSize);
  return warp;
}

void ThreadIndices::addParts(Value number, int64_t count,
                             ArrayRef<PartitionDim> parts,
                             ArrayRef<TiledDim> dims,
                             MutableArrayRef<Coordinate> coordinates) {
  // `below` is the number of values of the digits that were split off.
  int64_t below = 1;
  for (const PartitionDim &part : llvm::reverse(parts)) {
    int64_t size =
        part.isReplicated() ? part.times : dims[dims.size() + part.dim].size;
    if (!part.isReplicated() && size > 1) {
      const TiledDim &dim = dims[dims.size() + part.dim];
      Value digit = div(number, below);
      if (below * size < count)
        digit = rem(digit, size);
      Coordinate &coordinate = coordinates[dim.logicalDim];
      coordinate.base = add(coordinate.base, mul(digit, dim.stride));
      coordinate.log2 = std::min(coordinate.log2, log2Divisor(dim.stride));
    }
    below *= size;
  }
}

SmallVector<Coordinate>
ThreadIndices::getWarpCoordinates(const Distribution &distribution) {
  SmallVector<Coordinate> coordinates(distribution.getShape().size());
  const layout::TiledLayout &tiled = distribution.getTiled();
  addParts(getWarp(), grid.numWarps(), tiled.warpDims,
           tiled.tile(distribution.getShape()), coordinates);
  return coordinates;
}

SmallVector<Coordinate>
ThreadIndices::getCoordinates(const Distribution &distribution, int64_t reg) {
  if (distribution.getKind() == Distribution::Kind::Strided)
    return getChunkCoordinates(distribution.getShape(),
                               distribution.getVectorLength(), reg, thread);

  ArrayRef<int64_t> shape = distribution.getShape();
  const layout::TiledLayout &tiled = distribution.getTiled();
  auto cached = llvm::find_if(tiledBases, [&](const auto &entry) {
    return entry.first == distribution;
  });
  if (cached == tiledBases.end()) {
    SmallVector<Coordinate> base = getWarpCoordinates(distribution);
    addParts(getLane(), grid.waveSize, tiled.laneDims, tiled.tile(shape), base);
    tiledBases.emplace_back(distribution, std::move(base));
    cached = std::prev(tiledBases.end());
  }
  SmallVector<Coordinate> coordinates = cached->second;
  // The index is linear in warp, lane, register and element.
  for (auto [coordinate, offset] :
       llvm::zip_equal(coordinates, tiled.elementIndex(shape, 0, 0, reg, 0)))
    coordinate.offset = offset;
  return coordinates;
}

SmallVector<Coordinate>
ThreadIndices::getChunkCoordinates(ArrayRef<int64_t> shape, int64_t length,
                                   int64_t reg, Value thread) {
  SmallVector<Coordinate> coordinates(shape.size());
  // The flat index is `constant + varying`, with varying in [0, bound).
  int64_t bound = grid.numThreads * length;
  int64_t constant = reg * bound;
  Value varying = mul(thread, length);
  unsigned log2 = log2Divisor(length);
  for (size_t dim = shape.size() - 1; dim > 0; --dim) {
    int64_t size = shape[dim];
    if (constant % size + bound <= size) {
      // The chunks of all threads are in one row.
      coordinates[dim] = {varying, log2, constant % size};
      varying = {};
      log2 = 62;
      bound = 1;
      constant /= size;
      continue;
    }
    if (constant % size != 0) {
      log2 = std::min(log2, log2Divisor(constant));
      varying = add(varying ? varying : getConstant(0), constant);
      bound += constant;
      constant = 0;
    }
    coordinates[dim] = {rem(varying, size), std::min(log2, log2Divisor(size)),
                        0};
    varying = div(varying, size);
    // A quotient has a known divisor only if all values are multiples of
    // `size`.
    log2 = llvm::isPowerOf2_64(size) && log2 >= log2Divisor(size)
               ? log2 - log2Divisor(size)
               : 0;
    bound = (bound + size - 1) / size;
    constant /= size;
  }
  coordinates[0] = {varying, log2, constant};
  return coordinates;
}

Value ThreadIndices::isFirstReplica(const Distribution &distribution) {
  if (distribution.getKind() != Distribution::Kind::Tiled ||
      !distribution.isReplicated())
    return {};
  const layout::TiledLayout &tiled = distribution.getTiled();
  SmallVector<TiledDim> dims = tiled.tile(distribution.getShape());
  Value replica;
  auto addReplicas = [&](Value number, int64_t count,
                         ArrayRef<PartitionDim> parts) {
    int64_t below = 1;
    for (const PartitionDim &part : llvm::reverse(parts)) {
      int64_t size =
          part.isReplicated() ? part.times : dims[dims.size() + part.dim].size;
      if (part.isReplicated() && size > 1) {
        Value digit = div(number, below);
        if (below * size < count)
          digit = rem(digit, size);
        replica = add(replica, digit);
      }
      below *= size;
    }
  };
  addReplicas(getWarp(), grid.numWarps(), tiled.warpDims);
  addReplicas(getLane(), grid.waveSize, tiled.laneDims);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, replica,
                               getConstant(0));
}

bool ThreadIndices::isOnlyRead(Value memref) {
  auto [known, isNew] = onlyRead.try_emplace(memref);
  if (!isNew)
    return known->second;
  known->second = llvm::all_of(memref.getUsers(), [&](Operation *user) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    if (!effects ||
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return false;
    return !effects.getEffectOnValue<MemoryEffects::Write>(memref);
  });
  return known->second;
}
