//===- SwizzleSharedMemory.cpp - smalti-swizzle-shared-memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Resources/SharedBuffers.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

#include <vector>

namespace smalti {
#define GEN_PASS_DECL_SMALTISWIZZLESHAREDMEMORY
#define GEN_PASS_DEF_SMALTISWIZZLESHAREDMEMORY
#include "smalti/passes/SharedMemory/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using banks::Cost;

static constexpr llvm::StringLiteral kPassName = "smalti-swizzle-shared-memory";

namespace {

/// The permutation of the chunks of a row: chunk c of row r moves to c XOR k or
/// to (c + k) mod `chunks`, with k = r / `rowsAlike` mod `shifts`.
struct Swizzle {
  bool isRotation = false;
  int64_t chunkElements = 1;
  int64_t chunks = 1;
  int64_t rowsAlike = 1;
  int64_t shifts = 1;
  Cost cost;

  int64_t apply(int64_t row, int64_t column) const {
    int64_t shift = row / rowsAlike % shifts * chunkElements;
    return isRotation ? (column + shift) % (chunks * chunkElements)
                      : column ^ shift;
  }
  std::string str(int64_t elementBytes) const;
};

struct SwizzlePlan {
  Value buffer;
  MemRefType type;
  BufferUses uses;
  RowShape rows;
  AccessPattern pattern;
  /// Each operand that is the buffer or a view of it.
  SmallVector<OpOperand *> operands;
  Cost before;
  /// Not set if nothing can be improved.
  std::optional<Swizzle> swizzle;
};

} // namespace

std::string Swizzle::str(int64_t elementBytes) const {
  std::string text =
      "chunks of " + std::to_string(chunkElements * elementBytes) + " B ";
  text += isRotation ? "rotated by " : "XORed with ";
  text += "row";
  if (rowsAlike > 1)
    text += " / " + std::to_string(rowsAlike);
  return text + " mod " + std::to_string(shifts);
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// The first and the end byte of a view of untyped memory, if known.
static std::optional<std::pair<int64_t, int64_t>>
getBytes(memref::ViewOp view) {
  std::optional<int64_t> begin = getConstantIntValue(view.getByteShift());
  std::optional<int64_t> bytes = getBufferBytes(view.getType());
  if (!begin || !bytes)
    return std::nullopt;
  return std::make_pair(*begin, *begin + *bytes);
}

/// Whether another view may access the same bytes of untyped memory.
static std::optional<std::string> checkBytes(memref::ViewOp view,
                                             FunctionOpInterface function) {
  auto own = getBytes(view);
  if (!own)
    return std::string(
        "the offset of the buffer is dynamic; a static offset is required");
  SmallVector<Value> sources = {view.getSource()};
  // All of them are the same memory.
  if (view.getSource().getDefiningOp<gpu::DynamicSharedMemoryOp>())
    function->walk([&](gpu::DynamicSharedMemoryOp op) {
      if (op.getResult() != view.getSource())
        sources.push_back(op);
    });
  for (Value source : sources)
    for (Operation *user : source.getUsers()) {
      if (user == view || isa<memref::DeallocOp>(user))
        continue;
      auto other = dyn_cast<memref::ViewOp>(user);
      if (!other)
        return quote(user) +
               " uses the untyped shared memory directly, as TMA and wgmma do; "
               "only memref.view is supported";
      auto bytes = getBytes(other);
      if (!bytes)
        return quote(user) +
               " creates another view of the same memory with a dynamic offset "
               "or size, so it may overlap the buffer; use static ones";
      if (bytes->first < own->second && own->first < bytes->second)
        return quote(user) + " creates a view of bytes " +
               std::to_string(bytes->first) + " to " +
               std::to_string(bytes->second - 1) +
               ", which overlaps the buffer; allocate separate bytes";
    }
  return std::nullopt;
}

/// Why an access cannot be rewritten, if it cannot.
static std::optional<std::string>
checkAccess(const SwizzlePlan &plan, OpOperand &operand, int64_t &widest) {
  Operation *op = operand.getOwner();
  auto strided = dyn_cast<StridedAccessOpInterface>(op);
  std::optional<RowAccess> row =
      strided ? strided.getRowAccess(operand) : std::nullopt;
  if (!row)
    return quote(op) +
           " does not access the buffer with an index per dimension, as the "
           "swizzle requires; use loads and stores of memref or vector";
  if (row->isBoundsChecked)
    return quote(op) + " may be out of bounds; mark the transfer as in_bounds";
  if (row->isWaveWide)
    return quote(op) + " writes consecutive addresses across lanes, which a "
                       "swizzle would break";
  int64_t bytes = row->elements * plan.rows.elementBytes;
  if (bytes > banks::kWidestAccess || !llvm::isPowerOf2_64(bytes))
    return quote(op) + " accesses " + std::to_string(bytes) +
           " B; a power of two up to " + std::to_string(banks::kWidestAccess) +
           " B is required";
  if (row->elements > 1 &&
      log2ElementDivisor(plan.buffer, operand.get(), row->indices) <
          llvm::Log2_64(row->elements))
    return quote(op) + " accesses " + std::to_string(bytes) +
           " B at offsets that cannot be proven to be multiples of the access "
           "size; use aligned indices";
  widest = std::max(widest, bytes);
  return std::nullopt;
}

/// Whether indices of the view's users can be computed for its source.
static bool canResolve(Operation *view) {
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view))
    return expand.getResultType().hasStaticShape();
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(view))
    return collapse.getSrcType().hasStaticShape();
  return isa<memref::SubViewOp, memref::CastOp, memref::AssumeAlignmentOp,
             memref::TransposeOp>(view);
}

