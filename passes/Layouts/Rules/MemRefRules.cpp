//===- MemRefRules.cpp - Layout rules of memref ops -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

namespace {

constexpr StringLiteral kView = "a view has the layout of its source";

SmallVector<int64_t, 4> getShape(Value memref) {
  return SmallVector<int64_t, 4>(cast<MemRefType>(memref.getType()).getShape());
}

/// Whether a memref does not have a layout.
bool isIgnored(Value memref) { return !hasLayout(memref); }

struct CastRule {
  static LogicalResult derive(memref::CastOp op, ConstraintSystem &system) {
    if (isIgnored(op.getSource()))
      return success();
    system.bind(system.share(op.getSourceMutable()), op.getResult());
    return success();
  }
};

struct SubViewRule {
  static LogicalResult derive(memref::SubViewOp op, ConstraintSystem &system) {
    if (isIgnored(op.getSource()))
      return success();
    for (int64_t stride : op.getStaticStrides())
      if (stride != 1)
        return op.emitOpError()
               << "creates a view of shared memory with stride " << stride
               << "; strides must be 1, so that the view consists of whole "
                  "tiles";
    VarId source = system.share(op.getSourceMutable());
    VarId result = system.create(op.getResult());
    // A view has the tiles of its source if it begins and ends at tile
    // boundaries. Only dimensions after the last dynamic size can be tiled.
    SmallVector<int64_t, 4> multiples;
    ArrayRef<int64_t> shape = op.getSourceType().getShape();
    for (auto [dim, size, offset] :
         llvm::enumerate(op.getMixedSizes(), op.getMixedOffsets())) {
      std::optional<int64_t> known = getConstantIntValue(size);
      if (!known || ShapedType::isDynamic(shape[dim])) {
        multiples.clear();
        continue;
      }
      multiples.push_back(divisorOf(std::gcd(*known, shape[dim]), offset));
    }
    system.divides(source, multiples,
                   "the view must begin and end at tile boundaries");
    system.equal(source, result, kView);
    return success();
  }
};

struct TransposeRule {
  static LogicalResult derive(memref::TransposeOp op,
                              ConstraintSystem &system) {
    if (isIgnored(op.getIn()))
      return success();
    VarId source = system.share(op.getInMutable());
    VarId result = system.create(op.getResult());
    SmallVector<int64_t, 4> forward, inverse(op.getPermutation().getNumDims());
    for (AffineExpr dim : op.getPermutation().getResults()) {
      int64_t from = cast<AffineDimExpr>(dim).getPosition();
      inverse[from] = forward.size();
      forward.push_back(from);
    }
    system.becomes(
        source, result,
        {Step{Step::Kind::Transpose, getShape(op.getIn()), {}, forward}},
        kView);
    system.becomes(
        result, source,
        {Step{Step::Kind::Transpose, getShape(op.getResult()), {}, inverse}},
        kView);
    return success();
  }
};

struct ExpandShapeRule {
  static LogicalResult derive(memref::ExpandShapeOp op,
                              ConstraintSystem &system) {
    if (isIgnored(op.getSrc()))
      return success();
    if (isTransposed(op.getSrcType()))
      return op.emitOpError(
          "expands transposed shared memory, which is not supported; expand "
          "the memory before the transpose");
    VarId source = system.share(op.getSrcMutable());
    VarId result = system.create(op.getResult());
    // Only dimensions after the last expanded dimension can be tiled.
    SmallVector<int64_t, 4> multiples;
    for (ReassociationIndices &group : op.getReassociationIndices()) {
      int64_t size = op.getResultType().getDimSize(group.front());
      if (group.size() > 1 || ShapedType::isDynamic(size))
        multiples.clear();
      else
        multiples.push_back(size);
    }
    system.divides(source, multiples,
                   "a dimension that the op expands cannot be tiled");
    system.equal(source, result, kView);
    return success();
  }
};

struct CollapseShapeRule {
  static LogicalResult derive(memref::CollapseShapeOp op,
                              ConstraintSystem &system) {
    if (isIgnored(op.getSrc()))
      return success();
    VarId source = system.share(op.getSrcMutable());
    VarId result = system.create(op.getResult());
    SmallVector<int64_t, 4> groups;
    for (ReassociationIndices &group : op.getReassociationIndices())
      groups.push_back(group.size());
    // The result has rank 0 and one element, without a tile.
    if (groups.empty()) {
      system.assign(source, system.getLayouts().noTransforms(),
                    "memory of rank 0 cannot have a tile or a swizzle");
      system.equal(source, result, kView);
      return success();
    }
    if (!op.getSrcType().getLayout().isIdentity() &&
        !memref::CollapseShapeOp::isGuaranteedCollapsible(
            op.getSrcType(), op.getReassociationIndices()))
      return op.emitOpError(
          "collapses dimensions of shared memory that are not contiguous, "
          "which is not supported; collapse only contiguous dimensions");
    system.becomes(
        source, result,
        {Step{Step::Kind::Collapse, getShape(op.getSrc()), {}, groups}}, kView);
    return success();
  }
};

/// Threads access elements by index, which requires untiled memory. A memref of
/// one element is independent of the transforms of the memory around it.
template <typename OpTy> struct ElementRule {
  static LogicalResult derive(OpTy op, ConstraintSystem &system) {
    if (isIgnored(op.getMemref()))
      return success();
    OpOperand &memref = op.getMemrefMutable();
    auto type = cast<MemRefType>(op.getMemref().getType());
    bool isScalar = type.hasStaticShape() && type.getNumElements() == 1;
    VarId var = isScalar ? system.createDetached(memref) : system.share(memref);
    system.assign(var, system.getLayouts().noTransforms(),
                  "the op accesses a single element by its index");
    return success();
  }
};

} // namespace

void inference::registerMemRefRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    attachRule<CastRule, memref::CastOp>(context);
    attachRule<SubViewRule, memref::SubViewOp>(context);
    attachRule<TransposeRule, memref::TransposeOp>(context);
    attachRule<ExpandShapeRule, memref::ExpandShapeOp>(context);
    attachRule<CollapseShapeRule, memref::CollapseShapeOp>(context);
    attachRule<ElementRule<memref::LoadOp>, memref::LoadOp>(context);
    attachRule<ElementRule<memref::StoreOp>, memref::StoreOp>(context);
  });
}
