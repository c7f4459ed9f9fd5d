//===- LowerPackedAccesses.cpp - smalti-lower-packed-accesses -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERPACKEDACCESSES
#define GEN_PASS_DEF_SMALTILOWERPACKEDACCESSES
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
/// An access of packed memory and its lowering.
struct Access {
  Operation *op = nullptr;
  Value memref;
  ValueRange indices;
  /// Offsets of a gather's elements from the first, along the last dimension.
  Value distances;
  /// Null: all lanes are active.
  Value mask;
  /// The stored value; null for a load.
  Value stored;
  /// The value of inactive lanes of a load.
  Value passThru;
  int64_t bits = 0;
  /// Number of consecutive elements.
  int64_t count = 1;
  /// 2^n elements provably divide the position of the first one.
  unsigned log2Start = 0;
  /// Alignment of the address of the first byte.
  int64_t alignment = 1;
  bool isNontemporal = false;
  /// Whether a store writes whole bytes.
  bool storesBytes = false;
  unsigned addressSpace = 0;

  int64_t perByte() const { return 8 / bits; }
  int64_t bytes() const { return llvm::divideCeil(count * bits, 8); }
  bool beginsWithByte() const { return log2Start >= llvm::Log2_64(perByte()); }
  MemRefType getType() const { return cast<MemRefType>(memref.getType()); }
};
} // namespace

static int64_t getPackedBits(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type ? getPackedBits(type.getElementType()) : 0;
}

/// Whether elements are narrower than a byte and do not divide it.
static bool isUneven(Type element) {
  if (!element.isIntOrFloat())
    return false;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 0 || (bits < 8 && 8 % bits != 0);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Whether a mask combines other masks bit by bit.
static bool isCombinedMask(Operation *op) {
  return isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

/// Whether the lanes of each byte are all active or all inactive; for a mask
/// that does not combine others.
static bool isPlainMaskByteUniform(Value mask, int64_t perByte) {
  DenseElementsAttr constant;
  if (matchPattern(mask, m_Constant(&constant))) {
    auto values = llvm::to_vector(constant.getValues<bool>());
    for (size_t lane = 0; lane < values.size(); ++lane)
      if (values[lane] != values[lane / perByte * perByte])
        return false;
    return true;
  }
  Operation *op = mask.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSourceType());
  // Lane numbers compared with a bound that is at a byte boundary.
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return false;
  using Predicate = arith::CmpIPredicate;
  Value lanes = compare.getLhs(), bound = compare.getRhs();
  // lane < bound, or its negation.
  bool isLess = llvm::is_contained(
      {Predicate::slt, Predicate::ult, Predicate::sge, Predicate::uge},
      compare.getPredicate());
  if (!matchPattern(lanes, m_Constant(&constant))) {
    std::swap(lanes, bound);
    isLess = llvm::is_contained(
        {Predicate::sgt, Predicate::ugt, Predicate::sle, Predicate::ule},
        compare.getPredicate());
  }
  if (!isLess || !matchPattern(lanes, m_Constant(&constant)))
    return false;
  auto splat = bound.getDefiningOp<vector::BroadcastOp>();
  if (!splat || isa<VectorType>(splat.getSourceType()) ||
      log2Divisor(splat.getSource()) < llvm::Log2_64(perByte))
    return false;
  auto numbers = llvm::to_vector(constant.getValues<APInt>());
  for (size_t lane = 0; lane < numbers.size(); ++lane) {
    int64_t number = numbers[lane].getSExtValue(),
            first = numbers[lane / perByte * perByte].getSExtValue();
    if (llvm::divideFloorSigned(number, perByte) !=
        llvm::divideFloorSigned(first, perByte))
      return false;
  }
  return true;
}

/// Whether the lanes of each byte are all active or all inactive. Visits each
/// mask once, independent of the number of uses.
class ByteUniformMasks {
public:
  bool contains(Value mask, int64_t perByte) {
    SmallVector<Value> stack = {mask};
    while (!stack.empty()) {
      Value current = stack.back();
      Operation *op = current.getDefiningOp();
      auto [entry, isNew] = known.try_emplace({current, perByte}, false);
      if (isNew && isCombinedMask(op)) {
        stack.push_back(op->getOperand(0));
        stack.push_back(op->getOperand(1));
        continue;
      }
      if (isNew)
        entry->second = isPlainMaskByteUniform(current, perByte);
      else if (isCombinedMask(op))
        entry->second = known.lookup({op->getOperand(0), perByte}) &&
                        known.lookup({op->getOperand(1), perByte});
      stack.pop_back();
    }
    return known.lookup({mask, perByte});
  }

private:
  DenseMap<std::pair<Value, int64_t>, bool> known;
};

/// Whether the memory is private to a thread.
static bool isPrivateMemory(Value memref) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(memref.getType()).getMemorySpace());
  if (space)
    return space.getValue() == gpu::AddressSpace::Private;
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref.getDefiningOp<memref::AllocaOp>() != nullptr;
}

