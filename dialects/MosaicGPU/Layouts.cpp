//===- Layouts.cpp - Checks of layouts and transforms ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/layouts/LayoutText.h"
#include "smalti/targets/Text.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// Whether a value is shared memory with transforms. Barriers do not have any.
static bool hasTransforms(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && (isSharedMemory(type) || isClusterMemory(type)) &&
         !isa<BarrierType>(type.getElementType());
}

static bool isInTMEM(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && isTensorMemory(type);
}

static Attribute getEntry(Operation *op, StringRef name, unsigned index) {
  auto list = op->getAttrOfType<ArrayAttr>(name);
  return list && index < list.size() ? list[index] : Attribute();
}

Attribute smalti::mosaic_gpu::getOutLayout(Operation *op, unsigned index) {
  return getEntry(op, kOutLayouts, index);
}

static std::string toText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

std::optional<std::string> smalti::mosaic_gpu::checkLayout(Attribute layout,
                                                           VectorType type) {
  if (type.isScalable())
    return "layouts are not defined for scalable vectors; use a vector of "
           "fixed length";
  auto checkShape = [&](ArrayRef<int64_t> shape) -> std::optional<std::string> {
    if (shape == type.getShape())
      return std::nullopt;
    return "the layout is for shape " + layout::listText(shape) +
           ", but the vector has shape " + layout::listText(type.getShape()) +
           "; both must be equal";
  };
  return TypeSwitch<Attribute, std::optional<std::string>>(layout)
      .Case([&](TiledLayoutAttr tiled) {
        return tiled.getLayout().validateFor(type.getShape());
      })
      .Case([&](WGStridedFragLayoutAttr strided) {
        return checkShape(strided.getShape());
      })
      .Case([&](WGSplatFragLayoutAttr splat) {
        return checkShape(splat.getShape());
      })
      .Default([](Attribute other) {
        return "the layout is " + toText(other) +
               "; a register layout is required: #mosaic_gpu.TiledLayout, "
               "WGStridedFragLayout or WGSplatFragLayout";
      });
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// Rows of tensor memory.
static constexpr int64_t kTMEMRows = 128;
/// Bits of one column.
static constexpr int64_t kTMEMColumnBits = 32;

std::optional<std::string>
smalti::mosaic_gpu::checkTMEMLayout(Attribute attribute, MemRefType type) {
  auto tiled = dyn_cast<TiledLayoutAttr>(attribute);
  if (!tiled)
    return "the layout is " + toText(attribute) +
           "; tensor memory requires a #mosaic_gpu.TiledLayout";
  if (!type.hasStaticShape() || type.getRank() != 2)
    return "a memref in tensor memory must have two static dimensions";
  layout::TiledLayout layout = tiled.getLayout();
  if (auto reason = layout.validateFor(type.getShape()))
    return reason;
  if (int64_t rows = layout.numWarps() * layout.numLanes(); rows != kTMEMRows)
    return "the layout has " + std::to_string(rows) +
           " lanes in all warps together; it must have 128, one for each row "
           "of tensor memory";
  Type element = type.getElementType();
  if (!element.isIntOrFloat())
    return std::nullopt;
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t length = layout.vectorLength();
  if (length != 1 && length * bits != kTMEMColumnBits)
    return "the layout has vectors of " + std::to_string(length) +
           " elements of " + std::to_string(bits) +
           " bits; for tensor memory, a vector must have 1 element or 32 bits";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Finds the contiguous dimension among those with more than one element; null
/// if all have one element or the strides are dynamic. Returns a reason if the
/// memory cannot have transforms.
static std::optional<std::string> findMinorDim(MemRefType type, bool isSwizzled,
                                               std::optional<unsigned> &minor) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return "the memref does not have a strided layout; only strided memrefs "
           "can be tiled or swizzled";
  bool isKnown = true, hasDims = false;
  for (auto [dim, size, stride] : llvm::enumerate(type.getShape(), strides)) {
    if (size == 1)
      continue;
    hasDims = true;
    isKnown &= !ShapedType::isDynamic(stride);
    if (stride != 1)
      continue;
    if (minor && isSwizzled)
      return "two dimensions have stride 1, so the rows that the swizzle "
             "permutes are ambiguous; exactly one must have stride 1";
    minor = dim;
  }
  if (!minor && isKnown && hasDims)
    return "no dimension of the memref has stride 1; only memrefs with a "
           "contiguous dimension can be tiled or swizzled";
  return std::nullopt;
}

/// The reason if a swizzle is not valid for the tile, or for the memory if it
/// is not tiled.
static std::optional<std::string> checkSwizzle(SwizzleTransformAttr swizzle,
                                               ArrayRef<int64_t> tile,
                                               MemRefType type,
                                               unsigned minor) {
  int64_t bits = getElementBytes(type.getElementType()) * 8;
  if (type.getElementType().isIntOrFloat())
    bits = type.getElementTypeBitWidth();
  int64_t spanned = swizzle.getSwizzle().getInt() * 8;
  if (bits == 0 || spanned % bits != 0)
    return "a swizzle of " + std::to_string(spanned / 8) +
           " bytes is not a multiple of the element size of " +
           std::to_string(bits) + " bits";
  int64_t firstTiled = type.getRank() - static_cast<int64_t>(tile.size());
  bool isTiled = static_cast<int64_t>(minor) >= firstTiled;
  int64_t size = isTiled ? tile[minor - firstTiled] : type.getDimSize(minor);
  if (ShapedType::isDynamic(size) || size % (spanned / bits) == 0)
    return std::nullopt;
  return "a swizzle of " + std::to_string(spanned / 8) + " bytes spans " +
         std::to_string(spanned / bits) +
         " elements; the contiguous dimension of the " +
         (isTiled ? "tile" : "memref") + " has " + std::to_string(size) +
         " elements, which is not a multiple of that; use a smaller swizzle";
}

std::optional<std::string>
smalti::mosaic_gpu::checkTransforms(Attribute attribute, MemRefType type) {
  auto transforms = dyn_cast<ArrayAttr>(attribute);
  if (!transforms)
    return "the value must be an array of transforms, such as "
           "[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]";
  SwizzleTransformAttr swizzle;
  TileTransformAttr tile;
  for (Attribute transform : transforms) {
    if (auto swizzleTransform = dyn_cast<SwizzleTransformAttr>(transform)) {
      if (swizzle)
        return "the array contains two #mosaic_gpu.swizzle; at most one is "
               "allowed";
      swizzle = swizzleTransform;
      continue;
    }
    auto tileTransform = dyn_cast<TileTransformAttr>(transform);
    if (!tileTransform)
      return "the array contains " + toText(transform) +
             "; only #mosaic_gpu.tile and #mosaic_gpu.swizzle are allowed";
    if (tile)
      return "the array contains two #mosaic_gpu.tile; at most one is allowed";
    tile = tileTransform;
  }
  if (transforms.empty())
    return std::nullopt;
  if (type.getRank() == 0)
    return "a memref of rank 0 cannot have transforms; use an empty array";
  ArrayRef<int64_t> sizes;
  if (tile)
    sizes = tile.getTiling();
  if (static_cast<int64_t>(sizes.size()) > type.getRank())
    return "#mosaic_gpu.tile has more dimensions than the memref";
  for (auto [size, tileSize] :
       llvm::zip_equal(type.getShape().take_back(sizes.size()), sizes))
    if (!ShapedType::isDynamic(size) && size >= tileSize &&
        size % tileSize != 0)
      return "size " + std::to_string(size) +
             " of the memref is not a multiple of its tile size in "
             "#mosaic_gpu.tile, " +
             std::to_string(tileSize);
  bool isSwizzled = swizzle && swizzle.getSwizzle().getInt() > 16;
  std::optional<unsigned> minor;
  if (auto reason = findMinorDim(type, isSwizzled, minor))
    return reason;
  if (!isSwizzled || !minor)
    return std::nullopt;
  return checkSwizzle(swizzle, sizes, type, *minor);
}

//===----------------------------------------------------------------------===//
// Attributes of ops
//===----------------------------------------------------------------------===//

/// The entries of a list attribute of an op, one for each of `values`; a null
/// array if it is absent. `entry` describes an entry in messages.
static FailureOr<ArrayAttr> getEntries(Operation *op, StringRef name,
                                       ValueRange values, StringRef entry,
                                       StringRef valueKind) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return ArrayAttr();
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return op->emitOpError() << "'" << name << "' must be an array of " << entry
                             << ", but found " << attribute;
  if (list.size() != values.size())
    return op->emitOpError()
           << "'" << name << "' has "
           << smalti::counted(list.size(), "entry", "entries") << " for "
           << smalti::counted(values.size(), valueKind)
           << "; one entry for each is required";
  return list;
}

