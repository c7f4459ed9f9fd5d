//===- TensorWindows.h - Windows that TMA copies ----------------*- C++ -*-===//
//
// Where all threads of a block read the same padded window of global memory and
// write it to shared memory, one of them can ask for a copy in bulk (TMA): the
// hardware fills in zeros for what is outside of the array, on any side. In the
// other direction it drops what is outside. A copy takes a tensor map, which
// the kernel's launch makes; a load completes on a barrier object that all
// threads wait for.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H
#define SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H

#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"
#include "smalti/passes/PadLowering/PaddedCopies.h"

namespace smalti {

class IntegerRanges;

/// Coordinates have 32 bits; what lies farther out is moved here, so that
/// nothing wraps around.
inline constexpr int64_t kMostExtent = -transfers::kOutside;

/// A window, and how it is copied.
struct TensorWindow {
  mlir::vector::TransferReadOp read;
  mlir::vector::TransferWriteOp write;
  /// To global memory, and not from there.
  bool isStore = false;
  transfers::TensorCopyPlan copy;
  /// The number of its tensor map among those that the pass makes.
  size_t map = 0;
  int64_t bytes = 0;
  /// For each index of global memory whether it is within kMostExtent.
  llvm::SmallVector<bool> fits;

  mlir::VectorTransferOpInterface getGlobal() const;
  mlir::VectorTransferOpInterface getShared() const;
};

/// The windows of one function.
class TensorWindows {
public:
  TensorWindows(mlir::FunctionOpInterface function,
                const targets::Target &target, const IntegerRanges &ranges);

  /// Plans a copy of a padded read to shared memory, or of shared memory to a
  /// padded write; the reason why there is none, if there is none.
  std::optional<std::string> addLoad(mlir::vector::TransferReadOp read,
                                     mlir::vector::TransferWriteOp write,
                                     MoveHazards &hazards);
  std::optional<std::string> addStore(mlir::vector::TransferReadOp read,
                                      mlir::vector::TransferWriteOp write,
                                      MoveHazards &hazards);

  llvm::ArrayRef<TensorWindow> getWindows() const { return windows; }

  /// Makes the kernel's arguments, the barrier objects and the copies.
  void commit(mlir::RewriterBase &rewriter);

private:
  std::optional<std::string> checkKernel() const;
  std::optional<std::string> checkPlace(mlir::Operation *op);
  bool isSameForBlock(mlir::VectorTransferOpInterface op);
  std::optional<std::string> checkSameForBlock(const TensorWindow &window);
  std::optional<std::string> add(TensorWindow window, MoveHazards &hazards);

  mlir::FunctionOpInterface function;
  const targets::Target &target;
  /// Null where there are none in this function.
  mlir::gpu::GPUFuncOp kernel;
  std::optional<std::string> whyNone;
  UniformityAnalysis uniformity;
  const IntegerRanges &ranges;
  std::vector<TensorWindow> windows;
  std::vector<block_to_thread::TensorMapOfKernel> maps;
};

/// What is done, in words.
std::string describeWindow(const TensorWindow &window);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H
