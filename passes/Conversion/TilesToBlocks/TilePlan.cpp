//===- TilePlan.cpp - Plan of the conversion to block level ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/TilePlan.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/OverlapChoice.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <vector>

using namespace mlir;
using namespace smalti;
using targets::Element;
using targets::MmaInstruction;
using targets::Target;

/// Maximum number of unrolled MMAs of a warp; more are a loop over K.
static constexpr int64_t kMaxUnrolledMmas = 512;
/// Target number of accumulator registers per thread for the number of warps.
static constexpr int64_t kAccumulatorRegisters = 64;
/// Maximum bytes of one access of a thread.
static constexpr int64_t kMaxAccessBytes = 16;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Window Window::of(triton_xla::ExtractOp op) {
  return {cast<TypedValue<MemRefType>>(op.getSource()),
          op.getMixedOffsets(),
          llvm::to_vector(op.getStaticSizes()),
          llvm::to_vector(op.getStaticStrides()),
          op.getDroppedDims(),
          op.getTileType()};
}

Window Window::of(triton_xla::InsertOp op) {
  return {cast<TypedValue<MemRefType>>(op.getDestination()),
          op.getMixedOffsets(),
          llvm::to_vector(op.getStaticSizes()),
          llvm::to_vector(op.getStaticStrides()),
          op.getDroppedDims(),
          op.getTileType()};
}

static std::optional<Window> windowOf(Operation *op) {
  if (auto extract = dyn_cast<triton_xla::ExtractOp>(op))
    return Window::of(extract);
  if (auto insert = dyn_cast<triton_xla::InsertOp>(op))
    return Window::of(insert);
  return std::nullopt;
}

/// The largest n such that runs of 2^n elements along the window's last
/// dimension are aligned to 2^n elements and are entirely in or out of bounds.
static unsigned log2Run(const Window &window) {
  auto rank = static_cast<int64_t>(window.sizes.size());
  int64_t last = rank - 1;
  while (last > 0 && window.dropped.test(last))
    --last;
  auto [strides, offset] = window.memref.getType().getStridesAndOffset();
  if (strides[last] != 1 || window.strides[last] != 1)
    return 0;
  unsigned run =
      std::min(log2Divisor(offset),
               log2Divisor(window.memref.getType().getDimSize(last)));
  run = std::min(run, log2Divisor(window.sizes[last]));
  unsigned alignment =
      log2ArgumentAlignment(cast<BlockArgument>(window.memref));
  unsigned log2Element = llvm::Log2_64(std::max<int64_t>(
      getElementBytes(window.memref.getType().getElementType()).value_or(1),
      1));
  run = std::min(run, alignment > log2Element ? alignment - log2Element : 0);
  for (int64_t dim = 0; dim < rank; ++dim) {
    run = std::min(run, log2Divisor(window.offsets[dim]) +
                            log2Divisor(strides[dim]));
    if (dim != last && window.sizes[dim] > 1)
      run = std::min(run, log2Divisor(window.strides[dim]) +
                              log2Divisor(strides[dim]));
  }
  return run;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

bool smalti::isSplat(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op && isa<arith::ConstantOp, tensor::SplatOp>(op) &&
         isa<RankedTensorType>(tile.getType());
}

Attribute TilePlan::layoutOf(Value tile) const {
  if (isSplat(tile)) {
    auto type = cast<RankedTensorType>(tile.getType());
    return mosaic_gpu::WGSplatFragLayoutAttr::get(tile.getContext(),
                                                  type.getShape());
  }
  return layouts.lookup(tile);
}

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool hasTiles(Operation *op) {
  return llvm::any_of(op->getOperands(), isTile) ||
         llvm::any_of(op->getResults(), isTile);
}

static int64_t bitWidth(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

/// Whether `name` is a valid assembler symbol without quotes.
static bool isAssemblerName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '$';
         });
}

/// Whether elements of this type have the same bits in memory and in a vector.
static bool isMemoryElement(Type element) {
  if (element.isInteger())
    return llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth());
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType, Float16Type, BFloat16Type, Float32Type,
             Float64Type>(element);
}

