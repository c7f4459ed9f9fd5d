//===- NVIDIAConversions.cpp - Element type conversions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM converts most types well. It does not support 8-bit floats, splits
// vectors of 4-bit integers in memory, and converts 8-bit integers as scalars.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/NVIDIALowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

/// 8-bit floats that have conversion instructions on some chips.
static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

namespace {
/// Whether the integers of an op are signed.
enum class Sign { Signed, Unsigned };

/// Ops that convert the element type.
class Conversions : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Bitcasts of vectors.
class BitCasts : public LoweringOf<vector::BitCastOp> {
public:
  LogicalResult plan(vector::BitCastOp op, Planner &planner) const override;
  void emit(vector::BitCastOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

/// Converts a register, `vector<LxT>`.
class RegisterConverter {
public:
  RegisterConverter(OpBuilder &builder, Location loc, Sign sign)
      : builder(builder), loc(loc), sign(sign) {}

  Value convert(Value reg, Type elementType);

private:
  /// Converts between types that LLVM supports.
  Value convertPlain(Value reg, Type elementType);
  Value widenFloat8(Value reg);
  Value narrowToFloat8(Value reg, Type elementType);
  Value widenInt4(Value reg);
  Value widenInt8(Value reg, Type elementType);
  Value narrowToInt4(Value reg);
  Value andWord(Value word, int64_t mask) {
    return arith::AndIOp::create(builder, loc, word,
                                 getI32(builder, loc, mask));
  }
  Value orWords(Value lhs, Value rhs) {
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  }
  Value permute(Value low, Value high, int64_t selector) {
    return NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), low,
                                   high, getI32(builder, loc, selector),
                                   NVVM::PermuteMode::DEFAULT);
  }

  OpBuilder &builder;
  Location loc;
  Sign sign;
};
} // namespace

static VectorType withElement(Value reg, Type elementType) {
  return cast<VectorType>(reg.getType()).clone(elementType);
}

static int64_t getLength(Value reg) {
  return cast<VectorType>(reg.getType()).getDimSize(0);
}

Value RegisterConverter::convertPlain(Value reg, Type elementType) {
  Type from = getElement(reg);
  if (from == elementType)
    return reg;
  VectorType type = withElement(reg, elementType);
  bool isSigned = sign == Sign::Signed;
  if (isa<FloatType>(from) && isa<FloatType>(elementType)) {
    int64_t bits = from.getIntOrFloatBitWidth(),
            wanted = elementType.getIntOrFloatBitWidth();
    if (bits == wanted)
      return convertPlain(convertPlain(reg, builder.getF32Type()), elementType);
    if (bits < wanted)
      return arith::ExtFOp::create(builder, loc, type, reg);
    return arith::TruncFOp::create(builder, loc, type, reg);
  }
  if (isa<FloatType>(from))
    return isSigned
               ? arith::FPToSIOp::create(builder, loc, type, reg).getResult()
               : arith::FPToUIOp::create(builder, loc, type, reg).getResult();
  if (isa<FloatType>(elementType))
    return isSigned
               ? arith::SIToFPOp::create(builder, loc, type, reg).getResult()
               : arith::UIToFPOp::create(builder, loc, type, reg).getResult();
  if (from.getIntOrFloatBitWidth() > elementType.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, reg);
  return isSigned ? arith::ExtSIOp::create(builder, loc, type, reg).getResult()
                  : arith::ExtUIOp::create(builder, loc, type, reg).getResult();
}

/// Converts to f16, which represents every 8-bit float.
Value RegisterConverter::widenFloat8(Value reg) {
  Type from = getElement(reg);
  int64_t length = getLength(reg);
  Value bytes = vector::BitCastOp::create(
      builder, loc, withElement(reg, builder.getI8Type()), reg);
  SmallVector<Value> pairs;
  for (int64_t first = 0; first < length; first += 2) {
    Value pair = vector::ShuffleOp::create(
        builder, loc, bytes, bytes,
        ArrayRef<int64_t>{first, std::min(first + 1, length - 1)});
    pairs.push_back(NVVM::ConvertF8x2ToF16x2Op::create(
        builder, loc, VectorType::get({2}, builder.getF16Type()), pair,
        /*relu=*/false, from));
  }
  return takeElements(builder, loc, concatenate(builder, loc, pairs), 0,
                      length);
}

