//===- BufferTurns.h - Buffers that loop iterations swap --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop can keep the slots of a buffer in separate buffers and swap them. It
// yields its carried values in another order, or selects by the parity of the
// iteration. The buffers then act as slots that the iterations use in turn.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SLOTS_BUFFERTURNS_H
#define SMALTI_PASSES_SLOTS_BUFFERTURNS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace smalti {

/// The memref that a value is in each iteration of a loop.
struct BufferTurn {
  mlir::scf::ForOp loop;
  /// The memrefs in iterations 0, 1 and so on, cyclically. They are defined
  /// outside the loop, and may contain duplicates.
  llvm::SmallVector<mlir::Value> memrefs;
  /// The value is used after the loop: it is the memref of the iteration after
  /// the last one.
  bool isAfter = false;
};

/// Matches a value that `loop` carries and permutes, a result of that loop, or
/// an arith.select by the parity of the iteration.
std::optional<BufferTurn> matchBufferTurn(mlir::Value memref);

} // namespace smalti

#endif // SMALTI_PASSES_SLOTS_BUFFERTURNS_H
