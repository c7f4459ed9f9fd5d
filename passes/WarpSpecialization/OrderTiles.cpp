//===- OrderTiles.cpp - smalti-order-tiles --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"
#include "smalti/targets/Timing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIORDERTILES
#define GEN_PASS_DEF_SMALTIORDERTILES
#include "smalti/passes/WarpSpecialization/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-order-tiles";

namespace {

/// Rows and columns of tiles.
struct TileGrid {
  int64_t rows = 0, columns = 0;
};

/// The chosen rasterization order and its estimate.
struct TileOrder {
  /// Rows in a group; 1: the given order.
  int64_t width = 1;
  bool isSnake = false;
  /// Bytes that concurrent tiles read, in this order and in the given order.
  int64_t bytes = 0, bytesInGivenOrder = 0;
};

struct SmaltiOrderTiles : smalti::impl::SmaltiOrderTilesBase<SmaltiOrderTiles> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult checkOptions(triton_xla::EntryFuncOp func);
};

} // namespace

static bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(
      op);
}

/// Finds the number of columns, by which the kernel divides its tile id.
/// Returns a reason if that fails.
static std::optional<std::string> findGrid(triton_xla::EntryFuncOp func,
                                           TileGrid &grid) {
  if (func.getTileIds().size() != 1)
    return "the grid has " + std::to_string(func.getTileIds().size()) +
           " dimensions; one dimension is required";
  std::optional<int64_t> columns;
  for (Operation *user : func.getTileId().getUsers()) {
    std::optional<int64_t> number =
        isDivision(user) && user->getOperand(0) == func.getTileId()
            ? getConstantIntValue(user->getOperand(1))
            : std::nullopt;
    if (!number || *number <= 0)
      return "the tile id is used by " + quote(user) +
             (isDivision(user) ? ", but not as a dividend with a positive "
                                 "constant divisor"
                               : "") +
             "; compute rows and columns of tiles only as the quotient and the "
             "remainder of the tile id by a constant number of columns";
    if (columns && *columns != *number)
      return "the tile id is divided by " + std::to_string(*columns) +
             " and by " + std::to_string(*number) +
             "; a single number of columns is required";
    columns = number;
  }
  if (!columns)
    return std::string(
        "the kernel does not use the tile id, so all tiles do the same work");
  if (func.getDynamicGrid())
    return std::string("the number of tiles depends on arguments; a static "
                       "number is required");
  int64_t tiles = static_cast<int64_t>(func.getNumTiles());
  if (tiles % *columns != 0)
    return "the kernel has " + std::to_string(tiles) +
           " tiles; a multiple of the " + std::to_string(*columns) +
           " tiles in a row is required";
  grid.columns = *columns;
  grid.rows = tiles / *columns;
  if (grid.columns == 1 || grid.rows == 1)
    return "the grid of " + std::to_string(grid.rows) + " x " +
           std::to_string(grid.columns) +
           " tiles has a single row or column, so the order cannot change";
  return std::nullopt;
}

/// Computes the permuted tile id. Groups have `width` rows; the last one may
/// have fewer.
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

//===----------------------------------------------------------------------===//
// Choice of the order that reads the fewest bytes
//===----------------------------------------------------------------------===//

/// All scalars that depend on `values`.
static llvm::DenseSet<Value> findDependents(ArrayRef<Value> values) {
  llvm::DenseSet<Value> found(values.begin(), values.end());
  SmallVector<Value> left(values);
  auto add = [&](ValueRange more) {
    for (Value value : more)
      if (value.getType().isIntOrIndexOrFloat() && found.insert(value).second)
        left.push_back(value);
  };
  while (!left.empty())
    for (Operation *user : left.pop_back_val().getUsers()) {
      // Any operand of a terminator may reach any result of the parent op.
      if (user->hasTrait<OpTrait::IsTerminator>())
        user = user->getParentOp();
      if (isa<triton_xla::EntryFuncOp>(user))
        continue;
      add(user->getResults());
      for (Region &region : user->getRegions())
        for (Block &block : region)
          add(block.getArguments());
    }
  return found;
}

/// Bytes that one row and one column of tiles read. An array counts for rows if
/// its offsets depend only on the row, and for columns likewise.
static std::pair<int64_t, int64_t> countBytes(triton_xla::EntryFuncOp func,
                                              const TileGrid &grid) {
  SmallVector<Value> rowIds, columnIds;
  for (Operation *user : func.getTileId().getUsers())
    (isa<arith::DivUIOp, arith::DivSIOp>(user) ? rowIds : columnIds)
        .push_back(user->getResult(0));
  llvm::DenseSet<Value> ofRow = findDependents(rowIds),
                        ofColumn = findDependents(columnIds);
  llvm::SmallSetVector<Value, 4> rows, columns;
  func.walk([&](triton_xla::ExtractOp extract) {
    bool hasRow = llvm::any_of(extract.getOffsets(), [&](Value offset) {
      return ofRow.contains(offset);
    });
    bool hasColumn = llvm::any_of(extract.getOffsets(), [&](Value offset) {
      return ofColumn.contains(offset);
    });
    if (hasRow != hasColumn)
      (hasRow ? rows : columns).insert(extract.getSource());
  });
  auto bytesOf = [](const llvm::SmallSetVector<Value, 4> &arrays) {
    // Avoid overflow of the sum of rows and columns.
    constexpr uint64_t most = uint64_t(1) << 50;
    uint64_t bytes = 0;
    for (Value array : arrays) {
      auto type = cast<MemRefType>(array.getType());
      if (!type.hasStaticShape())
        continue;
      uint64_t size = getElementBytes(type.getElementType()).value_or(0);
      for (int64_t extent : type.getShape())
        size = std::min(most, llvm::SaturatingMultiply<uint64_t>(size, extent));
      bytes = std::min(most, bytes + size);
    }
    return bytes;
  };
  return {llvm::divideCeil(bytesOf(rows), grid.rows),
          llvm::divideCeil(bytesOf(columns), grid.columns)};
}

