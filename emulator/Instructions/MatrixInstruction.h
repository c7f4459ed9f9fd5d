//===- MatrixInstruction.h - Matrix instructions of a wave ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of matrix instructions: operands are gathered from the registers
// of lanes into matrices, multiplied, and distributed back. An instruction
// defines which element of a matrix each element of a lane is.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_MATRIXINSTRUCTION_H
#define SMALTI_EMULATOR_INSTRUCTIONS_MATRIXINSTRUCTION_H

#include "smalti/emulator/Instructions/Instruction.h"
#include "smalti/emulator/Instructions/Numbers.h"

namespace smalti::emulator {

struct Position {
  int row, column;
};

/// Operands of a call that hold one matrix together.
struct Operands {
  int first, count;
};

/// D = A * B + C. The functions return the matrix element of element `e` of a
/// lane, counted through the registers of the lane. For B they return row and
/// column of its transpose, because most documents state A and B alike.
struct MatrixInstruction {
  int m, n, k;
  Operands a, b, c;
  Position (*ofA)(int lane, int e);
  Position (*ofB)(int lane, int e);
  Position (*ofC)(int lane, int e);
};

/// Calls `use(e, address)` for each element of a lane's operands.
template <class Storage, class Use>
void forEachElement(const Call &call, Operands operands, Use use) {
  int e = 0;
  for (int i = operands.first; i < operands.first + operands.count; ++i)
    for (uint32_t offset = 0; offset < call.bytes(i); offset += sizeof(Storage))
      use(e++, call.data(i) + offset);
}

template <class Element, class At>
void gather(const Wave &wave, Operands operands, Position (*position)(int, int),
            At at) {
  wave.forEach([&](int lane, const Call &call) {
    forEachElement<typename Element::Storage>(
        call, operands, [&](int e, const void *address) {
          typename Element::Storage value;
          memcpy(&value, address, sizeof value);
          at(position(lane, e)) = Element::read(value);
        });
  });
}

/// C += A * B, B transposed: a row of C at a time, for the compiler to make
/// vectors of.
template <class Number, int m, int n, int k>
void accumulate(const Number (&a)[m][k], const Number (&b)[n][k],
                Number (&c)[m][n]) {
  Number columns[k][n];
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j)
      columns[i][j] = b[j][i];
  for (int row = 0; row < m; ++row) {
    Number sums[n];
    for (int j = 0; j < n; ++j)
      sums[j] = c[row][j];
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < n; ++j)
        sums[j] += a[row][i] * columns[i][j];
    for (int j = 0; j < n; ++j)
      c[row][j] = sums[j];
  }
}

/// Sums in double and rounds once: the vendors state less, and not the order.
template <const MatrixInstruction &p, class Element, class Accumulator = F32>
void multiply(const Wave &wave) {
  double a[p.m][p.k], b[p.n][p.k], c[p.m][p.n];
  gather<Element>(wave, p.a, p.ofA, [&](Position at) -> double & {
    return a[at.row][at.column];
  });
  gather<Element>(wave, p.b, p.ofB, [&](Position at) -> double & {
    return b[at.row][at.column];
  });
  gather<Accumulator>(wave, p.c, p.ofC, [&](Position at) -> double & {
    return c[at.row][at.column];
  });
  accumulate(a, b, c);
  wave.forEach([&](int lane, const Call &call) {
    for (int e = 0; e < p.m * p.n / wave.size; ++e) {
      Position at = p.ofC(lane, e);
      typename Accumulator::Storage value =
          Accumulator::write(c[at.row][at.column]);
      memcpy(static_cast<char *>(call.result) + sizeof(value) * e, &value,
             sizeof(value));
    }
  });
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_MATRIXINSTRUCTION_H
