//===- LowerVectors.cpp - smalti-lower-vectors ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/PadLowering/TransferMasks.h"
#include "smalti/passes/Support/CarriedValues.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTILOWERVECTORS
#define GEN_PASS_DEF_SMALTILOWERVECTORS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

namespace {
/// A transfer of several rows, or of elements that are not contiguous, as
/// transfers of one row each or as scalar accesses.
class UnrolledTransfer {
public:
  /// Whether upstream's patterns do not support the transfer.
  static bool isNeeded(VectorTransferOpInterface op);

  UnrolledTransfer(RewriterBase &rewriter, VectorTransferOpInterface op)
      : rewriter(rewriter), op(op), loc(op.getLoc()), type(op.getVectorType()),
        map(op.getPermutationMap()), mask(op.getMask()),
        accessesRows(hasRows(op)) {}

  void run();

private:
  static bool hasRows(VectorTransferOpInterface op);

  SmallVector<Value> getIndices(ArrayRef<int64_t> position, Value &condition);
  SmallVector<int64_t> getMaskPosition(ArrayRef<int64_t> position) const;
  void writePart(Value part, ValueRange indices, Value partMask);
  Value readPart(Type partType, ValueRange indices, Value partMask);
  Value under(Value condition, Value otherwise, function_ref<Value()> create);

  RewriterBase &rewriter;
  VectorTransferOpInterface op;
  Location loc;
  VectorType type;
  AffineMap map;
  Value mask;
  bool accessesRows;
};
} // namespace

bool UnrolledTransfer::hasRows(VectorTransferOpInterface op) {
  auto memory = cast<MemRefType>(op.getBase().getType());
  AffineMap map = op.getPermutationMap();
  auto last = map.getNumResults() == 0
                  ? AffineDimExpr(nullptr)
                  : dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && last.getPosition() + 1 == memory.getRank() &&
         memory.isLastDimUnitStride();
}

bool UnrolledTransfer::isNeeded(VectorTransferOpInterface op) {
  auto memory = dyn_cast<MemRefType>(op.getBase().getType());
  VectorType type = op.getVectorType();
  // Upstream's verifier does not compare the element types.
  return memory && memory.getElementType() == type.getElementType() &&
         !type.isScalable() && type.getRank() > 0 &&
         (type.getRank() > 1 || !hasRows(op));
}

/// The memory indices of the part at this position of the vector, and the
/// condition under which it is in bounds (null: always), except along its row.
SmallVector<Value> UnrolledTransfer::getIndices(ArrayRef<int64_t> position,
                                                Value &condition) {
  SmallVector<Value> indices = op.getIndices();
  for (auto [dim, at] : llvm::enumerate(position)) {
    auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!expr)
      continue; // The same element for all.
    Value &index = indices[expr.getPosition()];
    if (at != 0)
      index = arith::AddIOp::create(
          rewriter, loc, index,
          arith::ConstantIndexOp::create(rewriter, loc, at));
    if (op.isDimInBounds(dim))
      continue;
    Value size =
        memref::DimOp::create(rewriter, loc, op.getBase(), expr.getPosition());
    Value isInside = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::slt, index, size);
    condition = condition
                    ? arith::AndIOp::create(rewriter, loc, condition, isInside)
                    : isInside;
  }
  return indices;
}

/// The dimensions of a mask are in the order of the memref's.
SmallVector<int64_t>
UnrolledTransfer::getMaskPosition(ArrayRef<int64_t> position) const {
  SmallVector<std::pair<unsigned, int64_t>> dims;
  for (auto [dim, at] : llvm::enumerate(position))
    if (auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim)))
      dims.emplace_back(expr.getPosition(), at);
  llvm::sort(dims);
  return llvm::to_vector(llvm::make_second_range(dims));
}

Value UnrolledTransfer::under(Value condition, Value otherwise,
                              function_ref<Value()> create) {
  if (!condition)
    return create();
  SmallVector<Type, 1> types;
  if (otherwise)
    types.push_back(otherwise.getType());
  auto branch = scf::IfOp::create(rewriter, loc, types, condition,
                                  /*withElseRegion=*/otherwise != nullptr);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  Value value = create();
  if (!otherwise)
    return {};
  scf::YieldOp::create(rewriter, loc, value);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, otherwise);
  return branch.getResult(0);
}

