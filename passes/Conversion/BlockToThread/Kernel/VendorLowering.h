//===- VendorLowering.h - Vendor-specific lowering hooks --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace smalti::mosaic_gpu {
class MMAOp;
} // namespace smalti::mosaic_gpu

namespace smalti::targets {
struct MmaInstruction;
struct Target;
} // namespace smalti::targets

namespace smalti::block_to_thread {

/// A piece of memory that one thread accesses with one instruction: a vector of
/// consecutive elements (vector<1xT> for one element).
struct Access {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> indices;
  mlir::VectorType type;
  /// Whether the whole piece is inside the memref; otherwise it is entirely
  /// outside. Null: always inside.
  mlir::Value inBounds;
  /// Proven alignment of the address in bytes.
  int64_t alignment = 1;
  /// Whether the kernel does not write to the memref.
  bool isOnlyRead = false;
  /// See kCacheHint; may be null.
  mlir::StringAttr cacheHint;
  /// Whether elements of the dynamic memref have offsets below 2^31 bytes.
  bool hasSmallOffsets = false;
};

/// A piece that one thread copies from global to shared memory.
struct AsyncPiece {
  /// Source of the piece. If pieces are truncated, `inBounds` does not cover
  /// the last dimension.
  Access from;
  /// Extent of the source's last dimension.
  mlir::Value minorExtent;
  /// Destination of the piece.
  mlir::Value destination;
  llvm::SmallVector<mlir::Value> indices;
  /// Destination of the piece of the wave's first lane, uniform in the wave;
  /// set only if the pieces of a wave are contiguous.
  llvm::SmallVector<mlir::Value> waveIndices;
};

/// A move of words between the lanes of a wave.
struct LaneMove {
  /// The lane that each lane reads; negative: any lane or value.
  llvm::SmallVector<int64_t> sources;
  /// Lanes whose ids differ only in these bits hold the same word.
  int64_t same = 0;

  /// Whether an instruction in which each lane reads `getSource(lane)`, or
  /// nothing if it is negative, moves the words as required.
  bool matches(llvm::function_ref<int64_t(int64_t lane)> getSource) const;
  /// The number that is xored with, added to, or equal to every lane to get its
  /// source.
  std::optional<int64_t> matchExchange() const;
  std::optional<int64_t> matchShift() const;
  std::optional<int64_t> matchBroadcast() const;
  /// The source lane of each thread.
  llvm::SmallVector<int64_t> getThreadTable(const ThreadGrid &grid) const;
};

/// Concatenates the elements of all pieces, in order.
mlir::Value concatenate(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> pieces);
/// `length` elements of a vector starting at `first`.
mlir::Value takeElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value vector, int64_t first, int64_t length);

/// The operands of one MMA instruction: registers in its order, and the signs
/// of i8.
struct MmaOperands {
  llvm::ArrayRef<mlir::Value> a, b, accumulator;
  bool unsignedA = false, unsignedB = false;
};

/// A vector in memory, at the origin of a memref.
struct SharedVector {
  mlir::Value memref;
  unsigned log2Alignment = 0;
  /// Emits a pointer to the first element; null if the memref is not a part of
  /// the block's buffer of shared memory.
  llvm::function_ref<mlir::Value()> getPointer;
};

/// The vendor-specific part of the lowering to thread level. The `refuse`
/// members are called while planning and return why something cannot be
/// lowered; the others emit and cannot fail.
class VendorLowering {
public:
  explicit VendorLowering(const targets::Target &target) : target(target) {}
  virtual ~VendorLowering();

  const targets::Target &getTarget() const { return target; }

  virtual std::optional<std::string>
  refuseMma(const targets::MmaInstruction &instruction) const = 0;
  virtual std::optional<std::string> refuseAsyncCopy() const = 0;
  virtual std::optional<std::string> refuseBarriers() const = 0;