/// The address space of pointers into a memref.
static FailureOr<unsigned> getAddressSpace(Operation *op, MemRefType type,
                                           const targets::Target *chip) {
  Attribute space = type.getMemorySpace();
  if (!space)
    return 0u;
  if (auto number = dyn_cast<IntegerAttr>(space))
    return static_cast<unsigned>(number.getInt());
  auto named = dyn_cast<gpu::AddressSpaceAttr>(space);
  if (named && named.getValue() == gpu::AddressSpace::Global)
    return 1u;
  if (named && named.getValue() == gpu::AddressSpace::Workgroup)
    return 3u;
  if (named && chip)
    return chip->vendor == targets::Vendor::AMD ? 5u : 0u;
  return op->emitOpError()
         << "accesses elements of type " << type.getElementType()
         << " in memory space " << space << ", "
         << (named ? "whose pointer type depends on the target; set the option "
                     "'target' or the attribute 'smalti.target'"
                   : "which is not supported; use a number, or the global, "
                     "workgroup or private #gpu.address_space");
}

/// The access of an op; nothing for other ops.
static std::optional<Access> getAccess(Operation *op) {
  Access access;
  access.op = op;
  std::optional<uint64_t> alignment;
  auto common = [&](auto of) {
    access.memref = of.getMemRef();
    access.indices = of.getIndices();
    alignment = of.getAlignment();
  };
  bool isKnown = llvm::TypeSwitch<Operation *, bool>(op)
                     .Case([&](memref::LoadOp load) {
                       common(load);
                       access.isNontemporal = load.getNontemporal();
                       return true;
                     })
                     .Case([&](memref::StoreOp store) {
                       common(store);
                       access.stored = store.getValueToStore();
                       access.isNontemporal = store.getNontemporal();
                       return true;
                     })
                     .Case([&](vector::LoadOp load) {
                       access.memref = load.getBase();
                       access.indices = load.getIndices();
                       alignment = load.getAlignment();
                       access.isNontemporal = load.getNontemporal();
                       return true;
                     })
                     .Case([&](vector::StoreOp store) {
                       access.memref = store.getBase();
                       access.indices = store.getIndices();
                       alignment = store.getAlignment();
                       access.stored = store.getValueToStore();
                       access.isNontemporal = store.getNontemporal();
                       return true;
                     })
                     .Case([&](vector::MaskedLoadOp load) {
                       access.memref = load.getBase();
                       access.indices = load.getIndices();
                       alignment = load.getAlignment();
                       access.mask = load.getMask();
                       access.passThru = load.getPassThru();
                       return true;
                     })
                     .Case([&](vector::MaskedStoreOp store) {
                       access.memref = store.getBase();
                       access.indices = store.getIndices();
                       alignment = store.getAlignment();
                       access.mask = store.getMask();
                       access.stored = store.getValueToStore();
                       return true;
                     })
                     .Case([&](vector::GatherOp gather) {
                       access.memref = gather.getBase();
                       access.indices = gather.getOffsets();
                       access.distances = gather.getIndices();
                       access.mask = gather.getMask();
                       access.passThru = gather.getPassThru();
                       return true;
                     })
                     .Default([](Operation *) { return false; });
  if (!isKnown || !isa<MemRefType>(access.memref.getType()))
    return std::nullopt;
  access.alignment = static_cast<int64_t>(alignment.value_or(1));
  return access;
}

