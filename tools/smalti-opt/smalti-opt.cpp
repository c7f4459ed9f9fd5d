//===- smalti-opt.cpp - mlir-opt with Smalti's dialects and passes --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Legality/Nesting.h"
#include "smalti/tools/RegisterSmalti.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

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

/// Runs the tool on a file. Upstream's parser would overflow the stack on text
/// that is nested too deeply.
static llvm::LogicalResult run(llvm::StringRef input, llvm::StringRef output,
                               mlir::DialectRegistry &registry,
                               const mlir::MlirOptMainConfig &config) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> source =
      mlir::openInputFile(input, &problem);
  if (source)
    problem = smalti::checkNesting(source->getBuffer()).value_or("");
  std::unique_ptr<llvm::ToolOutputFile> file;
  if (problem.empty())
    file = mlir::openOutputFile(output, &problem);
  if (!file) {
    llvm::WithColor::error() << problem << "\n";
    return llvm::failure();
  }
  if (llvm::failed(
          mlir::MlirOptMain(file->os(), std::move(source), registry, config)))
    return llvm::failure();
  file->keep();
  return llvm::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  setDefaults();
  mlir::registerAllPasses();
  smalti::registerPasses();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  smalti::registerDialects(registry);

  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Smalti optimizer driver\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  // Upstream lists dialects and passes without reading the file, and says that
  // it reads from a terminal.
  bool isUpstreams =
      config.shouldShowDialects() || config.shouldListPasses() ||
      (input == "-" && llvm::sys::Process::StandardInIsUserInput());
  return mlir::asMainReturnCode(
      isUpstreams ? mlir::MlirOptMain(argc, argv, input, output, registry)
                  : run(input, output, registry, config));
}
