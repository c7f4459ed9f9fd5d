//===- BarrierObjects.cpp - Barriers that are objects in shared memory ----===//

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Emitter.h"
#include "passes/Conversion/BlockToThread/Planner.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class BarrierObjects : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

LogicalResult BarrierObjects::plan(Operation *op, Planner &planner) const {
  const VendorLowering &vendor = planner.getVendor();
  if (std::optional<std::string> why = vendor.refuseBarriers())
    return op->emitOpError() << "cannot be lowered for "
                             << vendor.getTarget().name << ": " << *why;
  if (auto ordered = op->getAttrOfType<BoolAttr>("orders_tensor_core");
      ordered && ordered.getValue())
    return op->emitOpError()
           << "orders the tensor core, which is not supported";
  return success();
}

static Value barrierAddress(Value memref, Emitter &emitter, OpBuilder &builder,
                            Location loc) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value offset = arith::MulIOp::create(builder, loc, metadata.getOffset(),
                                       emitter.indices.getConstant(8));
  Value address = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      arith::AddIOp::create(builder, loc, base, offset));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3),
      address);
}

void BarrierObjects::emit(Operation *op, Emitter &emitter,
                          OpBuilder &builder) const {
  ThreadIndices &indices = emitter.indices;
  const VendorLowering &vendor = emitter.vendor;
  Location loc = op->getLoc();
  if (auto initialize = dyn_cast<mosaic_gpu::InitializeBarrierOp>(op)) {
    // Every thread of the 128 that arrive together counts, and one thread
    // initialises.
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              indices.getThread(), indices.getConstant(0));
    Value base = emitter.lookup(initialize.getBasePointer());
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
      for (int64_t barrier = 0;
           barrier < static_cast<int64_t>(initialize.getNumBarriers());
           ++barrier) {
        Value address = LLVM::GEPOp::create(
            nested, loc, base.getType(), nested.getI64Type(), base,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(barrier)});
        vendor.emitBarrierInit(nested, loc, address,
                               initialize.getArrivalCount() *
                                   emitter.plan.grid.numThreads);
      }
      scf::YieldOp::create(nested, loc);
    });
    return;
  }
  Value address =
      barrierAddress(emitter.lookup(op->getOperand(0)), emitter, builder, loc);
  if (isa<mosaic_gpu::ArriveOp>(op)) {
    vendor.emitBarrierArrive(builder, loc, address);
  } else if (auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(op)) {
    // Every thread arrives; the first announces the bytes of all.
    Value bytes;
    if (Value dynamic = arrive.getDynamicExpectTx())
      bytes = emitter.lookup(dynamic);
    else
      bytes = arith::ConstantOp::create(
          builder, loc,
          builder.getI32IntegerAttr(arrive.getExpectTx().value_or(0)));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              indices.getThread(), indices.getConstant(0));
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    bytes = arith::SelectOp::create(builder, loc, isFirst, bytes, none);
    vendor.emitBarrierArriveExpectTx(builder, loc, address, bytes);
  } else {
    vendor.emitBarrierWait(
        builder, loc, address,
        emitter.lookup(cast<mosaic_gpu::WaitOp>(op).getParity()));
  }
}

void block_to_thread::registerBarrierObjects(OpLowerings &lowerings) {
  lowerings.add<BarrierObjects, mosaic_gpu::InitializeBarrierOp,
                mosaic_gpu::ArriveOp, mosaic_gpu::ArriveExpectTxOp,
                mosaic_gpu::WaitOp>();
}
