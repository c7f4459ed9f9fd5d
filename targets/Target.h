//===- Target.h - Target table ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of chips. No other code switches on a chip name; passes query
// properties of the target. Python reads the same table through toJSON().
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TARGET_H
#define SMALTI_TARGETS_TARGET_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace smalti::targets {

enum class Vendor { CPU, NVIDIA, AMD };

/// Element types of MMAs.
enum class Element {
  F16,
  BF16,
  F32,
  TF32,
  F64,
  E4M3,
  E5M2,
  E4M3FNUZ,
  E5M2FNUZ,
  I8,
  I4,
  I32
};

/// The MLIR op of an MMA.
enum class MmaKind {
  /// nvgpu.mma.sync for f16 and tf32; nvvm.mma.sync for bf16, which nvgpu does
  /// not
  /// lower, and i8, for which nvgpu uses saturation; the LLVM intrinsic
  /// llvm.nvvm.mma.* for 8-bit floats
  MmaSync,
  /// amdgpu.mfma
  Mfma,
  /// amdgpu.wmma
  Wmma,
  /// Not an MMA: scalar fused multiply-adds on fragments
  Fma,
};

/// How a thread holds neighbors along M or N for mma.sync with 8-bit operands.
/// A transposed ldmatrix moves pairs of bytes, so this is how it reads an
/// operand whose elements along M or N are contiguous in memory.
struct MmaPairing {
  /// Row `group + 8 * i` of A and C in PTX is row `2 * group + i` of the tile.
  bool rows = false;
  /// Two MMAs with the same A compute a tile of 16 columns. Column `c` in PTX
  /// is column `2 * c` of the tile for the first MMA, and column `2 * c + 1`
  /// for the second.
  bool columns = false;

  bool operator==(const MmaPairing &other) const {
    return rows == other.rows && columns == other.columns;
  }
};

/// A warp-wide MMA: D[MxN] = A[MxK] * B[KxN] + C[MxN].
///
/// Each operand has a layout on one warp, whose first tile is the shape of the
/// operand, and a register order. A thread holds a list of registers, each a
/// vector of `vectorLength()` elements. The layout numbers registers row-major
/// over its register dimensions. Operand register `i` of the instruction is the
/// layout's register `order[i]`. Element `e` of operand register `i` is element
/// `i * vectorLength() + e` of the operand of amdgpu.mfma and amdgpu.wmma, and
/// element [i, e] of that of nvgpu.mma.sync.
struct MmaInstruction {
  MmaKind kind;
  int64_t m, n, k;
  Element a, b, accumulator;
  /// Layouts of A (MxK), B (KxN) and C, D (MxN) on one warp.
  layout::TiledLayout aLayout, bLayout, cLayout;
  /// The layout's register of each operand register; a permutation.
  llvm::SmallVector<int64_t, 4> aOrder, bOrder, cOrder;
  /// The mnemonic in the chip's assembly, e.g. `v_mfma_f32_16x16x16_f16`.
  std::string mnemonic;
  /// Multiply-accumulates per cycle and compute unit, for the choice of an
  /// instruction; nothing: unknown.
  std::optional<int64_t> macsPerCycle;
  /// Whether the 16-bit elements of C and D are the low halves of 32-bit
  /// registers, whose high halves are not used. Operand register `i` of
  /// amdgpu.wmma is then element `2 * i`.
  bool accumulatesInHalves = false;
  /// Whether each i8 operand may also be unsigned.
  bool takesUnsigned = false;
  /// With paired columns, the operand registers of B, C and D are those of the
  /// first MMA, then those of the second.
  MmaPairing pairing;

  llvm::SmallVector<int64_t, 2> aShape() const { return {m, k}; }
  llvm::SmallVector<int64_t, 2> bShape() const { return {k, n}; }
  llvm::SmallVector<int64_t, 2> cShape() const { return {m, n}; }
  /// The number of MMAs of the chip that compute one tile.
  int64_t numMmas() const { return pairing.columns ? 2 : 1; }
};

/// The block barrier of the chip.
enum class BarrierKind {
  /// A block has one thread.
  None,
  /// One barrier instruction orders shared memory (NVIDIA).
  BarSync,
  /// s_barrier after waits for the counters (gfx9, gfx11).
  SBarrier,
  /// s_barrier_signal / s_barrier_wait with split counters (gfx12).
  SplitBarrier,
};

/// The wait mechanisms of the chip.
enum class WaitKind {
  CpAsyncGroup,  ///< cp.async commit and wait groups
  Mbarrier,      ///< mbarrier with transaction counts
  Vmcnt,         ///< s_waitcnt vmcnt / lgkmcnt
  SplitCounters, ///< s_wait_loadcnt, s_wait_dscnt, ...
  AsyncCounter,  ///< s_wait_asynccnt
  TensorCounter, ///< s_wait_tensorcnt
};

/// Copies from global to shared memory that bypass registers.
enum class AsyncCopyKind {
  None,
  /// cp.async: each thread has a destination address; groups complete in order.
  CpAsync,
  /// LDS DMA: a wave has one destination address, and its lanes write
  /// consecutive elements. The loads increment vmcnt. The code generator waits
  /// for all of them at barriers and before LDS accesses that may alias the
  /// destination.
  LDSLoad,
  /// Asynchronous loads to LDS of gfx1250: each lane has a destination address.
  /// The loads increment asynccnt, for which the code generator does not insert
  /// waits.
  AsyncLDSLoad,
};

