//===- Atomics.cpp - Atomic operations at index vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element becomes an atomic instruction of LLVM. The backends expand types
// and operations without an instruction to a loop with cmpxchg.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/IndexedAccess.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using mosaic_gpu::AtomicCASOp;
using mosaic_gpu::AtomicRMWOp;

namespace {
struct AtomicPlan : OpPlan {
  AtomicPlan(Distribution distribution, bool isBroadcast)
      : distribution(std::move(distribution)), isBroadcast(isBroadcast) {}
  Distribution distribution;
  /// Whether the first thread that holds an element sends the old value to the
  /// others through shared memory.
  bool isBroadcast;
};

template <typename OpTy> class Atomics : public LoweringOf<OpTy> {
public:
  LogicalResult plan(OpTy op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override {
    placeScratch(planner.getPlan());
    return success();
  }
  void emit(OpTy op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// The distribution of the operations across the threads, or an error.
template <typename OpTy>
static std::optional<Distribution> getDistribution(OpTy op, Planner &planner) {
  const Distribution &found = findIndexedDistribution(
      op, [&](Value value) { return planner.find(value); });
  if (!found.isSplat())
    return found;
  if (op.getOld()) {
    op.emitOpError()
        << "has a result in the splat layout, in which all elements are equal, "
           "but the old values in memory may differ; use another layout";
    return std::nullopt;
  }
  // Equal operations: they are distributed across the threads.
  std::string why;
  auto type = cast<VectorType>(op.getIndices().getType());
  std::optional<Distribution> distribution = Distribution::share(
      type, /*minLength=*/1, /*maxLength=*/1, planner.getGrid(), why);
  if (!distribution)
    op.emitOpError()
        << "has only splats, which cannot be distributed across the threads: "
        << why;
  return distribution;
}

template <typename OpTy>
LogicalResult Atomics<OpTy>::plan(OpTy op, Planner &planner) const {
  if (failed(planIndexed(op, op.getDestination(), op.getIndices(), planner)) ||
      failed(checkOrderedWrite(op, op.getDestination(), planner)))
    return failure();
  std::optional<Distribution> distribution = getDistribution(op, planner);
  if (!distribution)
    return failure();
  bool isBroadcast =
      distribution->isReplicated() && op.getOld() && !op.getOld().use_empty();
  if (isBroadcast) {
    auto type = cast<VectorType>(op.getOld().getType());
    int64_t bytes =
        type.getNumElements() * getElementBits(type.getElementType()) / 8;
    if (failed(reserveScratch(op, planner, bytes)))
      return failure();
  }
  planner.setOpPlan(
      op, std::make_unique<AtomicPlan>(std::move(*distribution), isBroadcast));
  return success();
}

//===----------------------------------------------------------------------===//
// Operation on one element
//===----------------------------------------------------------------------===//

static LLVM::AtomicBinOp getOperation(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  switch (kind) {
  case Kind::addf:
    return LLVM::AtomicBinOp::fadd;
  case Kind::addi:
    return LLVM::AtomicBinOp::add;
  case Kind::andi:
    return LLVM::AtomicBinOp::_and;
  case Kind::ori:
    return LLVM::AtomicBinOp::_or;
  case Kind::xori:
    return LLVM::AtomicBinOp::_xor;
  case Kind::maximumf:
    return LLVM::AtomicBinOp::fmaximum;
  case Kind::minimumf:
    return LLVM::AtomicBinOp::fminimum;
  case Kind::maxnumf:
    return LLVM::AtomicBinOp::fmax;
  case Kind::minnumf:
    return LLVM::AtomicBinOp::fmin;
  case Kind::maxs:
    return LLVM::AtomicBinOp::max;
  case Kind::mins:
    return LLVM::AtomicBinOp::min;
  case Kind::maxu:
    return LLVM::AtomicBinOp::umax;
  case Kind::minu:
    return LLVM::AtomicBinOp::umin;
  default:
    return LLVM::AtomicBinOp::xchg;
  }
}

static LLVM::AtomicOrdering getOrdering(mosaic_gpu::AtomicOrdering ordering) {
  using Ordering = mosaic_gpu::AtomicOrdering;
  switch (ordering) {
  case Ordering::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case Ordering::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case Ordering::Release:
    return LLVM::AtomicOrdering::release;
  case Ordering::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

/// The ordering of a comparison that fails, which is a load.
static LLVM::AtomicOrdering
getLoadOrdering(mosaic_gpu::AtomicOrdering ordering) {
  using Ordering = mosaic_gpu::AtomicOrdering;
  return ordering == Ordering::Acquire || ordering == Ordering::AcqRel
             ? LLVM::AtomicOrdering::acquire
             : LLVM::AtomicOrdering::monotonic;
}

/// LLVM's name of a scope; the empty name is the system.
static StringRef getScopeName(mosaic_gpu::AtomicScope scope,
                              targets::Vendor vendor) {
  using Scope = mosaic_gpu::AtomicScope;
  bool isNVIDIA = vendor == targets::Vendor::NVIDIA;
  switch (scope) {
  case Scope::Block:
    return isNVIDIA ? "block" : "workgroup";
  case Scope::Device:
    return isNVIDIA ? "device" : "agent";
  case Scope::System:
    return "";
  }
  return "";
}

/// The same bits as another type of the same width.
static Value castBits(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

/// A loop that replaces the element until no other thread changed it since it
/// was read. Returns the old value.
static Value emitLoop(AtomicRMWOp op, Value address, Value value,
                      StringRef scope, OpBuilder &builder) {
  Location loc = op.getLoc();
  Type element = value.getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  Value first = LLVM::LoadOp::create(
      builder, loc, type, address, /*alignment=*/bits / 8, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  auto replace = [&](OpBuilder &nested, Location, ValueRange arguments) {
    Value old = castBits(nested, loc, arguments.front(), element);
    Value combined =
        op.getKind() == arith::AtomicRMWKind::assign
            ? value
            : arith::getReductionOp(op.getKind(), nested, loc, old, value);
    Value pair = LLVM::AtomicCmpXchgOp::create(
        nested, loc, address, arguments.front(),
        castBits(nested, loc, combined, type), getOrdering(op.getOrdering()),
        getLoadOrdering(op.getOrdering()), scope, bits / 8);
    Value found =
        LLVM::ExtractValueOp::create(nested, loc, pair, ArrayRef<int64_t>{0});
    Value isEqual =
        LLVM::ExtractValueOp::create(nested, loc, pair, ArrayRef<int64_t>{1});
    Value isChanged = arith::XOrIOp::create(
        nested, loc, isEqual, arith::ConstantIntOp::create(nested, loc, 1, 1));
    scf::ConditionOp::create(nested, loc, isChanged, found);
  };
  auto repeat = [&](OpBuilder &nested, Location, ValueRange arguments) {
    scf::YieldOp::create(nested, loc, arguments);
  };
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(type),
                                   ValueRange(first), replace, repeat);
  return castBits(builder, loc, loop.getResult(0), element);
}

/// The operation on one element of memory, whose operands are elements of the
/// op's vectors, in order. Returns the old value.
static Value emitOperation(AtomicRMWOp op, Value address,
                           ArrayRef<Value> operands, targets::Vendor vendor,
                           OpBuilder &builder) {
  Location loc = op.getLoc();
  StringRef scope = getScopeName(op.getScope(), vendor);
  LLVM::AtomicOrdering ordering = getOrdering(op.getOrdering());
  // LLVM 22 selects PTX instructions for atomicrmw that are relaxed and of
  // device scope, for every ordering and scope.
  bool isNVIDIA = vendor == targets::Vendor::NVIDIA;
  if (isNVIDIA && op.getScope() == mosaic_gpu::AtomicScope::System)
    return emitLoop(op, address, operands[0], scope, builder);
  auto emitFence = [&](LLVM::AtomicOrdering part) {
    if (isNVIDIA &&
        (ordering == part || ordering == LLVM::AtomicOrdering::acq_rel))
      LLVM::FenceOp::create(builder, loc, part, scope);
  };
  Type element = operands[0].getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  // Floats are replaced as integers, so that their bits do not change.
  Type type = op.getKind() == arith::AtomicRMWKind::assign
                  ? builder.getIntegerType(bits)
                  : element;
  emitFence(LLVM::AtomicOrdering::release);
  Value old = LLVM::AtomicRMWOp::create(
      builder, loc, getOperation(op.getKind()), address,
      castBits(builder, loc, operands[0], type), ordering, scope, bits / 8);
  emitFence(LLVM::AtomicOrdering::acquire);
  return castBits(builder, loc, old, element);
}

static Value emitOperation(AtomicCASOp op, Value address,
                           ArrayRef<Value> operands, targets::Vendor vendor,
                           OpBuilder &builder) {
  Location loc = op.getLoc();
  Type element = operands[0].getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  Value pair = LLVM::AtomicCmpXchgOp::create(
      builder, loc, address, castBits(builder, loc, operands[0], type),
      castBits(builder, loc, operands[1], type), getOrdering(op.getOrdering()),
      getLoadOrdering(op.getOrdering()), getScopeName(op.getScope(), vendor),
      bits / 8);
  Value old =
      LLVM::ExtractValueOp::create(builder, loc, pair, ArrayRef<int64_t>{0});
  return castBits(builder, loc, old, element);
}

static SmallVector<Value> getOperands(AtomicRMWOp op) {
  return {op.getValues()};
}
static SmallVector<Value> getOperands(AtomicCASOp op) {
  return {op.getExpected(), op.getDesired()};
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
/// Pointers to elements of a one-dimensional memref.
class Elements {
public:
  Elements(Value memref, Emitter &emitter, OpBuilder &builder, Location loc)
      : loc(loc) {
    Value mapped = emitter.lookup(memref);
    auto type = cast<MemRefType>(mapped.getType());
    bytes = getElementBits(type.getElementType()) / 8;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, mapped);
    stride = metadata.getStrides()[0];
    if (emitter.plan.getSharedRef(memref)) {
      base = emitter.getSharedPointer(memref, builder);
      return;
    }
    Value address = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(),
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, mapped));
    MLIRContext *context = builder.getContext();
    base = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context), address);
    // Both vendors number global memory 1.
    base = LLVM::AddrSpaceCastOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context, 1), base);
    base = advance(builder, metadata.getOffset());
  }

  Value get(OpBuilder &builder, Value index) const {
    return advance(builder, arith::MulIOp::create(builder, loc, index, stride));
  }

private:
  /// A number of elements after the base.
  Value advance(OpBuilder &builder, Value count) const {
    Value offset = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(),
        arith::MulIOp::create(
            builder, loc, count,
            arith::ConstantIndexOp::create(builder, loc, bytes)));
    return LLVM::GEPOp::create(builder, loc, base.getType(),
                               builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }

  Location loc;
  int64_t bytes = 0;
  Value base, stride;
};

/// Sends the old values of each element to all threads that hold it.
class OldValues {
public:
  OldValues(const Distribution &distribution, Type element, Emitter &emitter,
            Location loc)
      : distribution(distribution), element(element), emitter(emitter),
        loc(loc), start(getScratch(emitter)) {}

