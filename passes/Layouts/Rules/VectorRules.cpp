//===- VectorRules.cpp - Layout rules of vector ops -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;

namespace {

SmallVector<int64_t, 4> getShape(Value value) {
  return SmallVector<int64_t, 4>(cast<VectorType>(value.getType()).getShape());
}

SmallVector<int64_t, 4> getIntegers(ArrayAttr attribute) {
  return llvm::map_to_vector<4>(attribute, [](Attribute value) {
    return cast<IntegerAttr>(value).getInt();
  });
}

struct BroadcastRule {
  static LogicalResult derive(vector::BroadcastOp op,
                              ConstraintSystem &system) {
    StringRef reason = "all elements are the same scalar";
    LayoutId splat = system.getLayouts().splat();
    if (auto source = dyn_cast<VectorType>(op.getSource().getType())) {
      if (source.getRank() != 0)
        return op.emitOpError("does not support a source vector of rank 1 or "
                              "higher; use 'mosaic_gpu.broadcast_in_dim'");
      system.assign(system.create(op.getSourceMutable()), splat, reason);
    }
    system.assign(system.create(op.getResult()), splat, reason);
    return success();
  }
};

struct ReductionRule {
  static LogicalResult derive(vector::ReductionOp op,
                              ConstraintSystem &system) {
    system.create(op.getVectorMutable());
    return success();
  }
};

struct MultiReductionRule {
  static LogicalResult derive(vector::MultiDimReductionOp op,
                              ConstraintSystem &system) {
    VarId source = system.create(op.getSourceMutable());
    system.notStrided(
        source,
        "the reduction of a vector in a strided layout is not supported");
    // All threads hold a scalar result.
    if (!isa<VectorType>(op.getResult().getType()))
      return success();
    VarId result = system.create(op.getAccMutable());
    system.bind(result, op.getResult());
    addReduction(system, source, result, op.getSourceVectorType(),
                 op.getReductionDims(), op.getResult().getType());
    return success();
  }
};

struct ShapeCastRule {
  static LogicalResult derive(vector::ShapeCastOp op,
                              ConstraintSystem &system) {
    VarId source = system.create(op.getSourceMutable());
    VarId result = system.create(op.getResult());
    SmallVector<int64_t, 4> sourceShape = getShape(op.getSource()),
                            resultShape = getShape(op.getResult());
    StringRef reason = "the op does not move elements between threads, so each "
                       "must hold the same elements of both";
    system.becomes(source, result,
                   {Step{Step::Kind::Reshape, sourceShape, resultShape, {}}},
                   reason);
    system.becomes(result, source,
                   {Step{Step::Kind::Reshape, resultShape, sourceShape, {}}},
                   reason);
    return success();
  }
};

struct TransposeRule {
  static LogicalResult derive(vector::TransposeOp op,
                              ConstraintSystem &system) {
    VarId source = system.create(op.getVectorMutable());
    VarId result = system.create(op.getResult());
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<int64_t, 4> forward(permutation), inverse(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      inverse[from] = to;
    // A strided layout is row-major and cannot be transposed.
    system.notStrided(
        source,
        "the transpose of a vector in a strided layout is not supported");
    StringRef reason = "the op does not move elements between threads, so each "
                       "must hold the same elements of both";
    system.becomes(
        source, result,
        {Step{Step::Kind::Transpose, getShape(op.getVector()), {}, forward}},
        reason);
    system.becomes(
        result, source,
        {Step{Step::Kind::Transpose, getShape(op.getResult()), {}, inverse}},
        reason);
    return success();
  }
};

struct BitCastRule {
  static LogicalResult derive(vector::BitCastOp op, ConstraintSystem &system) {
    VarId source = system.create(op.getSourceMutable());
    SmallVector<int64_t, 4> from = getShape(op.getSource()),
                            to = getShape(op.getResult());
    if (from == to) {
      system.bind(source, op.getResult());
      return success();
    }
    VarId result = system.create(op.getResult());
    StringRef reason = "the op does not move bits between threads, so each "
                       "must hold the same bits of both";
    system.becomes(source, result, {Step{Step::Kind::BitCast, from, to, {}}},
                   reason);
    system.becomes(result, source, {Step{Step::Kind::BitCast, to, from, {}}},
                   reason);
    return success();
  }
};

/// A slice of registers consists of whole tiles: offsets are multiples of the
/// tile, and sizes too, because the layout is valid for the slice.
void addSlice(ConstraintSystem &system, VarId whole, VarId part,
              ArrayRef<int64_t> offsets) {
  system.divides(whole, offsets,
                 "a slice of a vector must begin at a tile boundary");
  system.equal(whole, part, "a slice must have the layout of the whole vector");
  system.notStrided(whole,
                    "slices of vectors in strided layouts are not supported");
}

struct ExtractSliceRule {
  static LogicalResult derive(vector::ExtractStridedSliceOp op,
                              ConstraintSystem &system) {
    VarId source = system.create(op.getSourceMutable());
    VarId result = system.create(op.getResult());
    // Dimensions after the listed ones begin at 0. A slice with a stride
    // selects registers of a dimension that is not tiled.
    SmallVector<int64_t, 4> offsets = getIntegers(op.getOffsets());
    for (auto [dim, stride] : llvm::enumerate(getIntegers(op.getStrides())))
      if (stride != 1)
        offsets[dim] = 1;
    offsets.resize(op.getSourceVectorType().getRank(), 0);
    addSlice(system, source, result, offsets);
    system.notSplat(result, "slices of splats are not supported (nor by JAX)",
                    /*isJAXOnly=*/true);
    return success();
  }
};

struct InsertSliceRule {
  static LogicalResult derive(vector::InsertStridedSliceOp op,
                              ConstraintSystem &system) {
    SmallVector<int64_t, 4> offsets = getIntegers(op.getOffsets());
    // The strides are those of the last dimensions.
    SmallVector<int64_t, 4> strides = getIntegers(op.getStrides());
    size_t first = offsets.size() - strides.size();
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (stride != 1)
        offsets[first + dim] = 1;
    VarId part = system.create(op.getValueToStoreMutable());
    VarId whole = system.create(op.getDestMutable());
    system.bind(whole, op.getResult());
    addSlice(system, whole, part, offsets);
    system.notSplat(
        whole,
        "the result combines the elements of two vectors, which may differ");
    return success();
  }
};

struct ExtractRule {
  static LogicalResult derive(vector::ExtractOp op, ConstraintSystem &system) {
    VarId source = system.create(op.getSourceMutable());
    if (!isa<VectorType>(op.getResult().getType())) {
      system.assign(source, system.getLayouts().splat(),
                    "every thread needs the extracted element, and only the "
                    "splat layout holds all elements in every thread; store "
                    "the vector to memory, and load the element from there");
      return success();
    }
    if (!op.getDynamicPosition().empty())
      return op.emitOpError("extracts a vector at a dynamic position; only "
                            "static positions are supported");
    VarId result = system.create(op.getResult());
    system.equal(source, result,
                 "a slice must have the layout of the whole vector");
    system.divides(source, getShape(op.getSource()),
                   "a slice of a vector must consist of whole tiles");
    system.divides(source, getShape(op.getResult()),
                   "a slice of a vector must consist of whole tiles");
    system.notSplat(source, "slices of splats are not supported (nor by JAX)",
                    /*isJAXOnly=*/true);
    system.notStrided(source,
                      "slices of vectors in strided layouts are not supported");
    return success();
  }
};

/// A transfer of a window of global memory, whose elements outside of the
/// memory are masked.
template <typename OpTy> struct WindowRule {
  static LogicalResult derive(OpTy op, ConstraintSystem &system) {
    constexpr bool isLoad = std::is_same_v<OpTy, vector::TransferReadOp>;
    auto memory = dyn_cast<MemRefType>(op.getBase().getType());
    if (!memory || hasLayout(op.getBase()))
      return op.emitOpError("supports only global memory; use "
                            "'mosaic_gpu.vector_")
             << (isLoad ? "load'" : "store'");
    VectorType vector = op.getVectorType();
    if (vector.getRank() == 0)
      return op.emitOpError("has a vector of rank 0; rank 1 or higher is "
                            "required");
    if (op.getMask())
      return op.emitOpError("has a mask, which is not supported in block-level "
                            "kernels; ")
             << (isLoad ? "read without the mask, and apply the mask to the "
                          "vector with arith.select"
                        : "write without the mask: elements outside the memref "
                          "are dropped");
    if (!op.getPermutationMap().isMinorIdentity())
      return op.emitOpError("has the permutation map ")
             << op.getPermutationMapAttr()
             << ", which is not supported in block-level kernels; the vector "
                "must span the last dimensions of the memory in their order";
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memory.getStridesAndOffset(strides, offset)))
      return op.emitOpError("requires strided memory");
    VarId registers;
    if constexpr (isLoad) {
      registers = system.create(op.getResult());
      system.notSplat(registers, "the loaded elements may differ");
    } else {
      registers = system.create(op.getValueToStoreMutable());
    }
    Constraint &transfer =
        system.add(Constraint::Kind::GlobalTransfer, registers, kNoVar,
                   isLoad ? "the op loads its result from memory"
                          : "the op stores its vector operand to memory");
    transfer.type = MemRefType::get(
        vector.getShape(), memory.getElementType(),
        StridedLayoutAttr::get(
            op.getContext(), ShapedType::kDynamic,
            ArrayRef<int64_t>(strides).take_back(vector.getRank())));
    transfer.need = transfers::TransferNeed::Unoptimized;
    transfer.isLoad = isLoad;
    return success();
  }
};

} // namespace

