//===- ShapeLowering.cpp - Slices, shapes and indices of vectors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// Ops whose elements are elements of the operands.
class Moves : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Extraction of a scalar or a vector.
class Extracts : public LoweringOf<vector::ExtractOp> {
public:
  LogicalResult plan(vector::ExtractOp op, Planner &planner) const override;
  void emit(vector::ExtractOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class Iotas : public LoweringOf<mosaic_gpu::BroadcastedIotaOp> {
public:
  LogicalResult plan(mosaic_gpu::BroadcastedIotaOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::BroadcastedIotaOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> toIntegers(ArrayAttr attributes) {
  SmallVector<int64_t> values;
  for (Attribute attribute : attributes)
    values.push_back(cast<IntegerAttr>(attribute).getInt());
  return values;
}

using Source = std::function<ElementIndex(ArrayRef<int64_t>)>;

/// The vector operand and the element of it that an element of the result is.
static Source getSource(Operation *op) {
  return llvm::TypeSwitch<Operation *, Source>(op)
      .Case([](vector::ExtractStridedSliceOp slice) -> Source {
        SmallVector<int64_t> offsets = toIntegers(slice.getOffsets()),
                             strides = toIntegers(slice.getStrides());
        return [=](ArrayRef<int64_t> index) {
          ElementIndex element{0, SmallVector<int64_t>(index)};
          for (auto [position, offset, stride] :
               llvm::zip(element.index, offsets, strides))
            position = offset + position * stride;
          return element;
        };
      })
      .Case([](vector::InsertStridedSliceOp insert) -> Source {
        SmallVector<int64_t> offsets = toIntegers(insert.getOffsets()),
                             strides = toIntegers(insert.getStrides());
        SmallVector<int64_t> shape(insert.getSourceVectorType().getShape());
        return [=](ArrayRef<int64_t> index) {
          // The inserted vector has the last dimensions.
          size_t leading = index.size() - shape.size();
          ElementIndex element;
          for (size_t dim = 0; dim < index.size(); ++dim) {
            int64_t position = index[dim] - offsets[dim];
            if (dim < leading) {
              if (position != 0)
                return ElementIndex{1, SmallVector<int64_t>(index)};
              continue;
            }
            int64_t stride = strides[dim - leading];
            if (position < 0 || position % stride != 0 ||
                position / stride >= shape[dim - leading])
              return ElementIndex{1, SmallVector<int64_t>(index)};
            element.index.push_back(position / stride);
          }
          return element;
        };
      })
      .Case([](mosaic_gpu::VectorConcatOp concat) -> Source {
        int64_t dimension = concat.getDimension();
        SmallVector<int64_t> sizes;
        for (Value operand : concat.getOperands())
          sizes.push_back(
              cast<VectorType>(operand.getType()).getDimSize(dimension));
        return [=](ArrayRef<int64_t> index) {
          ElementIndex element{0, SmallVector<int64_t>(index)};
          while (element.index[dimension] >= sizes[element.vector])
            element.index[dimension] -= sizes[element.vector++];
          return element;
        };
      })
      .Case([](mosaic_gpu::BroadcastInDimOp broadcast) -> Source {
        SmallVector<int64_t> dims(broadcast.getBroadcastDimensions());
        SmallVector<int64_t> shape(
            cast<VectorType>(broadcast.getOperand().getType()).getShape());
        return [=](ArrayRef<int64_t> index) {
          ElementIndex element;
          for (auto [dim, size] : llvm::zip_equal(dims, shape))
            element.index.push_back(size == 1 ? 0 : index[dim]);
          return element;
        };
      })
      .Case([](vector::ShapeCastOp shapeCast) -> Source {
        SmallVector<int64_t> to(shapeCast.getResultVectorType().getShape()),
            from(shapeCast.getSourceVectorType().getShape());
        return [=](ArrayRef<int64_t> index) {
          int64_t flat = 0;
          for (auto [position, size] : llvm::zip_equal(index, to))
            flat = flat * size + position;
          ElementIndex element{0, SmallVector<int64_t>(from.size())};
          for (size_t dim = from.size(); dim-- > 0; flat /= from[dim])
            element.index[dim] = flat % from[dim];
          return element;
        };
      })
      .Case([](vector::TransposeOp transpose) -> Source {
        SmallVector<int64_t> permutation(transpose.getPermutation());
        return [=](ArrayRef<int64_t> index) {
          ElementIndex element{0, SmallVector<int64_t>(index.size())};
          for (auto [position, from] : llvm::zip_equal(index, permutation))
            element.index[from] = position;
          return element;
        };
      })
      .Case([](vector::ExtractOp extract) -> Source {
        SmallVector<int64_t> leading(extract.getStaticPosition());
        return [=](ArrayRef<int64_t> index) {
          ElementIndex element{0, leading};
          llvm::append_range(element.index, index);
          return element;
        };
      });
}

/// The result has the declared layout, otherwise that of the first operand that
/// is not a splat.
static LogicalResult planMove(Operation *op, Planner &planner) {
  Value result = op->getResult(0);
  if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0)) {
    if (failed(planner.setLayout(op, result, layout)))
      return failure();
  } else {
    Value first = op->getOperand(0);
    bool areSplats = llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isVector(operand) || planner.find(operand)->isSplat();
    });
    if (!areSplats || op->getNumOperands() != 1 || !isVector(first))
      return op->emitOpError()
             << "does not have a layout for its result; run "
                "mosaic-gpu-infer-layouts, or set the attribute '"
             << mosaic_gpu::kOutLayouts << "'";
    if (failed(planner.setLayout(
            op, result,
            mosaic_gpu::WGSplatFragLayoutAttr::get(
                op->getContext(),
                cast<VectorType>(result.getType()).getShape()))))
      return failure();
  }
  SmallVector<const Distribution *> from;
  for (Value operand : op->getOperands())
    if (isVector(operand))
      from.push_back(planner.find(operand));
  const Distribution &to = *planner.find(result);
  ValueOr<std::vector<ElementPosition>> positions =
      planGather(to, from, getSource(op), planner.getGrid());
  if (!positions)
    return op->emitOpError()
           << "moves elements between threads, from layout "
           << from.front()->str() << " to layout " << to.str() << ": "
           << positions.reason
           << "; use a result layout in which each thread keeps its elements";
  planner.setOpPlan(op, std::make_unique<GatherPlan>(*positions));
  return success();
}

