//===- PackedTransfers.cpp - Elements that share bytes --------------------===//

#include "passes/Conversion/BlockToThread/PackedTransfers.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Planner.h"
#include "passes/Conversion/BlockToThread/RegisterWords.h"
#include "passes/Conversion/BlockToThread/Windows.h"
#include "passes/Support/Divisibility.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct PackedPlan : OpPlan {
  explicit PackedPlan(Distribution distribution)
      : distribution(std::move(distribution)) {}
  /// Of the vector; of a splat, how the threads share it.
  Distribution distribution;
  SmallVector<int64_t> strides;
  /// Of every register's first byte.
  int64_t alignment = 1;
};
} // namespace

static int64_t getBits(MemRefType type) {
  Type element = type.getElementType();
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

bool block_to_thread::isPackedGlobal(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bits = getBits(type);
  return (bits == 2 || bits == 4) && !mosaic_gpu::isSharedMemory(type) &&
         !mosaic_gpu::isClusterMemory(type) && mosaic_gpu::isGlobalMemory(type);
}

/// 2^n elements divide where a memref begins, counted from memory that is
/// aligned to more than any access; 0 where nothing is known.
static unsigned log2Elements(Value memref, int64_t bits) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(cast<MemRefType>(memref.getType())
                 .getStridesAndOffset(strides, offset)))
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    bool isOfKernel = isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    return isOfKernel && offset == 0
               ? log2ArgumentAlignment(argument) + llvm::Log2_64(8 / bits)
               : 0;
  }
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return log2Elements(cast.getSource(), bits);
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return 0;
  unsigned log2 = log2Elements(view.getSource(), bits);
  if (failed(cast<MemRefType>(view.getSource().getType())
                 .getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [index, stride] : llvm::zip_equal(view.getMixedOffsets(), strides))
    log2 = std::min(log2, log2Divisor(index) + (ShapedType::isDynamic(stride)
                                                    ? 0
                                                    : log2Divisor(stride)));
  return log2;
}

/// The index of the first element of a register.
static SmallVector<int64_t> getIndex(const Distribution &distribution,
                                     const ThreadGrid &grid, int64_t thread,
                                     int64_t reg) {
  if (distribution.getKind() == Distribution::Kind::Tiled)
    return distribution.getTiled().elementIndex(distribution.getShape(),
                                                thread / grid.waveSize,
                                                thread % grid.waveSize, reg, 0);
  layout::StridedLayout strided{SmallVector<int64_t>(distribution.getShape()),
                                distribution.getVectorLength()};
  return strided.elementIndex(grid.numThreads, thread, reg, 0);
}

LogicalResult block_to_thread::planPacked(Operation *op, Value memref,
                                          Value vector, Planner &planner) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bits = getBits(type);
  int64_t offset;
  std::optional<Distribution> shared = *planner.find(vector);
  auto refuse = [&](const Twine &why) {
    return op->emitOpError() << "cannot be lowered to threads: elements of "
                             << bits << " bits share bytes, and " << why;
  };
  std::string why;
  if (shared->isSplat())
    shared = Distribution::share(
        cast<VectorType>(vector.getType()), /*minLength=*/8 / bits,
        /*maxLength=*/kMaxAccessBytes * 8 / bits, planner.getGrid(), why);
  if (!shared)
    return refuse("the threads cannot share a splat: " + why);
  auto plan = std::make_unique<PackedPlan>(std::move(*shared));
  const Distribution &distribution = plan->distribution;
  if (failed(type.getStridesAndOffset(plan->strides, offset)) ||
      llvm::any_of(plan->strides, ShapedType::isDynamic) ||
      plan->strides.empty() || plan->strides.back() != 1)
    return refuse("the memory is not known to be rows of them");
  int64_t registerBits = distribution.getVectorLength() * bits;
  if (registerBits % 8 != 0 || distribution.getVectorStride() != 1 ||
      distribution.getVectorDim() !=
          static_cast<int64_t>(distribution.getShape().size()) - 1)
    return refuse("a register is not of whole bytes of a row");
  // All places that there are: a register's first element, in elements.
  unsigned log2 = log2Elements(memref, bits);
  const ThreadGrid &grid = planner.getGrid();
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
    for (int64_t thread = 0; thread < grid.numThreads; ++thread) {
      int64_t linear = 0;
      for (auto [index, stride] : llvm::zip_equal(
               getIndex(distribution, grid, thread, reg), plan->strides))
        linear += index * stride;
      log2 = std::min(log2, log2Divisor(linear));
    }
  if (log2 < llvm::Log2_64(8 / bits))
    return refuse("a register is not known to begin with a byte");
  // No load is wider.
  constexpr unsigned log2Widest = 4;
  plan->alignment = int64_t(1) << std::min<unsigned>(
                        log2 - llvm::Log2_64(8 / bits), log2Widest);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

