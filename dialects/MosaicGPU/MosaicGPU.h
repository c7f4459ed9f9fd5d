//===- MosaicGPU.h - The mosaic_gpu dialect: block level ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H

#include "smalti/dialects/MosaicGPU/MosaicGPUEnums.h"
#include "smalti/layouts/LayoutAlgebra.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

namespace smalti::mosaic_gpu {

/// The element types of vectors.
llvm::SmallVector<mlir::Type> getElementTypes(mlir::TypeRange types);

} // namespace smalti::mosaic_gpu

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/MosaicGPUOps.h.inc"

namespace smalti::mosaic_gpu {

/// Names of the discardable attributes for layouts, as in JAX. Register layouts
/// have one entry for each vector operand or result, in order. Tensor memory
/// layouts have one entry for each operand or result in tensor memory.
/// Transforms have one entry for each operand or result in shared memory,
/// except for barriers.
inline constexpr llvm::StringLiteral kInLayouts = "in_layouts";
inline constexpr llvm::StringLiteral kOutLayouts = "out_layouts";
inline constexpr llvm::StringLiteral kInTMEMLayouts = "in_tmem_layouts";
inline constexpr llvm::StringLiteral kOutTMEMLayouts = "out_tmem_layouts";
inline constexpr llvm::StringLiteral kInTransforms = "in_transforms";
inline constexpr llvm::StringLiteral kOutTransforms = "out_transforms";

/// The version of the dialect that a module was written for (i32, on a module).
inline constexpr llvm::StringLiteral kVersionAttr = "mosaic_gpu.version";
/// Compute capability of the target, as stated by JAX (i32, on a module).
inline constexpr llvm::StringLiteral kArchMajor = "mosaic_gpu.arch_major";
inline constexpr llvm::StringLiteral kArchMinor = "mosaic_gpu.arch_minor";

/// The number of threads that execute one instance of the block-level code and
/// hold its vectors, if a block executes several (i64, on gpu.func).
inline constexpr llvm::StringLiteral kThreadGroupSize =
    "mosaic_gpu.thread_group_size";

/// Whether the lowering inserts block barriers around each store to shared
/// memory (unit), as JAX kernels assume.
inline constexpr llvm::StringLiteral kAutoBarriers = "mosaic_gpu.auto_barriers";

/// The tensor maps that a kernel takes as its last arguments (a list, on
/// gpu.func): the kernel argument that holds the tensor, and the encoding.
inline constexpr llvm::StringLiteral kTensorMaps = "mosaic_gpu.tensor_maps";

/// The index of a kernel argument (i32). JAX sets it on the cast that creates
/// the memref of the argument; the argument of an outlined kernel keeps it.
inline constexpr llvm::StringLiteral kKernelArgument =
    "mosaic_gpu.from_kernel_arg_idx";
/// JAX sets it on the same cast, for its own lowering (unit).
inline constexpr llvm::StringLiteral kOriginalArgument =
    "mosaic_gpu.original_kernel_arg";

/// Whether the op contains block-level code: it states the size of its thread
/// groups, or its regions have an op of this dialect or an op with layouts.
bool hasBlockLevelOps(mlir::Operation *op);

/// The memory space of a memref. Shared memory is that of the block; cluster
/// memory is shared memory of any block of the cluster.
bool isSharedMemory(mlir::MemRefType type);
bool isGlobalMemory(mlir::MemRefType type);
bool isTensorMemory(mlir::MemRefType type);
bool isClusterMemory(mlir::MemRefType type);

/// The layout of the vector result `index` (counted among vector results) of an
/// op, or null.
mlir::Attribute getOutLayout(mlir::Operation *op, unsigned index = 0);
/// The reason if an attribute is not a valid layout for a vector of this type.
std::optional<std::string> checkLayout(mlir::Attribute layout,
                                       mlir::VectorType type);
/// The reason if an attribute is not a valid layout for tensor memory of this
/// type.
std::optional<std::string> checkTMEMLayout(mlir::Attribute layout,
                                           mlir::MemRefType type);
/// The reason if an attribute is not a valid list of transforms for memory of
/// this type.
std::optional<std::string> checkTransforms(mlir::Attribute transforms,
                                           mlir::MemRefType type);

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPU_H
