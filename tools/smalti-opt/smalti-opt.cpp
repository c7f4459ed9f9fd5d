//===- smalti-opt.cpp - mlir-opt with Smalti's dialects and passes --------===//

#include "smalti/tools/RegisterSmalti.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"

/// Diagnostics show the line of the source with a caret. The note with the
/// whole operation, which may be the module, is printed only with
/// --mlir-print-op-on-diagnostic.
static void omitOperationsFromDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option)
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
}

int main(int argc, char **argv) {
  omitOperationsFromDiagnostics();
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