namespace {

/// Sets of tiles that must have the same layout.
class TileClasses {
public:
  unsigned idOf(Value value) {
    auto [it, isNew] = ids.try_emplace(value, parents.size());
    if (isNew) {
      parents.push_back(it->second);
      values.push_back(value);
    }
    return find(it->second);
  }
  void join(Value a, Value b) {
    unsigned first = idOf(a), second = idOf(b);
    // The older id is the root, so that the result is deterministic.
    parents[std::max(first, second)] = std::min(first, second);
  }
  ArrayRef<Value> getValues() const { return values; }

private:
  unsigned find(unsigned id) {
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }
  DenseMap<Value, unsigned> ids;
  SmallVector<unsigned> parents;
  SmallVector<Value> values;
};

class Planner {
public:
  Planner(triton_xla::EntryFuncOp func, const Target &target,
          const TileOptions &options)
      : target(target), requestedWarps(options.numWarps),
        copies(options.copies), matmul(options.matmul) {
    plan.func = func;
    if (options.blocks < static_cast<int64_t>(func.getNumTiles()))
      plan.persistentBlocks = options.blocks;
  }

  FailureOr<TilePlan> run() {
    if (failed(checkSignature()) || failed(checkBody()) ||
        failed(chooseWarps()))
      return failure();
    chooseAsyncCopies();
    if (failed(assignLayouts()))
      return failure();
    placeGlobalBarriers();
    chooseTensorStores();
    return std::move(plan);
  }

private:
  LogicalResult checkSignature();
  LogicalResult checkBody();
  LogicalResult checkOp(Operation *op);
  LogicalResult checkDot(triton_xla::DotOp dot);
  LogicalResult checkWindow(Operation *op, const Window &window);
  bool chooseWarpgroups();
  LogicalResult chooseWarps();
  std::optional<BlockMma> selectFor(triton_xla::DotOp dot, int64_t warps) const;
  InFlightDiagnostic emitNoInstruction(triton_xla::DotOp dot) const;
  LogicalResult assignLayouts();
  void joinTiles(TileClasses &classes, Operation *op);
  void chooseAsyncCopies();
  std::optional<std::string>
  getAsyncCopyRejectionReason(triton_xla::ExtractOp extract) const;
  void placeGlobalBarriers();
  void chooseTensorStores();

