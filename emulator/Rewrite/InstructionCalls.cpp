//===- InstructionCalls.cpp - Instructions become calls of the emulator ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace smalti::emulator {

//===----------------------------------------------------------------------===//
// Values in memory, without gaps
//===----------------------------------------------------------------------===//

static uint64_t packedBytes(Type *type, const DataLayout &layout) {
  if (type->isVoidTy())
    return 0;
  if (auto *structure = dyn_cast<StructType>(type)) {
    uint64_t bytes = 0;
    for (Type *element : structure->elements())
      bytes += packedBytes(element, layout);
    return bytes;
  }
  if (auto *array = dyn_cast<ArrayType>(type))
    return array->getNumElements() *
           packedBytes(array->getElementType(), layout);
  return layout.getTypeStoreSize(type).getFixedValue();
}

static uint64_t numParts(Type *type) {
  if (auto *structure = dyn_cast<StructType>(type))
    return structure->getNumElements();
  return cast<ArrayType>(type)->getNumElements();
}

void hideFromSanitizers(Instruction &at) {
  at.setMetadata(LLVMContext::MD_nosanitize, MDNode::get(at.getContext(), {}));
}

static Align slotAlign(uint64_t bytes) {
  return Align(std::clamp<uint64_t>(PowerOf2Ceil(bytes), 8, 64));
}

static Align alignAt(uint64_t offset, Align base) {
  return commonAlignment(base, offset);
}

static void storePacked(IRBuilder<> &builder, Value *value, Value *slot,
                        uint64_t offset, Align base) {
  Type *type = value->getType();
  const DataLayout &layout = builder.GetInsertBlock()->getDataLayout();
  if (type->isAggregateType()) {
    for (uint64_t i = 0; i < numParts(type); ++i) {
      Value *part = builder.CreateExtractValue(value, i);
      storePacked(builder, part, slot, offset, base);
      offset += packedBytes(part->getType(), layout);
    }
    return;
  }
  if (type->isIntegerTy(1))
    value = builder.CreateZExt(value, builder.getInt8Ty());
  Value *at = offset ? builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                          slot, offset)
                     : slot;
  hideFromSanitizers(
      *builder.CreateAlignedStore(value, at, alignAt(offset, base)));
}

static Value *loadPacked(IRBuilder<> &builder, Type *type, Value *slot,
                         uint64_t offset, Align base) {
  const DataLayout &layout = builder.GetInsertBlock()->getDataLayout();
  if (type->isAggregateType()) {
    Value *value = PoisonValue::get(type);
    for (uint64_t i = 0; i < numParts(type); ++i) {
      Type *part = type->isStructTy() ? type->getStructElementType(i)
                                      : type->getArrayElementType();
      value = builder.CreateInsertValue(
          value, loadPacked(builder, part, slot, offset, base), i);
      offset += packedBytes(part, layout);
    }
    return value;
  }
  Value *at = offset ? builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                          slot, offset)
                     : slot;
  bool isBit = type->isIntegerTy(1);
  LoadInst *load = builder.CreateAlignedLoad(isBit ? builder.getInt8Ty() : type,
                                             at, alignAt(offset, base));
  hideFromSanitizers(*load);
  return isBit ? builder.CreateTrunc(load, type) : load;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
class Calls {
public:
  explicit Calls(Module &module)
      : module(module), layout(module.getDataLayout()),
        pointer(PointerType::get(module.getContext(), 0)) {
    LLVMContext &context = module.getContext();
    Type *none = Type::getVoidTy(context);
    emulate = module.getOrInsertFunction("smalti_emu_call", none, pointer,
                                         pointer, pointer, pointer);
    auto *function = cast<Function>(emulate.getCallee());
    function->addFnAttr(Attribute::Convergent);
    function->addFnAttr(Attribute::NoMerge);
    function->addFnAttr(Attribute::NoUnwind);
    // Its size is known at the end.
    entries = new GlobalVariable(module, ArrayType::get(pointer, 0), false,
                                 GlobalValue::InternalLinkage, nullptr);
    Type *word = Type::getInt32Ty(context);
    siteType = StructType::get(context, {word, word, word, word, pointer});
  }

