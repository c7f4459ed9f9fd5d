//===- NamedLayouts.h - The layouts that have a name ----------------------===//
//
// The layouts that JAX Mosaic GPU names, as data. Where a concept is not bound
// to one chip, the number of warps that share a vector and the lanes of a warp
// are parameters; their defaults, 4 and 32, are NVIDIA's warpgroup and JAX's
// layouts. Every function gives a canonical, valid layout for the parameters
// that its comment allows.
//
// The layouts of matrix instructions' operands on AMD chips come from the chip
// table: see targets/BlockFragments.h.
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

/// The accumulator of wgmma, and A in registers of 16-bit elements: every warp
/// has 16 rows, made of blocks of 8 x 8 in which a lane has two neighbouring
/// elements of a row.
TiledLayout wgmma(int64_t warps = kGroupWarps);
/// The same with one element a register.
TiledLayout wgmmaAcc32Bit(int64_t warps = kGroupWarps);
/// A of wgmma in registers, of 8-bit elements: a lane has four neighbouring
/// elements of a row.
TiledLayout wgmma8Bit(int64_t warps = kGroupWarps);
/// Like `wgmma8Bit`, with lanes 1 and 2 of every four exchanged: after 8-bit
/// elements are widened to 16 bits, exchanging halves between neighbouring
/// lanes makes it `wgmma`.
TiledLayout wgmmaUpcast2x(int64_t warps = kGroupWarps);
/// A lane has eight neighbouring elements of a row: to load 4-bit elements.
TiledLayout wgmmaUpcast4x(int64_t warps = kGroupWarps);
/// Blocks of 2 x 2 elements of `wgmma` transposed, so that a lane has two
/// neighbouring elements of a column.
TiledLayout wgmmaTransposed(int64_t warps = kGroupWarps);
/// `wgmma` with its columns reduced: one value for each row.
TiledLayout wgmmaRow(int64_t warps = kGroupWarps);
/// `wgmma` with its rows reduced: one value for each column.
TiledLayout wgmmaColumn(int64_t warps = kGroupWarps);

//===----------------------------------------------------------------------===//
// Registers: tensor memory
//===----------------------------------------------------------------------===//

/// Like `wgmma`, but every warp has the 32 rows of tensor memory that it can
/// reach.
TiledLayout tcgen05(int64_t warps = kGroupWarps);
TiledLayout tcgen05Transposed(int64_t warps = kGroupWarps);
TiledLayout tcgen05Row(int64_t warps = kGroupWarps);
TiledLayout tcgen05Column(int64_t warps = kGroupWarps);
/// One row for each thread, in vectors of `vectorLength` (at least 1).
TiledLayout tmemNative(int64_t vectorLength = 2, int64_t warps = kGroupWarps,
                       int64_t lanes = kGroupLanes);
/// The registers of `tmemM64Collective`; nothing unless `columns` is a positive
/// multiple of 16.
std::optional<TiledLayout> m64Collective(int64_t columns);

//===----------------------------------------------------------------------===//
// Registers: others
//===----------------------------------------------------------------------===//

/// Row indices of a gather: each warp has four of every `4 * warps`.
TiledLayout tmaIndices(int64_t warps = kGroupWarps,
                       int64_t lanes = kGroupLanes);
/// Row indices of a gather: every thread has all of them, in fours.
TiledLayout tmaIndices4(int64_t warps = kGroupWarps,
                        int64_t lanes = kGroupLanes);
/// A copy between global memory and shared memory of `rowTiles` x `columnTiles`
/// tiles of 8 x (`swizzle` bytes) elements, by 4 warps of 32 lanes: free of
/// bank conflicts, and in whole rows of tiles. Nothing where the tiles cannot
/// be dealt evenly to the warps, or an element is wider than what a thread
/// copies.
std::optional<TiledLayout> smemGmemCopy(int64_t rowTiles, int64_t columnTiles,
                                        int64_t swizzleBytes,
                                        int64_t elementBits);
/// The operands of mma.sync with `elementBits` (4, 8, 16 or 32) wide A and B
/// over a group of warps, `warpsM` of which (a divisor of `warps`) are along M
/// and the others along N. A is 16 x (256 bits) for each warp, B (256 bits) x
/// 8, and the accumulator 16 x 8.
TiledLayout mmaLhs(int64_t elementBits, int64_t warps = kGroupWarps,
                   int64_t warpsM = kGroupWarps);
TiledLayout mmaRhs(int64_t elementBits, int64_t warps = kGroupWarps,
                   int64_t warpsM = kGroupWarps);
TiledLayout mmaAccumulator(int64_t warps = kGroupWarps,
                           int64_t warpsM = kGroupWarps);
/// The strided layout that JAX takes when nothing else is asked for: vectors of
/// up to 64 bits, halved until the `threads` threads can take equal shares.
/// Nothing where elements are not whole bytes (or wider than 64 bits), or the
/// threads cannot share the elements evenly.
std::optional<StridedLayout>
strided(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
        int64_t threads = kGroupWarps * kGroupLanes);

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// The accumulator of M = 128 by one block, or of M = 256 by two: a row is a
/// lane. `packing` elements (a power of two up to 8) share a column.
std::optional<TiledLayout> tmemDefault(int64_t packing = 1);
/// The accumulator of M = 64 by one block: half of the lanes, twice. `columns`
/// is a multiple of 16, and at least twice the packing.
std::optional<TiledLayout> tmemHalfLane(int64_t columns, int64_t packing = 1);
/// The accumulator of M = 128 by two blocks, 64 rows each. `columns` is a
/// multiple of 16, packing up to 8.
std::optional<TiledLayout> tmemM64Collective(int64_t columns,
                                             int64_t packing = 1);
/// The scales of A, and of B unless it is the one below.
TiledLayout tmemScales();
/// The scales of B for M = 128 by two blocks.
TiledLayout tmemBScalesM64Collective();
/// JAX's placeholder for the metadata of sparse A: compared for equality, and
/// not where the elements are.
TiledLayout tmemSparseMetadata();
/// The layout of an accumulator, or of A, in tensor memory of this shape, or
/// why there is none: 128 rows, or 64.
ValueOr<TiledLayout> tmemFor(llvm::ArrayRef<int64_t> shape, bool collective,
                             int64_t packing);
/// Columns of 32 bits that a tensor of this shape takes; the layout must fit.
int64_t tmemColumns(const TiledLayout &layout, llvm::ArrayRef<int64_t> shape);
/// Whether JAX moves vectors of this shape between a layout of tensor memory
/// and one of registers.
bool isTmemTransfer(const TiledLayout &tmem, const TiledLayout &registers,
                    llvm::ArrayRef<int64_t> shape, int64_t elementBits);

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// JAX's name of a layout of registers by 4 warps of 32 lanes, as in "WGMMA" or
/// "TMEM_NATIVE(4)", for diagnostics; nothing where it has none.
std::optional<std::string> nameOf(const TiledLayout &layout);
/// The name, or else the text of the layout.
std::string describe(const RegisterLayout &layout);
/// The layout of registers of this name, without parameters ("WGMMA_ROW"), or
/// nothing.
std::optional<TiledLayout> lookupLayout(llvm::StringRef name);
/// All names that `lookupLayout` knows.
llvm::ArrayRef<llvm::StringRef> layoutNames();

} // namespace smalti::layout

#endif // SMALTI_LAYOUTS_NAMEDLAYOUTS_H