/// Converts from f16 or f32 with one rounding; values that are too large
/// saturate.
Value RegisterConverter::narrowToFloat8(Value reg, Type elementType) {
  int64_t length = getLength(reg);
  auto bytes = VectorType::get({2}, builder.getI8Type());
  SmallVector<Value> pairs;
  for (int64_t first = 0; first < length; first += 2) {
    int64_t second = std::min(first + 1, length - 1);
    if (getElement(reg).isF16()) {
      Value pair = vector::ShuffleOp::create(builder, loc, reg, reg,
                                             ArrayRef<int64_t>{first, second});
      pairs.push_back(NVVM::ConvertF16x2ToF8x2Op::create(
          builder, loc, bytes, pair, /*relu=*/false, elementType));
      continue;
    }
    Value low = vector::ExtractOp::create(builder, loc, reg,
                                          ArrayRef<int64_t>{first}),
          high = vector::ExtractOp::create(builder, loc, reg,
                                           ArrayRef<int64_t>{second});
    pairs.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
        builder, loc, bytes, high, low, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, elementType));
  }
  Value joined =
      takeElements(builder, loc, concatenate(builder, loc, pairs), 0, length);
  return vector::BitCastOp::create(builder, loc, withElement(reg, elementType),
                                   joined);
}

/// Converts to i8: even and odd elements separately, then a byte permutation.
Value RegisterConverter::widenInt4(Value reg) {
  SmallVector<Value> words;
  for (Value word : toWords(builder, loc, reg)) {
    Value high =
        arith::ShRUIOp::create(builder, loc, word, getI32(builder, loc, 4));
    auto widen = [&](Value nibbles) {
      nibbles = andWord(nibbles, 0x0f0f0f0f);
      if (sign == Sign::Unsigned)
        return nibbles;
      // 8 * 30 sets the four bits above the sign.
      Value signs = arith::MulIOp::create(
          builder, loc, andWord(nibbles, 0x08080808), getI32(builder, loc, 30));
      return orWords(nibbles, signs);
    };
    Value even = widen(word), odd = widen(high);
    words.push_back(permute(even, odd, 0x5140));
    words.push_back(permute(even, odd, 0x7362));
  }
  int64_t needed = llvm::divideCeil(getLength(reg), 4);
  words.resize(needed);
  return fromWords(builder, loc, words, withElement(reg, builder.getI8Type()));
}

/// Converts to f16, or signed integers to bf16, without a conversion
/// instruction: bytes become the low bits of numbers from 1024 or 128, and the
/// offset is subtracted.
Value RegisterConverter::widenInt8(Value reg, Type elementType) {
  int64_t length = getLength(reg);
  bool isSigned = sign == Sign::Signed, isHalf = elementType.isF16();
  auto pair = VectorType::get({2}, elementType);
  // The bytes of a word become the low bits of a pair of numbers.
  auto put = [&](Value word, int64_t first, int64_t above) {
    Value high = getI32(builder, loc, above * 0x01010101);
    return fromWords(builder, loc,
                     permute(word, high, first == 0 ? 0x4140 : 0x4342), pair);
  };
  SmallVector<Value> pairs;
  for (Value word : toWords(builder, loc, reg))
    for (int64_t first = 0;
         first < 4 && static_cast<int64_t>(pairs.size()) * 2 < length;
         first += 2) {
      if (isHalf) {
        Value moved =
            isSigned ? arith::XOrIOp::create(builder, loc, word,
                                             getI32(builder, loc, 0x80808080))
                           .getResult()
                     : word;
        Value excess = arith::ConstantOp::create(
            builder, loc,
            DenseElementsAttr::get(
                pair, Attribute(builder.getFloatAttr(
                          elementType, isSigned ? 1024 + 128 : 1024))));
        pairs.push_back(arith::SubFOp::create(builder, loc,
                                              put(moved, first, 0x64), excess));
        continue;
      }
      // 128 + the seven low bits, minus 128 or, with the sign, 256.
      pairs.push_back(arith::SubFOp::create(
          builder, loc, put(andWord(word, 0x7f7f7f7f), first, 0x43),
          put(andWord(word, 0x80808080), first, 0x43)));
    }
  return concatenate(builder, loc, pairs);
}