  TilePlan plan;
  const Target &target;
  int64_t requestedWarps;
  OperandCopies copies;
  MatmulKind matmul;
  SmallVector<triton_xla::DotOp> dots;
  int64_t largestTile = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

LogicalResult Planner::checkSignature() {
  triton_xla::EntryFuncOp func = plan.func;
  if (func.getTileIds().size() != 1)
    return func.emitError()
           << "a grid of " << func.getTileIds().size()
           << " dimensions is not supported on a GPU; smalti-expand-tile-ops "
              "reduces it to one";
  if (func.getNumTiles() > std::numeric_limits<int32_t>::max())
    return func.emitError()
           << "has " << func.getNumTiles() << " tiles; a grid has at most "
           << std::numeric_limits<int32_t>::max() << " blocks";
  if (!isAssemblerName(func.getSymName()))
    return func.emitError()
           << "the name of the kernel is not a valid assembler symbol; use "
              "letters, digits, '_' and '$', and do not start with a digit";
  for (BlockArgument argument : func.getKernelArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue; // A scalar.
    auto refuse = [&](const Twine &why) {
      return func.emitError() << "argument #" << argument.getArgNumber()
                              << " has type " << type << "; " << why;
    };
    if (!type.hasStaticShape())
      return refuse("a static shape is required, since a kernel receives "
                    "a memref as a bare pointer");
    SmallVector<int64_t> strides;
    int64_t offset;
    bool isPlain =
        succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0 &&
        llvm::all_of(strides, [](int64_t stride) { return stride >= 0; });
    if (!isPlain && type.getNumElements() == 0)
      return refuse("an empty memref is supported only if its strides can be "
                    "determined: only its outermost size may be 0");
    if (!isPlain)
      return refuse("static strides and the offset 0 are required, since a "
                    "kernel receives a memref as a bare pointer");
    if (type.getMemorySpace())
      return refuse("the default memory space is required");
    if (!isMemoryElement(type.getElementType()))
      return refuse(
          "supported elements are f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, "
          "f16, bf16, f32, f64 and integers of 8, 16, 32 or 64 bits");
    if (!getElementSpan(type))
      return refuse("the size exceeds the 64-bit address space");
  }
  return success();
}

LogicalResult Planner::checkWindow(Operation *op, const Window &window) {
  auto argument = dyn_cast<BlockArgument>(window.memref);
  if (!argument || argument.getOwner()->getParentOp() != plan.func)
    return op->emitOpError(
        "accesses a memref that is not an argument of the entry function");
  return success();
}

LogicalResult Planner::checkDot(triton_xla::DotOp dot) {
  auto refuse = [&](StringRef what) {
    return dot.emitOpError() << what << " is not supported on a GPU";
  };
  if (dot.getLhs().getType().getRank() != 2)
    return refuse("a batch of dots");
  if (!llvm::is_contained({triton_xla::DotAlgorithm::Default,
                           triton_xla::DotAlgorithm::TF32,
                           triton_xla::DotAlgorithm::IEEE},
                          dot.getAlgorithm()))
    return refuse("a dot with this algorithm");
  if (dot.getUnsignedLhs() || dot.getUnsignedRhs())
    return refuse("a dot of unsigned operands");
  if (dot.getLhs().getType().getElementType() !=
      dot.getRhs().getType().getElementType())
    return refuse("a dot of operands with different element types");
  dots.push_back(dot);
  return success();
}

LogicalResult Planner::checkOp(Operation *op) {
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      if (isa<TensorType, VectorType>(value.getType()))
        return op->emitOpError() << "has a value of type " << value.getType()
                                 << "; a ranked static tensor is required";
      continue;
    }
    if (type.getRank() == 0)
      return op->emitOpError() << "has a tile of rank 0; use a scalar";
    if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
      return op->emitOpError()
             << "has a tile of type " << type
             << "; static dimensions of at least 1 are required";
    if (!type.getElementType().isIntOrIndexOrFloat())
      return op->emitOpError() << "has a tile of " << type.getElementType()
                               << "; integers, index or floats are required";
    largestTile = std::max(largestTile, type.getNumElements());
  }

  if (std::optional<Window> window = windowOf(op))
    return checkWindow(op, *window);
  if (auto dot = dyn_cast<triton_xla::DotOp>(op))
    return checkDot(dot);
  if (isa<triton_xla::MaskOp, triton_xla::ReturnOp, scf::ForOp, scf::IfOp,
          scf::YieldOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<TensorType>(constant.getType()) &&
        !isa<SplatElementsAttr>(constant.getValue()))
      return op->emitOpError("is a tile constant with different elements; only "
                             "splat constants are supported");
    return success();
  }
  if (isa<tensor::SplatOp>(op))
    return success();
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(load.getMemRef());
    if (!argument || argument.getOwner()->getParentOp() != plan.func)
      return op->emitOpError(
          "accesses a memref that is not an argument of the entry function");
    return success();
  }
  if (hasTiles(op)) {
    if (op->getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(op))
      return success();
    return op->emitOpError("on tiles is not supported on a GPU; supported are "
                           "element-wise ops, triton_xla ops, "
                           "scf.for and scf.if");
  }
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
    return op->emitOpError("is not supported on a GPU; supported are scalar "
                           "ops without side effects, memref.load, "
                           "triton_xla ops, scf.for and scf.if");
  return success();
}

LogicalResult Planner::checkBody() {
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
  auto accumulator = cast<RankedTensorType>(dot.getAccumulator().getType());
  std::optional<Element> a = getMmaElement(lhs.getElementType()),
                         b = getMmaElement(rhs.getElementType()),
                         c = getMmaElement(accumulator.getElementType());
  if (!a || !b || !c)
    return std::nullopt;
  int64_t m = lhs.getDimSize(0), k = lhs.getDimSize(1), n = rhs.getDimSize(1);
  if (dot.getTf32() && *a == Element::F32)
    if (std::optional<BlockMma> mma =
            selectMma(target, Element::TF32, Element::TF32, *c, m, n, k, warps))
      return mma;
  return selectMma(target, *a, *b, *c, m, n, k, warps);
}

