//===- IterationDependence.cpp - Dependences between loop iterations ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/IterationDependence.h"

#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

/// The analysis does not look through deeper expressions.
static constexpr unsigned kDepth = 32;

//===----------------------------------------------------------------------===//
// Overflow-checked arithmetic
//===----------------------------------------------------------------------===//

using Index = std::optional<LinearIndex>;

static Index getConstant(int64_t value) {
  LinearIndex index;
  index.constant = value;
  return index;
}

/// Any number from 0 to `most`.
static Index getSpread(int64_t most) {
  LinearIndex index;
  index.spread = most;
  return index;
}

static Index multiply(const Index &index, int64_t factor) {
  if (!index)
    return std::nullopt;
  LinearIndex result;
  bool overflow =
      llvm::MulOverflow(index->constant, factor, result.constant) |
      llvm::MulOverflow(index->perIteration, factor, result.perIteration) |
      llvm::MulOverflow(index->perStep, factor, result.perStep) |
      llvm::MulOverflow(index->spread, factor, result.spread);
  for (auto [value, coefficient] : index->terms) {
    int64_t scaled;
    overflow |= llvm::MulOverflow(coefficient, factor, scaled);
    if (scaled != 0)
      result.terms.emplace_back(value, scaled);
  }
  // The range is from -spread to 0: lower the start.
  if (result.spread < 0) {
    overflow |=
        llvm::AddOverflow(result.constant, result.spread, result.constant) |
        llvm::SubOverflow<int64_t>(0, result.spread, result.spread);
  }
  if (overflow)
    return std::nullopt;
  return result;
}

static Index add(const Index &a, const Index &b) {
  if (!a || !b)
    return std::nullopt;
  LinearIndex result = *a;
  bool overflow =
      llvm::AddOverflow(a->constant, b->constant, result.constant) |
      llvm::AddOverflow(a->perIteration, b->perIteration, result.perIteration) |
      llvm::AddOverflow(a->perStep, b->perStep, result.perStep) |
      llvm::AddOverflow(a->spread, b->spread, result.spread);
  for (auto [value, coefficient] : b->terms) {
    auto *it = llvm::find_if(result.terms, [value = value](const auto &term) {
      return term.first == value;
    });
    if (it == result.terms.end()) {
      result.terms.emplace_back(value, coefficient);
      continue;
    }
    overflow |= llvm::AddOverflow(it->second, coefficient, it->second);
    if (it->second == 0)
      result.terms.erase(it);
  }
  // A sum of many terms is not useful.
  constexpr size_t mostTerms = 8;
  if (overflow || result.terms.size() > mostTerms)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

bool IterationDependence::isSameInAllIterations(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  // Thread ids and similar values are often defined in the loop.
  Operation *def = value.getDefiningOp();
  return def && def->getNumOperands() == 0 && def->getNumRegions() == 0 &&
         isMemoryEffectFree(def);
}

/// Whether every thread of a block has the same value, for all iterations of
/// the loops around this one.
bool IterationDependence::isSameInAllThreads(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && isBlockUniformSource(def))
    return true;
  for (Operation *op = value.getParentRegion()->getParentOp();
       op && !isa<FunctionOpInterface, gpu::LaunchOp>(op);
       op = op->getParentOp())
    if (op != loop && isa<LoopLikeOpInterface>(op))
      return false;
  return acrossThreads->isBlockUniform(value);
}

/// Whether the root is one buffer for all threads of a block.
bool IterationDependence::isSharedByThreads(Value root) {
  Operation *def = root.getDefiningOp();
  if (!def)
    return isSameInAllThreads(root);
  return getMemorySpace(root) == MemorySpace::Shared
             ? def->getNumOperands() == 0
             : def->hasTrait<OpTrait::ZeroOperands>() &&
                   isMemoryEffectFree(def);
}

