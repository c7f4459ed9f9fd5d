//===- MosaicGPU.cpp - The mosaic_gpu dialect -----------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

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

static ParseResult
parseExpectTx(OpAsmParser &parser,
              std::optional<OpAsmParser::UnresolvedOperand> &bytes,
              IntegerAttr &constantBytes) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (parsed.has_value()) {
    bytes = operand;
    return *parsed;
  }
  return parser.parseAttribute(constantBytes, parser.getBuilder().getI32Type());
}

static void printExpectTx(OpAsmPrinter &printer, Operation *, Value bytes,
                          IntegerAttr constantBytes) {
  if (bytes)
    printer << bytes;
  else
    printer.printAttributeWithoutType(constantBytes);
}

#include "dialects/MosaicGPU/MosaicGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"

void MosaicGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"
      >();
}

void MosaicGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"
      >();
}

void MosaicGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

using ErrorFn = function_ref<InFlightDiagnostic()>;

/// Emits the reason, if there is one.
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
    return emitError() << "sizes must be positive, got [" << shape << "]";
  return success();
}

LogicalResult ReplicatedAttr::verify(ErrorFn emitError, int64_t times) {
  if (times <= 0)
    return emitError()
           << "elements are replicated a positive number of times, got "
           << times;
  return success();
}

LogicalResult TileTransformAttr::verify(ErrorFn emitError,
                                        ArrayRef<int64_t> tiling) {
  if (tiling.empty())
    return emitError() << "a tile must have at least one dimension";
  if (llvm::any_of(tiling, [](int64_t size) { return size <= 0; }))
    return emitError() << "tile sizes must be positive, got [" << tiling << "]";
  return success();
}

LogicalResult SwizzleTransformAttr::verify(ErrorFn emitError,
                                           IntegerAttr swizzle) {
  if (!swizzle.getType().isSignlessInteger(32))
    return emitError() << "a swizzle is an i32, got " << swizzle.getType();
  if (!llvm::is_contained({16, 32, 64, 128}, swizzle.getInt()))
    return emitError() << "a swizzle spans 16, 32, 64 or 128 bytes, got "
                       << swizzle.getInt();
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

/// Reads what the warp or lane index is made of.
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
      return (name + " hold integers and #mosaic_gpu.Replicated").str();
    // In the algebra 0 is a replicated factor, so it must not get there.
    if (dim.getInt() >= 0)
      return (name + " has dimension " + Twine(dim.getInt()) +
              ", but dimensions are counted from the end: -1 is the last")
          .str();
    parts.push_back(smalti::layout::PartitionDim::of(dim.getInt()));
  }
  return std::nullopt;
}

