//===- AssemblerCAPI.h - LLVM's assembler through C -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_ASSEMBLERCAPI_H
#define SMALTI_PYTHON_BINDINGS_ASSEMBLERCAPI_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Assembles the text of an AMD kernel to a relocatable object file, as
/// `llvm-mc -filetype=obj` does. Calls `onObject`, or returns false after
/// `onError` with the messages of the assembler. Locations are in the file
/// `kernel.s`.
MLIR_CAPI_EXPORTED bool
smaltiAssembleGcn(MlirStringRef assembly, MlirStringRef triple,
                  MlirStringRef chip, MlirStringRef features,
                  MlirStringCallback onObject, void *object,
                  MlirStringCallback onError, void *problem);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_ASSEMBLERCAPI_H
