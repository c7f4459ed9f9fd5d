//===- NVIDIAReductions.cpp - Reductions of vectors -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/NVIDIALowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/Reductions.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/ThreadGroupScratch.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using vector::CombiningKind;
using Role = ThreadDigit::Role;

/// Scratch bytes of a reduction whose op does not name scratch.
static constexpr int64_t kOwnScratchBytes = 16384;

/// Attributes of a reduction that name its scratch.
static constexpr llvm::StringLiteral kOffset = "offset";
static constexpr llvm::StringLiteral kScratchSize = "scratch_size";

namespace {
/// The operands and kind of a reduction.
struct Reduction {
  CombiningKind kind;
  Value source, accumulator, result;
  SmallVector<int64_t> axes;
  arith::FastMathFlagsAttr fastMath;
};

struct ReductionOpPlan : OpPlan {
  ReductionPlan reduction;
  /// Elements that go through scratch together.
  int64_t chunk = 1;
  /// Offset of the scratch and its bytes per thread group; -1: from
  /// `reserveScratch`.
  int64_t offset = -1;
  int64_t bytes = 0;
};

class Reductions : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override {
    placeScratch(planner.getPlan());
    return success();
  }
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

/// Combines values of a kind; additions and multiplications of narrow types in
/// wide ones.
class Combiner {
public:
  Combiner(OpBuilder &builder, Location loc, const Reduction &reduction);

  Value widen(Value value) const;
  Value narrow(Value value) const;
  Value combine(Value lhs, Value rhs) const;
  /// Combines in a fixed order, as a tree.
  Value combine(ArrayRef<Value> values) const;
  /// Combines the elements of a vector into a vector of one.
  Value combineElements(Value vector) const;
  /// Combines `count` copies of a value.
  Value repeat(Value value, int64_t count) const;
  /// The instruction that reduces across the lanes of a warp, if one exists.
  std::optional<NVVM::ReduxKind> getRedux() const;
  Type getType() const { return wide; }

private:
  OpBuilder &builder;
  Location loc;
  const Reduction &reduction;
  Type elementType, wide;
};
} // namespace

