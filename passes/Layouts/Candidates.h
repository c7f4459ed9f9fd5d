//===- Candidates.h - Which layouts the search tries, and in which order --===//
//
// What JAX tries, in its order:
// 1. for a use or a relayout with one known side: the same on the other side,
// 2. for each other constraint, in the order of the program, what it suggests,
// 3. of all of these, splat and strided layouts last,
// 4. the default of each variable: strided; no transforms; in tensor memory,
//    the layout of an accumulator.
// Unless the search is to stay with JAX's, then:
// 5. the layouts with names, and those of the chip's matrix instructions; tiles
//    of 8 rows.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_CANDIDATES_H
#define SMALTI_PASSES_LAYOUTS_CANDIDATES_H

#include "passes/Layouts/SearchState.h"

namespace smalti::inference {

struct Candidate {
  int index; ///< of the class
  LayoutId layout;
};

/// The candidates for classes that have no layout, each once. All of them can
/// have the layout, as far as the class itself says.
std::vector<Candidate> listCandidates(const SearchState &state,
                                      llvm::ArrayRef<int> unknown);

/// The layouts that have a name, for classes that have no layout: what JAX does
/// not try.
std::vector<Candidate> listAnyCandidates(const SearchState &state,
                                         llvm::ArrayRef<int> unknown);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_CANDIDATES_H
