//===- Object.cpp - From a module of the host to an object file -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/PassRun.h"
#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/AtomicExpandUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"

#include <map>

using namespace llvm;

namespace smalti::emulator {

/// The features of this host, sorted, as LLVM writes them.
static std::string hostFeatures(const Triple &triple) {
  std::map<std::string, bool> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    features[feature.getKey().str()] = feature.getValue();
  // Their conversions to bfloat flush denormals.
  if (triple.isX86())
    for (const char *name : {"avx512bf16", "avxneconvert", "avx10.2"})
      features[name] = false;
  std::string text;
  for (const auto &[name, isThere] : features)
    text += (text.empty() ? "" : ",") + std::string(isThere ? "+" : "-") + name;
  return text;
}

Expected<std::unique_ptr<TargetMachine>>
makeHostMachine(const HostOptions &options) {
  static bool initialized = [] {
    return !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  }();
  if (!initialized)
    return refuse("libLLVM was built without a code generator for the "
                  "processor of this machine; install an LLVM 22 that has one");
  Triple triple(sys::getProcessTriple());
  std::string problem;
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return refuse("cannot generate code for the host: " + problem);
  bool isThis = options.processor.empty();
  std::string name = isThis ? sys::getHostCPUName().str() : options.processor;
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known || !known->isCPUStringValid(name))
    return refuse("LLVM does not support processor '" + name +
                  "' on the host's architecture");
  // Instrumented code is much longer, and its checks take most of the time of a
  // run: selecting its instructions quickly saves more than it costs.
  int wanted =
      options.sanitizer == Sanitizer::None ? int(options.optimization) : 0;
  auto level = CodeGenOpt::getLevel(wanted);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, name, isThis ? hostFeatures(triple) : "", TargetOptions(),
      Reloc::PIC_, std::nullopt, level.value_or(CodeGenOptLevel::Default)));
  if (!machine)
    return refuse("LLVM cannot create a target machine for " + triple.str());
  return machine;
}

//===----------------------------------------------------------------------===//
// Sanitizers
//===----------------------------------------------------------------------===//

/// ThreadSanitizer instruments only the simple read-modify-write operations;
/// the others become loops of compare-and-exchange.
static void expandAtomics(Function &function) {
  SmallVector<AtomicRMWInst *> work;
  for (Instruction &at : instructions(function))
    if (auto *update = dyn_cast<AtomicRMWInst>(&at))
      switch (update->getOperation()) {
      case AtomicRMWInst::Xchg:
      case AtomicRMWInst::Add:
      case AtomicRMWInst::Sub:
      case AtomicRMWInst::And:
      case AtomicRMWInst::Or:
      case AtomicRMWInst::Xor:
      case AtomicRMWInst::Nand:
        break;
      default:
        work.push_back(update);
      }
  for (AtomicRMWInst *update : work)
    expandAtomicRMWToCmpXchg(update, [](IRBuilderBase &builder, Value *address,
                                        Value *loaded, Value *wanted,
                                        Align align, AtomicOrdering ordering,
                                        SyncScope::ID scope, Value *&success,
                                        Value *&found, Instruction *) {
      // The first read is not atomic; the exchange checks its value.
      for (Value *value : cast<PHINode>(loaded)->incoming_values())
        if (auto *first = dyn_cast<LoadInst>(value))
          hideFromSanitizers(*first);
      Type *type = wanted->getType();
      bool isInteger = type->isIntegerTy();
      Type *bits =
          isInteger ? type : builder.getIntNTy(type->getPrimitiveSizeInBits());
      Value *pair = builder.CreateAtomicCmpXchg(
          address, builder.CreateBitCast(loaded, bits),
          builder.CreateBitCast(wanted, bits), align, ordering,
          AtomicCmpXchgInst::getStrongestFailureOrdering(ordering), scope);
      success = builder.CreateExtractValue(pair, 1);
      found = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), type);
    });
}

