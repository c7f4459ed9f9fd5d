//===- PadTiles.h - Padding of uneven tiles ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_PADTILES_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_PADTILES_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"

namespace smalti {

/// Whether a tile of the kernel has a number of elements that only few threads
/// divide, so that each thread would hold many copies.
bool hasUnevenTiles(triton_xla::EntryFuncOp func);

/// Pads these tiles at the end of each dimension. Elements past the original
/// sizes are undefined: extracts do not read memory for them, inserts do not
/// write them, and reductions, scans, dots and accesses by index ignore them.
void padTiles(triton_xla::EntryFuncOp func);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_PADTILES_H
