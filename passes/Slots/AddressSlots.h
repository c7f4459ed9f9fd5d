//===- AddressSlots.h - Slots of accesses by address ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H
#define SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H

#include "smalti/passes/Slots/IterationSlots.h"

#include <optional>

namespace smalti {

class IntegerRanges;

/// The slot of the iteration that contains the `bytes` bytes from `pointer`.
/// The first dimension of the memref `buffer` counts slots. The pointer must be
/// the sum of the buffer's address, a multiple of the slot number, and offsets
/// with known ranges.
std::optional<IterationSlot> matchAddressSlot(mlir::Value pointer,
                                              mlir::Value buffer, int64_t bytes,
                                              mlir::scf::ForOp loop,
                                              const IntegerRanges &ranges);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H
