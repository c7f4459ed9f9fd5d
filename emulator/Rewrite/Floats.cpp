//===- Floats.cpp - Rounding and denormals of the device ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of LLVM IR has the same meaning on the device and on the host,
// with two exceptions. Attributes can select modes, and LLVM computes some
// operations in a larger type on hosts without the instruction.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace smalti::emulator {

//===----------------------------------------------------------------------===//
// Denormals
//===----------------------------------------------------------------------===//

namespace {
/// The types whose denormals a function flushes.
struct FlushMode {
  bool half = false, single = false, wide = false;

  bool covers(const Type *type) const {
    type = type->getScalarType();
    return (half && type->isHalfTy()) || (single && type->isFloatTy()) ||
           (wide && type->isDoubleTy());
  }
  bool any() const { return half || single || wide; }
};
} // namespace

static FlushMode flushMode(const Function &function, Vendor vendor) {
  auto flushes = [](DenormalMode mode) {
    return mode.Output == DenormalMode::PreserveSign ||
           mode.Output == DenormalMode::PositiveZero ||
           mode.Input == DenormalMode::PreserveSign;
  };
  FlushMode mode;
  mode.single = flushes(function.getDenormalMode(APFloat::IEEEsingle()));
  if (vendor == Vendor::NVIDIA) {
    // LLVM's NVPTX target prints `.ftz` on arithmetic of halves too.
    mode.half = mode.single;
    return mode;
  }
  // AMD's hardware has one mode for halves and doubles.
  mode.half = mode.wide =
      flushes(function.getDenormalMode(APFloat::IEEEdouble()));
  return mode;
}

/// `value`, or a zero of its sign where it is a denormal.
static Value *flush(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  const fltSemantics &semantics = type->getScalarType()->getFltSemantics();
  Value *smallest =
      ConstantFP::get(type, APFloat::getSmallestNormalized(semantics));
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value *isDenormal = builder.CreateFCmpOLT(magnitude, smallest);
  Value *zero = builder.CreateBinaryIntrinsic(Intrinsic::copysign,
                                              ConstantFP::getZero(type), value);
  return builder.CreateSelect(isDenormal, zero, value);
}

/// Whether the device's instruction for `at` follows the mode: arithmetic,
/// comparisons and conversions do; moves of bits do not.
static bool followsMode(const Instruction &at, Vendor vendor) {
  switch (at.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
  case Instruction::FCmp:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
    return true;
  case Instruction::FNeg:
    // AMD's is a change of sign in the instruction that uses it.
    return vendor == Vendor::NVIDIA;
  default:
    break;
  }
  const auto *call = dyn_cast<IntrinsicInst>(&at);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::fabs:
    return vendor == Vendor::NVIDIA;
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::sqrt:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::minimumnum:
  case Intrinsic::maximumnum:
  case Intrinsic::canonicalize:
  case Intrinsic::exp2:
  case Intrinsic::log2:
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
    return true;
  default:
    return false;
  }
}

static void flushDenormals(Function &function, Vendor vendor) {
  FlushMode mode = flushMode(function, vendor);
  if (!mode.any())
    return;
  SmallVector<Instruction *> work;
  for (Instruction &at : instructions(function))
    if (followsMode(at, vendor))
      work.push_back(&at);
  for (Instruction *at : work) {
    // Conversions between halves and floats are exact in halves' denormals.
    bool isConversion = isa<FPExtInst, FPTruncInst>(at);
    auto covers = [&](const Type *type) {
      return mode.covers(type) && !(isConversion && vendor == Vendor::NVIDIA &&
                                    type->getScalarType()->isHalfTy());
    };
    IRBuilder<> builder(at);
    unsigned count = at->getNumOperands();
    if (auto *call = dyn_cast<CallBase>(at))
      count = call->arg_size();
    for (unsigned i = 0; i < count; ++i)
      if (covers(at->getOperand(i)->getType()))
        at->setOperand(i, flush(builder, at->getOperand(i)));
    if (!covers(at->getType()))
      continue;
    builder.SetInsertPoint(at->getNextNode());
    builder.SetCurrentDebugLocation(at->getDebugLoc());
    // The users first: the flush uses the value too.
    SmallVector<Use *> uses;
    for (Use &use : at->uses())
      uses.push_back(&use);
    Value *flushed = flush(builder, at);
    for (Use *use : uses)
      use->set(flushed);
  }
}

