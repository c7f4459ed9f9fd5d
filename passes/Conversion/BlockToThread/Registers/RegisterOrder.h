//===- RegisterOrder.h - Ops in an order that needs few registers -*- C++ -*-=//

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace smalti::block_to_thread {

/// Makes another value of a value, so that it is computed where it stands.
using HoldFn = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)>;

/// Each op of a block program becomes one op for each register, so that all of
/// its results are alive before the first is used. Where the values of a block
/// then take more than `budget` 32-bit registers, what writes no memory is put
/// in another order: depth first, each result with all that it alone needs, and
/// where there is no room for all that is read, that too. Values from outside
/// of a block are not counted.
///
/// The compiler behind would compute the last part of a result where the result
/// is used, and keep all that goes into it until then: `hold` is asked for
/// each.
void orderForRegisters(mlir::Operation *root, int64_t budget, HoldFn hold);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_REGISTERS_REGISTERORDER_H
