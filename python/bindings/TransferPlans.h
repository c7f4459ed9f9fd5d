//===- TransferPlans.h - Plans of transfers and relayouts in Python -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PYTHON_BINDINGS_TRANSFERPLANS_H
#define SMALTI_PYTHON_BINDINGS_TRANSFERPLANS_H

#include <nanobind/nanobind.h>

namespace smalti::python {

/// Adds the planner of transfers and that of relayouts to the extension; after
/// `bindLayouts`.
void bindTransferPlans(nanobind::module_ &m);

} // namespace smalti::python

#endif // SMALTI_PYTHON_BINDINGS_TRANSFERPLANS_H
