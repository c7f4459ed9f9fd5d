//===- CheckLegality.cpp - smalti-check-legality --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Legality/OpTable.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Support/TargetOption.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICHECKLEGALITY
#define GEN_PASS_DEF_SMALTICHECKLEGALITY
#include "smalti/passes/Legality/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {

struct SmaltiCheckLegality
    : smalti::impl::SmaltiCheckLegalityBase<SmaltiCheckLegality> {
  using SmaltiCheckLegalityBase::SmaltiCheckLegalityBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    FailureOr<const targets::Target *> chip = findTarget(module, target);
    if (failed(chip))
      return signalPassFailure();
    for (auto func : module.getOps<triton_xla::EntryFuncOp>())
      if (failed(checkLegality(func, *chip)))
        signalPassFailure();
  }
};

} // namespace