/// A loop-invariant value, as a term.
Index IterationDependence::getTerm(Value value) {
  if (!isSameInAllIterations(value))
    return std::nullopt;
  LinearIndex index;
  if (acrossThreads && !isSameInAllThreads(value)) {
    // The value differs between threads; only its range may be known.
    auto thread = value.getDefiningOp<gpu::ThreadIdOp>();
    if (!thread)
      return std::nullopt;
    std::optional<int64_t> bound;
    if (auto stated = thread.getUpperBound())
      bound = stated->getSExtValue();
    if (auto kernel = thread->getParentOfType<gpu::GPUFuncOp>())
      if (auto size = kernel.getKnownBlockSize())
        bound = (*size)[unsigned(thread.getDimension())];
    if (!bound || *bound < 1)
      return std::nullopt;
    return getSpread(*bound - 1);
  }
  index.terms.emplace_back(value, 1);
  return index;
}

/// The induction variable of the loop, signed or unsigned as in the loop:
/// existing iterations do not overflow it.
Index IterationDependence::getInduction() {
  LinearIndex index;
  Value step = loop.getStep();
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  // Constants are sign-extended, so a negative one is a different unsigned
  // number.
  if (loop.getUnsignedCmp() && lower && *lower < 0)
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(step)) {
    if (*constant < 1)
      return std::nullopt;
    index.perIteration = *constant;
  } else {
    if (acrossThreads && !isSameInAllThreads(step))
      return std::nullopt;
    index.perStep = 1;
  }
  if (!lower)
    return add(Index(index), getTerm(loop.getLowerBound()));
  index.constant = *lower;
  return index;
}

/// A carried value to which every iteration adds the same number.
Index IterationDependence::getRecurrence(BlockArgument argument,
                                         unsigned depth) {
  auto update = loop.getTiedLoopYieldedValue(argument)
                    ->get()
                    .getDefiningOp<arith::AddIOp>();
  if (!update)
    return std::nullopt;
  Value other;
  if (update.getLhs() == argument)
    other = update.getRhs();
  else if (update.getRhs() == argument)
    other = update.getLhs();
  else
    return std::nullopt;
  Index start = getIndex(loop.getTiedLoopInit(argument)->get(), depth + 1);
  if (!start)
    return std::nullopt;
  LinearIndex perIteration;
  if (std::optional<int64_t> constant = getConstantIntValue(other))
    perIteration.perIteration = *constant;
  else if (other == loop.getStep() &&
           (!acrossThreads || isSameInAllThreads(other)))
    perIteration.perStep = 1;
  else
    return std::nullopt;
  return add(start, Index(perIteration));
}

/// The induction variable of an inner loop.
Index IterationDependence::getInnerInduction(scf::ForOp inner, unsigned depth) {
  if (inner.getUnsignedCmp())
    return std::nullopt;
  Index lower = getIndex(inner.getLowerBound(), depth + 1);
  Index upper = getIndex(inner.getUpperBound(), depth + 1);
  Index length = add(upper, multiply(lower, -1));
  if (!length || !length->terms.empty() || length->perIteration != 0 ||
      length->perStep != 0)
    return std::nullopt;
  // If the range is empty, nothing is accessed.
  int64_t most;
  if (llvm::AddOverflow(length->constant, length->spread, most))
    return std::nullopt;
  return add(lower, getSpread(std::max<int64_t>(most, 1) - 1));
}

Index IterationDependence::getIndex(Value value, unsigned depth) {
  auto it = indices.find(value);
  if (it != indices.end())
    return it->second;
  Index index = depth < kDepth ? computeIndex(value, depth) : std::nullopt;
  if (depth < kDepth)
    indices[value] = index;
  return index;
}

