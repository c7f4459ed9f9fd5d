//===- Candidates.h - Which layouts the search tries, and in which order --===//
//
// What JAX tries, in its order:
// 1. for a use or a relayout with one known side: the same on the other side,
// 2. for each other constraint, in the order of the program, what it suggests,
// 3. of all of these, splat and strided layouts last,
// 4. the default of each variable: strided; no transforms; in tensor memory,
//    the layout of an accumulator.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H

#include "smalti/passes/Layouts/Inference/SearchState.h"

namespace smalti::inference {

struct Candidate {
  int index; ///< of the class
  LayoutId layout;
};

/// The candidates for classes that have no layout, each once. All of them can
/// have the layout, as far as the class itself says.
std::vector<Candidate> listCandidates(const SearchState &state,
                                      llvm::ArrayRef<int> unknown);

/// What is tried for one class that has no layout, outside of JAX's: the
/// candidates above, then those of RegisterLayouts.h or tiles of 8 rows.
std::vector<LayoutId> listLayouts(const SearchState &state, int index);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H
