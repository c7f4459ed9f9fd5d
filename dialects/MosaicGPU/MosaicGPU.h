//===- MosaicGPU.h - The mosaic_gpu dialect: block programs ---------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H

#include "smalti/dialects/MosaicGPU/MosaicGPUEnums.h"
#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "smalti/dialects/MosaicGPU/MosaicGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUOps.h.inc"

namespace smalti::mosaic_gpu {

/// Names of the discardable attributes that carry layouts, as JAX writes them:
/// one entry per vector operand or result, in order; for layouts of tensor
/// memory, one per operand or result there; for transforms, one per operand or
/// result in shared memory that is not a barrier.
inline constexpr llvm::StringLiteral kInLayouts = "in_layouts";
inline constexpr llvm::StringLiteral kOutLayouts = "out_layouts";
inline constexpr llvm::StringLiteral kInTMEMLayouts = "in_tmem_layouts";
inline constexpr llvm::StringLiteral kOutTMEMLayouts = "out_tmem_layouts";
inline constexpr llvm::StringLiteral kInTransforms = "in_transforms";
inline constexpr llvm::StringLiteral kOutTransforms = "out_transforms";

/// The version of the dialect that a module was written for (i32, on a module).
inline constexpr llvm::StringLiteral kVersionAttr = "mosaic_gpu.version";
/// The compute capability that JAX compiles a module for (i32, on a module).
inline constexpr llvm::StringLiteral kArchMajor = "mosaic_gpu.arch_major";
inline constexpr llvm::StringLiteral kArchMinor = "mosaic_gpu.arch_minor";

/// Bytes of dynamic shared memory that a kernel needs (i64, on gpu.func).
inline constexpr llvm::StringLiteral kSharedMemoryBytes =
    "smalti.shared_memory_bytes";

/// Alignment of the memory whose slices a kernel uses, where its buffers need
/// more than 16 bytes (i64, on gpu.func).
inline constexpr llvm::StringLiteral kSharedMemoryAlignment =
    "smalti.shared_memory_alignment";

/// The threads that run a program of a kernel together, where a block runs
/// several of them (i64, on gpu.func): they hold its vectors.
inline constexpr llvm::StringLiteral kProgramThreads =
    "mosaic_gpu.program_threads";

/// Whether code in the op's regions is block-level: an op of this dialect is
/// there, or one that has layouts.
bool hasBlockLevelOps(mlir::Operation *op);

/// Which memory a memref lies in. Shared memory is the block's own; that of the
/// cluster is any of its blocks'.
bool isSharedMemory(mlir::MemRefType type);
bool isGlobalMemory(mlir::MemRefType type);
bool isTensorMemory(mlir::MemRefType type);
bool isClusterMemory(mlir::MemRefType type);

/// The layout of the vector result `index` (counted among vector results) of an
/// op, or null.
mlir::Attribute getOutLayout(mlir::Operation *op, unsigned index = 0);
/// Why an attribute is not the layout of a vector of this type, if it is not.
std::optional<std::string> checkLayout(mlir::Attribute layout,
                                       mlir::VectorType type);
/// Why an attribute is not the layout of tensor memory of this type, if it is
/// not.
std::optional<std::string> checkTMEMLayout(mlir::Attribute layout,
                                           mlir::MemRefType type);
/// Why an attribute is not a list of transforms of memory of this type, if it
/// is not.
std::optional<std::string> checkTransforms(mlir::Attribute transforms,
                                           mlir::MemRefType type);

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H
