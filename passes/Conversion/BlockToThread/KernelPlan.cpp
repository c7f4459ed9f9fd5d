//===- KernelPlan.cpp - What becomes of a block-level kernel --------------===//

#include "passes/Conversion/BlockToThread/KernelPlan.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/AsyncCounts.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "passes/Support/Divisibility.h"
#include "passes/Support/MemorySize.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxAccessBytes = 16;

static bool isWorkgroupMemory(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

/// Bytes of an element in memory; 0 where elements share bytes.
static int64_t elementBytes(Type type) {
  if (isa<mosaic_gpu::BarrierType>(type))
    return 8;
  if (type.isIndex())
    return 8;
  if (!type.isIntOrFloat())
    return 0;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits % 8 == 0 && llvm::isPowerOf2_32(bits) ? bits / 8 : 0;
}

unsigned block_to_thread::log2Alignment(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = elementBytes(type.getElementType());
  unsigned element = bytes > 0 ? log2Divisor(bytes) : 0;
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return log2ArgumentAlignment(argument);
  return llvm::TypeSwitch<Operation *, unsigned>(memref.getDefiningOp())
      .Case([&](memref::AllocOp op) {
        int64_t aligned = static_cast<int64_t>(op.getAlignment().value_or(1));
        if (isWorkgroupMemory(type))
          aligned = std::max(aligned, kSharedMemoryAlignment);
        return std::max(element, log2Divisor(aligned));
      })
      .Case([&](mosaic_gpu::SliceSMEMOp op) {
        return std::min(log2Divisor(kSharedMemoryAlignment),
                        log2Divisor(static_cast<int64_t>(op.getOffset())));
      })
      .Case([&](memref::ViewOp op) {
        return std::min(log2Alignment(op.getSource()),
                        log2Divisor(op.getByteShift()));
      })
      .Case([&](memref::SubViewOp op) {
        unsigned alignment = log2Alignment(op.getSource());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (failed(cast<MemRefType>(op.getSource().getType())
                       .getStridesAndOffset(strides, offset)))
          return element;
        for (auto [index, stride] :
             llvm::zip_equal(op.getMixedOffsets(), strides)) {
          unsigned step =
              ShapedType::isDynamic(stride) ? 0 : log2Divisor(stride);
          alignment = std::min(alignment, log2Divisor(index) + step + element);
        }
        return alignment;
      })
      .Case([&](memref::ReinterpretCastOp op) {
        // The offset counts from where the whole allocation begins.
        auto source = dyn_cast<MemRefType>(op.getSource().getType());
        if (!source || !source.getLayout().isIdentity())
          return element;
        return std::min(log2Alignment(op.getSource()),
                        log2Divisor(op.getMixedOffsets().front()) + element);
      })
      .Case<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
            memref::MemorySpaceCastOp>(
          [&](auto op) { return log2Alignment(op->getOperand(0)); })
      .Default([&](Operation *) { return element; });
}

std::optional<Window> block_to_thread::getWindow(Operation *op,
                                                 std::string &why) {
  Window window;
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    auto type = dyn_cast<MemRefType>(transfer.getBase().getType());
    if (!type) {
      why = "it does not access a memref";
      return std::nullopt;
    }
    if (transfer.getMask()) {
      why = "masked transfers are not supported; select on the vector instead";
      return std::nullopt;
    }
    window.memref = transfer.getBase();
    window.indices = transfer.getIndices();
    window.vectorDims.assign(type.getRank(), -1);
    // A dimension that the vector does not have is still checked: the index
    // itself may lie outside.
    window.isChecked.assign(type.getRank(), true);
    AffineMap map = transfer.getPermutationMap();
    for (unsigned vectorDim = 0; vectorDim < map.getNumResults(); ++vectorDim) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(vectorDim));
      if (!dim) {
        why = "broadcasting transfers are not supported";
        return std::nullopt;
      }
      window.vectorDims[dim.getPosition()] = vectorDim;
      window.isChecked[dim.getPosition()] = !transfer.isDimInBounds(vectorDim);
    }
  } else if (auto load = dyn_cast<mosaic_gpu::VectorLoadOp>(op)) {
    window.memref = load.getSource();
  } else {
    window.memref = cast<mosaic_gpu::VectorStoreOp>(op).getDestination();
  }
  auto type = cast<MemRefType>(window.memref.getType());
  if (!type.isStrided()) {
    why = "the memref's layout is not strided";
    return std::nullopt;
  }
  if (elementBytes(type.getElementType()) == 0) {
    why = "elements smaller than a byte are not supported";
    return std::nullopt;
  }
  if (window.vectorDims.empty()) {
    window.vectorDims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    window.isChecked.assign(type.getRank(), false);
  }
  return window;
}

