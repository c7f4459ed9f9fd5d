//===- Entries.cpp - Entry functions of kernels ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace smalti::emulator {

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The kernel's argument in memory: what a parameter points to where it is
/// passed by value or by reference.
static Type *pointee(const Argument &argument) {
  if (Type *type = argument.getParamByValType())
    return type;
  return argument.getParamByRefType();
}

static Expected<Value *> readArgument(IRBuilder<> &builder,
                                      const Argument &argument, Type *type,
                                      Value *place) {
  const DataLayout &device = argument.getParent()->getDataLayout();
  Type *original = argument.getType();
  if (Type *inMemory = pointee(argument)) {
    if (argument.hasByRefAttr() ||
        argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(),
                                                           gridConstant))
      return place;
    // A thread's own copy.
    uint64_t bytes = device.getTypeAllocSize(inMemory).getFixedValue();
    AllocaInst *copy =
        builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), bytes));
    copy->setAlignment(std::max(argument.getParamAlign().valueOrOne(),
                                device.getABITypeAlign(inMemory)));
    builder.CreateMemCpy(copy, copy->getAlign(), place, Align(1), bytes);
    return copy;
  }
  if (type->isIntegerTy(1))
    return builder.CreateTrunc(
        builder.CreateAlignedLoad(builder.getInt8Ty(), place, Align(1)), type);
  bool isPointer = original->isPointerTy();
  if (isPointer && original->getPointerAddressSpace() == sharedSpace)
    return builder.CreateIntToPtr(
        builder.CreateAlignedLoad(device.getIntPtrType(original), place,
                                  Align(1)),
        type);
  if (!hasHostLayout(original, device,
                     builder.GetInsertBlock()->getDataLayout()))
    return refuse("parameter " + Twine(argument.getArgNo()) +
                  " of the kernel @" + argument.getParent()->getName() +
                  " has the type " + printed(*original) +
                  ", which is not emulated; use integers of up to 64 bits, "
                  "floats or pointers to global memory");
  return builder.CreateAlignedLoad(type, place, Align(1));
}

Error addEntries(Module &module, const Module &device) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  for (const Function &kernel : device) {
    if (!isKernel(kernel))
      continue;
    Function *body =
        module.getFunction((devicePrefix + kernel.getName()).str());
    // An entry does not have line information; code that is inlined into it
    // would lose its location.
    body->removeFnAttr(Attribute::AlwaysInline);
    body->addFnAttr(Attribute::NoInline);
    Function *entry = Function::Create(
        FunctionType::get(Type::getVoidTy(context), {pointer}, false),
        GlobalValue::ExternalLinkage, "smalti_emu_kernel_" + kernel.getName(),
        module);
    entry->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context, "", entry));
    SmallVector<Value *> values;
    for (const Argument &argument : kernel.args()) {
      unsigned i = argument.getArgNo();
      Value *place = builder.CreateLoad(
          pointer,
          builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), i));
      Expected<Value *> value =
          readArgument(builder, argument, body->getArg(i)->getType(), place);
      if (!value)
        return value.takeError();
      values.push_back(*value);
      // The entry made the copy.
      for (Attribute::AttrKind kind : {Attribute::ByVal, Attribute::ByRef})
        body->removeParamAttr(i, kind);
    }
    builder.CreateCall(body, values);
    builder.CreateRetVoid();
  }
  return Error::success();
}

