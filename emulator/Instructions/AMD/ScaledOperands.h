//===- ScaledOperands.h - Operands of scaled MMAs -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_AMD_SCALEDOPERANDS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_AMD_SCALEDOPERANDS_H

#include "smalti/emulator/Instructions/AMD/Formats.h"
#include "smalti/emulator/Instructions/Context.h"

namespace smalti::emulator {

/// The formats of a scaled operand, with the numbers of the instructions (CDNA4
/// ISA, CBSZ and BLGP; LLVM, MATRIX_FMT).
enum ScaledFormat { formatFP8, formatBF8, formatFP6, formatBF6, formatFP4 };

inline int bitsOfFormat(int format) {
  return format <= formatBF8 ? 8 : format <= formatBF6 ? 6 : 4;
}

inline double readScaledElement(const char *data, int e, int format) {
  switch (format) {
  case formatFP8:
    return readElement<E4M3>(data, e);
  case formatBF8:
    return readElement<E5M2>(data, e);
  case formatFP6:
    return readElement<E2M3, 6>(data, e);
  case formatBF6:
    return readElement<E3M2, 6>(data, e);
  default:
    return readElement<E2M1, 4>(data, e);
  }
}

/// Fails where `operand` cannot be the `elements` of a lane.
inline void checkScaledOperand(const Call &call, int operand, int format,
                               int elements) {
  if (format < formatFP8 || format > formatFP4)
    failLane(call, 0,
             "scaled matrix instruction: operand format %d is not defined; it "
             "must be 0 (fp8), 1 (bf8), 2 (fp6), 3 (bf6) or 4 (fp4)",
             format);
  if (int(call.bytes(operand)) * 8 < elements * bitsOfFormat(format))
    failLane(call, 0,
             "scaled matrix instruction: an operand has %u bytes per lane, but "
             "its format has %d bits per element and requires %d bytes; pass a "
             "wider operand or a narrower format",
             call.bytes(operand), bitsOfFormat(format),
             elements * bitsOfFormat(format) / 8);
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_AMD_SCALEDOPERANDS_H
