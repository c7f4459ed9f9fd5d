//===- ValueNames.h - Printed names of values -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "%a" in a message. Printing one operand numbers the whole function, so a pass
// that emits many messages caches the numbers.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_VALUENAMES_H
#define SMALTI_PASSES_SUPPORT_VALUENAMES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <string>

namespace mlir {
class AsmState;
class Operation;
} // namespace mlir

namespace smalti {

class ValueNames {
public:
  /// Names the values in `function`.
  explicit ValueNames(mlir::Operation *function);
  ~ValueNames();

  /// "%a". The function is numbered before the first name, and again before the
  /// first name of a value that was created since.
  std::string get(mlir::Value value);

  /// Numbers the function again before the next name.
  void reset();

  /// Must be called before an op is erased, since a new op may reuse its
  /// address.
  void forget(mlir::Operation *op);

private:
  mlir::Operation *function;
  std::unique_ptr<mlir::AsmState> numbers;
  llvm::DenseSet<mlir::Value> gone;
};

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_VALUENAMES_H