void addConstants(Module &module, uint64_t sharedBytes,
                  bool hasWritableGlobals) {
  auto add = [&](uint32_t value, StringRef name) {
    Type *type = Type::getInt32Ty(module.getContext());
    new GlobalVariable(module, type, true, GlobalValue::ExternalLinkage,
                       ConstantInt::get(type, value), name);
  };
  add(sharedBytes, "smalti_emu_shared_bytes");
  add(hasWritableGlobals, "smalti_emu_flags");
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

std::string fileOf(const DebugLoc &location) {
  StringRef name = location->getFilename(), folder = location->getDirectory();
  if (name.empty() || sys::path::is_absolute(name) || folder.empty())
    return name.str();
  return (folder + "/" + name).str();
}

json::Value describeLocation(const DebugLoc &location) {
  if (!location)
    return nullptr;
  return json::Object{{"file", fileOf(location)},
                      {"line", location.getLine()},
                      {"column", location.getCol()}};
}

static json::Value describeParameter(const Argument &argument,
                                     const DataLayout &layout) {
  Type *type = argument.getType();
  Type *inMemory = pointee(argument);
  Type *passed = inMemory ? inMemory : type;
  Align align = layout.getABITypeAlign(passed);
  if (inMemory)
    align = std::max(align, argument.getParamAlign().valueOrOne());
  bool isPointer = type->isPointerTy() && !inMemory;
  json::Object object{
      {"name", argument.getName()},
      {"type", printed(*passed)},
      {"bytes", int64_t(layout.getTypeAllocSize(passed).getFixedValue())},
      {"alignment", int64_t(align.value())},
      {"passed", argument.hasByValAttr()   ? "byval"
                 : argument.hasByRefAttr() ? "byref"
                                           : "direct"},
      {"pointer", isPointer},
      {"address_space",
       isPointer ? json::Value(type->getPointerAddressSpace()) : nullptr}};
  return object;
}

/// The numbers of an attribute such as "128,1,1"; empty without the attribute.
static SmallVector<int64_t> numbersOf(const Function &kernel, StringRef name) {
  SmallVector<int64_t> numbers;
  SmallVector<StringRef> words;
  kernel.getFnAttribute(name).getValueAsString().split(words, ',', -1, false);
  for (StringRef word : words) {
    int64_t number;
    if (word.trim().getAsInteger(10, number))
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

static json::Value dimensions(ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return nullptr;
  json::Array sizes(numbers);
  while (sizes.size() < 3)
    sizes.push_back(1);
  return sizes;
}

/// The block size that the kernel is compiled for, or null.
static json::Value requiredBlock(const Function &kernel) {
  SmallVector<int64_t> numbers = numbersOf(kernel, "nvvm.reqntid");
  if (MDNode *node = kernel.getMetadata("reqd_work_group_size"))
    for (const MDOperand &operand : node->operands()) {
      auto *number = mdconst::dyn_extract_or_null<ConstantInt>(operand);
      if (!number)
        return nullptr;
      numbers.push_back(number->getSExtValue());
    }
  return dimensions(numbers);
}

/// The threads that a block may have at most, and has at least.
static json::Value threadLimit(const Function &kernel, bool isUpper) {
  SmallVector<int64_t> range = numbersOf(kernel, "amdgpu-flat-work-group-size");
  if (range.size() == 2)
    return range[isUpper];
  SmallVector<int64_t> most = numbersOf(kernel, "nvvm.maxntid");
  if (!isUpper || most.empty())
    return nullptr;
  int64_t product = 1;
  for (int64_t size : most)
    product *= size;
  return product;
}

json::Array describeKernels(const Module &device) {
  json::Array kernels;
  for (const Function &kernel : device) {
    if (!isKernel(kernel))
      continue;
    json::Array parameters;
    for (const Argument &argument : kernel.args())
      parameters.push_back(describeParameter(argument, device.getDataLayout()));
    DebugLoc location;
    if (DISubprogram *program = kernel.getSubprogram())
      location =
          DILocation::get(device.getContext(), program->getLine(), 0, program);
    kernels.push_back(json::Object{
        {"name", kernel.getName()},
        {"chip", kernel.getFnAttribute("target-cpu").getValueAsString()},
        {"parameters", std::move(parameters)},
        {"block", requiredBlock(kernel)},
        {"cluster", dimensions(numbersOf(kernel, clusterAttribute))},
        {"least_threads", threadLimit(kernel, false)},
        {"most_threads", threadLimit(kernel, true)},
        {"location", describeLocation(location)}});
  }
  return kernels;
}

} // namespace smalti::emulator
