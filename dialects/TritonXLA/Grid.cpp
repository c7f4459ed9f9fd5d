//===- Grid.cpp - The grid of a tile-level kernel -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/Grid.h"
#include "smalti/targets/Text.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace smalti::triton_xla;

using Grid = SmallVector<SmallVector<TileFactor>>;

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

namespace {
struct GridSize {
  /// The tiles in each dimension; ShapedType::kDynamic if arguments decide.
  SmallVector<int64_t> perDim;
  bool isDynamic = false;
  /// The number of tiles, or its bound if it is dynamic.
  int64_t numTiles = 1;
};
} // namespace

/// The size of `grid`, or a diagnostic if a term is not positive or the
/// number of tiles exceeds its limit.
static FailureOr<GridSize>
computeSize(ArrayRef<SmallVector<TileFactor>> grid,
            function_ref<InFlightDiagnostic()> emitError) {
  GridSize size;
  for (const SmallVector<TileFactor> &factors : grid)
    size.isDynamic |= llvm::any_of(
        factors, [](const TileFactor &factor) { return factor.argument >= 0; });
  int64_t limit =
      size.isDynamic ? kMaxDynamicTiles : std::numeric_limits<int64_t>::max();
  for (const SmallVector<TileFactor> &factors : grid) {
    int64_t &inDim = size.perDim.emplace_back(1);
    for (const TileFactor &factor : factors) {
      bool isConstant = factor.argument < 0;
      if (factor.number < 1)
        return emitError() << "the number of tiles has the "
                           << (isConstant ? "constant " : "divisor ")
                           << factor.number << "; it must be positive";
      if (!isConstant) {
        inDim = ShapedType::kDynamic;
        continue;
      }
      if (llvm::MulOverflow(size.numTiles, factor.number, size.numTiles) ||
          size.numTiles > limit)
        return emitError() << "the constant factors of the number of tiles "
                              "multiply to more than "
                           << limit << ", the limit "
                           << (size.isDynamic ? "if the number of tiles also "
                                                "depends on arguments"
                                              : "of a static grid")
                           << "; use fewer tiles";
      if (ShapedType::isStatic(inDim))
        inDim *= factor.number;
    }
  }
  if (size.isDynamic)
    size.numTiles = kMaxDynamicTiles;
  return size;
}

/// The attributes of `func` are verified.
static GridSize getSize(EntryFuncOp func) {
  return *computeSize(func.getTileFactors(),
                      [&] { return func.emitOpError(); });
}

SmallVector<int64_t> EntryFuncOp::getNumTilesPerDim() {
  return getSize(*this).perDim;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
struct GridAttributes {
  IntegerAttr numTiles;
  /// Null unless the grid is static and has several dimensions.
  DenseI64ArrayAttr grid;
  /// Null if the grid is static.
  ArrayAttr dynamicGrid;
};
} // namespace

