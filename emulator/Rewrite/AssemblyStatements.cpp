//===- AssemblyStatements.cpp - Statements that become LLVM's code --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/AssemblyExpansion.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace smalti::emulator::assembly {

/// Packing and unpacking of values: PTX ISA, "mov".
Expected<bool> Expansion::expandMove(const Statement &statement,
                                     const Parts &parts) {
  unsigned bits = bitsOfType(parts.back());
  if (parts[0] == "cvta") {
    // One address space.
    write(statement.operands[0], read(statement.operands[1], 64),
          /*isConversion=*/true);
    return true;
  }
  if (parts[0] != "mov" || parts.size() != 2 || !bits ||
      statement.operands.size() != 2)
    return false;
  const Operand &to = statement.operands[0], &from = statement.operands[1];
  auto partBits = [&](const Operand &vector) -> unsigned {
    return bits / vector.parts.size();
  };
  Value *value;
  if (from.kind == Operand::Vector) {
    value = Constant::getNullValue(builder.getIntNTy(bits));
    for (auto [i, part] : enumerate(from.parts)) {
      Value *wide = builder.CreateZExt(readAs(part, partBits(from)),
                                       builder.getIntNTy(bits));
      value =
          builder.CreateOr(value, builder.CreateShl(wide, i * partBits(from)));
    }
  } else {
    value = readAs(from, bits);
  }
  if (to.kind != Operand::Vector) {
    write(to, value);
    return true;
  }
  for (auto [i, part] : enumerate(to.parts))
    write(part, builder.CreateTrunc(builder.CreateLShr(value, i * partBits(to)),
                                    builder.getIntNTy(partBits(to))));
  return true;
}

/// PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
Expected<bool> Expansion::expandCarry(const Statement &statement,
                                      const Parts &parts) {
  StringRef root = parts[0];
  bool setsCarry = parts.size() > 2 && parts[parts.size() - 2] == "cc";
  bool usesCarry = root == "addc" || root == "subc" || root == "madc";
  if (!setsCarry && !usesCarry)
    return false;
  unsigned bits = bitsOfType(parts.back());
  if (!bits)
    return false;
  Type *wide = builder.getIntNTy(2 * bits);
  auto operand = [&](unsigned index) {
    return builder.CreateZExt(readAs(statement.operands[index], bits), wide);
  };
  if (!carry)
    carry = makeVariable(1, builder.getFalse());
  Value *in = usesCarry
                  ? builder.CreateZExt(
                        builder.CreateLoad(builder.getInt1Ty(), carry), wide)
                  : Constant::getNullValue(wide);
  Value *result;
  bool isDifference = root.starts_with("sub");
  if (root.starts_with("mad")) {
    bool isSigned = parts.back().starts_with("s");
    auto factor = [&](unsigned index) {
      Value *value = readAs(statement.operands[index], bits);
      return isSigned ? builder.CreateSExt(value, wide)
                      : builder.CreateZExt(value, wide);
    };
    Value *product = builder.CreateMul(factor(1), factor(2));
    if (parts[1] == "hi")
      product = builder.CreateLShr(product, bits);
    product = builder.CreateZExt(
        builder.CreateTrunc(product, builder.getIntNTy(bits)), wide);
    result = builder.CreateAdd(builder.CreateAdd(product, operand(3)), in);
  } else if (isDifference) {
    result = builder.CreateSub(builder.CreateSub(operand(1), operand(2)), in);
  } else {
    result = builder.CreateAdd(builder.CreateAdd(operand(1), operand(2)), in);
  }
  if (setsCarry)
    builder.CreateStore(builder.CreateTrunc(builder.CreateLShr(result, bits),
                                            builder.getInt1Ty()),
                        carry);
  write(statement.operands[0],
        builder.CreateTrunc(result, builder.getIntNTy(bits)));
  return true;
}

/// add, min and max of two integers of 16 bits in a register, and `.relu`: PTX
/// ISA, "Integer Arithmetic Instructions".
Expected<bool> Expansion::expandPackedInteger(const Statement &statement,
                                              const Parts &parts) {
  StringRef type = parts.back(), root = parts[0];
  bool isPacked = type == "s16x2" || type == "u16x2";
  bool isSigned = type.starts_with("s");
  bool isRelu = parts.size() == 3 && parts[1] == "relu" && isSigned;
  bool isExtremum = root == "min" || root == "max";
  if (statement.operands.size() != 3 || !(isPacked || type == "s32") ||
      !(isExtremum ? parts.size() == 2 || isRelu
                   : root == "add" && parts.size() == 2))
    return false;
  Type *vector = isPacked ? FixedVectorType::get(builder.getInt16Ty(), 2)
                          : static_cast<Type *>(builder.getInt32Ty());
  auto operand = [&](unsigned index) {
    return builder.CreateBitCast(readAs(statement.operands[index], 32), vector);
  };
  Value *a = operand(1), *b = operand(2), *result;
  if (isExtremum) {
    Intrinsic::ID least = isSigned ? Intrinsic::smin : Intrinsic::umin;
    Intrinsic::ID largest = isSigned ? Intrinsic::smax : Intrinsic::umax;
    result =
        builder.CreateBinaryIntrinsic(root == "min" ? least : largest, a, b);
  } else {
    result = builder.CreateAdd(a, b);
  }
  if (isRelu)
    result = builder.CreateBinaryIntrinsic(Intrinsic::smax, result,
                                           Constant::getNullValue(vector));
  write(statement.operands[0],
        builder.CreateBitCast(result, builder.getInt32Ty()));
  return true;
}

