//===- Views.cpp - Views of shared memory ---------------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Emitter.h"
#include "passes/Conversion/BlockToThread/Planner.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "passes/Conversion/BlockToThread/Windows.h"
#include "targets/Target.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class Slices : public LoweringOf<mosaic_gpu::SliceSMEMOp> {
public:
  LogicalResult plan(mosaic_gpu::SliceSMEMOp op,
                     Planner &planner) const override {
    return planSharedBuffer(op, planner);
  }
  void emit(mosaic_gpu::SliceSMEMOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

LogicalResult block_to_thread::planSharedBuffer(Operation *slice,
                                                Planner &planner) {
  auto op = cast<mosaic_gpu::SliceSMEMOp>(slice);
  KernelPlan &plan = planner.getPlan();
  const targets::Target &target = planner.getVendor().getTarget();
  auto type = cast<MemRefType>(op.getType());
  std::optional<int64_t> bytes = getBufferBytes(type);
  if (!bytes || elementBytes(type.getElementType()) == 0)
    return op.emitOpError() << "must have a static, contiguous type";
  if (plan.level == Level::Block && !isWorkgroupMemory(type))
    return op.emitOpError() << "must be in the address space workgroup in a "
                               "program of blocks, got "
                            << type;
  int64_t end = appendBuffer(op.getOffset(), *bytes, /*alignment=*/1);
  auto total =
      plan.func->getAttrOfType<IntegerAttr>(mosaic_gpu::kSharedMemoryBytes);
  if (total && end > total.getInt())
    return op.emitOpError() << "ends at byte " << end << ", but the kernel has "
                            << total.getInt() << " bytes of shared memory";
  int64_t limit = target.sharedMemoryPerBlock;
  if (end > limit)
    return op.emitOpError()
           << "ends at byte " << end << ", but " << target.name << " has "
           << limit << " bytes of shared memory for a block";
  plan.sharedMemoryBytes =
      std::max(plan.sharedMemoryBytes, total ? total.getInt() : end);
  if (auto alignment = plan.func->getAttrOfType<IntegerAttr>(
          mosaic_gpu::kSharedMemoryAlignment))
    plan.sharedMemoryAlignment =
        std::max(plan.sharedMemoryAlignment, alignment.getInt());
  return success();
}

void Slices::emit(mosaic_gpu::SliceSMEMOp op, Emitter &emitter,
                  OpBuilder &) const {
  ThreadIndices &indices = emitter.indices;
  // At the head, where one view serves every use of the slice.
  OpBuilder &head = indices.getBuilder();
  Value offset = indices.getConstant(op.getOffset());
  auto type = cast<MemRefType>(convertType(op.getType()));
  emitter.map(op.getResult(), memref::ViewOp::create(head, op.getLoc(), type,
                                                     emitter.getSharedMemory(),
                                                     offset, ValueRange())
                                  .getResult());
}

void block_to_thread::registerViews(OpLowerings &lowerings) {
  lowerings.add<Slices, mosaic_gpu::SliceSMEMOp>();
}