static LogicalResult emitMisfit(Operation *op, StringRef name, size_t index,
                                Type type, const std::string &reason) {
  return op->emitOpError() << "'" << name << "' entry " << index
                           << " is not valid for " << type << ": " << reason;
}

/// The number of warps and lanes of the tiled layouts of an op; 0 before the
/// first one.
namespace {
struct ThreadCount {
  int64_t warps = 0;
  int64_t lanes = 0;
};
} // namespace

static LogicalResult verifyLayoutList(Operation *op, StringRef name,
                                      ValueRange values, StringRef kind,
                                      ThreadCount &threads) {
  SmallVector<Value> vectors = llvm::filter_to_vector(values, isVector);
  FailureOr<ArrayAttr> list =
      getEntries(op, name, vectors, "layouts", ("vector " + kind).str());
  if (failed(list) || !*list)
    return list;
  for (auto [index, layout, vector] : llvm::enumerate(*list, vectors)) {
    auto type = cast<VectorType>(vector.getType());
    if (auto reason = checkLayout(layout, type))
      return emitMisfit(op, name, index, type, *reason);
    auto tiled = dyn_cast<TiledLayoutAttr>(layout);
    if (!tiled)
      continue;
    ThreadCount count{tiled.getLayout().numWarps(),
                      tiled.getLayout().numLanes()};
    if (threads.warps == 0)
      threads = count;
    if (threads.warps != count.warps || threads.lanes != count.lanes)
      return op->emitOpError()
             << "'" << name << "' entry " << index << " is for "
             << smalti::counted(count.warps, "warp") << " of " << count.lanes
             << " lanes, but another layout of the op is for "
             << smalti::counted(threads.warps, "warp") << " of "
             << threads.lanes << " lanes; both must be equal";
  }
  return success();
}

