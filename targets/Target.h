//===- Target.h - What is known about each chip ---------------------------===//
//
// The one table of chips. Nothing else in the project switches on a chip name;
// passes ask for facts. Python reads the same table through toJSON().
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_TARGETS_TARGET_H
#define SMALTI_TARGETS_TARGET_H

#include "dialects/MosaicGPU/LayoutAlgebra.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace smalti::targets {

enum class Vendor { CPU, NVIDIA, AMD };

/// Element types as far as matrix instructions tell them apart.
enum class Element { F16, BF16, F32, TF32, F64, E4M3, E5M2, I8, I4, I32 };

/// How an instruction is reached from MLIR.
enum class MmaKind {
  MmaSync, ///< nvgpu.mma.sync
  Mfma,    ///< amdgpu.mfma
  Wmma,    ///< amdgpu.wmma
  Fma,     ///< no matrix instruction: scalar fused multiply-adds on the same kind of fragments
};

/// A warp-wide matrix instruction D[MxN] = A[MxK] * B[KxN] + C[MxN].
struct MmaInstruction {
  MmaKind kind;
  int64_t m, n, k;
  Element a, b, accumulator;
  /// Where the elements of A (MxK), B (KxN) and C, D (MxN) live in one warp.
  layout::TiledLayout aLayout, bLayout, cLayout;
  /// Multiply-accumulates per cycle and compute unit, for choosing; 0 = not known.
  int64_t macsPerCycle;
};

/// How the threads of a block wait for one another and for memory.
enum class BarrierKind {
  BarSync,      ///< one barrier instruction orders shared memory (NVIDIA)
  SBarrier,     ///< s_barrier with counters waited for before it (gfx9, gfx10, gfx11)
  SplitBarrier, ///< s_barrier_signal / s_barrier_wait with split counters (gfx12)
};

/// The memory counters that a program can wait on.
enum class WaitKind {
  CpAsyncGroup,    ///< cp.async commit and wait groups
  Mbarrier,        ///< mbarrier with transaction counts
  Vmcnt,           ///< s_waitcnt vmcnt / lgkmcnt
  SplitCounters,   ///< s_wait_loadcnt, s_wait_dscnt, ...
  AsyncCounter,    ///< s_wait_asynccnt
  TensorCounter,   ///< s_wait_tensorcnt
};

struct Target {
  llvm::StringRef name;         ///< "sm_90a", "gfx942", "cpu"
  Vendor vendor;
  llvm::StringRef architecture; ///< "Hopper", "CDNA3"
  int64_t waveSize;             ///< threads that execute together
  int64_t maxThreadsPerBlock;
  int64_t defaultWarps;         ///< warps of a block that a conversion takes unless told otherwise
  int64_t sharedMemoryPerBlock; ///< bytes that one block may have, opt-in included
  int64_t staticSharedMemory;   ///< bytes that one block may have without opting in
  int64_t sharedMemoryBanks;
  int64_t bankBytes;
  int64_t registersPerThread;   ///< 32-bit registers that one thread may have (accumulation registers included)
  int64_t registersPerUnit;     ///< 32-bit registers of one compute unit
  int64_t tensorMemoryColumns;  ///< 0 where there is none
  int64_t maxClusterSize;       ///< blocks; 1 where there are no clusters
  /// Bytes that one thread can copy from global to shared memory without
  /// passing registers, ascending; empty where there is no such copy.
  llvm::ArrayRef<int64_t> asyncCopyBytes;
  bool hasTMA;                  ///< bulk tensor copies with mbarriers
  bool hasTDM;                  ///< tensor data mover
  bool hasLdMatrix;             ///< ldmatrix
  bool hasBufferLoads;          ///< buffer loads with a hardware bounds check
  BarrierKind barrier;
  llvm::ArrayRef<WaitKind> waits;
  /// Best first.
  llvm::ArrayRef<MmaInstruction> mmas;
  /// Newest PTX version that LLVM writes for the chip, as "90" for 9.0; empty elsewhere.
  llvm::StringRef ptxVersion;
  /// LLVM target features, as in `+ptx90`.
  llvm::StringRef features;

  bool isGPU() const { return vendor != Vendor::CPU; }
};

/// The target of this name, or null.
const Target *lookup(llvm::StringRef name);
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

} // namespace smalti::targets

#endif // SMALTI_TARGETS_TARGET_H
