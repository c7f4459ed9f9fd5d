//===- Barriers.cpp - Barriers of AMD -------------------------------------===//

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

void barrier(const Call &) {
  arriveAtBarrier(workGroupBarrier);
  waitAtBarrier(workGroupBarrier);
}

void signal(const Call &call) {
  checkIsOfWorkGroup(call.get<int32_t>(0));
  arriveAtBarrier(workGroupBarrier);
}

void wait(const Call &call) {
  checkIsOfWorkGroup(call.get<int16_t>(0));
  waitAtBarrier(workGroupBarrier);
}

// The runtime brings the lanes together.
void waveBarrier(const Wave &) {}

constexpr char barrierDocument[] =
    "CDNA3 ISA, \"SOPP Instructions: S_BARRIER\"; RDNA3 ISA, the same";
constexpr char splitDocument[] =
    "RDNA4 ISA, \"SOP1 Instructions: S_BARRIER_SIGNAL\", \"SOPP Instructions: "
    "S_BARRIER_WAIT\"";
constexpr char waveDocument[] =
    "LLVM, IntrinsicsAMDGPU.td, int_amdgcn_wave_barrier";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.s.barrier", barrier, nullptr, barrierDocument},
    {"llvm.amdgcn.s.barrier.signal", signal, nullptr, splitDocument},
    {"llvm.amdgcn.s.barrier.wait", wait, nullptr, splitDocument},
    {"llvm.amdgcn.wave.barrier", nullptr, waveBarrier, waveDocument},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdBarriers = table;