InFlightDiagnostic Planner::emitNoInstruction(triton_xla::DotOp dot) const {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  Type accumulator = getElementTypeOrSelf(dot.getAccumulator().getType());
  InFlightDiagnostic diagnostic =
      dot.emitOpError() << "of " << lhs.getDimSize(0) << "x"
                        << lhs.getDimSize(1) << " by " << rhs.getDimSize(0)
                        << "x" << rhs.getDimSize(1) << " "
                        << lhs.getElementType() << " does not match an MMA of "
                        << target.name;
  std::optional<Element> a = getMmaElement(lhs.getElementType()),
                         c = getMmaElement(accumulator);
  bool any = false;
  for (const MmaInstruction &mma : target.mmas) {
    bool matches = mma.a == a && mma.b == a && mma.accumulator == c;
    if (!matches)
      continue;
    diagnostic << (any ? ", or " : "; M, N and K must be multiples of ")
               << mma.m << ", " << mma.n << " and " << mma.k;
    any = true;
  }
  if (!any)
    diagnostic << "; the element types " << lhs.getElementType() << " and "
               << accumulator << " are not supported";
  return diagnostic;
}

/// Plans wgmma for all dots or for none, since MMAs have other accumulator
/// layouts.
bool Planner::chooseWarpgroups() {
  if (!target.hasWGMMA || !target.hasTMA || dots.empty() ||
      matmul == MatmulKind::Warps)
    return false;
  std::vector<WgmmaDot> plans;
  for (triton_xla::DotOp dot : dots) {
    std::optional<std::string> reason = planWgmmaDot(dot, plans.emplace_back());
    if (!reason)
      continue;
    plan.rejectedWgmmaDot = dot;
    plan.wgmmaRejectionReason = std::move(*reason);
    return false;
  }
  std::optional<int64_t> groups =
      smalti::chooseWarpgroups(plans, target, requestedWarps);
  if (!groups) {
    plan.rejectedWgmmaDot = dots.front();
    plan.wgmmaRejectionReason =
        requestedWarps != 0
            ? llvm::formatv("num-warps={0} does not split M into 64 rows per "
                            "warpgroup with at most 128 accumulator registers "
                            "per thread",
                            requestedWarps)
                  .str()
            : "no number of warpgroups splits M into 64 rows each with at most "
              "128 accumulator registers per thread";
    return false;
  }
  plan.block.numWarps = *groups * 4;
  for (WgmmaDot &dot : plans) {
    if (dot.lhs)
      plan.tensorCopies.insert(dot.dot.getLhs().getDefiningOp());
    plan.tensorCopies.insert(dot.dot.getRhs().getDefiningOp());
    plan.wgmmaDots.insert({dot.dot.getOperation(), std::move(dot)});
  }
  return true;
}

