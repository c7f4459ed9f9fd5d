//===- Describe.h - Text of ops and types in messages -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_DESCRIBE_H
#define SMALTI_PASSES_SUPPORT_DESCRIBE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace smalti {

/// "'memref.load'"
inline std::string quote(mlir::Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

/// The printed form.
inline std::string describe(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
inline std::string describe(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}
inline std::string describe(mlir::AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_DESCRIBE_H
