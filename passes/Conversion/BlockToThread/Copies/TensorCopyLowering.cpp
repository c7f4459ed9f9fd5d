//===- TensorCopyLowering.cpp - TMA copies of tensor slices ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// async_load, async_store and async_prefetch as TMA copies. One thread of a
// thread group issues them.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Copies/TensorSlices.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::MemoryLayout;
using transfers::TensorCopyPlan;
using transfers::TensorCopyProblem;

namespace {
struct TensorCopyOpPlan : OpPlan {
  TensorCopyPlan copy;
  /// Index of the tensor map among the kernel's.
  int64_t map = 0;
  /// The cluster dimensions whose blocks share the copy, one part each.
  SmallVector<gpu::Dimension> collective;
  int64_t parts = 1;
  /// The tensor dimension that is split, and the distance of the parts in it
  /// and in shared memory.
  int64_t partDim = 0;
  int64_t partElements = 0;
  int64_t partBytes = 0;
  /// Blocks of the cluster along x, y and z.
  SmallVector<int64_t> cluster{1, 1, 1};
  int64_t maxSwizzle = 16;
};

class TensorCopies : public OpLowering {
public:
  bool acceptsTransforms() const override { return true; }
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

SliceOp block_to_thread::getSlice(Operation *op) {
  if (auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(op))
    return {op,
            load.getSource(),
            load.getDestination(),
            load.getIndices(),
            load.getSliceLengths(),
            load.getPredicate(),
            load.getCollective(),
            load.getOobFillMode() == mosaic_gpu::OOBFillMode::PromiseInBounds};
  if (auto store = dyn_cast<mosaic_gpu::AsyncStoreOp>(op))
    return {op,
            store.getDestination(),
            store.getSource(),
            store.getIndices(),
            store.getSliceLengths(),
            store.getPredicate(),
            ArrayAttr(),
            false};
  auto fetch = cast<mosaic_gpu::AsyncPrefetchOp>(op);
  return {op,
          fetch.getSource(),
          Value(),
          fetch.getIndices(),
          fetch.getSliceLengths(),
          fetch.getPredicate(),
          fetch.getCollective(),
          false};
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

std::optional<std::string> block_to_thread::refuseSlice(const SliceOp &slice) {
  if (llvm::any_of(slice.indices, [](Value index) {
        return isa<VectorType>(index.getType());
      }))
    return "an index of the slice is a vector (a gather), which is not "
           "supported; use scalar indices";
  auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(slice.op);
  auto store = dyn_cast<mosaic_gpu::AsyncStoreOp>(slice.op);
  if ((load && load.getGmemPeerId()) ||
      (store && (store.getGmemPeerId() || store.getIsGlobalBroadcast())))
    return "the copy accesses memory of another device, which is not "
           "supported; remove the peer or the multimem address";
  return std::nullopt;
}

/// Why the chip does not support the copy, if it does not.
static std::optional<std::string> refuse(const SliceOp &slice,
                                         const targets::Target &target) {
  if (std::optional<std::string> reason = refuseSlice(slice))
    return reason;
  if (auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(slice.op)) {
    // Leader-tracked copies require pairs of blocks that share a tensor core.
    if (load.getLeaderTrackedAttr() && target.tensorMemoryColumns == 0)
      return "'leader_tracked' is for pairs of blocks that execute tcgen05 "
             "operations together, which the target does not have; remove "
             "'leader_tracked'";
    if (load.getLeaderTrackedAttr())
      return "Smalti does not support copies with 'leader_tracked'; remove "
             "'leader_tracked'";
  }
  return std::nullopt;
}

namespace {
struct Reduction {
  NVVM::TMAReduxKind kind;
  Type element;
};
} // namespace

/// The reduction of the instruction and the element type of the tensor map, as
/// the PTX ISA lists them for cp.reduce.async.bulk.tensor.
static std::optional<Reduction> getReduction(mosaic_gpu::TMAReduction reduction,
                                             Type element) {
  using mosaic_gpu::TMAReduction;
  MLIRContext *context = element.getContext();
  bool isInteger = element.isInteger(32) || element.isInteger(64);
  bool isHalf = element.isF16() || element.isBF16();
  auto withSign = [&](IntegerType::SignednessSemantics sign) {
    return IntegerType::get(context, element.getIntOrFloatBitWidth(), sign);
  };
  switch (reduction) {
  case TMAReduction::Add:
    if (element.isInteger(32) || element.isInteger(64) || isHalf ||
        element.isF32())
      return Reduction{NVVM::TMAReduxKind::ADD, element};
    return std::nullopt;
  case TMAReduction::Min:
  case TMAReduction::Max: {
    bool isMin = reduction == TMAReduction::Min;
    if (isHalf || isInteger)
      return Reduction{
          isMin ? NVVM::TMAReduxKind::MIN : NVVM::TMAReduxKind::MAX, element};
    return std::nullopt;
  }
  case TMAReduction::Umin:
  case TMAReduction::Smin:
    if (isInteger)
      return Reduction{NVVM::TMAReduxKind::MIN,
                       withSign(reduction == TMAReduction::Umin
                                    ? IntegerType::Unsigned
                                    : IntegerType::Signed)};
    return std::nullopt;
  case TMAReduction::Umax:
  case TMAReduction::Smax:
    if (isInteger)
      return Reduction{NVVM::TMAReduxKind::MAX,
                       withSign(reduction == TMAReduction::Umax
                                    ? IntegerType::Unsigned
                                    : IntegerType::Signed)};
    return std::nullopt;
  case TMAReduction::Inc:
  case TMAReduction::Dec:
    if (element.isInteger(32))
      return Reduction{reduction == TMAReduction::Inc ? NVVM::TMAReduxKind::INC
                                                      : NVVM::TMAReduxKind::DEC,
                       element};
    return std::nullopt;
  case TMAReduction::And:
  case TMAReduction::Or:
  case TMAReduction::Xor:
    if (isInteger)
      return Reduction{reduction == TMAReduction::And ? NVVM::TMAReduxKind::AND
                       : reduction == TMAReduction::Or
                           ? NVVM::TMAReduxKind::OR
                           : NVVM::TMAReduxKind::XOR,
                       element};
    return std::nullopt;
  }
  return std::nullopt;
}

/// A divisor of an index; 0 for zero.
static int64_t getDivisor(Value index) {
  if (matchPattern(index, m_Zero()))
    return 0;
  return int64_t(1) << std::min(log2Divisor(index), 30u);
}

static TensorCopyProblem makeProblem(const SliceOp &slice,
                                     const GlobalTensor &tensor,
                                     const MemoryLayout &memory,
                                     int64_t elementBits) {
  TensorCopyProblem problem;
  problem.extents = tensor.extents;
  problem.strides = tensor.strides;
  problem.slice.assign(slice.lengths.begin(), slice.lengths.end());
  problem.memory = memory;
  problem.elementBits = elementBits;
  for (auto [index, length, extent] :
       llvm::zip_equal(slice.indices, slice.lengths, tensor.extents)) {
    problem.indexDivisors.push_back(getDivisor(index));
    APInt start;
    bool isInside = slice.promisesInside;
    if (matchPattern(index, m_ConstantInt(&start)))
      isInside |= start.sge(0) &&
                  start.getSExtValue() + std::max<int64_t>(length, 1) <= extent;
    problem.isInside.push_back(isInside);
  }
  return problem;
}

/// The memory that a prefetch would fill: rows of the maximum box length.
static MemoryLayout prefetchLayout(ArrayRef<int64_t> lengths) {
  SmallVector<int64_t> shape;
  for (int64_t length : lengths)
    if (length != -1)
      shape.push_back(length);
  return MemoryLayout::rowMajor(shape);
}

/// Splits a copy into one part per block, along the dimension that needs the
/// fewest copies; ties go to the outermost.
static layout::ValueOr<TensorCopyPlan>
planPart(const TensorCopyProblem &problem, TensorCopyOpPlan &plan) {
  using Result = layout::ValueOr<TensorCopyPlan>;
  Result best = Result::none(
      "with 'collective', each of " + std::to_string(plan.parts) +
      " blocks copies an equal part of the slice, but no dimension of the "
      "slice can be split into that many parts of whole tiles; change the "
      "sizes of the slice, or remove 'collective'");
  const MemoryLayout &memory = problem.memory;
  int64_t untiled = memory.shape.size() - memory.tile.size(), sharedDim = -1;
  for (int64_t dim = 0, rank = problem.slice.size(); dim < rank; ++dim) {
    if (problem.slice[dim] == -1)
      continue;
    ++sharedDim;
    int64_t tile = sharedDim >= untiled ? memory.tile[sharedDim - untiled] : 1;
    int64_t part = problem.slice[dim] / plan.parts;
    if (problem.slice[dim] % plan.parts != 0 || part % tile != 0)
      continue;
    TensorCopyProblem cut = problem;
    cut.slice[dim] = part;
    cut.memory.shape[sharedDim] = part;
    cut.indexDivisors[dim] =
        problem.indexDivisors[dim] == 0
            ? int64_t(1) << std::min<unsigned>(
                  llvm::countr_zero(static_cast<uint64_t>(part)), 30)
            : std::min(problem.indexDivisors[dim],
                       int64_t(1) << std::min<unsigned>(
                           llvm::countr_zero(static_cast<uint64_t>(part)), 30));
    SmallVector<int64_t> second(memory.shape.size(), 0);
    second[sharedDim] = part;
    MemoryLayout plain = memory;
    plain.swizzleBytes = 16;
    int64_t bits = plain.bitAddress(second, problem.elementBits);
    if (bits % (transfers::kTensorCopyAlignment * 8) != 0)
      continue;
    Result result = transfers::planTensorCopy(cut);
    if (result && (!best || result->pieces.size() < best->pieces.size())) {
      best = result;
      plan.partDim = dim;
      plan.partElements = part;
      plan.partBytes = bits / 8;
    }
  }
  return best;
}

bool block_to_thread::isOrderedLoad(Operation *op, gpu::GPUFuncOp func) {
  return isa<mosaic_gpu::AsyncLoadOp>(op) &&
         func->hasAttr(mosaic_gpu::kAutoBarriers) &&
         !op->getParentOfType<mosaic_gpu::WarpMapOp>();
}

LogicalResult TensorCopies::plan(Operation *op, Planner &planner) const {
  SliceOp slice = getSlice(op);
  const targets::Target &target = planner.getVendor().getTarget();
  if (std::optional<std::string> why = refuse(slice, target))
    return op->emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;
  if (isOrderedLoad(op, planner.getPlan().func))
    if (std::optional<std::string> why =
            planner.getVendor().refuseThreadGroupBarrier(planner.getGrid()))
      return op->emitOpError()
             << "requires a barrier per thread group: " << *why;
  auto type = cast<MemRefType>(slice.global.getType());
  KernelPlan &kernel = planner.getPlan();
  auto tensor = findGlobalTensor(slice.global, kernel.func);
  if (!tensor)
    return op->emitOpError() << "cannot use TMA: " << tensor.reason;

  auto plan = std::make_unique<TensorCopyOpPlan>();
  int64_t bits = type.getElementTypeBitWidth();
  MemoryLayout memory;
  if (slice.shared) {
    const SharedRef &ref = *planner.getSharedRef(slice.shared);
    memory = ref.layout;
    if (ref.log2Alignment < llvm::Log2_64(transfers::kTensorCopyAlignment))
      return op->emitOpError()
             << "cannot use TMA: the address of the slice in shared memory "
                "must be a multiple of "
             << transfers::kTensorCopyAlignment
             << " bytes, but is only proven to be a multiple of "
             << (int64_t(1) << ref.log2Alignment)
             << "; use constant offsets that are such multiples";
    planner.requireSharedAlignment(std::max<int64_t>(
        transfers::kTensorCopyAlignment, memory.swizzleBytes * 8));
  } else {
    memory = prefetchLayout(slice.lengths);
  }
  TensorCopyProblem problem = makeProblem(slice, *tensor, memory, bits);
  if (slice.collective && !slice.collective.empty()) {
    if (std::optional<ArrayRef<int32_t>> cluster =
            kernel.func.getKnownClusterSize())
      plan->cluster.assign(cluster->begin(), cluster->end());
    for (auto dimension :
         slice.collective.getAsRange<mosaic_gpu::DimensionAttr>()) {
      auto dim = static_cast<unsigned>(dimension.getValue());
      if (plan->cluster[dim] == 1)
        continue;
      plan->collective.push_back(static_cast<gpu::Dimension>(dim));
      plan->parts *= plan->cluster[dim];
    }
  }
  auto copy = plan->parts == 1 ? transfers::planTensorCopy(problem)
                               : planPart(problem, *plan);
  if (!copy)
    return op->emitOpError() << "cannot use TMA: " << copy.reason;
  plan->copy = std::move(*copy.value);
  for (int64_t &dim : plan->copy.map.dims)
    dim = tensor->dims[dim];

  TensorMapOfKernel map{tensor->argument, tensor->offset, type.getElementType(),
                        plan->copy.map};
  if (bits < 8)
    map.element = IntegerType::get(op->getContext(), 8);
  if (auto store = dyn_cast<mosaic_gpu::AsyncStoreOp>(op);
      store && store.getReductionOp()) {
    std::optional<Reduction> reduction =
        getReduction(*store.getReductionOp(), type.getElementType());
    if (!reduction) {
      std::string supported =
          listElementTypes(op->getContext(), [&](Type element) {
            return getReduction(*store.getReductionOp(), element).has_value();
          });
      return op->emitOpError()
             << "cannot be lowered for " << target.name
             << ": a TMA store cannot reduce elements of type "
             << type.getElementType() << " with '"
             << stringifyTMAReduction(*store.getReductionOp()) << "'; use "
             << supported;
    }
    map.element = reduction->element;
  }
  auto *found = llvm::find(kernel.tensorMaps, map);
  plan->map = found - kernel.tensorMaps.begin();
  if (found == kernel.tensorMaps.end())
    kernel.tensorMaps.push_back(std::move(map));
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic on i32 that folds operations without effect.
class Words {
public:
  Words(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value add(Value value, int64_t number) {
    if (number == 0)
      return value;
    return value ? arith::AddIOp::create(builder, loc, value, constant(number))
                 : constant(number);
  }
  Value add(Value lhs, Value rhs) {
    return lhs ? arith::AddIOp::create(builder, loc, lhs, rhs).getResult()
               : rhs;
  }
  Value mul(Value value, int64_t number) {
    return number == 1
               ? value
               : arith::MulIOp::create(builder, loc, value, constant(number));
  }
  /// Exact division.
  Value div(Value value, int64_t number) {
    if (number == 1)
      return value;
    if (llvm::isPowerOf2_64(number))
      return arith::ShRSIOp::create(
          builder, loc, value,
          constant(llvm::Log2_64(static_cast<uint64_t>(number))));
    return arith::DivSIOp::create(builder, loc, value, constant(number));
  }

private:
  OpBuilder &builder;
  Location loc;
};
} // namespace

/// The number of this block among those that share the copy, first dimension
/// fastest.
static Value getPart(const TensorCopyOpPlan &plan, OpBuilder &builder,
                     Location loc) {
  Words words(builder, loc);
  Value part;
  int64_t stride = 1;
  for (gpu::Dimension dimension : plan.collective) {
    Value block = arith::IndexCastOp::create(
        builder, loc, builder.getI32Type(),
        gpu::ClusterBlockIdOp::create(builder, loc, dimension));
    part = words.add(part, words.mul(block, stride));
    stride *= plan.cluster[static_cast<unsigned>(dimension)];
  }
  return part;
}

/// One bit for each block of the cluster that shares the copy with this one.
/// Blocks are numbered with x fastest.
static Value getMask(const TensorCopyOpPlan &plan, OpBuilder &builder,
                     Location loc) {
  Words words(builder, loc);
  int64_t mask = 1, stride = 1;
  Value shift;
  for (unsigned dim = 0; dim < 3; ++dim) {
    auto dimension = static_cast<gpu::Dimension>(dim);
    int64_t size = plan.cluster[dim];
    if (llvm::is_contained(plan.collective, dimension)) {
      int64_t repeated = 0;
      for (int64_t block = 0; block < size; ++block)
        repeated |= mask << (block * stride);
      mask = repeated;
    } else if (size > 1) {
      Value block = arith::IndexCastOp::create(
          builder, loc, builder.getI32Type(),
          gpu::ClusterBlockIdOp::create(builder, loc, dimension));
      shift = words.add(shift, words.mul(block, stride));
    }
    stride *= size;
  }
  Value bits = words.constant(mask);
  if (shift)
    bits = arith::ShLIOp::create(builder, loc, bits, shift);
  return arith::TruncIOp::create(builder, loc, builder.getI16Type(), bits);
}

void TensorCopies::emit(Operation *op, Emitter &emitter,
                        OpBuilder &builder) const {
  SliceOp slice = getSlice(op);
  const auto &plan = *emitter.plan.getOpPlan<TensorCopyOpPlan>(op);
  Location loc = op->getLoc();
  // Before a load, all threads of the group have read the previous contents.
  // Single warps ensure that themselves.
  if (isOrderedLoad(op, emitter.plan.func))
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  Value isChosen = emitter.getLeader(op);
  if (slice.predicate)
    isChosen = arith::AndIOp::create(builder, loc, isChosen,
                                     emitter.lookup(slice.predicate));
  SmallVector<Value> indices = emitter.lookup(slice.indices);
  Value shared =
      slice.shared ? emitter.getSharedPointer(slice.shared, builder) : Value();
  Value barrier;
  auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(op);
  auto store = dyn_cast<mosaic_gpu::AsyncStoreOp>(op);
  if (load)
    barrier = emitter.getSharedPointer(load.getBarrier(), builder);
  Value map = emitter.getTensorMap(plan.map);
  Type element = cast<MemRefType>(slice.global.getType()).getElementType();

  auto emitPieces = [&](OpBuilder &nested) {
    Words words(nested, loc);
    Value mask;
    if (plan.parts > 1) {
      Value part = getPart(plan, nested, loc);
      indices[plan.partDim] =
          words.add(indices[plan.partDim], words.mul(part, plan.partElements));
      if (shared)
        shared = LLVM::GEPOp::create(
            nested, loc, shared.getType(), nested.getI8Type(), shared,
            ArrayRef<LLVM::GEPArg>{words.mul(part, plan.partBytes)});
      if (load) {
        mask = getMask(plan, nested, loc);
        shared = LLVM::AddrSpaceCastOp::create(
            nested, loc,
            LLVM::LLVMPointerType::get(
                op->getContext(),
                static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster)),
            shared);
      }
    }
    SmallVector<Value> coordinates;
    for (ArrayRef<transfers::CoordinateTerm> terms : plan.copy.coordinates) {
      Value sum;
      for (const transfers::CoordinateTerm &term : terms)
        sum = words.add(sum,
                        words.div(words.mul(indices[term.dim], term.multiplier),
                                  term.divisor));
      coordinates.push_back(sum);
    }
    for (int64_t dim : plan.copy.checkedDims) {
      // Unsigned, so negative indices are out of bounds too.
      int64_t extent = cast<MemRefType>(slice.global.getType()).getDimSize(dim);
      Value isInside =
          arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ult,
                                indices[dim], words.constant(extent));
      Value first =
          coordinates.front() ? coordinates.front() : words.constant(0);
      coordinates.front() = arith::SelectOp::create(
          nested, loc, isInside, first, words.constant(transfers::kOutside));
    }
    for (const transfers::TensorPiece &piece : plan.copy.pieces) {
      Value sharedAddress = shared;
      if (sharedAddress && piece.sharedOffset != 0)
        sharedAddress = LLVM::GEPOp::create(
            nested, loc, sharedAddress.getType(), nested.getI8Type(),
            sharedAddress,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(piece.sharedOffset)});
      // The instruction lists the innermost dimension first.
      SmallVector<Value> box;
      for (auto [coordinate, added] :
           llvm::reverse(llvm::zip_equal(coordinates, piece.coordinates))) {
        Value sum = words.add(coordinate, added);
        box.push_back(sum ? sum : words.constant(0));
      }
      if (load) {
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            nested, loc, sharedAddress, map, box, barrier,
            /*im2colOffsets=*/ValueRange(), mask, /*l2CacheHint=*/Value(),
            NVVM::TMALoadMode::TILE,
            /*isCTAOnly=*/!mask, /*group=*/nullptr, /*predicate=*/Value());
      } else if (!store) {
        NVVM::CpAsyncBulkTensorPrefetchOp::create(
            nested, loc, map, box, /*im2colOffsets=*/ValueRange(),
            NVVM::TMALoadMode::TILE, /*l2CacheHint=*/Value());
      } else if (auto reduction = store.getReductionOp()) {
        NVVM::CpAsyncBulkTensorReduceOp::create(
            nested, loc, map, sharedAddress,
            getReduction(*reduction, element)->kind, NVVM::TMAStoreMode::TILE,
            box, /*l2CacheHint=*/Value());
      } else {
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
            nested, loc, map, sharedAddress, box, /*l2CacheHint=*/Value(),
            NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
      }
    }
  };
  scf::IfOp::create(builder, loc, isChosen, [&](OpBuilder &nested, Location) {
    emitPieces(nested);
    scf::YieldOp::create(nested, loc);
  });
  if (store && store.getCommitGroup())
    NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
}

void block_to_thread::registerTensorCopies(OpLowerings &lowerings) {
  lowerings.add<TensorCopies, mosaic_gpu::AsyncLoadOp, mosaic_gpu::AsyncStoreOp,
                mosaic_gpu::AsyncPrefetchOp>();
}