//===----------------------------------------------------------------------===//
// Fused multiply-add of small types
//===----------------------------------------------------------------------===//

/// Rounds to odd: sets the last bit of `value` if `error`, the exact rounding
/// error, is not zero. A second rounding to a type with at least two bits less
/// is then the same as a single rounding.
static Value *roundToOdd(IRBuilder<> &builder, Value *value, Value *error,
                         Type *integers) {
  Value *bits = builder.CreateBitCast(value, integers);
  Value *one = ConstantInt::get(integers, 1);
  Value *zero = ConstantFP::getZero(value->getType());
  Value *isExact = builder.CreateFCmpUEQ(error, zero);
  Value *isOdd =
      builder.CreateIsNotNull(builder.CreateAnd(bits, one), "is.odd");
  // Toward the exact value: codes grow away from zero, for both signs.
  Constant *none = Constant::getNullValue(integers);
  Value *isLarger = builder.CreateICmpSGE(
      builder.CreateXor(bits, builder.CreateBitCast(error, integers)), none);
  Value *moved = builder.CreateSelect(isLarger, builder.CreateAdd(bits, one),
                                      builder.CreateSub(bits, one));
  Value *keeps = builder.CreateOr(isExact, isOdd);
  return builder.CreateBitCast(builder.CreateSelect(keeps, bits, moved),
                               value->getType());
}

static Type *withScalar(Type *type, Type *scalar) {
  return type->getWithNewType(scalar);
}

/// A double as a float, rounded to odd.
static Value *toSingle(IRBuilder<> &builder, Value *value) {
  Type *wide = value->getType();
  Type *single = withScalar(wide, builder.getFloatTy());
  Type *integers = withScalar(wide, builder.getInt32Ty());
  Value *narrow = builder.CreateFPTrunc(value, single);
  Value *left = builder.CreateFSub(value, builder.CreateFPExt(narrow, wide));
  // The remainder may be too small for a float: only its sign is used.
  Value *sign = builder.CreateFPTrunc(
      builder.CreateBinaryIntrinsic(Intrinsic::copysign,
                                    ConstantFP::get(wide, 1.0), left),
      single);
  Value *isFinite = builder.CreateFCmpONE(
      builder.CreateUnaryIntrinsic(Intrinsic::fabs, narrow),
      ConstantFP::getInfinity(single));
  Value *isExact = builder.CreateFCmpUEQ(left, ConstantFP::getZero(wide));
  Value *error = builder.CreateSelect(
      builder.CreateAnd(isFinite, builder.CreateNot(isExact)), sign,
      ConstantFP::getZero(single));
  return roundToOdd(builder, narrow, error, integers);
}

/// A fused multiply-add that rounds once. LLVM computes those of halves in
/// single precision on most hosts, which rounds twice.
static Value *fusedInDouble(IRBuilder<> &builder, CallBase &call) {
  Type *type = call.getType();
  Type *wide = withScalar(type, builder.getDoubleTy());
  Type *integers = withScalar(type, builder.getInt64Ty());
  Value *operands[3];
  for (unsigned i = 0; i < 3; ++i)
    operands[i] = builder.CreateFPExt(call.getArgOperand(i), wide);
  // Exact: 22 bits.
  Value *product = builder.CreateFMul(operands[0], operands[1]);
  Value *addend = operands[2];
  Value *sum = builder.CreateFAdd(product, addend);
  // The exact rounding error of the sum, independent of which operand is
  // larger.
  Value *back = builder.CreateFSub(sum, product);
  Value *error = builder.CreateFAdd(
      builder.CreateFSub(product, builder.CreateFSub(sum, back)),
      builder.CreateFSub(addend, back));
  Value *odd = roundToOdd(builder, sum, error, integers);
  // And once more: to single precision, which hardware rounds to halves.
  return builder.CreateFPTrunc(toSingle(builder, odd), type);
}

