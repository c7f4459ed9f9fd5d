//===- AtomicKinds.h - Kinds of atomic updates ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_ATOMICKINDS_H
#define SMALTI_PASSES_SUPPORT_ATOMICKINDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace smalti {

/// The kind that has the result of an update of i1 for bytes that are 0 or 1.
/// As a signed integer, an i1 is 0 or -1.
inline mlir::arith::AtomicRMWKind
getKindOfBools(mlir::arith::AtomicRMWKind kind) {
  using mlir::arith::AtomicRMWKind;
  switch (kind) {
  case AtomicRMWKind::addi:
    return AtomicRMWKind::xori;
  case AtomicRMWKind::maxs:
  case AtomicRMWKind::minu:
    return AtomicRMWKind::andi;
  case AtomicRMWKind::mins:
  case AtomicRMWKind::maxu:
    return AtomicRMWKind::ori;
  default:
    return kind;
  }
}

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ATOMICKINDS_H
