//===- AsyncCopyLowering.cpp - Asynchronous copies to shared memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/BlockToThread/Copies/AsyncCounts.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct CopyPlan : OpPlan {
  explicit CopyPlan(int64_t width) : width(width) {}
  /// Elements per copy of a thread.
  int64_t width;
};

struct WaitPlan : OpPlan {
  explicit WaitPlan(int64_t copiesInFlight) : copiesInFlight(copiesInFlight) {}
  /// Copies of a thread that the wait leaves in flight.
  int64_t copiesInFlight;
};

class AsyncCopies : public LoweringOf<mosaic_gpu::AsyncCopyOp> {
public:
  LogicalResult plan(mosaic_gpu::AsyncCopyOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::AsyncCopyOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class AsyncGroups : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

LogicalResult AsyncCopies::plan(mosaic_gpu::AsyncCopyOp op,
                                Planner &planner) const {
  const VendorLowering &vendor = planner.getVendor();
  const targets::Target &target = vendor.getTarget();
  if (std::optional<std::string> why = vendor.refuseAsyncCopy())
    return op.emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;
  auto sourceType = cast<MemRefType>(op.getSource().getType()),
       destinationType = cast<MemRefType>(op.getDestination().getType());
  if (getPackedBits(sourceType.getElementType()) != 0)
    return op.emitOpError()
           << "cannot copy elements of type " << sourceType.getElementType()
           << ": asynchronous copies require elements of whole bytes; load the "
              "elements with 'mosaic_gpu.vector_load', and store them with "
              "'mosaic_gpu.vector_store'";
  int64_t bytes = elementBytes(sourceType.getElementType());
  StringRef required;
  if (bytes == 0 || sourceType.getElementType().isIndex())
    required = "elements must be scalars of whole bytes";
  else if (!sourceType.isStrided() || !destinationType.isStrided())
    required = "the source and the destination must be strided";
  else if (!destinationType.hasStaticShape())
    required = "the destination must have static sizes";
  else if (sourceType.getRank() != destinationType.getRank() ||
           sourceType.getRank() == 0)
    required = "the ranks must be equal and at least 1";
  else if (!isWorkgroupMemory(destinationType))
    required = "the destination must be in shared memory";
  if (!required.empty())
    return op.emitOpError()
           << "cannot copy " << sourceType << " to " << destinationType
           << " asynchronously: " << required;

  // The copies of a wave write consecutive addresses of shared memory.
  bool writesConsecutively =
      target.asyncCopy == targets::AsyncCopyKind::LDSLoad;
  if (writesConsecutively &&
      !memref::isStaticShapeAndContiguousRowMajor(destinationType))
    return op.emitOpError()
           << "copies to " << destinationType
           << ", which has gaps between its rows, but the loads of a wave "
              "write consecutive LDS addresses on "
           << target.name << "; use a contiguous destination";

  // The widest copy whose addresses are aligned on both sides. A chunk then
  // never crosses the lower bound; a count truncates it at the upper bound, or
  // it does not cross that either.
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
    // Each chunk of the tile starts at a multiple of its length in the last
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
    planner.setOpPlan(op, std::make_unique<CopyPlan>(elements));
    return success();
  }
  return op.emitOpError()
         << "has a source or destination whose rows cannot be proven to be "
            "contiguous and aligned to "
         << target.asyncCopyBytes.front()
         << " bytes, the size of the smallest asynchronous copy on "
         << target.name
         << "; copy through registers with 'vector_load' and 'vector_store'";
}

LogicalResult AsyncGroups::plan(Operation *op, Planner &planner) const {
  const VendorLowering &vendor = planner.getVendor();
  if (std::optional<std::string> why = vendor.refuseAsyncCopy())
    return op->emitOpError() << "cannot be lowered for "
                             << vendor.getTarget().name << ": " << *why;
  return success();
}

/// Groups become numbers of copies. A round of copies that only some waves
/// execute is not counted: the other waves would wait for too few copies.
LogicalResult AsyncGroups::planKernel(Planner &planner) const {
  const KernelPlan &plan = planner.getPlan();
  const ThreadGrid &grid = plan.grid;
  DenseMap<Operation *, int64_t> counts =
      countCopiesInFlight(plan.func, [&](Operation *op) {
        auto copy = cast<mosaic_gpu::AsyncCopyOp>(op);
        int64_t chunks =
            cast<MemRefType>(copy.getDestination().getType()).getNumElements() /
            plan.getOpPlan<CopyPlan>(op)->width;
        int64_t left = chunks % grid.numThreads;
        return chunks / grid.numThreads +
               (left > grid.numThreads - grid.waveSize ? 1 : 0);
      });
  for (auto [wait, count] : counts)
    planner.setOpPlan(wait, std::make_unique<WaitPlan>(count));
  return success();
}

void AsyncGroups::emit(Operation *op, Emitter &emitter,
                       OpBuilder &builder) const {
  if (auto wait = dyn_cast<mosaic_gpu::AsyncWaitGroupOp>(op))
    emitter.vendor.emitAsyncWait(
        builder, op->getLoc(), wait.getPending(),
        emitter.plan.getOpPlan<WaitPlan>(op)->copiesInFlight);
  else
    emitter.vendor.emitAsyncCommit(builder, op->getLoc());
}

void AsyncCopies::emit(mosaic_gpu::AsyncCopyOp op, Emitter &emitter,
                       OpBuilder &builder) const {
  ThreadIndices &indices = emitter.indices;
  const VendorLowering &vendor = emitter.vendor;
  Location loc = op.getLoc();
  int64_t width = emitter.plan.getOpPlan<CopyPlan>(op)->width;
  Value source = emitter.lookup(op.getSource()),
        destination = emitter.lookup(op.getDestination());
  ArrayRef<int64_t> shape = cast<MemRefType>(destination.getType()).getShape();
  int64_t rank = shape.size();
  int64_t chunks =
      cast<MemRefType>(destination.getType()).getNumElements() / width;
  SmallVector<Value> windowIndices = emitter.lookup(op.getIndices());

  targets::AsyncCopyKind kind = vendor.getTarget().asyncCopy;
  Window window;
  window.vectorDims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Window destinationWindow = window;
  destinationWindow.isChecked.assign(rank, false);
  window.isChecked.assign(rank, true);
  window.isChecked.back() = kind != targets::AsyncCopyKind::CpAsync;

  // Rounds in which every thread copies a chunk, and a last partial round.
  const ThreadGrid &grid = emitter.plan.grid;
  int64_t rounds = (chunks + grid.numThreads - 1) / grid.numThreads;
  for (int64_t round = 0; round < rounds; ++round) {
    auto emit = [&](OpBuilder &nested) {
      SmallVector<Coordinate> coordinates =
          indices.getChunkCoordinates(shape, width, round, indices.getThread());
      WindowEmitter from(window, source, windowIndices, indices, nested, loc);
      WindowEmitter to(destinationWindow, destination, ValueRange(), indices,
                       nested, loc);
      VectorType type = VectorType::get(
          {width}, cast<MemRefType>(source.getType()).getElementType());
      AsyncPiece piece{from.getAccess(coordinates, type, 1),
                       from.getExtent(rank - 1),
                       destination,
                       {},
                       {}};
      for (int64_t dim = 0; dim < rank; ++dim)
        piece.indices.push_back(to.getIndex(dim, coordinates));
      if (kind == targets::AsyncCopyKind::LDSLoad) {
        SmallVector<Coordinate> first = indices.getChunkCoordinates(
            shape, width, round, emitter.getFirstThreadOfWave());
        for (int64_t dim = 0; dim < rank; ++dim)
          piece.waveIndices.push_back(to.getIndex(dim, first));
      }
      vendor.emitAsyncCopy(nested, loc, piece);
    };
    int64_t left = chunks - round * grid.numThreads;
    if (left >= grid.numThreads) {
      emit(builder);
      continue;
    }
    Value hasChunk =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                              indices.getThread(), indices.getConstant(left));
    scf::IfOp::create(builder, loc, hasChunk, [&](OpBuilder &nested, Location) {
      emit(nested);
      scf::YieldOp::create(nested, loc);
    });
  }
}

void block_to_thread::registerAsyncCopies(OpLowerings &lowerings) {
  lowerings.add<AsyncCopies, mosaic_gpu::AsyncCopyOp>();
  lowerings.add<AsyncGroups, mosaic_gpu::AsyncCommitGroupOp,
                mosaic_gpu::AsyncWaitGroupOp>();
}
