//===- Fragments.h - Fragment layouts of MMAs -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fragment layouts of the vendors' MMAs. Each function states in closed
// form which element of the operand is element `e` of register `i` of a lane.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_FRAGMENTS_H
#define SMALTI_TARGETS_FRAGMENTS_H

#include "smalti/targets/Target.h"

namespace smalti::targets {

/// One operand of an MMA; see MmaInstruction for the order.
struct Fragment {
  layout::TiledLayout layout;
  llvm::SmallVector<int64_t, 4> order;
};

/// mma.sync, A of m x k with `packed` elements in a register. A register has 64
/// bits for f64, and 32 bits for other types. The sections of the PTX ISA are
/// "Matrix Fragments for mma.m8n8k4 with .f64 floating point type" and
/// "mma.m16n8k*". With halves = m / 8, group = lane / 4, thread = lane % 4:
/// operand register i, element e is row group + 8 * (i % halves) and
/// column 4 * packed * (i / halves) + packed * thread + e.
Fragment mmaSyncA(int64_t m, int64_t k, int64_t packed,
                  bool hasPairedRows = false);
/// mma.sync, B of k x n8: operand register i, element e is
/// row 4 * packed * i + packed * thread + e and column group.
Fragment mmaSyncB(int64_t k, int64_t packed, bool hasPairedColumns = false);
/// mma.sync, C and D of m x n8: operand register i, element e is
/// row group + 8 * i and column 2 * thread + e.
Fragment mmaSyncC(int64_t m, MmaPairing pairing = {});

/// A matrix with its rows along the lanes (A of MFMA and WMMA). A wave has
/// `groups` groups of `rows` lanes; each group has `chunk` consecutive columns,
/// after those of the previous group: row = lane % rows, column = chunk *
/// (groups * i + lane / rows) + e. The layout is replicated `replicas` times
/// along the wave (the half waves of RDNA3).
Fragment rowsAlongLanes(int64_t rows, int64_t columns, int64_t groups,
                        int64_t chunk, int64_t replicas = 1);
/// The same for a matrix with its columns along the lanes (B, C and D):
/// column = lane % columns, row = chunk * (groups * i + lane / columns) + e.
Fragment columnsAlongLanes(int64_t rows, int64_t columns, int64_t groups,
                           int64_t chunk, int64_t replicas = 1);

/// m x n x 1 by scalar multiply-adds, fused for floats, in f64, i32 or f32:
/// lane = n * row + column of C. A and B are replicated across the lanes that
/// need the same element.
MmaInstruction scalarFma(int64_t m, int64_t n, Element element,
                         std::optional<int64_t> macsPerCycle);

/// Creates an MMA from its fragments.
MmaInstruction makeMma(MmaKind kind, llvm::ArrayRef<int64_t> mnk, Element a,
                       Element b, Element accumulator,
                       const Fragment &fragmentA, const Fragment &fragmentB,
                       const Fragment &fragmentC, llvm::StringRef mnemonic,
                       std::optional<int64_t> macsPerCycle);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_FRAGMENTS_H