  /// One buffer of bytes in the block's shared memory.
  virtual mlir::Value emitSharedMemory(mlir::OpBuilder &builder,
                                       mlir::gpu::GPUFuncOp func, int64_t bytes,
                                       int64_t alignment) const = 0;
  /// A barrier of the block. Without `ordersGlobalMemory`, only shared memory
  /// must be ordered. With `hasAsyncCopies`, copies may be in flight and the
  /// barrier must not wait for them.
  virtual void emitBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                           bool ordersGlobalMemory,
                           bool hasAsyncCopies) const = 0;

  /// Why barriers of a thread group are not available, if they are not.
  virtual std::optional<std::string>
  refuseThreadGroupBarrier(const ThreadGrid &grid) const;
  /// A barrier of a thread group that orders shared memory.
  virtual void emitThreadGroupBarrier(mlir::OpBuilder &builder,
                                      mlir::Location loc,
                                      ThreadIndices &indices) const;

  /// The word (i32) of another lane of the wave: of the lane in `lane` (i32),
  /// or of the lane whose number differs in the bits of `mask`. All lanes
  /// execute this.
  virtual mlir::Value emitLaneRead(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value word, mlir::Value lane,
                                   ThreadIndices &indices) const = 0;
  virtual mlir::Value emitLaneExchange(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value word,
                                       int64_t mask,
                                       ThreadIndices &indices) const = 0;
  /// Four bytes of the words `a` (numbers 0 to 3) and `b` (4 to 7), selected by
  /// the four low hexadecimal digits of `selector`, lowest first.
  virtual mlir::Value emitBytePermute(mlir::OpBuilder &builder,
                                      mlir::Location loc, mlir::Value a,
                                      mlir::Value b,
                                      mlir::Value selector) const = 0;

  /// One MMA instruction.
  virtual llvm::SmallVector<mlir::Value>
  emitMma(mlir::OpBuilder &builder, mlir::Location loc,
          const targets::MmaInstruction &instruction,
          const MmaOperands &operands) const = 0;
  /// Loads all registers of a vector at the origin of a shared memref by
  /// warp-wide loads; nothing if they are not applicable.
  virtual llvm::SmallVector<mlir::Value>
  emitFragmentLoad(mlir::OpBuilder &builder, mlir::Location loc,
                   const SharedVector &source, const Distribution &distribution,
                   ThreadIndices &indices) const;
  /// A masked or plain load; out-of-bounds lanes read `pad` (a scalar).
  virtual mlir::Value emitLoad(mlir::OpBuilder &builder, mlir::Location loc,
                               const Access &access, mlir::Value pad) const;
  virtual void emitStore(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, const Access &access) const;

  /// Issues the copy of a piece; out-of-bounds elements are zero.
  virtual void emitAsyncCopy(mlir::OpBuilder &builder, mlir::Location loc,
                             const AsyncPiece &piece) const = 0;
  virtual void emitAsyncCommit(mlir::OpBuilder &builder,
                               mlir::Location loc) const = 0;
  /// Waits until only the newest `groups` are in flight: `pieces` copies in
  /// every wave.
  virtual void emitAsyncWait(mlir::OpBuilder &builder, mlir::Location loc,
                             int64_t groups, int64_t pieces) const = 0;
  /// Elects one thread of a wave, always the same.
  virtual mlir::Value emitElected(ThreadIndices &indices) const;
  /// Passes registers through an optimization barrier.
  virtual llvm::SmallVector<mlir::Value>
  emitOpaque(mlir::OpBuilder &builder, mlir::Location loc,
             llvm::ArrayRef<mlir::Value> registers) const;
  /// Marks a value as uniform in a wave.
  virtual mlir::Value emitUniform(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value index) const;

  /// Stops the kernel with an error.
  virtual void emitFailure(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::StringRef message) const;

  // Mbarriers; addresses are pointers to shared memory.
  virtual void emitBarrierInit(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value address, int64_t arrivals) const = 0;
  virtual void emitBarrierArrive(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value address, int64_t count) const = 0;
  virtual void emitBarrierArriveExpectTx(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         mlir::Value address,
                                         mlir::Value bytes) const = 0;
  /// Waits until the phase of this parity, an i32, is complete. `ticks` limits
  /// the time of a try, or is null. With `acquiresFromCluster`, the wait
  /// acquires at cluster scope.
  virtual void emitBarrierWait(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value address, mlir::Value phase,
                               mlir::Value ticks,
                               bool acquiresFromCluster) const = 0;

  // Moves between the lanes of a wave, all of which are active.
  /// The i32 of another lane.
  virtual mlir::Value emitLaneMove(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value word, const LaneMove &move,
                                   ThreadIndices &indices) const = 0;
  /// The lanes in which moves by a constant number of lanes are fast.
  virtual int64_t getShiftedLanes() const = 0;
  /// Combines an i32 of all lanes of a wave with one instruction; null if the
  /// target does not have the instruction.
  virtual mlir::Value emitWaveReduction(mlir::OpBuilder &builder,
                                        mlir::Location loc, mlir::Value word,
                                        mlir::vector::CombiningKind kind) const;

protected:
  const targets::Target &target;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H
