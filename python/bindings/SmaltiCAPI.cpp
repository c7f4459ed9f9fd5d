//===- SmaltiCAPI.cpp - Smalti's C API ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/SmaltiCAPI.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/emulator/Rewrite/PassRun.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Legality/Nesting.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/ValueNames.h"
#include "smalti/targets/Target.h"
#include "smalti/tools/RegisterSmalti.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

void smaltiRegisterDialects(MlirDialectRegistry registry) {
  mlir::DialectRegistry &target = *unwrap(registry);
  mlir::registerAllDialects(target);
  mlir::registerAllExtensions(target);
  mlir::registerAllToLLVMIRTranslations(target);
  smalti::registerDialects(target);
}

void smaltiRegisterPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerAllPasses();
    smalti::registerPasses();
  });
}

bool smaltiIsPassRegistered(MlirStringRef argument) {
  llvm::StringRef name = unwrap(argument);
  return mlir::PassInfo::lookup(name) || mlir::PassPipelineInfo::lookup(name);
}

void smaltiCheckNesting(MlirStringRef text, MlirStringCallback callback,
                        void *userData) {
  if (std::optional<std::string> problem = smalti::checkNesting(unwrap(text)))
    callback(wrap(llvm::StringRef(*problem)), userData);
}

void smaltiTargetsToJSON(MlirStringCallback callback, void *userData) {
  std::string json = smalti::targets::toJSON();
  callback(wrap(llvm::StringRef(json)), userData);
}

void smaltiOpTableToJSON(MlirStringCallback callback, void *userData) {
  std::string json = smalti::opTableToJSON();
  callback(wrap(llvm::StringRef(json)), userData);
}

MlirType smaltiGetArgumentType(MlirType type) {
  auto memref = llvm::dyn_cast<mlir::MemRefType>(unwrap(type));
  return memref && memref.isStrided() ? wrap(smalti::getArgumentType(memref))
                                      : MlirType{nullptr};
}

bool smaltiForEachRefusal(MlirOperation entry, MlirStringRef target,
                          SmaltiRefusalCallback callback, void *userData) {
  auto func = llvm::dyn_cast<smalti::triton_xla::EntryFuncOp>(unwrap(entry));
  llvm::StringRef name = unwrap(target);
  bool isSimulated = name.consume_front("sim:");
  const smalti::targets::Target *chip = smalti::targets::lookup(name);
  if (!func || (!chip && !name.empty()))
    return false;
  smalti::forEachRefusal(func, chip, isSimulated,
                         [&](mlir::Operation *op, const std::string &message) {
                           callback(wrap(op), wrap(llvm::StringRef(message)),
                                    userData);
                         });
  return true;
}

/// Makes the definitions of a library internal but the called functions, so
/// that they do not replace or clash with those of other modules, and removes
/// the unused ones.
static void keepCalled(llvm::Module &module, const llvm::StringSet<> &called) {
  // Lists of definitions that must stay visible.
  for (llvm::StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *list = module.getNamedGlobal(name))
      list->eraseFromParent();
  for (llvm::Function &function : module)
    if (!function.isDeclarationForLinker() && !function.hasLocalLinkage() &&
        called.contains(function.getName())) {
      // The linker would drop or replace functions of other linkages.
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setComdat(nullptr);
    }
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return llvm::isa<llvm::Function>(value) && called.contains(value.getName());
  });
  smalti::emulator::PassRun run;
  llvm::GlobalDCEPass().run(module, run.modules);
}

/// Whether functions of the convention are called like those of C on GPUs.
/// Kernels are not called, and musttail calls need the others.
static bool isLikeC(llvm::CallingConv::ID convention) {
  return llvm::isCallableCC(convention) &&
         convention != llvm::CallingConv::PTX_Kernel &&
         convention != llvm::CallingConv::Tail &&
         convention != llvm::CallingConv::SwiftTail;
}

/// Gives all functions and calls of a library the convention of C, which the
/// calls of kernels have: a call with another convention than its function is
/// undefined behavior.
static void useConventionOfC(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (isLikeC(function.getCallingConv()))
      function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (isLikeC(call->getCallingConv()))
          call->setCallingConv(llvm::CallingConv::C);
  }
}