/// Reports to the runtime what a store writes, with whether the memory has that
/// value already.
class StoredValue {
public:
  static bool canCompare(const StoreInst &store) {
    Type *type = store.getValueOperand()->getType();
    return store.isSimple() && !type->isAggregateType() &&
           store.getDataLayout().getTypeSizeInBits(type) % 8 == 0;
  }

  StoredValue(IRBuilderBase &builder, StoreInst &store)
      : address(store.getPointerOperand()),
        function(store.getModule()->getOrInsertFunction(
            "smalti_emu_report_write", builder.getVoidTy(), builder.getPtrTy(),
            builder.getInt32Ty(), builder.getInt32Ty())) {
    const DataLayout &layout = store.getDataLayout();
    Value *value = store.getValueOperand();
    IntegerType *type =
        builder.getIntNTy(layout.getTypeSizeInBits(value->getType()));
    LoadInst *before =
        builder.CreateAlignedLoad(type, address, store.getAlign());
    hideFromSanitizers(*before);
    if (value->getType()->isPtrOrPtrVectorTy())
      value =
          builder.CreatePtrToInt(value, layout.getIntPtrType(value->getType()));
    isSame = builder.CreateZExt(
        builder.CreateICmpEQ(before, builder.CreateBitCast(value, type)),
        builder.getInt32Ty());
  }

  void report(IRBuilderBase &builder, uint64_t offset, uint64_t bytes) {
    builder.CreateCall(function, {builder.CreateConstGEP1_64(
                                      builder.getInt8Ty(), address, offset),
                                  builder.getInt32(bytes), isSame});
  }

private:
  Value *address, *isSame;
  FunctionCallee function;
};

/// Reports accesses that LLVM's ThreadSanitizer pass does not instrument: sizes
/// other than 1, 2, 4, 8 and 16 bytes, and each lane of masked vectors, gathers
/// and scatters.
///
/// The range function of the runtime reports the bytes up to a multiple of 8
/// separately, and stores only four accesses for each 8 bytes. So an access is
/// reported as the powers of two that make up its size.
class UninstrumentedAccesses {
public:
  explicit UninstrumentedAccesses(Module &module)
      : layout(module.getDataLayout()), context(module.getContext()) {
    for (bool isWrite : {false, true})
      for (unsigned log2 = 0; log2 <= 4; ++log2)
        functions[isWrite].push_back(module.getOrInsertFunction(
            (Twine("__tsan_") + (log2 == 0 ? "" : "unaligned_") +
             (isWrite ? "write" : "read") + Twine(1 << log2))
                .str(),
            Type::getVoidTy(context), PointerType::get(context, 0)));
  }

