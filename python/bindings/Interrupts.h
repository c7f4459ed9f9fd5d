//===- Interrupts.h - Ctrl-C while native code runs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_INTERRUPTS_H
#define SMALTI_PYTHON_BINDINGS_INTERRUPTS_H

#include <nanobind/nanobind.h>

namespace smalti::python {

/// Adds `watch_interrupts`, `unwatch_interrupts` and
/// `end_unhandled_interrupts`.
void bindInterrupts(nanobind::module_ &m);

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_INTERRUPTS_H
