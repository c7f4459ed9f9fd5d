//===- LoopInterfaces.h - What loop passes ask of an op -------------------===//

#ifndef SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
#define SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace smalti {

/// How asynchronous copies complete.
enum class AsyncQueue {
  Groups,        ///< in groups that a commit makes (cp.async)
  LoadCounter,   ///< each, counted with the wave's loads (vmcnt, loadcnt)
  AsyncCounter,  ///< each, counted alone (asynccnt)
  TensorCounter, ///< each, counted with the wave's tensor copies (tensorcnt)
  BarrierObject  ///< on a barrier that the copy names (mbarrier)
};

/// The queues whose waits count what may stay in flight.
inline constexpr AsyncQueue kCountedQueues[] = {
    AsyncQueue::Groups, AsyncQueue::LoadCounter, AsyncQueue::AsyncCounter,
    AsyncQueue::TensorCounter};

/// What an op does with a barrier object.
enum class BarrierAction {
  Init,   ///< states the number of arrivals
  Arrive, ///< counts an arrival, announces bytes, or both
  Copy,   ///< starts a copy whose bytes the barrier counts
  Wait,   ///< waits for a phase
  Poll    ///< asks whether a phase is complete, and does not wait
};

/// Consecutive elements of a row (the last dimension) that one thread accesses.
struct RowAccess {
  mlir::OperandRange indices;
  int64_t elements;
  bool isRead;
  /// How many lanes of a wave, the first ones, give addresses; 0: all.
  int64_t lanes = 0;
  /// Elements may lie outside the memref; the op finds out by its shape.
  bool isBoundsChecked = false;
  /// The op is about consecutive addresses: nothing says that its elements
  /// belong to one row.
  bool mayCrossRows = false;
  /// The lanes of a wave access one run of elements, one behind the other, from
  /// the first lane's indices on.
  bool isWaveWide = false;
  /// A mask may keep elements from being accessed.
  bool isMasked = false;
};

/// A whole memref that a block accesses: a vector in a layout, or where there
/// is none, chunks that are copied by the threads in turn.
struct BlockAccess {
  mlir::Attribute layout;
  mlir::Type elementType;
  bool isRead;
};

} // namespace smalti

#include "smalti/passes/Interfaces/LoopInterfaces.h.inc"

namespace smalti {

/// Which barrier object an op works on: two ops with the same reference, in one
/// iteration of a loop, work on the same barrier.
struct BarrierRef {
  mlir::Value barrier;
  mlir::OpFoldResult index; ///< null where `barrier` is one barrier
  bool operator==(const BarrierRef &other) const {
    return barrier == other.barrier && index == other.index;
  }
};

/// Equal constants give equal references.
BarrierRef getBarrierRef(BarrierObjectOpInterface op);

/// Whether `op` writes every element of its operand `memref` each time it is
/// executed, as far as its interfaces tell.
bool overwritesWholeMemRef(mlir::Operation *op, mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_INTERFACES_LOOPINTERFACES_H
