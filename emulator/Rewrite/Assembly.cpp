//===- Assembly.cpp - Inline assembly of NVIDIA becomes code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements with integers and branches become LLVM instructions. Each other
// statement becomes a call of the emulator instruction "asm:opcode". Its
// operands are the operands that the statement reads, in order, as integers and
// addresses; its result has the operands that it writes.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/AssemblyExpansion.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace smalti::emulator::assembly {

/// Opcodes that do not have a result, and whose first operand is not an
/// address.
static bool hasNoResult(StringRef root) {
  return StringSwitch<bool>(root)
      .Cases({"bar", "barrier", "fence", "membar", "setmaxnreg", "nanosleep",
              "wgmma", "cp", "exit", "ret", "trap", "brkpt", "pmevent",
              "griddepcontrol", "tcgen05"},
             true)
      .Default(false);
}

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

/// The value of an unwritten register: neither 0 nor a number.
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
      return refuse(call, "inline assembly with jump labels (asm goto) or "
                          "memory operands (constraint m) is not emulated; "
                          "use register operands");
    bool isOutput = constraint.Type == InlineAsm::isOutput;
    Type *type = isOutput ? outputs[nextOutput++]
                          : call.getArgOperand(nextInput)->getType();
    if (!isRegister(type))
      return refuse(call, "inline assembly with an operand of the type " +
                              printed(*type) +
                              " is not emulated; use scalars, pointers or "
                              "vectors of at most 128 bits");
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
        return refuse(call, "an input of inline assembly and the output to "
                            "which it is tied must have the same size");
      builder.CreateStore(value, arguments[tied]);
    }
    arguments.push_back(makeVariable(bits, value));
  }
  return Error::success();
}

/// The intrinsic that reads a special register, by the name of either.
static std::string intrinsicOf(StringRef specialRegister) {
  std::string name = specialRegister.str();
  for (StringRef prefix : {"lanemask_", "cluster_", "globaltimer_"})
    if (specialRegister.starts_with(prefix))
      name[prefix.size() - 1] = '.';
  return "llvm.nvvm.read.ptx.sreg." + name;
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
        intrinsicOf(operand.name), FunctionType::get(type, false));
    return builder.CreateCall(callee);
  }
  complain(operand.kind == Operand::Label
               ? "undefined name " + operand.name
               : "this kind of operand is not supported here");
  return Constant::getNullValue(builder.getIntNTy(bits));
}

void Expansion::checkSize(const Operand &operand, unsigned bits) {
  AllocaInst *variable = variableOf(operand);
  unsigned size =
      variable ? variable->getAllocatedType()->getIntegerBitWidth() : bits;
  // The call's narrow operands are in registers of the size of the constraint.
  if (size == bits || (operand.kind == Operand::Argument && size < 32))
    return;
  complain("an operand of the instruction has " + Twine(bits) +
           " bits, but the register passed for it has " + Twine(size) +
           " bits");
}

void Expansion::write(const Operand &operand, Value *value, bool isConversion) {
  if (operand.kind == Operand::Sink)
    return;
  AllocaInst *variable = variableOf(operand);
  if (!variable)
    return complain("the first operand, which receives the result, must be a "
                    "register");
  if (!isConversion)
    checkSize(operand, value->getType()->getIntegerBitWidth());
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
// Instructions of the emulator
//===----------------------------------------------------------------------===//

/// The number after `n` in the shape of an MMA, such as m64n128k16.
static unsigned columnsOf(StringRef shape) {
  unsigned columns = 0;
  shape = shape.split('n').second;
  return shape.consumeInteger(10, columns) ? 0 : columns;
}

Error Expansion::expandCall(const Statement &statement, const Parts &parts) {
  ArrayRef<Operand> operands = statement.operands;
  bool isMma =
      parts[0] == "wgmma" && parts.size() > 1 && parts[1] == "mma_async";
  // Results come first, if there are any.
  ArrayRef<Operand> results;
  if (!operands.empty() && operands[0].kind != Operand::Address &&
      (isMma || !hasNoResult(parts[0]))) {
    results = operands.take_front();
    if (results[0].kind == Operand::Vector || results[0].kind == Operand::Pair)
      results = results[0].parts;
    else if (results[0].kind == Operand::Sink)
      results = {};
    if (!isMma)
      operands = operands.drop_front();
  }
  unsigned bits = bitsOfType(parts.back());
  SmallVector<Value *> values;
  for (const Operand &operand : operands)
    appendRead(operand, bits == 64 ? 64 : 32, values);
  SmallVector<Type *> types;
  for (const Operand &result : results)
    types.push_back(typeOf(result));
  if (isMma) {
    unsigned columns = columnsOf(parts.size() > 4 ? parts[4] : "");
    unsigned each = parts.size() > 5 && parts[5] == "f16" ? 4 : 2;
    if (columns == 0 || columns % 8 || columns > 256 ||
        results.size() != columns / each)
      return fail(statement, "the matmul has N = " + Twine(columns) + " and " +
                                 Twine(results.size()) +
                                 " accumulator registers; N must be a multiple "
                                 "of 8 up to 256, and N / " +
                                 Twine(each) +
                                 " accumulator registers are required");
    // The numbers of the wgmma that wrote the accumulators and of this one, for
    // followAccumulators.
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
                    &Expansion::expandCarry, &Expansion::expandPackedInteger,
                    &Expansion::expandInteger}) {
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

Error Expansion::expand(const Program &program) {
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
      return fail(statement, "the operand of a branch must be one label");
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
  auto &text = *cast<InlineAsm>(call.getCalledOperand());
  Expected<Program> program = parse(text.getAsmString());
  if (!program) {
    std::string message = toString(program.takeError());
    return refuse(call, message);
  }
  if (Error error = bindArguments(text))
    return error;
  if (Error error = expand(*program))
    return error;
  finish();
  return Error::success();
}

} // namespace smalti::emulator::assembly

namespace smalti::emulator {

Error expandAssembly(Module &module) {
  for (Function &function : module) {
    SmallVector<CallBase *> calls;
    for (Instruction &at : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&at))
        if (call->isInlineAsm())
          calls.push_back(call);
    SmallVector<AllocaInst *> variables;
    for (CallBase *call : calls)
      if (Error error = assembly::Expansion(*call, variables).run())
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