/// A shared-memory read that permutes elements across the lanes of a wave. Each
/// lane reads n elements (`bytes` bytes) at its own address. Element `e` of
/// lane `l` is element `l % n` of those that lane `sourceLane(l, e)` reads.
struct TransposedRead {
  int64_t elementBits = 0;
  int64_t bytes = 0;
  /// The source lane consists of bits of `e` and `l / n`, from the lowest:
  /// `firstElementBits` of `e`, `firstLaneBits` of `l / n`, the other bits of
  /// `e`, the other bits of `l / n`.
  int64_t firstElementBits = 0;
  int64_t firstLaneBits = 0;

  int64_t elements() const { return bytes * 8 / elementBits; }
  int64_t sourceLane(int64_t lane, int64_t element) const;
};

/// One chip. The defaults describe a chip with one thread per block.
struct Target {
  /// "sm_90a", "gfx942", "cpu"
  llvm::StringRef name;
  Vendor vendor = Vendor::CPU;
  /// "Hopper", "CDNA3"
  llvm::StringRef architecture;
  /// Threads of a warp or wave.
  int64_t waveSize = 1;
  int64_t maxThreadsPerBlock = 1;
  /// Maximum blocks of a grid along x.
  int64_t maxBlocksPerGrid = std::numeric_limits<int32_t>::max();
  /// Default number of warps per block.
  int64_t defaultWarps = 1;
  /// Maximum bytes per block, including opt-in.
  int64_t sharedMemoryPerBlock = 0;
  /// Maximum bytes per block without opt-in.
  int64_t staticSharedMemory = 0;
  int64_t sharedMemoryBanks = 0;
  int64_t bankBytes = 0;
  /// The order in which the hardware serves the lanes of a wave that read 16
  /// bytes each, in groups that use each bank once. Empty: lane order, as for
  /// all other accesses.
  llvm::ArrayRef<int64_t> wideReadOrder;
  /// Maximum number of 32-bit registers per thread, including accumulation
  /// registers.
  int64_t registersPerThread = 0;
  /// 32-bit registers per compute unit (SM).
  int64_t registersPerUnit = 0;
  /// 0: the chip does not have tensor memory.
  int64_t tensorMemoryColumns = 0;
  /// Maximum blocks per cluster; 1: the chip does not have clusters.
  int64_t maxClusterSize = 1;
  /// Sizes in bytes of asynchronous copies of one thread from global to shared
  /// memory, ascending; may be empty.
  llvm::ArrayRef<int64_t> asyncCopyBytes;
  AsyncCopyKind asyncCopy = AsyncCopyKind::None;
  /// Minimum size in bytes from which an asynchronous copy is faster than a
  /// copy through registers; 0: never.
  int64_t minAsyncCopyBytes = 0;
  /// Tensor copies (TMA) that complete on mbarriers.
  bool hasTMA = false;
  /// wgmma: MMAs of warpgroups with accumulators in registers.
  bool hasWGMMA = false;
  /// Tensor data mover of AMD.
  bool hasTDM = false;
  bool hasLdMatrix = false;
  bool hasStMatrix = false;
  /// Transposed ldmatrix (16 x 16) and stmatrix (16 x 8) of 8-bit elements.
  bool hasTransposed8BitMatrix = false;
  /// Transposed LDS reads of AMD.
  llvm::ArrayRef<TransposedRead> transposedReads;
  /// Buffer loads with a hardware bounds check.
  bool hasBufferLoads = false;
  /// v_permlanex16_b32 and the DPP control row_xmask of AMD; chips of AMD
  /// without them have row_bcast.
  bool hasRowExchange = false;
  /// v_permlane16_swap_b32 and v_permlane32_swap_b32 of AMD.
  bool hasLaneSwap = false;
  BarrierKind barrier = BarrierKind::None;
  /// Whether the code generator sinks global loads to their uses.
  bool sinksLoads = false;
  llvm::ArrayRef<WaitKind> waits;
  /// Best first for each combination of element types.
  llvm::ArrayRef<MmaInstruction> mmas;
  /// Those with 8-bit operands that ldmatrix reads, with each pairing.
  llvm::ArrayRef<MmaInstruction> pairedMmas;
  /// Newest PTX version that LLVM emits for the chip ("90" for 9.0); empty for
  /// other vendors.
  llvm::StringRef ptxVersion;
  /// LLVM target features, e.g. `+ptx90`.
  llvm::StringRef features;

  bool isGPU() const { return vendor != Vendor::CPU; }
};

/// The target of this name, or null.
const Target *lookup(llvm::StringRef name);
/// The target of this NVIDIA compute capability, or null. An
/// architecture-specific target ("sm_90a") takes precedence.
const Target *lookupComputeCapability(int64_t major, int64_t minor);
/// Every target, in the table's order.
llvm::ArrayRef<const Target *> all();
/// The names of all targets, joined by ", ".
std::string knownNames();
/// The names of the targets with a property, joined by " or ", for messages.
std::string namesWith(llvm::function_ref<bool(const Target &)> hasProperty);
std::string namesWithTensorMemory();
/// The table as a JSON array with one object per chip, in the table's order.
std::string toJSON();

llvm::StringRef toString(Vendor vendor);
llvm::StringRef toString(Element element);
llvm::StringRef toString(MmaKind kind);
llvm::StringRef toString(BarrierKind kind);
llvm::StringRef toString(WaitKind kind);
llvm::StringRef toString(AsyncCopyKind kind);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TARGET_H