/// Tries the access with the whole buffer on a copy of the op.
static bool takesBuffer(Operation *op, unsigned operand, Value buffer) {
  MLIRContext *context = op->getContext();
  ScopedDiagnosticHandler silence(
      context, [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });
  Block arguments;
  SmallVector<Value> indices;
  for (int64_t i = 0; i < cast<MemRefType>(buffer.getType()).getRank(); ++i)
    indices.push_back(
        arguments.addArgument(IndexType::get(context), op->getLoc()));
  Operation *copy = op->clone();
  cast<StridedAccessOpInterface>(copy).setRowAccess(copy->getOpOperand(operand),
                                                    buffer, indices);
  bool isValid = succeeded(verify(copy, /*verifyRecursively=*/false));
  copy->erase();
  return isValid;
}

/// Adds all swizzles with chunks of this many elements.
static void addSwizzles(const RowShape &rows, int64_t chunkElements,
                        SmallVectorImpl<Swizzle> &swizzles) {
  int64_t chunks = rows.columns / chunkElements;
  Swizzle swizzle;
  swizzle.chunkElements = chunkElements;
  swizzle.chunks = chunks;
  auto addAll = [&](int64_t shifts) {
    for (int64_t alike = 1; alike < rows.rows && alike <= 64; alike *= 2) {
      swizzle.shifts = shifts;
      swizzle.rowsAlike = alike;
      swizzles.push_back(swizzle);
    }
  };
  // XOR with numbers below a power of two that divides the number of chunks
  // stays in the row.
  for (int64_t shifts = chunks & -chunks; shifts >= 2; shifts /= 2)
    addAll(shifts);
  swizzle.isRotation = true;
  if (!llvm::isPowerOf2_64(chunks))
    addAll(chunks);
}

