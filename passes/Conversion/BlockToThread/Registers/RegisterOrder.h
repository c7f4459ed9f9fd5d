//===- RegisterOrder.h - Op order that reduces register pressure ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

/// Returns another value for a value, so that it is computed at its position.
using PinFn = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)>;

/// Each op of a block-level kernel becomes one op per register, so all of its
/// results are live before the first is used. If the values of a block need
/// more than `budget` 32-bit registers, ops that do not write memory are
/// reordered. The order is depth-first: each result with the ops that only it
/// needs. Memory reads are included if their values exceed the registers.
/// Values from outside a block are not counted.
///
/// The compiler would sink the last part of a result to its use and keep its
/// operands live until then; `hold` is called for each result to prevent that.
void orderForRegisters(mlir::Operation *root, int64_t budget, PinFn hold);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H
