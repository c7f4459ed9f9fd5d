//===- Timing.h - How long things take on each chip -------------*- C++ -*-===//
//
// Published latencies and throughputs, for timelines of simulated programs and
// for what passes estimate. No code depends on them for being right.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TIMING_H
#define SMALTI_TARGETS_TIMING_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace smalti::targets {

/// What is published about one product with a chip. Zero = no number is known.
struct Timing {
  /// "H100 SXM5"
  llvm::StringRef product;
  /// Compute units.
  int64_t units = 0;
  int64_t megahertz = 0;
  /// Parts of a unit, each with a scheduler, arithmetic and a matrix unit of
  /// its own, among which it deals its warps.
  int64_t parts = 0;
  /// 10^9 bytes of global memory per second, for all units together.
  int64_t memoryBandwidth = 0;
  /// Cycles from a load of global memory, not in a cache, to its data.
  double globalLatency = 0;
  /// The same of shared memory.
  double sharedLatency = 0;
  /// Bytes of shared memory per cycle and unit.
  int64_t sharedBytes = 0;
  /// 32-bit results of arithmetic per cycle and unit.
  int64_t results = 0;
  /// The same of special functions: exponentials, roots, sines.
  int64_t specialResults = 0;
  /// Dense multiply-accumulates of the matrix unit per cycle and unit, where
  /// they are not those of the target's `mmas`.
  int64_t f16Macs = 0;
  int64_t tf32Macs = 0;
  int64_t eightBitMacs = 0;
  /// Bytes of the cache that all units share, and what a unit gets from it in a
  /// cycle.
  int64_t cacheBytes = 0;
  int64_t cacheBytesPerCycle = 0;
  /// Threads, and bytes of shared memory, of all blocks of one unit, and the
  /// bytes that each block takes there on top of its own.
  int64_t threadsPerUnit = 0;
  int64_t sharedMemoryPerUnit = 0;
  int64_t sharedMemoryReserved = 0;
};

/// What is known of the target with this name, or null.
const Timing *lookupTiming(llvm::StringRef target);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TIMING_H
