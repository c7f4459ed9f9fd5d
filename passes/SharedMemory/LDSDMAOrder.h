//===- LDSDMAOrder.h - What orders accesses behind loads to LDS -*- C++ -*-===//

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

/// Finds the barriers of a function that need not wait for the loads to LDS in
/// flight, because waits of the program's own order all that depends on them,
/// and the barriers behind which no access depends on LLVM's waits.
///
/// Loads are followed along all ways through the function: from their start
/// over a wait that covers them to a barrier behind it. What is accessed
/// meanwhile must be another slot of the buffer.
class LDSDMAOrder {
public:
  struct Barrier {
    mlir::Operation *op;
    /// Stays, and waits for every load.
    bool isKept = false;
    /// Whether the accesses up to the next barrier or wait are ordered.
    bool isOrdered = true;
  };

  explicit LDSDMAOrder(mlir::Operation *function);

  /// Whether the function has the fences that this is about.
  bool isFenced() const { return hasFences; }
  size_t countCopies() const { return copies; }
  /// The waits for loads.
  llvm::ArrayRef<mlir::Operation *> getWaits() const { return waits; }
  llvm::ArrayRef<Barrier> getBarriers() const { return barriers; }

  /// Decides on the barriers; the reason where all of them must stay.
  std::optional<std::string> analyse();
  /// Why the first of the barriers that stay does; empty where none stays.
  llvm::StringRef getFirstNote() const { return firstNote; }

private:
  /// A buffer, or one slot of it.
  struct Place {
    mlir::Value root;
    /// The slot's number.
    std::optional<int64_t> slot;
    /// It is the slot of the iteration of this loop that is `shift` later;
    /// behind the loop, later than the iteration that it did not run.
    mlir::Operation *loop = nullptr;
    int64_t shift = 0;

    bool operator==(const Place &other) const {
      return root == other.root && slot == other.slot && loop == other.loop &&
             shift == other.shift;
    }
  };
  /// The newest load to a place that may be in flight.
  struct Copy {
    Place place;
    mlir::Operation *op;
    /// Loads that every wave started after it.
    int64_t age = 0;
    /// The wave has waited for it.
    bool isWaitedFor = false;
    /// Barriers that came before that.
    llvm::SmallVector<unsigned, 2> passed;

    bool operator!=(const Copy &other) const {
      return !(place == other.place) || age != other.age ||
             isWaitedFor != other.isWaitedFor || passed != other.passed;
    }
  };
  struct State {
    llvm::SmallVector<Copy> copies;
    /// Accesses since the last fence.
    llvm::SmallVector<Place> recent;
    /// The last barriers.
    llvm::SmallVector<unsigned, 2> behind;

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
  Place getPlace(mlir::Operation *op, mlir::Value memref, const State &state);
  static bool mayOverlap(const Place &a, const Place &b);
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
  /// Why the whole function is left alone.
  std::string failure;
  /// Why some barrier stays.
  std::string firstNote;
};

} // namespace smalti

#endif // SMALTI_PASSES_SHAREDMEMORY_LDSDMAORDER_H
