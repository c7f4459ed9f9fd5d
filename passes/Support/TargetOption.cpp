//===- TargetOption.cpp - Target of a pass --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/TargetOption.h"

#include "smalti/dialects/MosaicGPU/AttributeNames.h"
#include "smalti/targets/Target.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace smalti;

llvm::StringRef smalti::getTargetAttrName() { return kTargetAttr; }

static InFlightDiagnostic report(Operation *op, EmitError emitError) {
  return emitError ? emitError() : op->emitError();
}

FailureOr<const targets::Target *>
smalti::findTarget(Operation *op, llvm::StringRef option, EmitError emitError) {
  llvm::StringRef name = option;
  Operation *holder = op;
  if (name.empty()) {
    while (holder && !holder->hasAttr(getTargetAttrName()))
      holder = holder->getParentOp();
    if (!holder)
      return static_cast<const targets::Target *>(nullptr);
    Attribute attr = holder->getAttr(getTargetAttrName());
    auto string = dyn_cast<StringAttr>(attr);
    if (!string) {
      report(op, emitError) << "attribute '" << getTargetAttrName()
                            << "' must be a string, but is " << attr;
      return failure();
    }
    name = string.getValue();
  }
  if (const targets::Target *target = targets::lookup(name))
    return target;
  InFlightDiagnostic diagnostic = report(op, emitError);
  diagnostic << "unknown target '" << name
             << "'; known targets: " << targets::knownNames();
  // At most two characters differ.
  const targets::Target *nearest = nullptr;
  unsigned least = 3;
  for (const targets::Target *other : targets::all()) {
    unsigned distance = name.edit_distance(other->name, true, least);
    if (distance < least)
      std::tie(nearest, least) = std::pair(other, distance);
  }
  if (nearest)
    diagnostic << "; did you mean '" << nearest->name << "'?";
  if (option.empty() && holder != op)
    diagnostic.attachNote(holder->getLoc())
        << "the attribute '" << getTargetAttrName()
        << "' of this op names the target";
  return failure();
}

const targets::Target *smalti::getTarget(Operation *op, llvm::StringRef option,
                                         EmitError emitError) {
  FailureOr<const targets::Target *> target = findTarget(op, option, emitError);
  if (failed(target))
    return nullptr;
  if (!*target)
    report(op, emitError)
        << "no target given: use the option 'target=NAME' or set the attribute "
        << getTargetAttrName() << " = \"NAME\" on the module; known targets: "
        << targets::knownNames();
  return *target;
}
