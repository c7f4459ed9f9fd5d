//===- Timing.h - Published timings of chips --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published latencies and throughputs, for the simulator's timelines and the
// estimates of passes. Correctness does not depend on them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TIMING_H
#define SMALTI_TARGETS_TIMING_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace smalti::targets {

/// Published numbers of one board with the chip. 0: unknown.
struct Timing {
  /// "H100 SXM5"
  llvm::StringRef product;
  /// Compute units (streaming multiprocessors on NVIDIA).
  int64_t units = 0;
  int64_t megahertz = 0;
  /// Partitions (SIMDs) of a compute unit, each with its own scheduler,
  /// arithmetic and matrix core. Warps are distributed across them.
  int64_t parts = 0;
  /// Global memory bandwidth of the chip in GB/s.
  int64_t memoryBandwidth = 0;
  /// Latency in cycles of a global load that misses all caches.
  double globalLatency = 0;
  /// Latency in cycles of a shared-memory load.
  double sharedLatency = 0;
  /// Shared-memory bytes per cycle and compute unit.
  int64_t sharedBytes = 0;
  /// 32-bit arithmetic results per cycle and compute unit.
  int64_t results = 0;
  /// The same for special functions: exponentials, roots, sines.
  int64_t specialResults = 0;
  /// Dense tensor-core multiply-accumulates per cycle and compute unit, if they
  /// differ from those in the target's `mmas`.
  int64_t f16Macs = 0;
  int64_t tf32Macs = 0;
  int64_t eightBitMacs = 0;
  /// Size of L2 in bytes, and bytes per cycle from L2 to one compute unit.
  int64_t cacheBytes = 0;
  int64_t cacheBytesPerCycle = 0;
  /// Maximum threads and bytes of shared memory of all resident blocks of a
  /// compute unit, and the bytes that the system reserves per block.
  int64_t threadsPerUnit = 0;
  int64_t sharedMemoryPerUnit = 0;
  int64_t sharedMemoryReserved = 0;
};

/// The timing of the target with this name, or null.
const Timing *lookupTiming(llvm::StringRef target);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TIMING_H
