//===- Indices.cpp - Special registers of NVIDIA --------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Runtime/Thread.h"

using namespace smalti::emulator;

namespace {

template <Dimensions (*dimensions)(), int32_t Dimensions::*axis>
void read(const Call &call) {
  call.set<int32_t>(dimensions().*axis);
}

template <int (*value)()> void readNumber(const Call &call) {
  call.set<int32_t>(value());
}

int numWaves() { return (numThreads() + waveSize() - 1) / waveSize(); }

/// Lanes that stand in relation to the running one.
template <bool below, bool self, bool above> void laneMask(const Call &call) {
  uint32_t bit = uint32_t(1) << laneId();
  call.set<uint32_t>((below ? bit - 1 : 0) | (self ? bit : 0) |
                     (above ? ~(bit | (bit - 1)) : 0));
}

#define SMALTI_PTX(section) "PTX ISA, \"Special Registers: " section "\""
// clang-format off: one line an instruction
constexpr Instruction table[] = {
    {"llvm.nvvm.read.ptx.sreg.tid.x", read<threadId, &Dimensions::x>, nullptr, SMALTI_PTX("%tid")},
    {"llvm.nvvm.read.ptx.sreg.tid.y", read<threadId, &Dimensions::y>, nullptr, SMALTI_PTX("%tid")},
    {"llvm.nvvm.read.ptx.sreg.tid.z", read<threadId, &Dimensions::z>, nullptr, SMALTI_PTX("%tid")},
    {"llvm.nvvm.read.ptx.sreg.ntid.x", read<blockSize, &Dimensions::x>, nullptr, SMALTI_PTX("%ntid")},
    {"llvm.nvvm.read.ptx.sreg.ntid.y", read<blockSize, &Dimensions::y>, nullptr, SMALTI_PTX("%ntid")},
    {"llvm.nvvm.read.ptx.sreg.ntid.z", read<blockSize, &Dimensions::z>, nullptr, SMALTI_PTX("%ntid")},
    {"llvm.nvvm.read.ptx.sreg.ctaid.x", read<blockId, &Dimensions::x>, nullptr, SMALTI_PTX("%ctaid")},
    {"llvm.nvvm.read.ptx.sreg.ctaid.y", read<blockId, &Dimensions::y>, nullptr, SMALTI_PTX("%ctaid")},
    {"llvm.nvvm.read.ptx.sreg.ctaid.z", read<blockId, &Dimensions::z>, nullptr, SMALTI_PTX("%ctaid")},
    {"llvm.nvvm.read.ptx.sreg.nctaid.x", read<gridSize, &Dimensions::x>, nullptr, SMALTI_PTX("%nctaid")},
    {"llvm.nvvm.read.ptx.sreg.nctaid.y", read<gridSize, &Dimensions::y>, nullptr, SMALTI_PTX("%nctaid")},
    {"llvm.nvvm.read.ptx.sreg.nctaid.z", read<gridSize, &Dimensions::z>, nullptr, SMALTI_PTX("%nctaid")},
    {"llvm.nvvm.read.ptx.sreg.laneid", readNumber<laneId>, nullptr, SMALTI_PTX("%laneid")},
    {"llvm.nvvm.read.ptx.sreg.warpid", readNumber<waveId>, nullptr, SMALTI_PTX("%warpid")},
    {"llvm.nvvm.read.ptx.sreg.nwarpid", readNumber<numWaves>, nullptr, SMALTI_PTX("%nwarpid")},
    {"llvm.nvvm.read.ptx.sreg.warpsize", readNumber<waveSize>, nullptr, SMALTI_PTX("WARP_SZ")},
    {"llvm.nvvm.read.ptx.sreg.lanemask.eq", laneMask<false, true, false>, nullptr, SMALTI_PTX("%lanemask_eq")},
    {"llvm.nvvm.read.ptx.sreg.lanemask.le", laneMask<true, true, false>, nullptr, SMALTI_PTX("%lanemask_le")},
    {"llvm.nvvm.read.ptx.sreg.lanemask.lt", laneMask<true, false, false>, nullptr, SMALTI_PTX("%lanemask_lt")},
    {"llvm.nvvm.read.ptx.sreg.lanemask.ge", laneMask<false, true, true>, nullptr, SMALTI_PTX("%lanemask_ge")},
    {"llvm.nvvm.read.ptx.sreg.lanemask.gt", laneMask<false, false, true>, nullptr, SMALTI_PTX("%lanemask_gt")},
};
// clang-format on
#undef SMALTI_PTX

} // namespace

const InstructionList smalti::emulator::nvidiaIndices = table;
