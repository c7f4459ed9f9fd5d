//===- Target.h - What is known about each chip ---------------------------===//
//
// The one table of chips. Nothing else in the project switches on a chip name;
// passes ask for facts. Python reads the same table through toJSON().
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TARGET_H
#define SMALTI_TARGETS_TARGET_H

#include "smalti/layouts/LayoutAlgebra.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace smalti::targets {

enum class Vendor { CPU, NVIDIA, AMD };

/// Element types as far as matrix instructions tell them apart.
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

/// How an instruction is reached from MLIR.
enum class MmaKind {
  /// nvgpu.mma.sync for f16 and tf32; nvvm.mma.sync for bf16, which the former
  /// does not lower, and i8, which it makes saturate; the LLVM intrinsic
  /// llvm.nvvm.mma.* for the 8-bit floats
  MmaSync,
  /// amdgpu.mfma
  Mfma,
  /// amdgpu.wmma
  Wmma,
  /// No matrix instruction: scalar fused multiply-adds on the same kind of
  /// fragments
  Fma,
};

/// A warp-wide matrix instruction D[MxN] = A[MxK] * B[KxN] + C[MxN].
///
/// Each operand has a layout of one warp, whose first tile is the operand's
/// whole shape, and an order. A thread's part of an operand is a list of
/// registers, each a vector of `vectorLength()` elements. The layout numbers
/// them row-major over its register dimensions; the instruction may want them
/// in another order: its operand register `i` is the layout's register
/// `order[i]`. Element `e` of it is element `i * vectorLength() + e` of the
/// operand that amdgpu.mfma and amdgpu.wmma take, and element [i, e] of that of
/// nvgpu.mma.sync.
struct MmaInstruction {
  MmaKind kind;
  int64_t m, n, k;
  Element a, b, accumulator;
  /// Where the elements of A (MxK), B (KxN) and C, D (MxN) live in one warp.
  layout::TiledLayout aLayout, bLayout, cLayout;
  /// The layout's register that each operand register is; a permutation.
  llvm::SmallVector<int64_t, 4> aOrder, bOrder, cOrder;
  /// The instruction in the chip's assembly, as in `v_mfma_f32_16x16x16_f16`.
  std::string mnemonic;
  /// Multiply-accumulates per cycle and compute unit, for choosing between
  /// instructions; 0 = not known.
  int64_t macsPerCycle = 0;

  llvm::SmallVector<int64_t, 2> aShape() const { return {m, k}; }
  llvm::SmallVector<int64_t, 2> bShape() const { return {k, n}; }
  llvm::SmallVector<int64_t, 2> cShape() const { return {m, n}; }
};

/// How the threads of a block wait for one another and for memory.
enum class BarrierKind {
  /// A block is one thread.
  None,
  /// One barrier instruction orders shared memory (NVIDIA).
  BarSync,
  /// s_barrier with counters waited for before it (gfx9, gfx11).
  SBarrier,
  /// s_barrier_signal / s_barrier_wait with split counters (gfx12).
  SplitBarrier,
};

/// The memory counters that a program can wait on.
enum class WaitKind {
  CpAsyncGroup,  ///< cp.async commit and wait groups
  Mbarrier,      ///< mbarrier with transaction counts
  Vmcnt,         ///< s_waitcnt vmcnt / lgkmcnt
  SplitCounters, ///< s_wait_loadcnt, s_wait_dscnt, ...
  AsyncCounter,  ///< s_wait_asynccnt
  TensorCounter, ///< s_wait_tensorcnt
};

/// How a thread copies from global to shared memory without passing registers.
enum class AsyncCopyKind {
  None,
  /// cp.async: each thread names its place; groups complete in order.
  CpAsync,
  /// AMD's loads to LDS: a wave has one place, behind which its lanes' pieces
  /// follow one another. Units of the load counter. The code generator drains
  /// the counter at its own barriers and ahead of shared-memory accesses that
  /// it cannot tell apart from the copy.
  LDSLoad,
  /// gfx1250's asynchronous loads to LDS: each lane names its place. Units of
  /// the asynchronous counter, for which the code generator never waits.
  AsyncLDSLoad,
};