Value UnrolledTransfer::readPart(Type partType, ValueRange indices,
                                 Value partMask) {
  if (!accessesRows)
    return memref::LoadOp::create(rewriter, loc, op.getBase(), indices);
  auto read = cast<vector::TransferReadOp>(*op);
  auto memory = cast<MemRefType>(op.getBase().getType());
  return vector::TransferReadOp::create(
      rewriter, loc, cast<VectorType>(partType), op.getBase(), indices,
      AffineMapAttr::get(AffineMap::getMinorIdentityMap(memory.getRank(), 1,
                                                        rewriter.getContext())),
      read.getPadding(), partMask,
      rewriter.getBoolArrayAttr({op.isDimInBounds(type.getRank() - 1)}));
}

void UnrolledTransfer::writePart(Value part, ValueRange indices,
                                 Value partMask) {
  if (!accessesRows) {
    memref::StoreOp::create(rewriter, loc, part, op.getBase(), indices);
    return;
  }
  auto memory = cast<MemRefType>(op.getBase().getType());
  vector::TransferWriteOp::create(
      rewriter, loc, /*result=*/Type(), part, op.getBase(), indices,
      AffineMapAttr::get(AffineMap::getMinorIdentityMap(memory.getRank(), 1,
                                                        rewriter.getContext())),
      partMask,
      rewriter.getBoolArrayAttr({op.isDimInBounds(type.getRank() - 1)}));
}

void UnrolledTransfer::run() {
  rewriter.setInsertionPoint(op);
  auto read = dyn_cast<vector::TransferReadOp>(*op);
  ArrayRef<int64_t> outer = type.getShape().drop_back(accessesRows ? 1 : 0);
  Type partType =
      accessesRows
          ? Type(VectorType::get(type.getShape().back(), type.getElementType()))
          : type.getElementType();
  Value result, padding;
  if (read) {
    result = arith::ConstantOp::create(rewriter, loc, type,
                                       rewriter.getZeroAttr(type));
    padding = read.getPadding();
    if (accessesRows)
      padding = vector::BroadcastOp::create(rewriter, loc, partType, padding);
  }
  SmallVector<int64_t> strides = computeStrides(outer);
  for (int64_t i = 0, count = computeProduct(outer); i < count; ++i) {
    SmallVector<int64_t> position = delinearize(i, strides);
    Value condition;
    SmallVector<Value> indices = getIndices(position, condition);
    Value partMask = mask;
    SmallVector<int64_t> at = getMaskPosition(position);
    // If all dimensions are broadcast, the mask is a vector of one bit.
    if (at.empty() && !accessesRows)
      at.push_back(0);
    if (mask && !at.empty())
      partMask = vector::ExtractOp::create(rewriter, loc, mask, at);
    if (partMask && !accessesRows) {
      condition =
          condition ? arith::AndIOp::create(rewriter, loc, condition, partMask)
                    : partMask;
      partMask = {};
    }
    if (read) {
      Value part = under(condition, padding,
                         [&] { return readPart(partType, indices, partMask); });
      result = vector::InsertOp::create(rewriter, loc, part, result, position);
      continue;
    }
    Value part =
        vector::ExtractOp::create(rewriter, loc, op.getVector(), position);
    under(condition, /*otherwise=*/{}, [&] {
      writePart(part, indices, partMask);
      return Value();
    });
  }
  if (read)
    rewriter.replaceOp(op, result);
  else
    rewriter.eraseOp(op);
}

