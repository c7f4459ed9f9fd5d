//===- GenericWrites.cpp - Stores that the asynchronous proxy may miss ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores use the generic proxy; asynchronous copies and wgmma read through the
// async proxy, which requires a proxy fence after the store. In a module with
// both, each store that may access shared memory is reported to the emulator.
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

static bool readsAsynchronously(const Function &function) {
  StringRef name = function.getName();
  return name.starts_with("asm:wgmma.mma_async.") ||
         name.starts_with("asm:cp.async.bulk.") ||
         name.starts_with("llvm.nvvm.cp.async.bulk.");
}

/// The address and size that an instruction writes, or null.
static std::pair<Value *, Value *> writtenBy(Instruction &at) {
  const DataLayout &layout = at.getDataLayout();
  auto bytesOf = [&](const Value *value) {
    return ConstantInt::get(Type::getInt64Ty(at.getContext()),
                            layout.getTypeStoreSize(value->getType()));
  };
  if (auto *store = dyn_cast<StoreInst>(&at))
    return {store->getPointerOperand(), bytesOf(store->getValueOperand())};
  if (auto *update = dyn_cast<AtomicRMWInst>(&at))
    return {update->getPointerOperand(), bytesOf(update->getValOperand())};
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&at))
    return {exchange->getPointerOperand(),
            bytesOf(exchange->getNewValOperand())};
  if (auto *all = dyn_cast<MemIntrinsic>(&at))
    return {all->getRawDest(), all->getLength()};
  return {nullptr, nullptr};
}

static bool mayBeShared(const Value *pointer) {
  // The address space of distributed shared memory, which has another meaning
  // on AMD.
  constexpr unsigned clusterSpace = 7;
  unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == sharedSpace || space == clusterSpace ||
         (space == genericSpace &&
          !isa<AllocaInst>(getUnderlyingObject(pointer)));
}

void reportGenericWrites(Module &module) {
  if (none_of(module, readsAsynchronously))
    return;
  Type *none = Type::getVoidTy(module.getContext());
  Type *size = Type::getInt64Ty(module.getContext());
  for (Function &function : module)
    for (Instruction &at : make_early_inc_range(instructions(function))) {
      auto [address, bytes] = writtenBy(at);
      if (!address || !mayBeShared(address))
        continue;
      IRBuilder<> builder(&at);
      builder.SetInsertPoint(at.getNextNode());
      builder.SetCurrentDebugLocation(at.getDebugLoc());
      Type *pointer = address->getType();
      unsigned space = pointer->getPointerAddressSpace();
      FunctionCallee callee = module.getOrInsertFunction(
          ("smalti.nvvm.written.p" + Twine(space)).str(), none, pointer, size);
      builder.CreateCall(callee,
                         {address, builder.CreateZExtOrTrunc(bytes, size)});
    }
}

} // namespace smalti::emulator
