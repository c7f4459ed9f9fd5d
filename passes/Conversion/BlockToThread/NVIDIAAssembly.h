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

} // namespace smalti::nvidia

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_NVIDIAASSEMBLY_H
