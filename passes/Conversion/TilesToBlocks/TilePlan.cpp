//===- TilePlan.cpp - Plan of the conversion to block level ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/KernelArguments.h"
#include "smalti/passes/Conversion/TilesToBlocks/PadTiles.h"
#include "smalti/passes/Conversion/TilesToBlocks/TilePlanning.h"
#include "smalti/passes/Conversion/TilesToTiles/ExpandTileOps.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Resources/OverlapChoice.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Layouts/Plans/Relayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <vector>

using namespace mlir;
using namespace smalti;
using targets::MmaInstruction;
using targets::Target;

/// Maximum number of unrolled MMAs of a warp; more are a loop over K.
static constexpr int64_t kMaxUnrolledMmas = 512;
/// Elements of a tile per thread, above which a kernel without dots gets more
/// warps.
static constexpr int64_t kMaxElementsPerThread = 32;

/// With more ops that move elements between threads, a kernel is not treated as
/// a reduction.
static constexpr int64_t kMaxMovesPerReduction = 16;
/// The same as kMaxElementsPerThread for kernels with more such moves, such as
/// those with a sort. More elements take longer to compile and spill registers;
/// fewer leave each thread too few registers.
static constexpr int64_t kMaxMovedElementsPerThread = 8;
/// Target number of accumulator registers per thread for the number of warps.
static constexpr int64_t kAccumulatorRegisters = 64;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

template <typename Op> static Window makeWindow(Op op, Value memref) {
  ArrayRef<int64_t> padded = op.getStaticSizes(), sizes = padded;
  if (auto stated =
          op->template getAttrOfType<DenseI64ArrayAttr>(kWindowSizesAttr))
    sizes = stated;
  Window window{cast<TypedValue<MemRefType>>(memref),
                op.getMixedOffsets(),
                llvm::to_vector(sizes),
                llvm::to_vector(op.getStaticStrides()),
                op.getDroppedDims(),
                op.getTileType(),
                llvm::SmallBitVector(sizes.size())};
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    window.padded[dim] = sizes[dim] != padded[dim];
  return window;
}

Window Window::of(triton_xla::ExtractOp op) {
  return makeWindow(op, op.getSource());
}

Window Window::of(triton_xla::InsertOp op) {
  return makeWindow(op, op.getDestination());
}

std::optional<Window> smalti::windowOf(Operation *op) {
  if (auto extract = dyn_cast<triton_xla::ExtractOp>(op))
    return Window::of(extract);
  if (auto insert = dyn_cast<triton_xla::InsertOp>(op))
    return Window::of(insert);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

bool smalti::isTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() != 0;
}

/// The divisor that an argument attribute states for a dimension.
static unsigned getStatedDivisor(BlockArgument memref, StringRef name,
                                 int64_t dim) {
  dim = getDeclaredDims(memref)[dim];
  auto func = cast<triton_xla::EntryFuncOp>(memref.getOwner()->getParentOp());
  auto stated =
      func.getArgAttrOfType<DenseI64ArrayAttr>(memref.getArgNumber(), name);
  return stated && dim < stated.size() ? log2Divisor(stated[dim]) : 0;
}

unsigned smalti::log2SizeDivisor(BlockArgument memref, int64_t dim) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size)
             ? getStatedDivisor(memref, triton_xla::kSizeDivisors, dim)
             : log2Divisor(size);
}

unsigned smalti::log2StrideDivisor(BlockArgument memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t stride = type.getStridesAndOffset().first[dim];
  if (!ShapedType::isDynamic(stride))
    return log2Divisor(stride);
  if (!type.getLayout().isIdentity())
    return getStatedDivisor(memref, triton_xla::kStrideDivisors, dim);
  unsigned divisor = 0;
  for (int64_t inner = dim + 1; inner < type.getRank(); ++inner)
    divisor += log2SizeDivisor(memref, inner);
  return divisor;
}

bool smalti::isStatedSmall(BlockArgument memref) {
  auto func = cast<triton_xla::EntryFuncOp>(memref.getOwner()->getParentOp());
  auto bytes = func.getArgAttrOfType<IntegerAttr>(memref.getArgNumber(),
                                                  triton_xla::kMaxBytes);
  return bytes && bytes.getInt() <= std::numeric_limits<int32_t>::max() &&
         !hasNegativeStride(cast<MemRefType>(memref.getType()));
}

