//===- MarkTensorMaps.h - Tensor maps as grid constants ---------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_MARKTENSORMAPS_H
#define SMALTI_PASSES_CONVERSION_MARKTENSORMAPS_H

#include "mlir/Pass/Pass.h"

namespace smalti {

/// smalti-mark-tensor-maps: says of kernels of the LLVM dialect that their
/// tensor maps are constant in the grid, so that copies read them where the
/// launch put them and not from a copy of each thread. A gpu.func cannot say
/// so.
std::unique_ptr<mlir::Pass> createMarkTensorMaps();
void registerMarkTensorMaps();

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_MARKTENSORMAPS_H
