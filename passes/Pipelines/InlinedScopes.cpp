//===- InlinedScopes.cpp - smalti-inlined-scopes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Path.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIINLINEDSCOPES
#define GEN_PASS_DEF_SMALTIINLINEDSCOPES
#include "smalti/passes/Pipelines/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {

/// The subprograms of the functions that are inlined in a kernel.
class InlinedFunctions {
public:
  explicit InlinedFunctions(LLVM::DISubprogramAttr kernel) : kernel(kernel) {}

  /// A call site with a scope for each function except the kernel, which is
  /// the outermost caller.
  Location withScopes(Location location, bool isOutermost) {
    if (auto call = dyn_cast<CallSiteLoc>(location))
      return CallSiteLoc::get(withScopes(call.getCallee(), false),
                              withScopes(call.getCaller(), isOutermost));
    // Upstream's scope is a block of the kernel.
    Location inner = location;
    while (auto fused = dyn_cast<FusedLoc>(inner)) {
      if (fused.getLocations().size() != 1)
        return location;
      inner = fused.getLocations().front();
    }
    auto name = dyn_cast<NameLoc>(inner);
    if (isOutermost || !name)
      return location;
    auto line = dyn_cast<FileLineColLoc>(name.getChildLoc());
    if (!line)
      return location;
    return FusedLoc::get(name.getContext(), {Location(line)},
                         getSubprogram(name.getName(), line.getFilename()));
  }

private:
  LLVM::DISubprogramAttr getSubprogram(StringAttr name, StringAttr path) {
    LLVM::DISubprogramAttr &known = subprograms[{name, path}];
    if (known)
      return known;
    MLIRContext *context = name.getContext();
    auto file = LLVM::DIFileAttr::get(
        context, llvm::sys::path::filename(path.getValue()),
        llvm::sys::path::parent_path(path.getValue()));
    // Locations do not have the line of the function itself.
    known = LLVM::DISubprogramAttr::get(
        context, DistinctAttr::create(UnitAttr::get(context)),
        kernel.getCompileUnit(), file, name, name, file, /*line=*/0,
        /*scopeLine=*/0, kernel.getSubprogramFlags(), kernel.getType(),
        /*retainedNodes=*/{}, /*annotations=*/{});
    return known;
  }

  LLVM::DISubprogramAttr kernel;
  llvm::DenseMap<std::pair<Attribute, Attribute>, LLVM::DISubprogramAttr>
      subprograms;
};

struct SmaltiInlinedScopes
    : smalti::impl::SmaltiInlinedScopesBase<SmaltiInlinedScopes> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](LLVM::LLVMFuncOp function) {
      auto scope = dyn_cast<FusedLoc>(function.getLoc());
      auto kernel =
          scope ? dyn_cast_or_null<LLVM::DISubprogramAttr>(scope.getMetadata())
                : nullptr;
      if (!kernel)
        return;
      InlinedFunctions functions(kernel);
      function.walk([&](Operation *op) {
        if (isa<CallSiteLoc>(op->getLoc()))
          op->setLoc(functions.withScopes(op->getLoc(), /*isOutermost=*/true));
      });
    });
  }
};

} // namespace
