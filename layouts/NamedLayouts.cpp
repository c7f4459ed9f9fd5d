//===- NamedLayouts.cpp - Named layouts of JAX Mosaic GPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/layouts/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

using namespace smalti::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A dimension of the tiled tile, counted from the end.
static PartitionDim at(int64_t dim) { return PartitionDim::of(dim); }
static PartitionDim all(int64_t times) {
  return PartitionDim::replicated(times);
}

static TiledLayout makeLayout(Tiling tiling, SmallVector<PartitionDim> warpDims,
                              SmallVector<PartitionDim> laneDims,
                              int64_t vectorDim) {
  TiledLayout layout;
  layout.tiling = std::move(tiling);
  layout.warpDims = std::move(warpDims);
  layout.laneDims = std::move(laneDims);
  layout.vectorDim = vectorDim;
  return layout.canonical();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Rows of a warp in wgmma and in tensor memory.
static constexpr int64_t kWgmmaRows = 16;
static constexpr int64_t kTmemWarpRows = 32;

static TiledLayout rowMajorBlocks(int64_t warps, int64_t warpRows) {
  return makeLayout({{warps * warpRows, 8}, {warpRows, 8}, {8, 8}, {2}},
                    {at(-7)}, {at(-3), at(-2)}, -1);
}
static TiledLayout transposedBlocks(int64_t warps, int64_t warpRows) {
  return makeLayout(
      {{warps * warpRows, 8}, {warpRows, 8}, {8, 8}, {2, 2}, {2, 1}}, {at(-10)},
      {at(-6), at(-3), at(-5)}, -2);
}
static TiledLayout rowsOfBlocks(int64_t warps, int64_t warpRows) {
  return makeLayout({{warps * warpRows}, {warpRows}, {8}, {1}}, {at(-4)},
                    {at(-2), all(4)}, -1);
}
static TiledLayout columnsOfBlocks(int64_t warps) {
  return makeLayout({{8}, {2}}, {all(warps)}, {all(8), at(-2)}, -1);
}

TiledLayout smalti::layout::wgmma(int64_t warps) {
  return rowMajorBlocks(warps, kWgmmaRows);
}
TiledLayout smalti::layout::wgmmaAcc32Bit(int64_t warps) {
  return makeLayout({{warps * 16, 8}, {16, 8}, {8, 8}, {2}, {1}}, {at(-8)},
                    {at(-4), at(-3)}, -1);
}
TiledLayout smalti::layout::wgmma8Bit(int64_t warps) {
  return makeLayout({{warps * 16, 16}, {16, 16}, {8, 16}, {4}}, {at(-7)},
                    {at(-3), at(-2)}, -1);
}
TiledLayout smalti::layout::wgmmaUpcast2x(int64_t warps) {
  return makeLayout({{warps * 16, 16}, {16, 16}, {8, 16}, {8}, {4}}, {at(-8)},
                    {at(-4), at(-2), at(-3)}, -1);
}
TiledLayout smalti::layout::wgmmaUpcast4x(int64_t warps) {
  return makeLayout({{warps * 16, 32}, {16, 32}, {8, 32}, {8}}, {at(-7)},
                    {at(-3), at(-2)}, -1);
}
TiledLayout smalti::layout::wgmmaTransposed(int64_t warps) {
  return transposedBlocks(warps, kWgmmaRows);
}
TiledLayout smalti::layout::wgmmaRow(int64_t warps) {
  return rowsOfBlocks(warps, kWgmmaRows);
}
TiledLayout smalti::layout::wgmmaColumn(int64_t warps) {
  return columnsOfBlocks(warps);
}
TiledLayout smalti::layout::tcgen05(int64_t warps) {
  return rowMajorBlocks(warps, kTmemWarpRows);
}
TiledLayout smalti::layout::tcgen05Transposed(int64_t warps) {
  return transposedBlocks(warps, kTmemWarpRows);
}
TiledLayout smalti::layout::tcgen05Row(int64_t warps) {
  return rowsOfBlocks(warps, kTmemWarpRows);
}
TiledLayout smalti::layout::tcgen05Column(int64_t warps) {
  return columnsOfBlocks(warps);
}
TiledLayout smalti::layout::tmemNative(int64_t vectorLength, int64_t warps,
                                       int64_t lanes) {
  return makeLayout({{warps * lanes, vectorLength}, {lanes, vectorLength}},
                    {at(-4)}, {at(-2)}, -1);
}

std::optional<TiledLayout> smalti::layout::m64Collective(int64_t columns) {
  if (columns <= 0 || columns % 16 != 0)
    return std::nullopt;
  return makeLayout({{64, columns}, {32, columns / 2}, {8, 8}, {2}},
                    {at(-6), at(-7)}, {at(-3), at(-2)}, -1);
}

TiledLayout smalti::layout::tmaIndices(int64_t warps, int64_t lanes) {
  return makeLayout({{warps * 4}, {4}}, {at(-2)}, {all(lanes)}, -1);
}
TiledLayout smalti::layout::tmaIndices4(int64_t warps, int64_t lanes) {
  return makeLayout({{4}}, {all(warps)}, {all(lanes)}, -1);
}

std::optional<TiledLayout> smalti::layout::smemGmemCopy(int64_t rowTiles,
                                                        int64_t columnTiles,
                                                        int64_t swizzleBytes,
                                                        int64_t elementBits) {
  // Rows of a tile, and the widest access of a lane in bytes.
  constexpr int64_t rows = 8, widest = 16;
  if (rowTiles <= 0 || columnTiles <= 0 || elementBits <= 0 ||
      swizzleBytes < widest || swizzleBytes > 128 ||
      !llvm::isPowerOf2_64(swizzleBytes) || !llvm::isPowerOf2_64(elementBits))
    return std::nullopt;
  int64_t warpRows = std::min<int64_t>(rowTiles & -rowTiles, kGroupWarps);
  int64_t warpColumns = kGroupWarps / warpRows;
  if (columnTiles % warpColumns != 0)
    return std::nullopt;
  // A lane copies its part of a tile. If the part is narrow, a warp copies
  // several tiles, first along a row of tiles.
  int64_t laneBytes = std::min(widest, rows * swizzleBytes / kGroupLanes);
  int64_t maxTiles = widest / laneBytes;
  int64_t restRows = rowTiles / warpRows,
          restColumns = columnTiles / warpColumns;
  int64_t laneColumns = std::min(maxTiles, restColumns & -restColumns);
  int64_t laneRows = std::min(maxTiles / laneColumns, restRows & -restRows);
  laneBytes *= laneColumns * laneRows;
  if (laneBytes * 8 < elementBits)
    return std::nullopt;
  int64_t columns = swizzleBytes * 8 / elementBits;
  int64_t vector = laneBytes * 8 / elementBits;
  if (columns % vector != 0)
    return std::nullopt;
  int64_t steps = std::max<int64_t>(1, rows * columns / (vector * kGroupLanes));
  return makeLayout(
      {{warpRows * laneRows * rows, warpColumns * laneColumns * columns},
       {laneRows * rows, laneColumns * columns},
       {rows, columns},
       {rows / steps, columns},
       {vector}},
      {at(-9), at(-8)}, {at(-7), at(-6), at(-3), at(-2)}, -1);
}

/// The digits of the warp index if `warpsM` warps are along one dimension of
/// the tiled tile and the other warps are replicated or along another
/// dimension.
static SmallVector<PartitionDim> warpGrid(int64_t warps, int64_t warpsM,
                                          std::optional<int64_t> dimM,
                                          std::optional<int64_t> dimN) {
  SmallVector<PartitionDim> parts;
  int64_t warpsN = warps / warpsM;
  if (warpsM > 1)
    parts.push_back(dimM ? at(*dimM) : all(warpsM));
  if (warpsN > 1)
    parts.push_back(dimN ? at(*dimN) : all(warpsN));
  return parts;
}

TiledLayout smalti::layout::mmaLhs(int64_t elementBits, int64_t warps,
                                   int64_t warpsM) {
  int64_t packed = 32 / elementBits;
  return makeLayout(
      {{16 * warpsM, 8 * packed}, {16, 4 * packed}, {8, 4 * packed}, {packed}},
      warpGrid(warps, warpsM, -7, std::nullopt), {at(-3), at(-2)}, -1);
}
TiledLayout smalti::layout::mmaRhs(int64_t elementBits, int64_t warps,
                                   int64_t warpsM) {
  int64_t packed = 32 / elementBits;
  return makeLayout(
      {{8 * packed, 8 * (warps / warpsM)}, {4 * packed, 8}, {packed, 1}},
      warpGrid(warps, warpsM, std::nullopt, -5), {at(-3), at(-4)}, -2);
}
TiledLayout smalti::layout::mmaAccumulator(int64_t warps, int64_t warpsM) {
  return makeLayout({{16 * warpsM, 8 * (warps / warpsM)}, {16, 8}, {8, 8}, {2}},
                    warpGrid(warps, warpsM, -7, -6), {at(-3), at(-2)}, -1);
}

std::optional<StridedLayout> smalti::layout::strided(ArrayRef<int64_t> shape,
                                                     int64_t elementBits,
                                                     int64_t threads) {
  if (elementBits <= 0 || elementBits % 8 != 0 || 64 % elementBits != 0 ||
      threads <= 0)
    return std::nullopt;
  StridedLayout layout{SmallVector<int64_t>(shape), 1};
  if (layout.validateForThreads(threads))
    return std::nullopt;
  int64_t share = layout.numElements() / threads;
  layout.vectorSize = std::min(64 / elementBits, share);
  while (share % layout.vectorSize != 0)
    layout.vectorSize /= 2;
  return layout;
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

static constexpr int64_t kTmemRows = 128;

static bool isPacking(int64_t packing) {
  return packing > 0 && packing <= 8 && llvm::isPowerOf2_64(packing);
}

std::optional<TiledLayout> smalti::layout::tmemDefault(int64_t packing) {
  if (!isPacking(packing))
    return std::nullopt;
  return tmemNative(packing);
}

std::optional<TiledLayout> smalti::layout::tmemHalfLane(int64_t columns,
                                                        int64_t packing) {
  if (!isPacking(packing) || columns <= 0 || columns % 16 != 0 ||
      packing > columns / 2)
    return std::nullopt;
  return makeLayout({{64, columns}, {16, columns / 2}, {packing}}, {at(-5)},
                    {at(-4), at(-3)}, -1);
}

std::optional<TiledLayout> smalti::layout::tmemM64Collective(int64_t columns,
                                                             int64_t packing) {
  if (!isPacking(packing) || columns <= 0 || columns % 16 != 0)
    return std::nullopt;
  return makeLayout({{64, columns}, {32, columns / 2}, {packing}},
                    {at(-4), at(-5)}, {at(-3)}, -1);
}

TiledLayout smalti::layout::tmemScales() {
  return makeLayout({{128, 4}, {32, 1}}, {all(4)}, {at(-2)}, -3);
}
TiledLayout smalti::layout::tmemBScalesM64Collective() {
  return makeLayout({{256, 4}, {128, 4}, {32, 4}}, {all(2), at(-6)}, {at(-2)},
                    -1);
}
TiledLayout smalti::layout::tmemSparseMetadata() {
  return makeLayout({{128, 16}, {32, 1}, {16, 1}, {8, 1}}, {at(-8)},
                    {at(-2), at(-4), at(-6)}, -7);
}

ValueOr<TiledLayout> smalti::layout::tmemFor(ArrayRef<int64_t> shape,
                                             bool collective, int64_t packing) {
  using Result = ValueOr<TiledLayout>;
  if (shape.size() != 2)
    return Result::none("shape " + listText(shape) +
                        " must have two dimensions, the rows and columns of "
                        "tensor memory");
  if (!isPacking(packing))
    return Result::none("the packing (elements per 32-bit column of tensor "
                        "memory) is " +
                        std::to_string(packing) + "; it must be 1, 2, 4 or 8");
  if (shape[0] != kTmemRows && shape[0] != kTmemRows / 2)
    return Result::none("shape " + listText(shape) + " has " +
                        std::to_string(shape[0]) +
                        " rows; tensor memory requires 128 or 64 rows");
  if (shape[1] % packing != 0)
    return Result::none(
        "shape " + listText(shape) + " has " + std::to_string(shape[1]) +
        " columns; the number must be a multiple of the "
        "packing, " +
        std::to_string(packing) + " elements per column of tensor memory");
  if (shape[0] == kTmemRows)
    return *tmemDefault(packing);
  std::optional<TiledLayout> layout = collective
                                          ? tmemM64Collective(shape[1], packing)
                                          : tmemHalfLane(shape[1], packing);
  if (!layout)
    return Result::none("shape " + listText(shape) + " has " +
                        std::to_string(shape[1]) +
                        " columns; with 64 rows, the number of columns must be "
                        "a positive multiple of 16");
  return *layout;
}

bool smalti::layout::isTmemTransfer(const TiledLayout &tmem,
                                    const TiledLayout &registers,
                                    ArrayRef<int64_t> shape,
                                    int64_t elementBits) {
  if (shape.size() != 2)
    return false;
  int64_t packing = tmem.vectorLength(), columns = shape[1];
  bool isDefault = tmem == tmemNative(packing);
  if (isDefault && registers == tcgen05())
    return true;
  if (registers == tmem && packing * elementBits == 32)
    return true;
  if (isDefault && registers == tmemNative() &&
      (elementBits == 32 || (elementBits == 16 && packing == 1)))
    return true;
  if (registers == wgmma())
    return tmem == tmemHalfLane(columns, packing);
  std::optional<TiledLayout> collective = m64Collective(columns);
  return collective && registers == *collective &&
         tmem == tmemM64Collective(columns, packing);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct NamedLayout {
  llvm::StringRef name;
  TiledLayout layout;
};
} // namespace

/// The first of several names of one layout is the name in messages.
static ArrayRef<NamedLayout> named() {
  static const std::array<NamedLayout, 15> layouts = {{
      {"WGMMA", wgmma()},
      {"WGMMA_ACC_32BIT", wgmmaAcc32Bit()},
      {"WGMMA_8BIT", wgmma8Bit()},
      {"WGMMA_UPCAST_2X", wgmmaUpcast2x()},
      {"WGMMA_UPCAST_4X", wgmmaUpcast4x()},
      {"WGMMA_TRANSPOSED", wgmmaTransposed()},
      {"WGMMA_ROW", wgmmaRow()},
      {"WGMMA_COL", wgmmaColumn()},
      {"TCGEN05", tcgen05()},
      {"TCGEN05_TRANSPOSED", tcgen05Transposed()},
      {"TCGEN05_ROW", tcgen05Row()},
      {"TCGEN05_COL", tcgen05Column()},
      {"TMEM_NATIVE", tmemNative()},
      {"TMA_INDICES", tmaIndices()},
      {"TMA_INDICES_4", tmaIndices4()},
  }};
  return layouts;
}

std::optional<std::string> smalti::layout::nameOf(const TiledLayout &layout) {
  for (const NamedLayout &candidate : named())
    if (candidate.layout == layout)
      return candidate.name.str();
  if (layout.validate())
    return std::nullopt;
  int64_t length = layout.vectorLength();
  if (layout == tmemNative(length))
    return "TMEM_NATIVE(" + std::to_string(length) + ")";
  for (int64_t bits : {4, 8, 16, 32}) {
    if (layout == mmaLhs(bits))
      return "MMA_LHS(" + std::to_string(bits) + ")";
    if (layout == mmaRhs(bits))
      return "MMA_RHS(" + std::to_string(bits) + ")";
  }
  ArrayRef<int64_t> base = layout.tiling.front();
  if (base.size() == 2 && m64Collective(base[1]) == layout)
    return "M64_COLLECTIVE(" + std::to_string(base[1]) + ")";
  return std::nullopt;
}

std::string smalti::layout::describe(const RegisterLayout &layout) {
  if (auto *tiled = std::get_if<TiledLayout>(&layout)) {
    if (std::optional<std::string> name = nameOf(*tiled))
      return *name;
    return "TiledLayout<" + tiled->str() + ">";
  }
  if (auto *strided = std::get_if<StridedLayout>(&layout))
    return "WG_STRIDED(" + std::to_string(strided->vectorSize) + ")";
  return "WG_SPLAT";
}

std::optional<TiledLayout> smalti::layout::lookupLayout(llvm::StringRef name) {
  for (const NamedLayout &candidate : named())
    if (candidate.name == name)
      return candidate.layout;
  return std::nullopt;
}

ArrayRef<llvm::StringRef> smalti::layout::layoutNames() {
  static const std::array<llvm::StringRef, 15> names = [] {
    std::array<llvm::StringRef, 15> result;
    for (auto [index, candidate] : llvm::enumerate(named()))
      result[index] = candidate.name;
    return result;
  }();
  return names;
}
