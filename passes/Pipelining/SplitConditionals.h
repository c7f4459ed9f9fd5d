//===- SplitConditionals.h - Splitting of scf.if ops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `if (in bounds) { x = global[i]; shared[j] = x; }` is one op, which can only
// be scheduled as a whole. As two ops, the read can be prefetched:
//
//   %x = scf.if %in_bounds -> f32 { yield global[i] } else { yield 0 }
//   scf.if %in_bounds { shared[j] = %x }
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_PIPELINING_SPLITCONDITIONALS_H
#define SMALTI_PASSES_PIPELINING_SPLITCONDITIONALS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace smalti {

/// Splits the conditionals of a loop's body. The loop is restored unless keep()
/// is called.
class ConditionalSplitter {
public:
  explicit ConditionalSplitter(mlir::scf::ForOp loop);
  ~ConditionalSplitter();
  ConditionalSplitter(const ConditionalSplitter &) = delete;
  ConditionalSplitter &operator=(const ConditionalSplitter &) = delete;

  bool hasSplit() const { return !splits.empty(); }
  void keep();
  void undo();

private:
  /// The original is not in a block.
  struct Split {
    mlir::scf::IfOp original, reads, rest;
  };
  llvm::SmallVector<Split> splits;
};

} // namespace smalti

#endif // SMALTI_PASSES_PIPELINING_SPLITCONDITIONALS_H
