//===- TritonXLACAPI.h - C API of triton_xla's attributes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_TRITONXLACAPI_H
#define SMALTI_PYTHON_BINDINGS_TRITONXLACAPI_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_CAPI_EXPORTED bool smaltiAttributeIsAScaleLayout(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID smaltiScaleLayoutAttrGetTypeID(void);
/// `value` is a number of the enumeration ScaleLayout. The attribute is null if
/// it is not.
MLIR_CAPI_EXPORTED MlirAttribute smaltiScaleLayoutAttrGet(MlirContext context,
                                                          uint32_t value);
MLIR_CAPI_EXPORTED uint32_t
smaltiScaleLayoutAttrGetValue(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif

#endif // SMALTI_PYTHON_BINDINGS_TRITONXLACAPI_H
