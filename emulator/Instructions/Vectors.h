//===- Vectors.h - Loops for the host's widest vectors --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H

/// An attribute for functions with hot loops: the function is compiled for
/// several generations of the host, and the best one is selected at program
/// start. Its results must not depend on whether multiplications and sums are
/// fused.
#if defined(__x86_64__)
#define SMALTI_WIDE                                                            \
  __attribute__((                                                              \
      target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SMALTI_WIDE
#endif

#endif // SMALTI_EMULATOR_INSTRUCTIONS_VECTORS_H