/// Index arithmetic wraps at 64 bits, and so do differences of indices. The
/// difference of two indices inside one memref does not wrap.
Index IterationDependence::computeIndex(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstant(*constant);
  if (!value.getType().isIndex())
    return std::nullopt;
  if (value == loop.getInductionVar())
    return getInduction();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == loop.getBody())
      return getRecurrence(argument, depth);
    auto inner =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (inner && loop->isProperAncestor(inner) &&
        argument == inner.getInductionVar())
      return getInnerInduction(inner, depth);
    return getTerm(value);
  }
  Operation *def = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return getIndex(def->getOperand(i), depth + 1);
  };
  Index index;
  if (isa<arith::AddIOp>(def)) {
    index = add(operand(0), operand(1));
  } else if (isa<arith::SubIOp>(def)) {
    index = add(operand(0), multiply(operand(1), -1));
  } else if (isa<arith::MulIOp>(def)) {
    for (unsigned i : {0, 1})
      if (auto factor = getConstantIntValue(def->getOperand(i)))
        index = multiply(operand(1 - i), *factor);
  } else if (isa<arith::ShLIOp>(def)) {
    auto amount = getConstantIntValue(def->getOperand(1));
    if (amount && *amount >= 0 && *amount < 62)
      index = multiply(operand(0), int64_t(1) << *amount);
  } else if (isa<arith::RemUIOp, arith::AndIOp>(def)) {
    auto bound = getConstantIntValue(def->getOperand(1));
    if (bound && *bound > 0)
      index = getSpread(isa<arith::AndIOp>(def) ? *bound : *bound - 1);
    // A loop-invariant term is more precise than a range.
    if (Index term = getTerm(value); term && !term->terms.empty())
      index = term;
  } else if (isa<arith::IndexCastOp>(def)) {
    index = getSignedIndex(def->getOperand(0), depth + 1);
  } else if (auto cast = dyn_cast<arith::IndexCastUIOp>(def)) {
    // The induction variable is not negative if the lower bound is not.
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    if (cast.getIn() == loop.getInductionVar() &&
        (loop.getUnsignedCmp() || (lower && *lower >= 0)))
      index = getInduction();
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
    index = getIndex(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                     apply.getAffineMap().getNumDims(), depth + 1);
  }
  return index ? index : getTerm(value);
}

/// A number of another type, sign-extended to an index.
Index IterationDependence::getSignedIndex(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstant(*constant);
  if (value == loop.getInductionVar())
    return loop.getUnsignedCmp() ? std::nullopt : getInduction();
  Operation *def = value.getDefiningOp();
  auto isExact = [&] {
    auto flags = cast<arith::ArithIntegerOverflowFlagsInterface>(def);
    return bitEnumContainsAll(flags.getOverflowAttr().getValue(),
                              arith::IntegerOverflowFlags::nsw);
  };
  if (def && depth < kDepth && isa<arith::AddIOp, arith::SubIOp>(def) &&
      isExact()) {
    Index lhs = getSignedIndex(def->getOperand(0), depth + 1);
    Index rhs = getSignedIndex(def->getOperand(1), depth + 1);
    if (Index sum = add(lhs, multiply(rhs, isa<arith::SubIOp>(def) ? -1 : 1)))
      return sum;
  }
  if (def && depth < kDepth && isa<arith::MulIOp>(def) && isExact())
    if (auto factor = getConstantIntValue(def->getOperand(1)))
      if (Index scaled =
              multiply(getSignedIndex(def->getOperand(0), depth + 1), *factor))
        return scaled;
  return getTerm(value);
}

Index IterationDependence::getIndex(AffineExpr expr, ValueRange operands,
                                    unsigned dims, unsigned depth) {
  if (depth >= kDepth)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getConstant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getIndex(operands[dim.getPosition()], depth + 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getIndex(operands[dims + symbol.getPosition()], depth + 1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(getIndex(binary.getLHS(), operands, dims, depth + 1),
               getIndex(binary.getRHS(), operands, dims, depth + 1));
  case AffineExprKind::Mul:
    if (!rhs)
      return std::nullopt;
    return multiply(getIndex(binary.getLHS(), operands, dims, depth + 1),
                    rhs.getValue());
  case AffineExprKind::Mod:
    if (!rhs || rhs.getValue() < 1)
      return std::nullopt;
    return getSpread(rhs.getValue() - 1);
  default:
    return std::nullopt;
  }
}

Index IterationDependence::getIndex(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstant(*constant);
  return getIndex(cast<Value>(value));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Whether different indices are different elements.
static bool isInjective(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  // The stride of every dimension exceeds the span of the dimensions with
  // smaller strides.
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [stride, size] : llvm::zip_equal(strides, type.getShape())) {
    if (size == 1)
      continue;
    if (ShapedType::isDynamic(stride) || stride < 1)
      return false;
    dims.emplace_back(stride, size);
  }
  llvm::sort(dims);
  int64_t span = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto [stride, size] = dims[i];
    int64_t length;
    if (stride < span)
      return false;
    if (i + 1 == dims.size())
      break;
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(stride, size - 1, length) ||
        llvm::AddOverflow(length, span, span))
      return false;
  }
  return true;
}

