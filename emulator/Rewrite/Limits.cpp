//===- Limits.cpp - Rejection of code that no device supports -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator ends the process where it meets these.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace smalti::emulator {

/// Types of other processors, and vectors whose size is one's own.
static bool isForeign(const Type *type) {
  return type->isX86_FP80Ty() || type->isPPC_FP128Ty() || type->isX86_AMXTy() ||
         isa<ScalableVectorType>(type) || any_of(type->subtypes(), isForeign);
}

/// Intrinsics about stacks, processes and registers of a host.
static bool isOfHosts(StringRef name) {
  static constexpr StringLiteral families[] = {
      "llvm.coro.",
      "llvm.eh.",
      "llvm.experimental.gc.",
      "llvm.experimental.patchpoint",
      "llvm.experimental.stackmap",
      "llvm.call.preallocated.",
      "llvm.gcread",
      "llvm.gcroot",
      "llvm.gcwrite",
      "llvm.hwasan.",
      "llvm.instrprof.",
      "llvm.localaddress",
      "llvm.localescape",
      "llvm.localrecover",
      "llvm.matrix.",
      "llvm.objc.",
      "llvm.read_register",
      "llvm.read_volatile_register",
      "llvm.seh.",
      "llvm.swift.",
      "llvm.vscale",
      "llvm.write_register",
      "llvm.xray.",
  };
  return any_of(families,
                [&](StringRef family) { return name.starts_with(family); });
}

static Error checkFunction(const Function &function) {
  if (isKernel(function) && !function.hasName())
    return refuse("a kernel of the module does not have a name; name it");
  if (isKernel(function) && function.getName().contains('\n'))
    return refuse("a kernel name contains a line break; rename the kernel");
  for (const Argument &argument : function.args())
    if (isForeign(argument.getType()))
      return refuse("parameter " + Twine(argument.getArgNo()) +
                    " of the function @" + function.getName() + " has type " +
                    printed(*argument.getType()) +
                    "; GPUs do not support this type");
  for (const Instruction &at : instructions(function)) {
    const Type *foreign = isForeign(at.getType()) ? at.getType() : nullptr;
    for (const Value *operand : at.operands())
      if (isForeign(operand->getType()))
        foreign = operand->getType();
    if (const auto *alloca = dyn_cast<AllocaInst>(&at);
        alloca && isForeign(alloca->getAllocatedType()))
      foreign = alloca->getAllocatedType();
    if (foreign)
      return refuse(at, Twine("the instruction '") + at.getOpcodeName() +
                            "' uses type " + printed(*foreign) +
                            "; GPUs do not support this type");
    const auto *call = dyn_cast<CallBase>(&at);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || !callee->isIntrinsic() || isInstruction(*callee))
      continue;
    Intrinsic::ID id = callee->getIntrinsicID();
    if (id == Intrinsic::not_intrinsic || Intrinsic::isTargetIntrinsic(id) ||
        isOfHosts(callee->getName()))
      return refuse(at, "the function calls the intrinsic " +
                            callee->getName() +
                            "; GPUs do not support this intrinsic");
  }
  return Error::success();
}

Error checkLimits(const Module &module) {
  for (const GlobalVariable &global : module.globals()) {
    Type *type = global.getValueType();
    if (isForeign(type))
      return refuse("the variable @" + global.getName() + " has type " +
                    printed(*type) + "; GPUs do not support this type");
  }
  for (const Function &function : module)
    if (!function.isDeclaration())
      if (Error error = checkFunction(function))
        return error;
  return Error::success();
}

} // namespace smalti::emulator
