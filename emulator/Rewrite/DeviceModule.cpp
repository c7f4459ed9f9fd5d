//===- DeviceModule.cpp - Reads and completes a device module -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/PassRun.h"
#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace smalti::emulator {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Keeps the first error that LLVM reports on a context.
namespace {
struct KeepErrors : DiagnosticHandler {
  explicit KeepErrors(std::string &text) : text(text) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() == DS_Error && text.empty()) {
      raw_string_ostream stream(text);
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  std::string &text;
};
} // namespace

/// Gives functions without line tables the lines of the text itself.
static void locateInText(Module &module, const AsmParserContext &locations,
                         StringRef name) {
  DIBuilder builder(module);
  DIFile *file = builder.createFile(name, "");
  DICompileUnit *unit = nullptr;
  for (Function &function : module) {
    std::optional<FileLocRange> begin =
        locations.getFunctionLocation(&function);
    if (function.isDeclaration() || function.getSubprogram() || !begin)
      continue;
    if (!unit)
      unit = builder.createCompileUnit(dwarf::DW_LANG_C, file, "",
                                       /*isOptimized=*/true, "", 0, "",
                                       DICompileUnit::LineTablesOnly);
    unsigned line = begin->Start.Line + 1;
    DISubprogram *program = builder.createFunction(
        file, function.getName(), "", file, line,
        builder.createSubroutineType(builder.getOrCreateTypeArray({})), line,
        DINode::FlagZero,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
    function.setSubprogram(program);
    for (Instruction &instruction : instructions(function)) {
      FileLoc at = begin->Start;
      if (auto range = locations.getInstructionLocation(&instruction))
        at = range->Start;
      instruction.setDebugLoc(DILocation::get(module.getContext(), at.Line + 1,
                                              at.Col + 1, program));
    }
  }
  if (!unit)
    return;
  builder.finalize();
  if (!module.getModuleFlag("Debug Info Version"))
    module.addModuleFlag(Module::Warning, "Debug Info Version",
                         DEBUG_METADATA_VERSION);
}

Expected<std::unique_ptr<Module>>
parseDeviceModule(StringRef input, StringRef name, LLVMContext &context) {
  auto buffer = MemoryBuffer::getMemBuffer(input, "kernel", false);
  // Text requires a null terminator.
  bool isText =
      !isBitcode(reinterpret_cast<const unsigned char *>(input.begin()),
                 reinterpret_cast<const unsigned char *>(input.end()));
  if (isText)
    buffer = MemoryBuffer::getMemBufferCopy(input, "kernel");
  std::string problem;
  context.setDiagnosticHandler(std::make_unique<KeepErrors>(problem));
  SMDiagnostic diagnostic;
  // Alignments that are not written follow from the data layout.
  ParserCallbacks callbacks(
      [](StringRef triple, StringRef layout) -> std::optional<std::string> {
        if (!layout.empty())
          return std::nullopt;
        return Triple(triple).computeDataLayout();
      });
  AsmParserContext locations;
  std::unique_ptr<Module> module =
      parseIR(*buffer, diagnostic, context, callbacks, &locations);
  if (!module) {
    auto refusal = std::make_unique<Refusal>(
        "the module is not LLVM IR (text or bitcode) that "
        "LLVM " LLVM_VERSION_STRING " can read: " +
        (problem.empty() ? diagnostic.getMessage().str() : problem));
    if (isText && diagnostic.getLineNo() > 0) {
      refusal->file = name.str();
      refusal->line = diagnostic.getLineNo();
      refusal->column = diagnostic.getColumnNo() + 1;
    }
    return Error(std::move(refusal));
  }
  // The handler's text ends with this function.
  context.setDiagnosticHandler(std::make_unique<DiagnosticHandler>());
  // Line tables suffice for source locations.
  stripNonLineTableDebugInfo(*module);
  if (isText)
    locateInText(*module, locations, name);
  return module;
}

Expected<Vendor> vendorOf(const Module &module) {
  const Triple &triple = module.getTargetTriple();
  if (triple.isNVPTX())
    return Vendor::NVIDIA;
  if (triple.isAMDGCN())
    return Vendor::AMD;
  return refuse("the module's target triple is '" + triple.str() +
                "'; it must be an NVPTX or AMDGCN triple");
}

bool isKernel(const Function &function) {
  CallingConv::ID convention = function.getCallingConv();
  return !function.isDeclaration() &&
         (convention == CallingConv::PTX_Kernel ||
          convention == CallingConv::AMDGPU_KERNEL ||
          convention == CallingConv::SPIR_KERNEL);
}

/// LLVM's own intrinsics that end or time a thread: the emulator's matter.
static bool isGenericInstruction(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"llvm.trap", "llvm.debugtrap", "llvm.ubsantrap"}, true)
      .Cases({"llvm.readcyclecounter", "llvm.readsteadycounter"}, true)
      .Default(false);
}

