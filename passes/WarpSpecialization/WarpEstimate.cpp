//===- WarpEstimate.cpp - Time estimate of copies and wgmma ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/WarpSpecialization/WarpEstimate.h"

#include "smalti/passes/Layouts/Plans/Relayouts.h"
#include "smalti/targets/Target.h"
#include "smalti/targets/Timing.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace smalti;
using targets::Target;
using targets::Timing;

static const Timing &timingOf(const Target &target) {
  return *targets::lookupTiming(target.name);
}

/// Rounds a published latency.
static int64_t inCycles(double latency) {
  return static_cast<int64_t>(latency + 0.5);
}

int64_t smalti::countWgmmaCycles(const Target &target, int64_t m, int64_t n,
                                 int64_t k, int64_t bits, int64_t groups) {
  const Timing &timing = timingOf(target);
  int64_t rate = bits == 8    ? timing.eightBitMacs
                 : bits == 16 ? timing.f16Macs
                              : timing.tf32Macs;
  int64_t multiplied = llvm::divideCeil(m * n * k, rate);
  // Each group reads its rows of A and all of B.
  int64_t read = llvm::divideCeil((m + groups * n) * k * bits / 8,
                                  target.sharedMemoryBanks * target.bankBytes);
  return std::max(multiplied, read);
}

/// Resident blocks per SM, at least 1: ptxas limits the registers of a thread
/// so that one block fits.
static int64_t countResidentBlocks(const Target &target, const BlockWork &work,
                                   const BlockVariant &variant) {
  if (variant.reallocatesRegisters)
    return 1;
  const Timing &timing = timingOf(target);
  int64_t registers = std::clamp<int64_t>(
      variant.registers, 1, target.registersPerUnit / variant.threads);
  int64_t residentBlocks =
      std::min({timing.threadsPerUnit / variant.threads,
                timing.sharedMemoryPerUnit /
                    (variant.sharedBytes + timing.sharedMemoryReserved),
                target.registersPerUnit / (variant.threads * registers)});
  // The grid may have fewer blocks than the SMs can hold.
  if (work.blocks != 0)
    residentBlocks = std::min<int64_t>(
        residentBlocks, llvm::divideCeil(work.blocks, timing.units));
  return std::max<int64_t>(residentBlocks, 1);
}

BlockTime smalti::estimateTime(const Target &target, const BlockWork &work,
                               const BlockVariant &variant) {
  const Timing &timing = timingOf(target);
  int64_t memoryLatency = inCycles(timing.globalLatency);
  BlockTime time;
  time.residentBlocks = countResidentBlocks(target, work, variant);
  // Read the mbarrier and the first operands, then synchronize all threads.
  int64_t waits =
      2 * inCycles(timing.sharedLatency) + relayouts::kBarrierCycles;
  int64_t stored =
      llvm::divideCeil(work.storedBytes, timing.cacheBytesPerCycle);
  int64_t busy = stored;
  // Producers prefetch the next tile while the consumers store this one.
  int64_t singleBlock = stored;
  if (!variant.isSpecialized || !work.isPersistent)
    singleBlock += memoryLatency;
  // The roles start with a block barrier and the arrivals on each slot, and the
  // consumers wait for the last wgmma.
  if (variant.isSpecialized)
    singleBlock += 2 * waits;
  for (const WorkStep &step : work.steps) {
    int64_t copied =
        llvm::divideCeil(step.copiedBytes, timing.cacheBytesPerCycle);
    int64_t longest = std::max(copied, step.wgmmaCycles);
    bool isInFlight =
        variant.isSpecialized && step.canStayInFlight && variant.slots > 1;
    int64_t wgmma = step.wgmmaCycles + (isInFlight ? 0 : waits);
    int64_t once =
        variant.slots > 1
            ? std::max({copied, wgmma,
                        static_cast<int64_t>(llvm::divideCeil(
                            memoryLatency + copied, variant.slots - 1))})
            : memoryLatency + copied + wgmma;
    busy += step.iterations * longest;
    singleBlock += step.iterations * once;
  }
  time.cycles = std::max<int64_t>(
      busy, llvm::divideCeil(singleBlock, time.residentBlocks));
  return time;
}