int64_t block_to_thread::getAccessWidth(const Window &window,
                                        const Distribution &distribution,
                                        ArrayRef<Coordinate> coordinates,
                                        unsigned log2MemRefAlignment) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (rank == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  if (window.vectorDims.back() != distribution.getVectorDim() ||
      distribution.getVectorStride() != 1 || strides.back() != 1)
    return 1;

  unsigned log2Element = log2Divisor(elementBytes(type.getElementType()));
  // The address in elements is a multiple of 2^log2Address.
  unsigned log2Address =
      log2MemRefAlignment > log2Element ? log2MemRefAlignment - log2Element : 0;
  unsigned log2Minor = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    unsigned log2Index =
        window.indices.empty() ? 62 : log2Divisor(window.indices[dim]);
    if (int64_t vectorDim = window.vectorDims[dim]; vectorDim >= 0) {
      const Coordinate &coordinate = coordinates[vectorDim];
      log2Index = std::min(
          {log2Index, coordinate.log2, log2Divisor(coordinate.offset)});
    }
    if (dim == rank - 1)
      log2Minor = log2Index;
    unsigned log2Stride =
        ShapedType::isDynamic(strides[dim]) ? 0 : log2Divisor(strides[dim]);
    log2Address = std::min(log2Address, log2Index + log2Stride);
  }
  int64_t width = std::min<int64_t>(int64_t(1) << std::min(log2Address, 6u),
                                    distribution.getVectorLength());
  width = std::min(width, kMaxAccessBytes >> log2Element);
  width = llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(width, 1)));
  while (distribution.getVectorLength() % width != 0)
    width /= 2;
  if (window.isChecked.back()) {
    int64_t extent = type.getDimSize(rank - 1);
    unsigned log2Extent =
        ShapedType::isDynamic(extent) ? 0 : log2Divisor(extent);
    width =
        std::min(width, int64_t(1) << std::min({log2Extent, log2Minor, 6u}));
  }
  return width;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Whether the op is a buffer in shared memory, which means the same to a block
/// and to each of its threads. Barrier objects belong to block-level ops.
static bool isSharedBuffer(Operation *op) {
  auto slice = dyn_cast<mosaic_gpu::SliceSMEMOp>(op);
  return slice && !isa<mosaic_gpu::BarrierType>(
                      cast<MemRefType>(slice.getType()).getElementType());
}

Level block_to_thread::getLevel(gpu::GPUFuncOp func) {
  Level level = Level::Lowered;
  func.walk([&](Operation *op) {
    if (isSharedBuffer(op)) {
      level = Level::Thread;
      return WalkResult::advance();
    }
    bool isBlockOp =
        isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()) ||
        op->hasAttr(mosaic_gpu::kInLayouts) ||
        op->hasAttr(mosaic_gpu::kOutLayouts);
    if (!isBlockOp)
      return WalkResult::advance();
    level = Level::Block;
    return WalkResult::interrupt();
  });
  return level;
}

namespace {
class Planner {
public:
  Planner(gpu::GPUFuncOp func, const VendorLowering &vendor) : vendor(vendor) {
    plan.func = func;
  }

  std::optional<KernelPlan> run(Level level);

private:
  LogicalResult planGrid();
  LogicalResult planBlock(Block &block);
  LogicalResult planOp(Operation *op);
  LogicalResult planElementwise(Operation *op);
  LogicalResult planControlFlow(Operation *op);
  LogicalResult planTerminator(Operation *op);
  LogicalResult planMma(mosaic_gpu::MMAOp op);
  LogicalResult planMemoryAccess(Operation *op);
  LogicalResult planAsyncCopy(mosaic_gpu::AsyncCopyOp op);
  LogicalResult planSlice(mosaic_gpu::SliceSMEMOp op);
  void planAsyncWaits();
  void planBarriers();

  /// Records the distribution of a value from a layout; an error at `op` if it
  /// does not fit.
  LogicalResult setLayout(Operation *op, Value value, Attribute layout);
  /// The declared layout of the first result must be there.
  LogicalResult setResultLayout(Operation *op);
  /// Vector operands must have the layouts that the op declares.
  LogicalResult checkOperands(Operation *op);
  const Distribution *find(Value value) const {
    auto it = plan.distributions.find(value);
    return it == plan.distributions.end() ? nullptr : &it->second;
  }

  const VendorLowering &vendor;
  KernelPlan plan;
};
} // namespace

static Attribute layoutAt(Operation *op, StringRef name, unsigned index) {
  auto layouts = op->getAttrOfType<ArrayAttr>(name);
  return layouts && index < layouts.size() ? layouts[index] : Attribute();
}

/// The layout that the program declares for a value, looking through control
/// flow that does not say: loops are rebuilt by passes that drop attributes.
static Attribute findDeclaredLayout(Value value, unsigned depth = 0) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || depth > 8)
    return {};
  Operation *op = result.getOwner();
  unsigned index = 0;
  for (OpResult other : op->getResults().take_front(result.getResultNumber()))
    if (isa<VectorType>(other.getType()))
      ++index;
  Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, index);
  if (layout && !isa<mosaic_gpu::WGSplatFragLayoutAttr>(layout))
    return layout;
  if (isa<scf::ForOp, scf::IfOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        if (Attribute yielded =
                findDeclaredLayout(region.front().getTerminator()->getOperand(
                                       result.getResultNumber()),
                                   depth + 1))
          return yielded;
  } else if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()))
        if (Attribute inherited = findDeclaredLayout(operand, depth + 1))
          return inherited;
  } else if (auto mma = dyn_cast<mosaic_gpu::MMAOp>(op)) {
    return findDeclaredLayout(mma.getAccumulator(), depth + 1);
  }
  return layout;
}