static std::optional<std::string> planBuffer(SwizzlePlan &plan,
                                             FunctionOpInterface function,
                                             const targets::Target &chip,
                                             LaneEvaluator &evaluator,
                                             bool onlyWhenConflicts) {
  if (plan.buffer.getDefiningOp<mosaic_gpu::SliceSMEMOp>())
    return std::string(
        "the kernel is block-level, where accesses do not have per-thread "
        "indices; run this pass after the conversion to thread level");
  if (auto view = plan.buffer.getDefiningOp<memref::ViewOp>())
    if (auto reason = checkBytes(view, function))
      return reason;
  std::string reason;
  std::optional<RowShape> rows = getRowShape(plan.type, reason);
  if (!rows)
    return "the buffer " + reason;
  plan.rows = *rows;
  if (auto escape = collectBufferUses(plan.buffer, plan.uses))
    return "the buffer " + *escape;
  for (Operation *view : plan.uses.views)
    if (!canResolve(view))
      return "indices cannot be traced through " + quote(view) +
             "; use memref.subview, or reshape a memref with static "
             "sizes";
  int64_t widest = 1;
  for (Operation *user : plan.uses.users) {
    if (isa<ShapedDimOpInterface>(user))
      continue;
    for (OpOperand &operand : user->getOpOperands()) {
      Operation *view = operand.get().getDefiningOp();
      if (operand.get() != plan.buffer &&
          !(view && plan.uses.views.contains(view)))
        continue;
      if (auto refused = checkAccess(plan, operand, widest))
        return refused;
      if (!takesBuffer(user, operand.getOperandNumber(), plan.buffer))
        return quote(user) +
               " accesses a view of the buffer, and the view cannot be "
               "replaced by the buffer; access the buffer directly";
      plan.operands.push_back(&operand);
    }
  }
  // Words are not split if rows consist of words.
  int64_t rowBytes = rows->columns * rows->elementBytes;
  if (rowBytes % chip.bankBytes == 0)
    widest = std::max(widest, chip.bankBytes);
  widest = std::max(widest, rows->elementBytes);
  if (rowBytes % widest != 0)
    return "the row size of " + std::to_string(rowBytes) +
           " B is not a multiple of the widest access, " +
           std::to_string(widest) + " B";
  if (rows->rows == 1)
    return std::string("the buffer has a single row; a swizzle requires "
                       "several rows, whose chunks it permutes differently");
  if (rowBytes == widest)
    return "each row of the buffer is a single chunk of " +
           std::to_string(widest) +
           " B, which a swizzle does not split; a swizzle permutes the chunks "
           "of a row, so it requires longer rows";

  plan.pattern = evaluator.getPattern(plan.buffer, plan.uses);
  banks::BankModel model = banks::BankModel::get(chip);
  plan.before = plan.pattern.getCost(
      model, [&](int64_t element) { return element * rows->elementBytes; });
  if (onlyWhenConflicts) {
    if (plan.pattern.known == 0)
      return std::string("bank conflicts cannot be determined, since no "
                         "access has statically known addresses; "
                         "'only-when-conflicts=false' swizzles anyway");
    if (plan.before.conflicts == 0)
      return std::nullopt;
  }
  SmallVector<Swizzle> swizzles;
  for (int64_t bytes = widest;
       bytes <= std::max(widest, banks::kWidestAccess) && bytes < rowBytes &&
       rowBytes % bytes == 0;
       bytes *= 2)
    addSwizzles(*rows, bytes / rows->elementBytes, swizzles);
  for (Swizzle &swizzle : swizzles) {
    swizzle.cost = plan.pattern.getCost(model, [&](int64_t element) {
      int64_t row = element / rows->columns, column = element % rows->columns;
      return (row * rows->columns + swizzle.apply(row % rows->rows, column)) *
             rows->elementBytes;
    });
    bool isBetter =
        plan.swizzle
            ? swizzle.cost.cycles < plan.swizzle->cost.cycles
            : !onlyWhenConflicts || swizzle.cost.cycles < plan.before.cycles;
    if (isBetter)
      plan.swizzle = swizzle;
  }
  if (!plan.swizzle)
    return "no swizzle reduces the " + std::to_string(plan.before.conflicts) +
           " bank conflicts";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// The indices in `buffer` of `memref[indices]`.
static SmallVector<Value> resolve(PatternRewriter &rewriter, Location loc,
                                  Value buffer, Value memref,
                                  ValueRange indices) {
  SmallVector<Value> result(indices);
  for (; memref != buffer;
       memref = memref.getDefiningOp<ViewLikeOpInterface>().getViewSource()) {
    SmallVector<Value> inner;
    llvm::TypeSwitch<Operation *>(memref.getDefiningOp())
        .Case([&](memref::SubViewOp view) {
          affine::resolveIndicesIntoOpWithOffsetsAndStrides(
              rewriter, loc, view.getMixedOffsets(), view.getMixedStrides(),
              view.getDroppedDims(), result, inner);
          result = inner;
        })
        .Case([&](memref::TransposeOp view) {
          inner.resize(result.size());
          for (auto [dim, index] : llvm::enumerate(result))
            inner[view.getPermutation().getDimPosition(dim)] = index;
          result = inner;
        })
        .Case([&](memref::ExpandShapeOp view) {
          memref::resolveSourceIndicesExpandShape(
              loc, rewriter, view, result, inner, /*startsInbounds=*/true);
          result = inner;
        })
        .Case([&](memref::CollapseShapeOp view) {
          memref::resolveSourceIndicesCollapseShape(loc, rewriter, view, result,
                                                    inner);
          result = inner;
        });
  }
  return result;
}

static Value createSwizzle(OpBuilder &builder, Location loc,
                           const Swizzle &swizzle, Value row, Value column) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value shift = row;
  if (swizzle.rowsAlike > 1)
    shift = arith::DivUIOp::create(builder, loc, shift,
                                   constant(swizzle.rowsAlike));
  shift = arith::RemUIOp::create(builder, loc, shift, constant(swizzle.shifts));
  if (swizzle.chunkElements > 1)
    shift = arith::MulIOp::create(builder, loc, shift,
                                  constant(swizzle.chunkElements));
  if (!swizzle.isRotation)
    return arith::XOrIOp::create(builder, loc, column, shift);
  Value sum = arith::AddIOp::create(builder, loc, column, shift);
  return arith::RemUIOp::create(
      builder, loc, sum, constant(swizzle.chunks * swizzle.chunkElements));
}

