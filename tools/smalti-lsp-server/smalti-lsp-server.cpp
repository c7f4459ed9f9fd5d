//===- smalti-lsp-server.cpp - MLIR language server with Smalti's dialects ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/tools/RegisterSmalti.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  smalti::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
