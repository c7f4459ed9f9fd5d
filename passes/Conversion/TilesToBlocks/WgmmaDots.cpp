//===- WgmmaDots.cpp - Plan of dots that use wgmma ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/WgmmaDots.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"
#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"
#include "smalti/targets/Target.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace smalti;

using Reason = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Properties of wgmma and TMA
//===----------------------------------------------------------------------===//

/// Warps of a warpgroup.
static constexpr int64_t kWarpsOfGroup = 4;
/// M of one wgmma.
static constexpr int64_t kGroupRows = 64;
/// Maximum N of one wgmma.
static constexpr int64_t kMaxColumns = 256;
/// Bytes of a row of A that one wgmma reads.
static constexpr int64_t kStepBytes = 32;
/// Number of rows after which the swizzle repeats.
static constexpr int64_t kSwizzleRows = 8;
/// Rows and columns of the blocks in which threads transpose 8-bit elements.
static constexpr int64_t kTransposedBlock = 16;
/// Bytes of an mbarrier.
static constexpr int64_t kMbarrierBytes = 8;
/// Maximum extent of a TMA box.
static constexpr int64_t kMaxBox = 256;
/// Alignment of addresses and strides of a TMA array, in bytes.
static constexpr int64_t kArrayAlignment = 16;
/// Maximum rank and stride of a TMA array.
static constexpr int64_t kMaxDimensions = 5;
static constexpr int64_t kMaxStride = (int64_t(1) << 40) - 1;
/// Maximum number of accumulator registers per thread.
static constexpr int64_t kMaxAccumulators = 128;

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

int64_t TensorWindow::getBytes() const {
  return window.tile.getNumElements() * window.tile.getElementTypeBitWidth() /
         8;
}

int64_t TensorWindow::getAlignment() const {
  return kSwizzleRows * swizzleBytes;
}

SmallVector<int64_t> TensorWindow::getTiling() const {
  return {getShape()[0],
          swizzleBytes * 8 / window.tile.getElementTypeBitWidth()};
}

TensorWindow TensorWindow::getTranspose() const {
  TensorWindow transpose = *this;
  transpose.isTransposed = !isTransposed;
  transpose.window.tile = window.tile.clone({getShape()[1], getShape()[0]});
  transpose.swizzleBytes = transposeSwizzleBytes;
  transpose.transposeSwizzleBytes = 0;
  return transpose;
}

layout::TiledLayout TensorWindow::getTransposeLayout(int64_t warps) const {
  // Blocks of 16x16 elements, which ldmatrix reads in pairs: tiled, a block
  // ends with thread, group, element, and the element of the pair.
  ArrayRef<int64_t> shape = getShape();
  int64_t columns = std::gcd(warps, shape[1] / kTransposedBlock),
          rows = std::gcd(warps / columns, shape[0] / kTransposedBlock),
          replicas = warps / (rows * columns);
  layout::TiledLayout layout;
  layout.tiling = {{rows * kTransposedBlock, columns * kTransposedBlock},
                   {kTransposedBlock, kTransposedBlock},
                   {4, 2}};
  using layout::PartitionDim;
  if (replicas > 1)
    layout.warpDims.push_back(PartitionDim::replicated(replicas));
  layout.warpDims.append({PartitionDim::of(-6), PartitionDim::of(-5)});
  layout.laneDims = {PartitionDim::of(-3), PartitionDim::of(-4)};
  layout.vectorDim = -2;
  return layout.canonical();
}

/// Chooses the swizzle of the tile in shared memory.
static Reason planSwizzle(TensorWindow &plan) {
  ArrayRef<int64_t> shape = plan.getShape();
  int64_t rowBytes = shape[1] * plan.window.tile.getElementTypeBitWidth() / 8;
  for (int64_t swizzle : {128, 64, 32})
    if (plan.swizzleBytes == 0 && rowBytes % swizzle == 0)
      plan.swizzleBytes = swizzle;
  if (plan.swizzleBytes == 0)
    return llvm::formatv("the rows of the tile have {0} B; a multiple of 32 B "
                         "is required",
                         rowBytes)
        .str();
  if (shape[0] % kSwizzleRows != 0)
    return llvm::formatv("the tile has {0} rows; a multiple of {1} is required",
                         shape[0], kSwizzleRows)
        .str();
  return std::nullopt;
}

