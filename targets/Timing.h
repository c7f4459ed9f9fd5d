//===- Timing.h - How long things take on each chip -------------*- C++ -*-===//
//
// Published latencies and throughputs, for timelines of simulated programs. No
// pass decides anything by them.
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
};

/// What is known of the target with this name, or null.
const Timing *lookupTiming(llvm::StringRef target);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TIMING_H
