//===- Layouts.cpp - Sizes and offsets of the device ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host lays out some types otherwise than the device, those with pointers
// of four bytes above all. So what depends on the data layout becomes bytes
// before it changes.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace smalti::emulator {

bool hasHostLayout(Type *type, const DataLayout &device,
                   const DataLayout &host) {
  if (auto *pointer = dyn_cast<PointerType>(type))
    return device.getPointerTypeSize(pointer) == host.getPointerSize();
  if (auto *array = dyn_cast<ArrayType>(type))
    return hasHostLayout(array->getElementType(), device, host);
  if (auto *structure = dyn_cast<StructType>(type))
    return all_of(structure->elements(), [&](Type *element) {
      return hasHostLayout(element, device, host);
    });
  if (type->isPtrOrPtrVectorTy() &&
      !hasHostLayout(type->getScalarType(), device, host))
    return false;
  return !type->isSized() ||
         (device.getTypeAllocSize(type) == host.getTypeAllocSize(type) &&
          device.getABITypeAlign(type) == host.getABITypeAlign(type));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static void lowerGEP(GetElementPtrInst &gep, const DataLayout &layout,
                     const DataLayout &host) {
  unsigned indexBits = layout.getIndexSizeInBits(gep.getPointerAddressSpace());
  bool wraps = indexBits != 64 && !gep.isInBounds();
  if (!wraps && hasHostLayout(gep.getSourceElementType(), layout, host))
    return;
  if (gep.getSourceElementType()->isIntegerTy(8) && !wraps)
    return;
  IRBuilder<> builder(&gep);
  Value *offset = emitGEPOffset(&builder, layout, &gep);
  Value *address = builder.CreatePtrAdd(gep.getPointerOperand(), offset,
                                        gep.getName(), gep.getNoWrapFlags());
  gep.replaceAllUsesWith(address);
  gep.eraseFromParent();
}

static void lowerAlloca(AllocaInst &alloca, const DataLayout &layout,
                        const DataLayout &host) {
  Type *type = alloca.getAllocatedType();
  if (hasHostLayout(type, layout, host))
    return;
  alloca.setAlignment(
      std::max(alloca.getAlign(), layout.getABITypeAlign(type)));
  alloca.setAllocatedType(
      ArrayType::get(Type::getInt8Ty(alloca.getContext()),
                     layout.getTypeAllocSize(type).getFixedValue()));
}

/// The null pointer of shared and private memory is all ones on AMD; LLVM's
/// cast handles that.
static void lowerSpaceCast(AddrSpaceCastInst &cast) {
  auto isNarrow = [](unsigned space) {
    return space == sharedSpace || space == privateSpace;
  };
  unsigned from = cast.getSrcAddressSpace(), to = cast.getDestAddressSpace();
  if (isNarrow(from) == isNarrow(to))
    return;
  Value *object = getUnderlyingObject(cast.getPointerOperand());
  if (isa<AllocaInst>(object) || isa<GlobalVariable>(object))
    return;
  IRBuilder<> builder(cast.getParent(), std::next(cast.getIterator()));
  builder.SetCurrentDebugLocation(cast.getDebugLoc());
  auto nullOf = [&](Type *type, unsigned space) -> Constant * {
    if (!isNarrow(space))
      return Constant::getNullValue(type);
    Type *integers = type->getWithNewType(builder.getInt32Ty());
    return ConstantExpr::getIntToPtr(Constant::getAllOnesValue(integers), type);
  };
  SmallVector<Use *> uses;
  for (Use &use : cast.uses())
    uses.push_back(&use);
  Value *source = cast.getPointerOperand();
  Value *isNull = builder.CreateICmpEQ(source, nullOf(source->getType(), from));
  Value *chosen =
      builder.CreateSelect(isNull, nullOf(cast.getType(), to), &cast);
  for (Use *use : uses)
    use->set(chosen);
}

/// An integer that is wider than the device's pointer is cut on the device.
static void narrowInteger(IntToPtrInst &cast, const DataLayout &layout) {
  Type *pointerBits = layout.getIntPtrType(cast.getType());
  Value *integer = cast.getOperand(0);
  if (integer->getType()->getScalarSizeInBits() <=
      pointerBits->getScalarSizeInBits())
    return;
  IRBuilder<> builder(&cast);
  cast.setOperand(0, builder.CreateTrunc(integer, pointerBits));
}

/// The mask has as many bits as the pointer.
static void lowerPointerMask(IntrinsicInst &mask, const DataLayout &layout) {
  Type *bits = layout.getIntPtrType(mask.getType());
  if (bits->getScalarSizeInBits() == 64)
    return;
  IRBuilder<> builder(&mask);
  Value *kept =
      builder.CreateAnd(builder.CreatePtrToInt(mask.getArgOperand(0), bits),
                        builder.CreateZExtOrTrunc(mask.getArgOperand(1), bits));
  mask.replaceAllUsesWith(builder.CreateIntToPtr(kept, mask.getType()));
  mask.eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the loads and stores of a function whose values the host would lay
/// out otherwise.
class Accesses {
public:
  Accesses(Function &function, const DataLayout &layout, const DataLayout &host)
      : function(function), layout(layout), host(host) {}

  Error run() {
    SmallVector<Instruction *> work;
    for (Instruction &at : instructions(function)) {
      Type *type = nullptr;
      if (auto *load = dyn_cast<LoadInst>(&at))
        type = load->getType();
      else if (auto *store = dyn_cast<StoreInst>(&at))
        type = store->getValueOperand()->getType();
      else if (auto *exchange = dyn_cast<AtomicRMWInst>(&at))
        type = exchange->getType();
      else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&at))
        type = exchange->getCompareOperand()->getType();
      else if (isa<PtrToIntInst, IntToPtrInst, PtrToAddrInst>(at)) {
        if (Error error = checkCast(at))
          return error;
        continue;
      }
      if (!type)
        continue;
      if (at.isAtomic() && alignOf(at) < layout.getTypeStoreSize(type))
        return refuse(
            at, "an atomic access of " + Twine(layout.getTypeStoreSize(type)) +
                    " bytes has an alignment of " + Twine(alignOf(at).value()) +
                    " bytes; the alignment must be at least the size");
      if (!needsWork(type))
        continue;
      if (Error error = checkAccess(at, type))
        return error;
      work.push_back(&at);
    }
    for (Instruction *at : work) {
      IRBuilder<> builder(at);
      if (auto *load = dyn_cast<LoadInst>(at)) {
        Value *value = loadParts(builder, *load, load->getPointerOperand(),
                                 load->getType(), load->getAlign());
        load->replaceAllUsesWith(value);
      } else {
        auto *store = cast<StoreInst>(at);
        storeParts(builder, *store, store->getPointerOperand(),
                   store->getValueOperand(), store->getAlign());
      }
      at->eraseFromParent();
    }
    return Error::success();
  }

private:
  static Align alignOf(const Instruction &at) {
    if (auto *update = dyn_cast<AtomicRMWInst>(&at))
      return update->getAlign();
    if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&at))
      return exchange->getAlign();
    return getLoadStoreAlignment(&at);
  }

  /// Pointers that are not eight bytes, and aggregates that have other offsets.
  bool needsWork(Type *type) const {
    if (type->isAggregateType())
      return !hasHostLayout(type, layout, host);
    return type->isPtrOrPtrVectorTy() &&
           !hasHostLayout(type->getScalarType(), layout, host);
  }

  Error checkSpace(Instruction &at, Type *type) const {
    for (Type *part : type->subtypes())
      if (Error error = checkSpace(at, part))
        return error;
    auto *pointer = dyn_cast<PointerType>(type);
    if (!pointer)
      return Error::success();
    unsigned space = pointer->getAddressSpace();
    if (space == sharedSpace || layout.getPointerTypeSize(pointer) == 8)
      return Error::success();
    StringRef kind = space == privateSpace          ? "private memory, "
                     : space == bufferResourceSpace ? "buffer resources, "
                                                    : "";
    return refuse(at, "the emulator cannot store pointers to " + kind +
                          "addrspace(" + Twine(space) +
                          "), or convert them to integers; use a generic or "
                          "global pointer");
  }

  Error checkCast(Instruction &at) const {
    if (Error error = checkSpace(at, at.getType()))
      return error;
    return checkSpace(at, at.getOperand(0)->getType());
  }

  Error checkAccess(Instruction &at, Type *type) const {
    if (at.isAtomic())
      return refuse(at, "an atomic access of type " + Twine(printed(*type)) +
                            " is not emulated; use an integer or float of 32 "
                            "or 64 bits");
    return checkSpace(at, type);
  }

  Value *loadParts(IRBuilder<> &builder, LoadInst &load, Value *address,
                   Type *type, Align align) const {
    if (!needsWork(type))
      return builder.CreateAlignedLoad(type, address, align, load.isVolatile());
    if (!type->isAggregateType()) {
      Value *bits = builder.CreateAlignedLoad(
          layout.getIntPtrType(type), address, align, load.isVolatile());
      return builder.CreateIntToPtr(bits, type);
    }
    Value *value = PoisonValue::get(type);
    forEachPart(builder, address, type, align,
                [&](unsigned i, Type *part, Value *at, Align partAlign) {
                  value = builder.CreateInsertValue(
                      value, loadParts(builder, load, at, part, partAlign), i);
                });
    return value;
  }

  void storeParts(IRBuilder<> &builder, StoreInst &store, Value *address,
                  Value *value, Align align) const {
    Type *type = value->getType();
    if (!needsWork(type)) {
      builder.CreateAlignedStore(value, address, align, store.isVolatile());
      return;
    }
    if (!type->isAggregateType()) {
      Value *bits = builder.CreatePtrToInt(value, layout.getIntPtrType(type));
      builder.CreateAlignedStore(bits, address, align, store.isVolatile());
      return;
    }
    forEachPart(builder, address, type, align,
                [&](unsigned i, Type *, Value *at, Align partAlign) {
                  storeParts(builder, store, at,
                             builder.CreateExtractValue(value, i), partAlign);
                });
  }

  template <class Use>
  void forEachPart(IRBuilder<> &builder, Value *address, Type *type,
                   Align align, Use use) const {
    auto at = [&](uint64_t offset) {
      Type *index = layout.getIndexType(address->getType());
      return builder.CreatePtrAdd(address, ConstantInt::get(index, offset));
    };
    if (auto *structure = dyn_cast<StructType>(type)) {
      const StructLayout *structLayout = layout.getStructLayout(structure);
      for (unsigned i = 0; i < structure->getNumElements(); ++i) {
        uint64_t offset = structLayout->getElementOffset(i);
        use(i, structure->getElementType(i), at(offset),
            commonAlignment(align, offset));
      }
      return;
    }
    auto *array = cast<ArrayType>(type);
    uint64_t step =
        layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (unsigned i = 0; i < array->getNumElements(); ++i)
      use(i, array->getElementType(), at(i * step),
          commonAlignment(align, i * step));
  }

  Function &function;
  const DataLayout &layout, &host;
};
} // namespace

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// The types that parameters point to, in bytes of the device.
static void fixParameterTypes(AttributeList list, LLVMContext &context,
                              const DataLayout &layout, const DataLayout &host,
                              unsigned count,
                              function_ref<void(unsigned, Attribute)> replace) {
  for (unsigned i = 0; i < count; ++i)
    for (Attribute attribute : list.getParamAttrs(i)) {
      if (!attribute.isTypeAttribute() || !attribute.getValueAsType())
        continue;
      Type *type = attribute.getValueAsType();
      if (!type->isSized() || hasHostLayout(type, layout, host))
        continue;
      uint64_t size = layout.getTypeAllocSize(type).getFixedValue();
      Type *bytes = ArrayType::get(Type::getInt8Ty(context), size);
      replace(i, Attribute::get(context, attribute.getKindAsEnum(), bytes));
    }
}