Expected<bool> Expansion::expandInteger(const Statement &statement,
                                        const Parts &parts) {
  StringRef type = parts.back(), root = parts[0];
  unsigned bits = bitsOfType(type);
  bool isInteger =
      type.starts_with("b") || type.starts_with("u") || type.starts_with("s");
  if (!bits || !isInteger || type == "bf16" || type == "bf16x2" || bits > 64)
    return false;
  bool isSigned = type.starts_with("s");
  ArrayRef<Operand> operands = statement.operands;
  bool isConversion = root == "cvt";
  auto operand = [&](unsigned index) {
    return isConversion ? convert(operands[index], bits)
                        : readAs(operands[index], bits);
  };
  auto has = [&](StringRef name, size_t numParts, size_t numOperands) {
    return root == name && parts.size() == numParts &&
           operands.size() == numOperands;
  };
  auto extended = [&](unsigned index) {
    Type *wide = builder.getIntNTy(2 * bits);
    return isSigned ? builder.CreateSExt(operand(index), wide)
                    : builder.CreateZExt(operand(index), wide);
  };
  Value *result;
  if (has("add", 2, 3)) {
    result = builder.CreateAdd(operand(1), operand(2));
  } else if (has("sub", 2, 3)) {
    result = builder.CreateSub(operand(1), operand(2));
  } else if (has("and", 2, 3)) {
    result = builder.CreateAnd(operand(1), operand(2));
  } else if (has("or", 2, 3)) {
    result = builder.CreateOr(operand(1), operand(2));
  } else if (has("xor", 2, 3)) {
    result = builder.CreateXor(operand(1), operand(2));
  } else if (has("not", 2, 2)) {
    result = builder.CreateNot(operand(1));
  } else if (has("neg", 2, 2)) {
    result = builder.CreateNeg(operand(1));
  } else if (has("abs", 2, 2) && isSigned) {
    // The least number stays.
    result = builder.CreateBinaryIntrinsic(Intrinsic::abs, operand(1),
                                           builder.getFalse());
  } else if (has("min", 2, 3) || has("max", 2, 3)) {
    Intrinsic::ID id = root == "min"
                           ? (isSigned ? Intrinsic::smin : Intrinsic::umin)
                           : (isSigned ? Intrinsic::smax : Intrinsic::umax);
    result = builder.CreateBinaryIntrinsic(id, operand(1), operand(2));
  } else if (has("shl", 2, 3) || has("shr", 2, 3)) {
    // Amounts above the width count as the width.
    Value *amount = readAs(operands[2], 32), *value = operand(1);
    Value *most = builder.getInt32(bits - 1);
    Value *clamped = builder.CreateZExtOrTrunc(
        builder.CreateBinaryIntrinsic(Intrinsic::umin, amount, most),
        value->getType());
    Value *isTooMuch = builder.CreateICmpUGT(amount, most);
    Value *none = Constant::getNullValue(value->getType());
    if (root == "shr" && isSigned)
      result = builder.CreateAShr(value, clamped);
    else
      result = builder.CreateSelect(isTooMuch, none,
                                    root == "shl"
                                        ? builder.CreateShl(value, clamped)
                                        : builder.CreateLShr(value, clamped));
  } else if (has("mul", 3, 3) || has("mad", 3, 4)) {
    Value *product = builder.CreateMul(extended(1), extended(2));
    unsigned width = parts[1] == "wide" ? 2 * bits : bits;
    if (parts[1] == "hi")
      product = builder.CreateLShr(product, bits);
    else if (parts[1] != "lo" && parts[1] != "wide")
      return false;
    result = builder.CreateTrunc(product, builder.getIntNTy(width));
    if (root == "mad")
      result = builder.CreateAdd(result, readAs(operands[3], width));
  } else if (has("cvt", 3, 2)) {
    unsigned to = bitsOfType(parts[1]);
    if (!to || parts[1].contains('f'))
      return false;
    Value *value = operand(1);
    Type *wanted = builder.getIntNTy(to);
    result = isSigned ? builder.CreateSExtOrTrunc(value, wanted)
                      : builder.CreateZExtOrTrunc(value, wanted);
  } else if (has("selp", 2, 4)) {
    result =
        builder.CreateSelect(readAs(operands[3], 1), operand(1), operand(2));
  } else if (has("lop3", 2, 5) && operands[4].kind == Operand::Number) {
    // A bit of the table for each combination of bits of the operands.
    result = Constant::getNullValue(builder.getIntNTy(bits));
    Value *values[] = {operand(1), operand(2), operand(3)};
    for (unsigned row = 0; row < 8; ++row) {
      if (!(operands[4].value >> row & 1))
        continue;
      Value *term = nullptr;
      for (unsigned i = 0; i < 3; ++i) {
        Value *bit =
            row >> (2 - i) & 1 ? values[i] : builder.CreateNot(values[i]);
        term = term ? builder.CreateAnd(term, bit) : bit;
      }
      result = builder.CreateOr(result, term);
    }
  } else {
    return false;
  }
  write(operands[0], result, isConversion);
  return true;
}

