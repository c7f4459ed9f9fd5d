//===- LDSDMAOrder.h - Order of LDS accesses and LDS DMA loads --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SHAREDMEMORY_LDSDMAORDER_H
#define SMALTI_PASSES_SHAREDMEMORY_LDSDMAORDER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallSet.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace smalti {

/// Finds the barriers of a function that do not need to wait for outstanding
/// LDS DMA loads, because the kernel's own waits order all dependent accesses.
/// Also finds the barriers after which no access depends on LLVM's waits.
///
/// Loads are followed along all paths through the function: from their issue,
/// to a wait that covers them, to a barrier after it. Accesses in between must
/// use another slot of the buffer.
class LDSDMAOrder {
public:
  struct Barrier {
    mlir::Operation *op;
    /// The barrier is not replaced and waits for every load.
    bool isKept = false;
    /// Whether the accesses up to the next barrier or wait are ordered.
    bool isOrdered = true;
  };

  explicit LDSDMAOrder(mlir::Operation *function);

  /// Whether the function already contains the fences of this transformation.
  bool isFenced() const { return hasFences; }
  size_t countCopies() const { return copies; }
  /// The waits for loads.
  llvm::ArrayRef<mlir::Operation *> getWaits() const { return waits; }
  llvm::ArrayRef<Barrier> getBarriers() const { return barriers; }

  /// Decides on the barriers; returns the reason if none can be replaced.
  std::optional<std::string> analyze();
  /// Why the first barrier that is not replaced stays; empty if all are
  /// replaced.
  llvm::StringRef getFirstNote() const { return firstNote; }

private:
  /// A buffer, or one slot of it.
  struct BufferSlot {
    mlir::Value root;
    /// The constant index of the slot.
    std::optional<int64_t> slot;
    /// The slot is that of the iteration of this loop that is `shift` later;
    /// after the loop, later than its first iteration that did not run.
    mlir::Operation *loop = nullptr;
    int64_t shift = 0;

    bool operator==(const BufferSlot &other) const {
      return root == other.root && slot == other.slot && loop == other.loop &&
             shift == other.shift;
    }
  };
  /// The newest load to a location that may be in flight.
  struct Copy {
    BufferSlot bufferSlot;
    mlir::Operation *op;
    /// Loads that every wave issued after it.
    int64_t age = 0;
    /// Whether the wave has waited for it.
    bool isWaitedFor = false;
    /// Barriers before that wait.
    llvm::SmallVector<unsigned, 2> passedBarriers;

    bool operator!=(const Copy &other) const {
      return !(bufferSlot == other.bufferSlot) || age != other.age ||
             isWaitedFor != other.isWaitedFor ||
             passedBarriers != other.passedBarriers;
    }
  };
  struct State {
    llvm::SmallVector<Copy> copies;
    /// Accesses since the last fence.
    llvm::SmallVector<BufferSlot> recentAccesses;
    /// The last barriers.
    llvm::SmallVector<unsigned, 2> lastBarriers;

    bool operator!=(const State &other) const;
  };

  bool visit(mlir::Block &block, State &state);
  bool visit(mlir::Operation *op, State &state);
  bool visitLoop(mlir::scf::ForOp loop, State &state);
  bool visitAccesses(mlir::Operation *op, State &state);
  void visitBarrier(mlir::Operation *op, State &state);
  void visitCopy(mlir::Operation *op, mlir::Value destination, State &state);
  bool fail(const llvm::Twine &why);
  void note(const llvm::Twine &why);

  mlir::Value getFirstView(mlir::Value buffer);
  BufferSlot getBufferSlot(mlir::Operation *op, mlir::Value memref,
                           const State &state);
  static bool mayOverlap(const BufferSlot &a, const BufferSlot &b);
  static int64_t getDepth(mlir::Value root);
  static void join(State &into, const State &from);
  static void addCopy(State &state, const Copy &copy);
  bool ordersGlobalAccesses();

  mlir::Operation *function;
  bool hasFences = false;
  size_t copies = 0;
  llvm::SmallVector<mlir::Operation *> waits;
  llvm::SmallVector<Barrier> barriers;
  llvm::DenseMap<mlir::Operation *, unsigned> barrierNumber;
  /// By source, first byte and type.
  std::map<std::tuple<const void *, int64_t, const void *>, mlir::Value>
      firstViews;
  bool keptMore = false;
  /// Why the whole function is not changed.
  std::string failure;
  /// Why some barrier stays.
  std::string firstNote;
};

} // namespace smalti

#endif // SMALTI_PASSES_SHAREDMEMORY_LDSDMAORDER_H
