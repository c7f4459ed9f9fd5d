//===- AddressSpaces.cpp - One address space for all memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/Steps.h"
#include "smalti/emulator/Runtime/Layout.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <optional>

using namespace llvm;

namespace smalti::emulator {

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Expected<SharedMemory> placeSharedMemory(const Module &module) {
  const DataLayout &layout = module.getDataLayout();
  SharedMemory shared;
  auto isDynamic = [&](const GlobalVariable &global) {
    return global.isDeclaration() ||
           layout.getTypeAllocSize(global.getValueType()).isZero();
  };
  for (const GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != sharedSpace)
      continue;
    if (global.hasInitializer() && !isa<UndefValue>(global.getInitializer()))
      return refuse("shared variable @" + global.getName() +
                    " has an initializer, which GPUs do not support; store the "
                    "initial value in the kernel");
    if (isDynamic(global))
      continue;
    Align align = layout.getValueOrABITypeAlignment(global.getAlign(),
                                                    global.getValueType());
    uint64_t offset = alignTo(shared.staticBytes, align);
    uint64_t size =
        layout.getTypeAllocSize(global.getValueType()).getFixedValue();
    uint64_t end = offset + size;
    if (size > sharedCapacity || offset > sharedCapacity - size)
      return refuse("the shared variables up to and including @" +
                    global.getName() + " have " + Twine(end) +
                    " bytes, which exceeds the shared memory of every GPU; use "
                    "at most " +
                    Twine(sharedCapacity) + " bytes");
    shared.offsets[&global] = offset;
    shared.staticBytes = end;
  }
  // Arrays without a size share what a launch adds.
  Align align(16);
  for (const GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == sharedSpace && isDynamic(global)) {
      shared.isDynamic = true;
      align = std::max(align, global.getAlign().valueOrOne());
    }
  if (shared.isDynamic)
    shared.staticBytes = alignTo(shared.staticBytes, align);
  for (const GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == sharedSpace && isDynamic(global))
      shared.offsets[&global] = shared.staticBytes;
  return shared;
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

namespace {
class Copier final : public ValueMapTypeRemapper, public ValueMaterializer {
public:
  Copier(const Module &device, const SharedMemory &shared, Module &host)
      : device(device), shared(shared), host(host),
        isAMD(device.getTargetTriple().isAMDGCN()) {}

  Error run();

  Type *remapType(Type *type) override;
  Value *materialize(Value *value) override {
    auto *constant = dyn_cast<Constant>(value);
    return constant && !isa<GlobalValue>(constant) ? map(constant) : nullptr;
  }

private:
  Constant *map(const Constant *constant);
  Constant *mapExpression(const ConstantExpr *expression);
  /// `constant` as the device has it in memory.
  Expected<Constant *> mapInitializer(const GlobalVariable &global);
  Error appendBytes(const GlobalVariable &global, const Constant *constant,
                    uint64_t offset, uint64_t &end,
                    SmallVectorImpl<Constant *> &parts);

  Error declareGlobals();
  void resolveShared();
  void declareFunctions();
  Error defineGlobals();
  void copyBody(const Function &function);
  void clean(Function &function);

  void complain(const Twine &what) {
    if (problem.empty())
      problem = what.str();
  }

