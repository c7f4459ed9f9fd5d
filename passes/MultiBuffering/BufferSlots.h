//===- BufferSlots.h - Multi-buffering of one buffer ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan and commit of the slots of one buffer. At every point of the program,
// one slot holds what the buffer held. It is slot 0 before the loops, the slot
// of the iteration inside them, and the slot of the last iteration after them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H
#define SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/passes/Analysis/Memory/BufferUses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>
#include <string>

namespace smalti {
class UniformityAnalysis;
namespace targets {
struct Target;
} // namespace targets

/// The largest number of slots that can be requested.
inline constexpr int64_t kMaxSlots = 64;

/// The plan of one buffer.
struct BufferPlan {
  mlir::Value buffer;
  mlir::Operation *op;       ///< the op that remarks name
  mlir::MemRefType slotType; ///< the type before
  int64_t slotBytes;
  int64_t depth = 0; ///< 0: not chosen yet
  std::string limit; ///< the reason against more slots, if the pass chose
  BufferUses uses;
  /// The block that contains all uses, and the loops directly in it, in program
  /// order, whose iterations rotate over the slots.
  mlir::Block *scope = nullptr;
  llvm::SmallVector<mlir::scf::ForOp> loops;

  /// The type of the buffer with `slots` slots.
  mlir::MemRefType getType(int64_t slots) const;
  /// The largest useful number of slots: the trip count.
  int64_t getMostSlots() const;
};

/// Reads the attribute `smalti.slots` of an op, if it exists. Returns what is
/// wrong with the attribute.
std::optional<std::string> readSlots(mlir::Operation *op, int64_t &slots);

/// Completes the plan of `plan.buffer`, or returns the reason against it. A
/// buffer that no loop uses (`isCandidate` is false) does not get a remark.
std::optional<std::string> planBuffer(mlir::FunctionOpInterface function,
                                      const UniformityAnalysis &uniformity,
                                      const targets::Target *target,
                                      BufferPlan &plan, bool &isCandidate);

/// Whether the block executes at most once per allocation of the buffer.
bool isExecutedOnce(mlir::Block *block, mlir::Value buffer);

/// Why an op that uses the buffer does not accept a slot of a larger buffer;
/// nothing if all ops do.
std::optional<std::string> checkSlotTypes(const BufferPlan &plan);

/// Gives the buffer its `plan.depth` slots.
void commitBuffer(const BufferPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H
