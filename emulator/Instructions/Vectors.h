//===- Vectors.h - Loops for the host's widest vectors --------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H

/// Before a function with a hot loop: it is compiled for several generations of
/// the host, of which it takes the right one when the program starts. What it
/// computes must not depend on whether products and sums are fused.
#if defined(__x86_64__)
#define SMALTI_WIDE                                                            \
  __attribute__((                                                              \
      target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SMALTI_WIDE
#endif

#endif // SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H
