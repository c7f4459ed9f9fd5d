//===- ProgramScratch.h - Memory that a program uses in passing -*- C++ -*-===//
//
// Ops that move elements between warps need some shared memory for a while, and
// barriers of the threads that run the program. All such ops of a program use
// the same bytes, behind those that the kernel has otherwise; programs that run
// side by side in a block have bytes of their own.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PROGRAMSCRATCH_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PROGRAMSCRATCH_H

#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"

namespace smalti::block_to_thread {

class Planner;

/// How many programs a block runs side by side.
int64_t getNumPrograms(const ThreadGrid &grid);

/// Asks for bytes; an error at the op where the block has no room for them.
mlir::LogicalResult reserveScratch(mlir::Operation *op, Planner &planner,
                                   int64_t bytes);

/// Puts what was asked for behind the kernel's shared memory, once.
void placeScratch(KernelPlan &plan);

/// Where the program's bytes are.
SharedPlace getScratch(Emitter &emitter);
/// `offset` bytes behind the start of the block's shared memory, and `bytes`
/// more for each program.
SharedPlace getProgramPlace(Emitter &emitter, int64_t offset, int64_t bytes);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_PROGRAMSCRATCH_H