/// Upstream's lowering of `vector.mask` does not support lanes of another
/// vector, and that of transfers does not support several rows.
static void lowerTransfers(Operation *root) {
  SmallVector<VectorTransferOpInterface> masked, unrolled;
  root->walk([&](VectorTransferOpInterface op) {
    bool isUnrolled = UnrolledTransfer::isNeeded(op);
    if (isMaskedTransfer(op) && (isUnrolled || hasPassthru(op)) &&
        (op.getPermutationMap().isMinorIdentity() || !hasPassthru(op)))
      masked.push_back(op);
    if (isUnrolled &&
        (op.getPermutationMap().isMinorIdentity() || !hasPassthru(op)))
      unrolled.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (VectorTransferOpInterface op : masked)
    takeOutOfMask(rewriter, op);
  for (VectorTransferOpInterface op : unrolled)
    UnrolledTransfer(rewriter, op).run();
}

//===----------------------------------------------------------------------===//
// Loop-carried vectors
//===----------------------------------------------------------------------===//

/// The elements that a loop yields for a carried pair of f32 of which the body
/// only reads elements; otherwise empty.
static ValueRange getCarriedElements(scf::ForOp loop, unsigned number) {
  auto yielded =
      loop.getYieldedValues()[number].getDefiningOp<vector::FromElementsOp>();
  bool areElements = llvm::all_of(
      loop.getRegionIterArg(number).getUsers(), [](Operation *user) {
        auto extract = dyn_cast<vector::ExtractOp>(user);
        return extract && !isa<VectorType>(extract.getType()) &&
               !extract.hasDynamicPosition();
      });
  return yielded && yielded.getType().getRank() == 1 &&
                 yielded.getType().getElementType().isF32() &&
                 yielded.getType().getNumElements() == 2 && areElements
             ? ValueRange(yielded.getElements())
             : ValueRange();
}

/// Loops carry the accumulators of MMAs as scalars. LLVM has pairs of f32 in
/// 64-bit registers on some NVIDIA chips, and ptxas does not remove all moves
/// between these and the registers of the MMAs.
static void splitCarriedVectors(scf::ForOp loop) {
  SmallVector<unsigned> numbers;
  SmallVector<Value> inits, yielded;
  OpBuilder builder(loop);
  for (unsigned i = 0, e = loop.getNumResults(); i < e; ++i) {
    ValueRange elements = getCarriedElements(loop, i);
    if (elements.empty())
      continue;
    numbers.push_back(i);
    llvm::append_range(yielded, elements);
    for (int64_t at = 0, count = elements.size(); at < count; ++at)
      inits.push_back(vector::ExtractOp::create(builder, loop.getLoc(),
                                                loop.getInitArgs()[i], at));
  }
  if (numbers.empty())
    return;
  unsigned first = loop.getNumResults();
  IRRewriter rewriter(builder);
  scf::ForOp result = addCarriedValues(
      rewriter, loop, inits,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return yielded; });
  rewriter.setInsertionPointAfter(result);
  for (unsigned number : numbers) {
    BlockArgument argument = result.getRegionIterArg(number);
    auto type = cast<VectorType>(argument.getType());
    unsigned count = type.getNumElements();
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      auto extract = cast<vector::ExtractOp>(user);
      rewriter.replaceOp(
          extract,
          result.getRegionIterArg(first + extract.getStaticPosition().front()));
    }
    // The vector is invariant and unused.
    result.getBody()->getTerminator()->setOperand(number, argument);
    Value whole =
        vector::FromElementsOp::create(rewriter, result.getLoc(), type,
                                       result.getResults().slice(first, count));
    result.getResult(number).replaceAllUsesWith(whole);
    first += count;
  }
}

namespace {
/// A broadcast without repetition, which upstream's lowering creates and leaves
/// to folding. Without folding, it would use the first element for all.
struct IdentityBroadcast : OpRewritePattern<vector::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSourceType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

/// Upstream treats the distance of an element from the start of its memref as
/// unsigned (`inbounds nuw`), which is wrong for negative strides. The accessed
/// element becomes a one-element memref with the distance as its offset.
template <typename Op> struct SignedStrideAccess : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::all_of(strides, [](int64_t stride) {
          return !ShapedType::isDynamic(stride) && stride >= 0;
        }))
      return failure();
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(op.getIndices()),
                              ones(strides.size(), rewriter.getIndexAttr(1));
    MemRefType element = memref::SubViewOp::inferRankReducedResultType(
        {}, type, offsets, ones, ones);
    Value view = memref::SubViewOp::create(rewriter, op.getLoc(), element,
                                           op.getMemref(), offsets, ones, ones);
    rewriter.modifyOpInPlace(op, [&] {
      op.getMemrefMutable().assign(view);
      op.getIndicesMutable().clear();
    });
    return success();
  }
};

/// LLVM does not have an atomic instruction that multiplies, or one on i1: the
/// op becomes a loop that compares and exchanges.
struct AtomicLoop : OpRewritePattern<memref::AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    bool multiplies = op.getKind() == arith::AtomicRMWKind::mulf ||
                      op.getKind() == arith::AtomicRMWKind::muli;
    unsigned bits = op.getType().getIntOrFloatBitWidth();
    // smalti-lower-packed-accesses refuses other narrow elements.
    if (bits != 1 && (bits < 8 || !multiplies))
      return failure();
    Location loc = op.getLoc();
    auto loop = memref::GenericAtomicRMWOp::create(
        rewriter, loc, op.getMemref(), op.getIndices());
    rewriter.setInsertionPointToEnd(loop.getBody());
    Value updated =
        op.getKind() == arith::AtomicRMWKind::assign
            ? op.getValue()
            : arith::getReductionOp(op.getKind(), rewriter, loc,
                                    loop.getCurrentValue(), op.getValue());
    memref::AtomicYieldOp::create(rewriter, loc, updated);
    rewriter.replaceOp(op, loop.getResult());
    return success();
  }
};

