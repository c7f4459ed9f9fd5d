//===- Candidates.h - Candidate layouts of the search, in order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The candidates and their order are those of JAX:
// 1. for a use or a relayout with one known side, the layout of that side;
// 2. for each other constraint, in program order, the layouts that it suggests;
// 3. splat and strided layouts of both after all others;
// 4. the default of each variable: strided; no transforms; in tensor memory,
// the
//    layout of an accumulator.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H
#define SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H

#include "smalti/passes/Layouts/Inference/SearchState.h"

namespace smalti::inference {

struct Candidate {
  int index; ///< index of the variable class
  LayoutId layout;
};

/// The distinct candidates for classes without a layout. Each candidate
/// satisfies the constraints of its class alone.
std::vector<Candidate> listCandidates(const SearchState &state,
                                      llvm::ArrayRef<int> unknown);

/// The candidates for one class without a layout in the extended search: those
/// above, then those of LayoutChoices.h, or tiles of 8 rows.
std::vector<LayoutId> listLayouts(const SearchState &state, int index);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_INFERENCE_CANDIDATES_H
