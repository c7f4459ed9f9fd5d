//===- Fragments.h - Operand layouts of matrix instructions -----*- C++ -*-===//
//
// The families of fragment layouts that the vendors' matrix instructions use.
// Each function states in closed form which element of the operand is element
// `e` of register `i` of a lane.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_FRAGMENTS_H
#define SMALTI_TARGETS_FRAGMENTS_H

#include "smalti/targets/Target.h"

namespace smalti::targets {

/// One operand of a matrix instruction; see MmaInstruction for the order.
struct Fragment {
  layout::TiledLayout layout;
  llvm::SmallVector<int64_t, 4> order;
};

/// mma.sync, A of m16 x k with `packed` elements in a 32-bit register (PTX ISA,
/// "Matrix Fragments for mma.m16n8k*"). With group = lane / 4, thread = lane %
/// 4: operand register i, element e is row group + 8 * (i % 2) and
/// column 4 * packed * (i / 2) + packed * thread + e.
Fragment mmaSyncA(int64_t k, int64_t packed);
/// mma.sync, B of k x n8: operand register i, element e is
/// row 4 * packed * i + packed * thread + e and column group.
Fragment mmaSyncB(int64_t k, int64_t packed);
/// mma.sync, C and D of m16 x n8: operand register i, element e is
/// row group + 8 * i and column 2 * thread + e.
Fragment mmaSyncC();

/// A matrix with the rows along the lanes (A of MFMA and WMMA). The lanes of a
/// wave are `groups` groups of `rows` lanes; each group has the `chunk`
/// consecutive columns that follow those of the group before it:
/// row = lane % rows, column = chunk * (groups * i + lane / rows) + e.
/// With `replicas` that is repeated so often along the wave (by RDNA3's two
/// half waves).
Fragment rowsAlongLanes(int64_t rows, int64_t columns, int64_t groups,
                        int64_t chunk, int64_t replicas = 1);
/// The same for a matrix with the columns along the lanes (B, C and D):
/// column = lane % columns, row = chunk * (groups * i + lane / columns) + e.
Fragment columnsAlongLanes(int64_t rows, int64_t columns, int64_t groups,
                           int64_t chunk, int64_t replicas = 1);

/// m x n x 1 by scalar fused multiply-adds: lane = n * row + column of C. A and
/// B are repeated over the lanes that need the same element.
MmaInstruction scalarFma(int64_t m, int64_t n, Element element,
                         int64_t macsPerCycle);

/// An instruction from its fragments.
MmaInstruction makeMma(MmaKind kind, llvm::ArrayRef<int64_t> mnk, Element a,
                       Element b, Element accumulator,
                       const Fragment &fragmentA, const Fragment &fragmentB,
                       const Fragment &fragmentC, llvm::StringRef mnemonic,
                       int64_t macsPerCycle);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_FRAGMENTS_H
