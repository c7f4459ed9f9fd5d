//===- Barriers.cpp - Barriers and waits of AMD ---------------------------===//

#include "emulator/Instructions/AMD/Generation.h"
#include "emulator/Instructions/Lists.h"
#include "emulator/Runtime/Thread.h"

using namespace smalti::emulator;

namespace {

/// The barrier of the work group; named ones have the numbers above 0.
constexpr int workGroupBarrier = 0;
constexpr int workGroupBarrierOperand = -1;

void checkIsOfWorkGroup(int operand) {
  if (operand != workGroupBarrierOperand)
    fail("barrier %d: only that of the work group is emulated", operand);
}

/// Which wave came first to the barrier of the work group since it was last
/// complete.
int firstWave = 0;

void arrive() {
  if (arriveAtBarrier(workGroupBarrier))
    firstWave = waveId();
}

void barrier(const Call &) {
  arrive();
  waitAtBarrier(workGroupBarrier);
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
  waitAtBarrier(workGroupBarrier);
}

// The runtime brings the lanes together.
void waveBarrier(const Wave &) {}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

// The backend itself waits for what loads and stores of the IR give; a wait in
// the IR says when copies to LDS are done. vmcnt counts all vector memory
// instructions of the wave, in their order, but a thread here knows only of its
// copies, so that "all but the last n" are all but its last n copies. The
// hardware has at least those: others that it counts among the last n take the
// places of copies, which then are done. So nothing is done too early here, and
// a program whose counts rely on its other loads is found to wait too little.

void waitForCopies(int pending) {
  waitAsync(gatherToLDSQueue, size_t(pending));
}

/// The fields of the immediate: CDNA3 ISA and RDNA3 ISA, S_WAITCNT.
void waitForCounts(const Call &call) {
  auto counts = call.get<uint32_t>(0);
  if (isCDNA(generation()))
    waitForCopies(int((counts & 15) | (counts >> 14 & 3) << 4));
  else
    waitForCopies(int(counts >> 10 & 63));
}

void waitForCount(const Call &call) {
  waitForCopies(call.get<int16_t>(0) & 63);
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
    "RDNA4 ISA, \"SOPP Instructions: S_WAIT_LOADCNT\" and the like; CDNA5 ISA, "
    "\"S_WAIT_ASYNCCNT\"";
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
    {"llvm.amdgcn.s.waitcnt", waitForCounts, nullptr, waitDocument},
    {"llvm.amdgcn.s.wait.asynccnt", waitForCount, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.loadcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.storecnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.dscnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.kmcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.expcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.samplecnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.bvhcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.wait.tensorcnt", nothing, nullptr, splitWaitDocument},
    {"llvm.amdgcn.s.sleep", letOthersRun, nullptr, sleepDocument},
    {"llvm.amdgcn.s.sleep.var", letOthersRun, nullptr, sleepDocument},
    {"llvm.amdgcn.s.monitor.sleep", letOthersRun, nullptr, sleepDocument},
    // What steers when instructions are issued
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