Reason smalti::planTMAWindow(const Window &window, TensorWindow &plan) {
  plan.window = window;
  MemRefType type = window.memref.getType();
  if (window.tile.getRank() != 2)
    return "the tile has rank " + std::to_string(window.tile.getRank()) +
           "; rank 2 is required";
  if (window.padded.any())
    return std::string("the sizes of the tile are not powers of two and were "
                       "padded, which TMA does not support; use powers of two");
  if (type.getRank() > kMaxDimensions)
    return llvm::formatv("the array has rank {0}; TMA supports at most {1}",
                         type.getRank(), kMaxDimensions)
        .str();
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    return std::string("the tile is extracted or inserted with a stride other "
                       "than 1; use stride 1");
  if (unsigned log2 = log2ArgumentAlignment(cast<BlockArgument>(window.memref));
      (int64_t(1) << log2) < kArrayAlignment)
    return llvm::formatv("the array is only proven to be aligned to {0} B; "
                         "TMA requires {1} B; if it is aligned, raise "
                         "llvm.align of the argument",
                         int64_t(1) << log2, kArrayAlignment)
        .str();

  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!window.dropped.test(dim))
      kept.push_back(dim);
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  int64_t contiguous = kept[1];
  if (strides[contiguous] != 1)
    return llvm::formatv("the array has strides {0} and {1} along the "
                         "dimensions of the tile; one of them must be 1",
                         strides[kept[0]], strides[contiguous])
        .str();
  SmallVector<int64_t> declared =
      getDeclaredDims(cast<BlockArgument>(window.memref));
  int64_t elementBytes = window.tile.getElementTypeBitWidth() / 8;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    // The launch checks dynamic sizes.
    int64_t extent = type.getDimSize(dim);
    if (extent == 0 || extent > kMaxCoordinate)
      return llvm::formatv("dimension {1} of the array has {0} elements; TMA "
                           "supports 1 to {2}",
                           extent, declared[dim], kMaxCoordinate)
          .str();
    if (dim == contiguous)
      continue;
    if (ShapedType::isDynamic(strides[dim])) {
      if (Reason reason = findMissingStrideFact(
              cast<BlockArgument>(window.memref), dim, kArrayAlignment))
        return reason;
      continue;
    }
    if (strides[dim] < 0)
      return llvm::formatv("the array has stride {0} along dimension {1}; TMA "
                           "requires strides that are not negative",
                           strides[dim], declared[dim])
          .str();
    int64_t bytes = strides[dim] * elementBytes;
    if (bytes % kArrayAlignment != 0 || bytes > kMaxStride)
      return llvm::formatv("row stride {0} B must be a multiple of {1} B and "
                           "below 2^40 B",
                           bytes, kArrayAlignment)
          .str();
    if (strides[dim] < type.getDimSize(contiguous))
      return llvm::formatv(
                 "the rows of the array overlap: they have {0} elements and a "
                 "stride of {1}; use a stride of at least {0}",
                 type.getDimSize(contiguous), strides[dim])
          .str();
  }
  if (int64_t rows = plan.getShape()[0]; rows > kMaxBox)
    return llvm::formatv("the tile has {0} rows; TMA copies at most {1}", rows,
                         kMaxBox)
        .str();
  return planSwizzle(plan);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// Whether a tile is computed: neither loaded, nor a splat, nor the transposed
/// view of a tile in shared memory.
static bool isComputed(Value tile) {
  return !tile.getDefiningOp<triton_xla::ExtractOp>() && !isSplat(tile) &&
         !getOperandTranspose(tile);
}

/// Whether a tile does not change in the loop of a dot.
static bool isInvariant(triton_xla::DotOp dot, Value tile) {
  if (triton_xla::TransposeOp transpose = getOperandTranspose(tile))
    tile = transpose.getTile();
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  return loop && loop.isDefinedOutsideOfLoop(tile) && !isSplat(tile);
}