/// Reads the parameters of a tiled layout; the message says which is not of the
/// right kind.
static std::optional<std::string>
readTiledLayout(ArrayAttr tiling, ArrayAttr warpDims, ArrayAttr laneDims,
                int64_t vectorDim, smalti::layout::TiledLayout &layout) {
  for (Attribute entry : tiling) {
    auto tile = dyn_cast<ArrayAttr>(entry);
    if (!tile || !readNumbers(tile, layout.tiling.emplace_back()))
      return "a tiling is a list of lists of integers";
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
  // The verifier has read the same parameters.
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
// Layouts of values
//===----------------------------------------------------------------------===//

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// Shared memory whose transforms are known to its users: barriers have none.
static bool hasTransforms(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
         !isa<BarrierType>(type.getElementType());
}

static Attribute getEntry(Operation *op, StringRef name, unsigned index) {
  auto list = op->getAttrOfType<ArrayAttr>(name);
  return list && index < list.size() ? list[index] : Attribute();
}

Attribute smalti::mosaic_gpu::getOutLayout(Operation *op, unsigned index) {
  return getEntry(op, kOutLayouts, index);
}

std::optional<std::string> smalti::mosaic_gpu::checkLayout(Attribute layout,
                                                           VectorType type) {
  if (type.isScalable())
    return "scalable vectors have no layout";
  auto checkShape = [&](ArrayRef<int64_t> shape) -> std::optional<std::string> {
    if (shape == type.getShape())
      return std::nullopt;
    return "the layout's shape is not that of the vector";
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
      .Default([](Attribute) { return "not a register layout"; });
}

/// How many warps and lanes the tiled layouts of an op are spread over, once
/// one of them was seen.
namespace {
struct ThreadCount {
  int64_t warps = 0;
  int64_t lanes = 0;
};
} // namespace

static LogicalResult verifyLayoutList(Operation *op, StringRef name,
                                      ValueRange values, StringRef valueKind,
                                      ThreadCount &threads) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return op->emitOpError() << "'" << name << "' must be an array of layouts";
  SmallVector<Value> vectors = llvm::filter_to_vector(values, isVector);
  if (list.size() != vectors.size())
    return op->emitOpError()
           << "'" << name << "' has " << list.size() << " entries for "
           << vectors.size() << " vector " << valueKind;
  for (auto [index, layout, vector] : llvm::enumerate(list, vectors)) {
    if (auto reason = checkLayout(layout, cast<VectorType>(vector.getType())))
      return op->emitOpError()
             << "'" << name << "' entry " << index << " does not fit "
             << vector.getType() << ": " << *reason;
    auto tiled = dyn_cast<TiledLayoutAttr>(layout);
    if (!tiled)
      continue;
    ThreadCount count{tiled.getLayout().numWarps(),
                      tiled.getLayout().numLanes()};
    if (threads.warps == 0)
      threads = count;
    if (threads.warps != count.warps || threads.lanes != count.lanes)
      return op->emitOpError()
             << "'" << name << "' entry " << index << " is spread over "
             << count.warps << " warps of " << count.lanes
             << " lanes, but another layout of the op over " << threads.warps
             << " warps of " << threads.lanes << " lanes";
  }
  return success();
}

static std::optional<std::string> checkTransforms(Attribute attribute,
                                                  MemRefType type) {
  auto transforms = dyn_cast<ArrayAttr>(attribute);
  if (!transforms)
    return "it must be an array of transforms";
  bool hasTile = false, hasSwizzle = false;
  for (Attribute transform : transforms) {
    if (isa<SwizzleTransformAttr>(transform)) {
      if (hasSwizzle)
        return "it has two swizzles";
      hasSwizzle = true;
      continue;
    }
    auto tile = dyn_cast<TileTransformAttr>(transform);
    if (!tile)
      return "it must hold #mosaic_gpu.tile and #mosaic_gpu.swizzle";
    if (hasTile)
      return "it has two tiles";
    hasTile = true;
    ArrayRef<int64_t> sizes = tile.getTiling();
    if (static_cast<int64_t>(sizes.size()) > type.getRank())
      return "the tile has more dimensions than the memory";
    for (auto [size, tileSize] :
         llvm::zip_equal(type.getShape().take_back(sizes.size()), sizes))
      if (!ShapedType::isDynamic(size) && size >= tileSize &&
          size % tileSize != 0)
        return "size " + std::to_string(size) +
               " is not a multiple of the tile's " + std::to_string(tileSize);
  }
  return std::nullopt;
}

static LogicalResult verifyTransformList(Operation *op, StringRef name,
                                         ValueRange values,
                                         StringRef valueKind) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return op->emitOpError()
           << "'" << name << "' must be an array of transform lists";
  SmallVector<Value> memrefs = llvm::filter_to_vector(values, hasTransforms);
  if (list.size() != memrefs.size())
    return op->emitOpError()
           << "'" << name << "' has " << list.size() << " entries for "
           << memrefs.size() << " shared-memory " << valueKind;
  for (auto [index, transforms, memref] : llvm::enumerate(list, memrefs))
    if (auto reason =
            checkTransforms(transforms, cast<MemRefType>(memref.getType())))
      return op->emitOpError()
             << "'" << name << "' entry " << index << " does not fit "
             << memref.getType() << ": " << *reason;
  return success();
}

/// Checks the layout and transform attributes of an op: entries and counts,
/// shapes, and that all tiled layouts are spread over as many warps and lanes.
static LogicalResult verifyLayouts(Operation *op) {
  ThreadCount threads;
  return success(succeeded(verifyLayoutList(op, kInLayouts, op->getOperands(),
                                            "operands", threads)) &&
                 succeeded(verifyLayoutList(op, kOutLayouts, op->getResults(),
                                            "results", threads)) &&
                 succeeded(verifyTransformList(
                     op, kInTransforms, op->getOperands(), "operands")) &&
                 succeeded(verifyTransformList(op, kOutTransforms,
                                               op->getResults(), "results")));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isShared(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

/// The number that both vendors' back ends have for shared memory.
static constexpr int64_t kSharedMemoryAddressSpace = 3;

static bool isGlobal(MemRefType type) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  return !type.getMemorySpace() ||
         (space && space.getValue() == gpu::AddressSpace::Global);
}

/// Bytes that an element takes in memory and is aligned to; 0 where there is no
/// such number.
static int64_t getElementBytes(Type type) {
  if (isa<BarrierType>(type))
    return 8;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(
        llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  return 0;
}

LogicalResult SliceSMEMOp::verify() {
  MemRefType type = getResult().getType();
  if (!type.hasStaticShape())
    return emitOpError() << "result must have a static shape, got " << type;
  // Programs of threads also write the number of the address space.
  auto number = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace());
  if (!isShared(type) &&
      !(number && number.getInt() == kSharedMemoryAddressSpace))
    return emitOpError()
           << "result must be in the address space workgroup, got " << type;
  int64_t bytes = getElementBytes(type.getElementType());
  if (bytes == 0)
    return emitOpError()
           << "elements must be integers, floats or barriers, got "
           << type.getElementType();
  if (getOffset() % bytes != 0)
    return emitOpError() << "offset " << getOffset()
                         << " is not a multiple of the " << bytes
                         << " bytes of " << type.getElementType();
  return verifyLayouts(*this);
}

/// What a load and a store of a block-level vector have in common.
static LogicalResult verifyTransfer(Operation *op, MemRefType memory,
                                    VectorType vector) {
  if (!isShared(memory) && !isGlobal(memory))
    return op->emitOpError()
           << "memory must be shared (address space workgroup) or global, got "
           << memory;
  if (memory.getShape() != vector.getShape())
    return op->emitOpError()
           << "memory and vector must have the same shape, got " << memory
           << " and " << vector;
  if (memory.getElementType() != vector.getElementType())
    return op->emitOpError()
           << "memory and vector must have the same element type, got "
           << memory << " and " << vector;
  if (!memory.isStrided())
    return op->emitOpError() << "memory must be strided, got " << memory;
  return verifyLayouts(op);
}

LogicalResult VectorLoadOp::verify() {
  return verifyTransfer(*this, getSource().getType(), getResult().getType());
}

LogicalResult VectorStoreOp::verify() {
  MemRefType memory = getDestination().getType();
  if (getMultimem() && !isGlobal(memory))
    return emitOpError() << "multimem writes to global memory, got " << memory;
  return verifyTransfer(*this, memory, getValueToStore().getType());
}

/// Whether two layouts place every element alike.
static bool areSameLayout(Attribute lhs, Attribute rhs) {
  auto lhsTiled = dyn_cast<TiledLayoutAttr>(lhs),
       rhsTiled = dyn_cast<TiledLayoutAttr>(rhs);
  if (lhsTiled && rhsTiled)
    return lhsTiled.getLayout().canonical() == rhsTiled.getLayout().canonical();
  return lhs == rhs;
}

LogicalResult LayoutCastOp::verify() {
  if (auto reason = checkLayout(getNewLayout(), getResult().getType()))
    return emitOpError() << "'new_layout' does not fit "
                         << getResult().getType() << ": " << *reason;
  if (failed(verifyLayouts(*this)))
    return failure();
  Attribute outLayout = getOutLayout(*this);
  if (outLayout && !areSameLayout(outLayout, getNewLayout()))
    return emitOpError() << "'out_layouts' is not 'new_layout'";
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (!isGlobal(source))
    return emitOpError() << "source must be in global memory, got " << source;
  if (!isShared(destination))
    return emitOpError()
           << "destination must be in the address space workgroup, got "
           << destination;
  if (!source.isStrided() || !destination.isStrided())
    return emitOpError() << "source and destination must be strided, got "
                         << source << " and " << destination;
  if (!destination.hasStaticShape())
    return emitOpError() << "destination must have a static shape, got "
                         << destination;
  if (source.getRank() != destination.getRank())
    return emitOpError()
           << "source and destination must have the same rank, got "
           << source.getRank() << " and " << destination.getRank();
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError() << "needs one index per dimension of the source: "
                         << source.getRank() << ", got " << getIndices().size();
  if (source.getElementType() != destination.getElementType())
    return emitOpError()
           << "source and destination must have the same element type, got "
           << source.getElementType() << " and "
           << destination.getElementType();
  if (getElementBytes(source.getElementType()) == 0 ||
      isa<BarrierType>(source.getElementType()))
    return emitOpError() << "elements must be integers or floats, got "
                         << source.getElementType();
  return verifyLayouts(*this);
}

/// Whether a matrix product may have operands of these types.
static bool areProductTypes(Type a, Type b) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(a))
    return isa<Float8E4M3FNType, Float8E5M2Type>(b);
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(a))
    return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(b);
  return a == b && (isa<Float16Type, BFloat16Type, Float32Type>(a) ||
                    a.isSignlessInteger(8) || a.isSignlessInteger(4));
}

