//===- Timing.cpp - Published timings of chips ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources:
// - NVIDIA's whitepapers of A100, Ada and H100, and the datasheets of A100
//   80GB, RTX 4090 and H100: SMs, clock, bandwidth, and the dense rate of
//   wgmma. The clock of H100 is the one that gives its quoted 989.4 TFLOP/s
//   of f16.
// - CUDA C++ Programming Guide, "Arithmetic Instructions": results per cycle
//   and SM of 32-bit arithmetic and of special functions. "Shared Memory": 32
//   banks of 4 bytes per cycle.
// - W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
//   Architecture" (arXiv:2402.13499), Table IV: latencies of shared and global
//   memory, of the chips on the boards of Table III (A100 PCIe, RTX 4090, H800
//   PCIe); and one wgmma of m64n256k16 per 128 cycles, which is the quoted
//   rate.
// - S. Vanecek et al., "MT4G: A Tool for Reliable Auto-Discovery of NVIDIA and
//   AMD GPU Compute and Memory Topologies" (arXiv:2511.05958), the results that
//   its repository has (sample_results): the latencies of LDS and of global
//   memory of MI300X. For H100 80GB HBM3 it reports 29.9 and 834.5 cycles where
//   the paper above has 29.0 and 478.8, since it accesses more memory and
//   includes address translation.
// - The whitepapers: 40 and 50 MB of L2 in A100 and H100. 64 bytes per cycle is
//   the width of the path from an SM to L2; measured rates with all SMs active
//   are lower.
// - CUDA C++ Programming Guide, "Compute Capabilities": four warp schedulers
//   per SM, across which warps are distributed. The whitepapers show the four
//   partitions, each with a tensor core.
// - CUDA C++ Programming Guide, "Compute Capabilities": threads and shared
//   memory per SM, of which the system reserves 1 KB per block.
// - AMD's CDNA3 white paper: MI300X, and four matrix cores per compute unit.
//
//===----------------------------------------------------------------------===//

#include "smalti/targets/Timing.h"

#include <utility>

using namespace smalti::targets;

static Timing a100() {
  Timing timing;
  timing.product = "A100 SXM4 80GB";
  timing.units = 108;
  timing.megahertz = 1410;
  timing.memoryBandwidth = 2039;
  timing.globalLatency = 466.3;
  timing.sharedLatency = 29.0;
  timing.sharedBytes = 128;
  timing.parts = 4;
  timing.results = 64;
  timing.specialResults = 16;
  timing.cacheBytes = 40 << 20;
  timing.cacheBytesPerCycle = 64;
  timing.threadsPerUnit = 2048;
  timing.sharedMemoryPerUnit = 164 << 10;
  timing.sharedMemoryReserved = 1 << 10;
  return timing;
}

static Timing rtx4090() {
  Timing timing;
  timing.product = "RTX 4090";
  timing.units = 128;
  timing.megahertz = 2520;
  timing.memoryBandwidth = 1008;
  timing.globalLatency = 541.5;
  timing.sharedLatency = 30.1;
  timing.sharedBytes = 128;
  timing.parts = 4;
  timing.results = 128;
  timing.specialResults = 16;
  // With 32-bit accumulators, half the rate of 16-bit accumulators.
  timing.f16Macs = 256;
  timing.tf32Macs = 128;
  return timing;
}

static Timing h100() {
  Timing timing;
  timing.product = "H100 SXM5";
  timing.units = 132;
  timing.megahertz = 1830;
  timing.memoryBandwidth = 3352;
  timing.globalLatency = 478.8;
  timing.sharedLatency = 29.0;
  timing.sharedBytes = 128;
  timing.parts = 4;
  timing.results = 128;
  timing.specialResults = 16;
  timing.f16Macs = 2048;
  timing.tf32Macs = 1024;
  timing.eightBitMacs = 4096;
  timing.cacheBytes = 50 << 20;
  timing.cacheBytesPerCycle = 64;
  timing.threadsPerUnit = 2048;
  timing.sharedMemoryPerUnit = 228 << 10;
  timing.sharedMemoryReserved = 1 << 10;
  return timing;
}

static Timing mi300x() {
  Timing timing;
  timing.product = "MI300X";
  timing.units = 304;
  timing.megahertz = 2100;
  timing.memoryBandwidth = 5300;
  timing.globalLatency = 899.7;
  timing.sharedLatency = 51.3;
  timing.sharedBytes = 128;
  timing.parts = 4;
  timing.results = 128;
  return timing;
}

const Timing *smalti::targets::lookupTiming(llvm::StringRef target) {
  static const std::pair<llvm::StringRef, Timing> table[] = {
      {"sm_80", a100()},  {"sm_89", rtx4090()}, {"sm_90", h100()},
      {"sm_90a", h100()}, {"gfx942", mi300x()},
  };
  for (const auto &[name, timing] : table)
    if (name == target)
      return &timing;
  return nullptr;
}
