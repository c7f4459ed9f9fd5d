//===- Emitter.h - Emits the kernel of one thread ---------------*- C++ -*-===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/KernelPlan.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"

#include "mlir/IR/IRMapping.h"

namespace smalti::block_to_thread {

class VendorLowering;

/// What a thread holds of a vector: values of type `vector<LxT>`, in the order
/// of the registers of its distribution.
using Registers = llvm::SmallVector<mlir::Value>;

/// Emits the kernel of one thread beside the kernel of the block.
class Emitter {
public:
  Emitter(KernelPlan &plan, const VendorLowering &vendor,
          const OpLowerings &lowerings, mlir::gpu::GPUFuncOp newFunc,
          mlir::Block *body);
  void emitBlock(mlir::Block &block, mlir::OpBuilder &builder);
  void finish() { indices.finish(); }

  /// The registers of a vector.
  Registers getRegisters(mlir::Value value) const {
    return registers.find(value)->second;
  }
  /// The registers of a vector in a distribution that the plan found reachable:
  /// its own, or any if it is a splat.
  Registers getRegisters(mlir::Value value, const Distribution &wanted,
                         mlir::OpBuilder &builder);
  void setRegisters(mlir::Value value, Registers held) {
    registers[value] = std::move(held);
  }

  /// What stands for a value that is no block-level vector.
  mlir::Value lookup(mlir::Value value) const {
    return scalars.lookup<mlir::Value>(value);
  }
  llvm::SmallVector<mlir::Value> lookup(mlir::ValueRange values) const;
  void map(mlir::Value from, mlir::Value to) { scalars.map(from, to); }

  /// Bytes from the start of the block's dynamic shared memory to the first
  /// element of a memref in it, ahead of its swizzle: an i32.
  mlir::Value getSharedOffset(mlir::Value memref) const {
    return sharedOffsets.find(memref)->second;
  }
  /// A pointer to it.
  mlir::Value getSharedPointer(mlir::Value memref, mlir::OpBuilder &builder);
  /// Sets the offset, and what stands for the memref in ops that take one,
  /// unless it is transformed.
  void mapShared(mlir::Value memref, mlir::Value offset,
                 mlir::OpBuilder &builder);
  /// Sets the offset of a memref that is mapped already, or needs not be.
  void setSharedOffset(mlir::Value memref, mlir::Value offset) {
    sharedOffsets[memref] = offset;
  }

  /// `to` is held, or stood for, as `from` is.
  void mapSame(mlir::Value from, mlir::Value to);
  /// Sets a pointer that is known anyway.
  void setSharedPointer(mlir::Value memref, mlir::Value pointer) {
    sharedPointers[memref] = pointer;
  }

  /// Clones an op that has no block-level vectors, and its regions.
  void emitScalar(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Creates the op anew with vectors taken apart into registers; its regions
  /// are empty and its results not mapped.
  mlir::Operation *
  expand(mlir::Operation *op,
         llvm::ArrayRef<const Distribution *> operandDistributions,
         mlir::OpBuilder &builder);
  /// Maps values to those that `expand` made of them.
  void mapExpanded(mlir::ValueRange from, mlir::ValueRange to,
                   mlir::OpBuilder &builder);
  /// Emits the regions of an op into those of what `expand` made of it.
  void emitRegions(mlir::Operation *op, mlir::Operation *created);

  /// Bytes of the block's shared memory: a memref of i8, and a pointer to it.
  mlir::Value getSharedMemory() const { return sharedMemory; }
  mlir::Value getSharedBase();
  /// A constant at the head of the kernel.
  mlir::Value getI32(int64_t value);

  /// Whether this is the one thread of those that run the op that acts for all:
  /// of the program, or of each warp in a warp_map.
  mlir::Value getLeader(mlir::Operation *op);
  /// The argument that is one of the kernel's tensor maps.
  mlir::Value getTensorMap(int64_t number);

  /// The number of the wave's first thread, uniform in the wave.
  mlir::Value getFirstThreadOfWave();

  const KernelPlan &plan;
  const VendorLowering &vendor;
  ThreadIndices indices;

private:
  void emitOp(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Gives vectors new registers until the end of their block or of this one.
  void holdAfter(mlir::Operation *op, mlir::OpBuilder &builder);

  const OpLowerings &lowerings;
  /// Of everything that is not a block-level vector.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Registers> registers;
  llvm::DenseMap<mlir::Value, mlir::Value> sharedOffsets, sharedPointers;
  std::map<int64_t, mlir::Value> words;
  mlir::Value sharedMemory, sharedBase;
  mlir::Value firstThreadOfWave, elected, leader;
  /// What vectors of blocks around the current one were held in before it.
  llvm::SmallVector<std::pair<mlir::Value, Registers>> outerRegisters;
};

/// The type that stands for a type that is no block-level vector.
mlir::Type convertType(mlir::Type type);

/// Takes away what only programs of blocks have.
void removeLayouts(mlir::Operation *op);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H
