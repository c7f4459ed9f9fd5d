//===- CPUFloat8.cpp - 8-bit floats on the CPU ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;

bool smalti::isFloat8OfCPU(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

namespace {

/// Expands one extension of a scalar or a vector.
class Extension {
public:
  Extension(arith::ExtFOp op) : op(op), builder(op.getLoc(), op) {}

  void run();

private:
  Type withElement(Type element) {
    auto shaped = dyn_cast<ShapedType>(op.getType());
    return shaped ? shaped.clone(element) : element;
  }
  Value constant(TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(withElement(value.getType())))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(builder, value);
  }
  Value constant16(int64_t value) {
    return constant(builder.getI16IntegerAttr(value));
  }
  /// Extends to f32, which represents all values.
  Value widen();

  arith::ExtFOp op;
  ImplicitLocOpBuilder builder;
};

} // namespace

Value Extension::widen() {
  Type element = getElementTypeOrSelf(op.getIn().getType());
  Value bits = arith::BitcastOp::create(
      builder, withElement(builder.getI8Type()), op.getIn());
  bits =
      arith::ExtUIOp::create(builder, withElement(builder.getI16Type()), bits);
  auto widenHalf = [&](Value half) -> Value {
    Value value = arith::BitcastOp::create(
        builder, withElement(builder.getF16Type()), half);
    return arith::ExtFOp::create(builder, withElement(builder.getF32Type()),
                                 value);
  };
  // f8E5M2 is the upper byte of an f16.
  if (isa<Float8E5M2Type>(element)) {
    Value half = arith::ShLIOp::create(builder, bits, constant16(8));
    return widenHalf(half);
  }
  // f8E4M3FN has one exponent bit less than f16, a bias of 7 instead of 15, and
  // a NaN instead of infinities.
  Value magnitude = arith::AndIOp::create(builder, bits, constant16(0x7f));
  Value sign = arith::AndIOp::create(builder, bits, constant16(0x80));
  Value half = arith::OrIOp::create(
      builder, arith::ShLIOp::create(builder, sign, constant16(8)),
      arith::ShLIOp::create(builder, magnitude, constant16(7)));
  Value wide = widenHalf(half);
  Value scaled = arith::MulFOp::create(
      builder, wide, constant(builder.getF32FloatAttr(256.0f)));
  Value isNaN = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                      magnitude, constant16(0x7f));
  Value nan = constant(
      builder.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
  return arith::SelectOp::create(builder, isNaN, nan, scaled);
}

void Extension::run() {
  Value wide = widen();
  Type wanted = op.getType();
  int64_t bits = getElementTypeOrSelf(wanted).getIntOrFloatBitWidth();
  if (bits < 32)
    wide = arith::TruncFOp::create(builder, wanted, wide);
  else if (bits > 32)
    wide = arith::ExtFOp::create(builder, wanted, wide);
  op.replaceAllUsesWith(wide);
  op.erase();
}

void smalti::widenFloat8(Operation *root) {
  SmallVector<arith::ExtFOp> extensions;
  root->walk([&](arith::ExtFOp op) {
    if (isFloat8OfCPU(getElementTypeOrSelf(op.getIn().getType())))
      extensions.push_back(op);
  });
  for (arith::ExtFOp op : extensions)
    Extension(op).run();
}
