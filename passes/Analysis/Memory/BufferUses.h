//===- BufferUses.h - Uses of a buffer and its views ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that change the type or the address of a buffer follow all of its
// uses, or do not change the buffer.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERUSES_H
#define SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERUSES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace smalti {

struct BufferUses {
  /// Sources precede their views.
  llvm::SetVector<mlir::Operation *> views;
  /// Ops that compute followed addresses of the buffer; each comes after the op
  /// that computes its operand.
  llvm::SetVector<mlir::Operation *> addresses;
  /// Ops that access the buffer or a view of it.
  llvm::SmallVector<mlir::Operation *> users;
  llvm::SmallVector<mlir::Operation *> deallocs;
};

/// Collects the uses of a buffer and of its views. Returns the reason if a use
/// makes the buffer escape; `uses` then still contains the uses that were
/// found. Taking an address makes the buffer escape, unless `withAddresses`.
std::optional<std::string> collectBufferUses(mlir::Value buffer,
                                             BufferUses &uses,
                                             bool withAddresses = false);

/// Recreates a view on a source of another type; null if the view is not
/// supported.
using RecreateView = llvm::function_ref<mlir::Operation *(
    mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value source)>;

/// Verifies clones of all views and users with new types, outside the function.
/// `createBuffer` creates the replacement of `buffer`, or returns null if it
/// does not verify; `what` names the replacement. Returns the reason if an op
/// does not accept the new types.
std::optional<std::string>
tryTypes(mlir::Value buffer, const BufferUses &uses, llvm::StringRef what,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &)> createBuffer,
         RecreateView recreate);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERUSES_H