LogicalResult MMAOp::verify() {
  VectorType accumulator = getAccumulator().getType();
  VectorType a = getA().getType(), b = getB().getType();
  for (auto [name, type] : {std::pair("accumulator", accumulator),
                            std::pair("a", a), std::pair("b", b)})
    if (type.getRank() != 2)
      return emitOpError() << name << " must be of rank 2, got " << type;
  if (a.getDimSize(0) != accumulator.getDimSize(0))
    return emitOpError() << "a and the accumulator must have as many rows, got "
                         << a.getDimSize(0) << " and "
                         << accumulator.getDimSize(0);
  if (b.getDimSize(1) != accumulator.getDimSize(1))
    return emitOpError()
           << "b and the accumulator must have as many columns, got "
           << b.getDimSize(1) << " and " << accumulator.getDimSize(1);
  if (a.getDimSize(1) != b.getDimSize(0))
    return emitOpError() << "a must have as many columns as b has rows, got "
                         << a.getDimSize(1) << " and " << b.getDimSize(0);
  Type element = a.getElementType();
  if (!areProductTypes(element, b.getElementType()))
    return emitOpError() << "cannot multiply elements of " << element << " and "
                         << b.getElementType();
  bool isInteger = isa<IntegerType>(element);
  Type sum = accumulator.getElementType();
  if (isInteger ? !sum.isSignlessInteger(32) : !sum.isF32())
    return emitOpError() << "products of " << element << " are accumulated in "
                         << (isInteger ? "i32" : "f32") << ", got " << sum;
  if (getAllowTf32() && !element.isF32())
    return emitOpError() << "allow_tf32 is for f32 operands, got " << element;
  return verifyLayouts(*this);
}

