//===- SmaltiCAPI.h - Smalti's C API --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of Smalti for the Python extension, in addition to MLIR's own C
// API. The shared library libSmaltiCAPI contains both.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PYTHON_BINDINGS_SMALTICAPI_H
#define SMALTI_PYTHON_BINDINGS_SMALTICAPI_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers every upstream dialect, extension and translation, and Smalti's
/// dialects.
MLIR_CAPI_EXPORTED void smaltiRegisterDialects(MlirDialectRegistry registry);

/// Registers every upstream pass and pipeline, and Smalti's. Later calls do
/// nothing.
MLIR_CAPI_EXPORTED void smaltiRegisterPasses(void);

/// Whether a pass or a pipeline of this name is registered.
MLIR_CAPI_EXPORTED bool smaltiIsPassRegistered(MlirStringRef argument);

/// The error message for text that is nested too deeply for MLIR's parser;
/// empty for other text.
MLIR_CAPI_EXPORTED void smaltiCheckNesting(MlirStringRef text,
                                           MlirStringCallback callback,
                                           void *userData);

/// The chip table as a JSON array.
MLIR_CAPI_EXPORTED void smaltiTargetsToJSON(MlirStringCallback callback,
                                            void *userData);

/// The table of legal ops of tile-level kernels as a JSON object.
MLIR_CAPI_EXPORTED void smaltiOpTableToJSON(MlirStringCallback callback,
                                            void *userData);

/// Receives an op that is refused, and the reason.
typedef void (*SmaltiRefusalCallback)(MlirOperation op, MlirStringRef message,
                                      void *userData);

/// Calls `callback` for each op of a triton_xla.entry_func that is not legal on
/// the target, or, if the name is empty, on any target. `sim:CHIP` is the
/// simulator. False if `entry` is another op, or the target does not exist.
MLIR_CAPI_EXPORTED bool smaltiForEachRefusal(MlirOperation entry,
                                             MlirStringRef target,
                                             SmaltiRefusalCallback callback,
                                             void *userData);

/// The type of a strided memref argument of a kernel as launches see it; see
/// getArgumentType of passes/Support/DynamicArguments.h. Null if the type is
/// not a strided memref.
MLIR_CAPI_EXPORTED MlirType smaltiGetArgumentType(MlirType type);

/// Receives a buffer in shared memory. `name` is the printed name of its value.
/// The offset is -1 if the size is unknown.
typedef void (*SmaltiSharedBufferCallback)(MlirValue buffer, MlirStringRef name,
                                           int64_t offset, int64_t bytes,
                                           void *userData);

/// Calls `callback` for each buffer in shared memory of a function; see
/// placeSharedMemory of passes/Analysis/Resources/ResourceEstimate.h. Sets the
/// total bytes, and those that the compiler places.
MLIR_CAPI_EXPORTED void
smaltiForEachSharedBuffer(MlirOperation function,
                          SmaltiSharedBufferCallback callback, void *userData,
                          int64_t *bytes, int64_t *placedBytes);

/// The version of the LLVM that is loaded, as in "22.1.8".
MLIR_CAPI_EXPORTED void smaltiLLVMVersion(MlirStringCallback callback,
                                          void *userData);

/// A library, LLVM IR as text or bitcode, as bitcode that can be linked to the
/// code of any chip of its vendor. If `numCalled` is not negative, only the
/// functions named by `called` are visible to other modules, and definitions
/// that they do not use are removed. Calls `onCode`, and `onDescription` with
/// the JSON object `{"triple", "functions", "missing"}`. `functions` has the
/// types of the visible functions by name, after their calling convention (`cc
/// 91 void (ptr)`) if a kernel cannot call them. `missing` has the names of the
/// functions and variables that the library uses and does not define. Returns
/// false after `onError` with a message if the library is invalid.
MLIR_CAPI_EXPORTED bool smaltiPrepareLibrary(
    MlirStringRef input, intptr_t numCalled, MlirStringRef const *called,
    MlirStringCallback onCode, void *code, MlirStringCallback onDescription,
    void *description, MlirStringCallback onError, void *problem);

/// The keyword of an attribute that is an enumerator of upstream's dialects, as
/// `bfly` of `#nvvm<shfl_kind bfly>`; empty for other attributes. Upstream's
/// bindings have these attributes as text alone.
MLIR_CAPI_EXPORTED MlirStringRef
smaltiAttributeGetKeyword(MlirAttribute attribute);

/// The elements of a dense attribute as they are stored, one if all are equal:
/// upstream's bindings do not read elements of less than a byte, bf16, or 8-bit
/// floats. False if the attribute is not dense.
MLIR_CAPI_EXPORTED bool smaltiDenseElementsGetBytes(MlirAttribute attribute,
                                                    MlirStringCallback callback,
                                                    void *userData);

/// The remarks that passes have emitted on one context.
typedef struct SmaltiRemarks {
  void *ptr;
} SmaltiRemarks;

/// One remark; the strings live as long as the collection.
typedef struct SmaltiRemark {
  MlirStringRef kind;     ///< "passed", "missed", "failed" or "analysis"
  MlirStringRef category; ///< the pass
  MlirStringRef name;     ///< the subject of the remark
  MlirStringRef function; ///< empty outside of functions
  MlirStringRef message;
  MlirStringRef location; ///< as MLIR prints it
  MlirStringRef file;     ///< empty if the location has no file
  unsigned line;          ///< 0 where the location names no file
  unsigned column;
  intptr_t numArguments;
} SmaltiRemark;

/// Starts to collect the remarks whose category matches the regular expression
/// `filter`, in place of the context's remark engine. Null, and a message to
/// `onError`, where the expression is not one.
MLIR_CAPI_EXPORTED SmaltiRemarks smaltiRemarksAttach(MlirContext context,
                                                     MlirStringRef filter,
                                                     MlirStringCallback onError,
                                                     void *userData);

/// Takes the remark engine off the context where it is still this collection's;
/// what was collected stays. The context must be alive.
MLIR_CAPI_EXPORTED void smaltiRemarksDetach(SmaltiRemarks remarks,
                                            MlirContext context);

MLIR_CAPI_EXPORTED void smaltiRemarksDestroy(SmaltiRemarks remarks);
MLIR_CAPI_EXPORTED intptr_t smaltiRemarksSize(SmaltiRemarks remarks);
MLIR_CAPI_EXPORTED SmaltiRemark smaltiRemarksGet(SmaltiRemarks remarks,
                                                 intptr_t index);
MLIR_CAPI_EXPORTED void smaltiRemarksGetArgument(SmaltiRemarks remarks,
                                                 intptr_t index,
                                                 intptr_t argument,
                                                 MlirStringRef *key,
                                                 MlirStringRef *value);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_SMALTICAPI_H
