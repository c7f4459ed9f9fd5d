//===- ThreadValues.h - Values of index arithmetic in each lane -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates index arithmetic on thread ids, lane ids and constants, through
// arith, affine and views, for each lane of a wave. Bank-conflict costs and
// proofs about the addresses of a block use it: costs may assume typical
// values, proofs only what is certain.
//
// This is not UniformityAnalysis: a uniform value may be unknown, and a known
// value is seldom uniform. UniformityAnalysis states which ops and arguments
// are uniform.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_THREADS_THREADVALUES_H
#define SMALTI_PASSES_ANALYSIS_THREADS_THREADVALUES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace mlir::gpu {
enum class Dimension : uint32_t;
} // namespace mlir::gpu

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// One number for each lane of a wave.
using Lanes = llvm::SmallVector<int64_t, 64>;

/// Evaluates integers of one function. A value of n bits is stored
/// sign-extended; true is -1.
class ThreadValues {
public:
  enum class Assume {
    /// Only what holds for every execution.
    Nothing,
    /// Values that do not depend on the thread (block ids, scalar kernel
    /// arguments) are zero. Loops are in their first iteration. The threads of
    /// a block of unknown size are one wave in a row.
    Typical,
    /// Like Nothing, for one unspecified thread.
    NothingOfOneThread,
  };

  /// Without a target the wave size is unknown, so values that depend on waves
  /// are unknown.
  ThreadValues(mlir::FunctionOpInterface function,
               const targets::Target *target, Assume assume);

  int64_t getNumLanes() const { return numLanes; }
  /// The threads of the block around `op`; the size of a wave if it is unknown.
  int64_t getNumThreads(mlir::Operation *op) const;
  /// The thread of the block for a lane of the current wave.
  int64_t getThread(int64_t lane) const { return wave * numLanes + lane; }

  void startWave(int64_t number) {
    wave = number;
    values.clear();
  }
  /// nvvm.elect.sync elects one unspecified lane of each wave. A proof for
  /// every choice evaluates again with each lane elected.
  void setElected(std::optional<int64_t> lane) {
    elected = lane;
    values.clear();
  }
  /// Whether an evaluated value depends on the elected lane.
  bool takeNeedsElected() { return std::exchange(needsElected, false); }
  /// Sets a value, such as the induction variable of a loop.
  void bind(mlir::Value value, Lanes lanes);
  void unbind(mlir::Value value);

  /// The value in each lane, or null. The pointer is valid until the next
  /// evaluate() or bind().
  const Lanes *evaluate(mlir::Value value) { return evaluate(value, 0); }

  /// The index of the first element of `memref`, a view of `buffer`, in the
  /// memory order of the buffer's elements.
  std::optional<Lanes> getStart(mlir::Value buffer, mlir::Value memref);
  /// The same for the element at `indices` of `memref`.
  std::optional<Lanes> getElements(mlir::Value buffer, mlir::Value memref,
                                   mlir::ValueRange indices);
  Lanes fill(int64_t value) const { return Lanes(numLanes, value); }

private:
  using Result = std::optional<Lanes>;

  const Lanes *evaluate(mlir::Value value, unsigned depth);
  Result copy(mlir::Value value, unsigned depth);
  Result compute(mlir::Value value, unsigned depth);
  Result computeArgument(mlir::BlockArgument argument, unsigned depth);
  Result computeOp(mlir::Operation *op, unsigned result, unsigned depth);
  Result computeExpr(mlir::AffineExpr expr, unsigned numDims,
                     mlir::ValueRange operands, unsigned depth);
  /// Truncates to the bits of the type; nothing if an index exceeds 32 bits.
  Result fit(Result lanes, mlir::Type type) const;
  /// A value that is uniform but unknown.
  Result uniform() const;
  Result getThreadId(mlir::Operation *op, mlir::gpu::Dimension dimension) const;
  Result getLaneId() const;
  Result getWave() const;
  Result getElected(mlir::Operation *op);
  template <typename Fn>
  Result combine(mlir::Value lhs, mlir::Value rhs, unsigned depth, Fn fn);
  Result add(Result sum, mlir::OpFoldResult value, int64_t factor);
  bool isExact() const { return assume != Assume::Typical; }

  mlir::FunctionOpInterface function;
  const targets::Target *target;
  Assume assume;
  int64_t numLanes;
  int64_t wave = 0;
  std::optional<int64_t> elected;
  bool needsElected = false;
  llvm::DenseMap<mlir::Value, Lanes> bound;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Result>> values;
};

/// The strides of a memref if all of them are static.
bool getStaticStrides(mlir::MemRefType type,
                      llvm::SmallVectorImpl<int64_t> &strides);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_THREADS_THREADVALUES_H