LogicalResult Planner::setLayout(Operation *op, Value value, Attribute layout) {
  auto type = cast<VectorType>(value.getType());
  std::string why;
  std::optional<Distribution> distribution =
      Distribution::get(type, layout, plan.grid, why);
  if (!distribution)
    return op->emitOpError()
           << "has a vector of type " << type << " that cannot have layout "
           << layout << ": " << why;
  plan.distributions.try_emplace(value, std::move(*distribution));
  return success();
}

LogicalResult Planner::setResultLayout(Operation *op) {
  Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0);
  if (!layout)
    return op->emitOpError() << "has no layout for its result; block-level "
                                "vectors need the attribute '"
                             << mosaic_gpu::kOutLayouts << "'";
  return setLayout(op, op->getResult(0), layout);
}

LogicalResult Planner::checkOperands(Operation *op) {
  auto layouts = op->getAttrOfType<ArrayAttr>(mosaic_gpu::kInLayouts);
  unsigned index = 0;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<VectorType>(operand.getType());
    if (!type)
      continue;
    const Distribution *distribution = find(operand);
    if (!distribution)
      return op->emitOpError() << "uses a vector that has no layout";
    if (layouts && index < layouts.size()) {
      std::string why;
      std::optional<Distribution> wanted =
          Distribution::get(type, layouts[index], plan.grid, why);
      if (!wanted)
        return op->emitOpError()
               << "has a vector of type " << type << " that cannot have layout "
               << layouts[index] << ": " << why;
      // One scalar fits every layout.
      if (*wanted != *distribution && !distribution->isSplat())
        return op->emitOpError()
               << "wants vector operand #" << index << " in layout "
               << wanted->str() << ", but its value is in layout "
               << distribution->str();
    }
    ++index;
  }
  if (layouts && layouts.size() != index)
    return op->emitOpError()
           << "has " << index << " vector operands and " << layouts.size()
           << " '" << mosaic_gpu::kInLayouts << "'";
  return success();
}

LogicalResult Planner::planGrid() {
  gpu::GPUFuncOp func = plan.func;
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "has unstructured control flow, which "
                                 "block-level kernels cannot have";
  std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
  if (!size)
    return func.emitOpError() << "is a block-level kernel and needs the "
                                 "attribute 'known_block_size'";
  const targets::Target &target = vendor.getTarget();
  ArrayRef<int32_t> threads = *size;
  if (threads.size() != 3 || threads[1] != 1 || threads[2] != 1)
    return func.emitOpError() << "must have a one-dimensional block";
  plan.grid = {threads[0], target.waveSize};
  if (threads[0] <= 0 || threads[0] % target.waveSize != 0)
    return func.emitOpError()
           << "has blocks of " << threads[0]
           << " threads, which is not a multiple of the " << target.waveSize
           << " threads of a warp on " << target.name;
  if (threads[0] > target.maxThreadsPerBlock)
    return func.emitOpError()
           << "has blocks of " << threads[0] << " threads, " << target.name
           << " has at most " << target.maxThreadsPerBlock;
  return success();
}

LogicalResult Planner::planBlock(Block &block) {
  for (Operation &op : block)
    if (failed(planOp(&op)))
      return failure();
  return success();
}

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

static bool hasVectors(Operation *op) {
  return llvm::any_of(op->getOperands(), isVector) ||
         llvm::any_of(op->getResults(), isVector) ||
         llvm::any_of(op->getRegions(), [](Region &region) {
           return llvm::any_of(region.getArguments(), isVector);
         });
}