static Reduction getReduction(Operation *op) {
  if (auto reduce = dyn_cast<vector::MultiDimReductionOp>(op))
    return {reduce.getKind(),
            reduce.getSource(),
            reduce.getAcc(),
            reduce.getResult(),
            SmallVector<int64_t>(reduce.getReductionDims()),
            arith::FastMathFlagsAttr()};
  auto reduce = cast<vector::ReductionOp>(op);
  return {reduce.getKind(),
          reduce.getVector(),
          reduce.getAcc(),
          reduce.getResult(),
          {0},
          reduce.getFastmathAttr()};
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

static bool isSum(CombiningKind kind) {
  return kind == CombiningKind::ADD || kind == CombiningKind::MUL;
}

static bool isSigned(CombiningKind kind) {
  return kind == CombiningKind::MINSI || kind == CombiningKind::MAXSI;
}

/// The type in which values are combined.
static Type getWideType(Type elementType, CombiningKind kind) {
  MLIRContext *context = elementType.getContext();
  if (isSum(kind) && (elementType.isF16() || elementType.isBF16()))
    return Float32Type::get(context);
  if (elementType.isInteger() && elementType.getIntOrFloatBitWidth() < 8)
    return IntegerType::get(context, 8);
  return elementType;
}

Combiner::Combiner(OpBuilder &builder, Location loc, const Reduction &reduction)
    : builder(builder), loc(loc), reduction(reduction),
      elementType(getElementTypeOrSelf(reduction.source.getType())),
      wide(getWideType(elementType, reduction.kind)) {}

Value Combiner::widen(Value value) const {
  if (wide == elementType)
    return value;
  Type type = wide;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(wide);
  if (isa<FloatType>(wide))
    return arith::ExtFOp::create(builder, loc, type, value);
  if (isSigned(reduction.kind))
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value Combiner::narrow(Value value) const {
  if (wide == elementType)
    return value;
  Type type = elementType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(elementType);
  if (isa<FloatType>(wide))
    return arith::TruncFOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

Value Combiner::combine(Value lhs, Value rhs) const {
  return vector::makeArithReduction(builder, loc, reduction.kind, lhs, rhs,
                                    reduction.fastMath);
}

Value Combiner::combine(ArrayRef<Value> values) const {
  SmallVector<Value> left(values);
  while (left.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < left.size(); i += 2)
      next.push_back(combine(left[i], left[i + 1]));
    if (left.size() % 2 != 0)
      next.push_back(left.back());
    left = std::move(next);
  }
  return left.front();
}

Value Combiner::combineElements(Value vector) const {
  SmallVector<Value> elements;
  int64_t size = cast<VectorType>(vector.getType()).getDimSize(0);
  for (int64_t element = 0; element < size; ++element)
    elements.push_back(takeElements(builder, loc, vector, element, 1));
  return combine(elements);
}

Value Combiner::repeat(Value value, int64_t count) const {
  auto type = cast<VectorType>(value.getType());
  switch (reduction.kind) {
  case CombiningKind::ADD: {
    TypedAttr number =
        isa<FloatType>(wide)
            ? TypedAttr(builder.getFloatAttr(wide, static_cast<double>(count)))
            : TypedAttr(builder.getIntegerAttr(
                  wide,
                  APInt(wide.isIndex() ? 64 : wide.getIntOrFloatBitWidth(),
                        count, /*isSigned=*/false,
                        /*implicitTrunc=*/true)));
    Value factor = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, Attribute(number)));
    return isa<FloatType>(wide)
               ? arith::MulFOp::create(builder, loc, value, factor).getResult()
               : arith::MulIOp::create(builder, loc, value, factor).getResult();
  }
  case CombiningKind::XOR:
    return count % 2 != 0
               ? value
               : arith::XOrIOp::create(builder, loc, value, value).getResult();
  case CombiningKind::MUL: {
    // By repeated squaring.
    Value result, power = value;
    for (; count > 0; count /= 2) {
      if (count % 2 != 0)
        result = result ? combine(result, power) : power;
      if (count > 1)
        power = combine(power, power);
    }
    return result;
  }
  default:
    return value;
  }
}

