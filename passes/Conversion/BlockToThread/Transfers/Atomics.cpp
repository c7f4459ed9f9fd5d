//===- Atomics.cpp - Atomic operations at index vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element becomes an atomic instruction of LLVM, or a loop with cmpxchg.
// The backends expand instructions that the chip lacks to that loop. A loop
// for an element of less than a byte replaces the byte.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/IndexedAccess.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PackedTransfers.h"
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

/// Bytes of shared memory for an old value.
static int64_t getOldBytes(Type element) {
  return llvm::divideCeil(getElementBits(element), 8);
}

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
  if (failed(planIndexed(op, op.getDestination(), op.getIndices(), planner,
                         /*mayShareBytes=*/true)) ||
      failed(checkOrderedWrite(op, op.getDestination(), planner)))
    return failure();
  std::optional<Distribution> distribution = getDistribution(op, planner);
  if (!distribution)
    return failure();
  bool isBroadcast =
      distribution->isReplicated() && op.getOld() && !op.getOld().use_empty();
  if (isBroadcast) {
    auto type = cast<VectorType>(op.getOld().getType());
    int64_t bytes = type.getNumElements() * getOldBytes(type.getElementType());
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

/// The operation of LLVM's atomicrmw; nothing for multiplications.
static std::optional<LLVM::AtomicBinOp>
getOperation(arith::AtomicRMWKind kind) {
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
  case Kind::assign:
    return LLVM::AtomicBinOp::xchg;
  case Kind::mulf:
  case Kind::muli:
    return std::nullopt;
  }
  return std::nullopt;
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

namespace {
/// The address of an element of memory.
struct ElementAddress {
  Value pointer;
  /// The lowest bit of the element in its byte, an i8; null for an element of
  /// whole bytes.
  Value shift;
};
} // namespace

/// A loop that replaces the element by `combine(old)` until no other thread
/// changed its bytes since they were read. Returns the old value.
template <typename OpTy>
static Value emitLoop(OpTy op, const ElementAddress &address, Type element,
                      StringRef scope, OpBuilder &builder,
                      llvm::function_ref<Value(OpBuilder &, Value)> combine) {
  Location loc = op.getLoc();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type code = builder.getIntegerType(bits),
       word = address.shift ? builder.getI8Type() : code;
  unsigned bytes = word.getIntOrFloatBitWidth() / 8;
  /// The bits of the element in a word.
  auto getCode = [&](OpBuilder &nested, Value held) -> Value {
    if (!address.shift)
      return held;
    return arith::TruncIOp::create(
        nested, loc, code,
        arith::ShRUIOp::create(nested, loc, held, address.shift));
  };
  Value first = LLVM::LoadOp::create(
      builder, loc, word, address.pointer, /*alignment=*/bytes,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  auto replace = [&](OpBuilder &nested, Location, ValueRange arguments) {
    Value held = arguments.front(), old = getCode(nested, held);
    Value stored =
        castBits(nested, loc,
                 combine(nested, castBits(nested, loc, old, element)), code);
    if (address.shift) {
      // Flip the bits that differ.
      Value difference = arith::ExtUIOp::create(
          nested, loc, word, arith::XOrIOp::create(nested, loc, old, stored));
      stored = arith::XOrIOp::create(
          nested, loc, held,
          arith::ShLIOp::create(nested, loc, difference, address.shift));
    }
    Value pair = LLVM::AtomicCmpXchgOp::create(
        nested, loc, address.pointer, held, stored,
        getOrdering(op.getOrdering()), getLoadOrdering(op.getOrdering()), scope,
        bytes);
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
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(word),
                                   ValueRange(first), replace, repeat);
  return castBits(builder, loc, getCode(builder, loop.getResult(0)), element);
}

/// The operation on one element of memory, whose operands are elements of the
/// op's vectors, in order. Returns the old value.
static Value emitOperation(AtomicRMWOp op, const ElementAddress &address,
                           ArrayRef<Value> operands, targets::Vendor vendor,
                           OpBuilder &builder) {
  Location loc = op.getLoc();
  StringRef scope = getScopeName(op.getScope(), vendor);
  LLVM::AtomicOrdering ordering = getOrdering(op.getOrdering());
  // LLVM 22 selects PTX instructions for atomicrmw that are relaxed and of
  // device scope, for every ordering and scope.
  bool isNVIDIA = vendor == targets::Vendor::NVIDIA;
  std::optional<LLVM::AtomicBinOp> operation = getOperation(op.getKind());
  Type element = operands[0].getType();
  if (address.shift || !operation ||
      (isNVIDIA && op.getScope() == mosaic_gpu::AtomicScope::System))
    return emitLoop(op, address, element, scope, builder,
                    [&](OpBuilder &nested, Value old) {
                      return op.getKind() == arith::AtomicRMWKind::assign
                                 ? operands[0]
                                 : arith::getReductionOp(op.getKind(), nested,
                                                         loc, old, operands[0]);
                    });
  auto emitFence = [&](LLVM::AtomicOrdering part) {
    if (isNVIDIA &&
        (ordering == part || ordering == LLVM::AtomicOrdering::acq_rel))
      LLVM::FenceOp::create(builder, loc, part, scope);
  };
  unsigned bits = element.getIntOrFloatBitWidth();
  // Floats are replaced as integers, so that their bits do not change.
  Type type = op.getKind() == arith::AtomicRMWKind::assign
                  ? builder.getIntegerType(bits)
                  : element;
  emitFence(LLVM::AtomicOrdering::release);
  Value old = LLVM::AtomicRMWOp::create(
      builder, loc, *operation, address.pointer,
      castBits(builder, loc, operands[0], type), ordering, scope, bits / 8);
  emitFence(LLVM::AtomicOrdering::acquire);
  return castBits(builder, loc, old, element);
}

static Value emitOperation(AtomicCASOp op, const ElementAddress &address,
                           ArrayRef<Value> operands, targets::Vendor vendor,
                           OpBuilder &builder) {
  Location loc = op.getLoc();
  Type element = operands[0].getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  StringRef scope = getScopeName(op.getScope(), vendor);
  Value expected = castBits(builder, loc, operands[0], type),
        desired = castBits(builder, loc, operands[1], type);
  if (address.shift)
    return emitLoop(op, address, element, scope, builder,
                    [&](OpBuilder &nested, Value old) -> Value {
                      old = castBits(nested, loc, old, type);
                      Value isEqual = arith::CmpIOp::create(
                          nested, loc, arith::CmpIPredicate::eq, old, expected);
                      return arith::SelectOp::create(nested, loc, isEqual,
                                                     desired, old);
                    });
  Value pair = LLVM::AtomicCmpXchgOp::create(
      builder, loc, address.pointer, expected, desired,
      getOrdering(op.getOrdering()), getLoadOrdering(op.getOrdering()), scope,
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
    if (isPackedGlobal(memref)) {
      packed = mapped;
      return;
    }
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

  ElementAddress get(OpBuilder &builder, Value index) const {
    if (packed) {
      auto [pointer, shift] = getPackedElement(builder, loc, packed, index);
      return {pointer, shift};
    }
    return {
        advance(builder, arith::MulIOp::create(builder, loc, index, stride)),
        Value()};
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
  /// The memref, if its elements share bytes.
  Value packed;
};

/// Sends the old values of each element to all threads that hold it.
class OldValues {
public:
  OldValues(const Distribution &distribution, Type element, Emitter &emitter,
            Location loc)
      : distribution(distribution), element(element), emitter(emitter),
        loc(loc), start(getScratch(emitter)) {}

  void store(OpBuilder &builder, int64_t reg, int64_t position, Value old) {
    old = castBits(builder, loc, old, getStorageType(element));
    if (isPartOfByte())
      old = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), old);
    LLVM::StoreOp::create(builder, loc, old,
                          getAddress(builder, reg, position));
  }
  Value load(OpBuilder &builder, int64_t reg, int64_t position) {
    Type storage = getStorageType(element);
    Value old = LLVM::LoadOp::create(
        builder, loc, isPartOfByte() ? builder.getI8Type() : storage,
        getAddress(builder, reg, position));
    if (isPartOfByte())
      old = arith::TruncIOp::create(builder, loc, storage, old);
    return castBits(builder, loc, old, element);
  }

private:
  bool isPartOfByte() const { return getElementBits(element) < 8; }
  Value getAddress(OpBuilder &builder, int64_t reg, int64_t position) {
    ThreadIndices &indices = emitter.indices;
    int64_t stride = getOldBytes(element), constant = 0;
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
      ElementAddress address = elements.get(
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
