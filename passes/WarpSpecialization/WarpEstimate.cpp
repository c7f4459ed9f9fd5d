//===- WarpEstimate.cpp - What it takes to copy and to multiply -----------===//

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

/// Latencies are published with fractions.
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

/// Blocks that a unit holds at once. One always fits: the assembler gives its
/// threads what registers there are.
static int64_t countResidents(const Target &target, const BlockWork &work,
                              const BlockWay &way) {
  if (way.exchangesRegisters)
    return 1;
  const Timing &timing = timingOf(target);
  int64_t registers = std::clamp<int64_t>(
      way.registers, 1, target.registersPerUnit / way.threads);
  int64_t residents =
      std::min({timing.threadsPerUnit / way.threads,
                timing.sharedMemoryPerUnit /
                    (way.sharedBytes + timing.sharedMemoryReserved),
                target.registersPerUnit / (way.threads * registers)});
  // There may be no other block to fill in.
  if (work.blocks != 0)
    residents = std::min<int64_t>(residents,
                                  llvm::divideCeil(work.blocks, timing.units));
  return std::max<int64_t>(residents, 1);
}

BlockTime smalti::estimateTime(const Target &target, const BlockWork &work,
                               const BlockWay &way) {
  const Timing &timing = timingOf(target);
  int64_t memoryLatency = inCycles(timing.globalLatency);
  BlockTime time;
  time.residents = countResidents(target, work, way);
  // The barrier object and the first operands are read, and all threads meet.
  int64_t waits =
      2 * inCycles(timing.sharedLatency) + relayouts::kBarrierCycles;
  int64_t stored =
      llvm::divideCeil(work.storedBytes, timing.cacheBytesPerCycle);
  int64_t busy = stored;
  // Producers fetch for the next tile while this one is stored.
  int64_t alone = stored;
  if (!way.isSpecialised || !work.isPersistent)
    alone += memoryLatency;
  // The roles begin with a barrier of the block and one of each slot, and the
  // last product is waited for.
  if (way.isSpecialised)
    alone += 2 * waits;
  for (const WorkStep &step : work.steps) {
    int64_t copied =
        llvm::divideCeil(step.copiedBytes, timing.cacheBytesPerCycle);
    int64_t longest = std::max(copied, step.wgmmaCycles);
    bool isInFlight =
        way.isSpecialised && step.canStayInFlight && way.slots > 1;
    int64_t product = step.wgmmaCycles + (isInFlight ? 0 : waits);
    int64_t once = way.slots > 1
                       ? std::max({copied, product,
                                   static_cast<int64_t>(llvm::divideCeil(
                                       memoryLatency + copied, way.slots - 1))})
                       : memoryLatency + copied + product;
    busy += step.iterations * longest;
    alone += step.iterations * once;
  }
  time.cycles =
      std::max<int64_t>(busy, llvm::divideCeil(alone, time.residents));
  return time;
}