/// Removes `inreg`, since the calls of kernels pass arguments without it.
static void removeInReg(llvm::Function &function) {
  auto removeFrom = [&](auto &called) {
    called.removeRetAttr(llvm::Attribute::InReg);
    for (unsigned i = 0; i < function.arg_size(); ++i)
      called.removeParamAttr(i, llvm::Attribute::InReg);
  };
  removeFrom(function);
  for (llvm::User *user : function.users())
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(user))
      if (call->getCalledOperand() == &function)
        removeFrom(*call);
}

bool smaltiPrepareLibrary(MlirStringRef input, intptr_t numCalled,
                          MlirStringRef const *called,
                          MlirStringCallback onCode, void *code,
                          MlirStringCallback onDescription, void *description,
                          MlirStringCallback onError, void *problem) {
  llvm::LLVMContext context;
  // Text ends with a null.
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      llvm::MemoryBuffer::getMemBufferCopy(unwrap(input), "library");
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseIR(*buffer, diagnostic, context);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!module) {
    if (diagnostic.getLineNo() > 0)
      stream << "line " << diagnostic.getLineNo() << ": ";
    stream << diagnostic.getMessage();
  } else {
    llvm::verifyModule(*module, &stream);
  }
  if (!text.empty()) {
    onError(wrap(llvm::StringRef(text).rtrim()), problem);
    return false;
  }
  useConventionOfC(*module);
  if (numCalled >= 0) {
    llvm::StringSet<> names;
    for (MlirStringRef name : llvm::ArrayRef(called, numCalled))
      names.insert(unwrap(name));
    keepCalled(*module, names);
  }
  llvm::json::Object functions;
  llvm::json::Array missing;
  for (const llvm::GlobalValue &value : module->global_values())
    if (value.isDeclarationForLinker() && !value.use_empty() &&
        !value.getName().starts_with("llvm."))
      missing.push_back(value.getName());
  for (llvm::Function &function : *module) {
    // LLVM does not inline a function of another chip.
    for (llvm::StringRef name : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(name);
    if (function.hasLocalLinkage() || function.isDeclarationForLinker())
      continue;
    removeInReg(function);
    std::string type;
    llvm::raw_string_ostream typeStream(type);
    if (llvm::CallingConv::ID convention = function.getCallingConv())
      typeStream << "cc " << convention << " ";
    typeStream << *function.getFunctionType();
    functions[function.getName()] = type;
  }
  stream << llvm::json::Value(
      llvm::json::Object{{"triple", module->getTargetTriple().str()},
                         {"functions", std::move(functions)},
                         {"missing", std::move(missing)}});
  onDescription(wrap(llvm::StringRef(text)), description);
  std::string bitcode;
  llvm::raw_string_ostream bits(bitcode);
  llvm::WriteBitcodeToFile(*module, bits);
  onCode(wrap(llvm::StringRef(bitcode)), code);
  return true;
}

void smaltiForEachSharedBuffer(MlirOperation function,
                               SmaltiSharedBufferCallback callback,
                               void *userData, int64_t *bytes,
                               int64_t *placedBytes) {
  smalti::SharedMemory memory = smalti::placeSharedMemory(unwrap(function));
  smalti::ValueNames names(unwrap(function));
  auto report = [&](mlir::Value value, int64_t offset, int64_t size) {
    std::string name = names.get(value);
    callback(wrap(value), wrap(llvm::StringRef(name)), offset, size, userData);
  };
  for (const smalti::SharedBuffer &slice : memory.slices)
    report(slice.value, slice.offset, slice.bytes);
  for (const smalti::SharedBuffer &buffer : memory.buffers)
    report(buffer.value, buffer.offset, buffer.bytes);
  for (mlir::Value buffer : memory.unknown)
    report(buffer, /*offset=*/-1, /*size=*/0);
  *bytes = memory.bytes;
  *placedBytes = memory.placedBytes;
}

void smaltiLLVMVersion(MlirStringCallback callback, void *userData) {
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  std::string version = llvm::formatv("{0}.{1}.{2}", major, minor, patch);
  callback(wrap(llvm::StringRef(version)), userData);
}