/// A read of shared memory that deals what it reads to the lanes of a wave in
/// another order: each lane reads `bytes` bytes at its own address, n elements,
/// and lane `l` gets as its element `e` the element `l % n` of those that lane
/// `sourceLane(l, e)` read.
struct TransposedRead {
  int64_t elementBits = 0;
  int64_t bytes = 0;
  /// The number of the source lane is made of bits of `e` and of `l / n`: from
  /// the lowest, this many of `e`, this many of `l / n`, what is left of `e`,
  /// and what is left of `l / n`.
  int64_t firstElementBits = 0;
  int64_t firstLaneBits = 0;

  int64_t elements() const { return bytes * 8 / elementBits; }
  int64_t sourceLane(int64_t lane, int64_t element) const;
};

/// One chip. The defaults are those of a chip whose blocks are one thread.
struct Target {
  /// "sm_90a", "gfx942", "cpu"
  llvm::StringRef name;
  Vendor vendor = Vendor::CPU;
  /// "Hopper", "CDNA3"
  llvm::StringRef architecture;
  /// Threads that execute together.
  int64_t waveSize = 1;
  int64_t maxThreadsPerBlock = 1;
  /// Warps of a block that a conversion takes unless told otherwise.
  int64_t defaultWarps = 1;
  /// Bytes that one block may have, opt-in included.
  int64_t sharedMemoryPerBlock = 0;
  /// Bytes that one block may have without opting in.
  int64_t staticSharedMemory = 0;
  int64_t sharedMemoryBanks = 0;
  int64_t bankBytes = 0;
  /// The lanes of a wave in the order in which reads of 16 bytes a lane are
  /// served, as many at a time as fill the banks once. Empty: in order, as all
  /// other accesses are.
  llvm::ArrayRef<int64_t> wideReadOrder;
  /// 32-bit registers that one thread may have, accumulation registers
  /// included.
  int64_t registersPerThread = 0;
  /// 32-bit registers of one compute unit.
  int64_t registersPerUnit = 0;
  /// 0 where there is no tensor memory.
  int64_t tensorMemoryColumns = 0;
  /// Blocks; 1 where there are no clusters.
  int64_t maxClusterSize = 1;
  /// Bytes that one thread can copy from global to shared memory without
  /// passing registers, ascending; empty where there is no such copy.
  llvm::ArrayRef<int64_t> asyncCopyBytes;
  AsyncCopyKind asyncCopy = AsyncCopyKind::None;
  /// From how many bytes on such a copy is better than one through registers; 0
  /// where it never is.
  int64_t asyncCopyPaysFrom = 0;
  /// Bulk tensor copies with mbarriers.
  bool hasTMA = false;
  /// Products by four warps together, with accumulators in registers (wgmma).
  bool hasWGMMA = false;
  /// AMD's tensor data mover.
  bool hasTDM = false;
  bool hasLdMatrix = false;
  bool hasStMatrix = false;
  /// ldmatrix of 16 x 16, and stmatrix of 16 x 8, transposed 8-bit elements.
  bool hasTransposed8BitMatrix = false;
  /// AMD's reads of shared memory that transpose.
  llvm::ArrayRef<TransposedRead> transposedReads;
  /// Buffer loads with a hardware bounds check.
  bool hasBufferLoads = false;
  BarrierKind barrier = BarrierKind::None;
  /// Whether the code generator moves loads of global memory down to where they
  /// are used.
  bool sinksLoads = false;
  llvm::ArrayRef<WaitKind> waits;
  /// Best first for each combination of element types.
  llvm::ArrayRef<MmaInstruction> mmas;
  /// Newest PTX version that LLVM writes for the chip, as "90" for 9.0; empty
  /// elsewhere.
  llvm::StringRef ptxVersion;
  /// LLVM target features, as in `+ptx90`.
  llvm::StringRef features;

  bool isGPU() const { return vendor != Vendor::CPU; }
};

/// The target of this name, or null.
const Target *lookup(llvm::StringRef name);
/// The target of this NVIDIA compute capability, or null. Of two, it is the one
/// that has the instructions of this capability alone ("sm_90a").
const Target *lookupComputeCapability(int64_t major, int64_t minor);
/// Every target, in the table's order.
llvm::ArrayRef<const Target *> all();
/// The names of all targets, joined by ", ".
std::string knownNames();
/// The table as a JSON array, one object a chip, in the table's order.
std::string toJSON();

llvm::StringRef toString(Vendor vendor);
llvm::StringRef toString(Element element);
llvm::StringRef toString(MmaKind kind);
llvm::StringRef toString(BarrierKind kind);
llvm::StringRef toString(WaitKind kind);
llvm::StringRef toString(AsyncCopyKind kind);

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TARGET_H
