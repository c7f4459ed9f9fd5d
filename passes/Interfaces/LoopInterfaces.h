//===- LoopInterfaces.h - Interfaces for loop passes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
#define SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace smalti {

/// Completion mechanism of asynchronous copies.
enum class AsyncCompletion {
  Groups,        ///< committed groups (cp.async)
  LoadCounter,   ///< wait counter shared with loads (vmcnt, loadcnt)
  AsyncCounter,  ///< asynccnt
  TensorCounter, ///< tensorcnt
  BarrierObject  ///< an mbarrier operand of the copy
};

/// The mechanisms whose waits state a number of outstanding copies.
inline constexpr AsyncCompletion kCountedCompletions[] = {
    AsyncCompletion::Groups, AsyncCompletion::LoadCounter,
    AsyncCompletion::AsyncCounter, AsyncCompletion::TensorCounter};

/// The action of an op on an mbarrier.
enum class BarrierAction {
  Init,   ///< initializes the number of arrivals
  Arrive, ///< arrives, expects bytes, or both
  Copy,   ///< issues a copy that completes bytes on the mbarrier
  Wait,   ///< waits for a phase
  Poll    ///< tests whether a phase is complete without waiting
};

/// Consecutive elements of a row (the last dimension) that one thread accesses.
struct RowAccess {
  mlir::OperandRange indices;
  int64_t elements;
  bool isRead;
  /// Number of lanes, from lane 0, that provide addresses; 0: all.
  int64_t lanes = 0;
  /// Elements may be out of bounds; the op checks the shape of the memref.
  bool isBoundsChecked = false;
  /// The op accesses consecutive addresses, which may cross rows.
  bool mayCrossRows = false;
  /// The lanes of a wave access consecutive elements, from the indices of the
  /// first lane.
  bool isWaveWide = false;
  /// A mask may disable elements.
  bool isMasked = false;
};

/// A block-level access to a whole memref: a vector with a layout or, if
/// `layout` is null, elements that the threads copy round-robin.
struct BlockAccess {
  mlir::Attribute layout;
  mlir::Type elementType;
  bool isRead;
};

} // namespace smalti

#include "smalti/passes/Interfaces/LoopInterfaces.h.inc"

namespace smalti {

/// Reference to an mbarrier. In one iteration of a loop, equal references
/// denote the same mbarrier.
struct BarrierRef {
  mlir::Value barrier;
  mlir::OpFoldResult index; ///< null if `barrier` is a single mbarrier
  bool operator==(const BarrierRef &other) const {
    return barrier == other.barrier && index == other.index;
  }
};

/// The mbarrier of an op. Equal constant indices give equal references.
BarrierRef getBarrierRef(BarrierObjectOpInterface op);

/// Whether the interfaces of `op` prove that each execution writes every
/// element of its operand `memref`.
bool overwritesWholeMemRef(mlir::Operation *op, mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
