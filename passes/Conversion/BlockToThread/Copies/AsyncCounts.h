//===- AsyncCounts.h - Copies that a wait leaves in flight ------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti::block_to_thread {

/// For chips that count copies and know no groups: how many copies may be in
/// flight behind each mosaic_gpu.async_wait_group below `root`. These are the
/// copies that every wave certainly issued since the groups that are waited
/// for: the least over all ways that lead to the wait. `units` answers how many
/// a mosaic_gpu.async_copy certainly issues in every wave.
llvm::DenseMap<mlir::Operation *, int64_t>
countCopiesInFlight(mlir::Operation *root,
                    llvm::function_ref<int64_t(mlir::Operation *)> units);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_COPIES_ASYNCCOUNTS_H