  Error run();
  std::vector<UsedInstruction> take() { return std::move(used); }

private:
  /// The memory of a function for operands and results, used by one call at a
  /// time.
  struct Scratch {
    AllocaInst *result = nullptr, *operands = nullptr;
    SmallVector<AllocaInst *> slots;
  };

  Error rewrite(Function &function);
  Error rewriteCall(CallBase &call, const Scratch &scratch, uint32_t order);
  Error checkCall(CallBase &call) const;
  void emit(IRBuilder<> &builder, StringRef name, const Scratch &scratch,
            uint32_t resultBytes, ArrayRef<uint32_t> operandBytes,
            uint32_t order);
  Scratch makeScratch(Function &function, ArrayRef<CallBase *> calls);
  void finishTables();
  SmallVector<Function *> calleesFirst();

  /// The instruction that a call is one of, or an empty string.
  static std::string nameOf(CallBase &call);
  Value *operandOf(CallBase &call, unsigned index, IRBuilder<> &builder);

  Module &module;
  const DataLayout &layout;
  PointerType *pointer;
  FunctionCallee emulate;
  GlobalVariable *entries;
  StructType *siteType;
  std::vector<UsedInstruction> used;
  StringMap<uint64_t> indices;
  uint32_t nextOrder = 0;
};
} // namespace

std::string Calls::nameOf(CallBase &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return ("asm:" + StringRef(assembly->getAsmString()).trim()).str();
  auto *callee =
      dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (!callee || !isInstruction(*callee) ||
      callee->getName().starts_with("smalti_emu_"))
    return {};
  return callee->getName().str();
}

Error Calls::checkCall(CallBase &call) const {
  for (const Use &use : call.args()) {
    Type *type = use->getType();
    if (isa<MetadataAsValue>(use)) {
      if (!isa<MDString>(cast<MetadataAsValue>(use)->getMetadata()))
        return refuse(call, nameOf(call) + " has metadata as operand " +
                                std::to_string(call.getArgOperandNo(&use)) +
                                ", which the emulator does not support; pass a "
                                "string (MDString)");
    } else if (!type->isSized() || type->isTargetExtTy() ||
               type->isScalableTy()) {
      return refuse(call,
                    "operand " + std::to_string(call.getArgOperandNo(&use)) +
                        " of " + nameOf(call) + " has type " + printed(*type) +
                        "; the emulator supports only types of a fixed size");
    }
  }
  Type *result = call.getType();
  if (!result->isVoidTy() && (!result->isSized() || result->isScalableTy()))
    return refuse(call,
                  nameOf(call) + " returns " + printed(*result) +
                      "; the emulator supports only types of a fixed size");
  return Error::success();
}

/// Operands in the form of the emulator: strings for metadata.
Value *Calls::operandOf(CallBase &call, unsigned index, IRBuilder<> &builder) {
  Value *operand = call.getArgOperand(index);
  if (auto *metadata = dyn_cast<MetadataAsValue>(operand))
    return builder.CreateGlobalString(
        cast<MDString>(metadata->getMetadata())->getString(), "", 0, &module);
  return operand;
}

Calls::Scratch Calls::makeScratch(Function &function,
                                  ArrayRef<CallBase *> calls) {
  uint64_t resultBytes = 1;
  SmallVector<uint64_t> slotBytes;
  for (CallBase *call : calls) {
    resultBytes = std::max(resultBytes, packedBytes(call->getType(), layout));
    slotBytes.resize(std::max<size_t>(slotBytes.size(), call->arg_size()), 1);
    for (auto [i, use] : enumerate(call->args())) {
      bool isString = isa<MetadataAsValue>(use);
      slotBytes[i] =
          std::max(slotBytes[i],
                   packedBytes(isString ? pointer : use->getType(), layout));
    }
  }
  IRBuilder<> builder(&*function.getEntryBlock().begin());
  auto reserve = [&](uint64_t bytes) {
    AllocaInst *slot =
        builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), bytes));
    slot->setAlignment(slotAlign(bytes));
    hideFromSanitizers(*slot);
    return slot;
  };
  Scratch scratch;
  scratch.result = reserve(resultBytes);
  scratch.operands = builder.CreateAlloca(
      ArrayType::get(pointer, std::max<size_t>(slotBytes.size(), 1)));
  hideFromSanitizers(*scratch.operands);
  for (uint64_t bytes : slotBytes)
    scratch.slots.push_back(reserve(bytes));
  // The addresses stay the same for all calls.
  for (auto [i, slot] : enumerate(scratch.slots))
    hideFromSanitizers(*builder.CreateStore(
        slot,
        builder.CreateConstInBoundsGEP1_64(pointer, scratch.operands, i)));
  return scratch;
}