/// The message for a size or a stride of an argument that is not proven to be a
/// multiple of `elements`; states the divisor of `statedDim`.
static std::string describeMissingFact(BlockArgument memref, StringRef subject,
                                       int64_t dim, bool statesSize,
                                       int64_t statedDim, int64_t elements) {
  SmallVector<int64_t> declared = getDeclaredDims(memref),
                       divisors(declared.size());
  for (auto [i, dim] : llvm::enumerate(declared))
    divisors[dim] = int64_t(1)
                    << std::min(statesSize ? log2SizeDivisor(memref, i)
                                           : log2StrideDivisor(memref, i),
                                30u);
  divisors[declared[statedDim]] = elements;
  StringRef attribute =
      statesSize ? triton_xla::kSizeDivisors : triton_xla::kStrideDivisors;
  return llvm::formatv(
             "the {0} of dimension {1} of argument #{2} is not proven "
             "to be a multiple of {3}; if it is, add {4} = "
             "array<i64: {5}> to the argument",
             subject, declared[dim], memref.getArgNumber(), elements, attribute,
             llvm::make_range(divisors.begin(), divisors.end()))
      .str();
}

std::optional<std::string> smalti::findMissingStrideFact(BlockArgument memref,
                                                         int64_t dim,
                                                         int64_t bytes) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t wanted = bytes * 8 / type.getElementTypeBitWidth();
  if (!ShapedType::isDynamic(type.getStridesAndOffset().first[dim]) ||
      int64_t(1) << std::min(log2StrideDivisor(memref, dim), 30u) >= wanted)
    return std::nullopt;
  // The strides of a row-major array are products of its sizes.
  bool isRowMajor = type.getLayout().isIdentity();
  int64_t stated = dim;
  if (isRowMajor)
    for (stated = type.getRank() - 1; !type.isDynamicDim(stated);)
      --stated;
  return describeMissingFact(memref, "stride", dim, isRowMajor, stated, wanted);
}

std::optional<std::string>
smalti::findMissingSizeFact(BlockArgument memref, int64_t dim, int64_t bytes) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t wanted = bytes * 8 / type.getElementTypeBitWidth();
  if (!type.isDynamicDim(dim) ||
      int64_t(1) << std::min(log2SizeDivisor(memref, dim), 30u) >= wanted)
    return std::nullopt;
  return describeMissingFact(memref, "size", dim, /*statesSize=*/true, dim,
                             wanted);
}

triton_xla::TransposeOp smalti::getOperandTranspose(Value tile) {
  auto transpose = tile.getDefiningOp<triton_xla::TransposeOp>();
  if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>{1, 0} ||
      isSplat(transpose.getTile()))
    return {};
  bool feedsDots = llvm::all_of(transpose->getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<triton_xla::DotOp>(use.getOwner());
    return dot && use.get() != dot.getAccumulator();
  });
  return feedsDots ? transpose : triton_xla::TransposeOp();
}

bool smalti::isWritten(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return !effects ||
           effects.getEffectOnValue<MemoryEffects::Write>(memref).has_value();
  });
}

bool smalti::changesShape(Operation *op) {
  return isa<triton_xla::ReduceOp, triton_xla::BroadcastOp,
             triton_xla::TransposeOp, triton_xla::ReshapeOp,
             triton_xla::ConcatOp, triton_xla::SliceOp,
             triton_xla::GatherTileOp, triton_xla::HistogramOp>(op);
}

bool smalti::isSplat(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op || !isTile(tile))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto broadcast = dyn_cast<triton_xla::BroadcastOp>(op))
    return !isTile(broadcast.getTile());
  return isa<tensor::SplatOp>(op);
}

Attribute TilePlan::layoutOf(Value tile) const {
  if (isSplat(tile)) {
    auto type = cast<RankedTensorType>(tile.getType());
    return mosaic_gpu::WGSplatFragLayoutAttr::get(tile.getContext(),
                                                  type.getShape());
  }
  return layouts.lookup(tile);
}

Attribute TilePlan::operandLayoutOf(Value operand) const {
  triton_xla::TransposeOp transpose = getOperandTranspose(operand);
  if (!transpose)
    return layoutOf(operand);
  return getTransposedLayout(
      layoutOf(transpose.getTile()),
      cast<RankedTensorType>(transpose.getTile().getType()).getShape(),
      transpose.getPermutation());
}

namespace {

class Planner {
public:
  Planner(triton_xla::EntryFuncOp func, const Target &target,
          const TileOptions &options)
      : target(target), requestedWarps(options.numWarps),
        copies(options.copies), matmul(options.matmul) {
    plan.func = func;
    int64_t tiles = func.getNumTiles(), blocks = options.blocks;
    // A launch checks the number of a dynamic grid.
    if (blocks == 0 && !func.getDynamicGrid())
      blocks = target.maxBlocksPerGrid;
    if (blocks < tiles)
      plan.persistentBlocks = blocks;
  }

