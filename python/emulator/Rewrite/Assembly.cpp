//===- Assembly.cpp - Inline assembly of NVIDIA becomes code --------------===//
//
// Each statement becomes LLVM's instructions, where it is about integers and
// branches alone, or the call of an instruction of the emulator named
// "asm:opcode": its operands are those that the statement reads, in their
// order, as integers and addresses, and its result has those that it writes.
//
//===----------------------------------------------------------------------===//

#include "emulator/Rewrite/AssemblyText.h"
#include "emulator/Rewrite/Steps.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace smalti::emulator {

using assembly::Operand;
using assembly::Statement;

namespace {

/// The parts of an opcode between its dots.
using Parts = SmallVector<StringRef, 8>;

/// Opcodes whose first operand is no address and none that they write.
bool hasNoResult(StringRef root) {
  return StringSwitch<bool>(root)
      .Cases({"bar", "barrier", "fence", "membar", "setmaxnreg", "nanosleep",
              "wgmma", "cp", "exit", "ret", "trap", "brkpt", "pmevent",
              "griddepcontrol", "tcgen05"},
             true)
      .Default(false);
}

class Expansion {
public:
  Expansion(CallBase &call, SmallVectorImpl<AllocaInst *> &variables)
      : call(call), context(call.getContext()), builder(&call),
        variables(variables) {}

  Error run();

private:
  Error bindArguments(const InlineAsm &assembly);
  Error expand(const assembly::Program &program);
  Error expandStatement(const Statement &statement);
  /// Returns whether the statement is one of those.
  Expected<bool> expandMove(const Statement &statement, const Parts &parts);
  Expected<bool> expandInteger(const Statement &statement, const Parts &parts);
  Expected<bool> expandCarry(const Statement &statement, const Parts &parts);
  Expected<bool> expandPredicate(const Statement &statement,
                                 const Parts &parts);
  Error expandCall(const Statement &statement, const Parts &parts);
  void finish();

  AllocaInst *makeVariable(unsigned bits, Value *initial);
  /// The variable of a register or of the call's operand; null for others.
  AllocaInst *variableOf(const Operand &operand) const;
  Type *typeOf(const Operand &operand) const {
    AllocaInst *variable = variableOf(operand);
    return variable ? variable->getAllocatedType() : Type::getInt32Ty(context);
  }
  /// The operand's bits; a number has `bits`.
  Value *read(const Operand &operand, unsigned bits);
  /// The same with exactly so many.
  Value *readAs(const Operand &operand, unsigned bits) {
    return builder.CreateZExtOrTrunc(read(operand, bits),
                                     builder.getIntNTy(bits));
  }
  void write(const Operand &operand, Value *value);
  Value *readAddress(const Operand &address);
  void appendRead(const Operand &operand, unsigned bits,
                  SmallVectorImpl<Value *> &values);

  Error fail(const Statement &statement, const Twine &what) const {
    return refuse(call, "inline assembly that is not emulated: " + what +
                            " in '" + statement.text + "'");
  }
  void complain(const Twine &what) {
    if (problem.empty())
      problem = what.str();
  }

