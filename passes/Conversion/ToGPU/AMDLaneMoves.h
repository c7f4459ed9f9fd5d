//===- AMDLaneMoves.h - Moves between the lanes of a wave -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TOGPU_AMDLANEMOVES_H
#define SMALTI_PASSES_CONVERSION_TOGPU_AMDLANEMOVES_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"

namespace smalti::amd {

/// DPP moves words in rows of lanes.
inline constexpr int64_t kRow = 16;

/// Emits the fastest instruction for a move of an i32: DPP controls and lane
/// permutes in the vector ALU, otherwise through the LDS crossbar.
mlir::Value emitLaneMove(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value word,
                         const block_to_thread::LaneMove &move,
                         const targets::Target &target,
                         block_to_thread::ThreadIndices &indices);

} // namespace smalti::amd

#endif // SMALTI_PASSES_CONVERSION_TOGPU_AMDLANEMOVES_H
