//===- AddressSlots.h - Slots that addresses lie in -------------*- C++ -*-===//

#ifndef SMALTI_PASSES_SUPPORT_ADDRESSSLOTS_H
#define SMALTI_PASSES_SUPPORT_ADDRESSSLOTS_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mlir {
class Value;
namespace scf {
class ForOp;
} // namespace scf
} // namespace mlir

namespace smalti {

/// The number of slots where `bytes` bytes from `pointer` on lie in the slot of
/// their iteration in `buffer`, a memref whose first dimension counts slots: a
/// pointer that is computed from the buffer's address, a multiple of the slot's
/// number and offsets of known range.
std::optional<int64_t> matchAddressSlot(mlir::Value pointer, mlir::Value buffer,
                                        int64_t bytes, mlir::scf::ForOp loop);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ADDRESSSLOTS_H