  CallBase &call;
  LLVMContext &context;
  IRBuilder<> builder;
  SmallVectorImpl<AllocaInst *> &variables;
  SmallVector<AllocaInst *> arguments, registers;
  /// Of extended-precision arithmetic.
  AllocaInst *carry = nullptr;
  SmallVector<BasicBlock *> labels;
  unsigned numOutputs = 0;
  /// What an operand was that could not be read.
  std::string problem;
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

AllocaInst *Expansion::makeVariable(unsigned bits, Value *initial) {
  BasicBlock &entry = call.getFunction()->getEntryBlock();
  IRBuilder<> atEntry(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  AllocaInst *variable = atEntry.CreateAlloca(builder.getIntNTy(bits));
  variables.push_back(variable);
  builder.CreateStore(initial, variable);
  return variable;
}

/// What a register has that nobody wrote: neither 0 nor a number.
static Constant *unwritten(Type *type) {
  unsigned bits = type->getIntegerBitWidth();
  return bits < 8
             ? ConstantInt::get(type, 1)
             : ConstantInt::get(
                   type,
                   APInt::getSplat(
                       bits, APInt(16, 0x7fff).trunc(std::min(bits, 16U))));
}

static unsigned registerBits(Type *type, const DataLayout &layout) {
  if (auto *pointer = dyn_cast<PointerType>(type))
    return pointer->getAddressSpace() == sharedSpace ? 32 : 64;
  return layout.getTypeSizeInBits(type).getFixedValue();
}

static Value *toBits(IRBuilder<> &builder, Value *value, unsigned bits) {
  Type *type = builder.getIntNTy(bits);
  if (value->getType()->isPointerTy())
    return builder.CreatePtrToInt(value, type);
  return builder.CreateBitCast(value, type);
}

static Value *fromBits(IRBuilder<> &builder, Value *bits, Type *type) {
  if (type->isPointerTy())
    return builder.CreateIntToPtr(bits, type);
  return builder.CreateBitCast(bits, type);
}

Error Expansion::bindArguments(const InlineAsm &assembly) {
  const DataLayout &layout = call.getDataLayout();
  SmallVector<Type *> outputs;
  if (auto *structure = dyn_cast<StructType>(call.getType()))
    outputs.append(structure->element_begin(), structure->element_end());
  else if (!call.getType()->isVoidTy())
    outputs.push_back(call.getType());
  numOutputs = outputs.size();
  auto isRegister = [&](Type *type) {
    return type->isSingleValueType() && type->isSized() &&
           !type->isScalableTy() && !type->isTargetExtTy() &&
           layout.getTypeSizeInBits(type) <= 128;
  };
  unsigned nextInput = 0, nextOutput = 0;
  for (const InlineAsm::ConstraintInfo &constraint :
       assembly.ParseConstraints()) {
    if (constraint.Type == InlineAsm::isClobber)
      continue;
    if (constraint.Type == InlineAsm::isLabel || constraint.isIndirect)
      return refuse(call, "inline assembly with labels or operands in memory "
                          "is not emulated");
    bool isOutput = constraint.Type == InlineAsm::isOutput;
    Type *type = isOutput ? outputs[nextOutput++]
                          : call.getArgOperand(nextInput)->getType();
    if (!isRegister(type))
      return refuse(call, "inline assembly with an operand of the type " +
                              printed(*type) + " is not emulated");
    unsigned bits = registerBits(type, layout);
    if (isOutput) {
      arguments.push_back(
          makeVariable(bits, unwritten(builder.getIntNTy(bits))));
      continue;
    }
    Value *value = toBits(builder, call.getArgOperand(nextInput++), bits);
    unsigned tied;
    if (!constraint.Codes.empty() &&
        !StringRef(constraint.Codes[0]).getAsInteger(10, tied)) {
      if (tied >= arguments.size() ||
          arguments[tied]->getAllocatedType() != value->getType())
        return refuse(call, "inline assembly with an operand that does not fit "
                            "its register is not emulated");
      builder.CreateStore(value, arguments[tied]);
    }
    arguments.push_back(makeVariable(bits, value));
  }
  return Error::success();
}

AllocaInst *Expansion::variableOf(const Operand &operand) const {
  if (operand.kind == Operand::Argument && operand.value < arguments.size())
    return arguments[operand.value];
  if (operand.kind == Operand::Register)
    return registers[operand.value];
  return nullptr;
}

Value *Expansion::read(const Operand &operand, unsigned bits) {
  if (AllocaInst *variable = variableOf(operand)) {
    Value *value = builder.CreateLoad(variable->getAllocatedType(), variable);
    return operand.isNegated ? builder.CreateNot(value) : value;
  }
  if (operand.kind == Operand::Number)
    return ConstantInt::get(
        context, APInt(bits, operand.value, false, /*implicitTrunc=*/true));
  if (operand.kind == Operand::Special) {
    bool isLong = operand.name.rfind("64") != std::string::npos ||
                  operand.name == "globaltimer";
    Type *type = isLong ? builder.getInt64Ty() : builder.getInt32Ty();
    FunctionCallee callee = call.getModule()->getOrInsertFunction(
        "llvm.nvvm.read.ptx.sreg." + operand.name,
        FunctionType::get(type, false));
    return builder.CreateCall(callee);
  }
  complain(operand.kind == Operand::Label ? "there is no " + operand.name
                                          : "an operand of another kind");
  return Constant::getNullValue(builder.getIntNTy(bits));
}

void Expansion::write(const Operand &operand, Value *value) {
  if (operand.kind == Operand::Sink)
    return;
  AllocaInst *variable = variableOf(operand);
  if (!variable)
    return complain("a result that is no register");
  builder.CreateStore(
      builder.CreateZExtOrTrunc(value, variable->getAllocatedType()), variable);
}

Value *Expansion::readAddress(const Operand &address) {
  Value *base = read(address.parts[0], 64);
  if (address.value) {
    APInt offset(base->getType()->getIntegerBitWidth(), address.value, false,
                 true);
    base = builder.CreateAdd(base, ConstantInt::get(context, offset));
  }
  return builder.CreateIntToPtr(base, builder.getPtrTy());
}

void Expansion::appendRead(const Operand &operand, unsigned bits,
                           SmallVectorImpl<Value *> &values) {
  switch (operand.kind) {
  case Operand::Address:
    values.push_back(readAddress(operand));
    for (const Operand &part : drop_begin(operand.parts))
      appendRead(part, 32, values);
    return;
  case Operand::Vector:
  case Operand::Pair:
    for (const Operand &part : operand.parts)
      appendRead(part, bits, values);
    return;
  default:
    values.push_back(read(operand, bits));
  }
}

//===----------------------------------------------------------------------===//
// Statements of LLVM's
//===----------------------------------------------------------------------===//

/// Values packed into a wider one, and the other way round: PTX ISA, "mov".
Expected<bool> Expansion::expandMove(const Statement &statement,
                                     const Parts &parts) {
  unsigned bits = assembly::bitsOfType(parts.back());
  if (parts[0] == "cvta") {
    // One address space.
    write(statement.operands[0], read(statement.operands[1], 64));
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
  unsigned bits = assembly::bitsOfType(parts.back());
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

Expected<bool> Expansion::expandInteger(const Statement &statement,
                                        const Parts &parts) {
  StringRef type = parts.back(), root = parts[0];
  unsigned bits = assembly::bitsOfType(type);
  bool isInteger =
      type.starts_with("b") || type.starts_with("u") || type.starts_with("s");
  if (!bits || !isInteger || type == "bf16" || type == "bf16x2" || bits > 64)
    return false;
  bool isSigned = type.starts_with("s");
  ArrayRef<Operand> operands = statement.operands;
  auto operand = [&](unsigned index) { return readAs(operands[index], bits); };
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
    unsigned to = assembly::bitsOfType(parts[1]);
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
  write(operands[0], result);
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
  unsigned bits = assembly::bitsOfType(type);
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

//===----------------------------------------------------------------------===//
// Instructions of the emulator
//===----------------------------------------------------------------------===//

/// The number behind `n` in the shape of a product, as m64n128k16.
static unsigned columnsOf(StringRef shape) {
  unsigned columns = 0;
  shape = shape.split('n').second;
  return shape.consumeInteger(10, columns) ? 0 : columns;
}

Error Expansion::expandCall(const Statement &statement, const Parts &parts) {
  ArrayRef<Operand> operands = statement.operands;
  bool isProduct =
      parts[0] == "wgmma" && parts.size() > 1 && parts[1] == "mma_async";
  // What it writes stands first, where it writes any.
  ArrayRef<Operand> results;
  if (!operands.empty() && operands[0].kind != Operand::Address &&
      (isProduct || !hasNoResult(parts[0]))) {
    results = operands.take_front();
    if (results[0].kind == Operand::Vector || results[0].kind == Operand::Pair)
      results = results[0].parts;
    else if (results[0].kind == Operand::Sink)
      results = {};
    if (!isProduct)
      operands = operands.drop_front();
  }
  unsigned bits = assembly::bitsOfType(parts.back());
  SmallVector<Value *> values;
  for (const Operand &operand : operands)
    appendRead(operand, bits == 64 ? 64 : 32, values);
  SmallVector<Type *> types;
  for (const Operand &result : results)
    types.push_back(typeOf(result));
  if (isProduct) {
    unsigned columns = columnsOf(parts.size() > 4 ? parts[4] : "");
    unsigned each = parts.size() > 5 && parts[5] == "f16" ? 4 : 2;
    if (columns == 0 || columns % 8 || columns > 256 ||
        results.size() != columns / each)
      return fail(statement, "a shape that there is not, or another number of "
                             "accumulators than it has");
    // The product that wrote its accumulators, and this one: followAccumulators
    // knows what they are for.
    values.push_back(builder.getInt64(0));
    types.push_back(builder.getInt64Ty());
  }
  if (!problem.empty())
    return fail(statement, problem);
  SmallVector<Type *> read;
  for (Value *value : values)
    read.push_back(value->getType());
  Type *result = types.empty()       ? builder.getVoidTy()
                 : types.size() == 1 ? types[0]
                                     : StructType::get(context, types);
  auto *type = FunctionType::get(result, read, false);
  FunctionCallee callee =
      call.getModule()->getOrInsertFunction(("asm:" + statement.opcode), type);
  // Calls of one opcode can differ in their types.
  CallInst *made = builder.CreateCall(type, callee.getCallee(), values);
  made->setConvergent();
  made->setDoesNotThrow();
  for (auto [i, operand] : enumerate(results))
    write(operand, types.size() == 1 ? static_cast<Value *>(made)
                                     : builder.CreateExtractValue(made, i));
  return Error::success();
}

Error Expansion::expandStatement(const Statement &statement) {
  Parts parts;
  StringRef(statement.opcode).split(parts, '.');
  using Step = Expected<bool> (Expansion::*)(const Statement &, const Parts &);
  for (Step step : {&Expansion::expandPredicate, &Expansion::expandMove,
                    &Expansion::expandCarry, &Expansion::expandInteger}) {
    Expected<bool> done = (this->*step)(statement, parts);
    if (!done)
      return done.takeError();
    if (*done)
      return problem.empty() ? Error::success() : fail(statement, problem);
  }
  return expandCall(statement, parts);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Error Expansion::expand(const assembly::Program &program) {
  for (unsigned bits : program.registers)
    registers.push_back(makeVariable(bits, unwritten(builder.getIntNTy(bits))));
  bool isStraight = program.labels.empty() &&
                    all_of(program.statements,
                           [](auto &statement) { return !statement.guard; });
  BasicBlock *end = nullptr;
  if (!isStraight) {
    BasicBlock *head = call.getParent();
    end = SplitBlock(head, &call);
    head->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(head);
    builder.SetCurrentDebugLocation(call.getDebugLoc());
  }
  auto makeBlock = [&] {
    return BasicBlock::Create(context, "", call.getFunction(), end);
  };
  for (size_t i = 0; i < program.labels.size(); ++i)
    labels.push_back(makeBlock());
  auto enter = [&](BasicBlock *block) {
    block->moveBefore(end);
    builder.SetInsertPoint(block);
  };
  auto enterLabels = [&](size_t index) {
    for (auto [i, at] : enumerate(program.labels))
      if (at == index) {
        builder.CreateBr(labels[i]);
        enter(labels[i]);
      }
  };

  for (auto [index, statement] : enumerate(program.statements)) {
    enterLabels(index);
    bool isBranch = StringRef(statement.opcode).split('.').first == "bra";
    if (isBranch && (statement.operands.size() != 1 ||
                     statement.operands[0].kind != Operand::Label))
      return fail(statement, "a branch to no label");
    BasicBlock *then = isBranch ? labels[statement.operands[0].value] : nullptr;
    BasicBlock *next = isBranch || statement.guard ? makeBlock() : nullptr;
    if (!isBranch && statement.guard)
      then = makeBlock();
    if (statement.guard) {
      Value *condition = readAs(*statement.guard, 1);
      if (!problem.empty())
        return fail(statement, problem);
      builder.CreateCondBr(condition, then, next);
    } else if (isBranch) {
      builder.CreateBr(then);
    }
    if (!isBranch) {
      if (then)
        enter(then);
      if (Error error = expandStatement(statement))
        return error;
      if (next)
        builder.CreateBr(next);
    }
    if (next)
      enter(next);
  }
  enterLabels(program.statements.size());
  if (end) {
    builder.CreateBr(end);
    builder.SetInsertPoint(&call);
  }
  return Error::success();
}

void Expansion::finish() {
  auto *structure = dyn_cast<StructType>(call.getType());
  Value *result =
      structure ? PoisonValue::get(structure) : static_cast<Value *>(nullptr);
  for (unsigned i = 0; i < numOutputs; ++i) {
    Value *bits =
        builder.CreateLoad(arguments[i]->getAllocatedType(), arguments[i]);
    Type *type = structure ? structure->getElementType(i) : call.getType();
    Value *value = fromBits(builder, bits, type);
    result = structure ? builder.CreateInsertValue(result, value, i) : value;
  }
  if (result)
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

Error Expansion::run() {
  auto &assembly = *cast<InlineAsm>(call.getCalledOperand());
  Expected<assembly::Program> program =
      assembly::parse(assembly.getAsmString());
  if (!program) {
    std::string message = toString(program.takeError());
    return refuse(call, message);
  }
  if (Error error = bindArguments(assembly))
    return error;
  if (Error error = expand(*program))
    return error;
  finish();
  return Error::success();
}

Error expandAssembly(Module &module) {
  for (Function &function : module) {
    SmallVector<CallBase *> calls;
    for (Instruction &at : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&at))
        if (call->isInlineAsm())
          calls.push_back(call);
    SmallVector<AllocaInst *> variables;
    for (CallBase *call : calls)
      if (Error error = Expansion(*call, variables).run())
        return error;
    if (variables.empty())
      continue;
    removeUnreachableBlocks(function);
    DominatorTree tree(function);
    PromoteMemToReg(variables, tree);
  }
  return Error::success();
}

} // namespace smalti::emulator
