//===- Indices.cpp - Places of AMD's work items ---------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Runtime/Thread.h"

#include <algorithm>

using namespace smalti::emulator;

namespace {

template <Dimensions (*dimensions)(), int32_t Dimensions::*axis>
void read(const Call &call) {
  call.set<int32_t>(dimensions().*axis);
}

template <int (*value)()> void readNumber(const Call &call) {
  call.set<int32_t>(value());
}

/// v_mbcnt_lo/hi_u32_b32: set bits of the mask below this lane, plus a sum.
template <int half> void maskedBitCount(const Call &call) {
  auto mask = call.get<uint32_t>(0);
  int below = std::clamp(laneId() - 32 * half, 0, 32);
  if (below < 32)
    mask &= (uint32_t(1) << below) - 1;
  call.set<uint32_t>(__builtin_popcount(mask) + call.get<uint32_t>(1));
}

constexpr char kernelDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: Initial Kernel Execution State\"";
constexpr char intrinsicDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: LLVM IR Intrinsics\"";
constexpr char mbcntDocument[] =
    "CDNA3 ISA, \"VOP3A and VOP3B Instructions: V_MBCNT_LO_U32_B32, "
    "V_MBCNT_HI_U32_B32\"";

// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.amdgcn.workitem.id.x", read<threadId, &Dimensions::x>, nullptr, kernelDocument},
    {"llvm.amdgcn.workitem.id.y", read<threadId, &Dimensions::y>, nullptr, kernelDocument},
    {"llvm.amdgcn.workitem.id.z", read<threadId, &Dimensions::z>, nullptr, kernelDocument},
    {"llvm.amdgcn.workgroup.id.x", read<blockId, &Dimensions::x>, nullptr, kernelDocument},
    {"llvm.amdgcn.workgroup.id.y", read<blockId, &Dimensions::y>, nullptr, kernelDocument},
    {"llvm.amdgcn.workgroup.id.z", read<blockId, &Dimensions::z>, nullptr, kernelDocument},
    {"llvm.amdgcn.wavefrontsize", readNumber<waveSize>, nullptr, intrinsicDocument},
    {"llvm.amdgcn.wave.id", readNumber<waveId>, nullptr, intrinsicDocument},
    {"llvm.amdgcn.mbcnt.lo", maskedBitCount<0>, nullptr, mbcntDocument},
    {"llvm.amdgcn.mbcnt.hi", maskedBitCount<1>, nullptr, mbcntDocument},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdIndices = table;