static void emitMove(Operation *op, Emitter &emitter, OpBuilder &builder) {
  Value result = op->getResult(0);
  SmallVector<Registers> from;
  for (Value operand : op->getOperands())
    if (isVector(operand))
      from.push_back(emitter.getRegisters(operand));
  emitter.setRegisters(
      result,
      emitGather(emitter.plan.getDistribution(result),
                 cast<VectorType>(result.getType()).getElementType(), from,
                 emitter.plan.getOpPlan<GatherPlan>(op)->positions, builder,
                 op->getLoc()));
}

LogicalResult Moves::plan(Operation *op, Planner &planner) const {
  return planMove(op, planner);
}

void Moves::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  emitMove(op, emitter, builder);
}

LogicalResult Extracts::plan(vector::ExtractOp op, Planner &planner) const {
  if (isVector(op.getResult())) {
    if (!op.getDynamicPosition().empty())
      return op.emitOpError()
             << "extracts a vector at a dynamic position, which is not "
                "supported on block-level vectors; store the vector to memory, "
                "and load the part from there";
    return planMove(op, planner);
  }
  const Distribution &distribution = *planner.find(op.getSource());
  if (!distribution.isSplat())
    return op.emitOpError()
           << "extracts a scalar from layout " << distribution.str()
           << ", in which only some threads have the element; store the vector "
              "to memory, and load the element from there";
  return success();
}

void Extracts::emit(vector::ExtractOp op, Emitter &emitter,
                    OpBuilder &builder) const {
  if (isVector(op.getResult()))
    return emitMove(op, emitter, builder);
  emitter.map(op.getResult(), vector::ExtractOp::create(
                                  builder, op.getLoc(),
                                  emitter.getRegisters(op.getSource()).front(),
                                  ArrayRef<int64_t>{0}));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

LogicalResult Iotas::plan(mosaic_gpu::BroadcastedIotaOp op,
                          Planner &planner) const {
  if (failed(planner.setResultLayout(op)))
    return failure();
  if (planner.find(op.getResult())->isSplat())
    return op.emitOpError()
           << "has a result in the splat layout, in which all elements are "
              "equal, but the elements of an iota differ; use another layout";
  Type element = cast<VectorType>(op.getType()).getElementType();
  if (!element.isIntOrIndexOrFloat())
    return op.emitOpError() << "has elements of type " << element
                            << "; integers, floats or index are required";
  return success();
}

void Iotas::emit(mosaic_gpu::BroadcastedIotaOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  Location loc = op.getLoc();
  Type elementType = cast<VectorType>(op.getType()).getElementType();
  Type wordType = builder.getI32Type();
  int64_t dimension = op.getDimension(),
          length = distribution.getVectorLength();
  VectorType words = distribution.getRegisterType(wordType);
  VectorType type = distribution.getRegisterType(elementType);
  int64_t step = dimension == distribution.getVectorDim()
                     ? distribution.getVectorStride()
                     : 0;
  Registers result;
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    Coordinate coordinate =
        emitter.indices.getCoordinates(distribution, reg)[dimension];
    SmallVector<int32_t> offsets;
    for (int64_t element = 0; element < length; ++element)
      offsets.push_back(
          static_cast<int32_t>(coordinate.offset + element * step));
    Value index = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(words, ArrayRef<int32_t>(offsets)));
    if (coordinate.base) {
      Value base =
          arith::IndexCastOp::create(builder, loc, wordType, coordinate.base);
      index = arith::AddIOp::create(
          builder, loc, vector::BroadcastOp::create(builder, loc, words, base),
          index);
    }
    if (elementType.isIndex())
      index = arith::IndexCastUIOp::create(builder, loc, type, index);
    else if (isa<FloatType>(elementType))
      index = arith::UIToFPOp::create(builder, loc, type, index);
    else if (elementType.getIntOrFloatBitWidth() > 32)
      index = arith::ExtUIOp::create(builder, loc, type, index);
    else if (elementType.getIntOrFloatBitWidth() < 32)
      index = arith::TruncIOp::create(builder, loc, type, index);
    result.push_back(index);
  }
  emitter.setRegisters(op.getResult(), std::move(result));
}

void block_to_thread::registerShapes(OpLowerings &lowerings) {
  lowerings
      .add<Moves, vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp,
           vector::ShapeCastOp, vector::TransposeOp, mosaic_gpu::VectorConcatOp,
           mosaic_gpu::BroadcastInDimOp>();
  lowerings.add<Extracts, vector::ExtractOp>();
  lowerings.add<Iotas, mosaic_gpu::BroadcastedIotaOp>();
}
