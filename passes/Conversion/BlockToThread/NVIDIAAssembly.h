//===- NVIDIAAssembly.h - PTX that MLIR has no operation for ----*- C++ -*-===//
//
// The texts of PTX that the project writes are in the one file behind this
// header; Opaque.cpp has an empty one, of mosaic_gpu.optimization_barrier. All
// else is operations of the NVVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_NVIDIAASSEMBLY_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_NVIDIAASSEMBLY_H

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

/// How a store to another block's shared memory combines with what is there.
enum class RemoteReduction { Add, Min, Max, And, Or, Xor };

/// st.async, or red.async with a reduction: `values` are one, two or four
/// registers of 32 bits, or one or two of 64; `place` and `barrier` are
/// pointers into the shared memory of the cluster. The barrier counts the
/// bytes.
void emitRemoteStore(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value place, mlir::ValueRange values,
                     mlir::Value barrier);
/// Of one 32-bit integer.
void emitRemoteReduction(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value place, mlir::Value value,
                         mlir::Value barrier, RemoteReduction reduction,
                         bool isSigned);

} // namespace smalti::nvidia

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_NVIDIAASSEMBLY_H
