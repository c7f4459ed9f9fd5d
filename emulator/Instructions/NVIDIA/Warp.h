//===- Warp.h - Common parts of warp-level instructions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_WARP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_WARP_H

#include "smalti/emulator/Instructions/Instruction.h"

namespace smalti::emulator::nvidia {

constexpr int warpSize = 32;

/// The `membermask` of a `.sync` instruction, its first operand.
inline uint64_t members(const Call &call) { return call.get<uint32_t>(0); }

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_WARP_H
