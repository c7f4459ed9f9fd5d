//===- OpTable.h - Table of legal ops of tile-level kernels -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one statement of which ops, element types and forms tile-level kernels
// may have, on which targets, and of the reason for each gap. Passes, the
// reference interpreter and docs/ops.md read it.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_LEGALITY_OPTABLE_H
#define SMALTI_PASSES_LEGALITY_OPTABLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace smalti {
namespace targets {
struct Target;
} // namespace targets
namespace triton_xla {
class EntryFuncOp;
class SortOp;
} // namespace triton_xla

/// The sentence that refuses an op of a tile-level kernel, or the kernel
/// itself; nothing if the op is legal on the target. A null target stands for
/// any target: only what no target supports is refused. The simulator of a GPU
/// refuses more than the GPU.
std::optional<std::string> getRefusal(mlir::Operation *op,
                                      const targets::Target *target,
                                      bool isSimulated = false);

/// The sentence that refuses a sort, or an op inside of it, on every GPU;
/// nothing if it can be expanded to ops that GPUs support.
std::optional<std::string> getExpansionRefusal(mlir::Operation *op);

/// The shape [outer, sorted, inner] in which GPUs sort tiles. The sorted size
/// is rounded up to a power of two. Another size of a large tile is rounded up
/// by at most a quarter to a small multiple of a power of two, so that threads
/// divide the tile. Otherwise, each step would pad the tile.
llvm::SmallVector<int64_t> getSortedShape(triton_xla::SortOp sort);

/// Calls `report` for each op of the kernel that is not legal, in order. Ops
/// inside of a refused op are not visited.
void forEachRefusal(
    triton_xla::EntryFuncOp func, const targets::Target *target,
    bool isSimulated,
    llvm::function_ref<void(mlir::Operation *, std::string)> report);

/// Emits an error at each op of the kernel that is not legal.
llvm::LogicalResult checkLegality(triton_xla::EntryFuncOp func,
                                  const targets::Target *target);

/// The table as a JSON object.
std::string opTableToJSON();

} // namespace smalti

#endif // SMALTI_PASSES_LEGALITY_OPTABLE_H