  const Module &device;
  const SharedMemory &shared;
  Module &host;
  bool isAMD;
  /// Placeholders for shared variables, whose address is known if a block runs
  /// alone.
  SmallVector<std::pair<GlobalVariable *, uint64_t>> placeholders;
  ValueToValueMapTy values;
  DenseMap<Type *, Type *> types;
  std::string problem;
};
} // namespace

Type *Copier::remapType(Type *type) {
  if (Type *known = types.lookup(type))
    return known;
  Type *mapped = type;
  LLVMContext &context = type->getContext();
  if (isa<PointerType>(type)) {
    mapped = PointerType::get(context, 0);
  } else if (auto *vector = dyn_cast<VectorType>(type)) {
    mapped = VectorType::get(remapType(vector->getElementType()),
                             vector->getElementCount());
  } else if (auto *array = dyn_cast<ArrayType>(type)) {
    mapped = ArrayType::get(remapType(array->getElementType()),
                            array->getNumElements());
  } else if (auto *structure = dyn_cast<StructType>(type)) {
    SmallVector<Type *> elements;
    for (Type *element : structure->elements())
      elements.push_back(remapType(element));
    if (elements != structure->elements())
      mapped = StructType::get(context, elements, structure->isPacked());
  } else if (auto *function = dyn_cast<FunctionType>(type)) {
    SmallVector<Type *> parameters;
    for (Type *parameter : function->params())
      parameters.push_back(remapType(parameter));
    mapped = FunctionType::get(remapType(function->getReturnType()), parameters,
                               function->isVarArg());
  }
  return types[type] = mapped;
}

Constant *Copier::map(const Constant *constant) {
  if (auto *global = dyn_cast<GlobalValue>(constant))
    return cast<Constant>(static_cast<Value *>(values.lookup(global)));
  Type *type = remapType(constant->getType());
  if (isa<PoisonValue>(constant))
    return PoisonValue::get(type);
  if (isa<UndefValue>(constant))
    return UndefValue::get(type);
  if (constant->isNullValue() && type != constant->getType())
    return Constant::getNullValue(type);
  if (isa<ConstantData>(constant))
    return const_cast<Constant *>(constant);
  if (auto *expression = dyn_cast<ConstantExpr>(constant))
    return mapExpression(expression);
  SmallVector<Constant *> operands;
  if (isa<ConstantAggregate>(constant)) {
    for (const Use &use : constant->operands())
      operands.push_back(map(cast<Constant>(use)));
    if (isa<ConstantStruct>(constant))
      return ConstantStruct::get(cast<StructType>(type), operands);
    if (isa<ConstantArray>(constant))
      return ConstantArray::get(cast<ArrayType>(type), operands);
    return ConstantVector::get(operands);
  }
  complain("a constant contains the address of a basic block (blockaddress) or "
           "a signed pointer (ptrauth), which are not emulated; remove it");
  return PoisonValue::get(type);
}

Constant *Copier::mapExpression(const ConstantExpr *expression) {
  Type *type = remapType(expression->getType());
  Constant *first = map(expression->getOperand(0));
  if (auto *gep = dyn_cast<GEPOperator>(expression)) {
    unsigned bits = device.getDataLayout().getIndexSizeInBits(
        gep->getPointerAddressSpace());
    APInt offset(bits, 0);
    if (type->isVectorTy() ||
        !gep->accumulateConstantOffset(device.getDataLayout(), offset)) {
      complain("a constant is a vector of pointers, which is not emulated; use "
               "scalar pointers");
      return PoisonValue::get(type);
    }
    LLVMContext &context = type->getContext();
    return ConstantExpr::getGetElementPtr(
        Type::getInt8Ty(context), first,
        ConstantInt::get(Type::getInt64Ty(context), offset.sext(64)));
  }
  if (expression->getOpcode() == Instruction::AddrSpaceCast) {
    // AMD's null of shared and private memory is all ones.
    auto isNarrow = [](Type *type) {
      unsigned space = type->getPointerAddressSpace();
      return space == sharedSpace || space == privateSpace;
    };
    bool toNarrow = isNarrow(expression->getType());
    if (isAMD && toNarrow && first->isNullValue())
      return ConstantExpr::getIntToPtr(
          ConstantInt::get(Type::getInt64Ty(type->getContext()), 0xffffffff),
          type);
    return first;
  }
  if (expression->getOpcode() == Instruction::PtrToAddr)
    return ConstantExpr::getPtrToInt(first, type);
  SmallVector<Constant *> operands{first};
  for (const Use &use : drop_begin(expression->operands()))
    operands.push_back(map(cast<Constant>(use)));
  return expression->getWithOperands(operands, type);
}

Error Copier::appendBytes(const GlobalVariable &global,
                          const Constant *constant, uint64_t offset,
                          uint64_t &end, SmallVectorImpl<Constant *> &parts) {
  const DataLayout &layout = device.getDataLayout();
  Type *type = constant->getType();
  if (type->isAggregateType()) {
    auto *structure = dyn_cast<StructType>(type);
    uint64_t count = structure ? structure->getNumElements()
                               : cast<ArrayType>(type)->getNumElements();
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t at =
          structure ? layout.getStructLayout(structure)
                          ->getElementOffset(i)
                          .getFixedValue()
                    : i * layout.getTypeAllocSize(type->getArrayElementType())
                              .getFixedValue();
      if (Error error = appendBytes(global, constant->getAggregateElement(i),
                                    offset + at, end, parts))
        return error;
    }
    return Error::success();
  }
  uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  if (auto *vector = dyn_cast<FixedVectorType>(type);
      vector &&
      (type->isPtrOrPtrVectorTy() || size != layout.getTypeAllocSize(type))) {
    Type *element = vector->getElementType();
    uint64_t step = layout.getTypeStoreSize(element).getFixedValue();
    if (step * vector->getNumElements() == size) {
      for (unsigned i = 0; i < vector->getNumElements(); ++i)
        if (Error error = appendBytes(global, constant->getAggregateElement(i),
                                      offset + i * step, end, parts))
          return error;
      return Error::success();
    }
  }
  Constant *mapped = map(constant);
  if (type->isPointerTy() && size != 8) {
    mapped = ConstantExpr::getPtrToInt(
        mapped, Type::getIntNTy(type->getContext(), size * 8));
    mapped = ConstantFoldConstant(mapped, host.getDataLayout());
  }
  if (offset < end ||
      host.getDataLayout().getTypeAllocSize(mapped->getType()) != size)
    return refuse("the initial value of @" + global.getName() +
                  " has the type " + printed(*type) +
                  ", whose memory layout differs between CPU and GPU; use "
                  "integers of 8 to 64 bits, floats, or arrays of these");
  if (offset > end)
    parts.push_back(Constant::getNullValue(
        ArrayType::get(Type::getInt8Ty(type->getContext()), offset - end)));
  parts.push_back(mapped);
  end = offset + size;
  return Error::success();
}