/// Why a store does not write whole bytes, if it does not.
static std::optional<std::string> refuseStore(const Access &access,
                                              ByteUniformMasks &masks) {
  int64_t perByte = access.perByte();
  if (access.count % perByte != 0)
    return "but " + std::to_string(access.count * access.bits) +
           " bits are not whole bytes";
  if (!access.beginsWithByte())
    return "but the index of the first element cannot be proven to be a "
           "multiple of " +
           std::to_string(perByte);
  if (access.mask && !masks.contains(access.mask, perByte))
    return "but the mask may select a part of a byte";
  return std::nullopt;
}

/// A thread does not have registers for more, and each byte becomes code.
static constexpr int64_t kMaxElements = 1 << 16;

/// Completes an access, or fails with an error at the op.
static LogicalResult planAccess(Access &access, const targets::Target *chip,
                                ByteUniformMasks &masks) {
  Operation *op = access.op;
  MemRefType type = access.getType();
  access.bits = getPackedBits(type.getElementType());
  auto vector = dyn_cast<VectorType>(
      access.stored ? access.stored.getType() : op->getResult(0).getType());
  if (vector && (vector.getRank() != 1 || vector.isScalable()))
    return op->emitOpError()
           << "accesses elements of type " << type.getElementType()
           << " as a vector of type " << vector
           << "; a one-dimensional vector of static size is required";
  access.count = vector ? vector.getNumElements() : 1;
  if (access.count > kMaxElements)
    return op->emitOpError()
           << "accesses a vector of " << access.count
           << " elements narrower than a byte; at most " << kMaxElements
           << " are supported, so use a smaller vector";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError()
           << "accesses elements of type " << type.getElementType()
           << ", which are narrower than a byte, in a memref whose layout is "
              "not strided; use a strided layout";
  FailureOr<unsigned> space = getAddressSpace(op, type, chip);
  if (failed(space))
    return failure();
  access.addressSpace = *space;
  access.log2Start = log2PackedStart(access.memref);
  for (auto [index, stride] : llvm::zip_equal(access.indices, strides))
    access.log2Start =
        std::min(access.log2Start,
                 log2Divisor(index) +
                     (ShapedType::isDynamic(stride) ? 0 : log2Divisor(stride)));
  // The op's own alignment attribute.
  unsigned log2PerByte = llvm::Log2_64(access.perByte());
  if (access.alignment > 1)
    access.log2Start =
        std::max(access.log2Start, log2PerByte + log2Divisor(access.alignment));
  constexpr unsigned log2Widest = 4;
  if (access.beginsWithByte())
    access.alignment = int64_t(1)
                       << std::min(access.log2Start - log2PerByte, log2Widest);
  // The elements of a vector are consecutive.
  if (vector && access.count > 1 && !strides.empty() && strides.back() != 1) {
    std::string stride = ShapedType::isDynamic(strides.back())
                             ? "?"
                             : std::to_string(strides.back());
    return op->emitOpError()
           << "accesses a vector in a memref with innermost stride " << stride
           << "; stride 1 is required for elements narrower than a byte";
  }
  if (!access.stored)
    return success();
  std::optional<std::string> why = refuseStore(access, masks);
  access.storesBytes = !why;
  if (!why || isPrivateMemory(access.memref))
    return success();
  return op->emitOpError()
         << "stores " << access.bits << "-bit elements, " << access.perByte()
         << " per byte, " << *why
         << ": another thread may concurrently store the rest of a byte, which "
            "is a data race; store a multiple of "
         << access.perByte() << " elements at an index that is a multiple of "
         << access.perByte() << ", such as the result of arith.muli with "
         << access.perByte();
}

