//===- MosaicGPU.cpp - The mosaic_gpu dialect and the text of its ops -----===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "dialects/MosaicGPU/Versions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

/// The bytes of arrive_expect_tx: `8192` or `%bytes`.
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

/// Dimensions of the cluster: `[x, y]`.
static ParseResult parseDimensions(OpAsmParser &parser, ArrayAttr &dimensions) {
  SmallVector<Attribute> entries;
  auto parseDimension = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Dimension> dimension = symbolizeDimension(keyword);
    if (!dimension)
      return parser.emitError(loc)
             << "a dimension is x, y or z, got '" << keyword << "'";
    entries.push_back(DimensionAttr::get(parser.getContext(), *dimension));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseDimension))
    return failure();
  dimensions = parser.getBuilder().getArrayAttr(entries);
  return success();
}

static void printDimensions(OpAsmPrinter &printer, Operation *,
                            ArrayAttr dimensions) {
  printer << '[';
  llvm::interleaveComma(dimensions.getAsRange<DimensionAttr>(), printer,
                        [&](DimensionAttr dimension) {
                          printer << stringifyDimension(dimension.getValue());
                        });
  printer << ']';
}

/// Operands and the arguments that they are in a region:
/// `(%argument = %operand : type) { ... }`.
static ParseResult
parseMappedRegion(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                  SmallVectorImpl<Type> &types, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument) ||
      parser.parseRegion(region, arguments))
    return failure();
  if (region.empty())
    region.emplaceBlock();
  return success();
}

static void printMappedRegion(OpAsmPrinter &printer, Operation *,
                              ValueRange operands, TypeRange, Region &region) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(region.getArguments(), operands),
                        printer, [&](auto pair) {
                          auto [argument, operand] = pair;
                          printer << argument << " = " << operand << " : "
                                  << operand.getType();
                        });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

#include "dialects/MosaicGPU/MosaicGPUDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"

void MosaicGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerBytecode();
}

void MosaicGPUDialect::registerOps() {
  addVersionedOps<
#define GET_OP_LIST
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"
      >(*this);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool smalti::mosaic_gpu::isSharedMemory(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

bool smalti::mosaic_gpu::isGlobalMemory(MemRefType type) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  return !type.getMemorySpace() ||
         (space && space.getValue() == gpu::AddressSpace::Global);
}

bool smalti::mosaic_gpu::isTensorMemory(MemRefType type) {
  return isa_and_nonnull<TmemAttr>(type.getMemorySpace());
}

bool smalti::mosaic_gpu::isClusterMemory(MemRefType type) {
  return isa_and_nonnull<SmemClusterAttr>(type.getMemorySpace());
}
