//===- Printf.cpp - Formats of printf -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/Printf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smalti;

void PrintfLine::add(StringRef conversion, Value argument) {
  format += conversion;
  arguments.push_back(argument);
}

PrintfLine &PrintfLine::operator<<(StringRef text) {
  for (char letter : text) {
    if (letter == '%')
      format += '%';
    format += letter;
  }
  return *this;
}

PrintfLine &PrintfLine::operator<<(Value value) {
  Type type = value.getType(), wide = builder.getI64Type();
  if (isa<FloatType>(type)) {
    StringRef conversion = type.isF64() ? "%.17g" : "%.9g";
    if (!type.isF64())
      value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
    add(conversion, value);
    return *this;
  }
  if (type.isIndex())
    value = arith::IndexCastOp::create(builder, loc, wide, value);
  else if (type.isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, wide, value);
  else if (type.getIntOrFloatBitWidth() < 64)
    value = arith::ExtSIOp::create(builder, loc, wide, value);
  else if (type.getIntOrFloatBitWidth() > 64)
    value = arith::TruncIOp::create(builder, loc, wide, value);
  add("%lld", value);
  return *this;
}

PrintfLine &PrintfLine::addFixed(Value value) {
  if (!value.getType().isF64())
    value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
  add("%f", value);
  return *this;
}

PrintfLine &PrintfLine::operator<<(ValueRange indices) {
  StringRef separator = "[";
  for (Value index : indices) {
    *this << separator << index;
    separator = ", ";
  }
  return *this << "]";
}

PrintfLine smalti::formatTileLine(OpBuilder &builder, Location loc, Value tile,
                                  StringRef label, ValueRange position,
                                  Value value) {
  PrintfLine line(builder, loc);
  line << "tile " << tile << ": " << label;
  if (!position.empty())
    line << " " << position;
  if (value)
    line << " = " << value;
  line << "\n";
  return line;
}
