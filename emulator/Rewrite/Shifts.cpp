//===- Shifts.cpp - Shifts by at least the width on NVIDIA ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Logic and Shift Instructions": amounts above the width are clamped
// to the width. NVIDIA's device library depends on it; in LLVM IR the result
// is poison.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace smalti::emulator {

void clampShifts(Module &module) {
  SmallVector<BinaryOperator *> shifts;
  for (Function &function : module)
    for (Instruction &at : instructions(function))
      if (at.isShift() && !isa<Constant>(at.getOperand(1)))
        shifts.push_back(cast<BinaryOperator>(&at));
  for (BinaryOperator *shift : shifts) {
    IRBuilder<> builder(shift);
    Type *type = shift->getType();
    Value *amount = shift->getOperand(1);
    Constant *most = ConstantInt::get(type, type->getScalarSizeInBits() - 1);
    Value *clamped =
        builder.CreateBinaryIntrinsic(Intrinsic::umin, amount, most);
    Value *result =
        builder.CreateBinOp(shift->getOpcode(), shift->getOperand(0), clamped);
    if (shift->getOpcode() != Instruction::AShr)
      result = builder.CreateSelect(builder.CreateICmpUGT(amount, most),
                                    Constant::getNullValue(type), result);
    shift->replaceAllUsesWith(result);
    shift->eraseFromParent();
  }
}

} // namespace smalti::emulator
