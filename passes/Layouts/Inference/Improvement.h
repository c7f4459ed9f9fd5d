//===- Improvement.h - Local search for cheaper solutions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H

#include "smalti/passes/Layouts/Inference/SearchState.h"

namespace smalti::inference {

/// Changes the layouts of a complete solution as long as it becomes cheaper,
/// and returns the difference in cost (0 or negative). A change assigns another
/// layout to a class, alone or together with all connected classes that have
/// its layout, and repairs the violated constraints. About `limit` changes are
/// tried for each class.
int64_t improveSolution(SearchState &state, int64_t limit);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H
