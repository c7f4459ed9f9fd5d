//===- BufferAliasing.h - Buffers that may overlap --------------*- C++ -*-===//
//
// Whether two buffers may overlap, as an implementation of upstream's
// AliasAnalysis. Upstream's local analysis does not know memory spaces,
// llvm.noalias, kernels' attributions or slices of shared memory.
//
// AliasResult has neither slots nor iterations, and pairs of values cannot be
// indexed. So two questions stay outside of it: passes that compare every
// access of a loop with every other keep lists by AliasClass, which makes them
// linear, and IterationDependence compares the elements that two iterations of
// a loop access.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"

#include "mlir/Analysis/AliasAnalysis.h"

namespace smalti {

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

/// The implementation that passes add to upstream's.
class BufferAliasAnalysis {
public:
  mlir::AliasResult alias(mlir::Value a, mlir::Value b);
  mlir::ModRefResult getModRef(mlir::Operation *op, mlir::Value location);
};

/// Upstream's analysis with BufferAliasAnalysis added to it.
mlir::AliasAnalysis makeAliasAnalysis(mlir::Operation *op);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H
