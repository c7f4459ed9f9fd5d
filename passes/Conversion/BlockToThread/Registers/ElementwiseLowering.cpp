//===- ElementwiseLowering.cpp - Element-wise ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// Any op that maps elements.
class Elementwise : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Vectors of equal elements, whose registers are one value.
class Splats : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Multiplications and divisions of f8E8M0FNU, which are powers of two.
class Scales : public Elementwise {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override {
    return isVector(op->getResult(0)) ? Elementwise::plan(op, planner)
                                      : success();
  }
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

class Masks : public LoweringOf<vector::CreateMaskOp> {
public:
  LogicalResult plan(vector::CreateMaskOp op, Planner &planner) const override;
  void emit(vector::CreateMaskOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

LogicalResult Elementwise::plan(Operation *op, Planner &planner) const {
  const Distribution *common = nullptr;
  for (Value operand : op->getOperands()) {
    if (!isVector(operand))
      continue;
    const Distribution *distribution = planner.find(operand);
    if (!common || common->isSplat())
      common = distribution;
    else if (!distribution->isSplat() && *distribution != *common)
      return op->emitOpError()
             << "has operands in different layouts: " << common->str()
             << " and " << distribution->str()
             << "; insert 'mosaic_gpu.layout_cast' on one of them";
  }
  // A copy: the map may grow while results are recorded.
  std::optional<Distribution> operands =
      common ? std::optional<Distribution>(*common) : std::nullopt;
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, index);
    if (layout && failed(planner.setLayout(op, result, layout)))
      return failure();
    if (!layout && !operands)
      return op->emitOpError()
             << "does not have a layout for its result; run "
                "mosaic-gpu-infer-layouts, or set the attribute '"
             << mosaic_gpu::kOutLayouts << "'";
    if (!layout)
      planner.setDistribution(result, *operands);
    const Distribution &distribution = *planner.find(result);
    if (operands && !operands->isSplat() && distribution != *operands)
      return op->emitOpError()
             << "has a result in layout " << distribution.str()
             << ", but operands in layout " << operands->str()
             << "; both must have the same layout";
  }
  return success();
}

LogicalResult Splats::plan(Operation *op, Planner &planner) const {
  Value result = op->getResult(0);
  if (!isVector(result))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return op->emitOpError()
             << "is a block-level constant with different elements, which is "
                "not supported; load the values from memory";
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op);
      broadcast && isVector(broadcast.getSource()) &&
      !planner.find(broadcast.getSource())->isSplat())
    return op->emitOpError() << "broadcasts a vector in layout "
                             << planner.find(broadcast.getSource())->str()
                             << "; only scalars and splats can be broadcast: "
                                "use 'mosaic_gpu.broadcast_in_dim'";
  if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0))
    return planner.setLayout(op, result, layout);
  return planner.setLayout(
      op, result,
      mosaic_gpu::WGSplatFragLayoutAttr::get(
          op->getContext(), cast<VectorType>(result.getType()).getShape()));
}

LogicalResult Masks::plan(vector::CreateMaskOp op, Planner &planner) const {
  if (failed(planner.setResultLayout(op)))
    return failure();
  if (planner.find(op.getResult())->isSplat())
    return op->emitOpError()
           << "has a result in the splat layout, in which all elements are "
              "equal, but elements of this mask may differ; use another layout";
  return success();
}

void Splats::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  Value result = op->getResult(0);
  if (!isVector(result))
    return emitter.emitScalar(op, builder);
  const Distribution &distribution = emitter.plan.getDistribution(result);
  Location loc = op->getLoc();
  VectorType registerType = distribution.getRegisterType(
      cast<VectorType>(result.getType()).getElementType());
  Value splat;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    splat = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(registerType,
                               elements.getSplatValue<Attribute>()));
  } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Value source = broadcast.getSource(), scalar;
    if (isVector(source))
      scalar = vector::ExtractOp::create(builder, loc,
                                         emitter.getRegisters(source).front(),
                                         ArrayRef<int64_t>{0});
    else
      scalar = emitter.lookup(source);
    splat = vector::BroadcastOp::create(builder, loc, registerType, scalar);
  } else {
    splat = ub::PoisonOp::create(builder, loc, registerType);
  }
  emitter.setRegisters(result,
                       Registers(distribution.getNumRegisters(), splat));
}

void Elementwise::emit(Operation *op, Emitter &emitter,
                       OpBuilder &builder) const {
  const Distribution &distribution =
      emitter.plan.getDistribution(op->getResult(0));
  SmallVector<Registers> operands;
  for (Value operand : op->getOperands())
    operands.push_back(
        isVector(operand) ? emitter.getRegisters(operand, distribution, builder)
                          : Registers());
  SmallVector<Registers> results(op->getNumResults());
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    IRMapping mapping;
    for (auto [operand, held] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(operand, held.empty() ? emitter.lookup(operand) : held[reg]);
    Operation *clone = builder.clone(*op, mapping);
    removeLayouts(clone);
    for (OpResult cloned : clone->getResults()) {
      Type elementType = cast<VectorType>(cloned.getType()).getElementType();
      cloned.setType(distribution.getRegisterType(elementType));
      results[cloned.getResultNumber()].push_back(cloned);
    }
  }
  for (auto [result, held] : llvm::zip_equal(op->getResults(), results))
    emitter.setRegisters(result, std::move(held));
}

