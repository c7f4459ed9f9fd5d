//===- ThreadCopyLowering.cpp - Tensor slices copied by threads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// async_load, async_store and async_prefetch on chips without TMA: the threads
// that run the op copy the slice piece by piece. Loads use cp.async, and the
// expect_tx of their mbarrier becomes an arrival after the copies; stores go
// through registers.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Copies/TensorSlices.h"
#include "smalti/passes/Conversion/BlockToThread/Copies/ThreadArrivals.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/NVIDIALowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::MemoryLayout;

/// The maximum number of pieces per thread for one op, which limits the code
/// size.
static constexpr int64_t kMaxRounds = 1024;

namespace {
/// Converts an index along a dimension to a distance in shared memory: bytes
/// per tile, and per element in a tile.
struct SharedSteps {
  int64_t tile = 0;
  int64_t outer = 0;
  int64_t inner = 0;
};

struct ThreadCopyPlan : OpPlan {
  Window window;
  SmallVector<int64_t> shape;
  /// Elements of a piece, along the last dimension.
  int64_t width = 1;
  int64_t elementBytes = 1;
  SmallVector<SharedSteps> steps;
  /// Whether the slice may leave the tensor along its last dimension, which
  /// truncates a piece.
  bool mayBeTruncated = false;
  /// The op that arrives after it; may be null.
  Operation *arrival = nullptr;
};

class ThreadCopies : public OpLowering {
public:
  bool acceptsTransforms() const override { return true; }
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Prefetches, which are erased.
class Prefetches : public LoweringOf<mosaic_gpu::AsyncPrefetchOp> {
public:
  LogicalResult plan(mosaic_gpu::AsyncPrefetchOp, Planner &) const override {
    return success();
  }
  void emit(mosaic_gpu::AsyncPrefetchOp, Emitter &,
            OpBuilder &) const override {}
};

/// Ops that order TMA copies or belong to clusters; erased on chips without
/// them.
class BulkOrderOps : public OpLowering {
public:
  LogicalResult plan(Operation *, Planner &) const override {
    return success();
  }
  void emit(Operation *, Emitter &, OpBuilder &) const override {}
};

class ProxyFences : public LoweringOf<NVVM::FenceProxyOp> {
public:
  LogicalResult plan(NVVM::FenceProxyOp, Planner &) const override {
    return success();
  }
  void emit(NVVM::FenceProxyOp op, Emitter &emitter,
            OpBuilder &builder) const override {
    // Alias proxies exist on chips before TMA.
    if (op.getKind() == NVVM::ProxyKind::alias)
      emitter.emitScalar(op, builder);
  }
};

/// Election of one thread of a warp.
class Elections : public LoweringOf<NVVM::ElectSyncOp> {
public:
  LogicalResult plan(NVVM::ElectSyncOp op, Planner &planner) const override {
    if (op.getMembermask())
      return op.emitOpError()
             << "has a member mask, which is not supported on "
             << planner.getVendor().getTarget().name << "; remove the mask";
    return success();
  }
  void emit(NVVM::ElectSyncOp op, Emitter &emitter,
            OpBuilder &) const override {
    emitter.map(op.getResult(), emitter.vendor.emitElected(emitter.indices));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Why threads cannot perform a TMA copy.
static std::optional<std::string> refuse(const SliceOp &slice,
                                         const KernelPlan &kernel) {
  Operation *op = slice.op;
  if (std::optional<std::string> reason = refuseSlice(slice))
    return reason;
  if (auto load = dyn_cast<mosaic_gpu::AsyncLoadOp>(op)) {
    if (load.getLeaderTrackedAttr())
      return "'leader_tracked' is for pairs of blocks that execute tcgen05 "
             "operations together, which the target does not have; remove "
             "'leader_tracked'";
    std::optional<ArrayRef<int32_t>> cluster =
        gpu::GPUFuncOp(kernel.func).getKnownClusterSize();
    if (slice.collective && !slice.collective.empty() && cluster &&
        llvm::any_of(*cluster, [](int32_t size) { return size != 1; }))
      return "'collective' requires clusters, which the target does not have; "
             "remove 'collective'";
  }
  if (auto store = dyn_cast<mosaic_gpu::AsyncStoreOp>(op);
      store && store.getReductionOp())
    return "'reduction_op' requires TMA, which the target does not have; "
           "remove 'reduction_op', or compile for NVIDIA sm_90 or later";
  const ThreadGrid &grid = kernel.grid;
  if (!op->getParentOfType<mosaic_gpu::WarpMapOp>() &&
      grid.blockThreads % grid.numThreads != 0)
    return "all threads of a thread group perform the copy on this target, but "
           "the last thread group of the block has only " +
           std::to_string(grid.blockThreads % grid.numThreads) + " of " +
           std::to_string(grid.numThreads) +
           " threads; use a block size that is a multiple of " +
           std::to_string(grid.numThreads);
  return std::nullopt;
}

/// The window of the tensor that a slice covers.
static Window getWindow(const SliceOp &slice) {
  Window window;
  window.memref = slice.global;
  window.indices = slice.indices;
  int64_t vectorDim = 0;
  for (auto [length, index, extent] :
       llvm::zip_equal(slice.lengths, slice.indices,
                       cast<MemRefType>(slice.global.getType()).getShape())) {
    window.vectorDims.push_back(length == -1 ? -1 : vectorDim++);
    APInt start;
    bool isInside = slice.promisesInside;
    if (matchPattern(index, m_ConstantInt(&start)) &&
        !ShapedType::isDynamic(extent))
      isInside |= start.sge(0) &&
                  start.getSExtValue() + std::max<int64_t>(length, 1) <= extent;
    window.isChecked.push_back(!isInside);
  }
  return window;
}

/// Converts indices to distances in shared memory before the swizzle; nothing
/// if elements do not begin at byte boundaries.
static SmallVector<SharedSteps> getSteps(const SharedRef &ref) {
  MemoryLayout plain = ref.layout;
  plain.swizzleBytes = 16;
  int64_t rank = plain.shape.size(), untiled = rank - plain.tile.size();
  SmallVector<SharedSteps> steps;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto distance = [&](int64_t at) -> int64_t {
      SmallVector<int64_t> index(rank, 0);
      index[dim] = at;
      return at < plain.shape[dim]
                 ? plain.bitAddress(index, ref.elementBits) / 8
                 : 0;
    };
    int64_t tile = dim < untiled ? 0 : plain.tile[dim - untiled];
    if (tile == 0)
      steps.push_back({0, 0, distance(1)});
    else
      steps.push_back({tile, distance(tile), tile > 1 ? distance(1) : 0});
  }
  return steps;
}

/// Whether pieces of this many bytes are contiguous in shared memory, at
/// multiples of their size.
static bool isContiguous(const SharedRef &ref, ArrayRef<SharedSteps> steps,
                         int64_t width, int64_t bytes) {
  if (ref.log2Alignment < llvm::Log2_64(bytes))
    return false;
  const SharedSteps &last = steps.back();
  if (width > 1 &&
      (last.inner * width != bytes ||
       (last.tile != 0 ? last.tile : ref.layout.shape.back()) % width != 0))
    return false;
  // Steps along the last dimension are whole pieces.
  for (auto [dim, step] : llvm::enumerate(steps)) {
    bool isLast = dim + 1 == steps.size();
    if (step.outer % bytes != 0 ||
        (isLast ? step.inner * width : step.inner) % bytes != 0)
      return false;
  }
  return true;
}

/// The widest piece that is aligned on both sides; 0 if none is.
static int64_t findWidth(const ThreadCopyPlan &plan, const SharedRef &ref,
                         ArrayRef<int64_t> widths) {
  unsigned alignment = log2Alignment(getOutsideWarpMap(plan.window.memref));
  for (int64_t bytes : llvm::reverse(widths)) {
    if (bytes % plan.elementBytes != 0)
      continue;
    int64_t width = bytes / plan.elementBytes;
    if (plan.shape.back() % width != 0 ||
        !isContiguous(ref, plan.steps, width, bytes))
      continue;
    std::string why;
    ThreadGrid one{1, 1};
    std::optional<Distribution> distribution =
        Distribution::getStrided(plan.shape, width, one, why);
    if (!distribution)
      continue;
    // Each piece starts at a multiple of its length in the last dimension.
    SmallVector<Coordinate> coordinates(plan.shape.size());
    for (auto [coordinate, size] : llvm::zip_equal(coordinates, plan.shape))
      coordinate.log2 = size == 1 ? 62 : 0;
    coordinates.back().log2 = log2Divisor(width);
    if (getAccessWidth(plan.window, *distribution, coordinates, alignment) >=
        width)
      return width;
  }
  return 0;
}

LogicalResult ThreadCopies::plan(Operation *op, Planner &planner) const {
  SliceOp slice = getSlice(op);
  const targets::Target &target = planner.getVendor().getTarget();
  bool isLoad = isa<mosaic_gpu::AsyncLoadOp>(op);
  if (std::optional<std::string> why = refuse(slice, planner.getPlan()))
    return op->emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;
  if (isOrderedLoad(op, planner.getPlan().func))
    if (std::optional<std::string> why =
            planner.getVendor().refuseThreadGroupBarrier(planner.getGrid()))
      return op->emitOpError()
             << "requires a barrier per thread group: " << *why;
  auto plan = std::make_unique<ThreadCopyPlan>();
  if (isLoad) {
    planThreadArrivals(op, planner);
    const auto *announced = planner.getPlan().getOpPlan<LoadArrival>(op);
    if (!announced)
      return op->emitOpError()
             << "cannot be lowered for " << target.name
             << ": its mbarriers do not count bytes, so an 'arrive_expect_tx' "
                "on the barrier of this load must precede it in the same MLIR "
                "block, without synchronization between the two";
    plan->arrival = announced->arrival;
  }
  auto type = cast<MemRefType>(slice.global.getType());
  plan->elementBytes = elementBytes(type.getElementType());
  const SharedRef *ref = planner.getSharedRef(slice.shared);
  if (plan->elementBytes == 0 || !type.isStrided() || !ref) {
    StringRef why = "the buffer in shared memory cannot be determined "
                    "statically; use a view of one buffer";
    if (plan->elementBytes == 0)
      why = "the elements of the global memref are not whole bytes; use "
            "elements of 8, 16, 32 or 64 bits";
    else if (!type.isStrided())
      why = "the layout of the global memref is not strided; use a strided "
            "layout";
    return op->emitOpError()
           << "cannot be lowered for " << target.name << ": " << why;
  }
  plan->window = getWindow(slice);
  plan->shape = ref->layout.shape;
  if (plan->shape.empty())
    return op->emitOpError() << "cannot be lowered for " << target.name
                             << ": the slice in shared memory has rank 0; use "
                                "a slice of rank 1 or higher";
  plan->steps = getSteps(*ref);
  // cp.async fills the rest of a truncated load with zeros; a store does not
  // have an equivalent.
  plan->mayBeTruncated = isLoad && plan->window.isChecked.back() &&
                         plan->window.vectorDims.back() >= 0;
  if (plan->mayBeTruncated)
    plan->window.isChecked.back() = false;
  static constexpr int64_t storeBytes[] = {1, 2, 4, 8, 16};
  ArrayRef<int64_t> widths = isLoad ? target.asyncCopyBytes : storeBytes;
  plan->width = findWidth(*plan, *ref, widths);
  if (plan->width == 0) {
    const int64_t *narrowest = llvm::find_if(
        widths, [&](int64_t bytes) { return bytes % plan->elementBytes == 0; });
    bool isShared = narrowest == widths.end() ||
                    !isContiguous(*ref, plan->steps,
                                  *narrowest / plan->elementBytes, *narrowest);
    return op->emitOpError()
           << "cannot be lowered for " << target.name
           << ": the rows of the slice in " << (isShared ? "shared" : "global")
           << " memory cannot be proven to be contiguous and aligned to "
           << widths.front() << " bytes, the smallest "
           << (isLoad ? "asynchronous copy" : "store")
           << "; use static strides and aligned indices, or copy through "
              "registers with 'vector_load' and 'vector_store'";
  }
  int64_t threads = op->getParentOfType<mosaic_gpu::WarpMapOp>()
                        ? planner.getGrid().waveSize
                        : planner.getGrid().numThreads;
  int64_t pieces = ref->getNumElements() / plan->width;
  if (int64_t rounds = llvm::divideCeil(pieces, threads); rounds > kMaxRounds)
    return op->emitOpError()
           << "cannot be lowered for " << target.name
           << ": each thread would copy " << rounds << " pieces of "
           << plan->width * plan->elementBytes << " bytes; at most "
           << kMaxRounds << " are supported, so copy smaller slices";
  planner.requireSharedAlignment(
      std::max<int64_t>(plan->width * plan->elementBytes,
                        transfers::swizzlePeriod(ref->layout.swizzleBytes)));
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
/// Emits the pieces of one copy.
class PieceEmitter {
public:
  PieceEmitter(Operation *op, Emitter &emitter, OpBuilder &builder)
      : slice(getSlice(op)), emitter(emitter), builder(builder),
        loc(op->getLoc()), plan(*emitter.plan.getOpPlan<ThreadCopyPlan>(op)),
        ref(*emitter.plan.getSharedRef(slice.shared)),
        isLoad(isa<mosaic_gpu::AsyncLoadOp>(op)),
        isOfWarp(
            static_cast<bool>(op->getParentOfType<mosaic_gpu::WarpMapOp>())) {}

  void emit();

private:
  SmallVector<Coordinate> getCoordinatesInWarp(int64_t round);
  void emitRound(OpBuilder &nested, int64_t round);
  Value getSharedAddress(OpBuilder &nested, ArrayRef<Coordinate> coordinates);
  Value getGlobalAddress(OpBuilder &nested, ValueRange indices);
  /// The number of elements of a piece that are inside the tensor.
  Value countInside(OpBuilder &nested, WindowEmitter &windows, Value minor);

  SliceOp slice;
  Emitter &emitter;
  OpBuilder &builder;
  Location loc;
  const ThreadCopyPlan &plan;
  const SharedRef &ref;
  bool isLoad, isOfWarp;
  Value global;
  SmallVector<Value> windowIndices, strides;
};
} // namespace

/// As ThreadIndices::getChunkCoordinates, for a single warp.
SmallVector<Coordinate> PieceEmitter::getCoordinatesInWarp(int64_t round) {
  ThreadIndices &indices = emitter.indices;
  Value flat = indices.mul(
      indices.add(indices.getLane(), round * emitter.plan.grid.waveSize),
      plan.width);
  SmallVector<Coordinate> coordinates(plan.shape.size());
  for (size_t dim = plan.shape.size() - 1; dim > 0; --dim) {
    coordinates[dim].base = indices.rem(flat, plan.shape[dim]);
    flat = indices.div(flat, plan.shape[dim]);
  }
  coordinates[0].base = flat;
  return coordinates;
}

Value PieceEmitter::getSharedAddress(OpBuilder &nested,
                                     ArrayRef<Coordinate> coordinates) {
  ThreadIndices &indices = emitter.indices;
  // Terms that depend on the thread are computed at the head of the kernel.
  Value own;
  int64_t constant = 0;
  for (auto [coordinate, step] : llvm::zip_equal(coordinates, plan.steps)) {
    auto addTo = [&](Value part, int64_t stride) {
      own = indices.add(own, indices.mul(part, stride));
    };
    int64_t offset = coordinate.offset;
    if (!coordinate.base) {
      constant += step.tile == 0 ? offset * step.inner
                                 : offset / step.tile * step.outer +
                                       offset % step.tile * step.inner;
    } else if (step.tile == 0) {
      addTo(coordinate.base, step.inner);
      constant += offset * step.inner;
    } else {
      Value index = indices.add(coordinate.base, offset);
      addTo(indices.div(index, step.tile), step.outer);
      addTo(indices.rem(index, step.tile), step.inner);
    }
  }
  if (!own)
    own = indices.getConstant(0);
  own = indices.add(own, constant);
  OpBuilder &head = indices.getBuilder();
  own = arith::IndexCastOp::create(head, indices.getLoc(), head.getI32Type(),
                                   own);
  Value offset = emitter.getSharedOffset(slice.shared);
  int64_t swizzle = ref.layout.swizzleBytes;
  Value address;
  // The swizzle depends on the whole address.
  if (ref.log2Alignment >= llvm::Log2_64(transfers::swizzlePeriod(swizzle)))
    address = arith::AddIOp::create(nested, loc, offset,
                                    emitSwizzle(head, loc, own, swizzle));
  else
    address = emitSwizzle(
        nested, loc, arith::AddIOp::create(nested, loc, offset, own), swizzle);
  Value base = emitter.getSharedBase();
  return LLVM::GEPOp::create(nested, loc, base.getType(), nested.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{address});
}

Value PieceEmitter::getGlobalAddress(OpBuilder &nested, ValueRange indices) {
  Value offset;
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    Value part = arith::MulIOp::create(nested, loc, index, stride);
    offset = offset ? arith::AddIOp::create(nested, loc, offset, part) : part;
  }
  if (!offset)
    return global;
  offset = arith::MulIOp::create(
      nested, loc, offset, emitter.indices.getConstant(plan.elementBytes));
  offset = arith::IndexCastOp::create(nested, loc, nested.getI64Type(), offset);
  return LLVM::GEPOp::create(nested, loc, global.getType(), nested.getI8Type(),
                             global, ArrayRef<LLVM::GEPArg>{offset});
}

Value PieceEmitter::countInside(OpBuilder &nested, WindowEmitter &windows,
                                Value minor) {
  Value extent = windows.getExtent(
      static_cast<int64_t>(plan.window.vectorDims.size()) - 1);
  Value full = emitter.indices.getConstant(plan.width);
  Value left = arith::SubIOp::create(nested, loc, extent, minor);
  Value inside = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ult,
                                       minor, extent);
  return arith::SelectOp::create(
      nested, loc, inside, arith::MinSIOp::create(nested, loc, left, full),
      emitter.indices.getConstant(0));
}

void PieceEmitter::emitRound(OpBuilder &nested, int64_t round) {
  ThreadIndices &indices = emitter.indices;
  SmallVector<Coordinate> coordinates =
      isOfWarp ? getCoordinatesInWarp(round)
               : indices.getChunkCoordinates(plan.shape, plan.width, round,
                                             indices.getThread());
  Type elementType = cast<MemRefType>(slice.global.getType()).getElementType();
  WindowEmitter windows(plan.window, emitter.lookup(slice.global),
                        windowIndices, indices, nested, loc);
  Access access = windows.getAccess(
      coordinates, VectorType::get({plan.width}, elementType), 1);
  Value from = getGlobalAddress(nested, access.indices),
        to = getSharedAddress(nested, coordinates);
  int64_t bytes = plan.width * plan.elementBytes;
  if (isLoad) {
    Value count;
    if (plan.mayBeTruncated)
      count = countInside(nested, windows, access.indices.back());
    if (access.inBounds)
      count = arith::SelectOp::create(nested, loc, access.inBounds,
                                      count ? count
                                            : indices.getConstant(plan.width),
                                      indices.getConstant(0));
    if (count)
      count = arith::IndexCastOp::create(
          nested, loc, nested.getI32Type(),
          arith::MulIOp::create(nested, loc, count,
                                indices.getConstant(plan.elementBytes)));
    constexpr int64_t widest = 16;
    NVVM::CpAsyncOp::create(nested, loc, to, from, static_cast<uint32_t>(bytes),
                            bytes == widest ? NVVM::LoadCacheModifierKind::CG
                                            : NVVM::LoadCacheModifierKind::CA,
                            count);
    return;
  }
  // The widest word of this access.
  constexpr int64_t wordBytes = 4;
  Type moved = nested.getIntegerType(
      static_cast<unsigned>(std::min(bytes, wordBytes) * 8));
  if (bytes > wordBytes)
    moved = VectorType::get({bytes / wordBytes}, moved);
  auto store = [&](OpBuilder &inner) {
    Value read = LLVM::LoadOp::create(inner, loc, moved, to,
                                      static_cast<unsigned>(bytes));
    LLVM::StoreOp::create(inner, loc, read, from, static_cast<unsigned>(bytes));
  };
  if (!access.inBounds)
    return store(nested);
  scf::IfOp::create(nested, loc, access.inBounds,
                    [&](OpBuilder &inner, Location) {
                      store(inner);
                      scf::YieldOp::create(inner, loc);
                    });
}

void PieceEmitter::emit() {
  ThreadIndices &indices = emitter.indices;
  Value memref = emitter.lookup(slice.global);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address = arith::AddIOp::create(
      builder, loc, address,
      arith::MulIOp::create(builder, loc, metadata.getOffset(),
                            indices.getConstant(plan.elementBytes)));
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  auto pointer = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  global = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  llvm::append_range(strides, metadata.getStrides());
  for (Value index : slice.indices)
    windowIndices.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), emitter.lookup(index)));

  const ThreadGrid &grid = emitter.plan.grid;
  int64_t threads = isOfWarp ? grid.waveSize : grid.numThreads;
  int64_t pieces = ref.getNumElements() / plan.width;
  Value thread = isOfWarp ? indices.getLane() : indices.getThread();
  for (int64_t round = 0; round * threads < pieces; ++round) {
    int64_t left = pieces - round * threads;
    if (left >= threads) {
      emitRound(builder, round);
      continue;
    }
    Value hasPiece =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                              indices.getConstant(left));
    scf::IfOp::create(builder, loc, hasPiece, [&](OpBuilder &nested, Location) {
      emitRound(nested, round);
      scf::YieldOp::create(nested, loc);
    });
  }
}

