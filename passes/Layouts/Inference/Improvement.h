//===- Improvement.h - Cheaper solutions next to one ----------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H

#include "smalti/passes/Layouts/Inference/SearchState.h"

namespace smalti::inference {

/// Changes the layouts of a state in which each class has one, as long as the
/// solution gets cheaper, and returns by how much (0 or less). A change gives a
/// class another layout, alone or with all classes that have its layout and are
/// connected with it by uses, and repairs what that violates. For each class
/// about `limit` changes are tried.
int64_t improveSolution(SearchState &state, int64_t limit);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_IMPROVEMENT_H