/// The sum or the difference of two biased exponents. The type does not have
/// infinities or a zero: a result that is too large, or that f32 rounds to
/// zero, is NaN, the largest exponent. Other small results become the smallest
/// number.
static Value emitScale(Operation *op, Value lhs, Value rhs, OpBuilder &builder,
                       Location loc) {
  constexpr int64_t kBias = 127, kNaN = 255, kSmallestOfF32 = kBias - 149;
  auto type = cast<VectorType>(lhs.getType());
  VectorType bytes = type.clone(builder.getI8Type()),
             words = type.clone(builder.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(words, builder.getI32IntegerAttr(value)));
  };
  auto getExponent = [&](Value scale) -> Value {
    return arith::ExtUIOp::create(
        builder, loc, words,
        vector::BitCastOp::create(builder, loc, bytes, scale));
  };
  lhs = getExponent(lhs);
  rhs = getExponent(rhs);
  Value exponent =
      isa<arith::MulFOp>(op)
          ? arith::SubIOp::create(builder, loc,
                                  arith::AddIOp::create(builder, loc, lhs, rhs),
                                  constant(kBias))
                .getResult()
          : arith::AddIOp::create(builder, loc,
                                  arith::SubIOp::create(builder, loc, lhs, rhs),
                                  constant(kBias))
                .getResult();
  auto compare = [&](arith::CmpIPredicate predicate, Value value,
                     int64_t bound) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, value,
                                 constant(bound));
  };
  Value isNaN = compare(arith::CmpIPredicate::slt, exponent, kSmallestOfF32);
  for (Value value : {exponent, lhs, rhs})
    isNaN = arith::OrIOp::create(
        builder, loc, isNaN, compare(arith::CmpIPredicate::sge, value, kNaN));
  exponent = arith::MaxSIOp::create(builder, loc, exponent, constant(0));
  exponent =
      arith::SelectOp::create(builder, loc, isNaN, constant(kNaN), exponent);
  return vector::BitCastOp::create(
      builder, loc, type,
      arith::TruncIOp::create(builder, loc, bytes, exponent));
}

void Scales::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  Value result = op->getResult(0);
  if (!isVector(result))
    return emitter.emitScalar(op, builder);
  if (!isa<Float8E8M0FNUType>(getElementTypeOrSelf(result.getType())))
    return Elementwise::emit(op, emitter, builder);
  const Distribution &distribution = emitter.plan.getDistribution(result);
  Registers scales;
  for (auto [lhs, rhs] : llvm::zip_equal(
           emitter.getRegisters(op->getOperand(0), distribution, builder),
           emitter.getRegisters(op->getOperand(1), distribution, builder)))
    scales.push_back(emitScale(op, lhs, rhs, builder, op->getLoc()));
  emitter.setRegisters(result, std::move(scales));
}

void Masks::emit(vector::CreateMaskOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  Location loc = op.getLoc();
  int64_t length = distribution.getVectorLength();
  VectorType maskType = distribution.getRegisterType(builder.getI1Type());
  VectorType indexType = distribution.getRegisterType(builder.getIndexType());
  Window window;
  window.vectorDims =
      llvm::to_vector(llvm::seq<int64_t>(0, distribution.getShape().size()));
  WindowEmitter windows(window, Value(), ValueRange(), emitter.indices, builder,
                        loc);
  SmallVector<int64_t> steps;
  for (int64_t element = 0; element < length; ++element)
    steps.push_back(element * distribution.getVectorStride());

  Registers masks;
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    SmallVector<Coordinate> coordinates =
        emitter.indices.getCoordinates(distribution, reg);
    Value mask, rest;
    for (auto [dim, operand] : llvm::enumerate(op.getOperands())) {
      Value index = windows.getIndex(dim, coordinates),
            bound = emitter.lookup(operand);
      bool isVectorDim =
          static_cast<int64_t>(dim) == distribution.getVectorDim();
      if (isVectorDim && length > 1) {
        Value elements = arith::AddIOp::create(
            builder, loc,
            vector::BroadcastOp::create(builder, loc, indexType, index),
            arith::ConstantOp::create(
                builder, loc,
                DenseElementsAttr::get(indexType, ArrayRef<int64_t>(steps))));
        mask = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, elements,
            vector::BroadcastOp::create(builder, loc, indexType, bound));
        continue;
      }
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, index, bound);
      rest = rest
                 ? arith::AndIOp::create(builder, loc, rest, inside).getResult()
                 : inside;
    }
    if (rest) {
      Value all = vector::BroadcastOp::create(builder, loc, maskType, rest);
      mask = mask ? arith::AndIOp::create(builder, loc, mask, all).getResult()
                  : all;
    }
    masks.push_back(mask);
  }
  emitter.setRegisters(op.getResult(), std::move(masks));
}

const OpLowering &block_to_thread::getElementwiseLowering() {
  static const Elementwise lowering;
  return lowering;
}

void block_to_thread::registerElementwise(OpLowerings &lowerings) {
  lowerings.add<Splats, arith::ConstantOp, ub::PoisonOp, vector::BroadcastOp>();
  lowerings.add<Scales, arith::MulFOp, arith::DivFOp>();
  lowerings.add<Masks, vector::CreateMaskOp>();
}