LogicalResult Planner::planOp(Operation *op) {
  for (StringRef name : {StringRef(mosaic_gpu::kInTransforms),
                         StringRef(mosaic_gpu::kOutTransforms)})
    if (auto transforms = op->getAttrOfType<ArrayAttr>(name))
      for (Attribute list : transforms)
        if (auto entries = dyn_cast<ArrayAttr>(list);
            entries && !entries.empty())
          return op->emitOpError()
                 << "has shared memory in a transformed layout " << list
                 << ", which the lowering to threads does not support";

  if (isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect())) {
    if (failed(checkOperands(op)))
      return failure();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](mosaic_gpu::SliceSMEMOp slice) { return planSlice(slice); })
        .Case<mosaic_gpu::VectorLoadOp, mosaic_gpu::VectorStoreOp>(
            [&](auto access) { return planMemoryAccess(access); })
        .Case([&](mosaic_gpu::MMAOp mma) { return planMma(mma); })
        .Case([&](mosaic_gpu::AsyncCopyOp copy) { return planAsyncCopy(copy); })
        .Case<mosaic_gpu::AsyncCommitGroupOp, mosaic_gpu::AsyncWaitGroupOp>(
            [&](auto) -> LogicalResult {
              if (std::optional<std::string> why = vendor.refuseAsyncCopy())
                return op->emitOpError()
                       << "cannot be lowered for " << vendor.getTarget().name
                       << ": " << *why;
              return success();
            })
        .Case<mosaic_gpu::InitializeBarrierOp, mosaic_gpu::ArriveOp,
              mosaic_gpu::ArriveExpectTxOp, mosaic_gpu::WaitOp>(
            [&](auto) -> LogicalResult {
              if (std::optional<std::string> why = vendor.refuseBarriers())
                return op->emitOpError()
                       << "cannot be lowered for " << vendor.getTarget().name
                       << ": " << *why;
              if (auto ordered =
                      op->getAttrOfType<BoolAttr>("orders_tensor_core");
                  ordered && ordered.getValue())
                return op->emitOpError()
                       << "orders the tensor core, which is not supported";
              return success();
            })
        .Case([&](mosaic_gpu::LayoutCastOp cast) -> LogicalResult {
          if (failed(setLayout(op, cast.getResult(), cast.getNewLayout())))
            return failure();
          const Distribution &from = *find(cast.getX()),
                             &to = *find(cast.getResult());
          if (from != to && !from.isSplat())
            return op->emitOpError()
                   << "changes the layout from " << from.str() << " to "
                   << to.str()
                   << ", but moving elements between threads is not supported";
          return success();
        })
        .Default([&](Operation *) -> LogicalResult {
          return op->emitOpError()
                 << "cannot be lowered to threads: the op is not supported";
        });
  }

  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return op->emitOpError() << "allocates memory; allocate shared memory "
                                "first (smalti-allocate-shared-memory)";
  if (!hasVectors(op)) {
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      if (!region.hasOneBlock())
        return op->emitOpError() << "has unstructured control flow, which "
                                    "block-level kernels cannot have";
      if (failed(planBlock(region.front())))
        return failure();
    }
    return success();
  }

  if (failed(checkOperands(op)))
    return failure();
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return planControlFlow(op);
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return planTerminator(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return op->emitOpError() << "is a block-level constant whose elements "
                                  "differ, which is not supported; load it "
                                  "from memory";
  }
  if (isa<arith::ConstantOp, ub::PoisonOp, vector::BroadcastOp>(op)) {
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op);
        broadcast && isVector(broadcast.getSource()) &&
        !find(broadcast.getSource())->isSplat())
      return op->emitOpError() << "broadcasts a vector in layout "
                               << find(broadcast.getSource())->str()
                               << "; only scalars and splats can be broadcast";
    if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0))
      return setLayout(op, op->getResult(0), layout);
    return setLayout(
        op, op->getResult(0),
        mosaic_gpu::WGSplatFragLayoutAttr::get(
            op->getContext(),
            cast<VectorType>(op->getResult(0).getType()).getShape()));
  }
  if (isa<vector::TransferReadOp, vector::TransferWriteOp>(op))
    return planMemoryAccess(op);
  if (isa<vector::CreateMaskOp>(op)) {
    if (failed(setResultLayout(op)))
      return failure();
    if (find(op->getResult(0))->isSplat())
      return op->emitOpError() << "cannot have the layout of a splat";
    return success();
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0)
    return planElementwise(op);
  return op->emitOpError() << "cannot be lowered to threads: the op is not "
                              "supported on block-level vectors";
}

LogicalResult Planner::planElementwise(Operation *op) {
  const Distribution *common = nullptr;
  for (Value operand : op->getOperands()) {
    if (!isVector(operand))
      continue;
    const Distribution *distribution = find(operand);
    if (!common || common->isSplat())
      common = distribution;
    else if (!distribution->isSplat() && *distribution != *common)
      return op->emitOpError()
             << "has operands in different layouts: " << common->str()
             << " and " << distribution->str();
  }
  // Copied: the map may grow while results are recorded.
  std::optional<Distribution> operands =
      common ? std::optional<Distribution>(*common) : std::nullopt;
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, index);
    if (layout && failed(setLayout(op, result, layout)))
      return failure();
    if (!layout && !operands)
      return op->emitOpError() << "has no layout for its result; block-level "
                                  "vectors need the attribute '"
                               << mosaic_gpu::kOutLayouts << "'";
    if (!layout)
      plan.distributions.try_emplace(result, *operands);
    const Distribution &distribution = *find(result);
    if (operands && !operands->isSplat() && distribution != *operands)
      return op->emitOpError()
             << "has a result in layout " << distribution.str()
             << ", but operands in layout " << operands->str();
  }
  return success();
}