/// Finds all accesses, or reports those without a lowering.
static LogicalResult planAccesses(gpu::GPUModuleOp module,
                                  const targets::Target *chip,
                                  SmallVectorImpl<Access> &accesses) {
  bool isFailed = false;
  ByteUniformMasks masks;
  module.walk([&](Operation *op) {
    if (auto global = dyn_cast<memref::GlobalOp>(op)) {
      Type element = global.getType().getElementType();
      if (getPackedBits(element) == 0 || global.isUninitialized() ||
          !global.getInitialValue())
        return;
      isFailed = true;
      op->emitOpError()
          << "has initial values of type " << element
          << "; globals of elements narrower than a byte cannot have initial "
             "values: store the values in the kernel";
      return;
    }
    std::optional<Access> access = getAccess(op);
    if (access && getPackedBits(access->memref) != 0) {
      isFailed |= failed(planAccess(*access, chip, masks));
      accesses.push_back(*access);
      return;
    }
    // LLVM stores a scalar in a byte, and packs vectors.
    if (access && isUneven(access->getType().getElementType()) &&
        (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>))) {
      isFailed = true;
      op->emitOpError() << "accesses a vector of elements of type "
                        << access->getType().getElementType()
                        << "; in vectors, the width of elements narrower than "
                           "a byte must be 1, 2 or 4 bits";
      return;
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return;
    for (Value operand : op->getOperands()) {
      if (getPackedBits(operand) == 0)
        continue;
      SmallVector<MemoryEffects::EffectInstance> found;
      effects.getEffectsOnValue(operand, found);
      if (llvm::none_of(found, [](const MemoryEffects::EffectInstance &effect) {
            return isa<MemoryEffects::Read, MemoryEffects::Write>(
                effect.getEffect());
          }))
        continue;
      isFailed = true;
      op->emitOpError() << "accesses memory of type " << operand.getType()
                        << ", whose elements are narrower than a byte; only "
                           "loads, stores and gathers are supported";
      return;
    }
  });
  return failure(isFailed);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
class AccessEmitter {
public:
  AccessEmitter(RewriterBase &rewriter, const Access &planned)
      : rewriter(rewriter), access(getCurrent(planned)),
        loc(access.op->getLoc()), element(access.getType().getElementType()) {}

  void run();

private:
  /// The access with the current operands of the op, some of which may be
  /// lowered already.
  static Access getCurrent(const Access &planned) {
    Access now = *getAccess(planned.op), current = planned;
    current.memref = now.memref;
    current.distances = now.distances;
    current.mask = now.mask;
    current.stored = now.stored;
    current.passThru = now.passThru;
    return current;
  }
  Value getIndex(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value getByteConstant(int64_t value, int64_t length) {
    Attribute byte = rewriter.getI8IntegerAttr(static_cast<int8_t>(value));
    return arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(getBytesType(length), byte));
  }
  VectorType getBytesType(int64_t length) {
    return VectorType::get({length}, rewriter.getI8Type());
  }
  /// The first `length` elements.
  Value takeFirst(Value vector, int64_t length) {
    if (cast<VectorType>(vector.getType()).getDimSize(0) == length)
      return vector;
    return vector::ShuffleOp::create(
        rewriter, loc, vector, vector,
        llvm::to_vector(llvm::seq<int64_t>(0, length)));
  }

  void emitStart();
  Value getPointer(Value position);
  Value emitShift(Value position);
  Value loadBytes();
  Value loadUnmasked();
  Value loadMaskedBytes();
  Value loadLane(Value position);
  Value loadLanes();
  void storeBytes();
  void storeLane(Value position, Value value);
  void storeLanes();
  Value getLanePosition(int64_t lane);
  Value getByteMask();

  RewriterBase &rewriter;
  const Access access;
  Location loc;
  Type element;
  /// The first byte of the memory, and the element index of the access relative
  /// to it.
  Value base, start;
};
} // namespace

void AccessEmitter::emitStart() {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, access.memref);
  start = getValueOrCreateConstantIndexOp(rewriter, loc,
                                          metadata.getConstifiedMixedOffset());
  for (auto [index, stride] :
       llvm::zip_equal(access.indices, metadata.getConstifiedMixedStrides())) {
    Value step = arith::MulIOp::create(
        rewriter, loc, index,
        getValueOrCreateConstantIndexOp(rewriter, loc, stride));
    start = arith::AddIOp::create(rewriter, loc, start, step);
  }
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc,
                                                                 access.memref);
  address =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), address);
  base = LLVM::IntToPtrOp::create(
      rewriter, loc,
      LLVM::LLVMPointerType::get(rewriter.getContext(), access.addressSpace),
      address);
}