static std::optional<CmpInst::Predicate> comparisonOf(StringRef name,
                                                      StringRef type) {
  using P = CmpInst::Predicate;
  bool isSigned = type.starts_with("s");
  if (type.starts_with("f") && type != "f16" && type != "f16x2")
    return StringSwitch<std::optional<P>>(name)
        .Case("eq", P::FCMP_OEQ)
        .Case("ne", P::FCMP_ONE)
        .Case("lt", P::FCMP_OLT)
        .Case("le", P::FCMP_OLE)
        .Case("gt", P::FCMP_OGT)
        .Case("ge", P::FCMP_OGE)
        .Case("equ", P::FCMP_UEQ)
        .Case("neu", P::FCMP_UNE)
        .Case("ltu", P::FCMP_ULT)
        .Case("leu", P::FCMP_ULE)
        .Case("gtu", P::FCMP_UGT)
        .Case("geu", P::FCMP_UGE)
        .Case("num", P::FCMP_ORD)
        .Case("nan", P::FCMP_UNO)
        .Default(std::nullopt);
  if (type.contains('f'))
    return std::nullopt;
  return StringSwitch<std::optional<P>>(name)
      .Case("eq", P::ICMP_EQ)
      .Case("ne", P::ICMP_NE)
      .Case("lt", isSigned ? P::ICMP_SLT : P::ICMP_ULT)
      .Case("le", isSigned ? P::ICMP_SLE : P::ICMP_ULE)
      .Case("gt", isSigned ? P::ICMP_SGT : P::ICMP_UGT)
      .Case("ge", isSigned ? P::ICMP_SGE : P::ICMP_UGE)
      .Case("lo", P::ICMP_ULT)
      .Case("ls", P::ICMP_ULE)
      .Case("hi", P::ICMP_UGT)
      .Case("hs", P::ICMP_UGE)
      .Default(std::nullopt);
}

/// setp, and what is done with predicates and chosen by them.
Expected<bool> Expansion::expandPredicate(const Statement &statement,
                                          const Parts &parts) {
  ArrayRef<Operand> operands = statement.operands;
  StringRef type = parts.back(), root = parts[0];
  unsigned bits = bitsOfType(type);
  if (type == "pred" && parts.size() == 2 && operands.size() >= 2) {
    Value *a = readAs(operands[1], 1);
    if (root == "not" || root == "mov") {
      write(operands[0], root == "not" ? builder.CreateNot(a) : a);
      return true;
    }
    if (operands.size() != 3)
      return false;
    Value *b = readAs(operands[2], 1);
    if (root != "and" && root != "or" && root != "xor")
      return false;
    write(operands[0], root == "and"  ? builder.CreateAnd(a, b)
                       : root == "or" ? builder.CreateOr(a, b)
                                      : builder.CreateXor(a, b));
    return true;
  }
  if (root == "selp" && parts.size() == 2 && bits && operands.size() == 4) {
    write(operands[0], builder.CreateSelect(readAs(operands[3], 1),
                                            readAs(operands[1], bits),
                                            readAs(operands[2], bits)));
    return true;
  }
  if (root != "setp" || parts.size() < 3 || parts.size() > 4 || !bits ||
      operands.size() != parts.size())
    return false;
  std::optional<CmpInst::Predicate> comparison = comparisonOf(parts[1], type);
  if (!comparison)
    return false;
  Value *a = readAs(operands[1], bits), *b = readAs(operands[2], bits);
  if (CmpInst::isFPPredicate(*comparison)) {
    Type *ofFloat = bits == 32 ? builder.getFloatTy() : builder.getDoubleTy();
    a = builder.CreateBitCast(a, ofFloat);
    b = builder.CreateBitCast(b, ofFloat);
  }
  Value *isTrue = builder.CreateCmp(*comparison, a, b);
  Value *isFalse = builder.CreateNot(isTrue);
  if (parts.size() == 4) {
    StringRef how = parts[2];
    Value *c = readAs(operands[3], 1);
    auto combined = [&](Value *value) {
      return how == "and"  ? builder.CreateAnd(value, c)
             : how == "or" ? builder.CreateOr(value, c)
                           : builder.CreateXor(value, c);
    };
    if (how != "and" && how != "or" && how != "xor")
      return false;
    isTrue = combined(isTrue);
    isFalse = combined(isFalse);
  }
  if (operands[0].kind == Operand::Pair) {
    write(operands[0].parts[0], isTrue);
    write(operands[0].parts[1], isFalse);
  } else {
    write(operands[0], isTrue);
  }
  return true;
}

} // namespace smalti::emulator::assembly
