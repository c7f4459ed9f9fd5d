//===- Matmul.cpp - Matmul of any size and element type -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Matmul.h"

#include <cmath>
#include <vector>

using namespace smalti::emulator;

/// Of any alignment; a machine without such vectors has several.
typedef double Doubles
    __attribute__((vector_size(8 * panelWidth), aligned(8), may_alias));

/// The sums of `rowsAtOnce` rows and a panel stay in registers.
template <int rowsAtOnce>
inline __attribute__((always_inline)) void
addAll(const double *a, int64_t rows, int64_t numK, const double *panels,
       int64_t n, double *sums) {
  for (int64_t first = 0; first < n; first += panelWidth) {
    const double *panel = panels + first * numK;
    for (int64_t row = 0; row < rows; row += rowsAtOnce) {
      Doubles part[rowsAtOnce];
      for (int i = 0; i < rowsAtOnce; ++i)
        part[i] = *reinterpret_cast<Doubles *>(sums + (row + i) * n + first);
      const double *rowA = a + row * numK;
      for (int64_t k = 0; k < numK; ++k) {
        auto b = *reinterpret_cast<const Doubles *>(panel + k * panelWidth);
        for (int i = 0; i < rowsAtOnce; ++i)
          part[i] += rowA[i * numK + k] * b;
      }
      for (int i = 0; i < rowsAtOnce; ++i)
        *reinterpret_cast<Doubles *>(sums + (row + i) * n + first) = part[i];
    }
  }
}

// As many rows as there are registers for.
#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl,fma"))) static void
multiplyAccumulate512(const double *a, int64_t rows, int64_t numK,
                      const double *panels, int64_t n, double *sums) {
  addAll<8>(a, rows, numK, panels, n, sums);
}
__attribute__((target("avx2,fma"))) static void
multiplyAccumulate256(const double *a, int64_t rows, int64_t numK,
                      const double *panels, int64_t n, double *sums) {
  addAll<4>(a, rows, numK, panels, n, sums);
}
#endif

void smalti::emulator::multiplyAccumulate(const double *a, int64_t rows,
                                          int64_t numK, const double *panels,
                                          int64_t n, double *sums) {
#if defined(__x86_64__)
  static const int width =
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
          ? 512
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256
                                                                        : 128;
  if (width == 512)
    return multiplyAccumulate512(a, rows, numK, panels, n, sums);
  if (width == 256)
    return multiplyAccumulate256(a, rows, numK, panels, n, sums);
#endif
  addAll<2>(a, rows, numK, panels, n, sums);
}

namespace {

int64_t roundUp(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

/// The elements of A at their columns, with zeros between them.
template <class Number>
std::vector<Number> expand(const Matmul &matmul, std::vector<Number> stored) {
  if (!matmul.positions)
    return stored;
  std::vector<Number> full(size_t(matmul.m * matmul.k));
  for (size_t i = 0; i < stored.size(); ++i)
    full[i / 2 * 4 + matmul.positions[i]] = stored[i];
  return full;
}

int64_t storedOfA(const Matmul &matmul) {
  return matmul.m * matmul.k / (matmul.positions ? 2 : 1);
}

/// Multiplies `count` rows of k elements by their scales.
void applyScales(const Matmul &matmul, const void *codes, int64_t count,
                 double *rows) {
  std::vector<double> scales(size_t(count * matmul.k / matmul.scaleBlock));
  matmul.typeScale->read(codes, scales.size(), scales.data());
  for (int64_t i = 0; i < count * matmul.k; ++i)
    rows[i] *= scales[size_t(i / matmul.scaleBlock)];
}

void multiplyFloats(const Matmul &matmul) {
  int64_t m = matmul.m, n = matmul.n, k = matmul.k;
  int64_t rows = roundUp(m, panelHeight), columns = roundUp(n, panelWidth);
  // Kept from one call to the next: fresh memory takes longer than the sums.
  static thread_local std::vector<double> a, panels, sums, row;
  a.resize(size_t(storedOfA(matmul)));
  matmul.typeA->read(matmul.a, a.size(), a.data());
  a = expand(matmul, std::move(a));
  if (matmul.typeScale)
    applyScales(matmul, matmul.scalesA, m, a.data());
  a.resize(size_t(rows * k));

  row.resize(size_t(n));
  panels.resize(size_t(columns * k));
  std::vector<double> scales;
  if (matmul.typeScale) {
    scales.assign(size_t(n * k), 1);
    applyScales(matmul, matmul.scalesB, n, scales.data());
  }
  for (int64_t i = 0; i < k; ++i) {
    matmul.typeB->read(static_cast<const char *>(matmul.b) +
                           i * n * matmul.typeB->bytes,
                       size_t(n), row.data());
    for (int64_t j = 0; j < n; ++j)
      panels[size_t(panelIndex(k, i, j))] =
          matmul.typeScale ? row[size_t(j)] * scales[size_t(j * k + i)]
                           : row[size_t(j)];
  }

  sums.resize(size_t(rows * columns));
  auto rowOfC = [&](int64_t i) {
    return static_cast<char *>(matmul.c) + i * n * matmul.typeC->bytes;
  };
  for (int64_t i = 0; i < m; ++i)
    matmul.typeC->read(rowOfC(i), size_t(n), &sums[size_t(i * columns)]);
  if (matmul.typeA->bits == 64 || matmul.typeB->bits == 64)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l)
        for (int64_t j = 0; j < n; ++j) {
          double &sum = sums[size_t(i * columns + j)];
          sum = std::fma(a[size_t(i * k + l)],
                         panels[size_t(panelIndex(k, l, j))], sum);
        }
  else
    multiplyAccumulate(a.data(), rows, k, panels.data(), columns, sums.data());
  std::vector<uint64_t> integers;
  integers.resize(size_t(n));
  for (int64_t i = 0; i < m; ++i) {
    const double *found = &sums[size_t(i * columns)];
    if (matmul.typeC->isFloat()) {
      matmul.typeC->write(found, size_t(n), Rounding::NearestEven, false,
                          rowOfC(i));
      continue;
    }
    for (int64_t j = 0; j < n; ++j)
      integers[size_t(j)] = uint64_t(int64_t(found[j]));
    matmul.typeC->narrow(integers.data(), size_t(n), rowOfC(i));
  }
}

/// Integers whose sums doubles may not have.
void multiplyIntegers(const Matmul &matmul) {
  int64_t m = matmul.m, n = matmul.n, k = matmul.k;
  std::vector<uint64_t> a, b, c;
  a.resize(size_t(storedOfA(matmul)));
  b.resize(size_t(k * n));
  c.resize(size_t(m * n));
  matmul.typeA->widen(matmul.a, a.size(), a.data());
  matmul.typeB->widen(matmul.b, b.size(), b.data());
  matmul.typeC->widen(matmul.c, c.size(), c.data());
  a = expand(matmul, std::move(a));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        c[size_t(i * n + j)] += a[size_t(i * k + l)] * b[size_t(l * n + j)];
  matmul.typeC->narrow(c.data(), c.size(), matmul.c);
}

} // namespace

void smalti::emulator::multiply(const Matmul &matmul) {
  // Sums of multiplications of 16 bits and less are exact in double.
  if (!matmul.typeA->isFloat() &&
      (matmul.typeA->bits > 16 || matmul.typeB->bits > 16 ||
       matmul.typeC->bits > 32))
    return multiplyIntegers(matmul);
  multiplyFloats(matmul);
}
