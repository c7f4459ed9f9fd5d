//===- ValueNames.h - Values as the printed program names them --*- C++ -*-===//
//
// "%a" in a reason. Printing one operand numbers the whole function, so a pass
// that says why many loops are as they are keeps the numbers.
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
  /// Names what is in `function`.
  explicit ValueNames(mlir::Operation *function);
  ~ValueNames();

  /// "%a", as the program was when it was last numbered: before the first name,
  /// or before the first one of a value that is new since.
  std::string get(mlir::Value value);

  /// Numbers anew for the next name.
  void reset();

  /// Has to be said before ops go away, since others may take their place.
  void forget(mlir::Operation *op);

private:
  mlir::Operation *function;
  std::unique_ptr<mlir::AsmState> numbers;
  llvm::DenseSet<mlir::Value> gone;
};

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_VALUENAMES_H