LogicalResult Planner::planControlFlow(Operation *op) {
  // A carried vector has one distribution: the declared one, that of its
  // initial value, or, where that is one scalar, that of what a round yields.
  auto choose = [&](Value value, unsigned vectorIndex, Value initial,
                    Value yielded) -> LogicalResult {
    Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, vectorIndex);
    if (!layout && initial && !find(initial)->isSplat()) {
      Distribution distribution = *find(initial);
      plan.distributions.try_emplace(value, std::move(distribution));
      return success();
    }
    if (!layout && yielded)
      layout = findDeclaredLayout(yielded);
    if (!layout)
      layout = mosaic_gpu::WGSplatFragLayoutAttr::get(
          op->getContext(), cast<VectorType>(value.getType()).getShape());
    if (failed(setLayout(op, value, layout)))
      return failure();
    if (initial && !find(initial)->isSplat() && *find(initial) != *find(value))
      return op->emitOpError()
             << "carries a vector in layout " << find(value)->str()
             << ", but its initial value is in "
             << "layout " << find(initial)->str();
    return success();
  };
  auto share = [&](Value from, Value to) {
    Distribution distribution = *find(from);
    plan.distributions.try_emplace(to, std::move(distribution));
  };

  unsigned vectorIndex = 0;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [initial, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      if (!isVector(result))
        continue;
      if (failed(choose(result, vectorIndex++, initial, yielded)))
        return failure();
      share(result, argument);
    }
    return planBlock(*loop.getBody());
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults()) {
      if (!isVector(result))
        continue;
      Value yielded = branch.thenYield().getOperand(result.getResultNumber());
      if (!findDeclaredLayout(yielded) && branch.elseBlock())
        yielded = branch.elseYield().getOperand(result.getResultNumber());
      if (failed(choose(result, vectorIndex++, {}, yielded)))
        return failure();
    }
    if (failed(planBlock(*branch.thenBlock())))
      return failure();
    return branch.elseBlock() ? planBlock(*branch.elseBlock()) : success();
  }
  auto loop = cast<scf::WhileOp>(op);
  for (auto [initial, argument, yielded] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                       loop.getYieldOp().getResults()))
    if (isVector(argument)) {
      if (!find(initial)->isSplat())
        share(initial, argument);
      else if (Attribute layout = findDeclaredLayout(yielded);
               layout && failed(setLayout(op, argument, layout)))
        return failure();
      else if (!layout)
        share(initial, argument);
    }
  for (auto [passed, argument, result] :
       llvm::zip_equal(loop.getConditionOp().getArgs(),
                       loop.getAfterArguments(), loop.getResults()))
    if (isVector(result)) {
      Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, vectorIndex++);
      if (const Distribution *known = find(passed); !layout && known)
        share(passed, result);
      else if (failed(choose(result, vectorIndex - 1, {}, passed)))
        return failure();
      share(result, argument);
    }
  if (failed(planBlock(*loop.getBeforeBody())))
    return failure();
  return planBlock(*loop.getAfterBody());
}

SmallVector<const Distribution *>
block_to_thread::getTerminatorDistributions(const KernelPlan &plan,
                                            Operation *terminator) {
  SmallVector<const Distribution *> wanted(terminator->getNumOperands(),
                                           nullptr);
  ValueRange targets;
  unsigned first = 0;
  Operation *parent = terminator->getParentOp();
  if (isa<scf::ConditionOp>(terminator)) {
    targets = parent->getResults();
    first = 1;
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    targets = loop.getBeforeArguments();
  } else {
    targets = parent->getResults();
  }
  for (auto [index, target] : llvm::enumerate(targets))
    if (isVector(target))
      wanted[first + index] = &plan.getDistribution(target);
  return wanted;
}

LogicalResult Planner::planTerminator(Operation *op) {
  for (auto [operand, wanted] : llvm::zip_equal(
           op->getOperands(), getTerminatorDistributions(plan, op))) {
    if (!wanted)
      continue;
    const Distribution &distribution = *find(operand);
    if (distribution != *wanted && !distribution.isSplat())
      return op->emitOpError()
             << "passes on a vector in layout " << distribution.str()
             << " where layout " << wanted->str() << " is expected";
  }
  return success();
}

/// Whether the layouts number the registers instruction tile after instruction
/// tile, as the emission takes them.
static bool hasTilesInOrder(const layout::TiledLayout &layout,
                            ArrayRef<int64_t> shape, int64_t tilesOuter,
                            int64_t tilesInner, int64_t stepOuter,
                            int64_t stepInner, int64_t registers) {
  if (layout.numRegisters(shape) != tilesOuter * tilesInner * registers)
    return false;
  for (int64_t outer = 0; outer < tilesOuter; ++outer)
    for (int64_t inner = 0; inner < tilesInner; ++inner) {
      SmallVector<int64_t> index = layout.elementIndex(
          shape, 0, 0, (outer * tilesInner + inner) * registers, 0);
      if (index[0] != outer * stepOuter || index[1] != inner * stepInner)
        return false;
    }
  return true;
}

