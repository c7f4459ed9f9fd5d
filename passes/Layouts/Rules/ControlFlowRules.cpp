//===- ControlFlowRules.cpp - Layout rules of control flow ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

namespace {

/// The operands, region arguments, yielded values and results of an op with
/// regions, joined if one is forwarded to another.
class Flow {
public:
  explicit Flow(RegionBranchOpInterface op) : op(op) {
    for (OpOperand &operand : op->getOpOperands())
      add(Site{&operand, operand.get()});
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        add(Site{nullptr, argument});
    for (Value result : op->getResults())
      add(Site{nullptr, result});
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (const RegionSuccessor &successor : successors)
      join(op.getEntrySuccessorOperands(successor), op, successor);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addTerminator(block);
  }

  /// Creates one variable for each group of joined sites.
  void bindAll(ConstraintSystem &system) {
    SmallVector<VarId> vars(sites.size(), kNoVar);
    for (size_t index = 0; index < sites.size(); ++index) {
      const Site &site = sites[index];
      VarId &var = vars[find(index)];
      if (var != kNoVar)
        site.operand ? system.bind(var, *site.operand)
                     : system.bind(var, site.value);
      else if (!site.operand)
        var = system.create(site.value);
      else if (isa<VectorType>(site.value.getType()) ||
               site.operand->getOwner() != op)
        var = system.create(*site.operand);
      else
        var = system.share(*site.operand);
    }
  }

private:
  void add(Site site) {
    if (!hasLayout(site.value))
      return;
    if (site.operand)
      operandIndex[site.operand] = sites.size();
    else
      valueIndex[site.value] = sites.size();
    parents.push_back(sites.size());
    sites.push_back(site);
  }

  void addTerminator(Block &block) {
    if (block.empty())
      return;
    auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(block.back());
    if (!terminator)
      return;
    for (OpOperand &operand : terminator->getOpOperands())
      add(Site{&operand, operand.get()});
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(RegionBranchPoint(terminator), successors);
    for (const RegionSuccessor &successor : successors)
      join(terminator.getSuccessorOperands(successor), terminator, successor);
  }

  void join(OperandRange operands, Operation *owner,
            const RegionSuccessor &successor) {
    if (operands.empty())
      return;
    unsigned first = operands.getBeginOperandIndex();
    for (auto [index, input] :
         llvm::enumerate(successor.getSuccessorInputs())) {
      auto from = operandIndex.find(&owner->getOpOperand(first + index));
      auto to = valueIndex.find(input);
      if (from == operandIndex.end() || to == valueIndex.end())
        continue;
      size_t left = find(from->second), right = find(to->second);
      parents[std::max(left, right)] = std::min(left, right);
    }
  }

  size_t find(size_t index) {
    while (parents[index] != index)
      index = parents[index] = parents[parents[index]];
    return index;
  }

  RegionBranchOpInterface op;
  SmallVector<Site> sites;
  SmallVector<size_t> parents;
  DenseMap<OpOperand *, size_t> operandIndex;
  DenseMap<Value, size_t> valueIndex;
};

/// Loop-carried values, and the values that the branches of an op yield, have
/// one layout.
struct RegionModel : LayoutInferenceOpInterface::FallbackModel<RegionModel> {
  using Interface = LayoutInferenceOpInterface;
  LogicalResult addLayoutConstraints(Operation *op,
                                     ConstraintSystem &system) const {
    Flow(cast<RegionBranchOpInterface>(op)).bindAll(system);
    return success();
  }
};

/// Returned values may have any layout.
struct ReturnRule {
  static LogicalResult derive(func::ReturnOp op, ConstraintSystem &system) {
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<Memory> memory = getMemory(operand.get().getType());
      if (memory == Memory::Registers)
        system.create(operand);
      else if (memory)
        system.share(operand);
    }
    return success();
  }
};

} // namespace

void inference::registerControlFlowRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() ==
              scf::SCFDialect::getDialectNamespace() &&
          name.hasInterface<RegionBranchOpInterface>())
        name.attachInterface<RegionModel>();
  });
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    attachRule<ReturnRule, func::ReturnOp>(context);
  });
}