static void commit(SwizzlePlan &plan) {
  PatternRewriter rewriter(plan.buffer.getContext());
  // The operand list of an op may be reallocated, so operands are stored by
  // number.
  SmallVector<std::pair<Operation *, unsigned>> accesses;
  for (OpOperand *operand : plan.operands)
    accesses.emplace_back(operand->getOwner(), operand->getOperandNumber());
  for (auto [op, number] : accesses) {
    rewriter.setInsertionPoint(op);
    auto strided = cast<StridedAccessOpInterface>(op);
    OpOperand &operand = op->getOpOperand(number);
    RowAccess row = *strided.getRowAccess(operand);
    SmallVector<Value> indices = resolve(rewriter, op->getLoc(), plan.buffer,
                                         operand.get(), row.indices);
    Value &column = indices.back();
    column = createSwizzle(rewriter, op->getLoc(), *plan.swizzle,
                           indices[indices.size() - 2], column);
    strided.setRowAccess(operand, plan.buffer, indices);
  }
  for (Operation *view : llvm::reverse(plan.uses.views))
    if (view->use_empty())
      view->erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct SmaltiSwizzleSharedMemory
    : smalti::impl::SmaltiSwizzleSharedMemoryBase<SmaltiSwizzleSharedMemory> {
  using SmaltiSwizzleSharedMemoryBase::SmaltiSwizzleSharedMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SmaltiSwizzleSharedMemoryBase::getDependentDialects(registry);
    registerExternalModels(registry);
  }

  void runOnOperation() override;
};

} // namespace

void SmaltiSwizzleSharedMemory::runOnOperation() {
  FunctionOpInterface function = getOperation();
  if (function.isExternal())
    return;
  const targets::Target *chip = getTarget(function, target);
  if (!chip)
    return signalPassFailure();
  if (!banks::BankModel::get(*chip).hasBanks())
    return;

  bool missed = false;
  auto miss = [&](Value buffer, const Twine &reason) {
    missed |= failed(reportMissed(getBufferOp(buffer), kPassName, strict,
                                  "buffer not swizzled: " + reason));
  };
  LaneEvaluator evaluator(function, *chip);
  std::vector<SwizzlePlan> plans;
  for (Value buffer : findSharedBuffers(function)) {
    std::optional<bool> mark;
    if (auto wrong = readMark(buffer, kSwizzleMark, mark)) {
      miss(buffer, "the buffer " + *wrong);
      continue;
    }
    if (!mark.value_or(!marked))
      continue;
    SwizzlePlan plan;
    plan.buffer = buffer;
    plan.type = cast<MemRefType>(buffer.getType());
    if (auto reason =
            planBuffer(plan, function, *chip, evaluator, onlyWhenConflicts)) {
      miss(buffer, *reason);
      continue;
    }
    if (!plan.swizzle) {
      remarkAnalysis(getBufferOp(buffer), kPassName)
          << "buffer not swizzled: no bank conflicts in " << plan.pattern.str();
      continue;
    }
    plans.push_back(std::move(plan));
  }
  if (missed)
    return signalPassFailure();

  for (SwizzlePlan &plan : plans) {
    RemarkBuilder remark = remarkApplied(getBufferOp(plan.buffer), kPassName);
    std::string permutation = plan.swizzle->str(plan.rows.elementBytes);
    remark << "buffer swizzled: " << permutation << ": "
           << plan.swizzle->cost.conflicts << " bank conflicts instead of "
           << plan.before.conflicts << " in " << plan.pattern.str();
    commit(plan);
  }
}