static Reason planOperand(triton_xla::DotOp dot, Value operand,
                          TensorWindow &plan) {
  bool isStored = isInvariant(dot, operand);
  if (triton_xla::TransposeOp transpose = getOperandTranspose(operand)) {
    if (!isStored && !operand.hasOneUse())
      return std::string("the transposed tile has uses other than this dot; "
                         "load and transpose the tile again for them");
    plan.isTransposed = true;
    operand = transpose.getTile();
  }
  if (isStored) {
    plan.stored = operand;
    plan.window.tile = cast<RankedTensorType>(operand.getType());
    Reason reason = planSwizzle(plan);
    if (reason && !plan.isTransposed)
      *reason += "; compute the transpose of the tile before the loop, and use "
                 "triton_xla.transpose of it as the operand";
    return reason;
  }
  auto extract = operand.getDefiningOp<triton_xla::ExtractOp>();
  if (!extract)
    return std::string("the operand is computed in registers; it must be the "
                       "direct result of triton_xla.extract");
  plan.load = extract;
  if (!extract.getTile().hasOneUse())
    return std::string("the loaded tile has uses other than this dot; load the "
                       "tile again for them");
  if (extract->getBlock() != dot->getBlock())
    return std::string("the load is not in the MLIR block of the dot; move the "
                       "load to the dot");
  // Writes of threads are not visible to TMA loads without a proxy fence.
  if (isWritten(extract.getSource()))
    return std::string("the kernel also writes the array, and TMA loads may "
                       "not see these writes; write to another array");
  TypedAttr fill = extract.getFillOrZero();
  // TMA fills with positive zeros only.
  auto number = dyn_cast<FloatAttr>(fill);
  auto integer = dyn_cast<IntegerAttr>(fill);
  if (!(number && number.getValue().isPosZero()) &&
      !(integer && integer.getValue().isZero()))
    return std::string("the fill value of triton_xla.extract is not 0; TMA "
                       "fills only with 0, so omit 'fill'");
  return planTMAWindow(Window::of(extract), plan);
}

static std::string describeRefusal(StringRef name, const TensorWindow &plan) {
  return llvm::formatv(plan.stored
                           ? "operand {0} cannot be stored to shared memory: "
                           : "TMA cannot load operand {0}: ",
                       name)
      .str();
}

Reason smalti::planWgmmaDot(triton_xla::DotOp dot, WgmmaDot &plan) {
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
               ? std::string("operands of type f32 are supported only as TF32; "
                             "set the attribute 'tf32' on the dot")
               : llvm::formatv(
                     "operands of type {0} are not supported; use f16, bf16, "
                     "f8E4M3FN, f8E5M2, i8, or f32 with the attribute 'tf32' "
                     "on "
                     "the dot",
                     element)
                     .str();
  int64_t m = lhs.getDimSize(0), k = lhs.getDimSize(1), n = rhs.getDimSize(1);
  int64_t columns = element.isInteger(8) ? 16 : 8;
  int64_t step = kStepBytes * 8 / lhs.getElementTypeBitWidth();
  if (m % kGroupRows != 0 || n % columns != 0 || n > kMaxColumns ||
      k % step != 0)
    return llvm::formatv(
               "M={0}, N={1}, K={2}: M must be a multiple of {3}, N a "
               "multiple of {4} up to {5}, and K a multiple of {6}",
               m, n, k, kGroupRows, columns, kMaxColumns, step)
        .str();

  if (dot.getLhs() == dot.getRhs())
    return std::string("operands A and B are the same tile; load the tile once "
                       "for each operand");
  // A 16-bit operand A in registers has the layout of the accumulator.
  bool isInRegisters =
      is16Bit && isComputed(dot.getLhs()) && !isInvariant(dot, dot.getLhs());
  if (!isInRegisters)
    if (Reason reason = planOperand(dot, dot.getLhs(), plan.lhs.emplace()))
      return describeRefusal("A", *plan.lhs) + *reason;
  if (Reason reason = planOperand(dot, dot.getRhs(), plan.rhs))
    return describeRefusal("B", plan.rhs) + *reason;
  // K is the last dimension of A and the first of B.
  auto planTranspose = [&](char name, TensorWindow &window,
                           StringRef help) -> Reason {
    ArrayRef<int64_t> shape = window.getShape();
    TensorWindow transpose = window.getTranspose();
    if (isByte && !window.stored && shape[0] % kTransposedBlock == 0 &&
        shape[1] % kTransposedBlock == 0 && !planSwizzle(transpose)) {
      window.transposeSwizzleBytes = transpose.swizzleBytes;
      return std::nullopt;
    }
    return llvm::formatv("operand {0} is not contiguous along K, which wgmma "
                         "requires for elements of type {1}; {2}",
                         name, element, help)
        .str();
  };
  if (!is16Bit && plan.lhs->isTransposed)
    if (Reason reason = planTranspose(
            'A', *plan.lhs,
            plan.lhs->stored
                ? "use a tile without triton_xla.transpose"
                : "store operand A in row-major order, that is, contiguous "
                  "along K"))
      return reason;
  if (!is16Bit && !plan.rhs.isTransposed)
    return planTranspose(
        'B', plan.rhs,
        plan.rhs.stored ? "use triton_xla.transpose of a tile with N rows and "
                          "K columns"
                        : "store operand B in column-major order, that is, "
                          "contiguous along K");
  return std::nullopt;
}

