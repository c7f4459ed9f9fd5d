//===- TensorWindows.h - Windows copied by TMA ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If all threads of a block copy the same padded window between global and
// shared memory, one thread can issue a TMA copy. A load fills elements outside
// the array with zeros, on any side, and a store drops them. A copy needs a
// tensor map, which the launch of the kernel creates. A load completes on an
// mbarrier that all threads wait for.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H
#define SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H

#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/TensorMaps.h"
#include "smalti/passes/PadLowering/PaddedCopies.h"

namespace smalti {

class IntegerRanges;

/// Coordinates have 32 bits and are clamped to this limit, so that they do not
/// wrap around.
inline constexpr int64_t kMaxExtent = -transfers::kOutside;

/// A window and its TMA copy.
struct TensorWindow {
  mlir::vector::TransferReadOp read;
  mlir::vector::TransferWriteOp write;
  /// Whether it copies shared to global memory.
  bool isStore = false;
  transfers::TensorCopyPlan copy;
  /// The index of its tensor map.
  size_t map = 0;
  int64_t bytes = 0;
  /// For each index of the global memref, whether it is within kMaxExtent.
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
  /// padded write. Returns a reason if TMA is not used.
  std::optional<std::string> addLoad(mlir::vector::TransferReadOp read,
                                     mlir::vector::TransferWriteOp write,
                                     MoveHazards &hazards);
  std::optional<std::string> addStore(mlir::vector::TransferReadOp read,
                                      mlir::vector::TransferWriteOp write,
                                      MoveHazards &hazards);

  llvm::ArrayRef<TensorWindow> getWindows() const { return windows; }

  /// Creates the kernel arguments, the mbarriers and the copies.
  void commit(mlir::RewriterBase &rewriter);

private:
  std::optional<std::string> checkKernel() const;
  std::optional<std::string> checkControlFlow(mlir::Operation *op);
  bool isBlockUniform(mlir::VectorTransferOpInterface op);
  std::optional<std::string> checkBlockUniform(const TensorWindow &window);
  std::optional<std::string> add(TensorWindow window, MoveHazards &hazards);

  mlir::FunctionOpInterface function;
  const targets::Target &target;
  /// Null if the function does not support TMA copies.
  mlir::gpu::GPUFuncOp kernel;
  std::optional<std::string> rejectionReason;
  UniformityAnalysis uniformity;
  const IntegerRanges &ranges;
  std::vector<TensorWindow> windows;
  std::vector<block_to_thread::TensorMapOfKernel> maps;
};

/// Text of the applied remark.
std::string describeWindow(const TensorWindow &window);

} // namespace smalti

#endif // SMALTI_PASSES_PADLOWERING_TENSORWINDOWS_H
