//===- CPUHalfFloats.cpp - 16-bit floats on the CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUHalfFloats.h"

#include "smalti/passes/Support/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace smalti;

LogicalResult smalti::computeInF32(ModuleOp scratch) {
  MLIRContext *context = scratch.getContext();
  Type f32 = Float32Type::get(context), f64 = Float64Type::get(context);
  auto isNarrow = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  };

  IRRewriter rewriter(context);
  SmallVector<math::FmaOp> fmas;
  scratch.walk([&](math::FmaOp op) {
    if (isNarrow(op.getType()))
      fmas.push_back(op);
  });
  for (math::FmaOp op : fmas) {
    rewriter.setInsertionPoint(op);
    Type wide = withElement(op.getType(), f64);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          arith::ExtFOp::create(rewriter, op.getLoc(), wide, operand));
    Value result = math::FmaOp::create(rewriter, op.getLoc(), operands[0],
                                       operands[1], operands[2]);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
  }

  // LLVM's code of copysign on extended scalars has the wrong sign on x86.
  SmallVector<math::CopySignOp> copySigns;
  scratch.walk([&](math::CopySignOp op) {
    if (isNarrow(op.getType()))
      copySigns.push_back(op);
  });
  for (math::CopySignOp op : copySigns) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    Type bits = withElement(op.getType(), rewriter.getI16Type());
    auto masked = [&](Value number, int64_t mask) -> Value {
      TypedAttr value = rewriter.getI16IntegerAttr(static_cast<int16_t>(mask));
      if (auto shaped = dyn_cast<ShapedType>(bits))
        value = DenseElementsAttr::get(shaped, Attribute(value));
      return arith::AndIOp::create(
          rewriter, loc, arith::BitcastOp::create(rewriter, loc, bits, number),
          arith::ConstantOp::create(rewriter, loc, value));
    };
    Value result =
        arith::OrIOp::create(rewriter, loc, masked(op.getLhs(), 0x7fff),
                             masked(op.getRhs(), 0x8000));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
  }

  {
    // The converter stores a reference to the set.
    SetVector<Type> supported;
    supported.insert(f32);
    supported.insert(f64);
    TypeConverter converter;
    math::populateExtendToSupportedTypesTypeConverter(converter, supported,
                                                      f32);
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    if (failed(applyPartialConversion(scratch, target, std::move(patterns))))
      return failure();
  }
  {
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {Float16Type::get(context), BFloat16Type::get(context)},
        f32);
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(scratch, target, std::move(patterns))))
      return failure();
  }

  // The fastmath flags of these patterns would let an extension cancel a
  // truncation and drop the rounding between two ops.
  SmallVector<Operation *> casts;
  scratch.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op)) {
      extension.removeFastmathAttr();
      if (!isNarrow(extension.getIn().getType()) ||
          getElementTypeOrSelf(extension.getType()) != f64)
        continue;
      rewriter.setInsertionPoint(extension);
      Type middle = withElement(extension.getType(), f32);
      Value single = arith::ExtFOp::create(rewriter, op->getLoc(), middle,
                                           extension.getIn());
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, extension.getType(),
                                                 single);
    } else {
      auto truncation = cast<arith::TruncFOp>(op);
      truncation.removeFastmathAttr();
      if (isNarrow(truncation.getType()) &&
          getElementTypeOrSelf(truncation.getIn().getType()) == f64) {
        // A direct truncation is a call to the compiler's runtime library.
        rewriter.setInsertionPoint(truncation);
        Value odd = truncateToOdd(rewriter, op->getLoc(), truncation.getIn());
        rewriter.replaceOpWithNewOp<arith::TruncFOp>(truncation,
                                                     truncation.getType(), odd);
      }
    }
  }
  return success();
}

LogicalResult smalti::expandForLLVM(ModuleOp scratch) {
  RewritePatternSet patterns(scratch.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  ConversionTarget target(*scratch.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return false;
    if (isa<arith::ExtFOp>(op))
      return !getElementTypeOrSelf(op->getOperand(0).getType()).isBF16();
    if (isa<arith::TruncFOp>(op))
      return !getElementTypeOrSelf(op->getResult(0).getType()).isBF16();
    return true;
  });
  return applyPartialConversion(scratch, target, std::move(patterns));
}