/// Pointers to where the registers of a vector lie.
static SmallVector<Value> emitPointers(Operation *op, Value memref,
                                       const PackedPlan &plan, Emitter &emitter,
                                       OpBuilder &builder) {
  Location loc = op->getLoc();
  const Distribution &distribution = plan.distribution;
  ThreadIndices &indices = emitter.indices;
  int64_t perByte = 8 / getBits(cast<MemRefType>(memref.getType()));
  Value source = emitter.lookup(memref);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, source);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, source);
  Value start = metadata.getOffset();
  SmallVector<Value> pointers;
  auto pointerType = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    Value own;
    int64_t constant = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(
             indices.getCoordinates(distribution, reg), plan.strides)) {
      own = indices.add(own, indices.mul(coordinate.base, stride));
      constant += coordinate.offset * stride;
    }
    own = indices.add(own ? own : indices.getConstant(0), constant);
    Value element = arith::AddIOp::create(builder, loc, start, own);
    Value byte = arith::AddIOp::create(
        builder, loc, address,
        arith::DivUIOp::create(builder, loc, element,
                               indices.getConstant(perByte)));
    byte = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
    pointers.push_back(
        LLVM::IntToPtrOp::create(builder, loc, pointerType, byte));
  }
  return pointers;
}

static VectorType getBytes(VectorType reg) {
  int64_t bits = reg.getDimSize(0) * getElementBits(reg.getElementType());
  return VectorType::get({bits / 8}, IntegerType::get(reg.getContext(), 8));
}

Registers block_to_thread::emitPackedLoad(Operation *op, Value memref,
                                          VectorType type, Emitter &emitter,
                                          OpBuilder &builder) {
  Location loc = op->getLoc();
  const auto &plan = *emitter.plan.getOpPlan<PackedPlan>(op);
  auto alignment = static_cast<unsigned>(plan.alignment);
  VectorType reg = plan.distribution.getRegisterType(type.getElementType());
  Registers loaded;
  for (Value pointer : emitPointers(op, memref, plan, emitter, builder)) {
    Value bytes =
        LLVM::LoadOp::create(builder, loc, getBytes(reg), pointer, alignment);
    loaded.push_back(vector::BitCastOp::create(builder, loc, reg, bytes));
  }
  return loaded;
}

void block_to_thread::emitPackedStore(Operation *op, Value memref, Value vector,
                                      Emitter &emitter, OpBuilder &builder) {
  Location loc = op->getLoc();
  const auto &plan = *emitter.plan.getOpPlan<PackedPlan>(op);
  auto alignment = static_cast<unsigned>(plan.alignment);
  Registers registers =
      emitter.getRegisters(vector, plan.distribution, builder);
  auto store = [&](OpBuilder &nested) {
    for (auto [pointer, reg] : llvm::zip_equal(
             emitPointers(op, memref, plan, emitter, nested), registers)) {
      Value bytes = vector::BitCastOp::create(
          nested, loc, getBytes(cast<VectorType>(reg.getType())), reg);
      LLVM::StoreOp::create(nested, loc, bytes, pointer, alignment);
    }
  };
  // Elements that several threads hold are written by the first of them.
  Value isFirst = emitter.indices.isFirstReplica(plan.distribution);
  if (!isFirst)
    return store(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    store(nested);
    scf::YieldOp::create(nested, loc);
  });
}
