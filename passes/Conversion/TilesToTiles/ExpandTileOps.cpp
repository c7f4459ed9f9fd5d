//===- ExpandTileOps.cpp - smalti-expand-tile-ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites derived ops of the tile level to primitive ones. The pass first
// finds all ops (plan); the functions that expand an op cannot fail.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/TilesToTiles/ExpandTileOps.h"

#include "smalti/passes/Analysis/Integers/IntegerRanges.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/IndexChecks.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/SmallFloats.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTIEXPANDTILEOPS
#define GEN_PASS_DEF_SMALTIEXPANDTILEOPS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

static constexpr llvm::StringLiteral kPassName = "smalti-expand-tile-ops";

/// The ops that the pass expands unless `keep` has them; of dots, those that
/// are not primitive. `num_tiles` is always expanded, since the grid changes.
static constexpr llvm::StringLiteral kDerived[] = {
    "squeeze_dims", "split",      "sort", "random_bits",
    "dot_scaled",   "sparse_dot", "dot",  "ipowi"};

static std::optional<int64_t> getDimension(memref::DimOp op) {
  std::optional<int64_t> number = op.getConstantIndex();
  auto type = cast<MemRefType>(op.getSource().getType());
  return number && *number >= 0 && *number < type.getRank() ? number
                                                            : std::nullopt;
}

bool smalti::isDerivedOnGPU(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return !getDimension(dim);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return !extract.getIndices().empty();
  return false;
}

/// The number of tiles in a dimension of the grid.
static Value createTileCount(ImplicitLocOpBuilder &b, EntryFuncOp func,
                             ArrayRef<TileFactor> factors) {
  Value count;
  for (const TileFactor &factor : factors) {
    Value size;
    if (factor.argument < 0) {
      size = arith::ConstantIndexOp::create(b, factor.number);
    } else {
      size = func.getBody().getArgument(factor.argument);
      if (factor.dimension >= 0)
        size = memref::DimOp::create(
            b, size, arith::ConstantIndexOp::create(b, factor.dimension));
      else if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      if (factor.number != 1)
        size = arith::CeilDivUIOp::create(
            b, size, arith::ConstantIndexOp::create(b, factor.number));
    }
    count = count ? arith::MulIOp::create(b, count, size).getResult() : size;
  }
  return count;
}

/// One `scf.if` for each case, as a tree: passes recurse into nested regions.
/// The regions move into the branches. The default follows the last case.
static SmallVector<Value> expandSwitch(TileBuilder &b, scf::IndexSwitchOp op,
                                       unsigned first, unsigned last) {
  if (last - first == 1) {
    Region &region = first == op.getNumCases() ? op.getDefaultRegion()
                                               : op.getCaseRegions()[first];
    Block &block = region.front();
    Operation *yield = block.getTerminator();
    SmallVector<Value> values(yield->getOperands());
    yield->erase();
    b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                  block.getOperations());
    return values;
  }
  unsigned middle = first + (last - first) / 2;
  Value matches;
  for (int64_t number : op.getCases().slice(first, middle - first)) {
    Value wanted = arith::ConstantIndexOp::create(b, number);
    Value isEqual =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, op.getArg(), wanted);
    matches = matches ? arith::OrIOp::create(b, matches, isEqual).getResult()
                      : isEqual;
  }
  auto branch = scf::IfOp::create(b, op.getResultTypes(), matches,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *block, unsigned from, unsigned to) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    SmallVector<Value> values = expandSwitch(b, op, from, to);
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, values);
  };
  fill(branch.thenBlock(), first, middle);
  fill(branch.elseBlock(), middle, last);
  return SmallVector<Value>(branch.getResults());
}

namespace {

struct SmaltiExpandTileOps
    : smalti::impl::SmaltiExpandTileOpsBase<SmaltiExpandTileOps> {
  using SmaltiExpandTileOpsBase::SmaltiExpandTileOpsBase;
  void runOnOperation() override;

private:
  /// An index of an op, and its bound.
  struct Index {
    Operation *op;
    Value index;
    int64_t dim;
    int64_t size;
    /// The memref whose dynamic size is the bound, or null.
    Value memref;
  };

  SmallVector<Operation *> plan();
  SmallVector<Index> planChecks();
  bool isKept(Operation *op) const;
  void expand(Operation *op);
  void linearizeGrid(EntryFuncOp func);

  /// The target, or null.
  const targets::Target *chip = nullptr;
};

} // namespace

/// Whether the algorithm of a dot has a single part in the type of its
/// operands.
static bool isSingle(DotAlgorithm algorithm) {
  return algorithm == DotAlgorithm::Default ||
         algorithm == DotAlgorithm::TF32 || algorithm == DotAlgorithm::IEEE;
}

/// Whether GPUs of the target can execute external code.
static bool hasCode(const ExternalCode &code, const targets::Target &chip) {
  return chip.vendor == (code.vendor == GPUVendor::NVIDIA
                             ? targets::Vendor::NVIDIA
                             : targets::Vendor::AMD);
}