/// A pointer to the byte of an element. Strides may be negative, so the
/// position is signed.
Value AccessEmitter::getPointer(Value position) {
  Value byte = arith::ShRSIOp::create(
      rewriter, loc, position, getIndex(llvm::Log2_64(access.perByte())));
  byte = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), byte);
  return LLVM::GEPOp::create(rewriter, loc, base.getType(),
                             rewriter.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{byte});
}

/// The bits of a byte before an element: i8.
Value AccessEmitter::emitShift(Value position) {
  Value inByte = arith::AndIOp::create(rewriter, loc, position,
                                       getIndex(access.perByte() - 1));
  inByte = arith::MulIOp::create(rewriter, loc, inByte, getIndex(access.bits));
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getI8Type(),
                                    inByte);
}

/// The bytes of the elements, shifted so that the first element is in the low
/// bits.
Value AccessEmitter::loadBytes() {
  int64_t bytes = access.bytes(), perByte = access.perByte();
  Value low = LLVM::LoadOp::create(
      rewriter, loc, getBytesType(bytes), getPointer(start),
      static_cast<unsigned>(access.beginsWithByte() ? access.alignment : 1),
      /*isVolatile=*/false, access.isNontemporal);
  if (access.beginsWithByte())
    return low;
  // The last element may be in one more byte.
  int64_t granule = int64_t(1) << access.log2Start;
  int64_t most =
      llvm::divideCeil((perByte - granule + access.count) * access.bits, 8);
  Value next;
  if (most > bytes) {
    Value last =
        arith::AddIOp::create(rewriter, loc, start, getIndex(access.count - 1));
    next = LLVM::LoadOp::create(rewriter, loc, getBytesType(1),
                                getPointer(last), /*alignment=*/1u,
                                /*isVolatile=*/false, access.isNontemporal);
  }
  // The byte after each byte; for the last one, only if it is needed.
  if (bytes > 1)
    next = vector::ShuffleOp::create(
        rewriter, loc, low, next ? next : low,
        llvm::to_vector(llvm::seq<int64_t>(1, bytes + 1)));
  auto wide = VectorType::get({bytes}, rewriter.getI16Type());
  Value pairs = arith::ExtUIOp::create(rewriter, loc, wide, low);
  if (next) {
    next = arith::ExtUIOp::create(rewriter, loc, wide, next);
    Value eight = arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(wide, Attribute(rewriter.getI16IntegerAttr(8))));
    next = arith::ShLIOp::create(rewriter, loc, next, eight);
    pairs = arith::OrIOp::create(rewriter, loc, pairs, next);
  }
  Value shift = arith::ExtUIOp::create(rewriter, loc, rewriter.getI16Type(),
                                       emitShift(start));
  shift = vector::BroadcastOp::create(rewriter, loc, wide, shift);
  return arith::TruncIOp::create(
      rewriter, loc, getBytesType(bytes),
      arith::ShRUIOp::create(rewriter, loc, pairs, shift));
}

Value AccessEmitter::loadUnmasked() {
  Value bytes = loadBytes();
  auto all = VectorType::get({access.bytes() * access.perByte()}, element);
  Value elements = vector::BitCastOp::create(rewriter, loc, all, bytes);
  if (!isa<VectorType>(access.op->getResult(0).getType()))
    return vector::ExtractOp::create(rewriter, loc, elements,
                                     ArrayRef<int64_t>{0});
  return takeFirst(elements, access.count);
}

/// Whether any lane of each byte is active.
Value AccessEmitter::getByteMask() {
  int64_t bytes = access.bytes(), perByte = access.perByte();
  Value any;
  for (int64_t part = 0; part < perByte; ++part) {
    SmallVector<int64_t> lanes;
    // The last byte may have fewer elements.
    for (int64_t byte = 0; byte < bytes; ++byte)
      lanes.push_back(std::min(byte * perByte + part, access.count - 1));
    Value on = vector::ShuffleOp::create(rewriter, loc, access.mask,
                                         access.mask, lanes);
    any = any ? arith::OrIOp::create(rewriter, loc, any, on).getResult() : on;
  }
  return any;
}