static IndexRange getWhole(int64_t size) {
  IndexRange range;
  range.start = getConstant(0);
  if (!ShapedType::isDynamic(size))
    range.extent = size;
  return range;
}

const AccessRegion &IterationDependence::getRegion(const MemoryAccess &access) {
  std::unique_ptr<AccessRegion> &region = regions[{access.op, access.memref}];
  if (!region)
    region = std::make_unique<AccessRegion>(computeRegion(access));
  return *region;
}

/// The accessed ranges of the memref itself. If the op does not state them,
/// they are the whole memref, or nothing if the op may exceed the memref.
static std::optional<SmallVector<IndexRange, 2>>
getRanges(const MemoryAccess &access,
          llvm::function_ref<Index(Value)> getIndex) {
  auto type = dyn_cast<MemRefType>(access.memref.getType());
  if (!type)
    return std::nullopt;
  SmallVector<IndexRange, 2> ranges =
      llvm::map_to_vector<2>(type.getShape(), getWhole);
  SmallVector<OpOperand *> uses;
  for (OpOperand &operand : access.op->getOpOperands())
    if (operand.get() == access.memref)
      uses.push_back(&operand);
  auto strided = dyn_cast<StridedAccessOpInterface>(access.op);
  // Only ops that are known to follow the shape stay inside it.
  auto transfer = dyn_cast<VectorTransferOpInterface>(access.op);
  if ((!strided && !transfer) || uses.size() != 1)
    return std::nullopt;
  if (transfer) {
    AffineMap map = transfer.getPermutationMap();
    VectorType vector = transfer.getVectorType();
    if (vector.isScalable() || isa<VectorType>(type.getElementType()))
      return ranges;
    for (auto [range, index] : llvm::zip_equal(ranges, transfer.getIndices()))
      range = {getIndex(index), 1};
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        ranges[dim.getPosition()].extent = vector.getDimSize(i);
    return ranges;
  }
  std::optional<RowAccess> row = strided.getRowAccess(*uses.front());
  // An access by address may continue after a row, outside a window.
  if (row && (row->mayCrossRows || row->isWaveWide) &&
      !type.getLayout().isIdentity())
    return std::nullopt;
  if (!row || row->mayCrossRows || row->isWaveWide ||
      row->indices.size() != ranges.size() || ranges.empty())
    return ranges;
  for (auto [range, index] : llvm::zip_equal(ranges, row->indices))
    range = {getIndex(index), 1};
  ranges.back().extent = row->elements;
  return ranges;
}

AccessRegion IterationDependence::computeRegion(const MemoryAccess &access) {
  AccessRegion region;
  auto ranges = getRanges(access, [&](Value index) { return getIndex(index); });
  if (!ranges)
    return region;
  region.anchor = access.memref;
  region.ranges = std::move(*ranges);
  // Look through views up to the memref that all iterations share.
  while (Operation *view = region.anchor.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(view)) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      region.anchor = cast.getSource();
      continue;
    }
    auto subview = dyn_cast<memref::SubViewOp>(view);
    if (!subview)
      break;
    std::optional<llvm::SmallBitVector> dropped = findDroppedDims(subview);
    if (!dropped)
      break;
    SmallVector<IndexRange, 2> sourceRanges;
    unsigned next = 0;
    for (auto [i, offset] : llvm::enumerate(subview.getMixedOffsets())) {
      Index start = getIndex(offset);
      if (dropped->test(i)) {
        sourceRanges.push_back({start, 1});
        continue;
      }
      IndexRange range = region.ranges[next++];
      auto stride = getConstantIntValue(subview.getMixedStrides()[i]);
      IndexRange result;
      if (stride && *stride > 0) {
        result.start = add(start, multiply(range.start, *stride));
        int64_t extent;
        if (range.extent && *range.extent > 0 &&
            !llvm::MulOverflow(*range.extent - 1, *stride, extent))
          result.extent = extent + 1;
        else if (range.extent && *range.extent == 0)
          result.extent = 0;
      }
      sourceRanges.push_back(std::move(result));
    }
    region.ranges = std::move(sourceRanges);
    region.anchor = subview.getSource();
  }
  findRoot(region, access.root);
  // The indices of a memref that differs between iterations cannot be compared.
  auto type = dyn_cast<MemRefType>(region.anchor.getType());
  if (!type || !loop.isDefinedOutsideOfLoop(region.anchor) ||
      !isInjective(type) || (acrossThreads && region.anchor != access.root))
    region.anchor = {};
  return region;
}

