//===- VendorLowering.h - What differs between the vendors ------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H

#include "smalti/passes/Layouts/Vectors/Distribution.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <optional>
#include <string>

namespace smalti::targets {
struct MmaInstruction;
struct Target;
} // namespace smalti::targets

namespace smalti::block_to_thread {

/// A piece of memory that one thread accesses at once: a vector of consecutive
/// elements (vector<1xT> for one element).
struct Access {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> indices;
  mlir::VectorType type;
  /// Whether the piece is inside the memref; all of its elements or none. Null:
  /// always.
  mlir::Value inBounds;
  /// Bytes that provably divide the address.
  int64_t alignment = 1;
  /// Whether the kernel writes nowhere in the memref.
  bool isOnlyRead = false;
};

/// What one thread copies at once from global to shared memory.
struct AsyncPiece {
  /// Where it comes from. Where pieces are cut, `inBounds` does not say
  /// anything about the last dimension.
  Access from;
  /// Of the source's last dimension.
  mlir::Value minorExtent;
  /// Where it goes.
  mlir::Value destination;
  llvm::SmallVector<mlir::Value> indices;
  /// Where the piece of the wave's first lane goes, uniform in the wave; only
  /// where a wave's pieces follow one another.
  llvm::SmallVector<mlir::Value> waveIndices;
};

/// One vector of the elements of all pieces, in order.
mlir::Value concatenate(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> pieces);
/// `length` elements of a vector from `first` on.
mlir::Value takeElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value vector, int64_t first, int64_t length);

/// The part of the lowering to threads that differs between the vendors. The
/// `refuse` members are asked while planning and answer why something cannot be
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
  /// A barrier of the block; without `ordersGlobalMemory` only shared memory
  /// must be ordered. `hasAsyncCopies`: copies may be in flight, which it must
  /// not wait for.
  virtual void emitBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                           bool ordersGlobalMemory,
                           bool hasAsyncCopies) const = 0;

  /// Why there are no barriers of the threads of a program, if there are none.
  virtual std::optional<std::string>
  refuseProgramBarrier(const ThreadGrid &grid) const;
  /// A barrier of the threads of a program that orders shared memory.
  virtual void emitProgramBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                                  ThreadIndices &indices) const;

  /// One matrix instruction on registers in the instruction's order.
  virtual llvm::SmallVector<mlir::Value>
  emitMma(mlir::OpBuilder &builder, mlir::Location loc,
          const targets::MmaInstruction &instruction,
          llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b,
          llvm::ArrayRef<mlir::Value> accumulator) const = 0;
  /// All registers of a vector that lies at the origin of a shared memref, by a
  /// warp-wide load; nothing where there is none that fits.
  virtual llvm::SmallVector<mlir::Value>
  emitFragmentLoad(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value memref, unsigned log2Alignment,
                   const Distribution &distribution,
                   ThreadIndices &indices) const;
  /// A masked or plain load; `pad` (a scalar) is what lanes outside read.
  virtual mlir::Value emitLoad(mlir::OpBuilder &builder, mlir::Location loc,
                               const Access &access, mlir::Value pad) const;
  virtual void emitStore(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, const Access &access) const;

  /// Starts copying a piece; what lies outside is zero.
  virtual void emitAsyncCopy(mlir::OpBuilder &builder, mlir::Location loc,
                             const AsyncPiece &piece) const = 0;
  virtual void emitAsyncCommit(mlir::OpBuilder &builder,
                               mlir::Location loc) const = 0;
  /// Waits until only the newest `groups` are in flight: `pieces` of them in
  /// every wave.
  virtual void emitAsyncWait(mlir::OpBuilder &builder, mlir::Location loc,
                             int64_t groups, int64_t pieces) const = 0;
  /// One thread of those of a wave, the same each time.
  virtual mlir::Value emitElected(ThreadIndices &indices) const;
  /// The registers themselves, as the compiler cannot tell.
  virtual llvm::SmallVector<mlir::Value>
  emitHeld(mlir::OpBuilder &builder, mlir::Location loc,
           llvm::ArrayRef<mlir::Value> registers) const;
  /// A value that all threads of a wave are known to have in common.
  virtual mlir::Value emitUniform(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value index) const;

  // Barrier objects; addresses are pointers to shared memory.
  virtual void emitBarrierInit(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value address, int64_t arrivals) const = 0;
  virtual void emitBarrierArrive(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value address, int64_t count) const = 0;
  virtual void emitBarrierArriveExpectTx(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         mlir::Value address,
                                         mlir::Value bytes) const = 0;
  /// Until the phase of this parity, an i32, is complete. `ticks` is how long a
  /// try may take, or null. `seesPeers`: what other blocks of the cluster have
  /// written is seen, too.
  virtual void emitBarrierWait(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value address, mlir::Value phase,
                               mlir::Value ticks, bool seesPeers) const = 0;

protected:
  const targets::Target &target;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_VENDORLOWERING_H
