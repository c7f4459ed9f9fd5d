//===- ConvFilterLayout.cpp - smalti-conv-filter-layout -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/PadLowering/ConvolutionLoops.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/passes/Support/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICONVFILTERLAYOUT
#define GEN_PASS_DEF_SMALTICONVFILTERLAYOUT
#include "smalti/passes/PadLowering/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName = "smalti-conv-filter-layout";

namespace {

struct FilterPlan {
  linalg::LinalgOp op;
  /// Dimension i of the new filter is dimension permutation[i] of the old one.
  SmallVector<int64_t> permutation;
  /// The new filter if it is a constant.
  DenseElementsAttr constant;
  /// The op that defines the old filter, if it is a transpose; the new filter
  /// is created from its operand. Values are not stored, since their defining
  /// convolution may be replaced.
  linalg::TransposeOp transpose;
  /// The permutation from the source of the new filter.
  SmallVector<int64_t> sourcePermutation;
};

} // namespace

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

static OpOperand *getFilter(linalg::LinalgOp op) {
  return op.getDpsInputOperand(1);
}

/// Permutes the elements; null if that is not supported.
static DenseElementsAttr transposeConstant(DenseElementsAttr elements,
                                           ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(elements.getType());
  auto newType =
      RankedTensorType::get(applyPermutation(type.getShape(), permutation),
                            type.getElementType(), type.getEncoding());
  if (elements.isSplat())
    return elements.resizeSplat(newType);
  Type element = type.getElementType();
  // Only elements of whole bytes; i1 is packed.
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  ArrayRef<char> data = elements.getRawData();
  size_t count = size_t(type.getNumElements());
  if (count == 0 || data.size() % count != 0)
    return {};
  size_t bytes = data.size() / count;
  SmallVector<int64_t> newStrides =
      applyPermutation(computeStrides(type.getShape()), permutation);
  std::vector<char> newData(data.size());
  SmallVector<int64_t> position(permutation.size(), 0);
  int64_t from = 0;
  for (size_t to = 0; to < count; ++to) {
    std::copy_n(data.data() + size_t(from) * bytes, bytes,
                newData.data() + to * bytes);
    for (size_t dim = position.size(); dim-- > 0;) {
      from += newStrides[dim];
      if (++position[dim] < newType.getDimSize(dim))
        break;
      from -= newStrides[dim] * position[dim];
      position[dim] = 0;
    }
  }
  return DenseElementsAttr::getFromRawBuffer(newType, newData);
}

