//===- LayoutChoices.h - Candidate register layouts of a vector -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates for a vector without a suggestion from constraints: named layouts,
// layouts of the MMA instructions of the target, and layouts that distribute
// the vector across all threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H
#define SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H

#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::inference {

/// The layouts that load tiles of shared memory without bank conflicts, best
/// first.
llvm::SmallVector<layout::TiledLayout>
listTileLayouts(const targets::Target &target, int64_t warps);

/// Layouts that distribute a vector of this shape across as many threads as
/// possible. Lanes and warps are along one or several dimensions, and registers
/// hold up to 16 bytes along the last dimension. The parts are powers of two;
/// elements are replicated if the shape does not have enough powers of two.
llvm::SmallVector<layout::TiledLayout>
listDistributedLayouts(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                       int64_t warps, int64_t lanes);

/// The distinct candidates that are valid for the type, the splat last. Layouts
/// with many times the registers of another candidate, or with more registers
/// than a thread has, are omitted.
std::vector<LayoutId> listRegisterLayouts(LayoutTable &layouts,
                                          const targets::Target &target,
                                          mlir::VectorType type);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H
