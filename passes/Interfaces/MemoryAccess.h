//===- MemoryAccess.h - What an op does to which memory -------------------===//
//
// Loop passes reason about buffers, not about ops: every access is resolved,
// through views, to the value that a buffer came into being with (its root) and
// to the kind of memory that it lies in.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_INTERFACES_MEMORYACCESS_H
#define SMALTI_PASSES_INTERFACES_MEMORYACCESS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mlir {
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

/// What is known of where a buffer came from.
enum class RootKind { Allocation, Global, NoAliasArgument, Argument, Other };

/// Roots with the same identity are the same buffer.
struct AliasClass {
  MemorySpace space;
  RootKind kind;
  const void *identity;
};

AliasClass getAliasClass(mlir::Value root);

/// Whether different roots of these kinds in one memory may overlap.
bool mayAlias(RootKind kindA, RootKind kindB);

/// Whether two roots may overlap. They do not where they lie in different
/// memories (but the cluster's may be the block's own, and what is not known
/// may be any), are different allocations or globals, an allocation and a
/// function argument, or two function arguments of which one is marked
/// `llvm.noalias`.
bool mayAlias(mlir::Value rootA, mlir::Value rootB);

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

#endif // SMALTI_PASSES_INTERFACES_MEMORYACCESS_H
