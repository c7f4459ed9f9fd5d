//===- OrderTiles.cpp - smalti-order-tiles --------------------------------===//

#include "dialects/TritonXLA/TritonXLA.h"
#include "passes/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIORDERTILES
#define GEN_PASS_DEF_SMALTIORDERTILES
#include "passes/WarpSpecialization/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-order-tiles";

namespace {

/// Rows and columns of tiles.
struct TileGrid {
  int64_t rows = 0, columns = 0;
};

struct SmaltiOrderTiles : smalti::impl::SmaltiOrderTilesBase<SmaltiOrderTiles> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// What the program divides its tile id by, or why that are no rows and
/// columns.
static std::optional<std::string> findGrid(triton_xla::EntryFuncOp func,
                                           TileGrid &grid) {
  std::optional<int64_t> columns;
  for (Operation *user : func.getTileId().getUsers()) {
    bool isRow = isa<arith::DivUIOp, arith::DivSIOp>(user);
    bool isColumn = isa<arith::RemUIOp, arith::RemSIOp>(user);
    std::optional<int64_t> number =
        (isRow || isColumn) && user->getOperand(0) == func.getTileId()
            ? getConstantIntValue(user->getOperand(1))
            : std::nullopt;
    if (!number || *number <= 0)
      return std::string("the tile id is used by '") +
             user->getName().getStringRef().str() +
             "', and rows and columns of tiles are not to be seen";
    if (columns && *columns != *number)
      return "the tile id is divided by " + std::to_string(*columns) +
             " and by " + std::to_string(*number);
    columns = number;
  }
  if (!columns)
    return std::string("the tile id is not used");
  int64_t tiles = static_cast<int64_t>(func.getNumTiles());
  if (tiles % *columns != 0)
    return std::to_string(tiles) + " tiles are no whole number of rows of " +
           std::to_string(*columns);
  grid.columns = *columns;
  grid.rows = tiles / *columns;
  if (grid.columns == 1 || grid.rows == 1)
    return std::to_string(grid.rows) + " by " + std::to_string(grid.columns) +
           " tiles have one order alone";
  return std::nullopt;
}

/// Computes the tile id of the order. Groups of `width` rows come one after
/// another; the last one may have fewer.
static Value createOrder(ImplicitLocOpBuilder &builder, Value id,
                         const TileGrid &grid, int64_t width, bool isSnake) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  Value perGroup = constant(width * grid.columns);
  Value group = arith::DivUIOp::create(builder, id, perGroup);
  Value inside = arith::RemUIOp::create(builder, id, perGroup);
  Value firstRow = arith::MulIOp::create(builder, group, constant(width));
  Value height = constant(width);
  if (grid.rows % width != 0) {
    Value left = arith::SubIOp::create(builder, constant(grid.rows), firstRow);
    height = arith::MinUIOp::create(builder, left, height);
  }
  Value column = arith::DivUIOp::create(builder, inside, height);
  Value row = arith::AddIOp::create(
      builder, firstRow, arith::RemUIOp::create(builder, inside, height));
  if (isSnake) {
    Value last = constant(grid.columns - 1);
    Value back = arith::SubIOp::create(builder, last, column);
    Value isOdd = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::eq,
        arith::AndIOp::create(builder, group, constant(1)), constant(1));
    column = arith::SelectOp::create(builder, isOdd, back, column);
  }
  return arith::AddIOp::create(
      builder, arith::MulIOp::create(builder, row, constant(grid.columns)),
      column);
}

void SmaltiOrderTiles::runOnOperation() {
  auto func = dyn_cast<triton_xla::EntryFuncOp>(getOperation().getOperation());
  if (!func || func.isExternal())
    return markAllAnalysesPreserved();
  if (order != "grouped" && order != "snake") {
    func.emitError() << "unknown order '" << order
                     << "'; known are grouped and snake";
    return signalPassFailure();
  }
  if (width < 1) {
    func.emitError() << "width must be at least 1, not " << int64_t(width);
    return signalPassFailure();
  }
  TileGrid grid;
  if (std::optional<std::string> reason = findGrid(func, grid)) {
    if (failed(reportMissed(func, kPassName, strict, *reason)))
      signalPassFailure();
    return;
  }
  int64_t rows = std::min<int64_t>(width, grid.rows);
  Value id = func.getTileId();
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(id.getUses(), [](OpOperand &use) { return &use; });
  ImplicitLocOpBuilder builder(func.getLoc(), func.getContext());
  builder.setInsertionPointToStart(&func.getBody().front());
  Value ordered = createOrder(builder, id, grid, rows, order == "snake");
  for (OpOperand *use : uses)
    use->set(ordered);
  remarkApplied(func, kPassName)
      << "tiles of " << grid.rows << " rows and " << grid.columns
      << " columns in " << (order == "snake" ? "snake" : "grouped")
      << " order, " << rows << " rows a group";
}
