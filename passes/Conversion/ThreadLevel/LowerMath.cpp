//===- LowerMath.cpp - smalti-lower-math ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ThreadLevel/DoubleFunctions.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MathToROCDL/MathToROCDL.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERCPUMATH
#define GEN_PASS_DEF_SMALTILOWERCPUMATH
#define GEN_PASS_DECL_SMALTILOWERMATH
#define GEN_PASS_DEF_SMALTILOWERMATH
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

/// Computes a function of values of one shape, for each element.
Value mapElements(OpBuilder &builder, Location loc, ValueRange operands,
                  llvm::function_ref<Value(ValueRange)> function) {
  auto type = dyn_cast<VectorType>(operands.front().getType());
  if (!type)
    return function(operands);
  Value result;
  for (const SmallVector<int64_t> &position : StaticTileOffsetRange(
           type.getShape(), SmallVector<int64_t>(type.getRank(), 1))) {
    SmallVector<Value> elements;
    for (Value operand : operands)
      elements.push_back(
          vector::ExtractOp::create(builder, loc, operand, position));
    Value element = function(elements);
    if (!result)
      result = arith::ConstantOp::create(
          builder, loc, builder.getZeroAttr(type.clone(element.getType())));
    result = vector::InsertOp::create(builder, loc, element, result, position);
  }
  return result;
}

/// Computes a function of some types of 16 bits in f32.
template <class Op> struct WidenHalf : OpRewritePattern<Op> {
  WidenHalf(MLIRContext *context, bool (*isWidened)(Type),
            PatternBenefit benefit = 2)
      : OpRewritePattern<Op>(context, benefit), isWidened(isWidened) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isWidened(getElementTypeOrSelf(type)))
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Location loc = op.getLoc();
    Value operand = arith::ExtFOp::create(rewriter, loc, wide, op.getOperand());
    Value result = Op::create(rewriter, loc, operand, op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }

  bool (*isWidened)(Type);
};

/// Computes x^n as |x|^n, with the sign of x if n is odd. Multiplications would
/// round n times, and overflow before a reciprocal does not.
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value base = op.getLhs(), exponent = op.getRhs();
    bool isNarrow = isHalf(getElementTypeOrSelf(op.getType()));
    if (isNarrow)
      base = arith::ExtFOp::create(
          rewriter, loc, withElement(base.getType(), rewriter.getF32Type()),
          base);
    auto integer = [&](int64_t value) -> Value {
      Type type = exponent.getType();
      TypedAttr attribute =
          rewriter.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
      return arith::ConstantOp::create(rewriter, loc, attribute);
    };
    Value isOdd = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(rewriter, loc, exponent, integer(1)), integer(0));
    Value power = math::PowFOp::create(
        rewriter, loc, math::AbsFOp::create(rewriter, loc, base),
        arith::SIToFPOp::create(rewriter, loc, base.getType(), exponent),
        op.getFastmath());
    Value withSign = math::CopySignOp::create(rewriter, loc, power, base);
    Value result =
        arith::SelectOp::create(rewriter, loc, isOdd, withSign, power);
    if (isNarrow)
      result = arith::TruncFOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Computes a square root of f32 or f64 by its instruction on NVIDIA chips. The
/// function of the device library is approximate for f32 unless its compiler
/// asks for precision, which LLVM does not.
struct LowerSqrt : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SqrtOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool isSingle = getElementTypeOrSelf(op.getType()).isF32();
    bool isExact = !isSingle || !bitEnumContainsAll(op.getFastmath(),
                                                    arith::FastMathFlags::afn);
    StringAttr name = rewriter.getStringAttr(Twine("llvm.nvvm.sqrt.") +
                                             (isExact ? "rn." : "approx.") +
                                             (isSingle ? "f" : "d"));
    rewriter.replaceOp(
        op, mapElements(rewriter, loc, op.getOperand(), [&](ValueRange number) {
          return LLVM::CallIntrinsicOp::create(
                     rewriter, loc, number[0].getType(), name, number)
              .getResult(0);
        }));
    return success();
  }
};

/// Sets the sign of functions that have the sign of their operand: some
/// releases of AMD's device library return +0 for -0.
void keepSigns(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<math::ExpM1Op, math::Log1pOp, math::SinhOp, math::TanhOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
    if (bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::nsz))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value result = math::CopySignOp::create(
        builder, op->getLoc(), op->getResult(0), op->getOperand(0));
    op->getResult(0).replaceAllUsesExcept(result, result.getDefiningOp());
  }
}

