//===- WideAccesses.cpp - The alignment that wide accesses need -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By default, LLVM IR aligns a vector to its size. A device instruction
// accesses at most 16 bytes (NVIDIA: 32 bytes of global memory since sm_100;
// PTX ISA, "ld"), and requires no larger alignment. The host's instructions for
// a longer vector must not require more.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace smalti::emulator {

/// The most that any device needs but NVIDIA's with wide instructions.
const Align mostAlign(16);
constexpr unsigned wideBytes = 32;

static void limitMemory(AnyMemIntrinsic &all) {
  if (all.getDestAlign().valueOrOne() > mostAlign)
    all.setDestAlignment(mostAlign);
  if (auto *copy = dyn_cast<AnyMemTransferInst>(&all))
    if (copy->getSourceAlign().valueOrOne() > mostAlign)
      copy->setSourceAlignment(mostAlign);
}

void limitAlignment(Module &module, Vendor vendor, StringRef chip) {
  constexpr int firstWithWide = 1000;
  bool hasWide = vendor == Vendor::NVIDIA &&
                 cudaArchitecture(module, chip) >= firstWithWide;
  Type *none = Type::getVoidTy(module.getContext());
  Type *number = Type::getInt32Ty(module.getContext());
  for (Function &function : module)
    for (Instruction &at : make_early_inc_range(instructions(function))) {
      if (auto *all = dyn_cast<AnyMemIntrinsic>(&at)) {
        limitMemory(*all);
        continue;
      }
      if (!isa<LoadInst, StoreInst>(at) || at.isAtomic() ||
          getLoadStoreAlignment(&at) <= mostAlign)
        continue;
      const Value *pointer = getLoadStorePointerOperand(&at);
      if (isa<AllocaInst>(getUnderlyingObject(pointer)))
        continue;
      if (auto *load = dyn_cast<LoadInst>(&at))
        load->setAlignment(mostAlign);
      else
        cast<StoreInst>(at).setAlignment(mostAlign);
      if (vendor != Vendor::NVIDIA)
        continue;
      uint64_t bytes =
          module.getDataLayout().getTypeStoreSize(getLoadStoreType(&at));
      unsigned space = pointer->getType()->getPointerAddressSpace();
      bool isWide = hasWide && bytes % wideBytes == 0 &&
                    (space == genericSpace || space == globalSpace);
      IRBuilder<> builder(&at);
      FunctionCallee callee = module.getOrInsertFunction(
          ("smalti.nvvm.aligned.p" + Twine(space)).str(), none,
          pointer->getType(), number, number);
      builder.CreateCall(
          callee, {const_cast<Value *>(pointer), builder.getInt32(bytes),
                   builder.getInt32(isWide ? wideBytes : mostAlign.value())});
    }
}

} // namespace smalti::emulator
