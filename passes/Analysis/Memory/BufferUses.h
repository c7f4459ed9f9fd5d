//===- BufferUses.h - Everything that touches one buffer ------------------===//
//
// Passes that give a buffer another type or place follow all of its uses, or
// leave it alone.
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
  /// Sources before their views.
  llvm::SetVector<mlir::Operation *> views;
  /// Ops that compute addresses of the buffer, where they are followed: each
  /// behind what it computes its address from.
  llvm::SetVector<mlir::Operation *> addresses;
  /// Ops that access the buffer or a view of it.
  llvm::SmallVector<mlir::Operation *> users;
  llvm::SmallVector<mlir::Operation *> deallocs;
};

/// Sorts the uses of a buffer and of its views. Returns why they cannot all be
/// followed, where some use lets the buffer escape; the uses that were found
/// are there all the same.
/// Addresses that are taken let it escape, unless `withAddresses`.
std::optional<std::string> collectBufferUses(mlir::Value buffer,
                                             BufferUses &uses,
                                             bool withAddresses = false);

/// Makes a view again on a source of another type; null where there is no rule.
using RecreateView = llvm::function_ref<mlir::Operation *(
    mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value source)>;

/// Tries new types on copies of all views and users, outside the program: each
/// op's own verifier says whether it takes them. `createBuffer` makes what
/// stands for `buffer`, or returns null where it does not verify; `what` names
/// it. Returns the reason where something does not take the new types.
std::optional<std::string>
tryTypes(mlir::Value buffer, const BufferUses &uses, llvm::StringRef what,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &)> createBuffer,
         RecreateView recreate);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_MEMORY_BUFFERUSES_H
