//===- AssemblyExpansion.h - A call of inline assembly becomes code -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_REWRITE_ASSEMBLYEXPANSION_H
#define SMALTI_EMULATOR_REWRITE_ASSEMBLYEXPANSION_H

#include "smalti/emulator/Rewrite/AssemblyText.h"
#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace smalti::emulator::assembly {

/// The parts of an opcode between its dots.
using Parts = llvm::SmallVector<llvm::StringRef, 8>;

/// One call. Registers and operands of the call are variables of the function,
/// in `variables`, until all calls are expanded.
class Expansion {
public:
  Expansion(llvm::CallBase &call,
            llvm::SmallVectorImpl<llvm::AllocaInst *> &variables)
      : call(call), context(call.getContext()), builder(&call),
        variables(variables) {}

  llvm::Error run();

private:
  llvm::Error bindArguments(const llvm::InlineAsm &assembly);
  llvm::Error expand(const Program &program);
  llvm::Error expandStatement(const Statement &statement);
  /// Returns whether the statement is one of those.
  llvm::Expected<bool> expandMove(const Statement &statement,
                                  const Parts &parts);
  llvm::Expected<bool> expandInteger(const Statement &statement,
                                     const Parts &parts);
  llvm::Expected<bool> expandPackedInteger(const Statement &statement,
                                           const Parts &parts);
  llvm::Expected<bool> expandCarry(const Statement &statement,
                                   const Parts &parts);
  llvm::Expected<bool> expandPredicate(const Statement &statement,
                                       const Parts &parts);
  llvm::Error expandCall(const Statement &statement, const Parts &parts);
  void finish();

  llvm::AllocaInst *makeVariable(unsigned bits, llvm::Value *initial);
  /// The variable of a register or of the call's operand; null for others.
  llvm::AllocaInst *variableOf(const Operand &operand) const;
  llvm::Type *typeOf(const Operand &operand) const {
    llvm::AllocaInst *variable = variableOf(operand);
    return variable ? variable->getAllocatedType()
                    : llvm::Type::getInt32Ty(context);
  }
  /// The operand's bits; a number has `bits`.
  llvm::Value *read(const Operand &operand, unsigned bits);
  /// The same with exactly this number of bits.
  llvm::Value *readAs(const Operand &operand, unsigned bits) {
    checkSize(operand, bits);
    return convert(operand, bits);
  }
  /// The same of a register of any size.
  llvm::Value *convert(const Operand &operand, unsigned bits) {
    return builder.CreateZExtOrTrunc(read(operand, bits),
                                     builder.getIntNTy(bits));
  }
  /// `isConversion`: the register may have another size.
  void write(const Operand &operand, llvm::Value *value,
             bool isConversion = false);
  /// Complains about a register whose size is not that of the statement's type.
  void checkSize(const Operand &operand, unsigned bits);
  llvm::Value *readAddress(const Operand &address);
  void appendRead(const Operand &operand, unsigned bits,
                  llvm::SmallVectorImpl<llvm::Value *> &values);

  llvm::Error fail(const Statement &statement, const llvm::Twine &what) const {
    return refuse(call, "inline assembly '" + statement.text +
                            "' is not emulated: " + what);
  }
  void complain(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
  }

  llvm::CallBase &call;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> builder;
  llvm::SmallVectorImpl<llvm::AllocaInst *> &variables;
  llvm::SmallVector<llvm::AllocaInst *> arguments, registers;
  /// Of extended-precision arithmetic.
  llvm::AllocaInst *carry = nullptr;
  llvm::SmallVector<llvm::BasicBlock *> labels;
  unsigned numOutputs = 0;
  /// The description of an operand that could not be read.
  std::string problem;
};

} // namespace smalti::emulator::assembly

#endif // SMALTI_EMULATOR_REWRITE_ASSEMBLYEXPANSION_H