static void lowerFused(Function &function) {
  SmallVector<IntrinsicInst *> work;
  for (Instruction &at : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&at))
      if (call->getIntrinsicID() == Intrinsic::fma ||
          call->getIntrinsicID() == Intrinsic::fmuladd)
        work.push_back(call);
  for (IntrinsicInst *call : work) {
    IRBuilder<> builder(call);
    Type *scalar = call->getType()->getScalarType();
    Value *fused = nullptr;
    if (scalar->isHalfTy() || scalar->isBFloatTy())
      fused = fusedInDouble(builder, *call);
    else if (call->getIntrinsicID() == Intrinsic::fmuladd)
      // Both vendors' targets fuse it.
      fused = builder.CreateIntrinsic(Intrinsic::fma, {call->getType()},
                                      {call->getArgOperand(0),
                                       call->getArgOperand(1),
                                       call->getArgOperand(2)},
                                      call);
    if (!fused)
      continue;
    call->replaceAllUsesWith(fused);
    call->eraseFromParent();
  }
}

//===----------------------------------------------------------------------===//
// Conversions to bfloat
//===----------------------------------------------------------------------===//

/// Rounds to the nearest bfloat, ties to even, in integers: hosts' own
/// instructions flush denormals.
static Value *truncateToBFloat(IRBuilder<> &builder, Value *value, Type *type) {
  Type *integers = withScalar(type, builder.getInt32Ty());
  if (value->getType()->getScalarType()->isDoubleTy())
    value = toSingle(builder, value);
  Value *bits = builder.CreateBitCast(value, integers);
  Value *last = builder.CreateAnd(builder.CreateLShr(bits, 16),
                                  ConstantInt::get(integers, 1));
  Value *rounded = builder.CreateAdd(
      bits, builder.CreateAdd(last, ConstantInt::get(integers, 0x7fff)));
  Value *quiet = builder.CreateOr(bits, ConstantInt::get(integers, 0x400000));
  Value *isNaN = builder.CreateFCmpUNO(value, value);
  Value *chosen = builder.CreateSelect(isNaN, quiet, rounded);
  Value *high = builder.CreateTrunc(builder.CreateLShr(chosen, 16),
                                    withScalar(type, builder.getInt16Ty()));
  return builder.CreateBitCast(high, type);
}

static void lowerBFloat(Function &function) {
  SmallVector<FPTruncInst *> work;
  for (Instruction &at : instructions(function))
    if (auto *cast = dyn_cast<FPTruncInst>(&at))
      if (cast->getType()->getScalarType()->isBFloatTy())
        work.push_back(cast);
  for (FPTruncInst *cast : work) {
    IRBuilder<> builder(cast);
    Value *value =
        truncateToBFloat(builder, cast->getOperand(0), cast->getType());
    cast->replaceAllUsesWith(value);
    cast->eraseFromParent();
  }
}

/// Arithmetic on bfloat as rounded float arithmetic, which gives the same
/// results except for fused multiply-add; that is lowered before.
static void promoteBFloat(Function &function) {
  SmallVector<Instruction *> work;
  for (Instruction &at : instructions(function))
    if (isa<BinaryOperator>(at) && at.getType()->getScalarType()->isBFloatTy())
      work.push_back(&at);
  for (Instruction *at : work) {
    IRBuilder<> builder(at);
    Type *single = withScalar(at->getType(), builder.getFloatTy());
    Value *result =
        builder.CreateBinOp(cast<BinaryOperator>(at)->getOpcode(),
                            builder.CreateFPExt(at->getOperand(0), single),
                            builder.CreateFPExt(at->getOperand(1), single));
    at->replaceAllUsesWith(builder.CreateFPTrunc(result, at->getType()));
    at->eraseFromParent();
  }
}

void lowerFloats(Module &module, Vendor vendor) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    flushDenormals(function, vendor);
    lowerFused(function);
    promoteBFloat(function);
    lowerBFloat(function);
  }
}

} // namespace smalti::emulator
