//===- TransferPlan.h - Transfers between registers and shared memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the accesses that move a vector between registers and shared memory,
// from the two layouts and the bank model of the target, without MLIR objects.
//
// Addresses are bytes from the start of the buffer, which is aligned to the
// whole swizzle pattern (`swizzleBytes * 8`, at most 1024 bytes). Threads are
// numbered `warp * waveSize + lane`.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERPLAN_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERPLAN_H

#include "smalti/layouts/LayoutAlgebra.h"
#include "smalti/passes/Analysis/SharedMemory/BankModel.h"

namespace smalti::targets {
struct Target;
} // namespace smalti::targets

namespace smalti::transfers {

/// More accesses than the registers of a thread allow.
inline constexpr int64_t kMaxAccesses = 16384;

/// The layout of a vector in memory. Sizes and strides are in elements.
struct MemoryLayout {
  llvm::SmallVector<int64_t> shape;
  /// The strides of the memref type, those of the untiled memory. With a tile,
  /// they define the order of the dimensions in memory, inside a tile and
  /// between tiles.
  llvm::SmallVector<int64_t> strides;
  /// The last dimensions are split into tiles of these sizes, each contiguous;
  /// empty: untiled.
  llvm::SmallVector<int64_t> tile;
  /// Width of the swizzle: 32, 64 or 128; 16: no swizzle. Bits 4 and up of an
  /// address are XORed with the number of its 128-byte row modulo
  /// `swizzleBytes / 16`.
  int64_t swizzleBytes = 16;

  /// Row-major memory.
  static MemoryLayout rowMajor(llvm::ArrayRef<int64_t> shape);
  /// The reason if addresses cannot be computed for the layout.
  std::optional<std::string> validate(int64_t elementBits) const;
  /// The address of an element in bits, including the swizzle; the layout must
  /// be valid.
  int64_t bitAddress(llvm::ArrayRef<int64_t> index, int64_t elementBits) const;
};

/// Applies a swizzle to an address.
int64_t swizzleAddress(int64_t address, int64_t swizzleBytes);

struct TransferProblem {
  layout::RegisterLayout registers;
  MemoryLayout memory;
  int64_t elementBits = 0;
  bool isLoad = true;
  /// Number of warps that hold the vector; not used for a tiled layout.
  int64_t warps = 4;
  /// Whether plans with bank conflicts are rejected.
  bool mustBeConflictFree = false;
};

/// The instruction of an access.
enum class AccessKind {
  /// A lane reads or writes `bytes` bytes at its own address.
  Vector,
  /// ldmatrix / stmatrix of 8 x 8 16-bit elements. Lane `8 * m + r` has the
  /// address
  /// of row `r` of matrix `m`, which has 16 bytes. Lane `t` holds the 32 bits
  /// of row
  /// `t / 4` at byte `4 * (t % 4)`.
  Matrix,
  /// `Matrix`, transposed: lane `t` holds the elements of column `t / 4` in
  /// rows
  /// `2 * (t % 4)` and the next.
  MatrixTransposed,
  /// ldmatrix of 16 x 16, or stmatrix of 8 x 16, 8-bit elements, transposed.
  /// Lane
  /// `rows * m + r` has the address of row `r` of matrix `m`, which has 16
  /// bytes.
  /// Lane `t` holds columns `t / 4` and `t / 4 + 8` of its rows: `4 * (t % 4)`
  /// and the
  /// next three for a load, `2 * (t % 4)` and the next for a store. A 32-bit
  /// register
  /// holds two rows of the first column, then two rows of the second.
  MatrixTransposed8,
  /// ldmatrix of 8 x 8 pairs of 8-bit elements, transposed: `MatrixTransposed`
  /// with a pair as one element. The elements of a pair belong to two
  /// registers.
  MatrixOfPairs,
  /// AMD's transposed read by groups of 16 lanes: each lane reads `bytes` bytes
  /// at
  /// its own address, and the lanes of a group transpose the elements. See
  /// `targets::TransposedRead`.
  TransposedRead,
};

/// Elements `first` to `first + count - 1` of a register.
struct Piece {
  int64_t reg = 0;
  int64_t first = 0;
  int64_t count = 0;
};

struct Access {
  AccessKind kind = AccessKind::Vector;
  /// Bytes that a lane moves at its address; 16 for a matrix.
  int64_t bytes = 0;
  /// Vector: the consecutive elements at the address. Matrix: one piece for
  /// each of the 1, 2 or 4 matrices. Others: the elements of the lane, in
  /// order; 8-bit matrices have two pieces per 32-bit register, and 4 or 2 per
  /// matrix.
  llvm::SmallVector<Piece, 4> pieces;
  /// Index of the base of the address in the plan.
  int64_t base = 0;
  /// Constant offset of the instruction in bytes.
  int64_t offset = 0;
};

/// `stride` bytes for each step of `thread / divisor % size`.
struct ThreadTerm {
  int64_t divisor = 1;
  int64_t size = 1;
  int64_t stride = 0;
};

/// Lanes whose `lane / groupStride` is odd execute the accesses in another
/// order, and selects restore the order of the registers.
struct Stagger {
  int64_t groupStride = 0;
  /// The i-th access of those lanes.
  llvm::SmallVector<int64_t> order;
};

/// The address of a thread for an access:
///   swizzle(sum of terms + bases[access.base]) + access.offset
struct TransferPlan {
  llvm::SmallVector<ThreadTerm> terms;
  /// In bytes, added before the swizzle. Each base is one address register.
  llvm::SmallVector<int64_t> bases;
  /// In execution order, all of one kind and width.
  llvm::SmallVector<Access> accesses;
  std::optional<Stagger> stagger;
  int64_t swizzleBytes = 16;
  int64_t waveSize = 0;
  int64_t warps = 0;
  /// Bank cycles and conflicts of all accesses of one warp, the maximum over
  /// all warps.
  banks::Cost cost;
  /// 32-bit selects per thread to undo the stagger, and byte permutations for
  /// accesses of parts of registers.
  int64_t selects = 0;
  /// Estimated cycles of one warp: see `estimateCycles`.
  int64_t cycles = 0;

