//===- WgmmaDots.cpp - Products of warp groups ----------------------------===//

#include "smalti/passes/Conversion/TilesToBlocks/WgmmaDots.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Conversion/TilesToBlocks/TilePlan.h"
#include "smalti/targets/Target.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace smalti;

using Reason = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Facts about the instructions
//===----------------------------------------------------------------------===//

/// Warps that multiply together.
static constexpr int64_t kWarpsOfGroup = 4;
/// Rows of the accumulator of one instruction.
static constexpr int64_t kGroupRows = 64;
/// Columns of the accumulator of one instruction, at most.
static constexpr int64_t kMostColumns = 256;
/// Bytes of a row of A that one instruction takes.
static constexpr int64_t kStepBytes = 32;
/// Rows that a swizzle repeats after.
static constexpr int64_t kSwizzleRows = 8;
/// Elements that a copy moves along one dimension, at most.
static constexpr int64_t kMostBox = 256;
/// What addresses and strides of a copy's array are multiples of, in bytes.
static constexpr int64_t kArrayAlignment = 16;
/// A copy's array has at most so many dimensions, and strides below this.
static constexpr int64_t kMostDimensions = 5;
static constexpr int64_t kMostStride = (int64_t(1) << 40) - 1;
/// Accumulator registers of a thread beyond which there is no room for
/// anything else.
static constexpr int64_t kMostAccumulators = 128;

