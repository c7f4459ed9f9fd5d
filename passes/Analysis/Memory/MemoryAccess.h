//===- MemoryAccess.h - What an op does to which memory -------------------===//
//
// Loop passes reason about buffers, not about ops: every access is resolved,
// through views, to the value that a buffer came into being with (its root) and
// to the kind of memory that it lies in.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYACCESS_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYACCESS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mlir {
class FunctionOpInterface;
class Operation;
} // namespace mlir

namespace smalti {

/// Whose memory it is: one thread's, one block's, that of any block of the
/// cluster, everybody's, or the tensor core's. `Other` is memory that is not
/// known. No pass follows accesses to cluster, tensor and other memory.
enum class MemorySpace { Private, Shared, Cluster, Global, Tensor, Other };

llvm::StringRef toString(MemorySpace space);

/// The buffer that `memref` is a view of.
mlir::Value getRootBuffer(mlir::Value memref);

/// Appends the buffers that `memref` may be a view of: where it is one of
/// several, as an arith.select or a value that a loop carries, all of them.
void collectRootBuffers(mlir::Value memref,
                        llvm::SetVector<mlir::Value> &buffers);

/// Whether the result of `op` is an address that is computed from `source`: a
/// memref whose address is taken, a pointer, or such an address as a number.
bool isAddressOf(mlir::Operation *op, mlir::Value source);

/// The memory that the buffer of `memref` lies in.
MemorySpace getMemorySpace(mlir::Value memref);

/// Whether `root` is new memory that nothing else points to.
bool isAllocation(mlir::Value root);

/// The function that `root` is an argument of, or null.
mlir::FunctionOpInterface getFunctionOfArgument(mlir::Value root);

struct MemoryAccess {
  mlir::Operation *op; ///< the op that has the effect; it may be nested
  mlir::Value memref;  ///< the value that it accesses memory through
  mlir::Value root;
  MemorySpace space;
  bool isWrite;
};

/// Appends what `op`, nested ops included, reads and writes. Barriers and the
/// commits and waits of asynchronous copies access nothing. Returns false where
/// the effects are not known, or memory other than a thread's stack is
/// allocated or freed, with the reason.
bool collectAccesses(mlir::Operation *op,
                     llvm::SmallVectorImpl<MemoryAccess> &accesses,
                     std::string &reason);

/// An op among these that reads and writes the same memory at once, as atomics
/// do: other threads may wait for it, so that nothing may pass it. What only
/// works in place is no such op.
const MemoryAccess *findAtomic(llvm::ArrayRef<MemoryAccess> accesses,
                               std::optional<MemorySpace> space = std::nullopt);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYACCESS_H
