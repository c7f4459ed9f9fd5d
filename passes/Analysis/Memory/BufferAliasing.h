//===- BufferAliasing.h - Buffers that may overlap --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two buffers may overlap, as an implementation of upstream's
// AliasAnalysis. Upstream's local analysis does not consider memory spaces,
// llvm.noalias, attributions of kernels, or slices of shared memory.
//
// AliasResult does not express slots or iterations, and pairs of values cannot
// be indexed. So two questions are answered elsewhere. Passes that compare all
// accesses of a loop keep lists by AliasClass, which takes linear time.
// IterationDependence compares the elements that two iterations of a loop
// access.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"

#include "mlir/Analysis/AliasAnalysis.h"

namespace smalti {

/// The kind of definition of a buffer.
enum class RootKind { Allocation, Global, NoAliasArgument, Argument, Other };

/// Roots with the same identity are the same buffer.
struct AliasClass {
  MemorySpace space;
  RootKind kind;
  const void *identity;
};

AliasClass getAliasClass(mlir::Value root);

/// Whether different roots of these kinds in one memory space may overlap.
bool mayAlias(RootKind kindA, RootKind kindB);

/// Whether two roots may overlap. Roots in different memory spaces do not,
/// except that cluster memory may be the block's own, and unknown memory may be
/// any. Nor do different allocations or globals, an allocation and a function
/// argument, or two function arguments of which one has `llvm.noalias`.
bool mayAlias(mlir::Value rootA, mlir::Value rootB);

/// The implementation that passes add to upstream's.
class BufferAliasAnalysis {
public:
  mlir::AliasResult alias(mlir::Value a, mlir::Value b);
  mlir::ModRefResult getModRef(mlir::Operation *op, mlir::Value location);
};

/// Upstream's analysis with BufferAliasAnalysis added.
mlir::AliasAnalysis makeAliasAnalysis(mlir::Operation *op);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERALIASING_H
