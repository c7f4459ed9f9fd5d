//===- NVIDIATransfers.cpp - Vectors between memory and registers ---------===//
//
// Transfers of shared memory as `planTransfer` plans them, where elements lie
// elsewhere than the memref's type says, or where several programs share the
// memory; and stores that combine. All others are the common ones.
//
//===----------------------------------------------------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/NVIDIALowerings.h"
#include "passes/Conversion/BlockToThread/Planner.h"
#include "passes/Conversion/BlockToThread/RegisterRelayouts.h"
#include "passes/Conversion/BlockToThread/RegisterWords.h"
#include "passes/Conversion/BlockToThread/SharedTransfers.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "passes/Conversion/BlockToThread/Windows.h"
#include "passes/Support/KernelAttributes.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::TransferNeed;
using transfers::TransferPlan;
using transfers::TransferProblem;

namespace {
struct SharedTransfer : OpPlan {
  TransferPlan transfer;
  /// Of what is stored; a splat's is one.
  std::optional<Distribution> distribution;
};

struct AtomicStore : OpPlan {
  explicit AtomicStore(LLVM::AtomicBinOp kind) : kind(kind) {}
  LLVM::AtomicBinOp kind;
};

class Loads : public LoweringOf<mosaic_gpu::VectorLoadOp> {
public:
  LogicalResult plan(mosaic_gpu::VectorLoadOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::VectorLoadOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

class Stores : public LoweringOf<mosaic_gpu::VectorStoreOp> {
public:
  LogicalResult plan(mosaic_gpu::VectorStoreOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Whether a memref is accessed by a plan.
static bool isPlanned(const KernelPlan &plan, Value memref) {
  const SharedRef *ref = plan.getSharedRef(memref);
  return ref && (ref->isTransformed() ||
                 plan.func->hasAttr(mosaic_gpu::kProgramThreads));
}

/// The best plan for what an op needs, or why there is none.
static layout::ValueOr<TransferPlan> findPlan(TransferProblem problem,
                                              TransferNeed need,
                                              const targets::Target &target) {
  layout::ValueOr<TransferPlan> any = planTransfer(problem, target);
  if (!any || need == TransferNeed::Unoptimized || any->isConflictFree())
    return any;
  problem.mustBeConflictFree = true;
  layout::ValueOr<TransferPlan> free = planTransfer(problem, target);
  if (need == TransferNeed::Downgradable)
    return free && free->cycles <= any->cycles ? free : any;
  // JAX does not count all conflicts of accesses of less than four bytes.
  if (!free && isTransferInJAX(problem, need))
    return any;
  return free;
}

/// The bytes that divide where the memory begins, as far as they matter.
static int64_t getAlignment(const SharedRef &ref) {
  constexpr unsigned log2Pattern = 10;
  return int64_t(1) << std::min(ref.log2Alignment, log2Pattern);
}

/// Plans the transfer of a vector in this distribution.
static std::optional<TransferPlan> planShared(Operation *op, Value memref,
                                              const Distribution &distribution,
                                              TransferNeed need,
                                              Planner &planner) {
  const SharedRef &ref = *planner.getSharedRef(memref);
  if (std::optional<std::string> why = checkSwizzleStart(ref)) {
    op->emitOpError() << "cannot be lowered to threads: " << *why;
    return std::nullopt;
  }
  TransferProblem problem;
  problem.registers = getRegisterLayout(distribution);
  problem.memory = ref.layout;
  problem.elementBits = ref.elementBits;
  problem.isLoad =
      need != TransferNeed::Downgradable && isa<mosaic_gpu::VectorLoadOp>(op);
  problem.warps = planner.getGrid().numWarps();
  const targets::Target &target = planner.getVendor().getTarget();
  auto plan = findPlan(problem, need, target);
  int64_t alignment = getAlignment(ref);
  if (plan && alignment < 16 && !plan->accesses.empty() &&
      plan->accesses.front().kind != transfers::AccessKind::Vector) {
    op->emitOpError() << "cannot be lowered to threads: rows of matrices begin "
                         "at multiples of 16 bytes, not of "
                      << alignment;
    return std::nullopt;
  }
  if (plan && alignment * 8 < ref.elementBits) {
    op->emitOpError() << "cannot be lowered to threads: elements of "
                      << ref.elementBits << " bits begin at multiples of "
                      << alignment << " bytes";
    return std::nullopt;
  }
  if (plan)
    return *plan;
  InFlightDiagnostic error = op->emitOpError()
                             << "cannot be lowered to threads: " << plan.reason;
  if (need == TransferNeed::Optimized && planTransfer(problem, target))
    error.attachNote() << "with 'optimized = false' it may have conflicts";
  return std::nullopt;
}

static TransferNeed getNeed(std::optional<bool> optimized, bool isLoad) {
  if (!optimized)
    return isLoad ? TransferNeed::Optimized : TransferNeed::Downgradable;
  return *optimized ? TransferNeed::Optimized : TransferNeed::Unoptimized;
}

static SharedPlace getPlace(Emitter &emitter, Value memref) {
  return {emitter.getSharedBase(), emitter.getSharedOffset(memref),
          emitter.plan.getSharedRef(memref)->log2Alignment};
}

LogicalResult Loads::plan(mosaic_gpu::VectorLoadOp op, Planner &planner) const {
  if (!isPlanned(planner.getPlan(), op.getSource()))
    return getCommonLoads().plan(op, planner);
  if (failed(planner.setResultLayout(op)))
    return failure();
  const Distribution distribution = *planner.find(op.getResult());
  std::optional<TransferPlan> transfer =
      planShared(op, op.getSource(), distribution,
                 getNeed(op.getOptimized(), /*isLoad=*/true), planner);
  if (!transfer)
    return failure();
  auto plan = std::make_unique<SharedTransfer>();
  plan->transfer = std::move(*transfer);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

void Loads::emit(mosaic_gpu::VectorLoadOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  if (!isPlanned(emitter.plan, op.getSource()))
    return getCommonLoads().emit(op, emitter, builder);
  const auto &plan = *emitter.plan.getOpPlan<SharedTransfer>(op);
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  SharedPlace place = getPlace(emitter, op.getSource());
  emitter.setRegisters(
      op.getResult(),
      TransferEmitter(builder, op.getLoc(), emitter.indices, plan.transfer,
                      place)
          .load(distribution.getRegisterType(
                    getElementTypeOrSelf(op.getResult().getType())),
                distribution.getNumRegisters()));
}

//===----------------------------------------------------------------------===//
// Stores that combine
//===----------------------------------------------------------------------===//

/// Minima and maxima of integers are of unsigned ones, as their type does not
/// say.
static std::optional<LLVM::AtomicBinOp>
getAtomicKind(mosaic_gpu::AtomicOpType type, Type elementType) {
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

static LogicalResult planAtomic(mosaic_gpu::VectorStoreOp op,
                                Planner &planner) {
  Value memref = op.getDestination();
  Type elementType = cast<MemRefType>(memref.getType()).getElementType();
  std::string why;
  if (!getWindow(op, why))
    return op->emitOpError() << "cannot be lowered to threads: " << why;
  if (isWorkgroupMemory(cast<MemRefType>(memref.getType())))
    return op->emitOpError() << "combines elements in shared memory, which is "
                                "not supported; combine them in global memory";
  std::optional<LLVM::AtomicBinOp> kind =
      getAtomicKind(*op.getAtomicType(), elementType);
  bool isMinMax = *op.getAtomicType() == mosaic_gpu::AtomicOpType::Min ||
                  *op.getAtomicType() == mosaic_gpu::AtomicOpType::Max;
  int64_t bits = getElementBits(elementType);
  bool isFloat = isa<FloatType>(elementType);
  bool isAdded = isFloat &&
                 *op.getAtomicType() == mosaic_gpu::AtomicOpType::Add &&
                 (elementType.isF16() || elementType.isBF16() ||
                  elementType.isF32() || elementType.isF64());
  if (!kind || (isFloat ? !isAdded : bits != 32 && bits != 64))
    return op->emitOpError()
           << "combines elements of type " << elementType << " by "
           << mosaic_gpu::stringifyAtomicOpType(*op.getAtomicType())
           << ", for which " << planner.getVendor().getTarget().name
           << " has no atomic instruction";
  if (isMinMax)
    return op->emitOpError()
           << "takes the "
           << mosaic_gpu::stringifyAtomicOpType(*op.getAtomicType())
           << " of integers that do not say whether they have a sign, which is "
              "not supported";
  if (planner.find(op.getValueToStore())->isSplat())
    return op->emitOpError() << "combines a splat with memory, which is not "
                                "supported; give it another layout";
  planner.setOpPlan(op, std::make_unique<AtomicStore>(*kind));
  return success();
}

static void emitAtomic(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
                       OpBuilder &builder) {
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<AtomicStore>(op);
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getValueToStore());
  Registers held = emitter.getRegisters(op.getValueToStore());
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

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Stores::plan(mosaic_gpu::VectorStoreOp op,
                           Planner &planner) const {
  if (op.getMultimem())
    return op->emitOpError()
           << "stores to several devices at once, which is not supported";
  if (op.getAtomicType())
    return planAtomic(op, planner);
  if (!isPlanned(planner.getPlan(), op.getDestination()))
    return getCommonStores().plan(op, planner);
  if (planner.getPlan().func->hasAttr(kAutoBarriers))
    if (std::optional<std::string> why =
            planner.getVendor().refuseProgramBarrier(planner.getGrid()))
      return op->emitOpError() << "needs barriers of a program: " << *why;
  Distribution distribution = *planner.find(op.getValueToStore());
  // The store may say how the threads share a splat.
  if (Attribute layout = layoutAt(op, mosaic_gpu::kInLayouts, 0);
      layout && distribution.isSplat()) {
    std::string why;
    if (std::optional<Distribution> wanted =
            Distribution::get(cast<VectorType>(op.getValueToStore().getType()),
                              layout, planner.getGrid(), why))
      distribution = std::move(*wanted);
  }
  std::optional<TransferPlan> transfer =
      planShared(op, op.getDestination(), distribution,
                 getNeed(op.getOptimized(), /*isLoad=*/false), planner);
  if (!transfer)
    return failure();
  auto plan = std::make_unique<SharedTransfer>();
  plan->transfer = std::move(*transfer);
  plan->distribution = std::move(distribution);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

void Stores::emit(mosaic_gpu::VectorStoreOp op, Emitter &emitter,
                  OpBuilder &builder) const {
  if (op.getAtomicType())
    return emitAtomic(op, emitter, builder);
  if (!isPlanned(emitter.plan, op.getDestination()))
    return getCommonStores().emit(op, emitter, builder);
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<SharedTransfer>(op);
  SharedPlace place = getPlace(emitter, op.getDestination());
  Registers held =
      emitter.getRegisters(op.getValueToStore(), *plan.distribution, builder);
  auto store = [&](OpBuilder &nested) {
    TransferEmitter transfer(nested, loc, emitter.indices, plan.transfer,
                             place);
    if (plan.distribution->isSplat())
      transfer.storeSplat(vector::ExtractOp::create(nested, loc, held.front(),
                                                    ArrayRef<int64_t>{0}));
    else
      transfer.store(held);
  };
  // What the program reads ahead of it, it has read; what it reads behind it
  // is there.
  bool isOrdered = emitter.plan.func->hasAttr(kAutoBarriers);
  if (isOrdered)
    emitter.vendor.emitProgramBarrier(builder, loc, emitter.indices);
  // Elements that several threads hold are written by the first of them.
  if (Value isFirst = emitter.indices.isFirstReplica(*plan.distribution))
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
      store(nested);
      scf::YieldOp::create(nested, loc);
    });
  else
    store(builder);
  if (isOrdered)
    emitter.vendor.emitProgramBarrier(builder, loc, emitter.indices);
}

void block_to_thread::registerNVIDIATransfers(OpLowerings &lowerings) {
  lowerings.add<Loads, mosaic_gpu::VectorLoadOp>();
  lowerings.add<Stores, mosaic_gpu::VectorStoreOp>();
}
