//===- SmaltiPlugin.cpp - Dialect and pass plugin for stock mlir-opt ------===//

#include "tools/RegisterSmalti.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "smalti", LLVM_VERSION_STRING, [](mlir::DialectRegistry *registry) {
            smalti::registerDialects(*registry);
            smalti::registerPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "smalti", LLVM_VERSION_STRING, [] { smalti::registerPasses(); }};
}