Expected<Constant *> Copier::mapInitializer(const GlobalVariable &global) {
  const DataLayout &layout = device.getDataLayout();
  Type *type = global.getValueType();
  if (hasHostLayout(type, layout, host.getDataLayout()))
    return map(global.getInitializer());
  SmallVector<Constant *> parts;
  uint64_t end = 0, size = layout.getTypeAllocSize(type).getFixedValue();
  if (Error error = appendBytes(global, global.getInitializer(), 0, end, parts))
    return error;
  if (end < size)
    parts.push_back(Constant::getNullValue(
        ArrayType::get(Type::getInt8Ty(type->getContext()), size - end)));
  return ConstantStruct::getAnon(parts, /*Packed=*/true);
}

//===----------------------------------------------------------------------===//
// Globals and functions
//===----------------------------------------------------------------------===//

Error Copier::declareGlobals() {
  const DataLayout &layout = device.getDataLayout();
  for (const GlobalVariable &global : device.globals()) {
    Type *pointer = PointerType::get(host.getContext(), 0);
    unsigned space = global.getAddressSpace();
    if (space == sharedSpace) {
      if (hasClusters(device)) {
        auto *placeholder = new GlobalVariable(
            host, Type::getInt8Ty(host.getContext()), /*isConstant=*/false,
            GlobalValue::ExternalLinkage, nullptr);
        placeholders.push_back({placeholder, shared.offsets.lookup(&global)});
        values[&global] = placeholder;
        continue;
      }
      uint64_t address = sharedBaseAddress + shared.offsets.lookup(&global);
      values[&global] = ConstantExpr::getIntToPtr(
          ConstantInt::get(Type::getInt64Ty(host.getContext()), address),
          pointer);
      continue;
    }
    if (space != genericSpace && space != globalSpace && space != constantSpace)
      return refuse("the variable @" + global.getName() +
                    " is in address space " + Twine(space) +
                    ", which is not emulated; use address space " +
                    Twine(globalSpace) + " (global), " + Twine(sharedSpace) +
                    " (shared) or " + Twine(constantSpace) + " (constant)");
    uint64_t size = layout.getTypeAllocSize(global.getValueType());
    Type *type =
        hasHostLayout(global.getValueType(), layout, host.getDataLayout())
            ? remapType(global.getValueType())
            : nullptr;
    // The type of the bytes is known once the initial value is.
    if (!type)
      type = ArrayType::get(Type::getInt8Ty(host.getContext()), size);
    auto *copy = new GlobalVariable(host, type, global.isConstant(),
                                    GlobalValue::InternalLinkage, nullptr,
                                    devicePrefix + global.getName());
    copy->setAlignment(layout.getValueOrABITypeAlignment(
        global.getAlign(), global.getValueType()));
    values[&global] = copy;
  }
  return Error::success();
}

