//===- AnnotateLDSDMA.cpp - smalti-annotate-lds-dma -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Support/LDSFence.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseSet.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIANNOTATELDSDMA
#define GEN_PASS_DEF_SMALTIANNOTATELDSDMA
#include "smalti/passes/SharedMemory/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-annotate-lds-dma";

static bool isInLDS(Value pointer) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
  return type && type.getAddressSpace() ==
                     ROCDL::ROCDLDialect::kSharedMemoryAddressSpace;
}

namespace {

/// The changes of a function.
struct Plan {
  /// LDS DMA loads.
  SmallVector<LLVM::AliasAnalysisOpInterface> copies;
  /// LDS accesses that are ordered after the loads that they depend on.
  SmallVector<LLVM::AliasAnalysisOpInterface> ordered;
  /// The other LDS accesses.
  SmallVector<Operation *> unordered;
};

class Planner {
public:
  explicit Planner(LLVM::LLVMFuncOp func) : func(func) {}

  Plan run();

private:
  /// Whether accesses after the op are ordered, if the op determines it.
  static std::optional<bool> getOrder(Operation &op);
  void findUnorderedBlocks();

  LLVM::LLVMFuncOp func;
  /// Blocks at whose start accesses may not be ordered.
  llvm::DenseSet<Block *> startsUnordered;
};

struct SmaltiAnnotateLdsDma
    : smalti::impl::SmaltiAnnotateLdsDmaBase<SmaltiAnnotateLdsDma> {
  using SmaltiAnnotateLdsDmaBase::SmaltiAnnotateLdsDmaBase;
  void runOnOperation() override;
};

} // namespace

std::optional<bool> Planner::getOrder(Operation &op) {
  if (isa<LLVM::InlineAsmOp>(op))
    return op.hasAttrOfType<UnitAttr>(kOrderedAttr);
  // Other ops have an unknown effect on the order.
  if (isa<LLVM::FenceOp, LLVM::CallOp, LLVM::CallIntrinsicOp, LLVM::InvokeOp,
          ROCDL::BarrierOp, ROCDL::SBarrierOp>(op))
    return false;
  return std::nullopt;
}

/// A block starts ordered if every path to it is. All blocks are assumed to
/// start ordered until an unordered path is found.
void Planner::findUnorderedBlocks() {
  DenseMap<Block *, std::optional<bool>> last;
  SmallVector<Block *> worklist = {&func.getBody().front()};
  for (Block &block : func.getBody()) {
    std::optional<bool> &order = last[&block];
    for (Operation &op : block)
      if (std::optional<bool> here = getOrder(op))
        order = here;
    if (order && !*order)
      llvm::append_range(worklist, block.getSuccessors());
  }
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    if (startsUnordered.insert(block).second && !last[block])
      llvm::append_range(worklist, block->getSuccessors());
  }
}

Plan Planner::run() {
  findUnorderedBlocks();
  Plan plan;
  for (Block &block : func.getBody()) {
    bool isOrdered = !startsUnordered.contains(&block);
    for (Operation &op : block) {
      if (std::optional<bool> order = getOrder(op))
        isOrdered = *order;
      auto access = dyn_cast<LLVM::AliasAnalysisOpInterface>(op);
      if (!access)
        continue;
      SmallVector<Value> operands = access.getAccessedOperands();
      if (!llvm::any_of(operands, isInLDS))
        continue;
      bool isCopy = !llvm::all_of(operands, isInLDS);
      // Only ROCDL's ops that access LDS and other memory are asynchronous.
      if (isCopy && !isa<ROCDL::ROCDLDialect>(op.getDialect()))
        continue;
      if (isCopy)
        plan.copies.push_back(access);
      else if (isOrdered)
        plan.ordered.push_back(access);
      else
        plan.unordered.push_back(&op);
    }
  }
  return plan;
}

static ArrayAttr append(ArrayAttr scopes, Attribute scope) {
  SmallVector<Attribute> all;
  if (scopes)
    llvm::append_range(all, scopes);
  all.push_back(scope);
  return ArrayAttr::get(scope.getContext(), all);
}

void SmaltiAnnotateLdsDma::runOnOperation() {
  LLVM::LLVMFuncOp func = getOperation();
  if (func.isExternal())
    return;
  Plan plan = Planner(func).run();
  if (plan.copies.empty())
    return;
  size_t accesses = plan.ordered.size() + plan.unordered.size();
  if (plan.ordered.empty()) {
    if (accesses == 0)
      return;
    if (failed(reportMissed(
            func, kPassName, strict,
            "LDS accesses not annotated: no wait and barrier order any of the "
            "LDS accesses (" +
                Twine(accesses) +
                ") after the LDS DMA loads, so LLVM makes each "
                "access wait for all loads (" +
                Twine(plan.copies.size()) +
                "); place a wait for the loads and a barrier "
                "before the accesses")))
      signalPassFailure();
    return;
  }

  MLIRContext *context = &getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(
      context, StringAttr::get(context, func.getSymName()));
  auto scope = LLVM::AliasScopeAttr::get(
      domain, StringAttr::get(context, "loads to LDS"));
  for (LLVM::AliasAnalysisOpInterface copy : plan.copies)
    copy.setAliasScopes(append(copy.getAliasScopesOrNull(), scope));
  for (LLVM::AliasAnalysisOpInterface access : plan.ordered)
    access.setNoAliasScopes(append(access.getNoAliasScopesOrNull(), scope));
  remarkApplied(func, kPassName)
      << plan.ordered.size() << " of " << accesses
      << " LDS accesses no longer wait for the " << plan.copies.size()
      << " LDS DMA loads; the kernel's own waits and barriers order them";
}
