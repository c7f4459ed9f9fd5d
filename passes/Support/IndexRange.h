//===- IndexRange.h - Between which numbers an index value lies -*- C++ -*-===//

#ifndef SMALTI_PASSES_SUPPORT_INDEXRANGE_H
#define SMALTI_PASSES_SUPPORT_INDEXRANGE_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace smalti {

/// Both ends belong to it.
struct IndexRange {
  int64_t low = 0, high = 0;

  bool isWithin(int64_t least, int64_t most) const {
    return least <= low && high <= most;
  }
};

/// A range in which an integer or index value surely lies, as a signed number;
/// nothing where none is known. Looks through arith, at the bounds of scf.for
/// and at the tile id of a triton_xla.entry_func.
std::optional<IndexRange> getIndexRange(mlir::OpFoldResult value);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_INDEXRANGE_H