void inference::addReduction(ConstraintSystem &system, VarId source,
                             VarId result, VectorType sourceType,
                             ArrayRef<int64_t> dims, Type resultType) {
  // Without dimensions, the result is the source.
  if (dims.empty())
    return system.equal(source, result,
                        "the op does not reduce a dimension, so source and "
                        "result must have the same layout");
  Step step{Step::Kind::Reduce, {}, {}, {}, false};
  step.source.assign(sourceType.getShape().begin(),
                     sourceType.getShape().end());
  step.numbers.assign(dims.begin(), dims.end());
  system
      .becomes(source, result, {step},
               "the layout of the result must be that of the source without "
               "the reduced dimensions")
      .type = resultType;
}

void inference::registerVectorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    attachRule<BroadcastRule, vector::BroadcastOp>(context);
    attachRule<ReductionRule, vector::ReductionOp>(context);
    attachRule<MultiReductionRule, vector::MultiDimReductionOp>(context);
    attachRule<ShapeCastRule, vector::ShapeCastOp>(context);
    attachRule<TransposeRule, vector::TransposeOp>(context);
    attachRule<BitCastRule, vector::BitCastOp>(context);
    attachRule<ExtractSliceRule, vector::ExtractStridedSliceOp>(context);
    attachRule<InsertSliceRule, vector::InsertStridedSliceOp>(context);
    attachRule<ExtractRule, vector::ExtractOp>(context);
    attachRule<WindowRule<vector::TransferReadOp>, vector::TransferReadOp>(
        context);
    attachRule<WindowRule<vector::TransferWriteOp>, vector::TransferWriteOp>(
        context);
  });
}