bool isInstruction(const Function &function) {
  if (!function.isDeclaration())
    return false;
  StringRef name = function.getName();
  if (!name.starts_with("llvm."))
    return true;
  return name.starts_with("llvm.nvvm.") || name.starts_with("llvm.amdgcn.") ||
         name.starts_with("llvm.r600.") || isGenericInstruction(name);
}

//===----------------------------------------------------------------------===//
// Completing
//===----------------------------------------------------------------------===//

/// Functions of ROCm's ockl that call the host: the emulator's table has them.
static bool isHostCall(const Function &function) {
  return function.getName().contains("__ockl_printf_");
}

static Error linkLibraries(Module &module, ArrayRef<std::string> libraries) {
  std::string problem;
  for (const std::string &path : libraries) {
    bool isComplete = none_of(module.functions(),
                              [](Function &function) {
                                return function.isDeclaration() &&
                                       !isHostCall(function) &&
                                       !function.getName().starts_with("llvm.");
                              }) &&
                      none_of(module.globals(), [](GlobalVariable &global) {
                        return global.isDeclaration() &&
                               global.getAddressSpace() != sharedSpace;
                      });
    if (isComplete)
      break;
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> library =
        parseIRFile(path, diagnostic, module.getContext());
    if (!library)
      return refuse("the library " + path +
                    " cannot be read: " + diagnostic.getMessage());
    stripNonLineTableDebugInfo(*library);
    for (Function &function : *library)
      if (isHostCall(function))
        function.deleteBody();
    // Libraries are built for a family of chips and have less specific layouts
    // and triples.
    library->setDataLayout(module.getDataLayout());
    library->setTargetTriple(module.getTargetTriple());
    module.getContext().setDiagnosticHandler(
        std::make_unique<KeepErrors>(problem));
    bool failed = Linker::linkModules(module, std::move(library),
                                      Linker::Flags::LinkOnlyNeeded);
    module.getContext().setDiagnosticHandler(
        std::make_unique<DiagnosticHandler>());
    if (failed)
      return refuse("linking " + Twine(path) + " failed: " + problem);
  }
  return Error::success();
}

int cudaArchitecture(const Module &module, StringRef chip) {
  for (const Function &function : module)
    if (chip.empty() && isKernel(function))
      chip = function.getFnAttribute("target-cpu").getValueAsString();
  int number = 0;
  if (chip.consume_front("sm_") && !chip.consumeInteger(10, number))
    return number * 10;
  return 0;
}

/// The string that a call's operand points to.
static std::optional<StringRef> stringOperand(const Value *operand) {
  const auto *global = dyn_cast<GlobalVariable>(operand->stripPointerCasts());
  if (!global || !global->hasInitializer())
    return std::nullopt;
  const auto *text = dyn_cast<ConstantDataSequential>(global->getInitializer());
  if (!text || !text->isString())
    return std::nullopt;
  return text->getAsString().split('\0').first;
}