LogicalResult Planner::planMma(mosaic_gpu::MMAOp op) {
  auto aType = cast<VectorType>(op.getA().getType()),
       bType = cast<VectorType>(op.getB().getType()),
       accumulatorType = cast<VectorType>(op.getAccumulator().getType());
  int64_t m = aType.getDimSize(0), k = aType.getDimSize(1),
          n = bType.getDimSize(1);
  for (auto [value, name] :
       {std::pair<Value, StringRef>{op.getA(), "a"}, {op.getB(), "b"}})
    if (find(value)->getKind() != Distribution::Kind::Tiled)
      return op.emitOpError()
             << "needs operand " << name
             << " in a fragment layout, it is in layout " << find(value)->str();
  // The accumulator may start as one scalar; the result says how it is held.
  if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0)) {
    if (failed(setLayout(op, op.getResult(), layout)))
      return failure();
  } else {
    Distribution distribution = *find(op.getAccumulator());
    plan.distributions.try_emplace(op.getResult(), std::move(distribution));
  }
  const Distribution &a = *find(op.getA()), &b = *find(op.getB()),
                     &accumulator = *find(op.getAccumulator()),
                     &result = *find(op.getResult());
  if (accumulator != result && !accumulator.isSplat())
    return op.emitOpError()
           << "has an accumulator in layout " << accumulator.str()
           << ", but a result in layout " << result.str();
  if (result.getKind() != Distribution::Kind::Tiled)
    return op.emitOpError()
           << "needs its result in a fragment layout, it is in layout "
           << result.str();

  const targets::Target &target = vendor.getTarget();
  std::optional<targets::Element> aElement =
                                      getMmaElement(aType.getElementType()),
                                  bElement =
                                      getMmaElement(bType.getElementType()),
                                  accumulatorElement = getMmaElement(
                                      accumulatorType.getElementType());
  std::optional<BlockMma> mma;
  bool hasElements = aElement && bElement && accumulatorElement;
  auto match = [&](targets::Element lhs, targets::Element rhs) {
    return matchMma(target, lhs, rhs, *accumulatorElement, m, n, k,
                    a.getTiled(), b.getTiled(), result.getTiled());
  };
  if (hasElements && op.getAllowTf32() && *aElement == targets::Element::F32 &&
      *bElement == targets::Element::F32)
    mma = match(targets::Element::TF32, targets::Element::TF32);
  if (hasElements && !mma)
    mma = match(*aElement, *bElement);
  if (!mma)
    return op.emitOpError()
           << "matches no matrix instruction of " << target.name << ": "
           << aType << " in layout " << a.str() << " times " << bType
           << " in layout " << b.str() << " into " << accumulatorType
           << " in layout " << result.str();
  if (std::optional<std::string> why = vendor.refuseMma(*mma->instruction))
    return op.emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;

  const targets::MmaInstruction &instruction = *mma->instruction;
  int64_t stepM = instruction.m * mma->warpsM,
          stepN = instruction.n * mma->warpsN, stepK = instruction.k;
  if (!hasTilesInOrder(a.getTiled(), {m, k}, mma->tilesM(), mma->tilesK(),
                       stepM, stepK, instruction.aOrder.size()) ||
      !hasTilesInOrder(b.getTiled(), {k, n}, mma->tilesK(), mma->tilesN(),
                       stepK, stepN, instruction.bOrder.size()) ||
      !hasTilesInOrder(result.getTiled(), {m, n}, mma->tilesM(), mma->tilesN(),
                       stepM, stepN, instruction.cOrder.size()))
    return op.emitOpError()
           << "has fragments whose registers are not in instruction order";
  plan.mmas.try_emplace(op, std::move(*mma));
  return success();
}

LogicalResult Planner::planMemoryAccess(Operation *op) {
  if (auto store = dyn_cast<mosaic_gpu::VectorStoreOp>(op);
      store && store.getMultimem())
    return op->emitOpError()
           << "stores to several devices at once, which is not supported";
  if (auto store = dyn_cast<mosaic_gpu::VectorStoreOp>(op);
      store && store.getAtomicType())
    return op->emitOpError() << "stores atomically, which is not supported";
  std::string why;
  std::optional<Window> window = getWindow(op, why);
  if (!window)
    return op->emitOpError() << "cannot be lowered to threads: " << why;
  if (mosaic_gpu::isClusterMemory(cast<MemRefType>(window->memref.getType())))
    return op->emitOpError()
           << "accesses another block's memory, which is not supported";
  if (isa<vector::TransferReadOp, mosaic_gpu::VectorLoadOp>(op)) {
    if (failed(setResultLayout(op)))
      return failure();
    if (find(op->getResult(0))->isSplat())
      return op->emitOpError()
             << "reads memory and cannot have the layout of a splat";
    return success();
  }
  // A splat says nothing about which thread stores what: the store does, or the
  // elements are dealt out.
  Value stored = op->getOperand(0);
  if (!find(stored)->isSplat())
    return success();
  auto type = cast<VectorType>(stored.getType());
  if (Attribute layout = layoutAt(op, mosaic_gpu::kInLayouts, 0)) {
    std::optional<Distribution> wanted =
        Distribution::get(type, layout, plan.grid, why);
    if (wanted && !wanted->isSplat()) {
      plan.storeDistributions.try_emplace(op, std::move(*wanted));
      return success();
    }
  }
  int64_t bytes = std::max<int64_t>(elementBytes(type.getElementType()), 1);
  for (int64_t length = std::max<int64_t>(kMaxAccessBytes / bytes, 1);
       length >= 1; length /= 2)
    if (std::optional<Distribution> distribution =
            Distribution::getStrided(type.getShape(), length, plan.grid, why)) {
      plan.storeDistributions.try_emplace(op, std::move(*distribution));
      return success();
    }
  return op->emitOpError()
         << "stores a splat that cannot be dealt to the threads: " << why;
}