/// Whether the function may flush denormal results to zero.
bool isApproximate(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

/// Lowers an approximate power of 2, or of e, to the chip's instruction. The
/// lowering that keeps denormal results takes five instructions more.
template <class Op> struct ApproximatePower : OpRewritePattern<Op> {
  ApproximatePower(MLIRContext *context, targets::Vendor vendor)
      : OpRewritePattern<Op>(context, /*benefit=*/2), vendor(vendor) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!isApproximate(op) || (vector && vector.isScalable()))
      return failure();
    Location loc = op.getLoc();
    Value exponent = op.getOperand();
    if constexpr (std::is_same_v<Op, math::ExpOp>) {
      TypedAttr log2e = rewriter.getF32FloatAttr(llvm::numbers::log2ef);
      if (vector)
        log2e = SplatElementsAttr::get(vector, Attribute(log2e));
      exponent = arith::MulFOp::create(
          rewriter, loc, exponent,
          arith::ConstantOp::create(rewriter, loc, log2e), op.getFastmath());
    }
    rewriter.replaceOp(
        op, mapElements(rewriter, loc, exponent, [&](ValueRange element) {
          return createPower(rewriter, loc, element[0]);
        }));
    return success();
  }

private:
  Value createPower(OpBuilder &builder, Location loc, Value exponent) const {
    Type type = exponent.getType();
    if (vendor == targets::Vendor::AMD)
      return ROCDL::ROCDLExp2::create(builder, loc, type, exponent);
    return LLVM::CallIntrinsicOp::create(
               builder, loc, type,
               builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
        .getResult(0);
  }

  targets::Vendor vendor;
};

/// Whether the op is an exponential of f32 that must be accurate.
bool isAccurateExp(math::ExpOp op) {
  auto vector = dyn_cast<VectorType>(op.getType());
  return getElementTypeOrSelf(op.getType()).isF32() && !isApproximate(op) &&
         !(vector && vector.isScalable());
}

/// Computes e^x of f32 as 2^k * 2^r on AMD chips, with k = x * log2(e) rounded
/// to an integer. LLVM's code has the same limit of 1 ulp, and takes five
/// instructions more because it selects the results of large |x|. Here k is
/// clamped instead, and r is not: 2^r is zero, infinity or NaN where e^x is.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isAccurateExp(op))
      return failure();
    // log2(e) is the sum. Results are zero below 2^-150, half of the smallest
    // denormal number, and infinity from 2^128 on.
    constexpr float log2e = 0x1.715476p+0f, log2eLow = 0x1.4ae0cp-26f;
    constexpr float smallest = -150, largest = 128;
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Type type = x.getType();
    auto constant = [&](Type type, float value) -> Value {
      TypedAttr number = rewriter.getF32FloatAttr(value);
      if (auto vector = dyn_cast<VectorType>(type))
        number = SplatElementsAttr::get(vector, Attribute(number));
      return arith::ConstantOp::create(rewriter, loc, number);
    };
    Type f32 = rewriter.getF32Type(), i32 = rewriter.getI32Type();
    Value scale = constant(type, log2e);
    Value k = mapElements(
        rewriter, loc, {arith::MulFOp::create(rewriter, loc, x, scale)},
        [&](ValueRange exponent) -> Value {
          Value clamped = ROCDL::FMed3Op::create(
              rewriter, loc, f32, exponent[0], constant(f32, smallest),
              constant(f32, largest));
          return math::RoundEvenOp::create(rewriter, loc, clamped);
        });
    Value r = math::FmaOp::create(rewriter, loc, x, scale,
                                  arith::NegFOp::create(rewriter, loc, k));
    r = math::FmaOp::create(rewriter, loc, x, constant(type, log2eLow), r);
    rewriter.replaceOp(
        op, mapElements(rewriter, loc, {r, k}, [&](ValueRange rk) -> Value {
          return LLVM::LoadExpOp::create(
              rewriter, loc, f32,
              ROCDL::ROCDLExp2::create(rewriter, loc, f32, rk[0]),
              arith::FPToSIOp::create(rewriter, loc, i32, rk[1]));
        }));
    return success();
  }
};