void Calls::emit(IRBuilder<> &builder, StringRef name, const Scratch &scratch,
                 uint32_t resultBytes, ArrayRef<uint32_t> operandBytes,
                 uint32_t order) {
  auto [known, isNew] = indices.try_emplace(name, used.size());
  if (isNew)
    used.push_back({name.str(), builder.getCurrentDebugLocation()});
  uint64_t index = known->second;
  auto makeConstant = [&](Constant *value, const Twine &called) {
    auto *global =
        new GlobalVariable(module, value->getType(), true,
                           GlobalValue::PrivateLinkage, value, called);
    return global;
  };
  Constant *sizes = ConstantDataArray::get(module.getContext(), operandBytes);
  // Lists of sizes can be one and the same; lanes meet at a site by its
  // address.
  GlobalVariable *operandSizes = makeConstant(sizes, "site.operands");
  operandSizes->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  Constant *site = ConstantStruct::get(
      siteType,
      {builder.getInt32(resultBytes), builder.getInt32(operandBytes.size()),
       builder.getInt32(order), builder.getInt32(0), operandSizes});
  Value *place = builder.CreateConstGEP1_64(pointer, entries, index);
  LoadInst *entry = builder.CreateLoad(pointer, place);
  hideFromSanitizers(*entry);
  Value *operands =
      operandBytes.empty()
          ? static_cast<Value *>(ConstantPointerNull::get(pointer))
          : scratch.operands;
  Value *result = resultBytes == 0
                      ? static_cast<Value *>(ConstantPointerNull::get(pointer))
                      : scratch.result;
  CallInst *call = builder.CreateCall(
      emulate, {entry, makeConstant(site, "site"), result, operands});
  call->setDoesNotThrow();
  call->setConvergent();
  call->addFnAttr(Attribute::NoMerge);
}

Error Calls::rewriteCall(CallBase &call, const Scratch &scratch,
                         uint32_t order) {
  std::string name = nameOf(call);
  IRBuilder<> builder(&call);
  SmallVector<uint32_t> bytes;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value *operand = operandOf(call, i, builder);
    bytes.push_back(packedBytes(operand->getType(), layout));
    storePacked(builder, operand, scratch.slots[i], 0,
                scratch.slots[i]->getAlign());
  }
  Type *type = call.getType();
  emit(builder, name, scratch, packedBytes(type, layout), bytes, order);
  if (!type->isVoidTy())
    call.replaceAllUsesWith(loadPacked(builder, type, scratch.result, 0,
                                       scratch.result->getAlign()));
  call.eraseFromParent();
  return Error::success();
}

/// Assembly without text only hides values from the optimizer.
static bool dropEmptyAssembly(CallBase &call) {
  auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  if (!assembly || !StringRef(assembly->getAsmString()).trim().empty())
    return false;
  if (!call.getType()->isVoidTy()) {
    // One result that is an operand's register.
    if (call.getType()->isStructTy() || call.arg_size() != 1 ||
        call.getArgOperand(0)->getType() != call.getType())
      return false;
    InlineAsm::ConstraintInfoVector constraints = assembly->ParseConstraints();
    if (constraints.size() < 2 || !constraints[1].hasMatchingInput())
      if (constraints.empty() || !constraints[0].hasMatchingInput())
        return false;
    call.replaceAllUsesWith(call.getArgOperand(0));
  }
  call.eraseFromParent();
  return true;
}