/// Upstream compares and exchanges floats and i1, but LLVM only integers of
/// whole bytes. The descriptors of both memrefs are equal, so the cast
/// disappears after the conversion.
struct AtomicOnIntegers : OpRewritePattern<memref::GenericAtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::GenericAtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    Type element = type.getElementType();
    bool isBool = element.isInteger(1);
    if (!isa<FloatType>(element) && !isBool)
      return failure();
    Location loc = op.getLoc();
    Type code =
        rewriter.getIntegerType(isBool ? 8 : element.getIntOrFloatBitWidth());
    MemRefType integers = MemRefType::Builder(type).setElementType(code);
    Value memref = UnrealizedConversionCastOp::create(rewriter, loc, integers,
                                                      op.getMemref())
                       .getResult(0);
    auto decode = [&](Value bits) {
      bits.setType(code);
      Operation *value =
          isBool ? arith::TruncIOp::create(rewriter, loc, element, bits)
                       .getOperation()
                 : arith::BitcastOp::create(rewriter, loc, element, bits);
      rewriter.replaceAllUsesExcept(bits, value->getResult(0), value);
    };
    auto encode = [&](Value value) -> Value {
      if (isBool)
        return arith::ExtUIOp::create(rewriter, loc, code, value);
      return arith::BitcastOp::create(rewriter, loc, code, value);
    };
    rewriter.modifyOpInPlace(op, [&] {
      op.getMemrefMutable().assign(memref);
      rewriter.setInsertionPointToStart(op.getBody());
      decode(op.getCurrentValue());
      auto yield = cast<memref::AtomicYieldOp>(op.getBody()->getTerminator());
      rewriter.setInsertionPoint(yield);
      yield.getResultMutable().assign(encode(yield.getResult()));
      rewriter.setInsertionPointAfter(op);
      decode(op.getResult());
    });
    return success();
  }
};

/// An element-wise op on one narrow integer becomes a scalar op. LLVM's AMDGPU
/// backend combines some ops on one-element vectors in an infinite loop. Other
/// types remain vectors, since scalar floats and conditions increase the
/// register pressure of attention on gfx1100.
struct OneElementOp : RewritePattern {
  explicit OneElementOp(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto isOneElement = [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector && vector.getRank() == 1 && !vector.isScalable() &&
             vector.getNumElements() == 1;
    };
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        op->getNumResults() != 1 || !isOneElement(op->getResult(0).getType()))
      return failure();
    auto isNarrow = [](Type type) {
      auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
      return integer && integer.getWidth() > 1 && integer.getWidth() < 32;
    };
    if (llvm::none_of(op->getResultTypes(), isNarrow) &&
        llvm::none_of(op->getOperandTypes(), isNarrow))
      return failure();
    auto type = cast<VectorType>(op->getResult(0).getType());
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          isOneElement(operand.getType())
              ? vector::ExtractOp::create(rewriter, loc, operand, 0).getResult()
              : operand);
    Operation *scalar =
        rewriter.create(loc, op->getName().getIdentifier(), operands,
                        type.getElementType(), op->getAttrs());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, type,
                                                     scalar->getResult(0));
    return success();
  }
};

struct SmaltiLowerVectors
    : smalti::impl::SmaltiLowerVectorsBase<SmaltiLowerVectors> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<const targets::Target *> named = findTarget(getOperation(), "");
    if (failed(named))
      return signalPassFailure();
    const targets::Target *chip =
        *named && (*named)->isGPU()
            ? *named
            : *llvm::max_element(targets::all(), [](auto *a, auto *b) {
                return a->registersPerThread < b->registersPerThread;
              });
    if (failed(checkVectors(getOperation(), *chip, /*threads=*/1)))
      return signalPassFailure();
    // The patterns check the upper bound only.
    if (failed(maskLanesBeforeMemRef(getOperation(), "smalti-lower-vectors")))
      return signalPassFailure();
    lowerTransfers(getOperation());
    getOperation()->walk([](scf::ForOp loop) { splitCarriedVectors(loop); });
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorMaskMaterializationPatterns(
        patterns, /*force32BitVectorIndices=*/false);
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    patterns.add<IdentityBroadcast>(&getContext(), PatternBenefit(2));
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(
        patterns, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    // Shape casts become slices of rows.
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    patterns.add<AtomicLoop, AtomicOnIntegers, OneElementOp>(&getContext());
    patterns.add<SignedStrideAccess<memref::LoadOp>,
                 SignedStrideAccess<memref::StoreOp>,
                 SignedStrideAccess<memref::AtomicRMWOp>,
                 SignedStrideAccess<memref::GenericAtomicRMWOp>>(&getContext());
    // Only ops without a lowering change; LLVM simplifies the rest.
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