/// Whether the op remains because it is primitive or in the list `keep`.
bool SmaltiExpandTileOps::isKept(Operation *op) const {
  if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp, math::ClampFOp,
          math::SincosOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
          math::IsNormalOp, memref::AtomicRMWOp, scf::IndexSwitchOp>(op))
    return false;
  if (auto iota = dyn_cast<IotaOp>(op))
    return !isSmallFloat(iota.getType().getElementType());
  if (isDerivedOnGPU(op))
    return !chip || !chip->isGPU();
  if (std::optional<ExternalCode> code = ExternalCode::of(op))
    return code->reference->empty() || !chip || hasCode(*code, *chip);
  StringRef name = op->getName().stripDialect();
  bool isListed = llvm::is_contained(keep, name);
  if (isa<math::IPowIOp>(op))
    return isListed;
  if (!isa_and_nonnull<TritonXLADialect>(op->getDialect()))
    return true;
  if (auto dot = dyn_cast<DotOp>(op))
    return isSingle(dot.getAlgorithm()) &&
           chooseAlgorithm(dot, chip) == dot.getAlgorithm() &&
           (isListed || dot.getLhs().getType().getRank() == 2);
  if (isa<NumTilesOp>(op))
    return false;
  return isListed || !llvm::is_contained(kDerived, name);
}

SmallVector<Operation *> SmaltiExpandTileOps::plan() {
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isKept(op))
      return;
    if (isa<SortOp>(op)) {
      if (std::optional<std::string> refusal = getExpansionRefusal(op)) {
        StringRef opName = op->getName().stripDialect();
        remarkMissed(op, kPassName) << opName << " not expanded: " << *refusal;
        return;
      }
    }
    ops.push_back(op);
  });
  return ops;
}

/// The indices of single elements and of dimensions that are not proven to be
/// in bounds. On GPUs, the expansion of some ops removes the access; others are
/// checked when they access memory.
SmallVector<SmaltiExpandTileOps::Index> SmaltiExpandTileOps::planChecks() {
  SmallVector<Index> indices;
  getOperation().walk([&](Operation *op) {
    if (chip && chip->isGPU() && !isDerivedOnGPU(op) &&
        !isa<memref::AtomicRMWOp>(op))
      return;
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto type = cast<MemRefType>(dim.getSource().getType());
      indices.push_back({op, dim.getIndex(), 0, type.getRank(), Value()});
      return;
    }
    if (!isa<tensor::ExtractOp, memref::LoadOp, memref::StoreOp,
             memref::AtomicRMWOp>(op))
      return;
    // A stored value comes before the array. Indices are last.
    Value array =
        op->getOperand(isa<memref::StoreOp, memref::AtomicRMWOp>(op) ? 1 : 0);
    auto type = cast<ShapedType>(array.getType());
    for (auto [dim, index] :
         llvm::enumerate(op->getOperands().take_back(type.getRank())))
      indices.push_back({op, index, int64_t(dim), type.getDimSize(dim),
                         type.isDynamicDim(dim) ? array : Value()});
  });
  IntegerRanges ranges(getOperation());
  llvm::erase_if(indices, [&](const Index &index) {
    std::optional<SignedRange> range = ranges.get(index.index);
    return !index.memref && range && range->isWithin(0, index.size - 1);
  });
  return indices;
}