LogicalResult Planner::planAsyncCopy(mosaic_gpu::AsyncCopyOp op) {
  const targets::Target &target = vendor.getTarget();
  if (std::optional<std::string> why = vendor.refuseAsyncCopy())
    return op.emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;
  auto sourceType = cast<MemRefType>(op.getSource().getType()),
       destinationType = cast<MemRefType>(op.getDestination().getType());
  int64_t bytes = elementBytes(sourceType.getElementType());
  if (bytes == 0 || sourceType.getElementType().isIndex() ||
      !sourceType.isStrided() || !destinationType.isStrided() ||
      !destinationType.hasStaticShape() ||
      sourceType.getRank() != destinationType.getRank() ||
      sourceType.getRank() == 0 || !isWorkgroupMemory(destinationType))
    return op.emitOpError() << "must copy from a strided memref to a static "
                               "one of the same rank in shared memory";

  // A wave's copies lie side by side in shared memory.
  bool isDealtByWaves = target.asyncCopy == targets::AsyncCopyKind::LDSLoad;
  if (isDealtByWaves &&
      !memref::isStaticShapeAndContiguousRowMajor(destinationType))
    return op.emitOpError()
           << "must copy to consecutive elements, because " << target.name
           << " places the copies of a wave side by side; " << destinationType
           << " has gaps";

  // The widest copy whose addresses are aligned on both sides. Then a chunk
  // never straddles the lower bound; the upper one is cut off by a count, or
  // not straddled either.
  ArrayRef<int64_t> shape = destinationType.getShape();
  Window source, destination;
  source.memref = op.getSource();
  source.indices = op.getIndices();
  destination.memref = op.getDestination();
  for (Window *window : {&source, &destination}) {
    window->vectorDims =
        llvm::to_vector(llvm::seq<int64_t>(0, sourceType.getRank()));
    window->isChecked.assign(sourceType.getRank(), false);
  }
  source.isChecked.back() = target.asyncCopy != targets::AsyncCopyKind::CpAsync;
  unsigned sourceAlignment = log2Alignment(source.memref),
           destinationAlignment = log2Alignment(destination.memref);
  for (int64_t width : llvm::reverse(target.asyncCopyBytes)) {
    if (width % bytes != 0 || shape.back() % (width / bytes) != 0)
      continue;
    int64_t elements = width / bytes;
    // Any chunk of the tile starts at a multiple of its length in the last
    // dimension.
    std::string why;
    SmallVector<Coordinate> coordinates(shape.size());
    for (auto [coordinate, size] : llvm::zip_equal(coordinates, shape))
      coordinate.log2 = size == 1 ? 62 : 0;
    coordinates.back().log2 = log2Divisor(elements);
    ThreadGrid one{1, 1};
    std::optional<Distribution> distribution =
        Distribution::getStrided(shape, elements, one, why);
    if (!distribution)
      continue;
    if (getAccessWidth(source, *distribution, coordinates, sourceAlignment) <
            elements ||
        getAccessWidth(destination, *distribution, coordinates,
                       destinationAlignment) < elements)
      continue;
    plan.asyncCopyWidths.try_emplace(op, elements);
    return success();
  }
  return op.emitOpError() << "has rows whose alignment is not known to allow "
                             "an asynchronous copy of "
                          << target.asyncCopyBytes.front()
                          << " or more bytes; copy through registers";
}

/// Groups become numbers of copies. A round of copies in which only some waves
/// take part counts for nothing: the others would wait for too few.
void Planner::planAsyncWaits() {
  plan.asyncCopiesInFlight = countCopiesInFlight(plan.func, [&](Operation *op) {
    auto copy = cast<mosaic_gpu::AsyncCopyOp>(op);
    int64_t chunks =
        cast<MemRefType>(copy.getDestination().getType()).getNumElements() /
        plan.asyncCopyWidths.find(op)->second;
    int64_t left = chunks % plan.grid.numThreads;
    return chunks / plan.grid.numThreads +
           (left > plan.grid.numThreads - plan.grid.waveSize ? 1 : 0);
  });
}