LogicalResult Planner::chooseWarps() {
  int64_t maxWarps = target.maxThreadsPerBlock / target.waveSize;
  plan.block.waveSize = target.waveSize;
  if (requestedWarps > maxWarps)
    return plan.func.emitError()
           << "num-warps=" << requestedWarps << " needs "
           << requestedWarps * target.waveSize << " threads per block; "
           << target.name << " has at most " << target.maxThreadsPerBlock;

  if (chooseWarpgroups())
    return success();

  // Prefer MMAs over more warps.
  auto isScalar = [](const BlockMma &mma) {
    return mma.instruction->kind == targets::MmaKind::Fma;
  };
  auto fitsAll = [&](int64_t warps) {
    return llvm::all_of(dots, [&](triton_xla::DotOp dot) {
      std::optional<BlockMma> mma = selectFor(dot, warps);
      std::optional<BlockMma> alone = selectFor(dot, 1);
      return mma && (!isScalar(*mma) || (alone && isScalar(*alone)));
    });
  };
  if (requestedWarps != 0) {
    plan.block.numWarps = requestedWarps;
  } else if (dots.empty()) {
    // More threads than elements would only repeat the work.
    plan.block.numWarps = target.defaultWarps;
    while (plan.block.numWarps > 1 && plan.block.threads() > largestTile)
      plan.block.numWarps /= 2;
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

  for (triton_xla::DotOp dot : dots) {
    std::optional<BlockMma> mma = selectFor(dot, plan.block.numWarps);
    if (!mma) {
      if (!selectFor(dot, 1))
        return emitNoInstruction(dot);
      return dot.emitOpError()
             << "cannot be distributed across " << plan.block.numWarps
             << " warps; each warp requires a whole MMA tile";
    }
    DotPlan dotPlan;
    dotPlan.mma = *mma;
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
// Layouts
//===----------------------------------------------------------------------===//

void Planner::joinTiles(TileClasses &classes, Operation *op) {
  // Every tile has a class, except splats.
  Value first;
  auto join = [&](Value value) {
    if (!isTile(value) || isSplat(value))
      return;
    if (first)
      classes.join(first, value);
    else
      first = value;
    classes.idOf(value);
  };

  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      first = {};
      for (Value value : {Value(result), Value(argument), init, yielded})
        join(value);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [index, result] : llvm::enumerate(branch.getResults())) {
      first = {};
      join(result);
      join(branch.thenYield().getOperand(index));
      join(branch.elseYield().getOperand(index));
    }
    return;
  }
  if (auto dot = dyn_cast<triton_xla::DotOp>(op)) {
    join(dot.getResult());
    join(dot.getAccumulator());
    return;
  }
  if (isa<scf::YieldOp, triton_xla::InsertOp>(op) ||
      (op->getNumResults() == 1 && isSplat(op->getResult(0))))
    return;
  for (Value value : op->getResults())
    join(value);
  for (Value value : op->getOperands())
    join(value);
}

LogicalResult Planner::assignLayouts() {
  MLIRContext *context = plan.func.getContext();
  TileClasses classes;
  plan.func.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { joinTiles(classes, op); });

  // The widest vector that every access to global memory in a class allows.
  DenseMap<unsigned, int64_t> maxBits;
  DenseMap<unsigned, unsigned> run;
  for (Value value : classes.getValues()) {
    int64_t &bits = maxBits[classes.idOf(value)];
    int64_t width = bitWidth(getElementTypeOrSelf(value.getType()));
    bits = std::max(bits, width);
  }
  plan.func.getBody().walk([&](Operation *op) {
    std::optional<Window> window = windowOf(op);
    Value tile = isa<triton_xla::ExtractOp>(op) ? op->getResult(0)
                 : op->getNumOperands()         ? op->getOperand(0)
                                                : Value();
    if (!window || isSplat(tile))
      return;
    unsigned id = classes.idOf(tile);
    unsigned here = log2Run(*window);
    auto [it, isNew] = run.try_emplace(id, here);
    if (!isNew)
      it->second = std::min(it->second, here);
  });

  // The layout of an accumulator is that of its MMA.
  DenseMap<unsigned, std::pair<Attribute, Operation *>> classLayout;
  for (auto &[op, dot] : plan.wgmmaDots) {
    auto layout = mosaic_gpu::TiledLayoutAttr::get(
        context, getWarpgroupAccumulator(plan.block.numWarps / 4));
    classLayout.try_emplace(classes.idOf(op->getResult(0)), layout, op);
    if (!dot.lhs)
      classLayout.try_emplace(classes.idOf(triton_xla::DotOp(dot.dot).getLhs()),
                              layout, op);
  }
  for (auto &[op, dotPlan] : plan.dots) {
    auto layout =
        mosaic_gpu::TiledLayoutAttr::get(context, dotPlan.mma.accumulator);
    auto [it, isNew] =
        classLayout.try_emplace(classes.idOf(op->getResult(0)), layout, op);
    if (isNew || it->second.first == layout)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError(
        "uses a different MMA from the other dot, so their accumulators, which "
        "are combined, have different layouts; both must use the same MMA");
    diagnostic.attachNote(it->second.second->getLoc())
        << "the other dot is here";
    return diagnostic;
  }

  auto registerLimit = llvm::divideCeil(target.registersPerThread, 2);
  for (Value value : classes.getValues()) {
    // A tile that is copied directly to shared memory is not in registers.
    if (plan.asyncCopies.contains(value.getDefiningOp()) ||
        plan.tensorCopies.contains(value.getDefiningOp()))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    auto check = [&](int64_t registers) {
      return checkRegistersOf(value.getLoc(), "tile", type, registers,
                              plan.block.threads(), registerLimit, target.name);
    };
    // Layouts do not support more than 2^63 elements.
    if (failed(check(countRegistersOf(type, plan.block.threads()))))
      return failure();
    unsigned id = classes.idOf(value);
    std::pair<Attribute, Operation *> &entry = classLayout[id];
    if (!entry.first) {
      int64_t maxVector = std::max<int64_t>(
          1, kMaxAccessBytes * 8 / std::max<int64_t>(8, maxBits[id]));
      auto it = run.find(id);
      if (it != run.end())
        maxVector = std::min(maxVector, int64_t(1) << std::min(it->second, 8u));
      entry.first =
          chooseTileLayout(context, type.getShape(), maxVector, plan.block);
    }
    plan.layouts[value] = entry.first;

    int64_t bits = elementsPerThread(entry.first, type.getShape(), plan.block) *
                   bitWidth(type.getElementType());
    if (failed(check(llvm::divideCeil(bits, 32))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

std::optional<std::string>
Planner::getAsyncCopyRejectionReason(triton_xla::ExtractOp extract) const {
  Window window = Window::of(extract);
  Block *block = extract->getBlock();
  Operation *lastUser = nullptr;
  for (Operation *user : extract->getUsers()) {
    auto dot = dyn_cast<triton_xla::DotOp>(user);
    if (!dot || dot.getAccumulator() == extract.getTile())
      return "the tile has uses other than as operand A or B of a dot";
    if (user->getBlock() != block)
      return "the dot that uses the tile is in a different MLIR block";
    if (!lastUser || lastUser->isBeforeInBlock(user))
      lastUser = user;
  }
  // The copy may read memory until the wait.
  for (Operation *op = extract->getNextNode(); op != lastUser;
       op = op->getNextNode()) {
    bool writes = false;
    op->walk([&](triton_xla::InsertOp) { writes = true; });
    if (writes)
      return "memory is written between the load and the dot";
  }
  if (window.dropped.any())
    return "the window has more dimensions than the tile";
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    return "the window is strided";
  if (!isa<FloatType, IntegerType>(window.tile.getElementType()) ||
      extract.getFillOrZero() != Builder(extract.getContext())
                                     .getZeroAttr(window.tile.getElementType()))
    return "the out-of-bounds fill value is not zero";

  // The lowering to threads chooses the width; at least one must be possible.
  int64_t elementBytes = window.tile.getElementTypeBitWidth() / 8;
  int64_t aligned = elementBytes << std::min(log2Run(window), 8u);
  if (llvm::none_of(target.asyncCopyBytes, [&](int64_t bytes) {
        return bytes <= aligned && bytes >= elementBytes;
      }))
    return llvm::formatv("rows are only proven to be aligned to {0} B; the "
                         "narrowest copy has {1} B",
                         aligned, target.asyncCopyBytes.front())
        .str();
  if (copies == OperandCopies::Auto && !paysAsyncCopy(target, aligned))
    return llvm::formatv("rows are only proven to be aligned to {0} B; copies "
                         "below {1} B are not faster than loads on {2}",
                         aligned, target.minAsyncCopyBytes, target.name)
        .str();
  return std::nullopt;
}

void Planner::chooseAsyncCopies() {
  bool isWanted = copies == OperandCopies::Async ||
                  (copies == OperandCopies::Auto && target.minAsyncCopyBytes);
  if (!isWanted || target.asyncCopy == targets::AsyncCopyKind::None)
    return;
  plan.func.getBody().walk([&](triton_xla::ExtractOp extract) {
    bool feedsDot = llvm::any_of(extract->getUses(), [](OpOperand &use) {
      auto dot = dyn_cast<triton_xla::DotOp>(use.getOwner());
      return dot && use.get() != dot.getAccumulator();
    });
    if (!feedsDot || plan.tensorCopies.contains(extract))
      return;
    if (std::optional<std::string> reason =
            getAsyncCopyRejectionReason(extract)) {
      plan.missedAsyncCopies.push_back({extract, std::move(*reason)});
      return;
    }
    plan.asyncCopies.insert(extract);
  });
}

//===----------------------------------------------------------------------===//
// Barriers between accesses to global memory
//===----------------------------------------------------------------------===//

namespace {

/// An access to an argument's memory since the last barrier.
struct Access {
  Operation *op = nullptr;
  Value memref;
  bool isWrite = false;
  /// Whether it is from an earlier iteration, with other offset values.
  bool isOld = false;

  bool operator==(const Access &other) const {
    return op == other.op && isOld == other.isOld;
  }
};

/// Accesses of different threads to global memory are ordered only by a
/// barrier. If windows and layouts of two accesses are the same, each element
/// is accessed by one thread, and no barrier is needed. Different arguments do
/// not overlap in written elements.
class GlobalBarriers {
public:
  explicit GlobalBarriers(TilePlan &plan) : plan(plan) {}
  using State = SmallVector<Access>;

  void visit(Block &block, State &state) {
    for (Operation &op : block)
      visit(&op, state);
  }

private:
  void visit(Operation *op, State &state) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop, state);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State other = state;
      visit(*branch.thenBlock(), state);
      if (branch.elseBlock())
        visit(*branch.elseBlock(), other);
      merge(state, other);
      return;
    }
    // A dot with MMAs has a block barrier; a wgmma dot only waits for copies.
    if (isa<triton_xla::DotOp>(op)) {
      if (plan.dots.contains(op))
        state.clear();
      return;
    }

    Access access;
    access.op = op;
    if (auto extract = dyn_cast<triton_xla::ExtractOp>(op)) {
      access.memref = extract.getSource();
    } else if (auto insert = dyn_cast<triton_xla::InsertOp>(op)) {
      access.memref = insert.getDestination();
      access.isWrite = true;
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      access.memref = load.getMemRef();
    } else {
      return;
    }
    if (llvm::any_of(state, [&](const Access &before) {
          return mustOrder(before, access);
        })) {
      plan.barrierBefore.insert(op);
      state.clear();
    }
    state.push_back(access);
  }

  void visitLoop(scf::ForOp loop, State &state) {
    State entry = state;
    size_t barriers;
    do {
      barriers = plan.barrierBefore.size();
      State body = entry;
      visit(*loop.getBody(), body);
      for (Access &access : body)
        if (loop->isAncestor(access.op))
          access.isOld = true;
      State next = state;
      merge(next, body);
      bool isStable =
          next.size() == entry.size() && barriers == plan.barrierBefore.size();
      entry = std::move(next);
      if (isStable)
        break;
    } while (true);
    state = std::move(entry);
  }

  static void merge(State &into, const State &from) {
    for (const Access &access : from)
      if (!llvm::is_contained(into, access))
        into.push_back(access);
  }

  bool mustOrder(const Access &before, const Access &after) const {
    if (before.memref != after.memref || (!before.isWrite && !after.isWrite))
      return false;
    std::optional<Window> first = windowOf(before.op),
                          second = windowOf(after.op);
    if (before.isOld || !first || !second ||
        first->offsets != second->offsets || first->sizes != second->sizes ||
        first->strides != second->strides ||
        first->tile.getShape() != second->tile.getShape())
      return true;
    Attribute layout = layoutAt(before.op);
    return !layout || layout != layoutAt(after.op) || isReplicated(layout);
  }

  Attribute layoutAt(Operation *op) const {
    if (auto insert = dyn_cast<triton_xla::InsertOp>(op))
      return plan.layouts.lookup(insert.getTile());
    return plan.layouts.lookup(op->getResult(0));
  }

  TilePlan &plan;
};

} // namespace

void Planner::placeGlobalBarriers() {
  GlobalBarriers::State state;
  GlobalBarriers(plan).visit(plan.func.getBody().front(), state);
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
    if (plan.layouts.lookup(insert.getTile()) != accumulator)
      return;
    TensorWindow window;
    std::optional<std::string> reason = planTMAStore(insert, window);
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
