//===- TensorMemoryRules.cpp - Layout rules of tensor memory ops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/NamedLayouts.h"
#include "smalti/targets/Target.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using namespace smalti::mosaic_gpu;

namespace {

/// Kind of `ConstraintSystem::getAlias`.
constexpr int64_t kTensorAlias = 1;

struct AllocRule {
  static LogicalResult derive(TmemAllocOp op, ConstraintSystem &system) {
    if (system.getTarget().tensorMemoryColumns == 0)
      return op.emitOpError()
             << "requires tensor memory, which " << system.getTarget().name
             << " does not have; compile for "
             << targets::namesWithTensorMemory();
    VarId result = system.create(op.getResult());
    // A layout with fewer elements per column exceeds the allocated columns.
    if (int64_t packing = op.getPacking(); packing > 1) {
      ArrayRef<int64_t> shape = cast<MemRefType>(op.getType()).getShape();
      int64_t columns = shape[1];
      SmallVector<LayoutId> packed;
      for (const std::optional<layout::TiledLayout> &layout :
           {layout::tmemFor(shape, op.getCollective(), packing).value,
            layout::tmemDefault(packing),
            layout::tmemHalfLane(columns, packing),
            layout::tmemM64Collective(columns, packing)})
        if (layout)
          packed.push_back(system.getLayouts().tensor(*layout));
      system.oneOf(result, packed,
                   "the attribute 'packing' of the op states the number of "
                   "elements per column");
    }
    if (hasLayout(op.getSmemPtr()))
      system.assign(
          system.createDetached(op.getSmemPtrMutable()),
          system.getLayouts().noTransforms(),
          "the op writes only one 32-bit address to the shared memory");
    return success();
  }
};

struct DeallocRule {
  static LogicalResult derive(TmemDeallocOp op, ConstraintSystem &system) {
    system.share(op.getTmemRefMutable());
    return success();
  }
};

struct SliceRule {
  static LogicalResult derive(SliceTmemOp op, ConstraintSystem &system) {
    system.share(op.getSourceMutable());
    if (op.getAliasId())
      system.getAlias(op.getResult(), kTensorAlias, op.getOffset(),
                      *op.getAliasId());
    else
      system.create(op.getResult());
    return success();
  }
};

struct CastRule {
  static LogicalResult derive(TmemLayoutCastOp op, ConstraintSystem &system) {
    VarId var = system.share(op.getRefMutable());
    system.bind(var, op.getResult());
    return requireLayout(
        system, op, var,
        system.getLayouts().fromAttribute(op.getNewLayout(), op.getType()),
        "the op sets the layout of the memory");
  }
};

void addTransfer(ConstraintSystem &system, OpOperand &memory, VarId registers,
                 StringRef reason) {
  Constraint &transfer = system.add(Constraint::Kind::TensorTransfer,
                                    system.share(memory), registers, reason);
  transfer.type = memory.get().getType();
}

struct LoadRule {
  static LogicalResult derive(AsyncLoadTmemOp op, ConstraintSystem &system) {
    VarId vector = system.create(op->getResult(0));
    addTransfer(system, op.getSourceMutable(), vector,
                "the op loads its result from tensor memory");
    if (op->getNumResults() == 1)
      return success();
    // The hardware reduces the elements of a row in one thread.
    LayoutTable &layouts = system.getLayouts();
    auto type = cast<VectorType>(op->getResult(0).getType());
    if (failed(requireLayout(
            system, op, vector,
            layouts.tiled(
                layout::tmemNative(2, layouts.getWarps(), layouts.getLanes())),
            "the layout of the loaded vector of a reducing load")))
      return failure();
    system.becomes(vector, system.create(op->getResult(1)),
                   {Step{Step::Kind::Reduce,
                         SmallVector<int64_t, 4>(type.getShape()),
                         {},
                         {1}}},
                   "the layout of the second result must be that of the first "
                   "without the reduced dimension");
    return success();
  }
};

struct StoreRule {
  static LogicalResult derive(AsyncStoreTmemOp op, ConstraintSystem &system) {
    VarId vector = system.create(op.getSourceMutable());
    addTransfer(system, op.getDestinationMutable(), vector,
                "the op stores its vector operand to tensor memory");
    return success();
  }
};

} // namespace

void inference::registerTensorMemoryRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MosaicGPUDialect *) {
    attachRule<AllocRule, TmemAllocOp>(context);
    attachRule<DeallocRule, TmemDeallocOp>(context);
    attachRule<SliceRule, SliceTmemOp>(context);
    attachRule<CastRule, TmemLayoutCastOp>(context);
    attachRule<LoadRule, AsyncLoadTmemOp>(context);
    attachRule<StoreRule, AsyncStoreTmemOp>(context);
  });
}
