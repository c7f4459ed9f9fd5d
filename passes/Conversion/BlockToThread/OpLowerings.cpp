//===- OpLowerings.cpp - How each op becomes one of a thread --------------===//

#include "passes/Conversion/BlockToThread/OpLowerings.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

OpLowering::~OpLowering() = default;

LogicalResult OpLowering::planKernel(Planner &) const { return success(); }

void block_to_thread::registerCommonLowerings(OpLowerings &lowerings) {
  registerAsyncCopies(lowerings);
  registerBarrierObjects(lowerings);
  registerBlockBarriers(lowerings);
  registerControlFlow(lowerings);
  registerElementwise(lowerings);
  registerMma(lowerings);
  registerOpaque(lowerings);
  registerRegions(lowerings);
  registerRelayouts(lowerings);
  registerShapes(lowerings);
  registerTransfers(lowerings);
  registerViews(lowerings);
}
