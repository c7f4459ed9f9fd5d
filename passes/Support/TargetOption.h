//===- TargetOption.h - The target that a pass works for --------*- C++ -*-===//
//
// A pass learns its target from its option `target=`, or else from the string
// attribute `smalti.target` of the operation it runs on or of the nearest one
// around it that has the attribute.
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

/// The target for `op`: the one that `option` names unless it is empty, else
/// the nearest attribute's. Null when neither is there. Failure, after one
/// error, when a name is unknown or the attribute is no string. The error is
/// made by `emitError`, or on `op` when that is null.
mlir::FailureOr<const targets::Target *>
findTarget(mlir::Operation *op, llvm::StringRef option,
           EmitError emitError = nullptr);

/// The same for a pass that cannot do without: null only after an error, which
/// says how to give a target when there is none.
const targets::Target *getTarget(mlir::Operation *op, llvm::StringRef option,
                                 EmitError emitError = nullptr);

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_TARGETOPTION_H
