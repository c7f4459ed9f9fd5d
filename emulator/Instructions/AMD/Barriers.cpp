//===- Barriers.cpp - Barriers and waits of AMD ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

using namespace smalti::emulator;

namespace {

/// The barrier of the work group; named ones have the numbers above 0.
constexpr int workgroupBarrier = 0;
constexpr int workgroupBarrierOperand = -1;

void checkIsOfWorkGroup(int operand) {
  if (operand != workgroupBarrierOperand)
    fail("barrier id %d is not emulated; use id -1, the workgroup barrier",
         operand);
}

/// Which wave came first to the barrier of the work group since it was last
/// complete.
int firstWave = 0;

void arrive() {
  if (arriveAtBarrier(workgroupBarrier))
    firstWave = waveId();
}

void barrier(const Call &) {
  arrive();
  waitAtBarrier(workgroupBarrier);
}

void signal(const Call &call) {
  checkIsOfWorkGroup(call.get<int32_t>(0));
  arrive();
}

void signalIsFirst(const Call &call) {
  checkIsOfWorkGroup(call.get<int32_t>(0));
  arrive();
  call.set<uint8_t>(firstWave == waveId());
}

void wait(const Call &call) {
  checkIsOfWorkGroup(call.get<int16_t>(0));
  waitAtBarrier(workgroupBarrier);
}

// The runtime brings the lanes together.
void waveBarrier(const Wave &) {}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

// LLVM's backend waits for the result registers of loads. A wait in the IR
// completes LDS DMA: all entries of its counter but the last n. On vmcnt the
// hardware also counts other loads, and on CDNA stores. They are not entries
// here, because the backend merges, moves and drops them. The hardware then has
// completed at least the copies that are complete here. A program that relies
// on the count of its other loads gets a finding.

/// The fields of the immediate: CDNA3 ISA and RDNA3 ISA, S_WAITCNT.
void waitForCounts(const Call &call) {
  auto counts = call.get<uint32_t>(0);
  if (isCDNA(generation()))
    waitForCounter(loadCounter, (counts & 15) | (counts >> 14 & 3) << 4);
  else
    waitForCounter(loadCounter, counts >> 10 & 63);
}

template <WaveCounter counter> void waitForCount(const Call &call) {
  waitForCounter(counter, call.get<uint16_t>(0) & 63);
}

/// CDNA5 ISA, "Asynchronous Memory Load and Store": which of a load and a store
/// is done first is open, so that n of either may be pending.
void waitForAsyncCount(const Call &call) {
  waitForCount<asyncLoadCounter>(call);
  waitForCount<asyncStoreCounter>(call);
}

// The lanes reach a wait together, and the completed copies happen before the
// later accesses of each lane.
void afterWait(const Wave &) {}

//===----------------------------------------------------------------------===//
// Waits that LLVM's backend inserts
//===----------------------------------------------------------------------===//

void setCopySlot(const Call &call) { setSlot(call.get<uint32_t>(0)); }

void waitForSlotsOf(const Call &call) {
  waitForSlots(loadCounter, call.get<uint64_t>(0));
}

void nothing(const Call &) {}

void letOthersRun(const Call &) { yield(); }

constexpr char barrierDocument[] =
    "CDNA3 ISA, \"SOPP Instructions: S_BARRIER\"; RDNA3 ISA, the same";
constexpr char splitDocument[] =
    "RDNA4 ISA, \"SOP1 Instructions: S_BARRIER_SIGNAL\", \"SOPP Instructions: "
    "S_BARRIER_WAIT\"";
constexpr char waitDocument[] =
    "CDNA3 ISA, \"SOPP Instructions: S_WAITCNT\"; RDNA3 ISA, the same";
constexpr char splitWaitDocument[] =
    "RDNA4 ISA, \"SOPP Instructions: S_WAIT_LOADCNT\", ...; CDNA5 ISA, "
    "\"S_WAIT_ASYNCCNT\"";
constexpr char backendDocument[] =
    "LLVM, SIInsertWaitcnts.cpp and SIMemoryLegalizer.cpp; output of llc 22";
constexpr char sleepDocument[] = "CDNA3 ISA, \"SOPP Instructions: S_SLEEP\"";
constexpr char scheduleDocument[] =
    "CDNA3 ISA, \"SOPP Instructions\"; LLVM, IntrinsicsAMDGPU.td, "
    "int_amdgcn_sched_barrier";
constexpr char waveDocument[] =
    "LLVM, IntrinsicsAMDGPU.td, int_amdgcn_wave_barrier";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.s.barrier", barrier, nullptr, barrierDocument},
    {"llvm.amdgcn.s.barrier.signal", signal, nullptr, splitDocument},
    {"llvm.amdgcn.s.barrier.signal.isfirst", signalIsFirst, nullptr, splitDocument},
    {"llvm.amdgcn.s.barrier.wait", wait, nullptr, splitDocument},
    {"llvm.amdgcn.wave.barrier", nullptr, waveBarrier, waveDocument},
    // Waits
    {"llvm.amdgcn.s.waitcnt", nullptr, afterWait, waitDocument, nullptr, waitForCounts},
    {"llvm.amdgcn.s.wait.asynccnt", nullptr, afterWait, splitWaitDocument, nullptr, waitForAsyncCount},
    {"llvm.amdgcn.s.wait.loadcnt", nullptr, afterWait, splitWaitDocument, nullptr, waitForCount<loadCounter>},
    {"llvm.amdgcn.s.wait.storecnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.dscnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.kmcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.expcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.samplecnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.bvhcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.tensorcnt", nullptr, afterWait, splitWaitDocument, nullptr, waitForCount<tensorCounter>},
    {"llvm.amdgcn.s.sleep", letOthersRun, nullptr, sleepDocument},
    {"llvm.amdgcn.s.sleep.var", letOthersRun, nullptr, sleepDocument},
    {"llvm.amdgcn.s.monitor.sleep", letOthersRun, nullptr, sleepDocument},
    // Calls that Rewrite/BackendWaits.cpp inserts
    {"smalti.amdgcn.copy.slot", setCopySlot, nullptr, backendDocument},
    {"smalti.amdgcn.wait.slots", waitForSlotsOf, nullptr, backendDocument},
    // Scheduling hints
    {"llvm.amdgcn.s.nop", nothing, nullptr, scheduleDocument},
    {"llvm.amdgcn.s.setprio", nothing, nullptr, scheduleDocument},
    {"llvm.amdgcn.s.setprio.inc.wg", nothing, nullptr, scheduleDocument},
    {"llvm.amdgcn.sched.barrier", nothing, nullptr, scheduleDocument},
    {"llvm.amdgcn.sched.group.barrier", nothing, nullptr, scheduleDocument},
    {"llvm.amdgcn.iglp.opt", nothing, nullptr, scheduleDocument},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdBarriers = table;