Value RegisterConverter::narrowToInt4(Value reg) {
  VectorType type = withElement(reg, builder.getIntegerType(4));
  SmallVector<Value> bytes = toWords(builder, loc, reg), words;
  for (size_t first = 0; first < bytes.size(); first += 2) {
    Value low = bytes[first],
          high = first + 1 < bytes.size() ? bytes[first + 1] : low;
    Value even = andWord(permute(low, high, 0x6420), 0x0f0f0f0f),
          odd = andWord(permute(low, high, 0x7531), 0x0f0f0f0f);
    words.push_back(
        orWords(even, arith::ShLIOp::create(builder, loc, odd,
                                            getI32(builder, loc, 4))));
  }
  return fromWords(builder, loc, words, type);
}

Value RegisterConverter::convert(Value reg, Type elementType) {
  if (isFloat8(getElement(reg)))
    reg = widenFloat8(reg);
  else if (getElement(reg).isInteger(4) && getLength(reg) > 1)
    reg = widenInt4(reg);
  if (getElement(reg).isInteger(8) && getLength(reg) % 2 == 0 &&
      (elementType.isF16() || (elementType.isBF16() && sign == Sign::Signed)))
    return widenInt8(reg, elementType);
  if (isFloat8(elementType)) {
    if (!getElement(reg).isF16())
      reg = convertPlain(reg, builder.getF32Type());
    return narrowToFloat8(reg, elementType);
  }
  if (elementType.isInteger(4) && getLength(reg) > 1)
    return narrowToInt4(convertPlain(reg, builder.getI8Type()));
  return convertPlain(reg, elementType);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether LLVM does not lower the op well by itself.
static bool needsConverter(Operation *op) {
  for (Type type :
       {getElement(op->getOperand(0)), getElement(op->getResult(0))})
    if (isFloat8(type) || type.isInteger(4))
      return true;
  // Integer conversions are slow.
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
         getElement(op->getOperand(0)).isInteger(8);
}

/// The chips that have MMA on 8-bit floats convert them.
static bool supportsFloat8(const targets::Target &target) {
  return llvm::any_of(target.mmas, [](const targets::MmaInstruction &mma) {
    return mma.a == targets::Element::E4M3;
  });
}

/// Whether smalti-lower-math expands the conversion: the chip does not have an
/// instruction for it, would round twice, or does not have the rounding mode.
static bool isExpanded(Operation *op, const targets::Target &target) {
  if (!convertsSmallFloats(op))
    return false;
  if (auto truncation = dyn_cast<arith::TruncFOp>(op);
      truncation && isDirected(truncation))
    return true;
  Type from = getElement(op->getOperand(0)), to = getElement(op->getResult(0));
  return !supportsFloat8(target) || !(isFloat8(from) || isFloat8(to)) ||
         (from.isF64() && isFloat8(to)) ||
         (isSmallFloat(from) && isSmallFloat(to));
}

LogicalResult Conversions::plan(Operation *op, Planner &planner) const {
  if (failed(checkSmallFloatConversion(op)))
    return failure();
  Type from = getElement(op->getOperand(0)), to = getElement(op->getResult(0));
  const targets::Target &target = planner.getVendor().getTarget();
  if (isSmallFloat(from) && !isa<FloatType>(to) &&
      !(isFloat8(from) && supportsFloat8(target)))
    return op->emitOpError() << "converts " << from << " to " << to
                             << ", for which " << target.name
                             << " does not have an instruction; convert to f32 "
                                "first, and then to "
                             << to;
  if (!isVector(op->getResult(0)))
    return success();
  return getElementwiseLowering().plan(op, planner);
}

void Conversions::emit(Operation *op, Emitter &emitter,
                       OpBuilder &builder) const {
  Value source = op->getOperand(0), result = op->getResult(0);
  Type elementType = getElement(result);
  bool isConverted =
      needsConverter(op) && !isExpanded(op, emitter.vendor.getTarget());
  RegisterConverter converter(
      builder, op->getLoc(),
      isa<arith::UIToFPOp, arith::FPToUIOp, arith::ExtUIOp>(op) ? Sign::Unsigned
                                                                : Sign::Signed);
  if (!isVector(result)) {
    if (!isConverted)
      return emitter.emitScalar(op, builder);
    Value reg = vector::BroadcastOp::create(
        builder, op->getLoc(), VectorType::get({1}, source.getType()),
        emitter.lookup(source));
    return emitter.map(
        result, vector::ExtractOp::create(builder, op->getLoc(),
                                          converter.convert(reg, elementType),
                                          ArrayRef<int64_t>{0}));
  }
  if (!isConverted)
    return getElementwiseLowering().emit(op, emitter, builder);
  Registers registers;
  Value last;
  for (Value reg : emitter.getRegisters(
           source, emitter.plan.getDistribution(result), builder)) {
    // The registers of a splat are one value.
    if (reg != last)
      registers.push_back(converter.convert(reg, elementType));
    else
      registers.push_back(registers.back());
    last = reg;
  }
  emitter.setRegisters(result, std::move(registers));
}

/// The index of a register's first element.
static SmallVector<int64_t> getFirstIndex(const layout::RegisterLayout &layout,
                                          ArrayRef<int64_t> shape,
                                          const ThreadGrid &grid,
                                          int64_t thread, int64_t reg) {
  if (const auto *strided = std::get_if<layout::StridedLayout>(&layout))
    return strided->elementIndex(grid.numThreads, thread, reg, 0);
  return std::get<layout::TiledLayout>(layout).elementIndex(
      shape, thread / grid.waveSize, thread % grid.waveSize, reg, 0);
}

/// Whether a thread holds the same bits in the same registers of both layouts.
static bool haveSameBits(const Distribution &from, int64_t fromBits,
                         const Distribution &to, int64_t toBits,
                         const ThreadGrid &grid) {
  int64_t last = static_cast<int64_t>(from.getShape().size()) - 1;
  for (const Distribution *distribution : {&from, &to})
    if (distribution->isSplat() || distribution->getVectorStride() != 1 ||
        distribution->getVectorDim() != last)
      return false;
  if (from.getNumRegisters() != to.getNumRegisters() ||
      from.getVectorLength() * fromBits != to.getVectorLength() * toBits)
    return false;
  layout::RegisterLayout fromLayout = getRegisterLayout(from),
                         toLayout = getRegisterLayout(to);
  for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg)
    for (int64_t thread = 0; thread < grid.numThreads; ++thread) {
      SmallVector<int64_t> first = getFirstIndex(fromLayout, from.getShape(),
                                                 grid, thread, reg),
                           second = getFirstIndex(toLayout, to.getShape(), grid,
                                                  thread, reg);
      first.back() *= fromBits;
      second.back() *= toBits;
      if (first != second)
        return false;
    }
  return true;
}

