//===- TransferPlan.h - How registers reach shared memory -----------------===//
//
// A pure function: from the layout of a vector in registers and that of its
// memory, to the sequence of accesses that moves it, with what the banks of
// shared memory make of it. No MLIR object takes part.
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

/// No thread has registers for as many.
inline constexpr int64_t kMostAccesses = 16384;

/// Where the elements of a vector are in memory. Sizes and strides are in
/// elements.
struct MemoryLayout {
  llvm::SmallVector<int64_t> shape;
  /// The strides of the memref's type: those of the untiled memory. With a
  /// tile, they say in which order the dimensions lie in memory, in a tile and
  /// among tiles.
  llvm::SmallVector<int64_t> strides;
  /// The last dimensions are cut into tiles of these sizes, each contiguous;
  /// empty: none.
  llvm::SmallVector<int64_t> tile;
  /// Bit 4 and following of an address are XORed with the number of its
  /// 128-byte row, modulo `swizzleBytes / 16`: 32, 64 or 128; 16: none.
  int64_t swizzleBytes = 16;

  /// Row-major memory.
  static MemoryLayout rowMajor(llvm::ArrayRef<int64_t> shape);
  /// Why it is no layout that an address can be computed for, if it is not.
  std::optional<std::string> validate(int64_t elementBits) const;
  /// The address of an element, in bits, swizzle included; the layout must be
  /// valid.
  int64_t bitAddress(llvm::ArrayRef<int64_t> index, int64_t elementBits) const;
};

/// The address that a swizzle makes of one.
int64_t swizzleAddress(int64_t address, int64_t swizzleBytes);

struct TransferProblem {
  layout::RegisterLayout registers;
  MemoryLayout memory;
  int64_t elementBits = 0;
  bool isLoad = true;
  /// Warps that hold the vector. A tiled layout says so itself.
  int64_t warps = 4;
  /// Whether a plan in which lanes wait for one another is none.
  bool mustBeConflictFree = false;
};

/// The instruction of an access.
enum class AccessKind {
  /// A lane reads or writes `bytes` bytes at its own address.
  Vector,
  /// ldmatrix / stmatrix of 8 x 8 16-bit elements: lane `8 * m + r` names row
  /// `r` of matrix `m`, of 16 bytes. Lane `t` has the 32 bits of row `t / 4` at
  /// `4 * (t % 4)` bytes.
  Matrix,
  /// The same, transposed: lane `t` has the elements of column `t / 4` in rows
  /// `2 * (t % 4)` and the next.
  MatrixTransposed,
  /// ldmatrix of 16 x 16, or stmatrix of 8 x 16, 8-bit elements, transposed:
  /// lane `rows * m + r` names row `r` of matrix `m`, of 16 bytes. Lane `t` has
  /// columns `t / 4` and `t / 4 + 8` of each of the rows that it has: `4 * (t %
  /// 4)` and the next three of a load, `2 * (t % 4)` and the next of a store.
  /// A 32-bit register has two rows of the one column, then of the other.
  MatrixTransposed8,
  /// AMD's transposed read, by 16 lanes at a time: each lane reads `bytes`
  /// bytes
  /// at its own address, and gets one element of several lanes' in turn. See
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
  /// Bytes that a lane moves at its address: 16 of a matrix.
  int64_t bytes = 0;
  /// Vector: what lies behind one another at the address. Matrix: the part of
  /// each of the 1, 2 or 4 matrices. Else what the lane has, in order: of 8-bit
  /// matrices two pieces for each 32-bit register, 4 or 2 for each matrix.
  llvm::SmallVector<Piece, 4> pieces;
  /// Which of the plan's bases the address is made from.
  int64_t base = 0;
  /// Bytes added to it, a constant of the instruction.
  int64_t offset = 0;
};

/// `stride` bytes for each step of `thread / divisor % size`.
struct ThreadTerm {
  int64_t divisor = 1;
  int64_t size = 1;
  int64_t stride = 0;
};

/// Lanes whose `lane / groupStride` is odd take the accesses in another order,
/// and selects put the registers right.
struct Stagger {
  int64_t groupStride = 0;
  /// The access that those lanes make as the i-th.
  llvm::SmallVector<int64_t> order;
};

/// The address of a thread for an access:
///   swizzle(sum of terms + bases[access.base]) + access.offset
struct TransferPlan {
  llvm::SmallVector<ThreadTerm> terms;
  /// Bytes, added before the swizzle. Few: each is one address register.
  llvm::SmallVector<int64_t> bases;
  /// In the order in which they are made. All are of one kind and width.
  llvm::SmallVector<Access> accesses;
  std::optional<Stagger> stagger;
  int64_t swizzleBytes = 16;
  int64_t waveSize = 0;
  int64_t warps = 0;
  /// What one warp asks of the banks, for all accesses; the warp that asks
  /// most.
  banks::Cost cost;
  /// Selects of 32 bits, a thread, to undo the stagger; and byte permutations
  /// to take apart and put together accesses that hold parts of registers.
  int64_t selects = 0;
  /// Cycles that a warp takes of the unit that is busiest with it: see
  /// `estimateCycles`.
  int64_t cycles = 0;

  bool isConflictFree() const { return cost.conflicts == 0; }
  bool isTrivial() const { return !stagger; }
  /// The address of a thread for an access.
  int64_t address(int64_t thread, const Access &access) const;
  /// One line: instructions, bases, conflicts.
  std::string str() const;
};

/// The cheapest plan, or the reason why there is none, which names the numbers:
/// which lanes meet in which bank. Of equal ones it is the one that needs
/// fewest address registers, then a plain access before a matrix instruction,
/// then one without stagger.
///
/// There is none where a load has a splat layout, where shapes and tiles do not
/// nest, for elements that are not whole bytes and lie apart in memory, and
/// where a thread would make more than `kMostAccesses` accesses.
/// A plan that must be conflict-free may be staggered; others are not.
layout::ValueOr<TransferPlan> planTransfer(const TransferProblem &problem,
                                           const targets::Target &target);

/// What an op asks of its transfer, as `optimized` of vector_load and
/// vector_store says: true (and a load without it), false, and a store without
/// it.
enum class TransferNeed { Optimized, Unoptimized, Downgradable };

/// Whether JAX's inference takes a transfer, as version 0.10.2 decides: its
/// planner counts 32 banks of one warp, takes every lane's share with one
/// access of at most 16 bytes, and staggers two groups of lanes. It accepts
/// some transfers whose accesses of less than 4 bytes conflict in fact. (More
/// than `kMostAccesses` accesses are not looked at, and not taken.)
bool isTransferInJAX(const TransferProblem &problem, TransferNeed need);

/// The cycles of a number of instructions that one warp issues, and of what it
/// asks of shared memory: issue slots and bank cycles are used at the same
/// time, but the accesses' own issue is not free.
int64_t estimateCycles(int64_t instructions, const banks::Cost &cost);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERPLAN_H
