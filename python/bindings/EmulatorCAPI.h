//===- EmulatorCAPI.h - The emulator's rewriter through C -----------------===//

#ifndef SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H
#define SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a device module, bitcode or text of LLVM IR, an object file of the
/// host. `options` is a JSON object: `chip`, `name` (the file that places in a
/// text without line tables are said to be in), `sanitizer` ("none", "address"
/// or "thread"), `processor` (of the host, as LLVM calls it; this one without),
/// `libraries` (files of bitcode), `optimization` (0 to 3) and `format`
/// ("object", or "text" for the host's LLVM IR), all of them optional. Calls
/// `onCode` and `onDescription`, or returns false after `onError` with
/// `{"message", "location": [file, line, column]}`; the location can be null.
MLIR_CAPI_EXPORTED bool
smaltiRewriteForHost(MlirStringRef deviceModule, MlirStringRef options,
                     MlirStringCallback onCode, void *code,
                     MlirStringCallback onDescription, void *description,
                     MlirStringCallback onError, void *problem);

/// Inline assembly of NVIDIA as its statements: calls `onStatements` with a
/// JSON array of `{"text", "opcode", "operands", "guard"}`, the guard null
/// where there is none, or returns false after `onError` with a message. An
/// operand is `{"kind", "value", "name", "negated", "parts"}`; see
/// emulator/Rewrite/AssemblyText.h.
MLIR_CAPI_EXPORTED bool smaltiParseAssembly(MlirStringRef text,
                                            MlirStringCallback onStatements,
                                            void *statements,
                                            MlirStringCallback onError,
                                            void *problem);

/// What the object file depends on beside its module: the host's triple,
/// processor and features.
MLIR_CAPI_EXPORTED void smaltiHostProcessor(MlirStringCallback callback,
                                            void *userData);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_EMULATORCAPI_H