/// Answers what libdevice asks of its compiler.
static Error resolveReflect(Module &module, StringRef chip) {
  SmallVector<CallBase *> calls;
  for (Function &function : module)
    if (function.getName() == "__nvvm_reflect" ||
        function.getName() == "__nvvm_reflect_ocl" ||
        function.getName().starts_with("llvm.nvvm.reflect"))
      for (User *user : function.users())
        if (auto *call = dyn_cast<CallBase>(user))
          calls.push_back(call);
  for (CallBase *call : calls) {
    std::optional<StringRef> asked = stringOperand(call->getArgOperand(0));
    if (!asked)
      return refuse(*call,
                    "the argument of __nvvm_reflect must be a constant string, "
                    "such as \"__CUDA_FTZ\"");
    uint64_t answer = 0;
    if (*asked == "__CUDA_ARCH")
      answer = cudaArchitecture(module, chip);
    else if (*asked == "__CUDA_FTZ")
      if (auto *flag = mdconst::extract_or_null<ConstantInt>(
              module.getModuleFlag("nvvm-reflect-ftz")))
        answer = flag->getZExtValue();
    call->replaceAllUsesWith(ConstantInt::get(call->getType(), answer));
    call->eraseFromParent();
  }
  return Error::success();
}

/// The variable with which AMD's libraries distinguish chips: 9010 for
/// "gfx90a". Only older libraries have a file that defines it for each chip.
static void defineISAVersion(Module &module, StringRef chip) {
  GlobalVariable *version = module.getGlobalVariable("__oclc_ISA_version");
  unsigned major, minor, stepping;
  if (!version || !version->isDeclaration() || !chip.consume_front("gfx") ||
      chip.take_back(1).getAsInteger(16, stepping) ||
      chip.drop_back(1).take_back(1).getAsInteger(16, minor) ||
      chip.drop_back(2).getAsInteger(10, major))
    return;
  version->setInitializer(ConstantInt::get(
      version->getValueType(), 1000 * major + 100 * minor + stepping));
  version->setConstant(true);
}

