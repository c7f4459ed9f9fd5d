//===- RegionLowering.cpp - Regions of thread-level and warp-level code ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// Inlines the body: its vectors are the operands, which it may split into
/// registers.
class CustomPrimitives : public LoweringOf<mosaic_gpu::CustomPrimitiveOp> {
public:
  LogicalResult plan(mosaic_gpu::CustomPrimitiveOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::CustomPrimitiveOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

/// Inlines the body between barriers of the thread group: accesses of the
/// thread group happen before those of its warps, and those before the accesses
/// after the op.
class WarpMaps : public LoweringOf<mosaic_gpu::WarpMapOp> {
public:
  LogicalResult plan(mosaic_gpu::WarpMapOp op, Planner &planner) const override;
  void emit(mosaic_gpu::WarpMapOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};

class Returns : public LoweringOf<mosaic_gpu::ReturnOp> {
public:
  LogicalResult plan(mosaic_gpu::ReturnOp op, Planner &planner) const override;
  void emit(mosaic_gpu::ReturnOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class Assumptions : public LoweringOf<mosaic_gpu::AssumeMultipleOp> {
public:
  LogicalResult plan(mosaic_gpu::AssumeMultipleOp, Planner &) const override {
    return success();
  }
  void emit(mosaic_gpu::AssumeMultipleOp op, Emitter &emitter,
            OpBuilder &builder) const override {
    Value value = emitter.lookup(op.getValue());
    if (std::optional<int64_t> constant = getConstantIntValue(value);
        constant && *constant < 0 && value.getType().isIndex())
      value = emitUnfolded(*constant, builder, op.getLoc());
    emitter.map(op.getResult(), value);
  }

private:
  /// A constant that MLIR does not fold, as the address of an element. LLVM
  /// folds it.
  static Value emitUnfolded(int64_t constant, OpBuilder &builder,
                            Location loc) {
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value bytes = LLVM::ConstantOp::create(builder, loc,
                                           builder.getI64IntegerAttr(constant));
    Value address = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI8Type(),
        LLVM::ZeroOp::create(builder, loc, pointer), ValueRange{bytes});
    return arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), address));
  }
};
} // namespace

/// Body arguments have the distributions and references of the operands.
static void shareArguments(ValueRange operands, Block &body, Planner &planner) {
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments())) {
    if (planner.find(operand))
      planner.shareDistribution(operand, argument);
    if (const SharedRef *ref = planner.getSharedRef(operand))
      planner.setSharedRef(argument, SharedRef(*ref));
  }
}

static void mapArguments(ValueRange operands, Block &body, Emitter &emitter) {
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments()))
    emitter.mapSame(operand, argument);
}

LogicalResult CustomPrimitives::plan(mosaic_gpu::CustomPrimitiveOp op,
                                     Planner &planner) const {
  unsigned vectors = 0;
  for (Value result : op.getResults()) {
    if (!isVector(result))
      continue;
    if (vectors >= op.getOutLayouts().size())
      return op.emitOpError()
             << "needs one entry in 'out_layouts' for each vector result; the "
                "entry is missing for vector result #"
             << vectors;
    if (failed(planner.setLayout(op, result, op.getOutLayouts()[vectors++])))
      return failure();
  }
  Block &body = op.getBody().front();
  // A splat keeps the distribution of its operand unless the op declares
  // another.
  unsigned index = 0;
  for (auto [operand, argument] :
       llvm::zip_equal(op.getOperands(), body.getArguments())) {
    if (!isVector(operand))
      continue;
    if (index < op.getInLayouts().size() &&
        failed(planner.setLayout(op, argument, op.getInLayouts()[index])))
      return failure();
    ++index;
  }
  shareArguments(op.getOperands(), body, planner);
  return planner.planThreadCode(body);
}

void CustomPrimitives::emit(mosaic_gpu::CustomPrimitiveOp op, Emitter &emitter,
                            OpBuilder &builder) const {
  Block &body = op.getBody().front();
  for (auto [operand, argument] :
       llvm::zip_equal(op.getOperands(), body.getArguments())) {
    if (isVector(operand))
      emitter.setRegisters(
          argument,
          emitter.getRegisters(operand, emitter.plan.getDistribution(argument),
                               builder));
    else
      emitter.mapSame(operand, argument);
  }
  emitter.emitBlock(body, builder);
}

LogicalResult Returns::plan(mosaic_gpu::ReturnOp op, Planner &planner) const {
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op->getParentOp()->getResults())) {
    if (!isVector(result))
      continue;
    const Distribution *from = planner.find(operand),
                       &to = *planner.find(result);
    if (!from)
      return op.emitOpError()
             << "returns a thread-level vector; convert it to a block-level "
                "vector with an 'unrealized_conversion_cast' that has the "
                "attribute 'layout'";
    if (*from != to && !from->isSplat())
      return op.emitOpError()
             << "returns a vector in layout " << from->str()
             << ", but 'out_layouts' of the op around it declares layout "
             << to.str() << "; both must be equal";
  }
  return success();
}

void Returns::emit(mosaic_gpu::ReturnOp op, Emitter &emitter,
                   OpBuilder &builder) const {
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op->getParentOp()->getResults())) {
    if (isVector(result))
      emitter.setRegisters(
          result, emitter.getRegisters(
                      operand, emitter.plan.getDistribution(result), builder));
    else
      emitter.map(result, emitter.lookup(operand));
  }
}

LogicalResult WarpMaps::plan(mosaic_gpu::WarpMapOp op, Planner &planner) const {
  if (std::optional<std::string> why =
          planner.getVendor().refuseThreadGroupBarrier(planner.getGrid()))
    return op.emitOpError() << "requires a barrier per thread group: " << *why;
  for (Value operand : op.getOperands())
    if (isVector(operand))
      return op.emitOpError()
             << "has a vector operand, but in its region each warp runs alone "
                "and would have only a part of the vector; pass the vector "
                "through shared memory";
  Block &body = op.getRegion().front();
  shareArguments(op.getOperands(), body, planner);
  return planner.planBlock(body);
}

void WarpMaps::emit(mosaic_gpu::WarpMapOp op, Emitter &emitter,
                    OpBuilder &builder) const {
  Block &body = op.getRegion().front();
  mapArguments(op.getOperands(), body, emitter);
  emitter.vendor.emitThreadGroupBarrier(builder, op.getLoc(), emitter.indices);
  emitter.emitBlock(body, builder);
  emitter.vendor.emitThreadGroupBarrier(builder, op.getLoc(), emitter.indices);
}

void block_to_thread::registerRegions(OpLowerings &lowerings) {
  lowerings.add<CustomPrimitives, mosaic_gpu::CustomPrimitiveOp>();
  lowerings.add<Returns, mosaic_gpu::ReturnOp>();
  lowerings.add<WarpMaps, mosaic_gpu::WarpMapOp>();
  lowerings.add<Assumptions, mosaic_gpu::AssumeMultipleOp>();
}