void ThreadCopies::emit(Operation *op, Emitter &emitter,
                        OpBuilder &builder) const {
  Location loc = op->getLoc();
  SliceOp slice = getSlice(op);
  // Before a load, all threads of the group have read the previous contents.
  // Single warps ensure that themselves.
  if (isOrderedLoad(op, emitter.plan.func))
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  if (slice.predicate)
    scf::IfOp::create(builder, loc, emitter.lookup(slice.predicate),
                      [&](OpBuilder &nested, Location) {
                        PieceEmitter(op, emitter, nested).emit();
                        scf::YieldOp::create(nested, loc);
                      });
  else
    PieceEmitter(op, emitter, builder).emit();
  // The arrival follows the last copy.
  if (Operation *arrival = emitter.plan.getOpPlan<ThreadCopyPlan>(op)->arrival)
    emitArrival(arrival, /*isAfterCopies=*/true, emitter, builder);
}

void block_to_thread::registerThreadCopies(OpLowerings &lowerings) {
  lowerings
      .add<ThreadCopies, mosaic_gpu::AsyncLoadOp, mosaic_gpu::AsyncStoreOp>();
  lowerings.add<Prefetches, mosaic_gpu::AsyncPrefetchOp>();
  registerThreadArrivals(lowerings);
  lowerings.add<BulkOrderOps, NVVM::CpAsyncBulkCommitGroupOp,
                NVVM::CpAsyncBulkWaitGroupOp, NVVM::FenceMbarrierInitOp,
                NVVM::SetMaxRegisterOp>();
  lowerings.add<ProxyFences, NVVM::FenceProxyOp>();
  lowerings.add<Elections, NVVM::ElectSyncOp>();
}
