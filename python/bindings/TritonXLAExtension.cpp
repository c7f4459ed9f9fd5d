//===- TritonXLAExtension.cpp - Attributes of triton_xla ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/TritonXLACAPI.h"

#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <string>

namespace nb = nanobind;
using namespace mlir::python::nanobind_adaptors;

NB_MODULE(_smaltiTritonXLA, m) {
  m.doc() = "The attributes of the dialect triton_xla.";

  mlir_attribute_subclass(m, "ScaleLayoutAttr", smaltiAttributeIsAScaleLayout,
                          smaltiScaleLayoutAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, uint32_t value, MlirContext context) {
            MlirAttribute attribute = smaltiScaleLayoutAttrGet(context, value);
            if (mlirAttributeIsNull(attribute))
              throw nb::value_error(
                  (std::to_string(value) +
                   " is not a number of the enumeration ScaleLayout")
                      .c_str());
            return cls(attribute);
          },
          nb::arg("cls"), nb::arg("value"), nb::arg("context") = nb::none(),
          nb::sig("def get(cls, value: smalti.dialects.triton_xla.ScaleLayout, "
                  "context: smalti.ir.Context | None = None) -> "
                  "ScaleLayoutAttr"),
          "The attribute of an order of scales.")
      .def_property_readonly(
          "value",
          [](MlirAttribute self) {
            return nb::module_::import_(
                       MAKE_MLIR_PYTHON_QUALNAME("dialects.triton_xla"))
                .attr("ScaleLayout")(smaltiScaleLayoutAttrGetValue(self));
          },
          nb::sig(
              "def value(self, /) -> smalti.dialects.triton_xla.ScaleLayout"),
          "The order of the scales.");
}