std::optional<NVVM::ReduxKind> Combiner::getRedux() const {
  if (!wide.isInteger(32))
    return std::nullopt;
  switch (reduction.kind) {
  case CombiningKind::ADD:
    return NVVM::ReduxKind::ADD;
  case CombiningKind::MINSI:
    return NVVM::ReduxKind::MIN;
  case CombiningKind::MAXSI:
    return NVVM::ReduxKind::MAX;
  case CombiningKind::MINUI:
    return NVVM::ReduxKind::UMIN;
  case CombiningKind::MAXUI:
    return NVVM::ReduxKind::UMAX;
  case CombiningKind::AND:
    return NVVM::ReduxKind::AND;
  case CombiningKind::OR:
    return NVVM::ReduxKind::OR;
  case CombiningKind::XOR:
    return NVVM::ReduxKind::XOR;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Plans where warps combine: in the scratch that the op names, otherwise in
/// scratch of the kernel.
static LogicalResult planScratch(Operation *op, const Reduction &reduction,
                                 const Distribution &from, Planner &planner,
                                 ReductionOpPlan &plan) {
  int64_t elements = plan.reduction.resultElements(from.getVectorLength());
  Type wide =
      getWideType(cast<VectorType>(reduction.source.getType()).getElementType(),
                  reduction.kind);
  int64_t bytesOfElement = plan.reduction.parts * plan.reduction.keptGroups *
                           getElementBits(wide) / 8;
  auto choose = [&](int64_t bytes) {
    for (int64_t chunk = elements; chunk > 0; --chunk)
      if (elements % chunk == 0 && chunk * bytesOfElement <= bytes)
        return chunk;
    return int64_t(0);
  };
  auto offset = op->getAttrOfType<IntegerAttr>(kOffset),
       size = op->getAttrOfType<IntegerAttr>(kScratchSize);
  KernelPlan &kernel = planner.getPlan();
  if (offset && size) {
    int64_t end = offset.getInt() + size.getInt();
    auto total =
        kernel.func->getAttrOfType<IntegerAttr>(mosaic_gpu::kSharedMemoryBytes);
    int64_t limit = total
                        ? total.getInt()
                        : planner.getVendor().getTarget().sharedMemoryPerBlock;
    if (offset.getInt() < 0 || size.getInt() < 0 || end > limit)
      return op->emitOpError()
             << "has scratch that ends at byte " << end
             << " of shared memory; the limit is " << limit << " bytes";
    constexpr int64_t widest = 16;
    plan.bytes = llvm::alignDown(
        static_cast<uint64_t>(size.getInt() / getNumThreadGroups(kernel.grid)),
        widest);
    plan.chunk = choose(plan.bytes);
    if (plan.chunk > 0 && offset.getInt() % widest == 0) {
      plan.offset = offset.getInt();
      kernel.sharedMemoryBytes = std::max(kernel.sharedMemoryBytes, end);
      return success();
    }
  }
  plan.chunk = std::max<int64_t>(choose(kOwnScratchBytes), 1);
  return reserveScratch(op, planner, plan.chunk * bytesOfElement);
}

LogicalResult Reductions::plan(Operation *op, Planner &planner) const {
  Reduction reduction = getReduction(op);
  auto type = cast<VectorType>(reduction.source.getType());
  Type elementType = type.getElementType();
  if (isa<FloatType>(elementType) && !elementType.isF16() &&
      !elementType.isBF16() && !elementType.isF32() && !elementType.isF64())
    return op->emitOpError() << "reduces elements of type " << elementType
                             << "; floats must be f16, bf16, f32 or f64";
  const Distribution from = *planner.find(reduction.source);
  const Distribution *to = nullptr;
  if (isVector(reduction.result)) {
    Attribute declared = layoutAt(op, mosaic_gpu::kOutLayouts, 0);
    std::optional<layout::RegisterLayout> result;
    if (!from.isSplat()) {
      auto reduced = layout::reduce(getRegisterLayout(from), from.getShape(),
                                    reduction.axes, /*keepDims=*/false,
                                    planner.getGrid().numThreads);
      if (!reduced)
        return op->emitOpError() << "cannot reduce a vector in layout "
                                 << from.str() << ": " << reduced.reason;
      result = *reduced;
    }
    if (!declared) {
      MLIRContext *context = op->getContext();
      auto resultType = cast<VectorType>(reduction.result.getType());
      if (!result || std::holds_alternative<layout::SplatLayout>(*result))
        declared = mosaic_gpu::WGSplatFragLayoutAttr::get(
            context, resultType.getShape());
      else if (auto *tiled = std::get_if<layout::TiledLayout>(&*result))
        declared = mosaic_gpu::TiledLayoutAttr::get(context, *tiled);
      else
        declared = mosaic_gpu::WGStridedFragLayoutAttr::get(
            context, resultType.getShape(),
            std::get<layout::StridedLayout>(*result).vectorSize);
    }
    if (failed(planner.setLayout(op, reduction.result, declared)))
      return failure();
    to = planner.find(reduction.result);
    auto canonical = [](layout::RegisterLayout layout) {
      if (auto *tiled = std::get_if<layout::TiledLayout>(&layout))
        return layout::RegisterLayout(tiled->canonical());
      return layout;
    };
    if (result && !(canonical(getRegisterLayout(*to)) == canonical(*result)))
      return op->emitOpError()
             << "has a result in layout " << to->str()
             << ", but reducing layout " << from.str() << " gives layout "
             << layout::toString(canonical(*result));
  }
  if (to) {
    const Distribution &initial = *planner.find(reduction.accumulator);
    if (!initial.isSplat() && initial != *to)
      return op->emitOpError()
             << "has an initial value in layout " << initial.str()
             << ", but a result in layout " << to->str();
  }
  auto plan = std::make_unique<ReductionOpPlan>();
  if (!from.isSplat()) {
    plan->reduction =
        planReduction(from, to, reduction.axes, planner.getGrid());
    if (plan->reduction.parts > 1 &&
        failed(planScratch(op, reduction, from, planner, *plan)))
      return failure();
  }
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Combines the values of the lanes of a warp; all lanes get the result.
static void emitLanes(OpBuilder &builder, Location loc, ThreadIndices &indices,
                      const ReductionPlan &plan, const Combiner &combiner,
                      MutableArrayRef<Value> values) {
  int64_t lanes = indices.getGrid().waveSize;
  Type i32 = builder.getI32Type();
  if (std::optional<NVVM::ReduxKind> kind = combiner.getRedux();
      kind && int64_t(1) << plan.laneBits.size() == lanes) {
    for (Value &value : values) {
      SmallVector<Value> words;
      for (Value word : toWords(builder, loc, value))
        words.push_back(NVVM::ReduxOp::create(builder, loc, i32, word, *kind,
                                              getI32(builder, loc, -1),
                                              /*abs=*/false, /*nan=*/false));
      value = fromWords(builder, loc, words, cast<VectorType>(value.getType()));
    }
    return;
  }
  // Values narrower than a word are packed.
  constexpr int64_t wordBits = 32;
  auto type = cast<VectorType>(values.front().getType());
  int64_t bits = type.getDimSize(0) * getElementBits(type.getElementType());
  size_t together =
      bits < wordBits && wordBits % bits == 0 ? wordBits / bits : 1;
  for (size_t first = 0; first < values.size(); first += together) {
    MutableArrayRef<Value> own =
        values.slice(first, std::min(together, values.size() - first));
    Value joined = concatenate(builder, loc, own);
    auto joinedType = cast<VectorType>(joined.getType());
    for (int64_t bit : plan.laneBits) {
      SmallVector<Value> words;
      for (Value word : toWords(builder, loc, joined))
        words.push_back(NVVM::ShflOp::create(
            builder, loc, i32, getI32(builder, loc, -1), word,
            getI32(builder, loc, bit), getI32(builder, loc, lanes - 1),
            NVVM::ShflKind::bfly, UnitAttr()));
      joined =
          combiner.combine(joined, fromWords(builder, loc, words, joinedType));
    }
    for (auto [index, value] : llvm::enumerate(own))
      value = takeElements(builder, loc, joined, index * type.getDimSize(0),
                           type.getDimSize(0));
  }
}

namespace {
/// Combines across warps through shared memory: [part][group][element of a
/// chunk].
class WarpExchange {
public:
  WarpExchange(OpBuilder &builder, Location loc, Emitter &emitter,
               const ReductionOpPlan &plan, const Combiner &combiner);
  /// Combines one vector of the elements of a chunk.
  Value exchange(Value chunk);

private:
  Value getNumber(Role role, bool ofLanes);
  Value getPointer(OpBuilder &at, Value index);
  Type getMemoryType(Type elementType) const;

  OpBuilder &builder;
  Location loc;
  Emitter &emitter;
  const ReductionOpPlan &plan;
  const Combiner &combiner;
  SharedAddress start;
  int64_t elementBytes, width;
  Value isWriter, written, read;
};
} // namespace

/// The number that the digits of one role form from the thread id; null: 0.
static Value
emitNumber(ThreadIndices &indices, const ReductionPlan &plan,
           llvm::function_ref<bool(const ThreadDigit &)> isWanted) {
  Value number;
  int64_t weight = 1, threads = indices.getGrid().numThreads;
  for (const ThreadDigit &digit : llvm::reverse(plan.digits)) {
    if (!isWanted(digit))
      continue;
    Value value = indices.div(indices.getThread(), digit.divisor);
    if (digit.divisor * digit.size < threads)
      value = indices.rem(value, digit.size);
    number = indices.add(number, indices.mul(value, weight));
    weight *= digit.size;
  }
  return number;
}

WarpExchange::WarpExchange(OpBuilder &builder, Location loc, Emitter &emitter,
                           const ReductionOpPlan &plan,
                           const Combiner &combiner)
    : builder(builder), loc(loc), emitter(emitter), plan(plan),
      combiner(combiner),
      start(plan.offset < 0
                ? getScratch(emitter)
                : getThreadGroupAddress(emitter, plan.offset, plan.bytes)) {
  ThreadIndices &indices = emitter.indices;
  const ReductionPlan &reduction = plan.reduction;
  int64_t lanes = indices.getGrid().waveSize;
  elementBytes = getElementBits(combiner.getType()) / 8;
  constexpr int64_t widest = 16;
  width = widest / elementBytes;
  while (plan.chunk % width != 0)
    width /= 2;
  OpBuilder &head = indices.getBuilder();
  // One of the threads that hold the same value writes it.
  Value others = emitNumber(indices, reduction, [&](const ThreadDigit &digit) {
    return digit.role == Role::Repeated ||
           (digit.role == Role::Reduced && digit.divisor < lanes);
  });
  if (others)
    isWriter =
        arith::CmpIOp::create(head, indices.getLoc(), arith::CmpIPredicate::eq,
                              others, indices.getConstant(0));
  Value part = emitNumber(indices, reduction, [&](const ThreadDigit &digit) {
    return digit.role == Role::Reduced && digit.divisor >= lanes;
  });
  Value kept = emitNumber(indices, reduction, [&](const ThreadDigit &digit) {
    return digit.role == Role::Kept;
  });
  int64_t step = plan.chunk * elementBytes;
  auto toI32 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(head, indices.getLoc(), head.getI32Type(),
                                      value ? value : indices.getConstant(0));
  };
  Value own = indices.mul(kept, step);
  read = toI32(own);
  written =
      toI32(indices.add(own, indices.mul(part, reduction.keptGroups * step)));
}

Value WarpExchange::getPointer(OpBuilder &at, Value offset) {
  Value sum = arith::AddIOp::create(at, loc, start.offset, offset);
  return LLVM::GEPOp::create(at, loc, start.base.getType(), at.getI8Type(),
                             start.base, ArrayRef<LLVM::GEPArg>{sum});
}

Value WarpExchange::exchange(Value chunk) {
  Type elementType = combiner.getType();
  Type stored = getStorageType(elementType);
  auto pieceType = VectorType::get({width}, elementType);
  unsigned alignment = width * elementBytes;
  auto at = [&](OpBuilder &nested, Value pointer, int64_t offset) -> Value {
    if (offset == 0)
      return pointer;
    return LLVM::GEPOp::create(
        nested, loc, pointer.getType(), nested.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  };
  auto write = [&](OpBuilder &nested) {
    Value pointer = getPointer(nested, written);
    for (int64_t element = 0; element < plan.chunk; element += width) {
      Value piece = takeElements(nested, loc, chunk, element, width);
      if (stored != elementType)
        piece = elementType.isIndex()
                    ? arith::IndexCastOp::create(nested, loc,
                                                 pieceType.clone(stored), piece)
                          .getResult()
                    : vector::BitCastOp::create(nested, loc,
                                                pieceType.clone(stored), piece)
                          .getResult();
      LLVM::StoreOp::create(nested, loc, piece,
                            at(nested, pointer, element * elementBytes),
                            alignment);
    }
  };
  if (isWriter)
    scf::IfOp::create(builder, loc, isWriter, [&](OpBuilder &nested, Location) {
      write(nested);
      scf::YieldOp::create(nested, loc);
    });
  else
    write(builder);
  emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  Value pointer = getPointer(builder, read);
  SmallVector<Value> parts;
  for (int64_t part = 0; part < plan.reduction.parts; ++part) {
    SmallVector<Value> pieces;
    for (int64_t element = 0; element < plan.chunk; element += width) {
      int64_t offset =
          (part * plan.reduction.keptGroups * plan.chunk + element) *
          elementBytes;
      Value piece =
          LLVM::LoadOp::create(builder, loc, pieceType.clone(stored),
                               at(builder, pointer, offset), alignment);
      if (stored != elementType)
        piece = elementType.isIndex()
                    ? arith::IndexCastOp::create(builder, loc, pieceType, piece)
                          .getResult()
                    : vector::BitCastOp::create(builder, loc, pieceType, piece)
                          .getResult();
      pieces.push_back(piece);
    }
    parts.push_back(concatenate(builder, loc, pieces));
  }
  emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  return combiner.combine(parts);
}

/// Combines the values of the warps, chunk by chunk.
static void emitWarps(OpBuilder &builder, Location loc, Emitter &emitter,
                      const ReductionOpPlan &plan, const Combiner &combiner,
                      MutableArrayRef<Value> values) {
  WarpExchange warps(builder, loc, emitter, plan, combiner);
  Value all = concatenate(builder, loc, values);
  int64_t elements = cast<VectorType>(all.getType()).getDimSize(0);
  SmallVector<Value> chunks;
  for (int64_t first = 0; first < elements; first += plan.chunk)
    chunks.push_back(
        warps.exchange(takeElements(builder, loc, all, first, plan.chunk)));
  all = concatenate(builder, loc, chunks);
  int64_t length = elements / static_cast<int64_t>(values.size());
  for (auto [index, value] : llvm::enumerate(values))
    value = takeElements(builder, loc, all, index * length, length);
}

void Reductions::emit(Operation *op, Emitter &emitter,
                      OpBuilder &builder) const {
  Reduction reduction = getReduction(op);
  Location loc = op->getLoc();
  const auto &plan = *emitter.plan.getOpPlan<ReductionOpPlan>(op);
  const Distribution &from = emitter.plan.getDistribution(reduction.source);
  Combiner combiner(builder, loc, reduction);
  Registers held = emitter.getRegisters(reduction.source), values;
  if (from.isSplat()) {
    int64_t count = 1;
    for (int64_t axis : reduction.axes)
      count *= from.getShape()[axis];
    values.push_back(combiner.repeat(combiner.widen(held.front()), count));
  } else {
    for (ArrayRef<int64_t> sources : plan.reduction.sources) {
      SmallVector<Value> own;
      for (int64_t reg : sources)
        own.push_back(combiner.widen(held[reg]));
      Value value = combiner.combine(own);
      if (plan.reduction.reducesElements)
        value = combiner.combineElements(value);
      values.push_back(value);
    }
    if (!plan.reduction.laneBits.empty())
      emitLanes(builder, loc, emitter.indices, plan.reduction, combiner,
                values);
    if (plan.reduction.parts > 1)
      emitWarps(builder, loc, emitter, plan, combiner, values);
  }

  if (!isVector(reduction.result)) {
    Value scalar = vector::ExtractOp::create(builder, loc, values.front(),
                                             ArrayRef<int64_t>{0});
    if (reduction.accumulator)
      scalar = combiner.combine(
          combiner.widen(emitter.lookup(reduction.accumulator)), scalar);
    return emitter.map(reduction.result, combiner.narrow(scalar));
  }
  const Distribution &to = emitter.plan.getDistribution(reduction.result);
  if (from.isSplat()) {
    Value scalar = vector::ExtractOp::create(builder, loc, values.front(),
                                             ArrayRef<int64_t>{0});
    Value splat = vector::BroadcastOp::create(
        builder, loc, to.getRegisterType(combiner.getType()), scalar);
    values.assign(to.getNumRegisters(), splat);
  }
  Registers accumulator =
      emitter.getRegisters(reduction.accumulator, to, builder);
  Registers results;
  for (auto [value, initial] : llvm::zip_equal(values, accumulator))
    results.push_back(
        combiner.narrow(combiner.combine(combiner.widen(initial), value)));
  emitter.setRegisters(reduction.result, std::move(results));
}

void block_to_thread::registerNVIDIAReductions(OpLowerings &lowerings) {
  lowerings.add<Reductions, vector::MultiDimReductionOp, vector::ReductionOp>();
}
