//===- Indices.cpp - Places of AMD's work items ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <cstddef>

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

int staticSharedBytes() { return int(sharedBytes() - dynamicSharedBytes()); }

/// hsa_kernel_dispatch_packet_t: what a launch looks like to the hardware.
struct DispatchPacket {
  uint16_t header = 0, setup = 3;
  uint16_t workgroupSize[3];
  uint16_t reserved0 = 0;
  uint32_t gridSize[3];
  uint32_t privateSegmentBytes = 0, groupSegmentBytes;
  uint64_t kernelObject = 0;
  const void *kernelArguments;
  uint64_t reserved1 = 0, completionSignal = 0;
};
static_assert(sizeof(DispatchPacket) == 64);

/// The implicit arguments after the explicit ones, in code object version 5 and
/// later.
struct ImplicitArguments {
  uint32_t blockCount[3];
  uint16_t groupSize[3];
  /// The size of the last group, if the grid is not a multiple of the group
  /// size.
  uint16_t remainder[3] = {};
  uint8_t reserved0[16] = {};
  uint64_t globalOffset[3] = {};
  uint16_t gridDimensions;
  uint8_t reserved1[54] = {};
  uint32_t dynamicSharedBytes;
  uint8_t reserved2[132] = {};
};
static_assert(offsetof(ImplicitArguments, globalOffset) == 40 &&
              offsetof(ImplicitArguments, gridDimensions) == 64 &&
              offsetof(ImplicitArguments, dynamicSharedBytes) == 120 &&
              sizeof(ImplicitArguments) == 256);

DispatchPacket makePacket() {
  Dimensions block = blockSize(), grid = gridSize();
  DispatchPacket packet = {};
  packet.setup = 3;
  const int32_t sizes[] = {block.x, block.y, block.z},
                counts[] = {grid.x, grid.y, grid.z};
  for (int i = 0; i < 3; ++i) {
    packet.workgroupSize[i] = uint16_t(sizes[i]);
    packet.gridSize[i] = uint32_t(sizes[i]) * uint32_t(counts[i]);
  }
  packet.groupSegmentBytes = sharedBytes();
  packet.kernelArguments = kernelArguments();
  return packet;
}

ImplicitArguments makeImplicitArguments() {
  Dimensions block = blockSize(), grid = gridSize();
  ImplicitArguments arguments = {};
  const int32_t sizes[] = {block.x, block.y, block.z},
                counts[] = {grid.x, grid.y, grid.z};
  for (int i = 0; i < 3; ++i) {
    arguments.blockCount[i] = uint32_t(counts[i]);
    arguments.groupSize[i] = uint16_t(sizes[i]);
  }
  arguments.gridDimensions = grid.z > 1 ? 3 : grid.y > 1 ? 2 : 1;
  arguments.dynamicSharedBytes = dynamicSharedBytes();
  return arguments;
}

void dispatchPacket(const Call &call) {
  static const DispatchPacket packet = makePacket();
  call.set<const void *>(&packet);
}

void implicitArguments(const Call &call) {
  static const ImplicitArguments arguments = makeImplicitArguments();
  call.set<const void *>(&arguments);
}

void argumentSegment(const Call &call) {
  call.set<const void *>(kernelArguments());
}

/// There is one dispatch, and a cluster is one work group.
template <class Integer> void zero(const Call &call) { call.set(Integer(0)); }

constexpr char kernelDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: Initial Kernel Execution State\"";
constexpr char intrinsicDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: LLVM IR Intrinsics\"";
constexpr char clusterDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: Clusters\"";
constexpr char packetDocument[] = "HSA Platform System Architecture "
                                  "Specification, \"Kernel dispatch packet\"";
constexpr char implicitDocument[] =
    "LLVM, \"User Guide for AMDGPU Backend: Code Object V5 Metadata, hidden "
    "arguments\"";
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
    {"llvm.amdgcn.s.get.waveid.in.workgroup", readNumber<waveId>, nullptr, intrinsicDocument},
    {"llvm.amdgcn.cluster.id.x", read<blockId, &Dimensions::x>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.id.y", read<blockId, &Dimensions::y>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.id.z", read<blockId, &Dimensions::z>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.id.x", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.id.y", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.id.z", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.flat.id", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.max.id.x", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.max.id.y", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.max.id.z", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.cluster.workgroup.max.flat.id", zero<int32_t>, nullptr, clusterDocument},
    {"llvm.amdgcn.groupstaticsize", readNumber<staticSharedBytes>, nullptr, intrinsicDocument},
    {"llvm.amdgcn.dispatch.id", zero<int64_t>, nullptr, kernelDocument},
    {"llvm.amdgcn.dispatch.ptr", dispatchPacket, nullptr, packetDocument},
    {"llvm.amdgcn.implicitarg.ptr", implicitArguments, nullptr, implicitDocument},
    {"llvm.amdgcn.kernarg.segment.ptr", argumentSegment, nullptr, kernelDocument},
    {"llvm.amdgcn.mbcnt.lo", maskedBitCount<0>, nullptr, mbcntDocument},
    {"llvm.amdgcn.mbcnt.hi", maskedBitCount<1>, nullptr, mbcntDocument},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdIndices = table;
