//===- smalti-opt.cpp - mlir-opt with Smalti's dialects and passes --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/tools/RegisterSmalti.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"

static void setDefault(llvm::StringRef flag, bool value) {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(flag);
  if (option)
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(value);
}

/// Changes defaults of upstream's flags.
static void setDefaults() {
  mlir::registerMLIRContextCLOptions();
  // Diagnostics show the line of the source with a caret. The note with the
  // whole operation, which may be the module, is only printed on request.
  setDefault("mlir-print-op-on-diagnostic", false);
  // A thread of the pool that waits for nested passes may run a sibling of the
  // outer pass, and the order of diagnostics and remarks is then lost.
  setDefault("mlir-disable-threading", true);
}

int main(int argc, char **argv) {
  setDefaults();
  mlir::registerAllPasses();
  smalti::registerPasses();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  smalti::registerDialects(registry);

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Smalti optimizer driver\n", registry));
}
