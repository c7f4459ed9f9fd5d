//===- EmulatorCAPI.h - The emulator's rewriter through C -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H
#define SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Compiles a device module, bitcode or text of LLVM IR, to an object file of
/// the host. Calls `onCode` and `onDescription`, or returns false after
/// `onError` with `{"message", "location": [file, line, column]}`; the location
/// can be null. `options` is a JSON object with optional members:
///
/// - `chip`
/// - `name`: the file of locations in a text without line tables
/// - `sanitizer`: "none", "address" or "thread"
/// - `processor` of the host, in LLVM's spelling; by default this one
/// - `libraries`: files of bitcode
/// - `optimization`: 0 to 3
/// - `format`: "object", or "text" for the host's LLVM IR
MLIR_CAPI_EXPORTED bool
smaltiRewriteForHost(MlirStringRef deviceModule, MlirStringRef options,
                     MlirStringCallback onCode, void *code,
                     MlirStringCallback onDescription, void *description,
                     MlirStringCallback onError, void *problem);

/// Inline assembly of NVIDIA as its statements. Calls `onStatements` with a
/// JSON array of `{"text", "opcode", "operands", "guard"}`, in which an absent
/// guard is null, or returns false after `onError` with a message. An operand
/// is `{"kind", "value", "name", "negated", "parts"}`; see
/// emulator/Rewrite/AssemblyText.h.
MLIR_CAPI_EXPORTED bool smaltiParseAssembly(MlirStringRef text,
                                            MlirStringCallback onStatements,
                                            void *statements,
                                            MlirStringCallback onError,
                                            void *problem);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H
