//===- Attributes.cpp - Attributes and types of the mosaic_gpu dialect ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

/// Parses `[]`, `[64]`, `[64, 128]`: unlike the generated parser, a list may be
/// empty.
static ParseResult parseShape(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(shape.emplace_back());
  });
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape) {
  printer << '[';
  llvm::interleaveComma(shape, printer);
  printer << ']';
}

#include "smalti/dialects/MosaicGPU/MosaicGPUEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"

void MosaicGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "smalti/dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"
      >();
}

void MosaicGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "smalti/dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"
      >();
}

using ErrorFn = function_ref<InFlightDiagnostic()>;

/// Emits an error with the reason, if any.
static LogicalResult emitReason(ErrorFn emitError,
                                const std::optional<std::string> &reason) {
  if (!reason)
    return success();
  return emitError() << *reason;
}

LogicalResult WGStridedFragLayoutAttr::verify(ErrorFn emitError,
                                              ArrayRef<int64_t> shape,
                                              int64_t vectorSize) {
  return emitReason(
      emitError,
      smalti::layout::StridedLayout{SmallVector<int64_t>(shape), vectorSize}
          .validate());
}

smalti::layout::StridedLayout WGStridedFragLayoutAttr::getLayout() const {
  return {SmallVector<int64_t>(getShape()), getVectorSize()};
}

LogicalResult WGSplatFragLayoutAttr::verify(ErrorFn emitError,
                                            ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return emitError() << "the sizes of a #mosaic_gpu.WGSplatFragLayout must "
                          "be positive, but found ["
                       << shape << "]";
  return success();
}

LogicalResult ReplicatedAttr::verify(ErrorFn emitError, int64_t times) {
  if (times <= 0)
    return emitError() << "the 'times' of a #mosaic_gpu.Replicated must be "
                          "positive, but found "
                       << times;
  return success();
}

LogicalResult TileTransformAttr::verify(ErrorFn emitError,
                                        ArrayRef<int64_t> tiling) {
  if (tiling.empty())
    return emitError() << "#mosaic_gpu.tile must have at least one dimension";
  if (llvm::any_of(tiling, [](int64_t size) { return size <= 0; }))
    return emitError()
           << "the sizes of #mosaic_gpu.tile must be positive, but found ["
           << tiling << "]";
  return success();
}

LogicalResult SwizzleTransformAttr::verify(ErrorFn emitError,
                                           IntegerAttr swizzle) {
  if (!swizzle.getType().isSignlessInteger(32))
    return emitError()
           << "the number in #mosaic_gpu.swizzle must be an i32, but found "
           << swizzle.getType() << "; write #mosaic_gpu.swizzle<"
           << swizzle.getValue().getSExtValue() << " : i32>";
  if (!llvm::is_contained({16, 32, 64, 128}, swizzle.getInt()))
    return emitError()
           << "#mosaic_gpu.swizzle must be 16, 32, 64 or 128 bytes, but found "
           << swizzle.getInt();
  return success();
}

LogicalResult CopyPartitionedAttr::verify(ErrorFn emitError, int64_t axis) {
  if (axis < 0)
    return emitError() << "the axis of #mosaic_gpu.copy_partitioned, the "
                          "dimension to split among the blocks, must not be "
                          "negative, but is "
                       << axis;
  return success();
}

/// Reads a list of i64 numbers.
static bool readNumbers(ArrayAttr list, SmallVectorImpl<int64_t> &numbers) {
  for (Attribute entry : list) {
    auto number = dyn_cast<IntegerAttr>(entry);
    if (!number || !number.getType().isSignlessInteger(64))
      return false;
    numbers.push_back(number.getInt());
  }
  return true;
}

/// Reads the digits of the warp or lane index.
static std::optional<std::string>
readParts(ArrayAttr list, StringRef name,
          SmallVectorImpl<smalti::layout::PartitionDim> &parts) {
  for (Attribute entry : list) {
    if (auto replicated = dyn_cast<ReplicatedAttr>(entry)) {
      parts.push_back(
          smalti::layout::PartitionDim::replicated(replicated.getTimes()));
      continue;
    }
    auto dim = dyn_cast<IntegerAttr>(entry);
    if (!dim || !dim.getType().isSignlessInteger(64))
      return llvm::formatv("{0} of the tiled layout contains {1}; each entry "
                           "must be an i64 integer or #mosaic_gpu.Replicated",
                           name, entry);
    // In the layout algebra, 0 denotes a replicated part.
    if (dim.getInt() >= 0)
      return (name + " has dimension " + Twine(dim.getInt()) +
              "; dimensions of the tiled layout are counted from the end and "
              "must be negative: -1 is the last")
          .str();
    parts.push_back(smalti::layout::PartitionDim::of(dim.getInt()));
  }
  return std::nullopt;
}