  FailureOr<TilePlan> run() {
    if (failed(checkBody()) || failed(chooseWarps()))
      return failure();
    chooseAsyncCopies();
    if (failed(assignLayouts(plan, target)))
      return failure();
    chooseRegisterOperands();
    chooseTransposedCopies();
    placeGlobalBarriers(plan);
    chooseTensorStores();
    return std::move(plan);
  }

private:
  LogicalResult checkBody();
  LogicalResult checkOp(Operation *op);
  bool chooseWarpgroups();
  int64_t countTileRegisters(ArrayRef<WgmmaDot> plans);
  int64_t countTransposedUses();
  LogicalResult chooseWarps();
  std::optional<BlockMma> selectFor(triton_xla::DotOp dot, int64_t warps) const;
  void chooseAsyncCopies();
  std::optional<std::string>
  getAsyncCopyRejectionReason(triton_xla::ExtractOp extract) const;
  bool staysInWarps(triton_xla::DotOp dot, Value operand,
                    const layout::TiledLayout &fragment) const;
  void chooseRegisterOperands();
  int64_t getColumnVector(triton_xla::ExtractOp extract) const;
  void chooseTransposedCopies();
  void chooseTensorStores();

  TilePlan plan;
  const Target &target;
  int64_t requestedWarps;
  OperandCopies copies;
  MatmulKind matmul;
  SmallVector<triton_xla::DotOp> dots;
  /// Whether warps are distributed along the rows of accumulators only.
  bool reducesRows = false;
  int64_t numReductions = 0;
  /// The number of ops that move elements between threads.
  int64_t numMoves = 0;
  int64_t largestTile = 1;
  /// The end of the shared memory of the operands of wgmma.
  int64_t sharedMemoryEnd = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

LogicalResult Planner::checkOp(Operation *op) {
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      largestTile = std::max(largestTile, type.getNumElements());
  numReductions += isa<triton_xla::ReduceOp, triton_xla::ScanOp>(op);
  numMoves += isa<triton_xla::ConcatOp, triton_xla::GatherTileOp,
                  triton_xla::ReshapeOp, triton_xla::SliceOp>(op);
  bool isDerived = isa<triton_xla::SqueezeDimsOp, triton_xla::SplitOp,
                       triton_xla::NumTilesOp, triton_xla::SortOp,
                       triton_xla::RandomBitsOp, triton_xla::DotScaledOp,
                       triton_xla::SparseDotOp, memref::AtomicRMWOp>(op) ||
                   isDerivedOnGPU(op);
  if (auto dot = dyn_cast<triton_xla::DotOp>(op)) {
    isDerived = dot.getLhs().getType().getRank() != 2 ||
                !llvm::is_contained({triton_xla::DotAlgorithm::Default,
                                     triton_xla::DotAlgorithm::TF32,
                                     triton_xla::DotAlgorithm::IEEE},
                                    dot.getAlgorithm());
    dots.push_back(dot);
  }
  if (isDerived)
    return op->emitOpError("must be expanded to simpler ops before this "
                           "conversion; run smalti-expand-tile-ops first");
  return success();
}

LogicalResult Planner::checkBody() {
  if (size_t rank = plan.func.getTileIds().size(); rank != 1)
    return plan.func.emitError()
           << "the grid has " << rank
           << " dimensions, but this conversion supports only one; first run "
              "smalti-expand-tile-ops, which reduces the grid to one dimension";
  WalkResult result =
      plan.func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        return failed(checkOp(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Warps and matrix instructions
//===----------------------------------------------------------------------===//

std::optional<BlockMma> Planner::selectFor(triton_xla::DotOp dot,
                                           int64_t warps) const {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  std::optional<MmaElements> elements =
      MmaElements::get(dot.getLhs(), dot.getRhs(), dot.getAccumulator(),
                       dot.getUnsignedLhs() || dot.getUnsignedRhs());
  if (!elements)
    return std::nullopt;
  int64_t m = lhs.getDimSize(0), k = lhs.getDimSize(1), n = rhs.getDimSize(1);
  auto select = [&](const MmaElements &elements) {
    std::optional<BlockMma> best = selectMma(target, elements, m, n, k, warps);
    if (!reducesRows || !best)
      return best;
    // The more rows an MMA has, the fewer rows a lane has.
    std::optional<BlockMma> rows;
    findMma(target, elements, m, n, k, warps, [&](const BlockMma &mma) {
      if (mma.warpsN == 1 && !mma.isTransposed &&
          mma.instruction->macsPerCycle == best->instruction->macsPerCycle &&
          (!rows || mma.instruction->m > rows->instruction->m))
        rows = mma;
      return false;
    });
    return rows ? rows : best;
  };
  if (dot.getTf32())
    if (std::optional<MmaElements> tf32 = elements->getTF32())
      if (std::optional<BlockMma> mma = select(*tf32))
        return mma;
  return select(*elements);
}

/// Whether a row of the result of a dot is reduced, through element-wise ops.
/// With all warps along the rows, the reduction stays in a warp.
static bool isReducedAlongRows(triton_xla::DotOp dot) {
  SmallVector<Value> worklist = {dot.getResult()};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (auto reduce = dyn_cast<triton_xla::ReduceOp>(user)) {
        if (llvm::is_contained(reduce.getDims(), 1))
          return true;
      } else if (isa<triton_xla::MaskOp>(user) ||
                 OpTrait::hasElementwiseMappableTraits(user)) {
        llvm::append_range(worklist, user->getResults());
      }
    }
  }
  return false;
}

/// The registers, in all threads, of the largest tile that is not only in
/// shared memory.
int64_t Planner::countTileRegisters(ArrayRef<WgmmaDot> plans) {
  DenseSet<Operation *> copied;
  for (const WgmmaDot &dot : plans) {
    if (dot.copiesLhs())
      copied.insert(dot.lhs->load);
    if (dot.copiesRhs())
      copied.insert(dot.rhs.load);
  }
  int64_t most = 0;
  plan.func.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (isTile(value) && !isSplat(value) && !copied.contains(op) &&
          !getOperandTranspose(value))
        most = std::max(
            most, countRegistersOf(cast<RankedTensorType>(value.getType()),
                                   /*threads=*/1));
  });
  return most;
}

/// Whether a tile is loaded, or is the transpose of a loaded tile.
static bool isLoaded(Value tile, bool isTransposed) {
  triton_xla::TransposeOp transpose = getOperandTranspose(tile);
  if (static_cast<bool>(transpose) != isTransposed)
    return false;
  if (transpose)
    tile = transpose.getTile();
  return tile.getDefiningOp<triton_xla::ExtractOp>() != nullptr;
}

/// Plans wgmma for all dots or for none, since MMAs have other accumulator
/// layouts.
bool Planner::chooseWarpgroups() {
  if (dots.empty() || matmul == MatmulKind::Warps)
    return false;
  if (!target.hasWGMMA || !target.hasTMA) {
    if (matmul == MatmulKind::Warpgroups) {
      plan.rejectedWgmmaDot = dots.front();
      plan.wgmmaRejectionReason =
          llvm::formatv("matmul=wgmma is requested, but {0} does not have "
                        "wgmma; mma is used",
                        target.name)
              .str();
    }
    return false;
  }
  std::vector<WgmmaDot> plans;
  for (triton_xla::DotOp dot : dots) {
    std::optional<std::string> reason = planWgmmaDot(dot, plans.emplace_back());
    if (!reason)
      continue;
    plan.rejectedWgmmaDot = dot;
    plan.wgmmaRejectionReason = std::move(*reason);
    return false;
  }
  std::optional<int64_t> groups = smalti::chooseWarpgroups(
      plans, target, requestedWarps, countTileRegisters(plans));
  if (!groups) {
    plan.rejectedWgmmaDot = dots.front();
    bool isTileTooLarge =
        smalti::chooseWarpgroups(plans, target, requestedWarps,
                                 /*tileRegisters=*/0)
            .has_value();
    plan.wgmmaRejectionReason =
        isTileTooLarge
            ? llvm::formatv("with the warpgroups that split M, a tile needs "
                            "more than {0} registers per thread; use smaller "
                            "tiles",
                            getMaxTileRegisters(target))
                  .str()
        : requestedWarps % 4 != 0
            ? llvm::formatv("num-warps={0} is not a multiple of 4, the warps "
                            "of a warpgroup",
                            requestedWarps)
                  .str()
        : requestedWarps != 0
            ? llvm::formatv("num-warps={0} does not split M into 64 rows per "
                            "warpgroup with at most 128 accumulator registers "
                            "per thread; use num-warps=auto",
                            requestedWarps)
                  .str()
            : "no number of warpgroups splits M into 64 rows per warpgroup "
              "with at most 128 accumulator registers per thread; use a "
              "smaller tile, and a multiple of 64 for M";
    return false;
  }
  sharedMemoryEnd = getSharedMemoryEnd(plans);
  if (sharedMemoryEnd > target.sharedMemoryPerBlock) {
    plan.rejectedWgmmaDot = dots.front();
    plan.wgmmaRejectionReason =
        llvm::formatv("the operands of the dots need {0} B of shared memory; "
                      "{1} has {2} B; use smaller tiles",
                      sharedMemoryEnd, target.name, target.sharedMemoryPerBlock)
            .str();
    return false;
  }
  plan.block.numWarps = *groups * 4;
  for (WgmmaDot &dot : plans) {
    if (dot.copiesLhs())
      plan.tensorCopies.insert(dot.lhs->load);
    if (dot.copiesRhs())
      plan.tensorCopies.insert(dot.rhs.load);
    plan.wgmmaDots.insert({dot.dot.getOperation(), std::move(dot)});
  }
  return true;
}

/// A transposed accumulator has the rows of a tile along the lanes, and parts
/// of a row in registers, which is the layout of operand A of an MMA.
/// Otherwise, columns are along the lanes, as in operand B. Returns how many
/// more computed operands need the first layout than the second one.
int64_t Planner::countTransposedUses() {
  int64_t votes = 0;
  auto vote = [&](Value operand, int64_t direct) {
    triton_xla::TransposeOp transpose = getOperandTranspose(operand);
    Value tile = transpose ? transpose.getTile() : operand;
    if (!isa_and_nonnull<triton_xla::ExtractOp>(tile.getDefiningOp()))
      votes += transpose ? -direct : direct;
  };
  for (triton_xla::DotOp dot : dots) {
    vote(dot.getLhs(), 1);
    vote(dot.getRhs(), -1);
  }
  return votes;
}

LogicalResult Planner::chooseWarps() {
  int64_t maxWarps = target.maxThreadsPerBlock / target.waveSize;
  plan.block.waveSize = target.waveSize;
  if (requestedWarps > maxWarps)
    return plan.func.emitError()
           << "num-warps=" << requestedWarps << " needs "
           << requestedWarps * target.waveSize << " threads per block; "
           << target.name << " has at most " << target.maxThreadsPerBlock
           << ": use num-warps=" << maxWarps << " or less";

  if (chooseWarpgroups())
    return success();

  // Prefer MMAs over more warps.
  auto isScalar = [](const BlockMma &mma) {
    return mma.instruction->kind == targets::MmaKind::Fma;
  };
  reducesRows = llvm::any_of(dots, isReducedAlongRows);
  auto fitsAll = [&](int64_t warps) {
    return llvm::all_of(dots, [&](triton_xla::DotOp dot) {
      std::optional<BlockMma> mma = selectFor(dot, warps);
      std::optional<BlockMma> alone = selectFor(dot, 1);
      if (!mma || (isScalar(*mma) && !(alone && isScalar(*alone))))
        return false;
      return !reducesRows || isScalar(*mma) || mma->warpsN == 1;
    });
  };
  if (requestedWarps != 0) {
    plan.block.numWarps = requestedWarps;
  } else if (dots.empty()) {
    // More threads than elements would only repeat the work. Large tiles need
    // more threads, so that several tiles fit into the registers. A reduction
    // has the least work with as few warps as possible, but the many moves of a
    // sort have more, and their code grows with the elements per thread.
    bool isReduction =
        numReductions > 0 && numMoves <= kMaxMovesPerReduction * numReductions;
    plan.block.numWarps = isReduction ? 1 : target.defaultWarps;
    while (plan.block.numWarps > 1 && plan.block.threads() > largestTile)
      plan.block.numWarps /= 2;
    int64_t perThread = !isReduction && numMoves > kMaxMovesPerReduction
                            ? kMaxMovedElementsPerThread
                            : kMaxElementsPerThread;
    while (plan.block.numWarps * 2 <= maxWarps &&
           plan.block.threads() * perThread < largestTile)
      plan.block.numWarps *= 2;
  } else {
    int64_t largest = 0;
    for (triton_xla::DotOp dot : dots)
      largest = std::max(largest,
                         cast<RankedTensorType>(dot.getAccumulator().getType())
                             .getNumElements());
    int64_t wanted = llvm::PowerOf2Ceil(
        llvm::divideCeil(largest, kAccumulatorRegisters * target.waveSize));
    wanted = std::min(std::max(wanted, target.defaultWarps), maxWarps);
    // The largest number of warps, up to `wanted`, that supports every dot.
    plan.block.numWarps = 0;
    for (int64_t warps = wanted; warps >= 1 && plan.block.numWarps == 0;
         warps /= 2)
      if (fitsAll(warps))
        plan.block.numWarps = warps;
    if (plan.block.numWarps == 0)
      plan.block.numWarps = 1;
  }

  int64_t votes = countTransposedUses();
  for (triton_xla::DotOp dot : dots) {
    std::optional<BlockMma> mma = selectFor(dot, plan.block.numWarps);
    assert(mma && "legalizeDots must pad the tiles for these warps");
    DotPlan dotPlan;
    dotPlan.mma = *mma;
    // Without vectors, the accesses to rows of the accumulator do not become
    // wider.
    std::optional<BlockMma> transposed =
        arrangeMma(*mma->instruction, mma->m, mma->n, mma->k, mma->warpsM,
                   mma->warpsN, /*isTransposed=*/true);
    if (transposed &&
        (votes > 0 ||
         (votes == 0 && transposed->accumulator.vectorLength() > 1)))
      dotPlan.mma = *transposed;
    // ldmatrix reads an operand that was loaded with contiguous rows of A, or
    // columns of B, in pairs.
    targets::MmaPairing pairing;
    pairing.rows = isLoaded(dot.getLhs(), /*isTransposed=*/true);
    pairing.columns = isLoaded(dot.getRhs(), /*isTransposed=*/false);
    std::optional<BlockMma> paired = pairMma(target, *mma, pairing);
    if (!paired)
      paired = pairMma(target, *mma, {pairing.rows, /*columns=*/false});
    if (paired)
      dotPlan.mma = *paired;
    if (mma->instruction->kind == targets::MmaKind::Fma)
      for (const MmaInstruction &other : llvm::reverse(target.mmas))
        if (other.kind != targets::MmaKind::Fma &&
            other.a == mma->instruction->a && other.b == mma->instruction->b &&
            other.accumulator == mma->instruction->accumulator)
          dotPlan.missed = &other;
    // Scalar multiply-adds have K = 1; several steps allow wider loads.
    dotPlan.kStep = mma->instruction->k;
    while (dotPlan.kStep < 4 && mma->k % (dotPlan.kStep * 2) == 0)
      dotPlan.kStep *= 2;
    dotPlan.loopOverK =
        mma->tilesM() * mma->tilesN() * mma->tilesK() > kMaxUnrolledMmas &&
        mma->k > dotPlan.kStep;
    dotPlan.inLoop = plan.persistentBlocks != 0 ||
                     dot->getParentOfType<LoopLikeOpInterface>() != nullptr;
    plan.dots.insert({dot, dotPlan});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// The uses of a tile, and those of its transposes that only dots use.
static SmallVector<OpOperand *> getOperandUses(triton_xla::ExtractOp extract) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : extract->getUses()) {
    auto transpose = dyn_cast<triton_xla::TransposeOp>(use.getOwner());
    if (!transpose || !getOperandTranspose(transpose.getResult())) {
      uses.push_back(&use);
      continue;
    }
    for (OpOperand &indirect : transpose->getUses())
      uses.push_back(&indirect);
  }
  return uses;
}

std::optional<std::string>
Planner::getAsyncCopyRejectionReason(triton_xla::ExtractOp extract) const {
  Window window = Window::of(extract);
  Block *block = extract->getBlock();
  Operation *lastUser = nullptr;
  for (OpOperand *use : getOperandUses(extract)) {
    Operation *user = use->getOwner();
    auto dot = dyn_cast<triton_xla::DotOp>(user);
    if (!dot || dot.getAccumulator() == use->get())
      return "the loaded tile has a use other than as operand A or B of a dot; "
             "load the tile again for the other use";
    if (user->getBlock() != block)
      return "the dot that uses the tile is not in the MLIR block of the load; "
             "move the load to the dot";
    if (!lastUser || lastUser->isBeforeInBlock(user))
      lastUser = user;
  }
  // The copy may read memory until the wait.
  for (Operation *op = extract->getNextNode(); op != lastUser;
       op = op->getNextNode()) {
    bool writes = false;
    op->walk([&](triton_xla::InsertOp) { writes = true; });
    if (writes)
      return "a triton_xla.insert between the load and the dot may write "
             "memory that the copy still reads; move the insert after the dot";
  }
  if (window.dropped.any())
    return "triton_xla.extract drops dimensions of size 1 of the array, which "
           "asynchronous copies do not support; use an array without these "
           "dimensions";
  if (window.padded.any())
    return "the sizes of the tile are not powers of two and were padded, which "
           "asynchronous copies do not support; use powers of two";
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    return "triton_xla.extract has a stride other than 1; use stride 1";
  if (!isa<FloatType, IntegerType>(window.tile.getElementType()) ||
      extract.getFillOrZero() != Builder(extract.getContext())
                                     .getZeroAttr(window.tile.getElementType()))
    return "the fill value of triton_xla.extract is not 0; asynchronous copies "
           "fill only with 0, so omit 'fill'";

  // The lowering to threads chooses the width; at least one must be possible.
  int64_t elementBytes = window.tile.getElementTypeBitWidth() / 8;
  int64_t aligned = elementBytes << std::min(log2Run(window), 8u);
  std::optional<std::string> missing = findMissingFact(window);
  std::string fact = missing ? "; " + *missing : "";
  if (llvm::none_of(target.asyncCopyBytes, [&](int64_t bytes) {
        return bytes <= aligned && bytes >= elementBytes;
      }))
    return llvm::formatv(
               "the rows of the tile are only proven to be aligned to {0} B in "
               "global memory; the narrowest asynchronous copy has {1} B{2}",
               aligned, target.asyncCopyBytes.front(), fact)
        .str();
  if (copies == OperandCopies::Auto && !paysAsyncCopy(target, aligned))
    return llvm::formatv("the rows of the tile are only proven to be aligned "
                         "to {0} B in global memory; asynchronous copies below "
                         "{1} B are not faster than loads on {2}{3}",
                         aligned, target.minAsyncCopyBytes, target.name, fact)
        .str();
  return std::nullopt;
}

void Planner::chooseAsyncCopies() {
  bool isWanted = copies == OperandCopies::Async ||
                  (copies == OperandCopies::Auto && target.minAsyncCopyBytes);
  bool usesWgmma = !plan.wgmmaDots.empty();
  if (!isWanted || (usesWgmma && copies == OperandCopies::Auto))
    return;
  plan.func.getBody().walk([&](triton_xla::ExtractOp extract) {
    bool feedsDot = llvm::any_of(getOperandUses(extract), [](OpOperand *use) {
      auto dot = dyn_cast<triton_xla::DotOp>(use->getOwner());
      return dot && use->get() != dot.getAccumulator();
    });
    if (!feedsDot)
      return;
    std::optional<std::string> reason;
    if (target.asyncCopy == targets::AsyncCopyKind::None) {
      if (copies != OperandCopies::Async)
        return;
      reason =
          "copies=async is requested, but " + target.name.str() +
          " does not have asynchronous copies; loads to registers are used";
    } else if (usesWgmma) {
      reason = "copies=async is requested, but the kernel uses wgmma, whose "
               "operands are copied by TMA; to use asynchronous copies, set "
               "matmul=mma";
    } else {
      reason = getAsyncCopyRejectionReason(extract);
    }
    if (reason) {
      plan.missedAsyncCopies.push_back({extract, std::move(*reason)});
      return;
    }
    plan.asyncCopies.insert(extract);
  });
}

//===----------------------------------------------------------------------===//
// Operands in registers
//===----------------------------------------------------------------------===//

/// Whether a computed operand of a dot can change its layout to that of the MMA
/// at less cost than through shared memory.
bool Planner::staysInWarps(triton_xla::DotOp dot, Value operand,
                           const layout::TiledLayout &fragment) const {
  // Other operands are copied, or stored once before the loop.
  Value tile = operand;
  if (triton_xla::TransposeOp transpose = getOperandTranspose(operand))
    tile = transpose.getTile();
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  if (isSplat(tile) || (loop && loop.isDefinedOutsideOfLoop(tile)) ||
      isa_and_nonnull<triton_xla::ExtractOp, triton_xla::ConcatOp>(
          tile.getDefiningOp()))
    return false;
  auto layout = dyn_cast_or_null<mosaic_gpu::TiledLayoutAttr>(
      plan.operandLayoutOf(operand));
  if (!layout)
    return false;
  auto type = cast<RankedTensorType>(operand.getType());
  relayouts::Means means =
      relayouts::planRelayout(layout.getLayout(), fragment, type.getShape(),
                              type.getElementTypeBitWidth(), target,
                              plan.block.numWarps)
          .means;
  return means != relayouts::Means::SharedMemory &&
         means != relayouts::Means::Impossible;
}

void Planner::chooseRegisterOperands() {
  for (auto &[op, dotPlan] : plan.dots) {
    // A loop over K needs its operands in memory.
    if (dotPlan.loopOverK)
      continue;
    auto dot = cast<triton_xla::DotOp>(op);
    dotPlan.aInRegisters = staysInWarps(dot, dot.getLhs(), dotPlan.mma.a);
    dotPlan.bInRegisters = staysInWarps(dot, dot.getRhs(), dotPlan.mma.b);
  }
}

//===----------------------------------------------------------------------===//
// Operands with contiguous columns
//===----------------------------------------------------------------------===//

/// The elements of a column that the MMAs read together, if all uses of a tile
/// are operands of which threads hold parts of columns; otherwise 1.
int64_t Planner::getColumnVector(triton_xla::ExtractOp extract) const {
  int64_t vector = std::numeric_limits<int64_t>::max();
  for (OpOperand *use : getOperandUses(extract)) {
    auto it = plan.dots.find(use->getOwner());
    if (it == plan.dots.end())
      return 1;
    auto dot = cast<triton_xla::DotOp>(use->getOwner());
    bool isTransposed = use->get() != extract.getTile(),
         isRhs = use->getOperandNumber() == 1;
    if (use->get() == dot.getAccumulator() || isTransposed == isRhs)
      return 1;
    const BlockMma &mma = it->second.mma;
    vector = std::min(vector, (isRhs ? mma.b : mma.a).vectorLength());
  }
  return vector;
}

/// Chooses the tiles that are transposed in registers before the store to
/// shared memory, on targets whose MMAs have K in the vectors of both operands
/// and that cannot transpose with the load of an operand.
void Planner::chooseTransposedCopies() {
  if (target.hasLdMatrix)
    return;
  plan.func.getBody().walk([&](triton_xla::ExtractOp extract) {
    RankedTensorType type = extract.getTileType();
    if (!isTile(extract.getTile()) || type.getRank() != 2 ||
        plan.asyncCopies.contains(extract) ||
        plan.tensorCopies.contains(extract) || extract->use_empty())
      return;
    int64_t bits = type.getElementType().isIntOrFloat()
                       ? type.getElementTypeBitWidth()
                       : 64;
    constexpr int64_t wordBits = 32, widestBits = kMaxAccessBytes * 8;
    int64_t wanted = getColumnVector(extract);
    if (bits < 8 || bits >= wordBits || wanted * bits < wordBits)
      return;
    // Wide accesses to global memory first. A thread that reads one element at
    // a time still stores and reads parts of columns in shared memory.
    int64_t perThread = type.getNumElements() / plan.block.threads();
    int64_t row =
        std::min({widestBits / bits,
                  int64_t(1) << std::min(log2Run(Window::of(extract)), 8u),
                  int64_t(llvm::bit_floor(uint64_t(
                      std::max<int64_t>(perThread * bits / wordBits, 1))))});
    int64_t column = std::min({wanted, widestBits / bits,
                               int64_t(llvm::bit_floor(uint64_t(
                                   std::max<int64_t>(perThread / row, 1))))});
    if (column * bits < wordBits)
      return;
    std::optional<BlockTranspose> layouts = chooseBlockTranspose(
        extract.getContext(), type.getShape(), row, column, plan.block);
    if (!layouts)
      return;
    plan.transposedCopies.insert({extract, *layouts});
    plan.layouts[extract.getTile()] = layouts->alongRows;
  });
}

//===----------------------------------------------------------------------===//
// TMA stores
//===----------------------------------------------------------------------===//

/// Chooses TMA stores for wgmma accumulators if TMA can write the window.
void Planner::chooseTensorStores() {
  if (plan.wgmmaDots.empty())
    return;
  Attribute accumulator = mosaic_gpu::TiledLayoutAttr::get(
      plan.func.getContext(), getWarpgroupAccumulator(plan.block.numWarps / 4));
  plan.func.getBody().walk([&](triton_xla::InsertOp insert) {
    auto transpose = insert.getTile().getDefiningOp<triton_xla::TransposeOp>();
    if (transpose && plan.layouts.lookup(transpose.getTile()) == accumulator) {
      plan.missedTensorStores.emplace_back(
          insert, "the tile is the transpose of an accumulator; store it to a "
                  "row-major array without triton_xla.transpose");
      return;
    }
    if (plan.layouts.lookup(insert.getTile()) != accumulator)
      return;
    TensorWindow window;
    std::optional<std::string> reason = planTMAStore(insert, window);
    if (!reason) {
      int64_t end = appendTMAStore(sharedMemoryEnd, window);
      if (end <= target.sharedMemoryPerBlock)
        sharedMemoryEnd = end;
      else
        reason = llvm::formatv("with its buffers, the kernel needs {0} B of "
                               "shared memory; {1} has {2} B; use smaller "
                               "tiles",
                               end, target.name, target.sharedMemoryPerBlock)
                     .str();
    }
    if (reason)
      plan.missedTensorStores.emplace_back(insert, std::move(*reason));
    else
      plan.tensorStores.insert({insert, std::move(window)});
  });
}

FailureOr<TilePlan> smalti::planTiles(triton_xla::EntryFuncOp func,
                                      const Target &target,
                                      const TileOptions &options) {
  return Planner(func, target, options).run();
}