bool hasClusters(const Module &module) {
  return any_of(module, [](const Function &function) {
    return function.hasFnAttribute(clusterAttribute);
  });
}

/// Each block of a cluster has its memory: functions ask for it at their begin.
void Copier::resolveShared() {
  SmallVector<Constant *> constants;
  for (auto [placeholder, offset] : placeholders)
    constants.push_back(placeholder);
  convertUsersOfConstantsToInstructions(constants);
  LLVMContext &context = host.getContext();
  Type *pointer = PointerType::get(context, 0);
  FunctionCallee base = host.getOrInsertFunction(
      "smalti_emu_shared_base", FunctionType::get(pointer, false));
  auto *asked = cast<Function>(base.getCallee());
  asked->setDoesNotAccessMemory();
  asked->setDoesNotThrow();
  asked->addFnAttr(Attribute::WillReturn);
  DenseMap<Function *, CallInst *> bases;
  for (auto [placeholder, offset] : placeholders) {
    DenseMap<Function *, Value *> variableAddresses;
    for (Use &use : make_early_inc_range(placeholder->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue;
      Function *function = user->getFunction();
      CallInst *&known = bases[function];
      if (!known)
        known =
            IRBuilder<>(&*function->getEntryBlock().begin()).CreateCall(base);
      Value *&address = variableAddresses[function];
      if (!address) {
        IRBuilder<> builder(known->getNextNode());
        address =
            builder.CreateConstGEP1_64(builder.getInt8Ty(), known, offset);
      }
      use.set(address);
    }
    // The remaining uses are in initial values, which all blocks share.
    placeholder->replaceAllUsesWith(ConstantExpr::getIntToPtr(
        ConstantInt::get(Type::getInt64Ty(context), sharedBaseAddress + offset),
        pointer));
    placeholder->eraseFromParent();
  }
}

Error Copier::defineGlobals() {
  for (const GlobalVariable &global : device.globals()) {
    if (global.getAddressSpace() == sharedSpace)
      continue;
    auto *copy =
        cast<GlobalVariable>(static_cast<Value *>(values.lookup(&global)));
    Expected<Constant *> initializer = mapInitializer(global);
    if (!initializer)
      return initializer.takeError();
    copy->replaceInitializer(*initializer);
  }
  return Error::success();
}

void Copier::declareFunctions() {
  for (const Function &function : device) {
    auto *type = cast<FunctionType>(remapType(function.getFunctionType()));
    bool isDefined = !function.isDeclaration();
    auto linkage =
        isDefined ? GlobalValue::InternalLinkage : GlobalValue::ExternalLinkage;
    Function *copy = Function::Create(
        type, linkage,
        (isDefined ? StringRef(devicePrefix) : "") + function.getName(), host);
    if (function.isIntrinsic() && !isInstruction(function))
      if (std::optional<Function *> renamed =
              Intrinsic::remangleIntrinsicFunction(copy)) {
        copy->eraseFromParent();
        copy = *renamed;
      }
    values[&function] = copy;
  }
}

void Copier::copyBody(const Function &function) {
  auto *copy = cast<Function>(static_cast<Value *>(values.lookup(&function)));
  auto argument = copy->arg_begin();
  for (const Argument &original : function.args()) {
    argument->setName(original.getName());
    values[&original] = &*argument++;
  }
  SmallVector<ReturnInst *> returns;
  CloneFunctionInto(copy, &function, values,
                    CloneFunctionChangeType::DifferentModule, returns, "",
                    nullptr, this, this);
  copy->setCallingConv(CallingConv::C);
  copy->setLinkage(GlobalValue::InternalLinkage);
  if (isKernel(function))
    copy->addFnAttr(kernelAttribute);
  clean(*copy);
}

/// Whether a fence has block scope or less. Threads of a block are ordered by
/// barriers, not by these fences.
static bool isWithinBlock(const FenceInst &fence) {
  std::optional<StringRef> scope =
      fence.getContext().getSyncScopeName(fence.getSyncScopeID());
  return scope &&
         (scope->starts_with("workgroup") || scope->starts_with("wavefront") ||
          scope->starts_with("singlethread") || *scope == "block");
}

/// Replaces instructions that have a different form on the host.
void Copier::clean(Function &function) {
  for (Instruction &at : make_early_inc_range(instructions(function))) {
    if (auto *cast = dyn_cast<AddrSpaceCastInst>(&at)) {
      cast->replaceAllUsesWith(cast->getPointerOperand());
      cast->eraseFromParent();
    } else if (auto *cast = dyn_cast<PtrToAddrInst>(&at)) {
      IRBuilder<> builder(cast);
      cast->replaceAllUsesWith(
          builder.CreatePtrToInt(cast->getPointerOperand(), cast->getType()));
      cast->eraseFromParent();
    } else if (auto *load = dyn_cast<LoadInst>(&at)) {
      load->setSyncScopeID(SyncScope::System);
    } else if (auto *store = dyn_cast<StoreInst>(&at)) {
      store->setSyncScopeID(SyncScope::System);
    } else if (auto *exchange = dyn_cast<AtomicRMWInst>(&at)) {
      exchange->setSyncScopeID(SyncScope::System);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&at)) {
      exchange->setSyncScopeID(SyncScope::System);
    } else if (auto *fence = dyn_cast<FenceInst>(&at)) {
      fence->setSyncScopeID(isWithinBlock(*fence) ? SyncScope::SingleThread
                                                  : SyncScope::System);
    } else if (auto *call = dyn_cast<CallInst>(&at)) {
      call->setCallingConv(CallingConv::C);
      call->setTailCallKind(CallInst::TCK_None);
    }
  }
}

Error Copier::run() {
  host.setSourceFileName(device.getSourceFileName());
  if (Error error = declareGlobals())
    return error;
  declareFunctions();
  if (Error error = defineGlobals())
    return error;
  for (const Function &function : device)
    if (!function.isDeclaration())
      copyBody(function);
  if (!placeholders.empty())
    resolveShared();
  return problem.empty() ? Error::success() : refuse(problem);
}

Expected<std::unique_ptr<Module>> copyToHost(const Module &device,
                                             const SharedMemory &shared,
                                             const TargetMachine &machine) {
  auto host = std::make_unique<Module>("kernel", device.getContext());
  host->setTargetTriple(machine.getTargetTriple());
  host->setDataLayout(machine.createDataLayout());
  host->addModuleFlag(Module::Warning, "Debug Info Version",
                      DEBUG_METADATA_VERSION);
  host->addModuleFlag(Module::Max, "Dwarf Version", 4);
  host->setPICLevel(PICLevel::BigPIC);
  if (Error error = Copier(device, shared, *host).run())
    return error;
  return host;
}

} // namespace smalti::emulator
