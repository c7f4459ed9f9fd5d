//===- Matmul.h - Matmul of any size and element type ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplications are exact and sums are in double, rounded once; the vendors
// do not specify the order. f64 uses fma (PTX ISA, "mma"), and integers wrap.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_MATMUL_H
#define SMALTI_EMULATOR_INSTRUCTIONS_MATMUL_H

#include "smalti/emulator/Instructions/Types.h"

#include <cstdint>

namespace smalti::emulator {

/// D = A * B + C, in place of C. All matrices follow one another row by row.
struct Matmul {
  int64_t m, n, k;
  const ElementType *typeA, *typeB, *typeC;
  /// m * k elements, or m * k / 2 with `positions`; k * n; m * n.
  const void *a, *b;
  void *c;

  /// Two of each four elements of a row of A are there, at these positions of
  /// the four: m * k / 2 of them, each below 4. Null for a dense A.
  const uint8_t *positions = nullptr;

  /// Null without scales. Otherwise each `scaleBlock` elements along k of a row
  /// of A, and of a column of B, have one: m * k / scaleBlock, and
  /// n * k / scaleBlock of them.
  const ElementType *typeScale = nullptr;
  const void *scalesA = nullptr, *scalesB = nullptr;
  int64_t scaleBlock = 0;
};
void multiply(const Matmul &matmul);

/// Columns of B are multiplied in panels of this many, and rows of A in as
/// many.
constexpr int panelWidth = 8, panelHeight = 8;
/// Where element (k, column) of B is in `multiplyAccumulate`.
inline int64_t panelIndex(int64_t numK, int64_t k, int64_t column) {
  return (column / panelWidth * numK + k) * panelWidth + column % panelWidth;
}

/// sums += a * b: `a` and `sums` have `rows` rows, of `numK` and of n elements;
/// `panels` has B in the order of `panelIndex`. `rows` is a multiple of
/// `panelHeight` and n of `panelWidth`. Each multiplication must be exact, so
/// that all hosts compute the same result.
void multiplyAccumulate(const double *a, int64_t rows, int64_t numK,
                        const double *panels, int64_t n, double *sums);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_MATMUL_H