  void store(OpBuilder &builder, int64_t reg, int64_t position, Value old) {
    LLVM::StoreOp::create(builder, loc,
                          castBits(builder, loc, old, getStorageType(element)),
                          getAddress(builder, reg, position));
  }
  Value load(OpBuilder &builder, int64_t reg, int64_t position) {
    Value old = LLVM::LoadOp::create(builder, loc, getStorageType(element),
                                     getAddress(builder, reg, position));
    return castBits(builder, loc, old, element);
  }

private:
  Value getAddress(OpBuilder &builder, int64_t reg, int64_t position) {
    ThreadIndices &indices = emitter.indices;
    int64_t stride = getElementBits(element) / 8, constant = 0;
    Value varying;
    SmallVector<Coordinate> coordinates =
        indices.getCoordinates(distribution, reg);
    coordinates[distribution.getVectorDim()].offset +=
        position * distribution.getVectorStride();
    for (int64_t dim = distribution.getShape().size() - 1; dim >= 0; --dim) {
      const Coordinate &coordinate = coordinates[dim];
      constant += coordinate.offset * stride;
      varying = indices.add(varying, indices.mul(coordinate.base, stride));
      stride *= distribution.getShape()[dim];
    }
    Value bytes = varying ? indices.add(varying, constant)
                          : indices.getConstant(constant);
    Value offset = arith::AddIOp::create(
        builder, loc, start.offset,
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), bytes));
    return LLVM::GEPOp::create(builder, loc, start.base.getType(),
                               builder.getI8Type(), start.base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }

