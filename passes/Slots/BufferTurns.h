//===- BufferTurns.h - Buffers that the iterations of a loop swap -*- C++ -*-=//
//
// Programs keep the slots of a buffer in buffers of their own, too, and swap
// those: a loop yields what it carries in another order, or selects by the
// parity of the iteration. The buffers then are what slots are otherwise, used
// in turn.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SLOTS_BUFFERTURNS_H
#define SMALTI_PASSES_SLOTS_BUFFERTURNS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace smalti {

/// What a memref is in each iteration of a loop.
struct BufferTurn {
  mlir::scf::ForOp loop;
  /// The memrefs in iterations 0, 1 and so on; after the last one the first
  /// again. They come from outside the loop, and the same one twice or more is
  /// there as often.
  llvm::SmallVector<mlir::Value> memrefs;
  /// It is used after the loop: what the iteration would have that did not run
  /// any more.
  bool isBehind = false;
};

/// Whether `memref` is a value that `loop` carries and permutes, or a result of
/// it, or one that an arith.select picks by the parity of the iteration.
std::optional<BufferTurn> matchBufferTurn(mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_BUFFERTURNS_H