void SmaltiExpandTileOps::expand(Operation *op) {
  TileBuilder b(op->getLoc(), op);
  SmallVector<Value> results =
      TypeSwitch<Operation *, SmallVector<Value>>(op)
          .Case([&](SqueezeDimsOp op) -> SmallVector<Value> {
            return {b.reshape(op.getTile(), op.getType().getShape())};
          })
          .Case([&](SplitOp op) {
            auto dim = static_cast<int64_t>(op.getDim());
            int64_t size = b.shapeOf(op.getParts().front())[dim];
            SmallVector<Value> parts;
            for (int64_t i = 0; i < op.getNumResults(); ++i)
              parts.push_back(b.slice(op.getTile(), dim, i * size, size));
            return parts;
          })
          .Case([&](NumTilesOp op) -> SmallVector<Value> {
            return {
                createTileCount(b, getOperation(),
                                getOperation().getTileFactors()[op.getDim()])};
          })
          .Case([&](SortOp op) { return expandSort(b, op); })
          .Case([&](math::IPowIOp op) -> SmallVector<Value> {
            return {expandIPowI(b, op)};
          })
          .Case([&](RandomBitsOp op) { return expandRandomBits(b, op); })
          .Case<InlineAsmOp, ExternCallOp>(
              [&](Operation *op) { return expandReference(b, op); })
          .Case([&](DotOp op) -> SmallVector<Value> {
            return {expandDot(b, op, chooseAlgorithm(op, chip))};
          })
          .Case([&](DotScaledOp op) -> SmallVector<Value> {
            return {expandDotScaled(b, op)};
          })
          .Case([&](SparseDotOp op) -> SmallVector<Value> {
            return {expandSparseDot(b, op)};
          })
          .Case([&](IotaOp op) -> SmallVector<Value> {
            return {expandIota(b, op)};
          })
          .Case([&](arith::ScalingExtFOp op) -> SmallVector<Value> {
            return {expandScalingExtF(b, op)};
          })
          .Case([&](arith::ScalingTruncFOp op) -> SmallVector<Value> {
            return {expandScalingTruncF(b, op)};
          })
          .Case([&](tensor::ExtractOp op) -> SmallVector<Value> {
            return {expandElementRead(b, op)};
          })
          .Case([&](memref::DimOp op) -> SmallVector<Value> {
            return {expandDim(b, op)};
          })
          .Case([&](memref::AtomicRMWOp op) -> SmallVector<Value> {
            return {AtomicRMWOp::create(
                b, op.getType(), op.getKind(), op.getValue(), op.getMemref(),
                op.getIndices(), /*mask=*/Value(), MemoryScope::GPU,
                MemoryOrdering::AcquireRelease, /*deterministic=*/false)};
          })
          .Case([&](math::ClampFOp op) -> SmallVector<Value> {
            return {expandClampF(b, op)};
          })
          .Case([&](math::SincosOp op) { return expandSinCos(b, op); })
          .Case<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
                math::IsNormalOp>([&](Operation *op) -> SmallVector<Value> {
            return {expandClass(b, op)};
          })
          .Case([&](scf::IndexSwitchOp op) {
            return expandSwitch(b, op, 0, op.getNumCases() + 1);
          });
  {
    auto remark = remarkApplied(op, kPassName);
    remark << op->getName().stripDialect() << " expanded";
    if (isa<DotScaledOp>(op))
      remark << ": the operands are decoded to 16-bit floats; MMAs with scales "
                "are not used";
    if (ExternalCode::of(op))
      remark << " to its reference: " << chip->name
             << " cannot execute its code";
    auto dot = dyn_cast<DotOp>(op);
    if (DotAlgorithm chosen;
        dot && (chosen = chooseAlgorithm(dot, chip)) != dot.getAlgorithm())
      remark << ": the algorithm is changed from "
             << stringifyDotAlgorithm(dot.getAlgorithm()) << " to "
             << stringifyDotAlgorithm(chosen) << ", which MMAs of "
             << chip->name << " compute faster";
  }
  op->replaceAllUsesWith(results);
  op->erase();
}

/// Replaces the ids of a grid by one id, in row-major order.
void SmaltiExpandTileOps::linearizeGrid(EntryFuncOp func) {
  SmallVector<SmallVector<TileFactor>> grid = func.getTileFactors();
  if (grid.size() == 1)
    return;
  SmallVector<int64_t> sizes = func.getNumTilesPerDim();
  Block &body = func.getBody().front();
  SmallVector<BlockArgument> ids = llvm::to_vector(func.getTileIds());
  auto builder = ImplicitLocOpBuilder::atBlockBegin(func.getLoc(), &body);
  Value rest = body.addArgument(builder.getIndexType(), ids.back().getLoc());
  for (size_t dim = grid.size(); dim-- > 0;) {
    Value id = rest;
    if (dim != 0) {
      Value size = createTileCount(builder, func, grid[dim]);
      id = arith::RemUIOp::create(builder, rest, size);
      rest = arith::DivUIOp::create(builder, rest, size);
    }
    ids[dim].replaceAllUsesWith(id);
  }
  unsigned first = ids.front().getArgNumber();
  body.eraseArguments(first, grid.size());
  func.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), /*results=*/{}));
  if (ArrayAttr attributes = func.getArgAttrsAttr()) {
    SmallVector<Attribute> kept(attributes.getValue().take_front(first));
    kept.push_back(builder.getDictionaryAttr({}));
    func.setArgAttrsAttr(builder.getArrayAttr(kept));
  }
  SmallVector<TileFactor> all;
  for (const SmallVector<TileFactor> &factors : grid)
    llvm::append_range(all, factors);
  func.setTileFactors({all});
  remarkApplied(func, kPassName)
      << "grid of "
      << llvm::join(llvm::map_range(sizes,
                                    [](int64_t size) {
                                      return ShapedType::isDynamic(size)
                                                 ? std::string("?")
                                                 : std::to_string(size);
                                    }),
                    " x ")
      << " tiles linearized";
}

void SmaltiExpandTileOps::runOnOperation() {
  for (StringRef name : keep) {
    if (llvm::is_contained(kDerived, name))
      continue;
    getOperation().emitError()
        << kPassName << ": option 'keep' has '" << name
        << "', which is not an op that this pass expands; use one of "
        << llvm::join(ArrayRef(kDerived), ", ");
    return signalPassFailure();
  }
  FailureOr<const targets::Target *> found = findTarget(getOperation(), target);
  if (failed(found))
    return signalPassFailure();
  chip = *found;
  SmallVector<Operation *> ops = plan();
  if (checkIndices)
    for (const Index &index : planChecks()) {
      ImplicitLocOpBuilder b(index.op->getLoc(), index.op);
      Value size =
          index.memref
              ? memref::DimOp::create(b, index.memref, index.dim)
              : arith::ConstantIndexOp::create(b, index.size).getResult();
      createIndexCheck(b, b.getLoc(), index.index, size, index.dim);
    }
  for (Operation *op : ops)
    expand(op);
  linearizeGrid(getOperation());
}