  void run(Function &function) {
    SmallVector<Instruction *> accesses;
    for (Instruction &at : instructions(function))
      if (at.mayReadOrWriteMemory() &&
          !at.hasMetadata(LLVMContext::MD_nosanitize))
        accesses.push_back(&at);
    unused = nullptr;
    for (Instruction *at : accesses)
      report(*at);
  }

private:
  void report(Instruction &at) {
    IRBuilder<> builder(&at);
    if (auto *load = dyn_cast<LoadInst>(&at); load && !load->isAtomic())
      return reportWhole(builder, load->getPointerOperand(), load->getType(),
                         /*isWrite=*/false);
    if (auto *store = dyn_cast<StoreInst>(&at); store && !store->isAtomic())
      return reportStore(builder, *store);
    auto *call = dyn_cast<IntrinsicInst>(&at);
    if (!call)
      return;
    Intrinsic::ID id = call->getIntrinsicID();
    bool isPacked = id == Intrinsic::masked_expandload ||
                    id == Intrinsic::masked_compressstore;
    switch (id) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_gather:
    case Intrinsic::masked_expandload:
      return reportLanes(builder, call->getArgOperand(0), call->getType(),
                         call->getArgOperand(1), isPacked, /*isWrite=*/false);
    case Intrinsic::masked_store:
    case Intrinsic::masked_scatter:
    case Intrinsic::masked_compressstore:
      return reportLanes(builder, call->getArgOperand(1),
                         call->getArgOperand(0)->getType(),
                         call->getArgOperand(2), isPacked, /*isWrite=*/true);
    default:
      return;
    }
  }

  void reportBytes(IRBuilderBase &builder, Value *address, uint64_t bytes,
                   bool isWrite) {
    for (uint64_t done = 0; done < bytes;) {
      unsigned log2 = std::min(4u, Log2_64(bytes - done));
      builder.CreateCall(
          functions[isWrite][log2],
          {builder.CreateConstGEP1_64(builder.getInt8Ty(), address, done)});
      done += uint64_t(1) << log2;
    }
  }

  /// Other threads cannot access a thread's own memory.
  static bool isPrivate(Value *address) {
    return isa<AllocaInst>(getUnderlyingObject(address));
  }

  void reportStore(IRBuilderBase &builder, StoreInst &store) {
    constexpr uint64_t widest = 16;
    Value *address = store.getPointerOperand();
    Type *stored = store.getValueOperand()->getType();
    uint64_t bytes = layout.getTypeStoreSize(stored);
    if (bytes <= widest || bytes % widest || store.getAlign() < widest ||
        isPrivate(address) || !StoredValue::canCompare(store))
      return reportWhole(builder, address, stored, /*isWrite=*/true);
    StoredValue value(builder, store);
    for (uint64_t done = 0; done < bytes; done += widest)
      value.report(builder, done, widest);
  }

  void reportWhole(IRBuilderBase &builder, Value *address, Type *accessed,
                   bool isWrite) {
    uint64_t bytes = layout.getTypeStoreSize(accessed);
    if ((bytes <= 16 && isPowerOf2_64(bytes)) || isPrivate(address))
      return;
    reportBytes(builder, address, bytes, isWrite);
  }

  /// `address` is the address of the first lane, or a vector of addresses.
  /// Packed lanes do not have gaps for masked lanes.
  void reportLanes(IRBuilderBase &builder, Value *address, Type *accessed,
                   Value *mask, bool isPacked, bool isWrite) {
    bool isIndexed = address->getType()->isVectorTy();
    if (!isIndexed && isPrivate(address))
      return;
    auto *vector = cast<FixedVectorType>(accessed);
    uint64_t bytes = layout.getTypeStoreSize(vector->getElementType());
    Value *next = address;
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      Value *isActive = builder.CreateExtractElement(mask, lane);
      Value *at = isIndexed  ? builder.CreateExtractElement(address, lane)
                  : isPacked ? next
                             : builder.CreateConstGEP1_64(
                                   builder.getInt8Ty(), address, lane * bytes);
      if (isPacked)
        next = builder.CreateSelect(
            isActive,
            builder.CreateConstGEP1_64(builder.getInt8Ty(), next, bytes), next);
      reportBytes(builder,
                  builder.CreateSelect(isActive, at, getUnused(builder, bytes)),
                  bytes, isWrite);
    }
  }

  /// Memory of the thread, which lanes that are not active access instead.
  Value *getUnused(IRBuilderBase &builder, uint64_t bytes) {
    Type *type =
        ArrayType::get(builder.getInt8Ty(), std::max<uint64_t>(16, bytes));
    if (!unused ||
        layout.getTypeStoreSize(unused->getAllocatedType()) < bytes) {
      BasicBlock &entry =
          builder.GetInsertBlock()->getParent()->getEntryBlock();
      unused = IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
    }
    return unused;
  }

  const DataLayout &layout;
  LLVMContext &context;
  /// Of reads and of writes, by the logarithm of their size.
  SmallVector<FunctionCallee> functions[2];
  AllocaInst *unused = nullptr;
};