/// A masked load at a byte boundary.
Value AccessEmitter::loadMaskedBytes() {
  VectorType type = getBytesType(access.bytes());
  Value bytes = LLVM::MaskedLoadOp::create(
      rewriter, loc, type, getPointer(start), getByteMask(),
      getByteConstant(0, access.bytes()),
      rewriter.getI32IntegerAttr(static_cast<int32_t>(access.alignment)),
      access.isNontemporal ? rewriter.getUnitAttr() : UnitAttr());
  auto all = VectorType::get({access.bytes() * access.perByte()}, element);
  Value elements = takeFirst(
      vector::BitCastOp::create(rewriter, loc, all, bytes), access.count);
  return arith::SelectOp::create(rewriter, loc, access.mask, elements,
                                 access.passThru);
}

Value AccessEmitter::getLanePosition(int64_t lane) {
  if (!access.distances)
    return lane == 0
               ? start
               : arith::AddIOp::create(rewriter, loc, start, getIndex(lane))
                     .getResult();
  Value distance = vector::ExtractOp::create(rewriter, loc, access.distances,
                                             ArrayRef<int64_t>{lane});
  if (!distance.getType().isIndex())
    distance = arith::IndexCastOp::create(rewriter, loc,
                                          rewriter.getIndexType(), distance);
  return arith::AddIOp::create(rewriter, loc, start, distance);
}

Value AccessEmitter::loadLane(Value position) {
  Value byte = LLVM::LoadOp::create(rewriter, loc, rewriter.getI8Type(),
                                    getPointer(position), /*alignment=*/1u);
  byte = arith::ShRUIOp::create(rewriter, loc, byte, emitShift(position));
  Value own = arith::TruncIOp::create(
      rewriter, loc, rewriter.getIntegerType(access.bits), byte);
  return own.getType() == element
             ? own
             : arith::BitcastOp::create(rewriter, loc, element, own)
                   .getResult();
}

/// Loads lane by lane.
Value AccessEmitter::loadLanes() {
  Value result = access.passThru;
  for (int64_t lane = 0; lane < access.count; ++lane) {
    Value isOn = vector::ExtractOp::create(rewriter, loc, access.mask,
                                           ArrayRef<int64_t>{lane});
    Value otherwise = vector::ExtractOp::create(rewriter, loc, access.passThru,
                                                ArrayRef<int64_t>{lane});
    auto branch = scf::IfOp::create(rewriter, loc, element, isOn,
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(rewriter, loc, loadLane(getLanePosition(lane)));
      rewriter.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(rewriter, loc, otherwise);
    }
    result = vector::InsertOp::create(rewriter, loc, branch.getResult(0),
                                      result, ArrayRef<int64_t>{lane});
  }
  return result;
}

/// Stores whole bytes.
void AccessEmitter::storeBytes() {
  Value bytes = vector::BitCastOp::create(
      rewriter, loc, getBytesType(access.bytes()), access.stored);
  Value pointer = getPointer(start);
  if (access.mask)
    LLVM::MaskedStoreOp::create(rewriter, loc, bytes, pointer, getByteMask(),
                                static_cast<uint32_t>(access.alignment));
  else
    LLVM::StoreOp::create(rewriter, loc, bytes, pointer,
                          static_cast<unsigned>(access.alignment),
                          /*isVolatile=*/false, access.isNontemporal);
}

/// Stores into a byte that no other thread accesses.
void AccessEmitter::storeLane(Value position, Value value) {
  Type narrow = rewriter.getIntegerType(access.bits),
       byteType = rewriter.getI8Type();
  if (value.getType() != narrow)
    value = arith::BitcastOp::create(rewriter, loc, narrow, value);
  Value pointer = getPointer(position), shift = emitShift(position);
  Value ones = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getI8IntegerAttr(static_cast<int8_t>((1 << access.bits) - 1)));
  Value minusOne =
      arith::ConstantOp::create(rewriter, loc, rewriter.getI8IntegerAttr(-1));
  Value others = arith::XOrIOp::create(
      rewriter, loc, arith::ShLIOp::create(rewriter, loc, ones, shift),
      minusOne);
  Value own = arith::ShLIOp::create(
      rewriter, loc, arith::ExtUIOp::create(rewriter, loc, byteType, value),
      shift);
  Value old = LLVM::LoadOp::create(rewriter, loc, byteType, pointer,
                                   /*alignment=*/1u);
  Value kept = arith::AndIOp::create(rewriter, loc, old, others);
  LLVM::StoreOp::create(rewriter, loc,
                        arith::OrIOp::create(rewriter, loc, kept, own), pointer,
                        /*alignment=*/1u);
}