/// Computes an op on a vector of several dimensions row by row, for upstream's
/// patterns that accept vectors of one dimension alone.
template <class Op> struct SplitIntoRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() < 2 || type.isScalable())
      return failure();
    Location loc = op.getLoc();
    auto rowType =
        VectorType::get(type.getShape().take_back(), type.getElementType());
    Value result =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    ArrayRef<int64_t> outer = type.getShape().drop_back();
    for (const SmallVector<int64_t> &position :
         StaticTileOffsetRange(outer, SmallVector<int64_t>(outer.size(), 1))) {
      Value row =
          vector::ExtractOp::create(rewriter, loc, op->getOperand(0), position);
      Value computed = Op::create(rewriter, loc, TypeRange(rowType),
                                  ValueRange(row), op->getAttrs());
      result =
          vector::InsertOp::create(rewriter, loc, computed, result, position);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

template <class... Ops>
void splitIntoRows(RewritePatternSet &patterns, ConversionTarget &legal) {
  patterns.add<SplitIntoRows<Ops>...>(patterns.getContext(), /*benefit=*/2);
  (legal.addDynamicallyLegalOp<Ops>([](Ops op) {
    auto type = dyn_cast<VectorType>(op.getType());
    return !type || type.getRank() < 2 || type.isScalable();
  }),
   ...);
}

/// Widens ops that are legal for the other types.
template <class... Ops>
void widenHalves(RewritePatternSet &patterns, ConversionTarget &legal,
                 bool (*isWidened)(Type)) {
  patterns.add<WidenHalf<Ops>...>(patterns.getContext(), isWidened);
  (legal.addDynamicallyLegalOp<Ops>([isWidened](Ops op) {
    return !isWidened(getElementTypeOrSelf(op.getType()));
  }),
   ...);
}

/// A function of 16384 elements takes a quarter of a second to expand.
constexpr uint64_t kMaxElements = 16384;

uint64_t countElements(ArrayRef<int64_t> shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count = llvm::SaturatingMultiply<uint64_t>(count, size);
  return count;
}

/// Reports an error on a vector of too many elements for code that is expanded
/// per element.
LogicalResult checkSize(Operation *op) {
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!vector || vector.isScalable() ||
      countElements(vector.getShape()) <= kMaxElements)
    return success();
  return op->emitOpError()
         << "has type " << vector
         << "; code is generated for each element, so at most " << kMaxElements
         << " elements are supported: use smaller vectors";
}

/// Reports an error on each op to lower whose type is not supported.
LogicalResult checkTypes(Operation *root, const ConversionTarget &legal) {
  LogicalResult result = success();
  root->walk([&](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || !legal.isIllegal(op))
      return;
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    bool isKnown = element.isIntOrIndex() || element.isF16() ||
                   element.isBF16() || element.isF32() || element.isF64();
    if (failed(checkSize(op))) {
      result = failure();
      return;
    }
    if (isKnown && !isa<TensorType>(type))
      return;
    op->emitOpError()
        << "has type " << type
        << "; use f16, bf16, f32, f64, an integer or a vector of one of them";
    result = failure();
  });
  return result;
}

/// Reports an error on each op on small floats that is not supported.
LogicalResult checkSmallFloats(Operation *root) {
  LogicalResult result = success();
  root->walk([&](Operation *op) {
    if (computesSmallFloats(op)) {
      result =
          op->emitOpError("has elements of ")
          << getElementTypeOrSelf(op->getOperand(0))
          << "; no target computes with floats of at most 8 bits: extend the "
             "operands with arith.extf, and round the result with arith.truncf";
    } else if (failed(checkSmallFloatConversion(op))) {
      result = failure();
    } else if (convertsSmallFloats(op) &&
               isa<TensorType>(op->getResult(0).getType())) {
      op->emitOpError() << "has type " << op->getResult(0).getType()
                        << "; a scalar or a vector is required";
      result = failure();
    }
  });
  return result;
}

/// Reports an error on each function of the C library on a vector of too many
/// elements.
LogicalResult checkCalls(Operation *root, RewritePatternSet &toCalls) {
  llvm::SmallDenseSet<OperationName> functions;
  for (const std::unique_ptr<RewritePattern> &pattern :
       toCalls.getNativePatterns())
    if (std::optional<OperationName> function = pattern->getRootKind())
      functions.insert(*function);
  LogicalResult result = success();
  root->walk([&](Operation *op) {
    // CPUs have vector instructions for these.
    bool isInstruction =
        isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::FmaOp,
            math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
    if (functions.contains(op->getName()) && !isInstruction &&
        failed(checkSize(op)))
      result = failure();
  });
  return result;
}

