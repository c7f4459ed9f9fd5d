//===- Divisibility.h - Powers of two that divide an index value -*- C++
//-*-===//

#ifndef SMALTI_PASSES_SUPPORT_DIVISIBILITY_H
#define SMALTI_PASSES_SUPPORT_DIVISIBILITY_H

#include "mlir/IR/OpDefinition.h"

namespace smalti {

/// The largest n for which 2^n provably divides an integer or index value (62
/// for zero). Powers of two alone, because they survive the wrap-around of
/// machine arithmetic. Looks through arith, and at the bounds of scf.for.
unsigned log2Divisor(mlir::Value value);
unsigned log2Divisor(mlir::OpFoldResult value);
unsigned log2Divisor(int64_t value);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_DIVISIBILITY_H
