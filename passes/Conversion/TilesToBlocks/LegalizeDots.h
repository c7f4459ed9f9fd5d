//===- LegalizeDots.h - Dots that the target can multiply -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_LEGALIZEDOTS_H
#define SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_LEGALIZEDOTS_H

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/targets/Target.h"

namespace smalti {

/// Whether the target has an instruction for the element types and the shape of
/// every dot, distributed across `numWarps` warps.
bool hasLegalDots(triton_xla::EntryFuncOp func, const targets::Target &target,
                  int64_t numWarps);

/// Rewrites the other dots to dots for which it has one:
/// - an f16 accumulator is f32 during the dot;
/// - 8-bit floats are converted to bf16, which represents all of them;
/// - an unsigned operand becomes its signed value plus 256 times its highest
///   bit;
/// - a tile whose shape does not match an instruction is padded.
void legalizeDots(triton_xla::EntryFuncOp func, const targets::Target &target,
                  int64_t numWarps);

} // namespace smalti

#endif // SMALTI_PASSES_CONVERSION_TILESTOBLOCKS_LEGALIZEDOTS_H