Error Calls::rewrite(Function &function) {
  // Code that is marked unreachable becomes a trap.
  SmallVector<UnreachableInst *> ends;
  for (BasicBlock &block : function)
    if (auto *end = dyn_cast<UnreachableInst>(block.getTerminator())) {
      auto *before = dyn_cast_or_null<CallBase>(end->getPrevNode());
      if (!before || !StringRef(nameOf(*before)).ends_with("trap"))
        ends.push_back(end);
    }
  for (UnreachableInst *end : ends) {
    IRBuilder<> builder(end);
    builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::trap, {});
  }

  SmallVector<CallBase *> calls;
  for (BasicBlock *block : orderBlocks(function))
    for (Instruction &at : make_early_inc_range(*block)) {
      auto *call = dyn_cast<CallBase>(&at);
      if (!call || dropEmptyAssembly(*call) || nameOf(*call).empty())
        continue;
      if (Error error = checkCall(*call))
        return error;
      calls.push_back(call);
    }
  if (calls.empty())
    return Error::success();
  Scratch scratch = makeScratch(function, calls);
  for (CallBase *call : calls)
    if (Error error = rewriteCall(*call, scratch, nextOrder++))
      return error;
  return Error::success();
}

SmallVector<Function *> Calls::calleesFirst() {
  SmallVector<Function *> order;
  SmallPtrSet<Function *, 16> seen;
  std::function<void(Function &)> visit = [&](Function &function) {
    if (function.isDeclaration() || !seen.insert(&function).second)
      return;
    for (Instruction &at : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&at))
        if (Function *callee = call->getCalledFunction())
          visit(*callee);
    order.push_back(&function);
  };
  for (Function &function : module)
    visit(function);
  return order;
}

void Calls::finishTables() {
  LLVMContext &context = module.getContext();
  SmallVector<Constant *> texts;
  for (const UsedInstruction &instruction : used) {
    Constant *text = ConstantDataArray::getString(context, instruction.name);
    texts.push_back(new GlobalVariable(module, text->getType(), true,
                                       GlobalValue::PrivateLinkage, text,
                                       "name"));
  }
  auto *table = ArrayType::get(pointer, std::max<size_t>(used.size(), 1));
  auto *filled =
      new GlobalVariable(module, table, false, GlobalValue::ExternalLinkage,
                         Constant::getNullValue(table), "smalti_emu_entries");
  entries->replaceAllUsesWith(filled);
  entries->eraseFromParent();
  texts.push_back(ConstantPointerNull::get(pointer));
  auto *list = ArrayType::get(pointer, texts.size());
  new GlobalVariable(module, list, true, GlobalValue::ExternalLinkage,
                     ConstantArray::get(list, texts), "smalti_emu_names");
}

Error Calls::run() {
  for (Function *function : calleesFirst())
    if (Error error = rewrite(*function))
      return error;
  finishTables();
  for (Function &function : make_early_inc_range(module)) {
    if (!isInstruction(function) ||
        function.getName().starts_with("smalti_emu_"))
      continue;
    if (!function.use_empty())
      return refuse("the module uses the address of @" + function.getName() +
                    " but does not define this function; link the module that "
                    "defines it");
    function.eraseFromParent();
  }
  return Error::success();
}

Expected<std::vector<UsedInstruction>> callEmulator(Module &module) {
  Calls calls(module);
  if (Error error = calls.run())
    return error;
  return calls.take();
}

//===----------------------------------------------------------------------===//
// Threads that wait for others
//===----------------------------------------------------------------------===//

static bool readsFromOthers(const Instruction &at) {
  if (auto *load = dyn_cast<LoadInst>(&at))
    return load->isAtomic() || load->isVolatile();
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(at);
}

void yieldInLoops(Module &module) {
  FunctionCallee yield = module.getOrInsertFunction(
      "smalti_emu_yield", Type::getVoidTy(module.getContext()));
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    SmallVector<Instruction *> reads;
    // A kernel's caller has no loop; any other may.
    bool isKernel = function.hasFnAttribute(kernelAttribute);
    for (auto part = scc_begin(&function); !part.isAtEnd(); ++part)
      if (!isKernel || part.hasCycle())
        for (BasicBlock *block : *part)
          for (Instruction &at : *block)
            if (readsFromOthers(at))
              reads.push_back(&at);
    for (Instruction *at : reads)
      IRBuilder<>(at).CreateCall(yield)->setDoesNotThrow();
  }
}

} // namespace smalti::emulator
