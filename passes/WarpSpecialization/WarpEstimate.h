//===- WarpEstimate.h - What it takes to copy and to multiply ---*- C++ -*-===//
//
// The time of a block's loops, from the numbers of the chip alone.
// Pure: nothing here knows IR.
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

/// Copies that complete together and the products of what they brought.
struct WorkStep {
  /// How often, for one tile of work.
  int64_t iterations = 1;
  int64_t copiedBytes = 0;
  /// What the matrix units take, and what their operands take to be read from
  /// shared memory, whichever is longer.
  int64_t wgmmaCycles = 0;
  /// The product needs not be waited for by the time the next one starts.
  bool canStayInFlight = false;
};

/// What a block does for one tile.
struct BlockWork {
  llvm::SmallVector<WorkStep> steps;
  int64_t storedBytes = 0;
  /// Blocks of the launch; 0 where that is not known.
  int64_t blocks = 0;
  /// A block computes one tile after another.
  bool isPersistent = false;
};

/// One way to do it.
struct BlockWay {
  /// Whether warps of their own copy.
  bool isSpecialised = false;
  int64_t slots = 1;
  int64_t threads = 0;
  /// Of a block, and of each of its threads. A block whose warps exchange
  /// registers has a unit to itself.
  int64_t sharedBytes = 0, registers = 0;
  bool exchangesRegisters = false;
};

struct BlockTime {
  /// Blocks that a unit holds at once.
  int64_t residents = 0;
  /// Of a unit, for one tile.
  int64_t cycles = 0;
};

/// Here and below: the chip has products of warp groups.
///
/// Cycles of a product of m x n x k elements of `bits` bits by `groups` warp
/// groups.
int64_t countWgmmaCycles(const targets::Target &target, int64_t m, int64_t n,
                           int64_t k, int64_t bits, int64_t groups);

/// A block alone waits for its first copies, then takes for every step the
/// longest of its copies, its product and its share of the latency of memory,
/// which all slots but one hide; where all threads copy and multiply in turn,
/// the waits at both ends of the product come on top, and where warps of their
/// own copy, as much for the roles to begin and to end. Blocks on one unit fill
/// in one another's waits, up to what its matrix units and its path to memory
/// do.
BlockTime estimateTime(const targets::Target &target, const BlockWork &work,
                       const BlockWay &way);

} // namespace smalti

#endif // SMALTI_PASSES_WARPSPECIALIZATION_WARPESTIMATE_H
