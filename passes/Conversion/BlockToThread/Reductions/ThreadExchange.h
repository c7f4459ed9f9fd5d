//===- ThreadExchange.h - Values of other threads ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and scans move tuples between the lanes of a warp by moves of
// words, and between the warps of a thread group through shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_THREADEXCHANGE_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_THREADEXCHANGE_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Reductions/Combiner.h"
#include "smalti/passes/Conversion/BlockToThread/Reductions/ReductionPlans.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"

namespace smalti::block_to_thread {

class Planner;

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// The number of tuples that are moved together, so that values narrower than a
/// word are packed.
int64_t getPacking(llvm::ArrayRef<mlir::Type> types, int64_t length);
/// Joins every `packing` tuples into one with longer vectors.
llvm::SmallVector<Tuple> joinTuples(mlir::OpBuilder &builder,
                                    mlir::Location loc,
                                    llvm::ArrayRef<Tuple> tuples,
                                    int64_t packing);
/// The tuples, with vectors of `length`, that were joined.
llvm::SmallVector<Tuple> splitTuples(mlir::OpBuilder &builder,
                                     mlir::Location loc,
                                     llvm::ArrayRef<Tuple> joined,
                                     int64_t length);

/// The tuple of another lane.
Tuple emitTupleMove(mlir::OpBuilder &builder, mlir::Location loc,
                    Emitter &emitter, const Tuple &tuple, const LaneMove &move);

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Plans where warps exchange `elements` elements of each type per thread: in
/// the scratch that the op names, otherwise in scratch of the kernel.
mlir::LogicalResult planWarpExchange(mlir::Operation *op,
                                     llvm::ArrayRef<mlir::Type> types,
                                     int64_t elements, Planner &planner,
                                     WarpExchange &plan);

/// For each part of the exchange, in the order of its number, the tuples of the
/// threads of that part; `tuples` are those of this thread. `combine` gets a
/// piece of the tuples with its parts, and returns some tuples of the same
/// length. The result has the same number of lists.
llvm::SmallVector<llvm::SmallVector<Tuple>> emitWarpExchange(
    mlir::OpBuilder &builder, mlir::Location loc, Emitter &emitter,
    const WarpExchange &plan, llvm::ArrayRef<Tuple> tuples,
    llvm::function_ref<llvm::SmallVector<Tuple>(llvm::ArrayRef<Tuple> parts)>
        combine);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REDUCTIONS_THREADEXCHANGE_H