/// The range of elements of the root from the first to the last accessed one.
void IterationDependence::findRoot(AccessRegion &region, Value root) {
  auto type = dyn_cast<MemRefType>(region.anchor.getType());
  auto rootType = dyn_cast<MemRefType>(root.getType());
  if (!type || !rootType || type.getElementType() != rootType.getElementType())
    return;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  Index start;
  if (region.anchor == root) {
    if (ShapedType::isDynamic(offset))
      return;
    start = getConstant(offset);
  } else {
    auto cast = region.anchor.getDefiningOp<memref::ReinterpretCastOp>();
    if (!cast || cast.getSource() != root)
      return;
    start = getIndex(cast.getMixedOffsets().front());
  }
  int64_t extent = 1;
  for (auto [range, stride] : llvm::zip_equal(region.ranges, strides)) {
    int64_t length;
    if (ShapedType::isDynamic(stride) || stride < 0 || !range.extent ||
        *range.extent < 1 ||
        llvm::MulOverflow(*range.extent - 1, stride, length) ||
        llvm::AddOverflow(extent, length, extent))
      return;
    start = add(start, multiply(range.start, stride));
  }
  region.flat = {start, extent};
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

bool IterationDependence::areDisjoint(const IndexRange &a, const IndexRange &b,
                                      int64_t distance) {
  if (!a.start || !b.start || !a.extent || !b.extent)
    return false;
  Index difference = add(b.start, multiply(a.start, -1));
  // Multiplying by -1 reversed the spread of `a`, so the difference begins at
  // `constant`.
  if (!difference || difference->perIteration != 0 || difference->perStep != 0)
    return false;
  // b.start advances by `distance` iterations; a step is at least 1.
  int64_t first, last, bySteps;
  if (llvm::MulOverflow(b.start->perIteration, distance, first) ||
      llvm::MulOverflow(b.start->perStep, distance, bySteps))
    return false;
  for (auto [value, coefficient] : difference->terms)
    if (value != loop.getStep() ||
        llvm::AddOverflow(bySteps, coefficient, bySteps))
      return false;
  if (llvm::AddOverflow(first, difference->constant, first) ||
      llvm::AddOverflow(first, bySteps, first) ||
      llvm::AddOverflow(first, difference->spread, last) ||
      llvm::AddOverflow(last, *b.extent, last))
    return false;
  return (first >= *a.extent && bySteps >= 0) || (last <= 0 && bySteps <= 0);
}

bool IterationDependence::mayTouchSame(const MemoryAccess &a,
                                       const MemoryAccess &b,
                                       int64_t distance) {
  // Indices into memory that differs between iterations or threads cannot be
  // compared.
  if (a.root != b.root || !loop.isDefinedOutsideOfLoop(a.root) ||
      (acrossThreads && !isSharedByThreads(a.root)))
    return true;
  const AccessRegion &regionA = getRegion(a), &regionB = getRegion(b);
  if (areDisjoint(regionA.flat, regionB.flat, distance))
    return false;
  if (!regionA.anchor || regionA.anchor != regionB.anchor)
    return true;
  for (auto [rangeA, rangeB] : llvm::zip_equal(regionA.ranges, regionB.ranges))
    if (areDisjoint(rangeA, rangeB, distance))
      return false;
  return true;
}