LogicalResult BitCasts::plan(vector::BitCastOp op, Planner &planner) const {
  VectorType from = op.getSourceVectorType(), to = op.getType();
  if (from.getShape() == to.getShape())
    return getElementwiseLowering().plan(op, planner);
  Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0);
  if (!layout)
    return op->emitOpError()
           << "changes the element width, so the layout of its result cannot "
              "be that of its operand; set the attribute 'out_layouts'";
  if (failed(planner.setLayout(op, op.getResult(), layout)))
    return failure();
  const Distribution &source = *planner.find(op.getSource()),
                     &result = *planner.find(op.getResult());
  if (haveSameBits(source, getElementBits(from.getElementType()), result,
                   getElementBits(to.getElementType()), planner.getGrid()))
    return success();
  return op->emitOpError()
         << "must not move bits between threads, but the threads hold "
            "different bits of operand and result for "
         << from << " in layout " << source.str() << " and " << to
         << " in layout " << result.str()
         << "; change 'out_layouts' so that each thread holds the same bits";
}

void BitCasts::emit(vector::BitCastOp op, Emitter &emitter,
                    OpBuilder &builder) const {
  VectorType from = op.getSourceVectorType(), to = op.getType();
  if (from.getShape() == to.getShape())
    return getElementwiseLowering().emit(op, emitter, builder);
  VectorType type = emitter.plan.getDistribution(op.getResult())
                        .getRegisterType(to.getElementType());
  Registers cast;
  for (Value reg : emitter.getRegisters(op.getSource()))
    cast.push_back(vector::BitCastOp::create(builder, op.getLoc(), type, reg));
  emitter.setRegisters(op.getResult(), std::move(cast));
}

void block_to_thread::registerNVIDIAConversions(OpLowerings &lowerings) {
  lowerings.add<Conversions, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
                arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
                arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>();
  lowerings.add<BitCasts, vector::BitCastOp>();
}