/// The number of uses of each filter element, or std::nullopt if it is dynamic.
static std::optional<int64_t> countUses(linalg::LinalgOp op,
                                        const ConvolutionLoops &loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t uses = 1;
  for (ArrayRef<unsigned> kind :
       {ArrayRef<unsigned>(loops.batch), ArrayRef<unsigned>(loops.image)})
    for (unsigned loop : kind)
      if (ShapedType::isDynamic(sizes[loop]) ||
          llvm::MulOverflow(uses, sizes[loop], uses))
        return std::nullopt;
  return uses;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Fills in the plan. Its permutation is empty if the filter already has the
/// layout. Returns a reason if the layout cannot be changed.
static std::optional<std::string> planFilter(FilterPlan &plan,
                                             const ConvolutionLoops &loops,
                                             FilterLayout layout,
                                             int64_t minUses) {
  linalg::LinalgOp op = plan.op;
  if (!op.hasPureTensorSemantics())
    return std::string("the operands of the convolution are memrefs; run the "
                       "pass before bufferization");
  if (loops.outputChannels.empty() || loops.inputChannels.empty())
    return std::string(
               "the convolution is depthwise: its filter does not have ") +
           (loops.inputChannels.empty() ? "input" : "output") + " channels";
  Value filter = getFilter(op)->get();
  auto type = cast<RankedTensorType>(filter.getType());
  if (type.getEncoding())
    return "the filter type " + describe(type) +
           " has an encoding; use a tensor without an encoding";

  // Groups are outermost in both layouts, input channels innermost. Dimensions
  // of one kind keep their order.
  AffineMap map = op.getMatchingIndexingMap(getFilter(op));
  bool windowFirst = layout == FilterLayout::HWFC;
  for (ArrayRef<unsigned> kind :
       {ArrayRef<unsigned>(loops.groups),
        ArrayRef<unsigned>(windowFirst ? loops.window : loops.outputChannels),
        ArrayRef<unsigned>(windowFirst ? loops.outputChannels : loops.window),
        ArrayRef<unsigned>(loops.inputChannels)})
    for (unsigned dim = 0, e = map.getNumResults(); dim < e; ++dim)
      if (llvm::is_contained(kind, map.getDimPosition(dim)))
        plan.permutation.push_back(dim);
  if (isIdentityPermutation(plan.permutation)) {
    plan.permutation.clear();
    return std::nullopt;
  }

  DenseElementsAttr elements;
  if (matchPattern(filter, m_Constant(&elements)))
    plan.constant = transposeConstant(elements, plan.permutation);
  if (plan.constant)
    return std::nullopt;
  plan.sourcePermutation = plan.permutation;
  // Two transposes fold into one or none.
  plan.transpose = filter.getDefiningOp<linalg::TransposeOp>();
  if (plan.transpose) {
    plan.sourcePermutation =
        applyPermutation(plan.transpose.getPermutation(), plan.permutation);
    return std::nullopt;
  }
  if (std::optional<int64_t> uses = countUses(op, loops);
      uses && *uses < minUses)
    return "the filter is not a constant, so it would be transposed at run "
           "time; the convolution uses each element " +
           std::to_string(*uses) +
           " times, and the option 'min-uses' requires " +
           std::to_string(minUses);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The new convolution
//===----------------------------------------------------------------------===//

static Value createFilter(RewriterBase &rewriter, const FilterPlan &plan) {
  linalg::LinalgOp op = plan.op;
  Location loc = getFilter(op)->get().getLoc();
  if (plan.constant)
    return arith::ConstantOp::create(rewriter, loc, plan.constant);
  linalg::TransposeOp transpose = plan.transpose;
  Value source = transpose ? transpose.getInput() : getFilter(op)->get();
  if (isIdentityPermutation(plan.sourcePermutation))
    return source;
  SmallVector<OpFoldResult> sizes = applyPermutation(
      tensor::getMixedSizes(rewriter, loc, source), plan.sourcePermutation);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(source.getType()));
  return linalg::TransposeOp::create(rewriter, loc, source, empty,
                                     plan.sourcePermutation)
      ->getResult(0);
}

/// Copies discardable attributes, except for upstream's memoized indexing maps,
/// which are those of the old layout.
static void copyAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (attribute.getName() !=
        linalg::LinalgDialect::kMemoizedIndexingMapsAttrName)
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Replaces the op by the named op for the new layout, if one exists.
template <typename From, typename To>
static bool replaceNamed(RewriterBase &rewriter, linalg::LinalgOp op,
                         Value filter) {
  auto from = dyn_cast<From>(op.getOperation());
  if (!from)
    return false;
  SmallVector<Value> inputs = from.getInputs();
  inputs[1] = filter;
  auto to = To::create(rewriter, op.getLoc(), op->getResultTypes(), inputs,
                       from.getOutputs(), from.getStridesAttr(),
                       from.getDilationsAttr());
  copyAttributes(op, to);
  rewriter.replaceOp(op, to);
  return true;
}

static void commitFilter(RewriterBase &rewriter, const FilterPlan &plan,
                         FilterLayout layout) {
  linalg::LinalgOp op = plan.op;
  rewriter.setInsertionPoint(op);
  Value filter = createFilter(rewriter, plan);
  if (layout == FilterLayout::FHWC &&
      (replaceNamed<linalg::Conv2DNhwcHwcfOp, linalg::Conv2DNhwcFhwcOp>(
           rewriter, op, filter) ||
       replaceNamed<linalg::Conv2DNhwcHwcfQOp, linalg::Conv2DNhwcFhwcQOp>(
           rewriter, op, filter)))
    return;

  // The loop order is kept, so results are bit-identical.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[getFilter(op)->getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                       applyPermutation(map.getResults(), plan.permutation),
                       map.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[1] = filter;
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      maps, op.getIteratorTypesArray());
  copyAttributes(op, generic);
  rewriter.inlineRegionBefore(op->getRegion(0), generic.getRegion(),
                              generic.getRegion().begin());
  rewriter.replaceOp(op, generic);
}

namespace {

struct SmaltiConvFilterLayout
    : smalti::impl::SmaltiConvFilterLayoutBase<SmaltiConvFilterLayout> {
  using SmaltiConvFilterLayoutBase::SmaltiConvFilterLayoutBase;
  void runOnOperation() override;
};

} // namespace

void SmaltiConvFilterLayout::runOnOperation() {
  Operation *function = getOperation();
  FilterLayout layout = filterLayout;
  StringRef layoutName = layout == FilterLayout::FHWC ? "fhwc" : "hwfc";

  bool missed = false;
  std::vector<FilterPlan> plans;
  function->walk([&](linalg::LinalgOp op) {
    std::string why;
    std::optional<ConvolutionLoops> loops = findConvolutionLoops(op, why);
    FilterPlan plan{op, {}, {}, {}, {}};
    if (loops)
      why = planFilter(plan, *loops, layout, minUses).value_or("");
    if (!why.empty())
      missed |= failed(reportMissed(op, kPassName, strict,
                                    "filter layout not changed: " + why));
    else if (!loops)
      return;
    else if (plan.permutation.empty())
      remarkAnalysis(op, kPassName)
          << "filter layout not changed: it is already " << layoutName;
    else
      plans.push_back(std::move(plan));
  });
  if (missed)
    return signalPassFailure();

  IRRewriter rewriter(&getContext());
  for (const FilterPlan &plan : plans) {
    std::string permutation;
    llvm::raw_string_ostream stream(permutation);
    llvm::interleaveComma(plan.permutation, stream);
    remarkApplied(plan.op, kPassName)
        << "filter layout changed to " << layoutName << ": permutation ["
        << permutation << "]"
        << (plan.constant ? ", applied to the constant"
            : isIdentityPermutation(plan.sourcePermutation)
                ? ", which cancels an existing transpose"
                : "");
    commitFilter(rewriter, plan, layout);
  }
}
