//===- Emitter.h - Emission of the thread-level kernel ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/KernelPlan.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

class VendorLowering;

/// The part of a vector that a thread holds: values of type `vector<LxT>`, in
/// the register order of its distribution.
using Registers = llvm::SmallVector<mlir::Value>;

/// Emits the thread-level kernel next to the block-level kernel.
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

  /// The replacement of a value that is not a block-level vector.
  mlir::Value lookup(mlir::Value value) const {
    return scalars.lookup<mlir::Value>(value);
  }
  llvm::SmallVector<mlir::Value> lookup(mlir::ValueRange values) const;
  void map(mlir::Value from, mlir::Value to) { scalars.map(from, to); }

  /// The bytes from the start of the block's dynamic shared memory to the first
  /// element of a memref in it, before its swizzle: an i32.
  mlir::Value getSharedOffset(mlir::Value memref) const {
    return sharedOffsets.find(memref)->second;
  }
  /// A pointer to the first element.
  mlir::Value getSharedPointer(mlir::Value memref, mlir::OpBuilder &builder);
  /// Sets the offset, and the memref that replaces it in ops that take one,
  /// unless the memref is transformed.
  void mapShared(mlir::Value memref, mlir::Value offset,
                 mlir::OpBuilder &builder);
  /// Sets the offset of a memref that is already mapped or does not need a
  /// mapping.
  void setSharedOffset(mlir::Value memref, mlir::Value offset) {
    sharedOffsets[memref] = offset;
  }

  /// Maps `to` to the registers or replacement of `from`.
  void mapSame(mlir::Value from, mlir::Value to);
  /// Sets a pointer that is already available.
  void setSharedPointer(mlir::Value memref, mlir::Value pointer) {
    sharedPointers[memref] = pointer;
  }

  /// Clones an op without block-level vectors, and its regions.
  void emitScalar(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Recreates the op with vectors split into registers; its regions are empty
  /// and its results are not mapped.
  mlir::Operation *
  expand(mlir::Operation *op,
         llvm::ArrayRef<const Distribution *> operandDistributions,
         mlir::OpBuilder &builder);
  /// Maps values to those that `expand` created for them.
  void mapExpanded(mlir::ValueRange from, mlir::ValueRange to,
                   mlir::OpBuilder &builder);
  /// Emits the regions of an op into those of the op that `expand` created.
  void emitRegions(mlir::Operation *op, mlir::Operation *created);

  /// The bytes of the block's shared memory: a memref of i8, and a pointer to
  /// it.
  mlir::Value getSharedMemory() const { return sharedMemory; }
  mlir::Value getSharedBase();
  /// A constant at the head of the kernel.
  mlir::Value getI32(int64_t value);

  /// Emits code that is executed once for each element: by the first thread
  /// that holds it, and once for all elements of a splat.
  void emitOnce(const Distribution &distribution, mlir::OpBuilder &builder,
                mlir::Location loc,
                llvm::function_ref<void(mlir::OpBuilder &)> emit);
  /// Whether this is the one thread that acts for all threads that run the op:
  /// of the thread group, or of each warp in a warp_map.
  mlir::Value getLeader(mlir::Operation *op);
  /// The argument that is one of the kernel's tensor maps.
  mlir::Value getTensorMap(int64_t number);

  /// The id of the wave's first thread, uniform in the wave.
  mlir::Value getFirstThreadOfWave();

  const KernelPlan &plan;
  const VendorLowering &vendor;
  ThreadIndices indices;

private:
  void emitOp(mlir::Operation *op, mlir::OpBuilder &builder);
  /// Gives vectors new registers until the end of their block or of this one.
  void makeOpaqueAfter(mlir::Operation *op, mlir::OpBuilder &builder);

  const OpLowerings &lowerings;
  /// Replacements of everything that is not a block-level vector.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Registers> registers;
  llvm::DenseMap<mlir::Value, mlir::Value> sharedOffsets, sharedPointers;
  std::map<int64_t, mlir::Value> words;
  mlir::Value sharedMemory, sharedBase;
  mlir::Value firstThreadOfWave, elected, leader;
  /// The registers of vectors of outer blocks before the current block.
  llvm::SmallVector<std::pair<mlir::Value, Registers>> outerRegisters;
};

/// The replacement of a type that is not a block-level vector.
mlir::Type convertType(mlir::Type type);

/// Removes attributes that only block-level kernels have.
void removeLayouts(mlir::Operation *op);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_EMITTER_H