/// One barrier is a rank-0 memref in shared memory.
static LogicalResult verifyBarrier(Operation *op, Value barrier) {
  auto type = cast<MemRefType>(barrier.getType());
  if (type.getRank() != 0)
    return op->emitOpError()
           << "barrier must be a memref of rank 0, got " << type;
  if (!isShared(type))
    return op->emitOpError()
           << "barrier must be in the address space workgroup, got " << type;
  return success();
}

/// What the shapes and indices of a copy between global and shared memory must
/// be.
static LogicalResult verifySlice(AsyncLoadOp op) {
  MemRefType source = op.getSource().getType();
  MemRefType destination = op.getDestination().getType();
  ArrayRef<int64_t> lengths = op.getSliceLengths();
  int64_t rank = source.getRank();
  if (static_cast<int64_t>(op.getIndices().size()) != rank ||
      static_cast<int64_t>(lengths.size()) != rank)
    return op.emitOpError()
           << "needs one index and one slice length per dimension of the "
              "source: "
           << rank << ", got " << op.getIndices().size() << " and "
           << lengths.size();
  SmallVector<int64_t> shape;
  bool gathers = false;
  for (auto [index, length] : llvm::zip_equal(op.getIndices(), lengths)) {
    if (length < -1 || length == 0)
      return op.emitOpError()
             << "slice lengths must be positive or -1, got " << length;
    if (length != -1)
      shape.push_back(length);
    auto vector = dyn_cast<VectorType>(index.getType());
    if (!vector)
      continue;
    if (gathers)
      return op.emitOpError() << "only one index may be a vector";
    gathers = true;
    if (vector.getNumElements() != length)
      return op.emitOpError()
             << "a vector of " << vector.getNumElements()
             << " indices does not make a slice of length " << length;
  }
  if (destination.getShape() != ArrayRef<int64_t>(shape))
    return op.emitOpError() << "the slice is of shape [" << shape
                            << "], and the destination is " << destination;
  return success();
}

LogicalResult AsyncLoadOp::verify() {
  MemRefType source = getSource().getType();
  MemRefType destination = getDestination().getType();
  if (!isGlobal(source))
    return emitOpError() << "source must be in global memory, got " << source;
  if (!isShared(destination))
    return emitOpError()
           << "destination must be in the address space workgroup, got "
           << destination;
  if (source.getElementType() != destination.getElementType())
    return emitOpError()
           << "source and destination must have the same element type, got "
           << source.getElementType() << " and "
           << destination.getElementType();
  if (getElementBytes(source.getElementType()) == 0 ||
      isa<BarrierType>(source.getElementType()))
    return emitOpError() << "elements must be integers or floats, got "
                         << source.getElementType();
  if (source.getRank() == 0)
    return emitOpError() << "source must have a dimension, got " << source;
  if (getOobFillMode() != 2)
    return emitOpError()
           << "'oob_fill_mode' must be 2, which fills with zeros, got "
           << getOobFillMode();
  llvm::SmallDenseSet<Attribute, 4> dimensions;
  for (Attribute dimension : getCollective())
    if (!dimensions.insert(dimension).second)
      return emitOpError() << "'collective' names " << dimension << " twice";
  if (failed(verifySlice(*this)) || failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyLayouts(*this);
}

LogicalResult ArriveOp::verify() { return verifyBarrier(*this, getBarrier()); }

LogicalResult ArriveExpectTxOp::verify() {
  if (bool(getDynamicExpectTx()) == bool(getExpectTxAttr()))
    return emitOpError()
           << "needs the number of bytes either as an attribute or as a value";
  return verifyBarrier(*this, getBarrier());
}

LogicalResult WaitOp::verify() { return verifyBarrier(*this, getBarrier()); }
