//===- Remarks.cpp - Remarks of passes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/Remarks.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;
using namespace smalti;

/// The name of the function that holds `op`, or an empty string.
static std::string getFunctionName(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName().str() : std::string();
}

RemarkBuilder::RemarkBuilder(Operation *op, StringRef pass, Kind kind)
    : loc(op->getLoc()), kind(kind),
      enabled(op->getContext()->getRemarkEngine() != nullptr) {
  if (!enabled)
    return;
  function = getFunctionName(op);
  this->pass = pass.str();
}

RemarkBuilder::RemarkBuilder(RemarkBuilder &&other) noexcept
    : loc(other.loc), function(std::move(other.function)),
      pass(std::move(other.pass)), kind(other.kind),
      text(std::move(other.text)), enabled(other.enabled) {
  other.enabled = false;
}

RemarkBuilder::~RemarkBuilder() {
  if (!enabled)
    return;
  // Passes run on several functions concurrently, and the engine's streamers
  // and policies are not thread-safe.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  auto options =
      remark::RemarkOpts::name(pass).category(pass).function(function);
  switch (kind) {
  case Kind::Applied:
    remark::passed(loc, options) << StringRef(text);
    return;
  case Kind::Missed:
    remark::missed(loc, options) << StringRef(text);
    return;
  case Kind::Failed:
    remark::failed(loc, options) << StringRef(text);
    return;
  case Kind::Analysis:
    remark::analysis(loc, options) << StringRef(text);
    return;
  }
}

RemarkBuilder &RemarkBuilder::operator<<(const Twine &value) {
  if (enabled)
    text += value.str();
  return *this;
}

RemarkBuilder &RemarkBuilder::operator<<(Type type) {
  if (enabled)
    llvm::raw_string_ostream(text) << type;
  return *this;
}

RemarkBuilder &RemarkBuilder::operator<<(Attribute attribute) {
  if (enabled)
    llvm::raw_string_ostream(text) << attribute;
  return *this;
}

RemarkBuilder smalti::remarkApplied(Operation *op, StringRef pass) {
  return RemarkBuilder(op, pass, RemarkBuilder::Kind::Applied);
}

RemarkBuilder smalti::remarkMissed(Operation *op, StringRef pass) {
  return RemarkBuilder(op, pass, RemarkBuilder::Kind::Missed);
}

RemarkBuilder smalti::remarkFailed(Operation *op, StringRef pass) {
  return RemarkBuilder(op, pass, RemarkBuilder::Kind::Failed);
}

RemarkBuilder smalti::remarkAnalysis(Operation *op, StringRef pass) {
  return RemarkBuilder(op, pass, RemarkBuilder::Kind::Analysis);
}

LogicalResult smalti::reportMissed(Operation *op, StringRef pass, bool strict,
                                   const Twine &reason) {
  remarkMissed(op, pass) << reason;
  if (!strict)
    return success();
  return op->emitError() << pass << ": " << reason;
}
