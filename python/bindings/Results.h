//===- Results.h - Results and reasons in Python ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_RESULTS_H
#define SMALTI_PYTHON_BINDINGS_RESULTS_H

#include "smalti/layouts/LayoutAlgebra.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>

namespace smalti::python {

/// Raises ValueError with the reason, if there is one.
inline void raiseIf(const std::optional<std::string> &reason) {
  if (reason)
    throw nanobind::value_error(reason->c_str());
}

/// The value, or ValueError with the reason for its absence.
template <typename T> T valueOrRaise(layout::ValueOr<T> result) {
  if (!result)
    throw nanobind::value_error(result.reason.c_str());
  return std::move(*result.value);
}

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_RESULTS_H
