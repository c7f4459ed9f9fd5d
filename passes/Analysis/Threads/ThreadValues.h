//===- ThreadValues.h - What threads of a block compute ---------*- C++ -*-===//
//
// Index arithmetic on thread ids, lane ids and constants, through arith, affine
// and views, evaluated for each lane of a wave. Bank-conflict costs and proofs
// about which addresses the threads of a block write go by it: the former may
// assume what is typical, the latter nothing that is not certain. This is not
// UniformityAnalysis: a uniform value need not be known, and a known one is
// seldom uniform. Which ops and arguments are uniform is stated there.
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

/// Evaluates integers of one function. A value of n bits is kept as the signed
/// number that the bits are; true is -1.
class ThreadValues {
public:
  enum class Assume {
    /// Only what holds for every execution.
    Nothing,
    /// What does not depend on the thread (block ids, scalar kernel arguments)
    /// is zero, loops are in their first iteration, and the threads of a block
    /// of no known size are one wave in a row.
    Typical,
    /// As Nothing, about one thread of which nothing is known.
    NothingOfOneThread,
  };

  /// Without a target the lanes of a wave are not told apart: nothing that
  /// depends on waves has a value.
  ThreadValues(mlir::FunctionOpInterface function,
               const targets::Target *target, Assume assume);

  int64_t getNumLanes() const { return numLanes; }
  /// Threads of the block around `op`; a wave where that is not known.
  int64_t getNumThreads(mlir::Operation *op) const;
  /// The thread of the block that a lane of the current wave is.
  int64_t getThread(int64_t lane) const { return wave * numLanes + lane; }

  void startWave(int64_t number) {
    wave = number;
    values.clear();
  }
  /// Of each wave nvvm.elect.sync chooses one lane. Which one is not known: to
  /// find out what holds for any, ask again for each.
  void setElected(std::optional<int64_t> lane) {
    elected = lane;
    values.clear();
  }
  /// Whether something that was asked for depends on that choice.
  bool takeNeedsElected() { return std::exchange(needsElected, false); }
  /// States what a value is, such as the counter of a loop.
  void bind(mlir::Value value, Lanes lanes);
  void unbind(mlir::Value value);

  /// The value in each lane, or null. The pointer holds until something else is
  /// evaluated or bound.
  const Lanes *evaluate(mlir::Value value) { return evaluate(value, 0); }

  /// The number of the first element of `memref`, which is a view of `buffer`,
  /// in the order in which the buffer's elements lie in memory.
  std::optional<Lanes> getStart(mlir::Value buffer, mlir::Value memref);
  /// The same of the element at `indices` of `memref`.
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
  /// Keeps the bits that the type has; nothing where an index may be another
  /// number on a machine of 32 bits.
  Result fit(Result lanes, mlir::Type type) const;
  /// What is the same for all threads, but not known.
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

/// The strides of a memref where all of them are known.
bool getStaticStrides(mlir::MemRefType type,
                      llvm::SmallVectorImpl<int64_t> &strides);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_THREADS_THREADVALUES_H