LogicalResult Planner::planSlice(mosaic_gpu::SliceSMEMOp op) {
  auto type = cast<MemRefType>(op.getType());
  std::optional<int64_t> bytes = getBufferBytes(type);
  if (!bytes || elementBytes(type.getElementType()) == 0)
    return op.emitOpError() << "must have a static, contiguous type";
  if (plan.level == Level::Block && !isWorkgroupMemory(type))
    return op.emitOpError() << "must be in the address space workgroup in a "
                               "program of blocks, got "
                            << type;
  int64_t end = appendBuffer(op.getOffset(), *bytes, /*alignment=*/1);
  auto total =
      plan.func->getAttrOfType<IntegerAttr>(mosaic_gpu::kSharedMemoryBytes);
  if (total && end > total.getInt())
    return op.emitOpError() << "ends at byte " << end << ", but the kernel has "
                            << total.getInt() << " bytes of shared memory";
  int64_t limit = vendor.getTarget().sharedMemoryPerBlock;
  if (end > limit)
    return op.emitOpError()
           << "ends at byte " << end << ", but " << vendor.getTarget().name
           << " has " << limit << " bytes of shared memory for a block";
  plan.sharedMemoryBytes =
      std::max(plan.sharedMemoryBytes, total ? total.getInt() : end);
  if (auto alignment = plan.func->getAttrOfType<IntegerAttr>(
          mosaic_gpu::kSharedMemoryAlignment))
    plan.sharedMemoryAlignment =
        std::max(plan.sharedMemoryAlignment, alignment.getInt());
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// The value that a memref is a view of.
static Value viewRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {
struct GlobalAccess {
  Operation *op;
  /// The kernel argument, or null where it is not known.
  Value root;
  bool isWrite;
  unsigned position;
};
} // namespace

void Planner::planBarriers() {
  // Threads may hand over data in global memory too: an access before the
  // barrier and one after it to the same argument, one of them a write.
  SmallVector<GlobalAccess> accesses;
  SmallVector<std::pair<Operation *, unsigned>> barriers;
  unsigned position = 0;
  plan.func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++position;
    if (isa<gpu::BarrierOp>(op)) {
      barriers.push_back({op, position});
      return;
    }
    if (op == plan.func || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface) {
      accesses.push_back({op, Value(), /*isWrite=*/true, position});
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value value = effect.getValue();
      // What the dialect's own ops touch besides their operands is shared
      // memory.
      if (!value &&
          isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()))
        continue;
      auto type = value ? dyn_cast<MemRefType>(value.getType()) : MemRefType();
      if ((type && isWorkgroupMemory(type)) ||
          !isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
        continue;
      Value root = type ? viewRoot(value) : Value();
      accesses.push_back({op, root && isa<BlockArgument>(root) ? root : Value(),
                          isa<MemoryEffects::Write>(effect.getEffect()),
                          position});
    }
  });

  auto shareLoop = [](Operation *lhs, Operation *rhs) {
    for (auto loop = lhs->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      if (loop->isAncestor(rhs))
        return true;
    return false;
  };
  // What one thread reads it may write again: both go through the same window
  // in the same layout, and no other round of a loop is in between.
  auto staysInThread = [&](const GlobalAccess &first,
                           const GlobalAccess &second) {
    auto lhs = dyn_cast<VectorTransferOpInterface>(first.op),
         rhs = dyn_cast<VectorTransferOpInterface>(second.op);
    if (!lhs || !rhs || lhs.getBase() != rhs.getBase() ||
        lhs.getIndices() != rhs.getIndices() ||
        lhs.getPermutationMap() != rhs.getPermutationMap() ||
        shareLoop(lhs, rhs))
      return false;
    auto distributionOf = [&](Operation *op) {
      return find(isa<vector::TransferReadOp>(op) ? op->getResult(0)
                                                  : op->getOperand(0));
    };
    const Distribution *from = distributionOf(lhs), *to = distributionOf(rhs);
    return from && to && *from == *to && !from->isSplat() &&
           !from->isReplicated();
  };
  for (auto [barrier, barrierPosition] : barriers) {
    SmallVector<const GlobalAccess *> before, after;
    for (const GlobalAccess &access : accesses) {
      bool inLoop = shareLoop(barrier, access.op);
      if (inLoop || access.position < barrierPosition)
        before.push_back(&access);
      if (inLoop || access.position > barrierPosition)
        after.push_back(&access);
    }
    bool isGlobal = llvm::any_of(before, [&](const GlobalAccess *first) {
      return llvm::any_of(after, [&](const GlobalAccess *second) {
        return (first->isWrite || second->isWrite) &&
               (!first->root || !second->root || first->root == second->root) &&
               !staysInThread(*first, *second);
      });
    });
    if (isGlobal)
      plan.globalBarriers.insert(barrier);
  }
}

std::optional<KernelPlan> Planner::run(Level level) {
  plan.level = level;
  if (level == Level::Thread) {
    WalkResult result = plan.func.walk([&](mosaic_gpu::SliceSMEMOp slice) {
      return failed(planSlice(slice)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return std::nullopt;
    return std::move(plan);
  }
  if (failed(planGrid()) || failed(planBlock(plan.func.getBody().front())))
    return std::nullopt;
  planAsyncWaits();
  planBarriers();
  return std::move(plan);
}

std::optional<KernelPlan>
block_to_thread::planKernel(gpu::GPUFuncOp func, Level level,
                            const VendorLowering &vendor) {
  return Planner(func, vendor).run(level);
}