/// Reads the parameters of a tiled layout; returns a message if one has the
/// wrong kind.
static std::optional<std::string>
readTiledLayout(ArrayAttr tiling, ArrayAttr warpDims, ArrayAttr laneDims,
                int64_t vectorDim, smalti::layout::TiledLayout &layout) {
  for (Attribute entry : tiling) {
    auto tile = dyn_cast<ArrayAttr>(entry);
    if (!tile || !readNumbers(tile, layout.tiling.emplace_back()))
      return "the tiling of the tiled layout must be a list of lists of i64 "
             "integers, such as [[64, 8], [16, 8]]";
  }
  if (auto reason = readParts(warpDims, "warp_dims", layout.warpDims))
    return reason;
  if (auto reason = readParts(laneDims, "lane_dims", layout.laneDims))
    return reason;
  layout.vectorDim = vectorDim;
  return std::nullopt;
}

LogicalResult TiledLayoutAttr::verify(ErrorFn emitError, ArrayAttr tiling,
                                      ArrayAttr warpDims, ArrayAttr laneDims,
                                      int64_t vectorDim) {
  smalti::layout::TiledLayout layout;
  if (auto reason =
          readTiledLayout(tiling, warpDims, laneDims, vectorDim, layout))
    return emitError() << *reason;
  return emitReason(emitError, layout.validate());
}

smalti::layout::TiledLayout TiledLayoutAttr::getLayout() const {
  smalti::layout::TiledLayout layout;
  // The verifier has already checked the parameters.
  (void)readTiledLayout(getTiling(), getWarpDims(), getLaneDims(),
                        getVectorDim(), layout);
  return layout;
}

TiledLayoutAttr
TiledLayoutAttr::get(MLIRContext *context,
                     const smalti::layout::TiledLayout &layout) {
  Builder builder(context);
  SmallVector<Attribute> tiling;
  for (ArrayRef<int64_t> tile : layout.tiling)
    tiling.push_back(builder.getI64ArrayAttr(tile));
  auto partList = [&](ArrayRef<smalti::layout::PartitionDim> parts) {
    SmallVector<Attribute> entries;
    for (const smalti::layout::PartitionDim &part : parts)
      entries.push_back(
          part.isReplicated()
              ? Attribute(ReplicatedAttr::get(context, part.times))
              : Attribute(builder.getI64IntegerAttr(part.dim)));
    return builder.getArrayAttr(entries);
  };
  return get(context, builder.getArrayAttr(tiling), partList(layout.warpDims),
             partList(layout.laneDims), layout.vectorDim);
}

static ParseResult parseParts(AsmParser &parser, StringRef keyword,
                              ArrayAttr &parts) {
  SmallVector<Attribute> entries;
  auto parseEntry = [&]() -> ParseResult {
    int64_t dim = 0;
    OptionalParseResult parsed = parser.parseOptionalInteger(dim);
    if (parsed.has_value()) {
      entries.push_back(parser.getBuilder().getI64IntegerAttr(dim));
      return *parsed;
    }
    ReplicatedAttr replicated;
    if (parser.parseAttribute(replicated))
      return failure();
    entries.push_back(replicated);
    return success();
  };
  if (parser.parseComma() || parser.parseKeyword(keyword) ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return failure();
  parts = parser.getBuilder().getArrayAttr(entries);
  return success();
}

Attribute TiledLayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Attribute> tiling;
  auto parseTile = [&]() -> ParseResult {
    SmallVector<int64_t> tile;
    if (parseShape(parser, tile))
      return failure();
    tiling.push_back(parser.getBuilder().getI64ArrayAttr(tile));
    return success();
  };
  ArrayAttr warpDims, laneDims;
  int64_t vectorDim = 0;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseTile) ||
      parseParts(parser, "warp_dims", warpDims) ||
      parseParts(parser, "lane_dims", laneDims) || parser.parseComma() ||
      parser.parseKeyword("vector_dim") || parser.parseEqual() ||
      parser.parseInteger(vectorDim) || parser.parseGreater())
    return {};
  return parser.getChecked<TiledLayoutAttr>(
      loc, parser.getContext(), parser.getBuilder().getArrayAttr(tiling),
      warpDims, laneDims, vectorDim);
}

void TiledLayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLayout().str() << '>';
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult verifySixBits(ErrorFn emitError, Type element) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 6)
    return emitError()
           << "the elements of a 6-bit type must have 6 bits, such as "
              "f6E2M3FN, but are "
           << element;
  return success();
}

LogicalResult B6x16P32Type::verify(ErrorFn emitError, Type element) {
  return verifySixBits(emitError, element);
}

LogicalResult P2B6Type::verify(ErrorFn emitError, Type element) {
  return verifySixBits(emitError, element);
}
