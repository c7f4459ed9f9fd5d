//===- LayoutValues.cpp - Uniqued layouts of layout inference -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/layouts/NamedLayouts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

std::optional<Memory> inference::getMemory(Type type) {
  if (isa<VectorType>(type))
    return Memory::Registers;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return std::nullopt;
  if (mosaic_gpu::isTensorMemory(memref))
    return Memory::Tensor;
  bool isShared =
      mosaic_gpu::isSharedMemory(memref) || mosaic_gpu::isClusterMemory(memref);
  if (!isShared || isa<mosaic_gpu::BarrierType>(memref.getElementType()))
    return std::nullopt;
  return Memory::Shared;
}

int64_t inference::getElementBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIntOrFloat())
    return element.getIntOrFloatBitWidth();
  return mosaic_gpu::getElementBytes(element) * 8;
}

int64_t inference::getPacking(Type type) {
  int64_t bits = getElementBits(type);
  return bits > 0 && bits < 32 ? 32 / bits : 1;
}

LayoutTable::LayoutTable(MLIRContext *context, int64_t warps, int64_t lanes)
    : context(context), warps(warps), lanes(lanes) {
  intern(LayoutValue(), "splat");
  LayoutValue none;
  none.kind = LayoutValue::Kind::Transforms;
  intern(none, "transforms 16");
}

LayoutId LayoutTable::intern(LayoutValue value, std::string key) {
  auto [entry, isNew] = ids.try_emplace(std::move(key), values.size());
  if (isNew)
    values.push_back(std::move(value));
  return entry->second;
}

LayoutId LayoutTable::strided(int64_t vectorSize) {
  LayoutValue value;
  value.kind = LayoutValue::Kind::Strided;
  value.vectorSize = vectorSize;
  return intern(std::move(value), "strided " + std::to_string(vectorSize));
}

LayoutId LayoutTable::tiled(const layout::TiledLayout &layout) {
  // The search repeats the same few layouts: cache them.
  SmallVector<int64_t, 48> numbers;
  for (ArrayRef<int64_t> tile : layout.tiling) {
    numbers.push_back(tile.size());
    llvm::append_range(numbers, tile);
  }
  for (ArrayRef<layout::PartitionDim> parts :
       {ArrayRef(layout.warpDims), ArrayRef(layout.laneDims)}) {
    numbers.push_back(-static_cast<int64_t>(parts.size()));
    for (const layout::PartitionDim &part : parts)
      numbers.append({part.dim, part.times});
  }
  numbers.push_back(layout.vectorDim);
  auto [known, isNew] = tiledIds.try_emplace(
      std::vector<int64_t>(numbers.begin(), numbers.end()), kNoLayout);
  if (!isNew)
    return known->second;
  LayoutValue value;
  value.kind = LayoutValue::Kind::Tiled;
  value.tiled = layout.canonical();
  std::string key = "tiled " + value.tiled.str();
  return known->second = intern(std::move(value), std::move(key));
}

LayoutId LayoutTable::tensor(const layout::TiledLayout &layout) {
  LayoutValue value;
  value.kind = LayoutValue::Kind::Tensor;
  value.tiled = layout;
  return intern(std::move(value), "tensor " + layout.str());
}

LayoutId LayoutTable::transforms(ArrayRef<int64_t> tile, int64_t swizzle) {
  LayoutValue value;
  value.kind = LayoutValue::Kind::Transforms;
  value.tile.assign(tile.begin(), tile.end());
  value.swizzle = swizzle;
  std::string key = "transforms " + std::to_string(swizzle);
  for (int64_t size : tile)
    key += " " + std::to_string(size);
  return intern(std::move(value), std::move(key));
}

