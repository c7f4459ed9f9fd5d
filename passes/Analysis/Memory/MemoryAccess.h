//===- MemoryAccess.h - Memory accesses of ops ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop passes reason about buffers, not about ops. Every access is resolved,
// through views, to the value that defines the buffer (its root) and to a
// memory space.
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

/// The memory of one thread, one block, any block of the cluster, all threads,
/// or the tensor cores. `Other` is unknown. No pass analyzes accesses to
/// cluster, tensor and other memory.
enum class MemorySpace { Private, Shared, Cluster, Global, Tensor, Other };

llvm::StringRef toString(MemorySpace space);

/// The buffer that `memref` is a view of.
mlir::Value getRootBuffer(mlir::Value memref);

/// Appends the buffers that `memref` may be a view of. An arith.select or a
/// loop-carried value may be one of several.
void collectRootBuffers(mlir::Value memref,
                        llvm::SetVector<mlir::Value> &buffers);

/// Whether the result of `op` is an address that is computed from `source`: a
/// memref whose address is taken, a pointer, or an address as an integer.
bool isAddressOf(mlir::Operation *op, mlir::Value source);

/// The memory space of the buffer of `memref`.
MemorySpace getMemorySpace(mlir::Value memref);

/// Whether `root` is a new allocation that does not alias existing memory.
bool isAllocation(mlir::Value root);

/// The function that `root` is an argument of, or null.
mlir::FunctionOpInterface getFunctionOfArgument(mlir::Value root);

struct MemoryAccess {
  mlir::Operation *op; ///< the op that has the effect; it may be nested
  mlir::Value memref;  ///< the operand of the access
  mlir::Value root;
  MemorySpace space;
  bool isWrite;
};

/// Appends the reads and writes of `op`, including nested ops. Barriers, and
/// commits and waits of asynchronous copies, do not access memory. Returns
/// false, with the reason, if the effects are unknown, or memory other than a
/// thread's stack is allocated or freed.
bool collectAccesses(mlir::Operation *op,
                     llvm::SmallVectorImpl<MemoryAccess> &accesses,
                     std::string &reason);

/// An access of an op that both reads and writes the same memory, as atomics
/// do. Other threads may wait for it, so no access may move across it.
/// Destination-style ops that work in place are excluded.
const MemoryAccess *findAtomic(llvm::ArrayRef<MemoryAccess> accesses,
                               std::optional<MemorySpace> space = std::nullopt);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_MEMORYACCESS_H