static Error checkNoConstructors(Module &module) {
  for (StringRef name : {"llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *list = module.getGlobalVariable(name))
      if (list->hasInitializer() && !list->getInitializer()->isNullValue())
        return refuse("global constructors and destructors (" + name +
                      ") are not emulated; initialize variables in the kernel");
  return Error::success();
}

static void resolveAliases(Module &module) {
  for (GlobalAlias &alias : make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
}

static void dropUnreached(Module &module) {
  for (StringRef name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                         "llvm.global_dtors"})
    if (GlobalVariable *list = module.getGlobalVariable(name))
      list->eraseFromParent();
  for (GlobalObject &object : module.global_objects()) {
    object.setComdat(nullptr);
    auto *function = dyn_cast<Function>(&object);
    if (object.isDeclaration() || (function && isKernel(*function)))
      continue;
    object.setLinkage(GlobalValue::InternalLinkage);
    object.setVisibility(GlobalValue::DefaultVisibility);
  }
  PassRun run;
  GlobalDCEPass().run(module, run.modules);
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}

Error completeDeviceModule(Module &module, Vendor vendor,
                           const HostOptions &options) {
  if (none_of(module.functions(), isKernel))
    return refuse("the module does not contain a kernel; mark one with the "
                  "calling convention ptx_kernel or amdgpu_kernel");
  if (!module.getModuleInlineAsm().empty())
    return refuse("inline assembly outside of functions is not emulated; move "
                  "it into a function");
  if (!module.ifunc_empty())
    return refuse("the ifunc symbol @" + module.ifunc_begin()->getName() +
                  " is not emulated; call a function directly");
  resolveAliases(module);
  if (Error error = linkLibraries(module, options.libraries))
    return error;
  resolveAliases(module);
  if (vendor == Vendor::AMD)
    defineISAVersion(module, options.chip);
  if (vendor == Vendor::NVIDIA)
    if (Error error = resolveReflect(module, options.chip))
      return error;
  if (Error error = checkNoConstructors(module))
    return error;
  dropUnreached(module);
  for (const GlobalVariable &global : module.globals())
    if (global.isDeclaration() && global.getAddressSpace() != sharedSpace)
      return refuse("the variable @" + global.getName() +
                    " is not defined in the module; link the module that "
                    "defines it");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Buffer pointers
//===----------------------------------------------------------------------===//

static bool usesSpace(const Type *type, unsigned space) {
  if (const auto *pointer = dyn_cast<PointerType>(type))
    return pointer->getAddressSpace() == space;
  return any_of(type->subtypes(),
                [&](const Type *part) { return usesSpace(part, space); });
}

static bool usesBufferPointers(const Module &module) {
  for (unsigned space : {bufferFatSpace, bufferStridedSpace})
    for (const Function &function : module) {
      if (usesSpace(function.getFunctionType(), space))
        return true;
      for (const Instruction &at : instructions(function)) {
        if (usesSpace(at.getType(), space))
          return true;
        for (const Value *operand : at.operands())
          if (usesSpace(operand->getType(), space))
            return true;
      }
    }
  return false;
}

/// The lowering recreates functions together with their debug information.
static void listCompileUnits(Module &module) {
  DebugInfoFinder finder;
  finder.processModule(module);
  if (finder.compile_unit_count() == 0)
    return;
  NamedMDNode *list = module.getOrInsertNamedMetadata("llvm.dbg.cu");
  for (DICompileUnit *unit : finder.compile_units())
    if (!is_contained(list->operands(), unit))
      list->addOperand(unit);
}

Error lowerBufferPointers(Module &module, const HostOptions &options) {
  if (!usesBufferPointers(module))
    return Error::success();
  static bool initialized = [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    return true;
  }();
  (void)initialized;
  std::string problem;
  const Target *target =
      TargetRegistry::lookupTarget(module.getTargetTriple(), problem);
  if (!target)
    return refuse("the module uses buffer pointers (addrspace(7)), whose "
                  "lowering requires the AMDGPU target of LLVM; install an "
                  "LLVM 22 with this target: " +
                  problem);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(module.getTargetTriple(), options.chip, "",
                                  TargetOptions(), std::nullopt));
  if (!machine)
    return refuse("the module uses buffer pointers (addrspace(7)), whose "
                  "lowering requires the AMDGPU target of LLVM; install an "
                  "LLVM 22 with this target");
  PassRun run(machine.get());
  ModulePassManager passes;
  if (Error error = run.builder.parsePassPipeline(
          passes, "amdgpu-lower-buffer-fat-pointers"))
    return error;
  std::string said;
  module.getContext().setDiagnosticHandler(std::make_unique<KeepErrors>(said));
  passes.run(module, run.modules);
  module.getContext().setDiagnosticHandler(
      std::make_unique<DiagnosticHandler>());
  if (!said.empty())
    return refuse("lowering of buffer pointers failed: " + said);
  listCompileUnits(module);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Attributes and inlining
//===----------------------------------------------------------------------===//

static AttributeMask deviceAttributes() {
  AttributeMask mask;
  // An instruction becomes a call that may do anything.
  for (Attribute::AttrKind kind : {Attribute::Memory,
                                   Attribute::NoSync,
                                   Attribute::NoFree,
                                   Attribute::WillReturn,
                                   Attribute::Speculatable,
                                   Attribute::NoInline,
                                   Attribute::OptimizeNone,
                                   Attribute::ReadNone,
                                   Attribute::ReadOnly,
                                   Attribute::WriteOnly,
                                   Attribute::Captures,
                                   Attribute::Initializes,
                                   Attribute::NoCallback,
                                   Attribute::NoReturn,
                                   Attribute::NoRecurse,
                                   Attribute::InReg,
                                   Attribute::MustProgress,
                                   Attribute::Preallocated,
                                   Attribute::SanitizeAddress,
                                   Attribute::SanitizeThread,
                                   Attribute::StackProtect,
                                   Attribute::StackProtectReq,
                                   Attribute::StackProtectStrong,
                                   Attribute::NullPointerIsValid})
    mask.addAttribute(kind);
  return mask;
}

static AttributeList withoutStrings(LLVMContext &context, AttributeList list,
                                    const AttributeMask &mask) {
  for (unsigned index : list.indexes()) {
    AttributeMask dropped;
    for (Attribute attribute : list.getAttributes(index))
      if (attribute.isStringAttribute() &&
          !attribute.hasAttribute(gridConstant) &&
          !attribute.hasAttribute(clusterAttribute))
        dropped.addAttribute(attribute.getKindAsString());
    list = list.removeAttributesAtIndex(context, index, mask)
               .removeAttributesAtIndex(context, index, dropped);
  }
  return list;
}

static void dropDeviceAttributes(Module &module) {
  AttributeMask mask = deviceAttributes();
  LLVMContext &context = module.getContext();
  for (Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.setAttributes(
        withoutStrings(context, function.getAttributes(), mask));
    function.clearGC();
    function.setDoesNotThrow();
    function.setSection("");
    for (Instruction &at : instructions(function)) {
      at.dropUnknownNonDebugMetadata(
          {LLVMContext::MD_range, LLVMContext::MD_nonnull,
           LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
           LLVMContext::MD_invariant_load, LLVMContext::MD_tbaa,
           LLVMContext::MD_prof});
      if (auto *call = dyn_cast<CallBase>(&at))
        call->setAttributes(
            withoutStrings(context, call->getAttributes(), mask));
    }
  }
}

/// Functions with instructions, their callers too.
static SetVector<Function *> functionsWithInstructions(Module &module) {
  SetVector<Function *> found;
  SmallVector<Value *> work;
  for (Function &function : module) {
    if (isInstruction(function))
      work.push_back(&function);
    for (Instruction &at : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&at))
        if (call->isInlineAsm() && found.insert(&function))
          work.push_back(&function);
  }
  while (!work.empty())
    for (User *user : work.pop_back_val()->users())
      if (auto *call = dyn_cast<CallBase>(user))
        if (found.insert(call->getFunction()))
          work.push_back(call->getFunction());
  return found;
}

static bool callsItself(Function &function) {
  SetVector<Function *> reached;
  reached.insert(&function);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (Instruction &at : instructions(*reached[i]))
      if (auto *call = dyn_cast<CallBase>(&at)) {
        Function *callee = call->getCalledFunction();
        if (callee == &function)
          return true;
        if (callee && !callee->isDeclaration())
          reached.insert(callee);
      }
  return false;
}

/// Convergence tokens are about code of a wave; the emulator has threads.
static void dropConvergenceTokens(Module &module) {
  for (Function &function : module)
    for (Instruction &at : make_early_inc_range(instructions(function)))
      if (auto *call = dyn_cast<CallBase>(&at)) {
        if (!call->getOperandBundle(LLVMContext::OB_convergencectrl))
          continue;
        CallBase *plain = CallBase::removeOperandBundle(
            call, LLVMContext::OB_convergencectrl, call->getIterator());
        plain->takeName(call);
        plain->copyMetadata(*call);
        call->replaceAllUsesWith(plain);
        call->eraseFromParent();
      }
  for (Function &function : make_early_inc_range(module)) {
    if (!function.getName().starts_with("llvm.experimental.convergence."))
      continue;
    for (User *user : make_early_inc_range(function.users()))
      cast<Instruction>(user)->eraseFromParent();
    function.eraseFromParent();
  }
}

void inlineInstructions(Module &module) {
  dropConvergenceTokens(module);
  dropDeviceAttributes(module);
  for (Function *function : functionsWithInstructions(module))
    if (!isKernel(*function) && !callsItself(*function))
      function->addFnAttr(Attribute::AlwaysInline);
  PassRun run;
  AlwaysInlinerPass(/*InsertLifetime=*/false).run(module, run.modules);
}

} // namespace smalti::emulator
