//===- KernelPlan.h - What becomes of a block-level kernel ------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNELPLAN_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNELPLAN_H

#include "passes/Conversion/BlockToThread/Distribution.h"
#include "passes/Conversion/MmaSelection.h"
#include "passes/Support/MemorySize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace smalti::block_to_thread {

class VendorLowering;

/// What the vectors of a kernel belong to.
enum class Level {
  Lowered, ///< to a thread, and nothing is left to do
  Thread,  ///< to a thread; buffers in shared memory have no address yet
  Block,   ///< to the whole block
};

/// Everything that was decided about a kernel before it is touched. A kernel
/// that has a plan can be emitted.
struct KernelPlan {
  mlir::gpu::GPUFuncOp func;
  Level level = Level::Block;
  ThreadGrid grid;
  /// Bytes of shared memory; 0 where the kernel uses none.
  int64_t sharedMemoryBytes = 0;
  int64_t sharedMemoryAlignment = smalti::kSharedMemoryAlignment;
  /// Of every block-level vector.
  llvm::DenseMap<mlir::Value, Distribution> distributions;
  llvm::DenseMap<mlir::Operation *, BlockMma> mmas;
  /// Elements that a thread copies at once.
  llvm::DenseMap<mlir::Operation *, int64_t> asyncCopyWidths;
  /// Copies of a thread that each wait leaves in flight.
  llvm::DenseMap<mlir::Operation *, int64_t> asyncCopiesInFlight;
  /// gpu.barrier ops that must order global memory too.
  llvm::DenseSet<mlir::Operation *> globalBarriers;
  /// Stored vectors whose distribution must be chosen: those that only are one
  /// scalar.
  llvm::DenseMap<mlir::Operation *, Distribution> storeDistributions;

  const Distribution &getDistribution(mlir::Value value) const {
    return distributions.find(value)->second;
  }
};

/// What is left to do of a kernel.
Level getLevel(mlir::gpu::GPUFuncOp func);

/// The plan of a kernel of this level, or nothing after an error was reported.
std::optional<KernelPlan> planKernel(mlir::gpu::GPUFuncOp func, Level level,
                                     const VendorLowering &vendor);

/// The distributions that the operands of a region terminator must have, one
/// for each operand (null for scalars).
llvm::SmallVector<const Distribution *>
getTerminatorDistributions(const KernelPlan &plan, mlir::Operation *terminator);

/// The largest n for which 2^n bytes provably divide the address of a memref's
/// first element.
unsigned log2Alignment(mlir::Value memref);

/// A window of memory that a vector is read from or written to.
struct Window {
  mlir::Value memref;
  /// Of the window's first element, one a memref dimension; empty where it is
  /// the origin.
  mlir::ValueRange indices;
  /// The vector dimension that runs along each memref dimension, or -1.
  llvm::SmallVector<int64_t> vectorDims;
  /// Whether elements may lie outside along this memref dimension.
  llvm::SmallVector<bool> isChecked;
};

/// The window of a transfer or of a vector_load/vector_store, and why it is not
/// supported if it is not.
std::optional<Window> getWindow(mlir::Operation *op, std::string &why);

/// How many consecutive elements of a register can be accessed at once: their
/// address is provably aligned, and they are inside or outside together.
/// `coordinates` are those of the register's first element.
int64_t getAccessWidth(const Window &window, const Distribution &distribution,
                       llvm::ArrayRef<Coordinate> coordinates,
                       unsigned log2MemRefAlignment);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNELPLAN_H
