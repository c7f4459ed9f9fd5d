//===- Fragments.cpp - Fragment layouts of MMAs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/targets/Fragments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace smalti;
using namespace smalti::targets;
using layout::PartitionDim;

static llvm::SmallVector<int64_t, 4> inOrder(int64_t registers) {
  return llvm::to_vector<4>(llvm::seq<int64_t>(0, registers));
}

Fragment targets::mmaSyncA(int64_t m, int64_t k, int64_t packed,
                           bool hasPairedRows) {
  Fragment fragment;
  int64_t parts = k / (4 * packed), halves = m / 8;
  // Tiled: row half, column part | row in half, thread, element. Or with paired
  // rows: row in half, column part | row half, thread, element.
  int64_t rows = hasPairedRows ? halves : 8;
  fragment.layout.tiling = {{m, k}, {rows, 4 * packed}, {packed}};
  fragment.layout.laneDims = {PartitionDim::of(hasPairedRows ? -5 : -3),
                              PartitionDim::of(-2)};
  fragment.layout.vectorDim = -1;
  if (hasPairedRows) {
    fragment.order = inOrder(parts * halves);
    return fragment;
  }
  // In the layout the parts along K vary fastest; in the instruction, the row
  // halves do.
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t half = 0; half < halves; ++half)
      fragment.order.push_back(half * parts + part);
  return fragment;
}

Fragment targets::mmaSyncB(int64_t k, int64_t packed, bool hasPairedColumns) {
  Fragment fragment;
  int64_t parts = k / (4 * packed), mmas = hasPairedColumns ? 2 : 1;
  // Tiled: row part, 1 | thread, column | element, MMA.
  fragment.layout.tiling = {
      {k, 8 * mmas}, {4 * packed, 8 * mmas}, {packed, mmas}};
  fragment.layout.laneDims = {PartitionDim::of(-3), PartitionDim::of(-4)};
  fragment.layout.vectorDim = -2;
  for (int64_t mma = 0; mma < mmas; ++mma)
    for (int64_t part = 0; part < parts; ++part)
      fragment.order.push_back(part * mmas + mma);
  return fragment;
}

Fragment targets::mmaSyncC(int64_t m, MmaPairing pairing) {
  Fragment fragment;
  int64_t rows = pairing.rows ? m / 8 : 8, mmas = pairing.columns ? 2 : 1;
  // Tiled: row half, 1 | row in half, thread, element[, MMA]; the rows as in A.
  fragment.layout.tiling = {{m, 8 * mmas}, {rows, 8 * mmas}, {2 * mmas}};
  int64_t group = pairing.rows ? -5 : -3, thread = -2, element = -1;
  if (pairing.columns) {
    fragment.layout.tiling.push_back({mmas});
    --group, --thread, --element;
  }
  fragment.layout.laneDims = {PartitionDim::of(group),
                              PartitionDim::of(thread)};
  fragment.layout.vectorDim = element;
  for (int64_t mma = 0; mma < mmas; ++mma)
    for (int64_t half = 0; half < m / 8; ++half)
      fragment.order.push_back(half * mmas + mma);
  return fragment;
}

static llvm::SmallVector<PartitionDim>
lanesOf(int64_t replicas, int64_t groups, int64_t groupDim, int64_t innerDim) {
  llvm::SmallVector<PartitionDim> lanes;
  if (replicas > 1)
    lanes.push_back(PartitionDim::replicated(replicas));
  if (groups > 1)
    lanes.push_back(PartitionDim::of(groupDim));
  lanes.push_back(PartitionDim::of(innerDim));
  return lanes;
}

Fragment targets::rowsAlongLanes(int64_t rows, int64_t columns, int64_t groups,
                                 int64_t chunk, int64_t replicas) {
  Fragment fragment;
  int64_t registers = columns / (groups * chunk);
  // Tiled: row, [register,] group, element.
  fragment.layout.tiling = {{rows, columns}};
  if (registers > 1)
    fragment.layout.tiling.push_back({groups * chunk});
  fragment.layout.tiling.push_back({chunk});
  fragment.layout.laneDims =
      lanesOf(replicas, groups, -2, registers > 1 ? -4 : -3);
  fragment.layout.vectorDim = -1;
  fragment.order = inOrder(registers);
  return fragment;
}

Fragment targets::columnsAlongLanes(int64_t rows, int64_t columns,
                                    int64_t groups, int64_t chunk,
                                    int64_t replicas) {
  Fragment fragment;
  int64_t registers = rows / (groups * chunk);
  // Tiled: [register, 1,] group, column, element, 1.
  fragment.layout.tiling = {{rows, columns}};
  if (registers > 1)
    fragment.layout.tiling.push_back({groups * chunk, columns});
  fragment.layout.tiling.push_back({chunk, 1});
  fragment.layout.laneDims = lanesOf(replicas, groups, -4, -3);
  fragment.layout.vectorDim = -2;
  fragment.order = inOrder(registers);
  return fragment;
}

MmaInstruction targets::makeMma(MmaKind kind, llvm::ArrayRef<int64_t> mnk,
                                Element a, Element b, Element accumulator,
                                const Fragment &fragmentA,
                                const Fragment &fragmentB,
                                const Fragment &fragmentC,
                                llvm::StringRef mnemonic,
                                std::optional<int64_t> macsPerCycle) {
  MmaInstruction mma;
  mma.kind = kind;
  mma.m = mnk[0];
  mma.n = mnk[1];
  mma.k = mnk[2];
  mma.a = a;
  mma.b = b;
  mma.accumulator = accumulator;
  mma.aLayout = fragmentA.layout;
  mma.bLayout = fragmentB.layout;
  mma.cLayout = fragmentC.layout;
  mma.aOrder = fragmentA.order;
  mma.bOrder = fragmentB.order;
  mma.cOrder = fragmentC.order;
  mma.mnemonic = mnemonic.str();
  mma.macsPerCycle = macsPerCycle;
  return mma;
}

MmaInstruction targets::scalarFma(int64_t m, int64_t n, Element element,
                                  std::optional<int64_t> macsPerCycle) {
  Fragment a, b, c;
  a.layout.tiling = {{m, 1}, {1}};
  a.layout.laneDims = {PartitionDim::of(-3), PartitionDim::replicated(n)};
  a.layout.vectorDim = -1;
  b.layout.tiling = {{1, n}, {1, 1}};
  b.layout.laneDims = {PartitionDim::replicated(m), PartitionDim::of(-3)};
  b.layout.vectorDim = -2;
  c.layout.tiling = {{m, n}, {1}};
  c.layout.laneDims = {PartitionDim::of(-3), PartitionDim::of(-2)};
  c.layout.vectorDim = -1;
  a.order = b.order = c.order = inOrder(1);
  Element accumulator = element == Element::F64  ? Element::F64
                        : element == Element::I8 ? Element::I32
                                                 : Element::F32;
  MmaInstruction fma =
      makeMma(MmaKind::Fma, {m, n, 1}, element, element, accumulator, a, b, c,
              /*mnemonic=*/"", macsPerCycle);
  fma.takesUnsigned = element == Element::I8;
  return fma;
}
