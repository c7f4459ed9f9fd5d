//===- KernelAttributes.h - What a kernel says about itself -----*- C++ -*-===//
//
// Attributes of the kernels that the conversions make; the launchers read them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
#define SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
class Attribute;
class Operation;
namespace gpu {
class GPUFuncOp;
} // namespace gpu
} // namespace mlir

namespace smalti {

/// The types of a kernel's arguments before they became pointers (array of
/// types).
inline constexpr llvm::StringLiteral kArguments = "smalti.arguments";
/// The name of a kernel in the source, where an assembler does not take it
/// (string).
inline constexpr llvm::StringLiteral kSourceName = "smalti.source_name";
/// Warps of a block (i64).
inline constexpr llvm::StringLiteral kNumWarps = "smalti.num_warps";

/// The tiles of a program that is a function of the CPU target (i64).
inline constexpr llvm::StringLiteral kNumTiles = "smalti.num_tiles";

/// Whether barriers of the program go around each of its stores to shared
/// memory (unit), as JAX's programs take for granted.
inline constexpr llvm::StringLiteral kAutoBarriers = "mosaic_gpu.auto_barriers";

/// What the address of a memref argument is a multiple of, in bytes, unless the
/// argument's attribute llvm.align says otherwise.
inline constexpr int64_t kArgumentAlignment = 16;

/// The value of an integer attribute that fits in 64 bits; nothing for another
/// attribute, or none. `true` and `false` are not integers.
std::optional<int64_t> getInteger(mlir::Attribute attribute);

/// Takes the boolean attribute of an op that has it, or returns what is wrong
/// with it.
std::optional<std::string> readBool(mlir::Operation *op, llvm::StringRef name,
                                    std::optional<bool> &value);

/// Refuses a number of bytes or an alignment of shared memory, on a kernel,
/// that is not one.
llvm::LogicalResult verifySharedMemoryAttributes(mlir::Operation *kernel);

/// Refuses attributes of a gpu.func that upstream's verifier accepts and that
/// no kernel can have: sizes that are not positive, a number of workgroup
/// attributions that is not an integer, or those of shared memory.
llvm::LogicalResult verifyKernelAttributes(mlir::gpu::GPUFuncOp func);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_KERNELATTRIBUTES_H
