//===- Interrupts.h - Ctrl-C while native code runs -------------*- C++ -*-===//

#ifndef SMALTI_PYTHON_BINDINGS_INTERRUPTS_H
#define SMALTI_PYTHON_BINDINGS_INTERRUPTS_H

#include <nanobind/nanobind.h>

namespace smalti::python {

/// Adds `watch_interrupts`, `unwatch_interrupts` and
/// `end_unhandled_interrupts`.
void bindInterrupts(nanobind::module_ &m);

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_INTERRUPTS_H
