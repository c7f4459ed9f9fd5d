//===- AsyncCounts.h - Outstanding copies at a wait -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti::block_to_thread {

/// For chips that count copies and do not have groups: how many copies may be
/// in flight after each mosaic_gpu.async_wait_group below `root`. These are the
/// copies that every wave is guaranteed to have issued since the groups that
/// are waited for: the minimum over all paths to the wait. `countCopies`
/// returns the number of copies that a mosaic_gpu.async_copy is guaranteed to
/// issue in every wave.
llvm::DenseMap<mlir::Operation *, int64_t>
countCopiesInFlight(mlir::Operation *root,
                    llvm::function_ref<int64_t(mlir::Operation *)> countCopies);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H
