//===- NamedLayouts.h - Named layouts of JAX Mosaic GPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts that JAX Mosaic GPU names. If a layout is not specific to a chip,
// the number of warps and the lanes of a warp are parameters. The defaults, 4
// and 32, are those of JAX. Every function returns a canonical, valid layout
// for the parameters that its comment allows.
//
// Layouts of MMA operands on AMD chips are in targets/BlockFragments.h.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_LAYOUTS_NAMEDLAYOUTS_H
#define SMALTI_LAYOUTS_NAMEDLAYOUTS_H

#include "smalti/layouts/LayoutAlgebra.h"

namespace smalti::layout {

/// Warps of a warpgroup, and lanes of its warps.
inline constexpr int64_t kGroupWarps = 4;
inline constexpr int64_t kGroupLanes = 32;

//===----------------------------------------------------------------------===//
// Registers: wgmma
//===----------------------------------------------------------------------===//

/// The accumulator of wgmma, and operand A in registers with 16-bit elements.
/// Every warp holds 16 rows in blocks of 8 x 8, in which a lane holds two
/// adjacent elements of a row.
TiledLayout wgmma(int64_t warps = kGroupWarps);
/// `wgmma` with one element per register.
TiledLayout wgmmaAcc32Bit(int64_t warps = kGroupWarps);
/// Operand A of wgmma in registers with 8-bit elements: a lane holds four
/// adjacent elements of a row.
TiledLayout wgmma8Bit(int64_t warps = kGroupWarps);
/// `wgmma8Bit` with lanes 1 and 2 of every four swapped. After 8-bit elements
/// are widened to 16 bits, a swap of halves between adjacent lanes results in
/// `wgmma`.
TiledLayout wgmmaUpcast2x(int64_t warps = kGroupWarps);
/// For loads of 4-bit elements: a lane holds eight adjacent elements of a row.
TiledLayout wgmmaUpcast4x(int64_t warps = kGroupWarps);
/// `wgmma` with transposed blocks of 2 x 2 elements: a lane holds two adjacent
/// elements of a column.
TiledLayout wgmmaTransposed(int64_t warps = kGroupWarps);
/// `wgmma` with its columns reduced: one value for each row.
TiledLayout wgmmaRow(int64_t warps = kGroupWarps);
/// `wgmma` with its rows reduced: one value for each column.
TiledLayout wgmmaColumn(int64_t warps = kGroupWarps);

//===----------------------------------------------------------------------===//
// Registers: tensor memory
//===----------------------------------------------------------------------===//

/// Like `wgmma`, but every warp holds the 32 rows of tensor memory that it can
/// access.
TiledLayout tcgen05(int64_t warps = kGroupWarps);
TiledLayout tcgen05Transposed(int64_t warps = kGroupWarps);
TiledLayout tcgen05Row(int64_t warps = kGroupWarps);
TiledLayout tcgen05Column(int64_t warps = kGroupWarps);
/// One row for each thread, in vectors of `vectorLength` (at least 1).
TiledLayout tmemNative(int64_t vectorLength = 2, int64_t warps = kGroupWarps,
                       int64_t lanes = kGroupLanes);
/// The registers of `tmemM64Collective`; no value unless `columns` is a
/// positive multiple of 16.
std::optional<TiledLayout> m64Collective(int64_t columns);

//===----------------------------------------------------------------------===//
// Registers: others
//===----------------------------------------------------------------------===//

/// Row indices of a gather: each warp holds four of every `4 * warps`.
TiledLayout tmaIndices(int64_t warps = kGroupWarps,
                       int64_t lanes = kGroupLanes);
/// Row indices of a gather: every thread holds all of them, in vectors of four.
TiledLayout tmaIndices4(int64_t warps = kGroupWarps,
                        int64_t lanes = kGroupLanes);
/// A copy between global and shared memory by 4 warps of 32 lanes, without bank
/// conflicts and in whole rows of tiles. The memory has `rowTiles` x
/// `columnTiles` tiles of 8 rows of `swizzleBytes` bytes. No value if the tiles
/// cannot be distributed evenly across the warps, or an element is wider than
/// the copy of a thread.
std::optional<TiledLayout> smemGmemCopy(int64_t rowTiles, int64_t columnTiles,
                                        int64_t swizzleBytes,
                                        int64_t elementBits);
/// The operands of mma.sync with elements of `elementBits` bits (4, 8, 16 or
/// 32) in A and B. `warpsM` warps (a divisor of `warps`) are along M and the
/// others along N. For each warp, A is 16 x (256 bits), B is (256 bits) x 8,
/// and the accumulator is 16 x 8.
TiledLayout mmaLhs(int64_t elementBits, int64_t warps = kGroupWarps,
                   int64_t warpsM = kGroupWarps);
TiledLayout mmaRhs(int64_t elementBits, int64_t warps = kGroupWarps,
                   int64_t warpsM = kGroupWarps);
TiledLayout mmaAccumulator(int64_t warps = kGroupWarps,
                           int64_t warpsM = kGroupWarps);
/// The default strided layout of JAX: vectors of up to 64 bits, halved until
/// they can be distributed evenly across `threads` threads. No value if
/// elements are not whole bytes, are wider than 64 bits, or cannot be
/// distributed evenly.
std::optional<StridedLayout>
strided(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
        int64_t threads = kGroupWarps * kGroupLanes);

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// The accumulator of M = 128 by one block, or of M = 256 by two: a row is a
/// lane. `packing` elements (a power of two up to 8) share a column.
std::optional<TiledLayout> tmemDefault(int64_t packing = 1);
/// The accumulator of M = 64 by one block: half of the lanes in two groups.
/// `columns` is a multiple of 16, and at least twice the packing.
std::optional<TiledLayout> tmemHalfLane(int64_t columns, int64_t packing = 1);
/// The accumulator of M = 128 by two blocks, 64 rows each. `columns` is a
/// multiple of 16, packing up to 8.
std::optional<TiledLayout> tmemM64Collective(int64_t columns,
                                             int64_t packing = 1);
/// The scales of A, and of B in all other cases than the one below.
TiledLayout tmemScales();
/// The scales of B for M = 128 by two blocks.
TiledLayout tmemBScalesM64Collective();
/// JAX's placeholder for the metadata of sparse A. It is only compared for
/// equality and does not describe the actual location of the elements.
TiledLayout tmemSparseMetadata();
/// The layout of an accumulator or of operand A in tensor memory of this shape
/// (128 or 64 rows), or the reason why it does not exist.
ValueOr<TiledLayout> tmemFor(llvm::ArrayRef<int64_t> shape, bool collective,
                             int64_t packing);
/// Whether JAX supports transfers of this shape between a layout of tensor
/// memory and a register layout.
bool isTmemTransfer(const TiledLayout &tmem, const TiledLayout &registers,
                    llvm::ArrayRef<int64_t> shape, int64_t elementBits);

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// JAX's name of a register layout of 4 warps of 32 lanes, such as "WGMMA" or
/// "TMEM_NATIVE(4)", for diagnostics; no value if the layout is unnamed.
std::optional<std::string> nameOf(const TiledLayout &layout);
/// The name of the layout, or its text if it is unnamed.
std::string describe(const RegisterLayout &layout);
/// The register layout of this name without parameters ("WGMMA_ROW"), or no
/// value.
std::optional<TiledLayout> lookupLayout(llvm::StringRef name);
/// All names that `lookupLayout` accepts.
llvm::ArrayRef<llvm::StringRef> layoutNames();

} // namespace smalti::layout

#endif // SMALTI_LAYOUTS_NAMEDLAYOUTS_H
