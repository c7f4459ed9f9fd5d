//===- WarpEstimate.h - Time estimate of copies and wgmma -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates the time of a block's loops from the target table. Independent of
// the IR.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_WARPSPECIALIZATION_WARPESTIMATE_H
#define SMALTI_PASSES_WARPSPECIALIZATION_WARPESTIMATE_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// Copies that complete on one mbarrier and the wgmma ops that read them.
struct WorkStep {
  /// Number of executions per tile.
  int64_t iterations = 1;
  int64_t copiedBytes = 0;
  /// The longer of the tensor cores' time and the time to read the operands
  /// from shared memory.
  int64_t wgmmaCycles = 0;
  /// The wgmma may be in flight when the next one starts.
  bool canStayInFlight = false;
};

/// The work of a block for one tile.
struct BlockWork {
  llvm::SmallVector<WorkStep> steps;
  int64_t storedBytes = 0;
  /// Blocks of the launch; 0: dynamic.
  int64_t blocks = 0;
  /// A block computes several tiles.
  bool isPersistent = false;
};

/// A kernel variant: with or without producer warps, and its resources.
struct BlockVariant {
  /// Whether producer warps copy.
  bool isSpecialized = false;
  int64_t slots = 1;
  int64_t threads = 0;
  /// Shared memory per block, and registers per thread. Only one block that
  /// reallocates registers is resident per SM.
  int64_t sharedBytes = 0, registers = 0;
  bool reallocatesRegisters = false;
};

struct BlockTime {
  /// Resident blocks per SM.
  int64_t residentBlocks = 0;
  /// Cycles of an SM per tile.
  int64_t cycles = 0;
};

/// Cycles of an m x n x k wgmma on `groups` warpgroups, with `bits` bits per
/// operand element. This function and the next one require a target with wgmma.
int64_t countWgmmaCycles(const targets::Target &target, int64_t m, int64_t n,
                         int64_t k, int64_t bits, int64_t groups);

/// A single block waits for its first copies. Each step then takes the longest
/// of its copies, its wgmma and the memory latency divided by the number of
/// slots minus one. Without specialization, the waits before and after the
/// wgmma are added to each step; with it, they are added once, at the start and
/// the end of the roles. Resident blocks of an SM hide each other's waits, up
/// to the throughput of its tensor cores and its L2 path.
BlockTime estimateTime(const targets::Target &target, const BlockWork &work,
                       const BlockVariant &variant);

} // namespace smalti

#endif // SMALTI_PASSES_WARPSPECIALIZATION_WARPESTIMATE_H
