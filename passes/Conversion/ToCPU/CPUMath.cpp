//===- CPUMath.cpp - Vectorized functions on the CPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUMath.h"

#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace smalti;

namespace {

/// exp(x) = 2^n exp(r) with x = n ln(2) + r and |r| <= ln(2) / 2.
class Exponential {
public:
  explicit Exponential(math::ExpOp op) : op(op), builder(op.getLoc(), op) {}

  void run();

private:
  Value constant(TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(op.getType()))
      value = DenseElementsAttr::get(shaped.clone(value.getType()),
                                     Attribute(value));
    return arith::ConstantOp::create(builder, value);
  }
  Value number(float value) { return constant(builder.getF32FloatAttr(value)); }
  Value integer(int32_t value) {
    return constant(builder.getI32IntegerAttr(value));
  }
  Type integers() {
    return ::smalti::withElement(op.getType(), builder.getI32Type());
  }
  /// x * y + z, fused if the CPU has an instruction.
  Value multiplyAdd(Value x, Value y, Value z) {
    auto contract = arith::FastMathFlagsAttr::get(
        builder.getContext(), arith::FastMathFlags::contract);
    Value multiplied = arith::MulFOp::create(builder, x, y, contract);
    return arith::AddFOp::create(builder, multiplied, z, contract);
  }
  /// x if `predicate` of x and y is false, otherwise y. NaN is kept.
  Value clamp(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::SelectOp::create(
        builder, arith::CmpFOp::create(builder, predicate, x, y), y, x);
  }
  /// x * 2^exponent with an exponent from -126 to 127.
  Value scale(Value x, Value exponent) {
    Value bits = arith::ShLIOp::create(
        builder, arith::AddIOp::create(builder, exponent, integer(127)),
        integer(23));
    return arith::MulFOp::create(
        builder, x, arith::BitcastOp::create(builder, op.getType(), bits));
  }

  math::ExpOp op;
  ImplicitLocOpBuilder builder;
};

} // namespace

void Exponential::run() {
  // Beyond these bounds the result is 0 or infinity.
  Value x = clamp(arith::CmpFPredicate::OLT, op.getOperand(), number(-104.0f));
  x = clamp(arith::CmpFPredicate::OGT, x, number(89.0f));
  // The sum is rounded to an integer, which is in the low bits.
  Value shift = number(0x1.8p23f);
  Value shifted = multiplyAdd(x, number(0x1.715476p0f), shift);
  Value n = arith::SubFOp::create(builder, shifted, shift);
  Value exponent = arith::SubIOp::create(
      builder, arith::BitcastOp::create(builder, integers(), shifted),
      arith::BitcastOp::create(builder, integers(), shift));
  // ln(2) in two parts; the multiplication by the first one is exact.
  Value r = multiplyAdd(n, number(-0x1.63p-1f), x);
  r = multiplyAdd(n, number(0x1.bd0106p-13f), r);
  // The minimax polynomial of Cephes for (exp(r) - 1 - r) / r^2.
  constexpr float coefficients[] = {1.9875691500e-4f, 1.3981999507e-3f,
                                    8.3334519073e-3f, 4.1665795894e-2f,
                                    1.6666665459e-1f, 5.0000001201e-1f};
  Value sum = number(coefficients[0]);
  for (float coefficient : llvm::drop_begin(coefficients))
    sum = multiplyAdd(sum, r, number(coefficient));
  Value square = arith::MulFOp::create(builder, r, r);
  sum = multiplyAdd(sum, square, r);
  sum = arith::AddFOp::create(builder, sum, number(1.0f));
  // In two steps, since 2^n may be out of range.
  Value half = arith::ShRSIOp::create(builder, exponent, integer(1));
  Value result =
      scale(scale(sum, half), arith::SubIOp::create(builder, exponent, half));
  op.replaceAllUsesWith(result);
  op.erase();
}

void smalti::expandExp(Operation *root) {
  SmallVector<math::ExpOp> ops;
  root->walk([&](math::ExpOp op) {
    if (getElementTypeOrSelf(op.getType()).isF32())
      ops.push_back(op);
  });
  for (math::ExpOp op : ops)
    Exponential(op).run();
}
