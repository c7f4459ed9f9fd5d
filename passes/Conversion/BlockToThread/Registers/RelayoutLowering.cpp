//===- RelayoutLowering.cpp - Layout changes of vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class LayoutCasts : public LoweringOf<mosaic_gpu::LayoutCastOp> {
public:
  LogicalResult plan(mosaic_gpu::LayoutCastOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::LayoutCastOp op, Emitter &emitter,
            OpBuilder &builder) const override {
    emitter.setRegisters(
        op.getResult(),
        emitter.getRegisters(
            op.getX(), emitter.plan.getDistribution(op.getResult()), builder));
  }
};
} // namespace

LogicalResult LayoutCasts::plan(mosaic_gpu::LayoutCastOp op,
                                Planner &planner) const {
  if (failed(planner.setLayout(op, op.getResult(), op.getNewLayout())))
    return failure();
  const Distribution &from = *planner.find(op.getX()),
                     &to = *planner.find(op.getResult());
  if (from != to && !from.isSplat())
    return op->emitOpError()
           << "changes the layout from " << from.str() << " to " << to.str()
           << ", which moves elements between threads and is not supported on "
              "this target";
  return success();
}

void block_to_thread::registerRelayouts(OpLowerings &lowerings) {
  lowerings.add<LayoutCasts, mosaic_gpu::LayoutCastOp>();
}
