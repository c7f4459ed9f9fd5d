//===- ThreadAccesses.h - Checks of the simulator's accesses --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_THREADACCESSES_H
#define SMALTI_PYTHON_BINDINGS_THREADACCESSES_H

#include <nanobind/nanobind.h>

namespace smalti::python {

/// Adds what the simulator does for each byte that threads access.
void bindThreadAccesses(nanobind::module_ &m);

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_THREADACCESSES_H
