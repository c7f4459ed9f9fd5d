//===- Printf.h - Formats of printf -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_PRINTF_H
#define SMALTI_PASSES_SUPPORT_PRINTF_H

#include "mlir/IR/Builders.h"

namespace smalti {

/// A format of printf and its arguments.
class PrintfLine {
public:
  PrintfLine(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Adds a text, which is printed as it is.
  PrintfLine &operator<<(llvm::StringRef text);
  /// Adds an integer, signed unless it is i1, an index, or a float with enough
  /// digits to distinguish all values. printf does not support floats of at
  /// most 8 bits.
  PrintfLine &operator<<(mlir::Value value);
  /// Adds a float of at most 64 bits with 6 decimals.
  PrintfLine &addFixed(mlir::Value value);
  /// Adds a list of indices, as in `[3, 4]`.
  PrintfLine &operator<<(mlir::ValueRange indices);

  llvm::StringRef getFormat() const { return format; }
  mlir::ValueRange getArguments() const { return arguments; }

private:
  void add(llvm::StringRef conversion, mlir::Value argument);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::string format;
  llvm::SmallVector<mlir::Value> arguments;
};

/// A line of `triton_xla.print`. `position` is empty for a scalar, and `value`
/// is null in a line without a value.
PrintfLine formatTileLine(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tile, llvm::StringRef label,
                          mlir::ValueRange position, mlir::Value value);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_PRINTF_H