LayoutId LayoutTable::tiledTransforms(ArrayRef<int64_t> tile, MemRefType type) {
  if (tile.empty())
    return noTransforms();
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t minor = tile.size() - 1;
  if (succeeded(type.getStridesAndOffset(strides, offset)) &&
      strides.size() >= tile.size()) {
    ArrayRef<int64_t> last = ArrayRef(strides).take_back(tile.size());
    minor = std::min_element(last.begin(), last.end()) - last.begin();
  }
  int64_t bits = tile[minor] * getElementBits(type);
  bool isSwizzle = bits == 128 * 8 || bits == 64 * 8 || bits == 32 * 8;
  return transforms(tile, isSwizzle ? bits / 8 : 16);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LayoutId LayoutTable::fromAttribute(Attribute attribute, Type type) {
  if (isa<mosaic_gpu::WGSplatFragLayoutAttr>(attribute))
    return splat();
  if (auto stridedAttr =
          dyn_cast<mosaic_gpu::WGStridedFragLayoutAttr>(attribute))
    return strided(stridedAttr.getVectorSize());
  if (auto tiledAttr = dyn_cast<mosaic_gpu::TiledLayoutAttr>(attribute))
    return getMemory(type) == Memory::Tensor ? tensor(tiledAttr.getLayout())
                                             : tiled(tiledAttr.getLayout());
  auto list = dyn_cast<ArrayAttr>(attribute);
  auto memref = dyn_cast<MemRefType>(type);
  if (!list || !memref)
    return kNoLayout;
  ArrayRef<int64_t> tile;
  std::optional<int64_t> swizzle;
  for (Attribute transform : list) {
    if (auto tileAttr = dyn_cast<mosaic_gpu::TileTransformAttr>(transform))
      tile = tileAttr.getTiling();
    else if (auto swizzleAttr =
                 dyn_cast<mosaic_gpu::SwizzleTransformAttr>(transform))
      swizzle = swizzleAttr.getSwizzle().getInt();
    else
      return kNoLayout;
  }
  // As in JAX, a tile without a swizzle has the swizzle of its width.
  return swizzle ? transforms(tile, *swizzle) : tiledTransforms(tile, memref);
}

Attribute LayoutTable::toAttribute(LayoutId id, Type type) const {
  const LayoutValue &value = values[id];
  switch (value.kind) {
  case LayoutValue::Kind::Splat:
    return mosaic_gpu::WGSplatFragLayoutAttr::get(
        context, cast<VectorType>(type).getShape());
  case LayoutValue::Kind::Strided:
    return mosaic_gpu::WGStridedFragLayoutAttr::get(
        context, cast<VectorType>(type).getShape(), value.vectorSize);
  case LayoutValue::Kind::Tiled:
  case LayoutValue::Kind::Tensor:
    return mosaic_gpu::TiledLayoutAttr::get(context, value.tiled);
  case LayoutValue::Kind::Transforms:
    break;
  }
  SmallVector<Attribute> list;
  if (!value.tile.empty())
    list.push_back(
        mosaic_gpu::TileTransformAttr::get(context, ArrayRef(value.tile)));
  if (!value.tile.empty() || value.swizzle != 16)
    list.push_back(mosaic_gpu::SwizzleTransformAttr::get(
        context,
        IntegerAttr::get(IntegerType::get(context, 32), value.swizzle)));
  return ArrayAttr::get(context, list);
}

//===----------------------------------------------------------------------===//
// Validity
//===----------------------------------------------------------------------===//

std::optional<std::string> LayoutTable::checkFit(LayoutId id, Type type) const {
  const LayoutValue &value = values[id];
  switch (value.kind) {
  case LayoutValue::Kind::Splat:
    return std::nullopt;
  case LayoutValue::Kind::Strided: {
    int64_t elements = cast<VectorType>(type).getNumElements();
    if (elements % (value.vectorSize * getThreads()) == 0)
      return std::nullopt;
    return "the vector has " + std::to_string(elements) +
           " elements; the layout requires a multiple of " +
           std::to_string(value.vectorSize * getThreads()) + ", that is, " +
           std::to_string(value.vectorSize) + " elements in each of " +
           std::to_string(getThreads()) + " threads";
  }
  case LayoutValue::Kind::Tiled:
    if (value.tiled.numWarps() != getWarps() ||
        value.tiled.numLanes() != getLanes())
      return "the layout is defined for " +
             std::to_string(value.tiled.numWarps()) + " warps of " +
             std::to_string(value.tiled.numLanes()) +
             " lanes, but the block has " + std::to_string(getWarps()) +
             " warps of " + std::to_string(getLanes()) +
             " lanes; use a layout for this number of warps and lanes";
    return value.tiled.validateFor(cast<VectorType>(type).getShape());
  case LayoutValue::Kind::Tensor:
    return mosaic_gpu::checkTMEMLayout(toAttribute(id, type),
                                       cast<MemRefType>(type));
  case LayoutValue::Kind::Transforms:
    break;
  }
  return mosaic_gpu::checkTransforms(toAttribute(id, type),
                                     cast<MemRefType>(type));
}

bool LayoutTable::fits(LayoutId id, Type type) {
  auto [entry, isNew] = fitting.try_emplace({id, type}, false);
  if (isNew)
    entry->second = !checkFit(id, type);
  return entry->second;
}

std::string LayoutTable::getInvalidReason(LayoutId id, Type type) const {
  return checkFit(id, type).value_or("");
}

LayoutId LayoutTable::widestStrided(VectorType type) {
  auto layout =
      layout::strided(type.getShape(), getElementBits(type), getThreads());
  if (!layout)
    return kNoLayout;
  // Chunks of JAX may cross the end of a row, which lowerings do not support.
  int64_t columns = type.getRank() == 0 ? 1 : type.getShape().back();
  return strided(std::gcd(layout->vectorSize, columns));
}

int64_t LayoutTable::countRegisters(LayoutId id, VectorType type) const {
  layout::RegisterLayout layout = toRegisterLayout(id, type.getShape());
  int64_t elements =
      layout::numRegisters(layout, type.getShape(), getThreads()) *
      layout::vectorLength(layout);
  return llvm::divideCeil(elements * getElementBits(type), 32);
}

layout::RegisterLayout
LayoutTable::toRegisterLayout(LayoutId id, ArrayRef<int64_t> shape) const {
  const LayoutValue &value = values[id];
  SmallVector<int64_t> sizes(shape);
  if (value.kind == LayoutValue::Kind::Tiled)
    return value.tiled;
  if (value.kind == LayoutValue::Kind::Strided)
    return layout::StridedLayout{sizes, value.vectorSize};
  return layout::SplatLayout{sizes};
}

LayoutId LayoutTable::fromRegisterLayout(const layout::RegisterLayout &layout) {
  if (auto *tiledLayout = std::get_if<layout::TiledLayout>(&layout))
    return tiled(*tiledLayout);
  if (auto *stridedLayout = std::get_if<layout::StridedLayout>(&layout))
    return strided(stridedLayout->vectorSize);
  return splat();
}

std::string LayoutTable::name(LayoutId id) const {
  const LayoutValue &value = values[id];
  switch (value.kind) {
  case LayoutValue::Kind::Splat:
    return "splat";
  case LayoutValue::Kind::Strided:
    return "strided by " + std::to_string(value.vectorSize);
  case LayoutValue::Kind::Tiled:
  case LayoutValue::Kind::Tensor:
    return layout::nameOf(value.tiled).value_or(value.tiled.str());
  case LayoutValue::Kind::Transforms:
    break;
  }
  if (value.tile.empty() && value.swizzle == 16)
    return "no tile";
  std::string text;
  if (!value.tile.empty())
    text = "tile " + llvm::join(llvm::map_range(value.tile,
                                                [](int64_t size) {
                                                  return std::to_string(size);
                                                }),
                                "x");
  if (value.swizzle != 16)
    text += (text.empty() ? "swizzle " : ", swizzle ") +
            std::to_string(value.swizzle);
  return text;
}