layout::TiledLayout smalti::getWarpgroupAccumulator(int64_t groups) {
  layout::TiledLayout layout;
  layout.tiling = {{kGroupRows * groups, 8}, {16, 8}, {8, 8}, {2}};
  layout.warpDims = {layout::PartitionDim::of(-7)};
  layout.laneDims = {layout::PartitionDim::of(-3),
                     layout::PartitionDim::of(-2)};
  layout.vectorDim = -1;
  return layout;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

SmallVector<int64_t> TensorWindow::getShape() const {
  SmallVector<int64_t> shape = llvm::to_vector(window.tile.getShape());
  if (isTransposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

int64_t TensorWindow::getBytes() const {
  return window.tile.getNumElements() * window.tile.getElementTypeBitWidth() /
         8;
}

SmallVector<int64_t> TensorWindow::getTiling() const {
  return {getShape()[0],
          swizzleBytes * 8 / window.tile.getElementTypeBitWidth()};
}

Reason smalti::planTensorWindow(const Window &window, TensorWindow &plan) {
  plan.window = window;
  MemRefType type = window.memref.getType();
  if (window.tile.getRank() != 2)
    return "its tile has " + std::to_string(window.tile.getRank()) +
           " dimensions, and tiles of tensor copies have 2";
  if (type.getRank() > kMostDimensions)
    return llvm::formatv("its array has {0} dimensions, and tensor copies know "
                         "{1}",
                         type.getRank(), kMostDimensions)
        .str();
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    return std::string("the window has strides");
  if (unsigned log2 = log2ArgumentAlignment(cast<BlockArgument>(window.memref));
      (int64_t(1) << log2) < kArrayAlignment)
    return llvm::formatv("its array is only known to be aligned to {0} bytes, "
                         "and tensor copies need {1}",
                         int64_t(1) << log2, kArrayAlignment)
        .str();

  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!window.dropped.test(dim))
      kept.push_back(dim);
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  if (strides[kept[1]] != 1 && strides[kept[0]] != 1)
    return llvm::formatv("its array is contiguous in no dimension of the tile: "
                         "the strides are {0} and {1}",
                         strides[kept[0]], strides[kept[1]])
        .str();
  plan.isTransposed = strides[kept[1]] != 1;
  int64_t contiguous = kept[plan.isTransposed ? 0 : 1];
  int64_t elementBytes = window.tile.getElementTypeBitWidth() / 8;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t extent = type.getDimSize(dim);
    if (extent == 0 || extent > kMostCoordinate)
      return llvm::formatv("its array has {0} elements along dimension {1}, "
                           "and tensor copies take 1 to {2}",
                           extent, dim, kMostCoordinate)
          .str();
    if (dim == contiguous)
      continue;
    int64_t bytes = strides[dim] * elementBytes;
    if (bytes % kArrayAlignment != 0 || bytes > kMostStride)
      return llvm::formatv(
                 "the stride of {0} bytes of its array is no multiple "
                 "of {1} up to {2}",
                 bytes, kArrayAlignment, kMostStride)
          .str();
    if (strides[dim] < type.getDimSize(contiguous))
      return llvm::formatv("rows of its array overlap: they are {0} elements "
                           "long and {1} apart",
                           type.getDimSize(contiguous), strides[dim])
          .str();
  }

  SmallVector<int64_t> shape = plan.getShape();
  int64_t rowBytes = shape[1] * elementBytes;
  for (int64_t swizzle : {128, 64, 32})
    if (plan.swizzleBytes == 0 && rowBytes % swizzle == 0)
      plan.swizzleBytes = swizzle;
  if (plan.swizzleBytes == 0)
    return llvm::formatv("rows of its tile have {0} bytes, no multiple of 32",
                         rowBytes)
        .str();
  if (shape[0] % kSwizzleRows != 0 || shape[0] > kMostBox)
    return llvm::formatv("its tile has {0} rows, no multiple of {1} up to {2}",
                         shape[0], kSwizzleRows, kMostBox)
        .str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether the program writes the argument anywhere: a tensor copy does not see
/// what threads wrote.
static bool isWritten(Value memref) {
  return llvm::any_of(memref.getUsers(), [](Operation *user) {
    return isa<triton_xla::InsertOp>(user);
  });
}

/// Whether a tile comes out of arithmetic, lanes of several values.
static bool isComputed(Value tile) {
  return !tile.getDefiningOp<triton_xla::ExtractOp>() && !isSplat(tile);
}

static Reason planOperand(triton_xla::DotOp dot, Value operand,
                          TensorWindow &plan) {
  auto extract = operand.getDefiningOp<triton_xla::ExtractOp>();
  if (!extract)
    return std::string("it is computed and not read from memory");
  if (!extract.getTile().hasOneUse())
    return std::string("its tile has other uses");
  if (extract->getBlock() != dot->getBlock())
    return std::string("it is read in another block");
  if (isWritten(extract.getSource()))
    return std::string("the program writes its array");
  TypedAttr fill = extract.getFillOrZero();
  // A negative zero has the sign that a copy does not write.
  auto number = dyn_cast<FloatAttr>(fill);
  auto integer = dyn_cast<IntegerAttr>(fill);
  if (!(number && number.getValue().isPosZero()) &&
      !(integer && integer.getValue().isZero()))
    return std::string("lanes outside read another value than zero");
  return planTensorWindow(Window::of(extract), plan);
}

Reason smalti::planWarpgroupDot(triton_xla::DotOp dot, WgmmaDot &plan) {
  plan.dot = dot;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  Type element = lhs.getElementType();
  bool is16Bit = isa<Float16Type, BFloat16Type>(element);
  bool isTF32 = element.isF32() && dot.getTf32();
  bool isByte =
      isa<Float8E4M3FNType, Float8E5M2Type>(element) || element.isInteger(8);
  if (!is16Bit && !isTF32 && !isByte)
    return element.isF32()
               ? std::string("they multiply f32 as TF32 alone, which the "
                             "product does not allow")
               : llvm::formatv("they multiply no {0}", element).str();
  int64_t m = lhs.getDimSize(0), k = lhs.getDimSize(1), n = rhs.getDimSize(1);
  int64_t columns = element.isInteger(8) ? 16 : 8;
  int64_t step = kStepBytes * 8 / lhs.getElementTypeBitWidth();
  if (m % kGroupRows != 0 || n % columns != 0 || n > kMostColumns ||
      k % step != 0)
    return llvm::formatv("its {0}x{1}x{2} tile is no multiple of {3} rows, {4} "
                         "of up to {5} columns and {6} along K",
                         m, n, k, kGroupRows, columns, kMostColumns, step)
        .str();

  if (dot.getLhs() == dot.getRhs())
    return std::string("both operands are one tile");
  // The layout of a 16-bit operand in registers is that of the accumulator.
  bool isInRegisters = is16Bit && isComputed(dot.getLhs());
  if (!isInRegisters)
    if (Reason reason = planOperand(dot, dot.getLhs(), plan.lhs.emplace()))
      return "of the left operand: " + *reason;
  if (Reason reason = planOperand(dot, dot.getRhs(), plan.rhs))
    return "of the right operand: " + *reason;
  // K is the last dimension of the left and the first of the right operand.
  if (!is16Bit && plan.lhs->isTransposed)
    return llvm::formatv("of the left operand: {0} must be contiguous along K",
                         element)
        .str();
  if (!is16Bit && !plan.rhs.isTransposed)
    return llvm::formatv("of the right operand: {0} must be contiguous along K",
                         element)
        .str();
  return std::nullopt;
}

Reason smalti::planTensorStore(triton_xla::InsertOp insert,
                               TensorWindow &plan) {
  // Copies that no wait tells to be complete: nobody may look, and no other
  // write may come behind.
  if (!insert.getDestination().hasOneUse())
    return std::string("the program accesses its array elsewhere, too");
  if (!isa<triton_xla::EntryFuncOp>(insert->getParentOp()))
    return std::string("it stands in a loop or a branch");
  if (Reason reason = planTensorWindow(Window::of(insert), plan))
    return reason;
  if (plan.isTransposed)
    return std::string("its array is contiguous along the rows of the sum");
  return std::nullopt;
}

std::optional<int64_t> smalti::chooseWarpgroups(ArrayRef<WgmmaDot> dots,
                                                const targets::Target &target,
                                                int64_t numWarps) {
  auto fits = [&](int64_t groups) {
    int64_t threads = groups * kWarpsOfGroup * target.waveSize;
    return threads <= target.maxThreadsPerBlock &&
           llvm::all_of(dots, [&](const WgmmaDot &plan) {
             auto type = cast<RankedTensorType>(
                 triton_xla::DotOp(plan.dot).getAccumulator().getType());
             return type.getDimSize(0) % (kGroupRows * groups) == 0 &&
                    type.getNumElements() <= kMostAccumulators * threads;
           });
  };
  if (numWarps != 0) {
    if (numWarps % kWarpsOfGroup == 0 && fits(numWarps / kWarpsOfGroup))
      return numWarps / kWarpsOfGroup;
    return std::nullopt;
  }
  // Two groups hide each other's waits and leave room for a third that copies.
  for (int64_t groups : {2, 1, 3, 4})
    if (fits(groups))
      return groups;
  return std::nullopt;
}
