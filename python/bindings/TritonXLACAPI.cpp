//===- TritonXLACAPI.cpp - C API of triton_xla's attributes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/TritonXLACAPI.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace smalti::triton_xla;

bool smaltiAttributeIsAScaleLayout(MlirAttribute attribute) {
  return isa<ScaleLayoutAttr>(unwrap(attribute));
}

MlirTypeID smaltiScaleLayoutAttrGetTypeID(void) {
  return wrap(ScaleLayoutAttr::getTypeID());
}

MlirAttribute smaltiScaleLayoutAttrGet(MlirContext context, uint32_t value) {
  std::optional<ScaleLayout> layout = symbolizeScaleLayout(value);
  if (!layout)
    return wrap(Attribute());
  unwrap(context)->loadDialect<TritonXLADialect>();
  return wrap(Attribute(ScaleLayoutAttr::get(unwrap(context), *layout)));
}

uint32_t smaltiScaleLayoutAttrGetValue(MlirAttribute attribute) {
  return static_cast<uint32_t>(
      cast<ScaleLayoutAttr>(unwrap(attribute)).getValue());
}