struct SmaltiLowerMath : smalti::impl::SmaltiLowerMathBase<SmaltiLowerMath> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    const targets::Target *chip = getTarget(kernels, target);
    if (!chip)
      return signalPassFailure();

    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    ConversionTarget legal(getContext());
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    splitIntoRows<math::AbsIOp, math::CountLeadingZerosOp,
                  math::CountTrailingZerosOp>(patterns, legal);
    if (chip->vendor == targets::Vendor::NVIDIA) {
      // The chips have instructions for these. The conversion to NVVM supports
      // no other intrinsics.
      legal.addIllegalOp<math::AbsIOp, math::CountLeadingZerosOp,
                         math::CountTrailingZerosOp, math::CtPopOp, math::FmaOp,
                         math::FPowIOp, math::SqrtOp, math::TruncOp>();
      patterns.add<ExpandFPowI, LowerSqrt>(&getContext(), /*benefit=*/2);
      patterns.add<WidenHalf<math::SqrtOp>>(&getContext(), isHalf,
                                            /*benefit=*/3);
      populateMathToLLVMConversionPatterns(types, patterns);
    } else if (chip->vendor == targets::Vendor::AMD) {
      // LLVM's intrinsics become calls that the chips do not have; exp(x) - 1
      // and log(1 + x) are inaccurate near zero.
      legal.addIllegalOp<math::AcosOp, math::AsinOp, math::Atan2Op,
                         math::AtanOp, math::CoshOp, math::ExpM1Op,
                         math::FPowIOp, math::Log1pOp, math::SinhOp,
                         math::TanOp, math::TanhOp>();
      // Some releases of the device library return NaN for every finite f16.
      auto isF16 = [](Type type) { return type.isF16(); };
      auto isBF16 = [](Type type) { return type.isBF16(); };
      widenHalves<math::CosOp, math::SinOp>(patterns, legal, isF16);
      patterns.add<WidenHalf<math::TanOp>>(&getContext(), isF16);
      patterns.add<ExpandExp>(&getContext(), /*benefit=*/2);
      widenHalves<math::ExpOp, math::LogOp>(patterns, legal, isBF16);
      // The reciprocal and the root would round separately.
      widenHalves<math::RsqrtOp>(patterns, legal, isHalf);
      populateMathToROCDLConversionPatterns(types, patterns,
                                            /*chipset=*/std::nullopt);
    }
    patterns.add<ApproximatePower<math::ExpOp>, ApproximatePower<math::Exp2Op>>(
        &getContext(), chip->vendor);
    legal.addDynamicallyLegalOp<math::ExpOp, math::Exp2Op>(
        [isAMD = chip->vendor == targets::Vendor::AMD](Operation *op) {
          auto exp = dyn_cast<math::ExpOp>(op);
          bool isExpanded = isAMD && exp &&
                            (getElementTypeOrSelf(exp.getType()).isBF16() ||
                             isAccurateExp(exp));
          return !isExpanded &&
                 !isApproximate(cast<arith::ArithFastMathInterface>(op));
        });
    if (failed(checkTypes(kernels, legal)) || failed(checkSmallFloats(kernels)))
      return signalPassFailure();
    expandSmallFloats(kernels);
    if (chip->vendor == targets::Vendor::AMD) {
      expandDoubleFunctions(kernels, llvm::IsaPred<math::ExpM1Op>);
      keepSigns(kernels);
    }
    if (failed(applyPartialConversion(kernels, legal, std::move(patterns))))
      signalPassFailure();
  }
};

struct SmaltiLowerCPUMath
    : smalti::impl::SmaltiLowerCPUMathBase<SmaltiLowerCPUMath> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget legal(getContext());
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    legal.addIllegalOp<math::ExpM1Op, math::FPowIOp, math::Log1pOp>();
    patterns.add<ExpandFPowI>(&getContext(), /*benefit=*/2);
    if (failed(checkTypes(getOperation(), legal)) ||
        failed(checkCalls(getOperation(), patterns)))
      return signalPassFailure();
    expandDoubleFunctions(
        getOperation(),
        llvm::IsaPred<math::CbrtOp, math::Log10Op, math::SinhOp, math::TanhOp>);
    if (failed(
            applyPartialConversion(getOperation(), legal, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
