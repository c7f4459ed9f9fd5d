//===- NVIDIAAssembly.h - Inline PTX without an NVVM op ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts are defined in PTXTable.h.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace smalti::nvidia {

/// Passes values through an optimization barrier: uses of the results do not
/// move before it, and the computation of the operands does not move after it.
/// Supports scalars and vectors; vectors of elements narrower than 32 bits must
/// fill words.
llvm::SmallVector<mlir::Value> emitOpaque(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          mlir::ValueRange values);

/// One wgmma.mma_async. Accumulator registers are f32, or i32 for integers and
/// pairs of f16.
struct WgmmaInstruction {
  int64_t columns = 0;
  int64_t depth = 0;
  mlir::NVVM::WGMMATypes a = mlir::NVVM::WGMMATypes::f16;
  mlir::NVVM::WGMMATypes b = mlir::NVVM::WGMMATypes::f16;
  mlir::NVVM::WGMMATypes accumulator = mlir::NVVM::WGMMATypes::f32;
  bool transposesA = false;
  bool transposesB = false;
};

/// wgmma with A in four 32-bit registers, which the NVVM op does not support.
llvm::SmallVector<mlir::Value>
emitWgmmaOfRegisters(mlir::OpBuilder &builder, mlir::Location loc,
                     const WgmmaInstruction &instruction,
                     mlir::ValueRange accumulator, mlir::ValueRange a,
                     mlir::Value descriptorB);

/// Stores one, two or four 32-bit words to the shared memory of another block
/// of the cluster; the mbarrier there counts the bytes. Both pointers are in
/// the shared::cluster window.
void emitRemoteStore(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value place, mlir::ValueRange words,
                     mlir::Value barrier);
/// Combines one 32-bit integer with the value in memory; `operation` is as in
/// ptx::getRemoteReduction.
void emitRemoteReduction(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value place, mlir::Value word,
                         mlir::Value barrier, llvm::StringRef operation);

/// Loads global memory with a cache hint (ptx::hasCacheHint) into one word of
/// 16, 32 or 64 bits, or two of 64 bits.
llvm::SmallVector<mlir::Value>
emitHintedLoad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value place,
               mlir::TypeRange words, llvm::StringRef hint);
/// The store of such words.
void emitHintedStore(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value place, mlir::ValueRange words,
                     llvm::StringRef hint);

} // namespace smalti::nvidia

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_ASSEMBLY_NVIDIAASSEMBLY_H