void AccessEmitter::storeLanes() {
  if (!isa<VectorType>(access.stored.getType()))
    return storeLane(start, access.stored);
  for (int64_t lane = 0; lane < access.count; ++lane) {
    Value value = vector::ExtractOp::create(rewriter, loc, access.stored,
                                            ArrayRef<int64_t>{lane});
    if (!access.mask) {
      storeLane(getLanePosition(lane), value);
      continue;
    }
    Value isOn = vector::ExtractOp::create(rewriter, loc, access.mask,
                                           ArrayRef<int64_t>{lane});
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange(), isOn,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    storeLane(getLanePosition(lane), value);
  }
}

void AccessEmitter::run() {
  rewriter.setInsertionPoint(access.op);
  emitStart();
  if (access.stored) {
    if (access.storesBytes)
      storeBytes();
    else
      storeLanes();
    rewriter.eraseOp(access.op);
    return;
  }
  Value loaded;
  if (!access.mask)
    loaded = loadUnmasked();
  else if (access.beginsWithByte() && !access.distances)
    loaded = loadMaskedBytes();
  else
    loaded = loadLanes();
  rewriter.replaceOp(access.op, loaded);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The buffer of bytes that replaces a packed one; null if it is not changed.
static MemRefType getBuffer(MemRefType type) {
  std::optional<int64_t> bytes = getBufferBytes(type);
  if (getPackedBits(type.getElementType()) == 0 || !bytes)
    return {};
  return MemRefType::get({*bytes}, IntegerType::get(type.getContext(), 8),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

static Value createView(OpBuilder &builder, Location loc, MemRefType type,
                        Value buffer) {
  return memref::ViewOp::create(builder, loc, type, buffer,
                                arith::ConstantIndexOp::create(builder, loc, 0),
                                ValueRange());
}

/// LLVM gives each element of an array a byte.
static void shrinkBuffers(RewriterBase &rewriter, gpu::GPUModuleOp module) {
  module.walk([&](gpu::GPUFuncOp func) {
    if (func.getBody().empty())
      return;
    Block &body = func.getBody().front();
    for (BlockArgument argument :
         body.getArguments().drop_front(func.getNumArguments())) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      MemRefType buffer = type ? getBuffer(type) : MemRefType();
      if (!buffer)
        continue;
      rewriter.setInsertionPointToStart(&body);
      argument.setType(buffer);
      Value view = createView(rewriter, argument.getLoc(), type, argument);
      rewriter.replaceAllUsesExcept(argument, view, view.getDefiningOp());
    }
  });
  module.walk([&](memref::AllocaOp op) {
    MemRefType buffer = getBuffer(op.getType());
    if (!buffer)
      return;
    rewriter.setInsertionPoint(op);
    Value bytes = memref::AllocaOp::create(rewriter, op.getLoc(), buffer,
                                           op.getAlignmentAttr());
    rewriter.replaceOp(op,
                       createView(rewriter, op.getLoc(), op.getType(), bytes));
  });
}

namespace {
struct SmaltiLowerPackedAccesses
    : smalti::impl::SmaltiLowerPackedAccessesBase<SmaltiLowerPackedAccesses> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const targets::Target *> chip = findTarget(module, target);
    SmallVector<Access> accesses;
    if (failed(chip) || failed(planAccesses(module, *chip, accesses)))
      return signalPassFailure();
    IRRewriter rewriter(module);
    for (const Access &access : accesses)
      AccessEmitter(rewriter, access).run();
    shrinkBuffers(rewriter, module);
  }
};
} // namespace