static GridAttributes getAttributes(Builder builder,
                                    ArrayRef<SmallVector<TileFactor>> grid,
                                    const GridSize &size) {
  GridAttributes attributes;
  attributes.numTiles = builder.getI64IntegerAttr(size.numTiles);
  if (size.isDynamic) {
    SmallVector<Attribute> dimensions;
    for (const SmallVector<TileFactor> &factors : grid) {
      SmallVector<int64_t> numbers;
      for (const TileFactor &factor : factors)
        numbers.append({factor.argument, factor.dimension, factor.number});
      dimensions.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    attributes.dynamicGrid = builder.getArrayAttr(dimensions);
  } else if (grid.size() > 1) {
    attributes.grid = builder.getDenseI64ArrayAttr(size.perDim);
  }
  return attributes;
}

Grid EntryFuncOp::getTileFactors() {
  Grid grid;
  if (std::optional<ArrayAttr> dynamic = getDynamicGrid()) {
    for (Attribute dimension : *dynamic) {
      auto numbers = cast<DenseI64ArrayAttr>(dimension).asArrayRef();
      SmallVector<TileFactor> &factors = grid.emplace_back();
      for (size_t at = 0; at + 2 < numbers.size(); at += 3)
        factors.push_back({numbers[at], numbers[at + 1], numbers[at + 2]});
    }
    return grid;
  }
  SmallVector<int64_t> sizes = {static_cast<int64_t>(getNumTiles())};
  if (std::optional<ArrayRef<int64_t>> sizesOfGrid = getGrid())
    sizes = llvm::to_vector(*sizesOfGrid);
  for (int64_t size : sizes)
    grid.push_back({TileFactor{-1, -1, size}});
  return grid;
}

void EntryFuncOp::setTileFactors(ArrayRef<SmallVector<TileFactor>> grid) {
  FailureOr<GridSize> size = computeSize(grid, [&] { return emitOpError(); });
  assert(succeeded(size) && "the grid must be valid");
  GridAttributes attributes = getAttributes(Builder(getContext()), grid, *size);
  setNumTilesAttr(attributes.numTiles);
  setGridAttr(attributes.grid);
  setDynamicGridAttr(attributes.dynamicGrid);
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses the number of tiles in a dimension of the grid.
static ParseResult parseTileCount(OpAsmParser &parser,
                                  ArrayRef<OpAsmParser::Argument> arguments,
                                  SmallVectorImpl<TileFactor> &factors) {
  auto parseArgument = [&](int64_t &number) -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand name;
    if (parser.parseOperand(name, /*allowResultNumber=*/false))
      return failure();
    for (auto [index, argument] : llvm::enumerate(arguments))
      if (argument.ssaName.name == name.name) {
        number = static_cast<int64_t>(index);
        return success();
      }
    return parser.emitError(loc)
           << name.name
           << " is not an argument of the kernel; the number of tiles can use "
              "only arguments";
  };
  do {
    TileFactor &factor = factors.emplace_back();
    int64_t constant = 0;
    OptionalParseResult isConstant = parser.parseOptionalInteger(constant);
    if (isConstant.has_value()) {
      if (failed(*isConstant))
        return failure();
      factor.number = constant;
      continue;
    }
    if (succeeded(parser.parseOptionalKeyword("size"))) {
      if (parser.parseLParen() || parseArgument(factor.argument) ||
          parser.parseComma() || parser.parseInteger(factor.dimension) ||
          parser.parseRParen())
        return failure();
    } else if (parseArgument(factor.argument)) {
      return failure();
    }
    if (succeeded(parser.parseOptionalKeyword("ceildiv")) &&
        parser.parseInteger(factor.number))
      return failure();
  } while (succeeded(parser.parseOptionalStar()));
  return success();
}

ParseResult
smalti::triton_xla::parseGrid(OpAsmParser &parser,
                              ArrayRef<OpAsmParser::Argument> arguments,
                              OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  Grid grid;
  auto parseCount = [&] {
    return parseTileCount(parser, arguments, grid.emplace_back());
  };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseCount) || parser.parseRSquare())
      return failure();
  } else if (parseCount()) {
    return failure();
  }
  FailureOr<GridSize> size =
      computeSize(grid, [&] { return parser.emitError(loc); });
  if (failed(size))
    return failure();
  GridAttributes attributes = getAttributes(parser.getBuilder(), grid, *size);
  result.addAttribute(EntryFuncOp::getNumTilesAttrName(result.name),
                      attributes.numTiles);
  if (attributes.grid)
    result.addAttribute(EntryFuncOp::getGridAttrName(result.name),
                        attributes.grid);
  if (attributes.dynamicGrid)
    result.addAttribute(EntryFuncOp::getDynamicGridAttrName(result.name),
                        attributes.dynamicGrid);
  return success();
}

static void printTileCount(OpAsmPrinter &p, EntryFuncOp func,
                           ArrayRef<TileFactor> factors) {
  llvm::interleave(
      factors, p,
      [&](const TileFactor &factor) {
        if (factor.argument < 0) {
          p << factor.number;
          return;
        }
        Value argument = func.getBody().getArgument(factor.argument);
        if (factor.dimension >= 0)
          p << "size(" << argument << ", " << factor.dimension << ")";
        else
          p << argument;
        if (factor.number != 1)
          p << " ceildiv " << factor.number;
      },
      " * ");
}

