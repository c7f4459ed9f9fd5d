//===- EvaluateLayouts.cpp - Cost and validity of existing layouts --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the constraints and the cost model of layout inference to layouts
// that already exist, from this inference, from JAX or written by hand.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Layouts/Inference/Conflict.h"
#include "smalti/passes/Layouts/Inference/Evaluation.h"
#include "smalti/passes/Layouts/Inference/InferLayouts.h"
#include "smalti/passes/Layouts/Rules/Rules.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/targets/Target.h"

#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_MOSAICGPUEVALUATELAYOUTS
#define GEN_PASS_DEF_MOSAICGPUEVALUATELAYOUTS
#include "smalti/passes/Layouts/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

namespace {

/// Reads the layouts of values from the attributes of ops.
class Reader {
public:
  Reader(ConstraintSystem &system, std::vector<LayoutId> &layouts)
      : system(system), layouts(layouts) {}

  LogicalResult read(Operation *op) {
    Values in[3], out[3];
    for (OpOperand &operand : op->getOpOperands())
      if (VarId var = system.lookup(operand); var != kNoVar)
        append(in, var, operand.get().getType());
    for (Value result : op->getResults())
      if (VarId var = system.lookup(result); var != kNoVar)
        append(out, var, result.getType());
    for (const LayoutAttributeNames &names : getLayoutAttributeNames()) {
      auto index = static_cast<size_t>(names.memory);
      if (failed(readList(op, names.in, in[index])) ||
          failed(readList(op, names.out, out[index])))
        return failure();
    }
    return success();
  }

private:
  using Values = SmallVector<std::pair<VarId, Type>>;

  static void append(Values *lists, VarId var, Type type) {
    lists[static_cast<size_t>(*getMemory(type))].push_back({var, type});
  }

  LogicalResult readList(Operation *op, StringRef name,
                         ArrayRef<std::pair<VarId, Type>> values) {
    auto list = op->getAttrOfType<ArrayAttr>(name);
    // Missing layouts are reported at the end, unless other ops state them.
    if (!list || values.empty())
      return success();
    if (list.size() != values.size())
      return op->emitOpError()
             << "has " << list.size() << " entries in '" << name << "'; "
             << values.size()
             << " are required, one for each operand or result with a layout";
    for (auto [attribute, place] : llvm::zip_equal(list, values)) {
      auto [var, type] = place;
      LayoutTable &table = system.getLayouts();
      LayoutId layout = table.fromAttribute(attribute, type);
      if (layout == kNoLayout || !table.fits(layout, type)) {
        std::string reason =
            layout == kNoLayout
                ? "use a register or tensor memory layout, or an "
                  "array of transforms for shared memory"
                : table.getInvalidReason(layout, type);
        return op->emitOpError() << "has " << attribute << " in '" << name
                                 << "', which is not a valid layout for "
                                 << type << ": " << reason;
      }
      if (layouts[var] != kNoLayout && layouts[var] != layout)
        return op->emitOpError()
               << "has layout " << table.name(layout) << " in '" << name
               << "', but a value that must have the same layout has layout "
               << table.name(layouts[var]) << "; use one layout for both";
      layouts[var] = layout;
    }
    return success();
  }

  ConstraintSystem &system;
  std::vector<LayoutId> &layouts;
};

struct MosaicGPUEvaluateLayouts
    : smalti::impl::MosaicGPUEvaluateLayoutsBase<MosaicGPUEvaluateLayouts> {
  using MosaicGPUEvaluateLayoutsBase::MosaicGPUEvaluateLayoutsBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    MosaicGPUEvaluateLayoutsBase::getDependentDialects(registry);
    registerLayoutRules(registry);
  }

  void runOnOperation() override;
};

} // namespace

/// "WGMMA and strided by 2".
static std::string describe(const LayoutTable &table,
                            const Constraint &constraint,
                            ArrayRef<LayoutId> layouts) {
  std::string text = table.name(layouts[constraint.a]);
  if (constraint.b != kNoVar)
    text += " and " + table.name(layouts[constraint.b]);
  return text;
}

