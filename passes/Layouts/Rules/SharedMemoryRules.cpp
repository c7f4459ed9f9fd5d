//===- SharedMemoryRules.cpp - Layout rules of shared memory ops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/NamedLayouts.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using namespace smalti::mosaic_gpu;

namespace {

/// Kind of `ConstraintSystem::getAlias`.
constexpr int64_t kSharedAlias = 0;

struct SliceRule {
  static LogicalResult derive(SliceSMEMOp op, ConstraintSystem &system) {
    if (!hasLayout(op.getResult()))
      return success();
    if (op.getAliasId())
      system.getAlias(op.getResult(), kSharedAlias, op.getOffset(),
                      *op.getAliasId());
    else
      system.create(op.getResult());
    return success();
  }
};

struct WithTransformsRule {
  static LogicalResult derive(WithTransformsOp op, ConstraintSystem &system) {
    if (!hasLayout(op.getRef()))
      return success();
    VarId var = system.share(op.getRefMutable());
    system.bind(var, op.getResult());
    LayoutTable &layouts = system.getLayouts();
    return requireLayout(
        system, op, var,
        layouts.fromAttribute(op.getTransforms(), op.getType()),
        "the op sets the layout of the memory");
  }
};

struct ClusterRefRule {
  static LogicalResult derive(GetClusterRefOp op, ConstraintSystem &system) {
    if (hasLayout(op.getSource()))
      system.bind(system.share(op.getSourceMutable()), op.getResult());
    return success();
  }
};

/// A cast to another shape keeps the order of elements in memory.
struct ReinterpretRule {
  static LogicalResult derive(ReinterpretCastOp op, ConstraintSystem &system) {
    if (!hasLayout(op.getSource()))
      return success();
    VarId source = system.share(op.getSourceMutable());
    VarId result = system.create(op.getResult());
    StringRef reason =
        "a cast to another shape keeps the row-major order of the elements";
    if (getMemory(op.getSource().getType()) == Memory::Shared &&
        op.getSource().getType() != op.getResult().getType()) {
      system.assign(source, system.getLayouts().noTransforms(), reason);
      system.assign(result, system.getLayouts().noTransforms(), reason);
      return success();
    }
    system.equal(source, result,
                 "source and result are the same memory, so they must have the "
                 "same layout");
    return success();
  }
};

template <typename OpTy> struct ClusterCancelRule {
  static LogicalResult derive(OpTy op, ConstraintSystem &system) {
    if (hasLayout(op.getCancellationResult()))
      system.assign(system.share(op.getCancellationResultMutable()),
                    system.getLayouts().noTransforms(),
                    "the op writes a response of 16 contiguous bytes");
    return success();
  }
};

struct WarpMapRule {
  static LogicalResult derive(WarpMapOp op, ConstraintSystem &system) {
    Block &body = op.getRegion().front();
    for (OpOperand &operand : op->getOpOperands())
      if (hasLayout(operand.get()))
        system.bind(system.share(operand),
                    body.getArgument(operand.getOperandNumber()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The indices of a gather are distributed across the warps if their number is
/// sufficient; otherwise every warp holds all of them.
LogicalResult addGatherIndices(Operation *op, MutableOperandRange indices,
                               ConstraintSystem &system) {
  LayoutTable &layouts = system.getLayouts();
  for (OpOperand &index : indices) {
    auto type = dyn_cast<VectorType>(index.get().getType());
    if (!type)
      continue;
    int64_t warps = layouts.getWarps(), lanes = layouts.getLanes();
    SmallVector<LayoutId> candidates;
    for (const layout::TiledLayout &layout :
         {layout::tmaIndices(warps, lanes), layout::tmaIndices4(warps, lanes)})
      if (LayoutId id = layouts.tiled(layout); layouts.fits(id, type))
        candidates.push_back(id);
    if (candidates.empty())
      return op->emitOpError()
             << "gathers " << type.getNumElements()
             << " rows; the number of rows must be a multiple of 4";
    system.oneOf(
        system.create(index), candidates,
        "a TMA gather copies 4 rows, so a warp must hold 4 consecutive "
        "row indices");
  }
  return success();
}

/// Minimum bits of a row that a gather writes: it moves 4 rows to addresses
/// that are multiples of 128 bytes.
constexpr int64_t kGatherRowBits = 256;

template <typename OpTy>
LogicalResult addSlice(OpTy op, OpOperand &memory, MemRefType global,
                       ConstraintSystem &system) {
  SmallVector<int64_t, 4> multiples;
  bool isGather = false;
  for (auto [dim, size, index] :
       llvm::enumerate(op.getSliceLengths(), op.getIndices())) {
    // The destination does not have this dimension.
    if (size == -1)
      continue;
    if (!isa<VectorType>(index.getType())) {
      multiples.push_back(divisorOf(size, index));
      continue;
    }
    isGather = true;
    if (dim != 0)
      return op.emitOpError() << "gathers along dimension " << dim
                              << "; only dimension 0 is supported";
    if (global.getRank() != 2)
      return op.emitOpError() << "gathers from global memory of rank "
                              << global.getRank() << "; rank 2 is required";
    multiples.push_back(size);
  }
  if (!hasLayout(memory.get()))
    return addGatherIndices(op, op.getIndicesMutable(), system);
  VarId var = system.share(memory);
  system.divides(var, multiples,
                 "the slice must begin and end at tile boundaries");
  system
      .add(Constraint::Kind::BulkCopy, var, kNoVar,
           "the bulk copy moves the rows of its tiles")
      .type = memory.get().getType();
  if (isGather) {
    int64_t divisor =
        kGatherRowBits /
        std::clamp<int64_t>(getElementBits(global), 1, kGatherRowBits);
    if (op.getSliceLengths().back() % divisor != 0)
      return op.emitOpError()
             << "gathers rows of " << op.getSliceLengths().back()
             << " elements; the length must be a multiple of " << divisor
             << " (" << kGatherRowBits / 8 << " bytes)";
    system
        .add(Constraint::Kind::MinorDivisible, var, kNoVar,
             "a gather writes at least 32 bytes of each row")
        .numbers.push_back(divisor);
  }
  return addGatherIndices(op, op.getIndicesMutable(), system);
}

struct AsyncLoadRule {
  static LogicalResult derive(AsyncLoadOp op, ConstraintSystem &system) {
    return addSlice(op, op.getDestinationMutable(),
                    cast<MemRefType>(op.getSource().getType()), system);
  }
};

struct AsyncStoreRule {
  static LogicalResult derive(AsyncStoreOp op, ConstraintSystem &system) {
    return addSlice(op, op.getSourceMutable(),
                    cast<MemRefType>(op.getDestination().getType()), system);
  }
};

struct AsyncPrefetchRule {
  static LogicalResult derive(AsyncPrefetchOp op, ConstraintSystem &system) {
    return addGatherIndices(op, op.getIndicesMutable(), system);
  }
};

/// A copy by threads, which does not support tiles.
struct AsyncCopyRule {
  static LogicalResult derive(AsyncCopyOp op, ConstraintSystem &system) {
    if (hasLayout(op.getDestination()))
      system.assign(system.share(op.getDestinationMutable()),
                    system.getLayouts().noTransforms(),
                    "its threads copy elements in row-major order");
    return success();
  }
};

} // namespace

void inference::registerSharedMemoryRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MosaicGPUDialect *) {
    attachRule<SliceRule, SliceSMEMOp>(context);
    attachRule<WithTransformsRule, WithTransformsOp>(context);
    attachRule<ClusterRefRule, GetClusterRefOp>(context);
    attachRule<ReinterpretRule, ReinterpretCastOp>(context);
    attachRule<ClusterCancelRule<TryClusterCancelOp>, TryClusterCancelOp>(
        context);
    attachRule<ClusterCancelRule<QueryClusterCancelOp>, QueryClusterCancelOp>(
        context);
    attachRule<WarpMapRule, WarpMapOp>(context);
    attachRule<AsyncLoadRule, AsyncLoadOp>(context);
    attachRule<AsyncStoreRule, AsyncStoreOp>(context);
    attachRule<AsyncPrefetchRule, AsyncPrefetchOp>(context);
    attachRule<AsyncCopyRule, AsyncCopyOp>(context);
  });
}
