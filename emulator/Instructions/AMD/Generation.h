//===- Generation.h - The generations of AMD's instructions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_AMD_GENERATION_H
#define SMALTI_EMULATOR_INSTRUCTIONS_AMD_GENERATION_H

namespace smalti::emulator {

/// In the order in which they came, CDNA and RDNA apart.
enum class Generation { CDNA2, CDNA3, CDNA4, RDNA3, RDNA4, GFX125 };

/// The generation of the emulated chip; fails for other chips.
Generation generation();

inline bool isCDNA(Generation generation) {
  return generation <= Generation::CDNA4;
}

/// Whether `fp8` and `bf8` are the OCP's types, and not those with one zero.
inline bool hasOCPFloats(Generation generation) {
  return generation > Generation::CDNA3;
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_AMD_GENERATION_H
