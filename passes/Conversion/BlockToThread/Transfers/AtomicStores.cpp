//===- AtomicStores.cpp - Atomic stores -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Transfers/AtomicStores.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct AtomicStore : OpPlan {
  AtomicStore(LLVM::AtomicBinOp kind, Distribution distribution)
      : kind(kind), distribution(std::move(distribution)) {}
  LLVM::AtomicBinOp kind;
  /// The distribution of the stored vector; a splat is distributed across the
  /// threads.
  Distribution distribution;
};
} // namespace

/// Minima and maxima of signless integers are unsigned, as in JAX.
static std::optional<LLVM::AtomicBinOp> getKind(mosaic_gpu::AtomicOpType type,
                                                Type elementType) {
  using Kind = mosaic_gpu::AtomicOpType;
  bool isFloat = isa<FloatType>(elementType);
  switch (type) {
  case Kind::Add:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case Kind::Min:
    return isFloat ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::umin;
  case Kind::Max:
    return isFloat ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::umax;
  case Kind::And:
    return isFloat ? std::nullopt : std::make_optional(LLVM::AtomicBinOp::_and);
  case Kind::Or:
    return isFloat ? std::nullopt : std::make_optional(LLVM::AtomicBinOp::_or);
  case Kind::Xor:
    return isFloat ? std::nullopt : std::make_optional(LLVM::AtomicBinOp::_xor);
  }
  return std::nullopt;
}

std::optional<LLVM::AtomicBinOp>
block_to_thread::getAtomicKind(mosaic_gpu::VectorStoreOp op, Planner &planner) {
  auto type = cast<MemRefType>(op.getDestination().getType());
  Type elementType = type.getElementType();
  if (mosaic_gpu::isClusterMemory(type)) {
    op->emitOpError() << "stores atomically to shared memory of another block, "
                         "which is not supported; use 'async_store_smem'";
    return std::nullopt;
  }
  auto isSupported = [&](Type element) {
    int64_t bits = getElementBits(element);
    return getKind(*op.getAtomicType(), element) && !element.isIndex() &&
           (element.isF16() || element.isBF16() || bits == 32 || bits == 64);
  };
  if (isSupported(elementType))
    return getKind(*op.getAtomicType(), elementType);
  op->emitOpError() << "has atomic_type '"
                    << mosaic_gpu::stringifyAtomicOpType(*op.getAtomicType())
                    << "' for elements of type " << elementType << "; "
                    << planner.getVendor().getTarget().name
                    << " has this atomic operation for elements of type "
                    << listElementTypes(op->getContext(), isSupported);
  return std::nullopt;
}

std::optional<Distribution>
block_to_thread::distributeSplat(mosaic_gpu::VectorStoreOp op,
                                 Planner &planner) {
  std::string why;
  std::optional<Distribution> distributed = Distribution::share(
      cast<VectorType>(op.getValueToStore().getType()),
      /*minLength=*/1, /*maxLength=*/1, planner.getGrid(), why);
  if (!distributed)
    op->emitOpError()
        << "stores a splat that cannot be distributed across the threads: "
        << why;
  return distributed;
}

LogicalResult block_to_thread::planAtomic(mosaic_gpu::VectorStoreOp op,
                                          LLVM::AtomicBinOp kind,
                                          Planner &planner) {
  std::string why;
  if (!getWindow(op, why))
    return op->emitOpError() << "cannot be lowered to thread level: " << why;
  if (isWorkgroupMemory(op.getDestination().getType()))
    return op->emitOpError()
           << "cannot be lowered to thread level: the destination may be "
              "several shared-memory buffers; use views of one buffer";
  std::optional<Distribution> distribution =
      *planner.find(op.getValueToStore());
  if (distribution->isSplat())
    distribution = distributeSplat(op, planner);
  if (!distribution)
    return failure();
  planner.setOpPlan(
      op, std::make_unique<AtomicStore>(kind, std::move(*distribution)));
  return success();
}

void block_to_thread::emitAtomics(OpBuilder &builder, Location loc,
                                  LLVM::AtomicBinOp kind, Value address,
                                  Value vector) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bytes = getElementBits(type.getElementType()) / 8;
  for (int64_t element = 0; element < type.getDimSize(0); ++element) {
    Value pointer = LLVM::GEPOp::create(
        builder, loc, address.getType(), builder.getI8Type(), address,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(element * bytes)});
    Value scalar = vector::ExtractOp::create(builder, loc, vector,
                                             ArrayRef<int64_t>{element});
    LLVM::AtomicRMWOp::create(
        builder, loc, kind, pointer, scalar, LLVM::AtomicOrdering::monotonic,
        /*syncscope=*/"block", static_cast<unsigned>(bytes));
  }
}

void block_to_thread::emitAtomic(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
                                 OpBuilder &builder) {
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<AtomicStore>(op);
  const Distribution &distribution = plan.distribution;
  Registers held =
      emitter.getRegisters(op.getValueToStore(), distribution, builder);
  std::string why;
  Window window = *getWindow(op, why);
  Value memref = emitter.lookup(window.memref);
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = getElementBits(type.getElementType()) / 8;
  ThreadIndices &indices = emitter.indices;

  auto emit = [&](OpBuilder &nested) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(nested, loc, memref);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(nested, loc, memref);
    address =
        arith::IndexCastOp::create(nested, loc, nested.getI64Type(), address);
    Value base = LLVM::IntToPtrOp::create(
        nested, loc, LLVM::LLVMPointerType::get(nested.getContext()), address);
    WindowEmitter windows(window, memref, ValueRange(), indices, nested, loc);
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
      for (int64_t element = 0; element < distribution.getVectorLength();
           ++element) {
        SmallVector<Coordinate> coordinates =
            indices.getCoordinates(distribution, reg);
        coordinates[distribution.getVectorDim()].offset +=
            element * distribution.getVectorStride();
        Value offset = metadata.getOffset();
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          offset = arith::AddIOp::create(
              nested, loc, offset,
              arith::MulIOp::create(nested, loc,
                                    windows.getIndex(dim, coordinates),
                                    metadata.getStrides()[dim]));
        offset = arith::MulIOp::create(nested, loc, offset,
                                       indices.getConstant(bytes));
        offset = arith::IndexCastOp::create(nested, loc, nested.getI64Type(),
                                            offset);
        Value pointer =
            LLVM::GEPOp::create(nested, loc, base.getType(), nested.getI8Type(),
                                base, ArrayRef<LLVM::GEPArg>{offset});
        Value scalar = vector::ExtractOp::create(nested, loc, held[reg],
                                                 ArrayRef<int64_t>{element});
        LLVM::AtomicRMWOp::create(nested, loc, plan.kind, pointer, scalar,
                                  LLVM::AtomicOrdering::monotonic,
                                  /*syncscope=*/"device",
                                  static_cast<unsigned>(bytes));
      }
  };
  Value isFirst = indices.isFirstReplica(distribution);
  if (!isFirst)
    return emit(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    emit(nested);
    scf::YieldOp::create(nested, loc);
  });
}
