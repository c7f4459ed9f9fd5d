//===- BufferSlots.h - A buffer with one slot an iteration ------*- C++ -*-===//
//
// The plan by which a buffer gets slots, and its execution. At every point of
// the program one slot holds what the buffer held: slot 0 before the loops, the
// slot of the iteration in them, that of the last iteration after them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H
#define SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H

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

/// How many slots a buffer shall get, on its op, its loop or the function; 1:
/// none.
inline constexpr llvm::StringLiteral kSlotsAttr = "smalti.slots";
/// More slots than any chip has a use for.
inline constexpr int64_t kMostSlots = 64;

/// How one buffer gets its slots.
struct BufferPlan {
  mlir::Value buffer;
  mlir::Operation *op;       ///< where remarks go
  mlir::MemRefType slotType; ///< the buffer's type before
  int64_t slotBytes;
  int64_t depth = 0; ///< 0: not chosen yet
  std::string limit; ///< what kept it from more slots, where it was chosen
  BufferUses uses;
  /// The block that holds all uses, and the loops directly in it, in order,
  /// whose iterations use the slots in turn.
  mlir::Block *scope = nullptr;
  llvm::SmallVector<mlir::scf::ForOp> loops;

  /// The buffer's type with that many slots.
  mlir::MemRefType getType(int64_t slots) const;
  /// No more slots than this are of use: the iterations that there are.
  int64_t getMostSlots() const;
};

/// Takes the number of `smalti.slots` of an op that has the attribute, or
/// returns what is wrong with it.
std::optional<std::string> readSlots(mlir::Operation *op, int64_t &slots);

/// Fills in the plan of `plan.buffer`, or says why there is none. Nothing is
/// said about buffers that no loop uses (`isCandidate`).
std::optional<std::string> planBuffer(mlir::FunctionOpInterface function,
                                      const UniformityAnalysis &uniformity,
                                      const targets::Target *target,
                                      BufferPlan &plan, bool &isCandidate);

/// Whether each time the buffer comes into being the block is executed once at
/// most.
bool isExecutedOnce(mlir::Block *block, mlir::Value buffer);

/// Why an op that uses the buffer does not take a slot of a larger one; nothing
/// where all do.
std::optional<std::string> checkSlotTypes(const BufferPlan &plan);

/// Gives the buffer its `plan.depth` slots.
void commitBuffer(const BufferPlan &plan);

} // namespace smalti

#endif // SMALTI_PASSES_MULTIBUFFERING_BUFFERSLOTS_H
