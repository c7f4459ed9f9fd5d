//===- SharedBuffers.h - Buffers in shared memory and their accesses ------===//
//
// What a wave's lanes access, as far as the program says it: index arithmetic
// on thread ids is evaluated for each lane of some waves. What does not depend
// on the thread (block ids, scalar kernel arguments) counts as zero, loops are
// in their first iteration.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H
#define SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H

#include "smalti/passes/Analysis/Memory/BufferUses.h"
#include "smalti/passes/Analysis/SharedMemory/BankModel.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace smalti {

/// The buffers of a function in shared memory: what it allocates, what a kernel
/// declares for its block, and views of its untyped shared memory.
llvm::SmallVector<mlir::Value>
findSharedBuffers(mlir::FunctionOpInterface function);

/// The op that makes the buffer, or for a block argument the one that it
/// belongs to: where remarks go.
mlir::Operation *getBufferOp(mlir::Value buffer);

/// Takes the attribute `name` of the buffer's op, where it has it: whether a
/// pass may change the buffer. Returns what is wrong with the attribute.
std::optional<std::string> readMark(mlir::Value buffer, llvm::StringRef name,
                                    std::optional<bool> &mark);

/// How rows lie in a buffer: `rows` rows of `columns` elements in each of the
/// leading dimensions.
struct RowShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t elementBytes = 0;
};

/// The rows of a buffer, or why there are none to move.
std::optional<RowShape> getRowShape(mlir::MemRefType type, std::string &reason);

/// One access of a wave (or several that are alike): the number of the first
/// element, in the buffer's row-major order, for each lane.
struct LaneAccess {
  int64_t bytes;
  bool isRead;
  llvm::SmallVector<int64_t> elements; ///< banks::kInactive: none
  int64_t times;
};

/// All accesses to a buffer that are known.
struct AccessPattern {
  std::vector<LaneAccess> accesses;
  /// Ops whose addresses are known, and those whose are not.
  int64_t known = 0;
  int64_t unknown = 0;

  /// How many accesses are known and how many are not, for remarks.
  std::string str() const;
  /// The cost where `address` says in which byte an element begins.
  banks::Cost getCost(const banks::BankModel &model,
                      llvm::function_ref<int64_t(int64_t)> address) const;
};

/// Evaluates the accesses of one function for a target.
class LaneEvaluator {
public:
  LaneEvaluator(mlir::FunctionOpInterface function,
                const targets::Target &target);
  ~LaneEvaluator();

  AccessPattern getPattern(mlir::Value buffer, const BufferUses &uses);

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

/// The largest n for which 2^n provably divides the number, in the buffer's
/// row-major order, of the first element that `memref[indices]` is.
unsigned log2ElementDivisor(mlir::Value buffer, mlir::Value memref,
                            mlir::ValueRange indices);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H
