//===- Layouts.h - The layout algebra in Python ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_LAYOUTS_H
#define SMALTI_PYTHON_BINDINGS_LAYOUTS_H

#include <nanobind/nanobind.h>

namespace smalti::python {

/// Adds the classes and functions of the layout algebra to the extension.
void bindLayouts(nanobind::module_ &m);

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_LAYOUTS_H
