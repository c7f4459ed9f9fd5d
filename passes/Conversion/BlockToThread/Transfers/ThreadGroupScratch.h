//===- ThreadGroupScratch.h - Temporary shared memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that move elements between warps need temporary shared memory and
// barriers of the thread group. All such ops of a thread group use the same
// bytes, after the other shared memory of the kernel; each thread group of a
// block has its own.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_THREADGROUPSCRATCH_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_THREADGROUPSCRATCH_H

#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"

namespace smalti::block_to_thread {

class Planner;

/// The number of thread groups of a block.
int64_t getNumThreadGroups(const ThreadGrid &grid);

/// Reserves bytes; an error at the op if they exceed the shared memory of a
/// block.
mlir::LogicalResult reserveScratch(mlir::Operation *op, Planner &planner,
                                   int64_t bytes);

/// Places the reserved bytes after the kernel's shared memory, once.
void placeScratch(KernelPlan &plan);

/// The address of the thread group's bytes.
SharedAddress getScratch(Emitter &emitter);
/// `offset` bytes after the start of the block's shared memory, plus `bytes`
/// per preceding thread group.
SharedAddress getThreadGroupAddress(Emitter &emitter, int64_t offset,
                                    int64_t bytes);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_TRANSFERS_THREADGROUPSCRATCH_H
