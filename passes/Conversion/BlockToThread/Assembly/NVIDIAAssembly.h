//===- NVIDIAAssembly.h - PTX that MLIR has no operation for ----*- C++ -*-===//
//
// The texts are those of PTXTable.h.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace smalti::nvidia {

/// The values themselves, as the compiler cannot tell: nothing that uses what
/// this returns moves ahead of it, and nothing that computes them behind it.
/// Scalars and vectors; those smaller than 32 bits only where vectors of them
/// fill words.
llvm::SmallVector<mlir::Value>
emitHeld(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values);

/// One wgmma.mma_async; the accumulator's registers are f32, or i32 for
/// integers and pairs of f16.
struct WgmmaInstruction {
  int64_t columns = 0;
  int64_t depth = 0;
  mlir::NVVM::WGMMATypes a = mlir::NVVM::WGMMATypes::f16;
  mlir::NVVM::WGMMATypes b = mlir::NVVM::WGMMATypes::f16;
  mlir::NVVM::WGMMATypes sum = mlir::NVVM::WGMMATypes::f32;
  bool transposesA = false;
  bool transposesB = false;
};

/// With A in four 32-bit registers, which NVVM's operation does not have.
llvm::SmallVector<mlir::Value>
emitWgmmaOfRegisters(mlir::OpBuilder &builder, mlir::Location loc,
                     const WgmmaInstruction &instruction,
                     mlir::ValueRange accumulator, mlir::ValueRange a,
                     mlir::Value descriptorB);

/// Stores 32-bit words, one, two or four, in the shared memory of a block of
/// the cluster; the barrier there counts the bytes. Both are pointers into the
/// shared memory of the cluster.
void emitRemoteStore(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value place, mlir::ValueRange words,
                     mlir::Value barrier);
/// Combines one 32-bit integer with what is there; `operation` as
/// ptx::getRemoteReduction has it.
void emitRemoteReduction(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value place, mlir::Value word,
                         mlir::Value barrier, llvm::StringRef operation);

} // namespace smalti::nvidia

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H
