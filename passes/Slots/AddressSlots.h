//===- AddressSlots.h - Slots that addresses lie in -------------*- C++ -*-===//

#ifndef SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H
#define SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H

#include "smalti/passes/Slots/IterationSlots.h"

#include <optional>

namespace smalti {

class IntegerRanges;

/// The slot of the iteration in which `bytes` bytes from `pointer` on lie in
/// `buffer`, a memref whose first dimension counts slots: a pointer that is
/// computed from the buffer's address, a multiple of the slot's number and
/// offsets of known range.
std::optional<IterationSlot> matchAddressSlot(mlir::Value pointer,
                                              mlir::Value buffer, int64_t bytes,
                                              mlir::scf::ForOp loop,
                                              const IntegerRanges &ranges);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_ADDRESSSLOTS_H