static LogicalResult verifyTMEMLayoutList(Operation *op, StringRef name,
                                          ValueRange values, StringRef kind) {
  SmallVector<Value> memrefs = llvm::filter_to_vector(values, isInTMEM);
  FailureOr<ArrayAttr> list =
      getEntries(op, name, memrefs, "layouts", ("tensor-memory " + kind).str());
  if (failed(list) || !*list)
    return list;
  for (auto [index, layout, memref] : llvm::enumerate(*list, memrefs)) {
    auto type = cast<MemRefType>(memref.getType());
    if (auto reason = checkTMEMLayout(layout, type))
      return emitMisfit(op, name, index, type, *reason);
  }
  return success();
}

/// Whether the transforms of an op have an (empty) entry for barriers, as in
/// JAX.
static bool countsBarriers(Operation *op) { return isa<CustomPrimitiveOp>(op); }

static LogicalResult verifyTransformList(Operation *op, StringRef name,
                                         ValueRange values, StringRef kind) {
  SmallVector<Value> memrefs = llvm::filter_to_vector(values, [&](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return countsBarriers(op) ? type && isSharedMemory(type)
                              : hasTransforms(value);
  });
  FailureOr<ArrayAttr> list = getEntries(op, name, memrefs, "transform lists",
                                         ("shared-memory " + kind).str());
  if (failed(list) || !*list)
    return list;
  for (auto [index, transforms, memref] : llvm::enumerate(*list, memrefs)) {
    auto type = cast<MemRefType>(memref.getType());
    if (auto reason = checkTransforms(transforms, type))
      return emitMisfit(op, name, index, type, *reason);
  }
  return success();
}

LogicalResult smalti::mosaic_gpu::verifyLayouts(Operation *op) {
  ThreadCount threads;
  ValueRange operands = op->getOperands(), results = op->getResults();
  return success(
      succeeded(
          verifyLayoutList(op, kInLayouts, operands, "operand", threads)) &&
      succeeded(
          verifyLayoutList(op, kOutLayouts, results, "result", threads)) &&
      succeeded(
          verifyTMEMLayoutList(op, kInTMEMLayouts, operands, "operand")) &&
      succeeded(verifyTMEMLayoutList(op, kOutTMEMLayouts, results, "result")) &&
      succeeded(verifyTransformList(op, kInTransforms, operands, "operand")) &&
      succeeded(verifyTransformList(op, kOutTransforms, results, "result")));
}
