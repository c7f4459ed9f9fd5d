//===- SharedBuffers.h - Shared-memory buffers and their accesses ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The addresses that the lanes of a wave access, as far as they can be
// evaluated: index arithmetic on thread ids is evaluated for each lane of some
// waves. Values that do not depend on the thread (block ids, scalar kernel
// arguments) are assumed to be zero, and loops to be in their first iteration.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H
#define SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/passes/Analysis/Memory/BufferUses.h"
#include "smalti/passes/Analysis/SharedMemory/BankModel.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace smalti {

/// The shared-memory buffers of a function: allocations, workgroup
/// attributions, and typed views of untyped shared memory.
llvm::SmallVector<mlir::Value>
findSharedBuffers(mlir::FunctionOpInterface function);

/// The op that defines the buffer or, for a block argument, the op that owns
/// it. Remarks name this op.
mlir::Operation *getBufferOp(mlir::Value buffer);

/// Reads the attribute `name` of the buffer's op, if it exists: whether a pass
/// may change the buffer. Returns what is wrong with the attribute.
std::optional<std::string> readMark(mlir::Value buffer, llvm::StringRef name,
                                    std::optional<bool> &mark);

/// The rows of a buffer: `rows` rows of `columns` elements, for each index of
/// the leading dimensions.
struct RowShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t elementBytes = 0;
};

/// The rows of a buffer, or the reason why it does not have rows.
std::optional<RowShape> getRowShape(mlir::MemRefType type, std::string &reason);

/// An access of a wave, or several equal ones: the row-major index of the first
/// element for each lane.
struct LaneAccess {
  int64_t bytes;
  bool isRead;
  llvm::SmallVector<int64_t> elements; ///< banks::kInactive: none
  int64_t times;
};

/// All accesses to a buffer with known addresses.
struct AccessPattern {
  std::vector<LaneAccess> accesses;
  /// The numbers of ops with known and with unknown addresses.
  int64_t known = 0;
  int64_t unknown = 0;

  /// The numbers of known and unknown accesses, for remarks.
  std::string str() const;
  /// The cost if `address` returns the byte address of an element.
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

/// The largest n for which 2^n provably divides the row-major index, in the
/// buffer, of the first element of `memref[indices]`.
unsigned log2ElementDivisor(mlir::Value buffer, mlir::Value memref,
                            mlir::ValueRange indices);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_RESOURCES_SHAREDBUFFERS_H
