//===- ValueNames.cpp - Printed names of values ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/ValueNames.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace smalti;

ValueNames::ValueNames(Operation *function) : function(function) {}

ValueNames::~ValueNames() = default;

std::string ValueNames::get(Value value) {
  for (bool isNew : {false, true}) {
    if (isNew || !numbers || gone.contains(value)) {
      // The IR may be invalid in the middle of a pass.
      numbers = std::make_unique<AsmState>(
          function, OpPrintingFlags().useLocalScope().assumeVerified());
      gone.clear();
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    value.printAsOperand(os, *numbers);
    if (isNew || StringRef(text).starts_with("%"))
      return text;
  }
  return "";
}

void ValueNames::reset() {
  numbers.reset();
  gone.clear();
}

void ValueNames::forget(Operation *op) {
  if (!numbers)
    return;
  op->walk([&](Operation *inner) {
    gone.insert(inner->result_begin(), inner->result_end());
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        gone.insert(block.args_begin(), block.args_end());
  });
}
