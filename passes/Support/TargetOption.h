//===- TargetOption.h - Target of a pass ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of a pass is its option `target=`, or else the string attribute
// `smalti.target` of the operation that it runs on or of the nearest parent.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SUPPORT_TARGETOPTION_H
#define SMALTI_PASSES_SUPPORT_TARGETOPTION_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class InFlightDiagnostic;
class Operation;
} // namespace mlir

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// The name of the attribute, `smalti.target`.
llvm::StringRef getTargetAttrName();

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The target for `op`: `option` if it is not empty, else the nearest
/// attribute. Null if both are missing. Failure, after one error, if the name
/// is unknown or the attribute is not a string. `emitError` emits the error, or
/// `op` if it is null.
mlir::FailureOr<const targets::Target *>
findTarget(mlir::Operation *op, llvm::StringRef option,
           EmitError emitError = nullptr);

/// The same for a pass that requires a target: null only after an error.
const targets::Target *getTarget(mlir::Operation *op, llvm::StringRef option,
                                 EmitError emitError = nullptr);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_TARGETOPTION_H
