//===- PadSharedMemory.cpp - smalti-pad-shared-memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/MemRefViews.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Analysis/Resources/SharedBuffers.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>
#include <vector>

namespace smalti {
#define GEN_PASS_DECL_SMALTIPADSHAREDMEMORY
#define GEN_PASS_DEF_SMALTIPADSHAREDMEMORY
#include "smalti/passes/SharedMemory/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using banks::Cost;

static constexpr llvm::StringLiteral kPassName = "smalti-pad-shared-memory";
/// The alignment that an access may need if nothing more precise is known.
static constexpr int64_t kAlignment = 16;

namespace {

/// Elements at the end of each row, and the cost of the accesses with them.
struct Padding {
  int64_t elements = 0;
  Cost cost;
};

struct PadPlan {
  Value buffer;
  MemRefType type;
  BufferUses uses;
  RowShape rows;
  AccessPattern pattern;
  Cost before;
  /// Best first.
  SmallVector<Padding> candidates;
  /// The chosen candidate.
  Padding padding;

  MemRefType getPaddedType(int64_t elements) const {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() += elements;
    return MemRefType::Builder(type).setShape(shape);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// The alignment in bytes that every row-wise access must keep.
static int64_t getAlignment(const PadPlan &plan, OpOperand &operand) {
  Operation *op = operand.getOwner();
  int64_t alignment = 1;
  if (auto stated = op->getAttrOfType<IntegerAttr>("alignment"))
    alignment = std::max<int64_t>(stated.getInt(), 1);
  auto strided = dyn_cast<StridedAccessOpInterface>(op);
  if (!strided)
    return std::max(alignment, kAlignment);
  alignment = std::max(alignment, strided.getRowAlignment(operand));
  std::optional<RowAccess> row = strided.getRowAccess(operand);
  if (!row)
    return std::max(alignment, kAlignment);
  uint64_t bytes = row->elements * plan.rows.elementBytes;
  return std::max(alignment,
                  std::min<int64_t>(bytes & -bytes, banks::kWidestAccess));
}

/// Why consecutive elements that the op accesses may be separated by padding.
static std::optional<std::string> checkStaysInRow(const PadPlan &plan,
                                                  OpOperand &operand,
                                                  const targets::Target &chip) {
  auto strided = cast<StridedAccessOpInterface>(operand.getOwner());
  std::optional<RowAccess> row = strided.getRowAccess(operand);
  if (!row || !row->mayCrossRows)
    return std::nullopt;
  int64_t span = row->elements * (row->isWaveWide ? chip.waveSize : 1);
  bool stays = llvm::isPowerOf2_64(span) && plan.rows.columns % span == 0 &&
               log2ElementDivisor(plan.buffer, operand.get(), row->indices) >=
                   llvm::Log2_64(span);
  if (stays)
    return std::nullopt;
  return quote(operand.getOwner()) + " accesses " + std::to_string(span) +
         " consecutive elements, which cannot be proven to stay in one row "
         "of " +
         std::to_string(plan.rows.columns) +
         " elements; access a power of two of elements that divides the row "
         "size, at indices that are multiples of it";
}

static std::optional<std::string> checkUser(const PadPlan &plan,
                                            Operation *user,
                                            const targets::Target &chip,
                                            int64_t &step) {
  if (isa<ShapedDimOpInterface>(user))
    return std::nullopt;
  bool isStrided = isa<StridedAccessOpInterface>(user);
  if (!isStrided && !isa<DestinationStyleOpInterface>(user))
    return quote(user) + " may ignore the strides of its memref; padding "
                         "requires accesses that use the strides";
  for (OpOperand &operand : user->getOpOperands()) {
    bool isBuffer = operand.get() == plan.buffer;
    if (Operation *view = operand.get().getDefiningOp())
      isBuffer |= plan.uses.views.contains(view);
    if (!isBuffer)
      continue;
    if (auto copy = dyn_cast<AsyncCopyOpInterface>(user);
        copy && chip.asyncCopy == targets::AsyncCopyKind::LDSLoad &&
        copy.getCopyDestination() == operand.get() && isStrided &&
        cast<StridedAccessOpInterface>(user).getBlockAccess(operand))
      return "the waves of " + quote(user) +
             " write consecutive LDS addresses on " + chip.name.str() +
             " and cannot skip padding";
    if (isStrided)
      if (auto reason = checkStaysInRow(plan, operand, chip))
        return reason;
    step = std::lcm(step, getAlignment(plan, operand));
  }
  return std::nullopt;
}

/// Whether slots of the padded buffer keep the alignment of wide accesses.
static bool keepsSlotAlignment(const PadPlan &plan, int64_t paddedColumns) {
  if (plan.type.getRank() < 3)
    return true;
  int64_t alignment = std::max(kAlignment, getStatedAlignment(plan.buffer));
  int64_t row = plan.rows.rows * plan.rows.elementBytes;
  for (int64_t bytes = 2; bytes <= alignment; bytes *= 2)
    if (row * plan.rows.columns % bytes == 0 &&
        row * paddedColumns % bytes != 0)
      return false;
  return true;
}

static Operation *recreatePaddedView(OpBuilder &builder, Operation *view,
                                     Value source) {
  if (auto cast = dyn_cast<memref::CastOp>(view)) {
    // A cast to static strides that its source does not have would keep the old
    // strides.
    auto from = dyn_cast<MemRefType>(cast.getSource().getType()),
         to = dyn_cast<MemRefType>(cast.getType());
    if (!from || !to || !from.isStrided() || !to.isStrided())
      return nullptr;
    auto fromStrides = from.getStridesAndOffset().first,
         toStrides = to.getStridesAndOffset().first;
    for (auto [known, stated] : llvm::zip_equal(fromStrides, toStrides))
      if (ShapedType::isDynamic(known) && !ShapedType::isDynamic(stated))
        return nullptr;
  }
  if (isa<memref::AssumeAlignmentOp>(view)) {
    Operation *copy = builder.clone(*view);
    copy->setOperand(0, source);
    copy->getResult(0).setType(source.getType());
    return copy;
  }
  // Tiles and swizzles fix the position of every element.
  if (!isInsideSource(view) || isa<mosaic_gpu::WithTransformsOp>(view))
    return nullptr;
  return recreateView(builder, view, source, Value(), 0);
}

/// Plans everything except the choice of the padding.
static std::optional<std::string>
planBuffer(PadPlan &plan, const targets::Target &chip, LaneEvaluator &evaluator,
           int64_t maxPadding, bool onlyWhenConflicts) {
  Operation *alloc = plan.buffer.getDefiningOp();
  auto effects = dyn_cast_or_null<MemoryEffectOpInterface>(alloc);
  if (alloc && !(effects && effects.getEffectOnValue<MemoryEffects::Allocate>(
                                plan.buffer)))
    return std::string(
        "the buffer already has a fixed offset in shared memory; run the pass "
        "before smalti-allocate-shared-memory");
  if (alloc && alloc->hasAttr(mosaic_gpu::kOutTransforms))
    return "the attribute '" + mosaic_gpu::kOutTransforms.str() +
           "' of the buffer (tiling and swizzle) fixes its layout; remove the "
           "attribute to pad the rows";
  std::string reason;
  std::optional<RowShape> rows = getRowShape(plan.type, reason);
  if (!rows)
    return "the buffer " + reason;
  plan.rows = *rows;
  if (alloc && alloc->getNumOperands() != 0)
    return std::string(
        "the size of the buffer is dynamic; a static size is required");
  if (auto escape = collectBufferUses(plan.buffer, plan.uses))
    return "the buffer " + *escape;

  int64_t step = rows->elementBytes;
  for (Operation *user : plan.uses.users)
    if (auto refused = checkUser(plan, user, chip, step))
      return refused;
  for (Operation *view : plan.uses.views)
    if (auto assume = dyn_cast<memref::AssumeAlignmentOp>(view);
        assume && assume.getMemref() != plan.buffer)
      step = std::lcm<int64_t>(step, assume.getAlignment());

  plan.pattern = evaluator.getPattern(plan.buffer, plan.uses);
  banks::BankModel model = banks::BankModel::get(chip);
  auto costOf = [&](int64_t columns) {
    return plan.pattern.getCost(model, [&](int64_t element) {
      return (element / rows->columns * columns + element % rows->columns) *
             rows->elementBytes;
    });
  };
  plan.before = costOf(rows->columns);
  if (onlyWhenConflicts) {
    if (plan.pattern.known == 0)
      return std::string("bank conflicts cannot be determined, since no "
                         "access has statically known addresses; "
                         "'only-when-conflicts=false' pads anyway");
    if (plan.before.conflicts == 0)
      return std::nullopt;
  }
  for (int64_t bytes = step; bytes <= maxPadding; bytes += step) {
    int64_t elements = bytes / rows->elementBytes;
    Padding padding{elements, costOf(rows->columns + elements)};
    if (keepsSlotAlignment(plan, rows->columns + elements) &&
        (!onlyWhenConflicts || padding.cost.cycles < plan.before.cycles))
      plan.candidates.push_back(padding);
  }
  llvm::stable_sort(plan.candidates, [](const Padding &a, const Padding &b) {
    return a.cost.cycles < b.cost.cycles;
  });
  if (plan.candidates.empty())
    return "no padding of up to " + std::to_string(maxPadding) +
           " B in steps of " + std::to_string(step) + " B reduces the " +
           std::to_string(plan.before.conflicts) + " bank conflicts";
  return std::nullopt;
}

/// A workgroup attribution is static shared memory, which has a separate limit.
static int64_t getLimit(Value buffer, const targets::Target &chip) {
  return isa<BlockArgument>(buffer) ? chip.staticSharedMemory
                                    : chip.sharedMemoryPerBlock;
}

static Value createView(OpBuilder &builder, const PadPlan &plan, Value padded) {
  int64_t rank = plan.type.getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      strides(rank, builder.getIndexAttr(1)), sizes;
  for (int64_t size : plan.type.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  return memref::SubViewOp::create(builder, plan.buffer.getLoc(), padded,
                                   offsets, sizes, strides);
}

static std::optional<std::string> checkTypes(const PadPlan &plan) {
  MemRefType padded = plan.getPaddedType(plan.padding.elements);
  Block arguments;
  return tryTypes(
      plan.buffer, plan.uses, "padded rows",
      [&](OpBuilder &builder) -> Value {
        Operation *alloc = plan.buffer.getDefiningOp();
        if (!alloc)
          return createView(
              builder, plan,
              arguments.addArgument(padded, plan.buffer.getLoc()));
        Operation *copy = builder.clone(*alloc);
        copy->getResult(0).setType(padded);
        if (failed(verify(copy, /*verifyRecursively=*/false)))
          return {};
        return createView(builder, plan, copy->getResult(0));
      },
      recreatePaddedView);
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

static void commit(PadPlan &plan) {
  MemRefType type = plan.getPaddedType(plan.padding.elements);
  Operation *alloc = plan.buffer.getDefiningOp();
  OpBuilder builder(plan.buffer.getContext());
  Value padded = plan.buffer;
  IRMapping mapping;
  // The old buffer keeps its type while the views are created from it.
  if (alloc) {
    builder.setInsertionPoint(alloc);
    Operation *copy = builder.clone(*alloc);
    padded = copy->getResult(0);
    padded.setType(type);
  } else {
    builder.setInsertionPointToStart(
        cast<BlockArgument>(plan.buffer).getOwner());
    padded.setType(type);
  }
  mapping.map(plan.buffer, createView(builder, plan, padded));
  for (Operation *view : plan.uses.views) {
    builder.setInsertionPoint(view);
    Value source = cast<ViewLikeOpInterface>(view).getViewSource();
    Operation *copy = recreatePaddedView(builder, view, mapping.lookup(source));
    mapping.map(view->getResults(), copy->getResults());
  }
  int64_t pitch = plan.rows.columns + plan.padding.elements;
  for (Operation *user : plan.uses.users)
    for (OpOperand &operand : user->getOpOperands()) {
      Value replacement = mapping.lookupOrNull(operand.get());
      if (!replacement)
        continue;
      operand.set(replacement);
      if (auto strided = dyn_cast<StridedAccessOpInterface>(user))
        strided.setRowPitch(operand, pitch);
    }
  for (Operation *dealloc : plan.uses.deallocs)
    dealloc->replaceUsesOfWith(plan.buffer, padded);
  for (Operation *view : llvm::reverse(plan.uses.views))
    view->erase();
  if (alloc)
    alloc->erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct SmaltiPadSharedMemory
    : smalti::impl::SmaltiPadSharedMemoryBase<SmaltiPadSharedMemory> {
  using SmaltiPadSharedMemoryBase::SmaltiPadSharedMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiPadSharedMemoryBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }

  void runOnOperation() override;
};

} // namespace

void SmaltiPadSharedMemory::runOnOperation() {
  FunctionOpInterface function = getOperation();
  if (function.isExternal())
    return;
  const targets::Target *chip = getTarget(function, target);
  if (!chip)
    return signalPassFailure();
  constexpr int64_t mostPadding = 4096;
  if (maxPadding < 1 || maxPadding > mostPadding) {
    function->emitError() << kPassName
                          << ": option 'max-padding' must be between 1 and "
                          << mostPadding << " bytes; it is "
                          << int64_t(maxPadding);
    return signalPassFailure();
  }
  if (!banks::BankModel::get(*chip).hasBanks())
    return;

  bool missed = false;
  auto miss = [&](Value buffer, const Twine &reason) {
    missed |= failed(reportMissed(getBufferOp(buffer), kPassName, strict,
                                  "rows not padded: " + reason));
  };
  LaneEvaluator evaluator(function, *chip);
  std::vector<PadPlan> plans;
  SharedMemory memory = placeSharedMemory(function);
  std::optional<std::string> unknown = describeUnknownSize(memory);
  SharedMemorySizes sizes(memory);
  for (Value buffer : findSharedBuffers(function)) {
    // A barrier array does not have rows that an access reads.
    auto type = cast<MemRefType>(buffer.getType());
    if (isa<mosaic_gpu::BarrierType>(type.getElementType()))
      continue;
    std::optional<bool> mark;
    if (auto wrong = readMark(buffer, kPadMark, mark)) {
      miss(buffer, "the buffer " + *wrong);
      continue;
    }
    if (!mark.value_or(!marked))
      continue;
    PadPlan plan;
    plan.buffer = buffer;
    plan.type = type;
    if (auto reason =
            planBuffer(plan, *chip, evaluator, maxPadding, onlyWhenConflicts)) {
      miss(buffer, *reason);
      continue;
    }
    if (plan.candidates.empty()) {
      remarkAnalysis(getBufferOp(buffer), kPassName)
          << "rows not padded: no bank conflicts in " << plan.pattern.str();
      continue;
    }
    if (unknown) {
      miss(buffer, *unknown);
      continue;
    }
    int64_t least = std::numeric_limits<int64_t>::max(),
            limit = getLimit(buffer, *chip);
    const auto *fits = llvm::find_if(plan.candidates, [&](const Padding &p) {
      sizes.set(buffer, getBufferBytes(plan.getPaddedType(p.elements))
                            .value_or(std::numeric_limits<int64_t>::max()));
      int64_t bytes = sizes.getBytes();
      least = std::min(least, bytes);
      return bytes <= limit;
    });
    if (fits == plan.candidates.end()) {
      sizes.set(buffer, *getBufferBytes(plan.type));
      miss(buffer, "with the smallest padding that reduces the " +
                       Twine(plan.before.conflicts) +
                       " bank conflicts of the buffer, the kernel needs " +
                       Twine(least) + " B of shared memory; " + chip->name +
                       " allows " + Twine(limit) +
                       " B, so use smaller buffers");
      continue;
    }
    plan.padding = *fits;
    if (auto reason = checkTypes(plan)) {
      sizes.set(buffer, *getBufferBytes(plan.type));
      miss(buffer, "the buffer " + *reason);
      continue;
    }
    plans.push_back(std::move(plan));
  }
  if (missed)
    return signalPassFailure();

  for (PadPlan &plan : plans) {
    int64_t bytes = *getBufferBytes(plan.type),
            padded = *getBufferBytes(plan.getPaddedType(plan.padding.elements));
    RemarkBuilder remark = remarkApplied(getBufferOp(plan.buffer), kPassName);
    remark << "rows padded by " << plan.padding.elements
           << (plan.padding.elements == 1 ? " element (" : " elements (")
           << plan.padding.elements * plan.rows.elementBytes
           << " B): " << plan.padding.cost.conflicts
           << " bank conflicts instead of " << plan.before.conflicts << " in "
           << plan.pattern.str() << "; " << padded
           << " B of shared memory instead of " << bytes << " B";
    commit(plan);
  }
}