template <class Holder>
static void fixParameters(Holder &holder, const DataLayout &layout,
                          const DataLayout &host) {
  LLVMContext &context = holder.getContext();
  fixParameterTypes(
      holder.getAttributes(), context, layout, host, holder.arg_size(),
      [&](unsigned i, Attribute attribute) {
        Align align = holder.getParamAlign(i).value_or(
            layout.getABITypeAlign(holder.getAttributes()
                                       .getParamAttrs(i)
                                       .getAttribute(attribute.getKindAsEnum())
                                       .getValueAsType()));
        holder.removeParamAttr(i, attribute.getKindAsEnum());
        holder.addParamAttr(i, attribute);
        holder.removeParamAttr(i, Attribute::Alignment);
        holder.addParamAttr(i, Attribute::getWithAlignment(context, align));
      });
}

static Error fixFunction(Function &function, const DataLayout &layout,
                         const DataLayout &host, Vendor vendor) {
  fixParameters(function, layout, host);
  SmallVector<Instruction *> work;
  for (Instruction &at : instructions(function))
    work.push_back(&at);
  for (Instruction *at : work) {
    if (isa<InvokeInst, CallBrInst, LandingPadInst, ResumeInst>(at))
      return refuse(*at, Twine("the instruction '") + at->getOpcodeName() +
                             "' is not emulated; remove exceptions and inline "
                             "assembly with jump labels (asm goto)");
    if (auto *gep = dyn_cast<GetElementPtrInst>(at))
      lowerGEP(*gep, layout, host);
    else if (auto *alloca = dyn_cast<AllocaInst>(at))
      lowerAlloca(*alloca, layout, host);
    else if (auto *cast = dyn_cast<AddrSpaceCastInst>(at);
             cast && vendor == Vendor::AMD)
      lowerSpaceCast(*cast);
    else if (auto *cast = dyn_cast<IntToPtrInst>(at))
      narrowInteger(*cast, layout);
    else if (auto *mask = dyn_cast<IntrinsicInst>(at);
             mask && mask->getIntrinsicID() == Intrinsic::ptrmask)
      lowerPointerMask(*mask, layout);
    else if (auto *call = dyn_cast<CallBase>(at))
      fixParameters(*call, layout, host);
  }
  return Accesses(function, layout, host).run();
}

Error fixLayouts(Module &module, Vendor vendor, const DataLayout &host) {
  for (Function &function : module)
    if (!function.isDeclaration())
      if (Error error =
              fixFunction(function, module.getDataLayout(), host, vendor))
        return error;
  return Error::success();
}

} // namespace smalti::emulator