/// Propagates layouts to values without attributes, such as block arguments.
static void spreadLayouts(const ConstraintSystem &system,
                          std::vector<LayoutId> &layouts) {
  for (const Constraint &constraint : system.getConstraints()) {
    if (constraint.kind != Constraint::Kind::Use &&
        constraint.kind != Constraint::Kind::Equal)
      continue;
    LayoutId &a = layouts[constraint.a], &b = layouts[constraint.b];
    if (a == kNoLayout)
      a = b;
    else if (b == kNoLayout)
      b = a;
  }
}

void MosaicGPUEvaluateLayouts::runOnOperation() {
  ModuleOp module = getOperation();
  const targets::Target *chip = findChip(module, target, warps);
  if (!chip)
    return signalPassFailure();
  LayoutTable table(&getContext(), warps, chip->waveSize);
  ConstraintSystem system(table, *chip);
  if (failed(collectConstraints(module, system)))
    return signalPassFailure();

  std::vector<LayoutId> layouts(system.getVariables().size(), kNoLayout);
  Reader reader(system, layouts);
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // The layouts of the op are already constraints.
    if (isa<mosaic_gpu::CustomPrimitiveOp>(op))
      return WalkResult::skip();
    return WalkResult(reader.read(op));
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  for (const Constraint &constraint : system.getConstraints())
    if (constraint.kind == Constraint::Kind::Assign &&
        layouts[constraint.a] == kNoLayout)
      layouts[constraint.a] = constraint.layouts.front();
  spreadLayouts(system, layouts);
  // A function argument of one element without an attribute has no transforms.
  for (auto [var, variable] : llvm::enumerate(system.getVariables())) {
    auto type = dyn_cast<MemRefType>(variable.type);
    if (layouts[var] == kNoLayout && variable.memory == Memory::Shared &&
        type.hasStaticShape() && type.getNumElements() == 1)
      layouts[var] = table.noTransforms();
  }

  Evaluator evaluator(system);
  bool isValid = true;
  int64_t cost = 0, registers = 0;
  for (auto [var, variable] : llvm::enumerate(system.getVariables())) {
    if (layouts[var] == kNoLayout) {
      Operation *op = variable.getOp();
      (op ? op->emitOpError() : module.emitOpError())
          << "has a value of type " << variable.type
          << " without a layout; run 'mosaic-gpu-infer-layouts', or state the "
             "layout in the attributes of the op";
      return signalPassFailure();
    }
    if (variable.memory != Memory::Registers)
      continue;
    for (const Site &site : variable.sites) {
      if (site.operand)
        continue;
      auto type = cast<VectorType>(site.value.getType());
      int64_t count = evaluator.countRegisters(layouts[var], type);
      registers += count;
      cost += count * site.work * kCycle;
    }
  }
  for (const Constraint &constraint : system.getConstraints()) {
    if (constraint.isJAXOnly)
      continue;
    LayoutId a = layouts[constraint.a];
    LayoutId b = constraint.b == kNoVar ? kNoLayout : layouts[constraint.b];
    // Only a splat is converted implicitly.
    bool holds = constraint.kind == Constraint::Kind::Use
                     ? a == b || table.isSplat(a)
                     : evaluator.holds(constraint, a, b, /*asInJAX=*/false) ||
                           evaluator.holds(constraint, a, b, /*asInJAX=*/true);
    if (!holds) {
      isValid = false;
      constraint.op->emitOpError()
          << "has " << describeLayouts(system, table, constraint, layouts)
          << "; it " << describeConstraint(evaluator, constraint) << ": "
          << constraint.reason
          << (b == kNoLayout ? "; change the layout"
                             : "; change one of the two layouts");
      continue;
    }
    int64_t part = evaluator.cost(constraint, a, b);
    cost += part;
    if (part >= kCycle)
      remarkAnalysis(constraint.op, getArgument())
          << "estimated cost: " << part / kCycle << " cycles with layout"
          << (b == kNoLayout ? " " : "s ")
          << describe(table, constraint, layouts) << ": " << constraint.reason;
  }
  if (!isValid)
    return signalPassFailure();
  remarkAnalysis(module, getArgument())
      << "estimated cost of all layouts: " << cost / kCycle << " cycles and "
      << registers << " registers per thread, summed over all values";
}