/// Replaces the sanitizer's calls for stores of 1 to 16 bytes by `StoredValue`.
struct StoredValues : PassInfoMixin<StoredValues> {
  static PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    for (Instruction &at : make_early_inc_range(instructions(function)))
      if (auto *store = dyn_cast<StoreInst>(&at))
        replaceCall(*store);
    return PreservedAnalyses::none();
  }

private:
  static void replaceCall(StoreInst &store) {
    auto *call = dyn_cast_or_null<CallInst>(store.getPrevNode());
    Function *callee = call ? call->getCalledFunction() : nullptr;
    uint64_t bytes = store.getDataLayout().getTypeStoreSize(
        store.getValueOperand()->getType());
    if (!callee || !StoredValue::canCompare(store) ||
        callee->getName() != ("__tsan_write" + Twine(bytes)).str() ||
        call->getArgOperand(0) != store.getPointerOperand())
      return;
    IRBuilder<> builder(call);
    StoredValue(builder, store).report(builder, 0, bytes);
    call->eraseFromParent();
  }
};

static void addSanitizer(Module &module, Sanitizer sanitizer,
                         ModulePassManager &passes) {
  if (sanitizer == Sanitizer::None)
    return;
  bool isAddress = sanitizer == Sanitizer::Address;
  std::optional<UninstrumentedAccesses> odd;
  if (!isAddress)
    odd.emplace(module);
  for (Function &function : module) {
    if (function.isDeclaration() ||
        function.getName().starts_with("smalti_emu_"))
      continue;
    function.addFnAttr(isAddress ? Attribute::SanitizeAddress
                                 : Attribute::SanitizeThread);
    if (isAddress)
      continue;
    expandAtomics(function);
    odd->run(function);
  }
  for (GlobalVariable &global : module.globals()) {
    GlobalValue::SanitizerMetadata none;
    none.NoAddress = true;
    global.setSanitizerMetadata(none);
  }
  if (!isAddress) {
    passes.addPass(ModuleThreadSanitizerPass());
    passes.addPass(createModuleToFunctionPassAdaptor(ThreadSanitizerPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(StoredValues()));
    return;
  }
  AddressSanitizerOptions options;
  options.Recover = true;
  options.UseAfterReturn = AsanDetectStackUseAfterReturnMode::Never;
  passes.addPass(AddressSanitizerPass(options, true, true, AsanDtorKind::None,
                                      AsanCtorKind::None));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static OptimizationLevel levelOf(unsigned optimization) {
  switch (optimization) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

Error optimizeAndEmit(Module &module, TargetMachine &machine,
                      const HostOptions &options, std::string &code) {
  for (Function &function : module) {
    function.removeFnAttr(kernelAttribute);
    if (function.isDeclaration())
      continue;
    // No estimates of the host's in place of the device's.
    function.addFnAttr("reciprocal-estimates", "none");
    // Findings walk the stack for their location.
    function.setUWTableKind(UWTableKind::Async);
    if (options.sanitizer != Sanitizer::None)
      function.addFnAttr("frame-pointer", "all");
  }
  PipelineTuningOptions tuning;
  // Kernels are unrolled as far as they should be.
  tuning.LoopUnrolling = false;
  PassRun run(&machine, tuning);
  ModulePassManager passes;
  addSanitizer(module, options.sanitizer, passes);
  OptimizationLevel level = levelOf(options.optimization);
  passes.addPass(level == OptimizationLevel::O0
                     ? run.builder.buildO0DefaultPipeline(level)
                     : run.builder.buildPerModuleDefaultPipeline(level));
  passes.run(module, run.modules);
  if (options.asText) {
    raw_string_ostream stream(code);
    module.print(stream, nullptr);
    return Error::success();
  }
  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager emission;
  if (machine.addPassesToEmitFile(emission, stream, nullptr,
                                  CodeGenFileType::ObjectFile))
    return refuse("LLVM cannot write object files for the host");
  emission.run(module);
  code.assign(object.begin(), object.end());
  return Error::success();
}

} // namespace smalti::emulator