  const Distribution &distribution;
  Type element;
  Emitter &emitter;
  Location loc;
  SharedAddress start;
};
} // namespace

template <typename OpTy>
void Atomics<OpTy>::emit(OpTy op, Emitter &emitter, OpBuilder &builder) const {
  Location loc = op.getLoc();
  const auto &plan = *emitter.plan.getOpPlan<AtomicPlan>(op);
  const Distribution &distribution = plan.distribution;
  Value result = op.getOld();
  auto get = [&](Value vector) {
    return emitter.getRegisters(vector, distribution, builder);
  };
  SmallVector<Registers> operands;
  for (Value operand : getOperands(op))
    operands.push_back(get(operand));
  Registers indices = get(op.getIndices());
  Registers masks = op.getMask() ? get(op.getMask()) : Registers();
  Type element =
      cast<VectorType>(getOperands(op).front().getType()).getElementType();
  targets::Vendor vendor = emitter.vendor.getTarget().vendor;

  Elements elements(op.getDestination(), emitter, builder, loc);
  /// The old value of one element, or nothing if it is not used.
  auto emitElement = [&](OpBuilder &nested, int64_t reg, int64_t position) {
    auto emitActive = [&](OpBuilder &inner) {
      SmallVector<Value> scalars;
      for (const Registers &held : operands)
        scalars.push_back(getElement(inner, loc, held[reg], position));
      Value address = elements.get(
          inner, getIndexElement(inner, loc, indices[reg], position));
      return emitOperation(op, address, scalars, vendor, inner);
    };
    if (masks.empty())
      return emitActive(nested);
    Value mask = getElement(nested, loc, masks[reg], position);
    auto branch = scf::IfOp::create(
        nested, loc, mask,
        [&](OpBuilder &inner, Location) {
          scf::YieldOp::create(inner, loc, emitActive(inner));
        },
        [&](OpBuilder &inner, Location) {
          Value zero =
              arith::ConstantOp::create(inner, loc, inner.getZeroAttr(element));
          scf::YieldOp::create(inner, loc, zero);
        });
    return branch.getResult(0);
  };
  auto forEach = [&](llvm::function_ref<void(int64_t, int64_t)> visit) {
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
      for (int64_t position = 0; position < distribution.getVectorLength();
           ++position)
        visit(reg, position);
  };

  bool isOrdered = isOrderedWrite(op.getDestination(), emitter.plan);
  if (isOrdered)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  std::optional<OldValues> sent;
  if (plan.isBroadcast)
    sent.emplace(distribution, element, emitter, loc);
  SmallVector<Value> old;
  emitter.emitOnce(distribution, builder, loc, [&](OpBuilder &nested) {
    forEach([&](int64_t reg, int64_t position) {
      old.push_back(emitElement(nested, reg, position));
      if (sent)
        sent->store(nested, reg, position, old.back());
    });
  });
  if (sent) {
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
    old.clear();
    forEach([&](int64_t reg, int64_t position) {
      old.push_back(sent->load(builder, reg, position));
    });
  }
  if (isOrdered || sent)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  if (!result || result.use_empty())
    return;
  Registers held;
  int64_t length = distribution.getVectorLength();
  for (ArrayRef<Value> rest = old; !rest.empty();
       rest = rest.drop_front(length))
    held.push_back(vector::FromElementsOp::create(
        builder, loc, distribution.getRegisterType(element),
        rest.take_front(length)));
  emitter.setRegisters(result, std::move(held));
}

void block_to_thread::registerAtomics(OpLowerings &lowerings) {
  lowerings.add<Atomics<AtomicRMWOp>, AtomicRMWOp>();
  lowerings.add<Atomics<AtomicCASOp>, AtomicCASOp>();
}