void smalti::triton_xla::printGrid(OpAsmPrinter &p, EntryFuncOp func) {
  Grid grid = func.getTileFactors();
  if (grid.size() != 1)
    p << '[';
  llvm::interleaveComma(grid, p, [&](ArrayRef<TileFactor> factors) {
    printTileCount(p, func, factors);
  });
  if (grid.size() != 1)
    p << ']';
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Checks the form of the attributes.
static LogicalResult verifyForm(EntryFuncOp func) {
  std::optional<ArrayAttr> dynamic = func.getDynamicGrid();
  std::optional<ArrayRef<int64_t>> grid = func.getGrid();
  if (!dynamic && grid && grid->size() < 2)
    return func.emitOpError("grid has ")
           << smalti::counted(grid->size(), "dimension")
           << "; it must have at least 2, or be omitted for one "
              "dimension";
  if (!dynamic)
    return success();
  if (grid)
    return func.emitOpError(
        "has the attributes 'dynamic_grid' and 'grid'; only one is allowed");
  if (dynamic->empty())
    return func.emitOpError("dynamic_grid must have at least one dimension");
  for (Attribute dimension : *dynamic) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(dimension);
    if (!numbers || numbers.empty() || numbers.size() % 3 != 0)
      return func.emitOpError(
          "dynamic_grid must have an array<i64> for each dimension: triples of "
          "an argument, its dimension and a divisor, such as array<i64: 0, 1, "
          "64>");
  }
  return success();
}

/// Checks the argument of a term. The kernel has `arguments` and tile ids.
static LogicalResult verifyArgument(EntryFuncOp func, const TileFactor &factor,
                                    ArrayRef<Type> arguments) {
  if (factor.argument < 0)
    return success();
  int64_t numInputs = func.getFunctionType().getNumInputs();
  if (factor.argument >= numInputs)
    return func.emitOpError("the number of tiles uses argument #")
           << factor.argument << ", but the kernel has only " << numInputs
           << " arguments, counted from 0";
  if (factor.argument >= static_cast<int64_t>(arguments.size()))
    return func.emitOpError("the number of tiles uses argument #")
           << factor.argument
           << ", which is a tile id; add the tile id, such as '%tile: index', "
              "as the last argument";
  Type type = arguments[factor.argument];
  auto memref = dyn_cast<MemRefType>(type);
  if (memref && factor.dimension >= memref.getRank())
    return func.emitOpError("the number of tiles uses the size of dimension ")
           << factor.dimension << " of argument #" << factor.argument
           << ", but " << type << " has rank " << memref.getRank()
           << " and dimensions are counted from 0";
  if (memref ? factor.dimension < 0
             : factor.dimension != -1 || !type.isIntOrIndex())
    return func.emitOpError("the number of tiles uses argument #")
           << factor.argument << " of type " << type
           << "; only scalar integers and sizes of memrefs, such as "
              "size(%memref, 0), are supported";
  return success();
}

LogicalResult smalti::triton_xla::verifyGrid(EntryFuncOp func) {
  if (failed(verifyForm(func)))
    return failure();
  Grid grid = func.getTileFactors();
  FailureOr<GridSize> size =
      computeSize(grid, [&] { return func.emitOpError(); });
  if (failed(size))
    return failure();
  if (func.getDynamicGrid() && !size->isDynamic)
    return func.emitOpError("dynamic_grid does not use an argument; state "
                            "this static grid with 'num_tiles' and 'grid'");
  if (size->numTiles != static_cast<int64_t>(func.getNumTiles()))
    return func.emitOpError("num_tiles is ")
           << func.getNumTiles() << "; it must be " << size->numTiles
           << (size->isDynamic
                   ? ", which marks a number of tiles that depends on arguments"
                   : ", the number of tiles of the grid");
  ArrayRef<Type> inputs = func.getFunctionType().getInputs();
  if (inputs.size() < grid.size() ||
      !llvm::all_of(inputs.take_back(grid.size()),
                    [](Type id) { return id.isIndex(); })) {
    if (grid.size() == 1)
      return func.emitOpError(
          "the last argument must be the tile id, of type index, such as "
          "'%tile: index'");
    return func.emitOpError("the last ")
           << grid.size() << " arguments must be the tile ids, of type index";
  }
  for (const SmallVector<TileFactor> &factors : grid)
    for (const TileFactor &factor : factors)
      if (failed(verifyArgument(func, factor, inputs.drop_back(grid.size()))))
        return failure();
  return success();
}
