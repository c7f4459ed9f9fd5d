//===- Uniformity.h - What is the same for all threads of a block ---------===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_UNIFORMITY_H
#define SMALTI_PASSES_SYNCHRONIZATION_UNIFORMITY_H

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace smalti {

/// How the threads of a block that come to a value see it; the larger, the less
/// is known.
enum class Sharing : uint8_t {
  Same,    ///< all see the same
  NotSeen, ///< nothing says that it depends on the thread, and nothing that it
           ///< does not: an argument, or what is read from an address that is
           ///< the same
  PerThread
};

/// Whether the function is a kernel: it starts with nothing under way, and its
/// arguments are the same for all threads.
bool isKernel(mlir::FunctionOpInterface function);

/// Whether all lanes of a wave that come to the value see the same, or nothing
/// says that they do not (Sharing::NotSeen). The number of a thread over that
/// of lanes is such a value, where the block's size is known.
bool isSameForWave(mlir::Value value, int64_t waveSize);

/// Finds out about all values of a function, in time in proportion to it.
class Uniformity {
public:
  explicit Uniformity(mlir::FunctionOpInterface function);

  Sharing get(mlir::Value value) const { return values.lookup(value); }
  /// Of what decides which way is taken through the regions of an op.
  Sharing getControl(mlir::RegionBranchOpInterface op) const;

private:
  bool visit(mlir::Operation *op);
  bool visit(mlir::RegionBranchOpInterface op);
  bool raise(mlir::Value value, Sharing sharing);
  Sharing ofOperands(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, Sharing> values;
};

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_UNIFORMITY_H
