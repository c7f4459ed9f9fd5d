//===- LayoutChoices.h - Layouts that any vector may have -----------------===//
//
// What the search tries for a vector where no constraint suggests a layout: the
// layouts that have a name, those of the chip's matrix instructions, and
// layouts that distribute the vector over all threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H
#define SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H

#include "smalti/passes/Layouts/Vectors/LayoutValues.h"

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::inference {

/// The layouts in which tiles of shared memory are read without conflicts, best
/// first.
llvm::SmallVector<layout::TiledLayout>
listTileLayouts(const targets::Target &target, int64_t warps);

/// Layouts of a vector of this shape that distribute it over as many threads as
/// possible: lanes and warps hold parts of one dimension or of several, in
/// vectors of up to 16 bytes along the last dimension. The parts are powers of
/// two; where a shape does not have enough of them, threads hold the same
/// elements.
llvm::SmallVector<layout::TiledLayout>
listDistributedLayouts(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                       int64_t warps, int64_t lanes);

/// All of them that fit the type, each once, the splat last. A layout is left
/// out in which a thread holds many times what it holds in another one, and
/// more than the registers that a thread has.
std::vector<LayoutId> listRegisterLayouts(LayoutTable &layouts,
                                          const targets::Target &target,
                                          mlir::VectorType type);

} // namespace smalti::inference

#endif // SMALTI_PASSES_LAYOUTS_VECTORS_LAYOUTCHOICES_H