/// Chooses the order in which `concurrent` tiles read the fewest bytes. Returns
/// a reason if no order helps, e.g. if all arrays fit in L2.
static std::optional<std::string>
chooseOrder(triton_xla::EntryFuncOp func, const targets::Target &target,
            int64_t concurrent, const TileGrid &grid, TileOrder &order) {
  const targets::Timing *timing = targets::lookupTiming(target.name);
  if (!timing || timing->cacheBytes == 0)
    return "the L2 size of " + target.name.str() +
           ", on which order=auto depends, is unknown; set order=grouped or "
           "order=snake";
  if (concurrent == 0)
    concurrent = timing->units;
  auto [rowBytes, columnBytes] = countBytes(func, grid);
  int64_t all = rowBytes * grid.rows + columnBytes * grid.columns;
  if (all <= timing->cacheBytes)
    return "all tiles together read " + std::to_string(all) +
           " B, which fits in the " + std::to_string(timing->cacheBytes) +
           " B of L2";
  auto bytesOf = [&, rowBytes = rowBytes,
                  columnBytes = columnBytes](int64_t width) {
    int64_t rows = width, columns = llvm::divideCeil(concurrent, width);
    if (columns > grid.columns) {
      columns = grid.columns;
      rows =
          std::min<int64_t>(grid.rows, llvm::divideCeil(concurrent, columns));
    }
    return rows * rowBytes + columns * columnBytes;
  };
  order.bytes = order.bytesInGivenOrder = bytesOf(1);
  for (int64_t width = 2; width <= std::min(grid.rows, concurrent); ++width)
    if (int64_t bytes = bytesOf(width); bytes < order.bytes) {
      order.width = width;
      order.bytes = bytes;
    }
  if (order.width == 1)
    return "no order reads less than the " + std::to_string(order.bytes) +
           " B that " + std::to_string(concurrent) +
           " concurrent tiles read in the given order";
  // The next group starts with the columns that were read last.
  order.isSnake = order.width < grid.rows;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult SmaltiOrderTiles::checkOptions(triton_xla::EntryFuncOp func) {
  if (width < 1)
    return func.emitError()
           << "option 'width' must be at least 1, but is " << int64_t(width);
  return success();
}

void SmaltiOrderTiles::runOnOperation() {
  auto func = dyn_cast<triton_xla::EntryFuncOp>(getOperation().getOperation());
  if (!func || func.isExternal())
    return markAllAnalysesPreserved();
  if (order == TileOrderKind::None)
    return markAllAnalysesPreserved();
  if (failed(checkOptions(func)))
    return signalPassFailure();
  auto miss = [&](const std::string &reason) {
    if (failed(reportMissed(func, kPassName, strict,
                            "rasterization order not changed: " + reason)))
      signalPassFailure();
  };
  if (func.getTileIds().size() == 1 && !func.getTileId().use_empty() &&
      llvm::none_of(func.getTileId().getUsers(), isDivision)) {
    std::string reason = "the kernel does not divide the tile id into rows and "
                         "columns, so the grid has one dimension";
    if (strict)
      return miss(reason);
    remarkAnalysis(func, kPassName)
        << "rasterization order not changed: " << reason;
    return;
  }
  TileGrid grid;
  if (std::optional<std::string> reason = findGrid(func, grid))
    return miss(*reason);
  TileOrder chosen{std::min<int64_t>(width, grid.rows),
                   order == TileOrderKind::Snake};
  if (order == TileOrderKind::Auto) {
    const targets::Target *chip = getTarget(func, target);
    if (!chip)
      return signalPassFailure();
    chosen = {};
    if (std::optional<std::string> reason =
            chooseOrder(func, *chip, blocks.getOr(0), grid, chosen))
      return miss(*reason);
  }
  Value id = func.getTileId();
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(id.getUses(), [](OpOperand &use) { return &use; });
  ImplicitLocOpBuilder builder(func.getLoc(), func.getContext());
  builder.setInsertionPointToStart(&func.getBody().front());
  Value ordered = createOrder(builder, id, grid, chosen.width, chosen.isSnake);
  for (OpOperand *use : uses)
    use->set(ordered);
  auto remark = remarkApplied(func, kPassName);
  remark << "rasterization order changed to "
         << (chosen.isSnake ? "snake" : "grouped") << ": " << grid.rows << " x "
         << grid.columns << " tiles, " << chosen.width << " rows per group";
  if (chosen.bytes != 0)
    remark << "; concurrent tiles read " << chosen.bytes << " B instead of "
           << chosen.bytesInGivenOrder << " B";
}