  bool isConflictFree() const { return cost.conflicts == 0; }
  bool isTrivial() const { return !stagger; }
  /// The address of a thread for an access.
  int64_t address(int64_t thread, const Access &access) const;
  /// One line: instructions, bases, conflicts.
  std::string str() const;
};

/// The cheapest plan, or the reason why none exists, with the lanes and bank of
/// a conflict. Ties are resolved by fewer address registers, then by plain
/// accesses over matrix instructions, then by no stagger.
///
/// A plan does not exist for a load with a splat layout, and for shapes and
/// tiles that do not nest. It also does not exist for elements smaller than a
/// byte that are not adjacent in memory, and for more than `kMaxAccesses`
/// accesses per thread. Only a plan that must be conflict-free may be
/// staggered.
layout::ValueOr<TransferPlan> planTransfer(const TransferProblem &problem,
                                           const targets::Target &target);

/// The requirement of an op for its transfer, from `optimized` of vector_load
/// and vector_store: true (and a load without it), false, a store without it.
enum class TransferNeed { Optimized, Unoptimized, Downgradable };

/// Whether layout inference of JAX 0.10.2 accepts a transfer. Its planner
/// models 32 banks and one warp, uses one access of at most 16 bytes per
/// register, and staggers two groups of lanes. It accepts some transfers whose
/// accesses of less than 4 bytes have conflicts. More than `kMaxAccesses`
/// accesses are rejected.
bool isTransferInJAX(const TransferProblem &problem, TransferNeed need);

/// The cycles of a number of instructions of one warp and of its shared memory
/// accesses: the sum of issue cycles and bank cycles.
int64_t estimateCycles(int64_t instructions, const banks::Cost &cost);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERPLAN_H