Reason smalti::planTMAStore(triton_xla::InsertOp insert, TensorWindow &plan) {
  // No wait covers the TMA stores before the end of the kernel, so no other
  // access to the array is allowed.
  if (!insert.getDestination().hasOneUse())
    return std::string("another op of the kernel uses the array; the array "
                       "must have no use other than this triton_xla.insert");
  if (!isa<triton_xla::EntryFuncOp>(insert->getParentOp()))
    return std::string("triton_xla.insert is inside a loop or a branch; move "
                       "it to the body of the kernel");
  return planTMAWindow(Window::of(insert), plan);
}

int64_t smalti::getSharedMemoryEnd(ArrayRef<WgmmaDot> dots) {
  int64_t end = 0;
  for (const WgmmaDot &dot : dots)
    if (dot.getBytes() != 0)
      end = appendBuffer(end, kMbarrierBytes);
  DenseSet<Value> stored;
  auto append = [&](const TensorWindow &window) {
    if (!window.stored || stored.insert(window.stored).second)
      end = appendBuffer(end, window.getBytes(), window.getAlignment());
    if (window.transposeSwizzleBytes != 0)
      end = appendBuffer(end, window.getBytes(),
                         window.getTranspose().getAlignment());
  };
  for (const WgmmaDot &dot : dots) {
    if (dot.lhs)
      append(*dot.lhs);
    append(dot.rhs);
  }
  return end;
}

int64_t smalti::countTMAStoreBuffers(const TensorWindow &window) {
  return std::min<int64_t>(window.getShape()[1] / window.getTiling()[1], 2);
}

int64_t smalti::appendTMAStore(int64_t end, const TensorWindow &window) {
  for (int64_t i = countTMAStoreBuffers(window); i > 0; --i)
    end = appendBuffer(end, window.getShape()[0] * window.swizzleBytes,
                       window.getAlignment());
  return end;
}

std::optional<int64_t> smalti::chooseWarpgroups(ArrayRef<WgmmaDot> dots,
                                                const targets::Target &target,
                                                int64_t numWarps,
                                                int64_t tileRegisters) {
  auto fits = [&](int64_t groups) {
    int64_t threads = groups * kWarpsOfGroup * target.waveSize;
    return threads <= target.maxThreadsPerBlock &&
           tileRegisters <= getMaxTileRegisters(target) * threads &&
           llvm::all_of(dots, [&](const WgmmaDot &plan) {
             auto type = cast<RankedTensorType>(
                 triton_xla::DotOp(plan.dot).getAccumulator().getType());
             return type.getDimSize(0) % (kGroupRows * groups) == 0 &&
                    type.getNumElements() <= kMaxAccumulators * threads;
           });
  };
  if (numWarps != 0) {
    if (numWarps % kWarpsOfGroup == 0 && fits(numWarps / kWarpsOfGroup))
      return numWarps / kWarpsOfGroup;
    return std::nullopt;
  }
  // Two warpgroups hide each other's waits and leave registers for a producer.
  for (int64_t groups : {2, 1, 3, 4})
    if (fits(groups))
      return groups;
  return std::nullopt;
}
