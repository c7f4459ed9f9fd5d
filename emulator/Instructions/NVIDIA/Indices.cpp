//===- Indices.cpp - Special registers of NVIDIA --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

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

/// Masks of lanes relative to the running lane.
template <bool below, bool self, bool above> void laneMask(const Call &call) {
  uint32_t bit = uint32_t(1) << laneId();
  call.set<uint32_t>((below ? bit - 1 : 0) | (self ? bit : 0) |
                     (above ? ~(bit | (bit - 1)) : 0));
}

template <int32_t number> void constant(const Call &call) {
  call.set<int32_t>(number);
}

Dimensions clusterId() {
  Dimensions block = blockId(), size = clusterSizes();
  return {block.x / size.x, block.y / size.y, block.z / size.z};
}
Dimensions clusterCount() {
  Dimensions grid = gridSize(), size = clusterSizes();
  return {grid.x / size.x, grid.y / size.y, grid.z / size.z};
}
Dimensions blockInCluster() {
  Dimensions block = blockId(), size = clusterSizes();
  return {block.x % size.x, block.y % size.y, block.z % size.z};
}

/// Whether the launch asks for a cluster.
void isExplicit(const Call &call) { call.set<uint8_t>(clusterSize() > 1); }

/// Counts reads: later ones are larger, and launches repeat.
template <class Count> void readCounter(const Call &call) {
  static uint64_t count = 0;
  call.set(Count(count += 32));
}

void readDynamicBytes(const Call &call) {
  call.set<uint32_t>(dynamicSharedBytes());
}
void readSharedBytes(const Call &call) { call.set<uint32_t>(sharedBytes()); }

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
    {"llvm.nvvm.read.ptx.sreg.tid.w", constant<0>, nullptr, SMALTI_PTX("%tid")},
    {"llvm.nvvm.read.ptx.sreg.ctaid.w", constant<0>, nullptr, SMALTI_PTX("%ctaid")},
    {"llvm.nvvm.read.ptx.sreg.ntid.w", constant<1>, nullptr, SMALTI_PTX("%ntid")},
    {"llvm.nvvm.read.ptx.sreg.nctaid.w", constant<1>, nullptr, SMALTI_PTX("%nctaid")},
    {"llvm.nvvm.read.ptx.sreg.clusterid.x", read<clusterId, &Dimensions::x>, nullptr, SMALTI_PTX("%clusterid")},
    {"llvm.nvvm.read.ptx.sreg.nclusterid.x", read<clusterCount, &Dimensions::x>, nullptr, SMALTI_PTX("%nclusterid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.ctaid.x", read<blockInCluster, &Dimensions::x>, nullptr, SMALTI_PTX("%cluster_ctaid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.nctaid.x", read<clusterSizes, &Dimensions::x>, nullptr, SMALTI_PTX("%cluster_nctaid")},
    {"llvm.nvvm.read.ptx.sreg.clusterid.y", read<clusterId, &Dimensions::y>, nullptr, SMALTI_PTX("%clusterid")},
    {"llvm.nvvm.read.ptx.sreg.nclusterid.y", read<clusterCount, &Dimensions::y>, nullptr, SMALTI_PTX("%nclusterid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.ctaid.y", read<blockInCluster, &Dimensions::y>, nullptr, SMALTI_PTX("%cluster_ctaid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.nctaid.y", read<clusterSizes, &Dimensions::y>, nullptr, SMALTI_PTX("%cluster_nctaid")},
    {"llvm.nvvm.read.ptx.sreg.clusterid.z", read<clusterId, &Dimensions::z>, nullptr, SMALTI_PTX("%clusterid")},
    {"llvm.nvvm.read.ptx.sreg.nclusterid.z", read<clusterCount, &Dimensions::z>, nullptr, SMALTI_PTX("%nclusterid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.ctaid.z", read<blockInCluster, &Dimensions::z>, nullptr, SMALTI_PTX("%cluster_ctaid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.nctaid.z", read<clusterSizes, &Dimensions::z>, nullptr, SMALTI_PTX("%cluster_nctaid")},
    {"llvm.nvvm.read.ptx.sreg.clusterid.w", constant<0>, nullptr, SMALTI_PTX("%clusterid")},
    {"llvm.nvvm.read.ptx.sreg.nclusterid.w", constant<1>, nullptr, SMALTI_PTX("%nclusterid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.ctaid.w", constant<0>, nullptr, SMALTI_PTX("%cluster_ctaid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.nctaid.w", constant<1>, nullptr, SMALTI_PTX("%cluster_nctaid")},
    {"llvm.nvvm.read.ptx.sreg.cluster.ctarank", readNumber<clusterRank>, nullptr, SMALTI_PTX("%cluster_ctarank")},
    {"llvm.nvvm.read.ptx.sreg.cluster.nctarank", readNumber<clusterSize>, nullptr, SMALTI_PTX("%cluster_nctarank")},
    {"llvm.nvvm.is_explicit_cluster", isExplicit, nullptr, SMALTI_PTX("%is_explicit_cluster")},
    // One multiprocessor, one grid.
    {"llvm.nvvm.read.ptx.sreg.smid", constant<0>, nullptr, SMALTI_PTX("%smid")},
    {"llvm.nvvm.read.ptx.sreg.nsmid", constant<1>, nullptr, SMALTI_PTX("%nsmid")},
    {"llvm.nvvm.read.ptx.sreg.gridid", constant<0>, nullptr, SMALTI_PTX("%gridid")},
    {"llvm.nvvm.read.ptx.sreg.clock", readCounter<uint32_t>, nullptr, SMALTI_PTX("%clock")},
    {"llvm.nvvm.read.ptx.sreg.clock64", readCounter<uint64_t>, nullptr, SMALTI_PTX("%clock64")},
    {"llvm.nvvm.read.ptx.sreg.globaltimer", readCounter<uint64_t>, nullptr, SMALTI_PTX("%globaltimer")},
    {"llvm.nvvm.read.ptx.sreg.globaltimer.lo", readCounter<uint32_t>, nullptr, SMALTI_PTX("%globaltimer_lo")},
    // The counters end before their upper halves change.
    {"llvm.nvvm.read.ptx.sreg.globaltimer.hi", constant<0>, nullptr, SMALTI_PTX("%globaltimer_hi")},
    {"llvm.nvvm.read.ptx.sreg.clock_hi", constant<0>, nullptr, SMALTI_PTX("%clock_hi")},
    {"llvm.nvvm.read.ptx.sreg.dynamic_smem_size", readDynamicBytes, nullptr, SMALTI_PTX("%dynamic_smem_size")},
    {"llvm.nvvm.read.ptx.sreg.total_smem_size", readSharedBytes, nullptr, SMALTI_PTX("%total_smem_size")},
    {"llvm.nvvm.read.ptx.sreg.aggr_smem_size", readSharedBytes, nullptr, SMALTI_PTX("%aggr_smem_size")},
};
// clang-format on
#undef SMALTI_PTX

} // namespace

const InstructionList smalti::emulator::nvidiaIndices = table;
