//===- ThreadValues.cpp - Values of index arithmetic in each lane ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Threads/ThreadValues.h"

#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace smalti;

/// Chains of index arithmetic are short; the limit keeps the stack small.
static constexpr unsigned kMaxDepth = 200;
/// The number of lanes that are evaluated together without a wave size.
static constexpr int64_t kLanesWithoutTarget = 64;

bool smalti::getStaticStrides(MemRefType type,
                              SmallVectorImpl<int64_t> &strides) {
  int64_t offset;
  return type && succeeded(type.getStridesAndOffset(strides, offset)) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

ThreadValues::ThreadValues(FunctionOpInterface function,
                           const targets::Target *target, Assume assume)
    : function(function), target(target), assume(assume),
      numLanes(assume == Assume::NothingOfOneThread ? 1
               : target                             ? target->waveSize
                                                    : kLanesWithoutTarget) {}

int64_t ThreadValues::getNumThreads(Operation *op) const {
  std::optional<std::array<int64_t, 3>> size = getBlockSize(function, op);
  return size ? (*size)[0] * (*size)[1] * (*size)[2] : numLanes;
}

void ThreadValues::bind(Value value, Lanes lanes) {
  bound[value] = std::move(lanes);
  values.clear();
}

void ThreadValues::unbind(Value value) {
  bound.erase(value);
  values.clear();
}

std::optional<Lanes> ThreadValues::fit(Result lanes, Type type) const {
  if (!lanes)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    for (int64_t &value : *lanes)
      value = llvm::SignExtend64(value, integer.getWidth());
    return lanes;
  }
  if (isExact() && !llvm::all_of(*lanes, llvm::isInt<32>))
    return std::nullopt;
  return lanes;
}

std::optional<Lanes> ThreadValues::uniform() const {
  return isExact() ? std::nullopt : Result(fill(0));
}

std::optional<Lanes> ThreadValues::getThreadId(Operation *op,
                                               gpu::Dimension dimension) const {
  std::optional<std::array<int64_t, 3>> size = getBlockSize(function, op);
  if (assume == Assume::NothingOfOneThread || (!size && isExact()))
    return std::nullopt;
  Lanes lanes = fill(0);
  for (auto [lane, id] : llvm::enumerate(lanes)) {
    int64_t thread = getThread(static_cast<int64_t>(lane));
    if (!size)
      id = dimension == gpu::Dimension::x ? thread : 0;
    else if (dimension == gpu::Dimension::x)
      id = thread % (*size)[0];
    else if (dimension == gpu::Dimension::y)
      id = thread / (*size)[0] % (*size)[1];
    else
      id = thread / ((*size)[0] * (*size)[1]);
  }
  return lanes;
}

std::optional<Lanes> ThreadValues::getLaneId() const {
  if (assume == Assume::NothingOfOneThread || !target)
    return std::nullopt;
  Lanes lanes = fill(0);
  std::iota(lanes.begin(), lanes.end(), 0);
  return lanes;
}

std::optional<Lanes> ThreadValues::getWave() const {
  if (assume == Assume::NothingOfOneThread || !target)
    return std::nullopt;
  return fill(wave);
}

/// One lane of the wave, always the same.
std::optional<Lanes> ThreadValues::getElected(Operation *op) {
  Value mask = cast<NVVM::ElectSyncOp>(op).getMembermask();
  constexpr int64_t allLanes = -1;
  if (assume == Assume::NothingOfOneThread || !target ||
      (mask && getConstantIntValue(mask) != allLanes))
    return std::nullopt;
  needsElected = true;
  if (!elected)
    return std::nullopt;
  Lanes lanes = fill(0);
  lanes[*elected] = -1;
  return lanes;
}

const Lanes *ThreadValues::evaluate(Value value, unsigned depth) {
  if (auto stated = bound.find(value); stated != bound.end())
    return &stated->second;
  auto known = values.find(value);
  if (known == values.end()) {
    if (depth > kMaxDepth)
      return nullptr;
    auto result = std::make_unique<Result>(
        fit(compute(value, depth + 1), value.getType()));
    known = values.try_emplace(value, std::move(result)).first;
  }
  return *known->second ? &**known->second : nullptr;
}

std::optional<Lanes> ThreadValues::compute(Value value, unsigned depth) {
  auto integer = dyn_cast<IntegerType>(value.getType());
  if (!value.getType().isIntOrIndex() || (integer && integer.getWidth() > 64))
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return fill(*constant);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument, depth);
  auto result = cast<OpResult>(value);
  return computeOp(result.getOwner(), result.getResultNumber(), depth);
}

std::optional<Lanes> ThreadValues::computeArgument(BlockArgument argument,
                                                   unsigned depth) {
  Operation *op = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (isExact())
      return std::nullopt;
    return copy(argument == loop.getInductionVar()
                    ? loop.getLowerBound()
                    : loop.getTiedLoopInit(argument)->get(),
                depth);
  }
  if (auto loop = dyn_cast<affine::AffineForOp>(op); loop && !isExact()) {
    if (argument == loop.getInductionVar() && loop.hasConstantLowerBound())
      return fill(loop.getConstantLowerBound());
    return std::nullopt;
  }
  if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    if (argument == ids.x)
      return getThreadId(op, gpu::Dimension::x);
    if (argument == ids.y)
      return getThreadId(op, gpu::Dimension::y);
    if (argument == ids.z)
      return getThreadId(op, gpu::Dimension::z);
  }
  return isBlockUniformSource(argument) ? uniform() : std::nullopt;
}

std::optional<Lanes> ThreadValues::copy(Value value, unsigned depth) {
  const Lanes *lanes = evaluate(value, depth);
  return lanes ? Result(*lanes) : std::nullopt;
}

template <typename Fn>
std::optional<Lanes> ThreadValues::combine(Value lhs, Value rhs, unsigned depth,
                                           Fn fn) {
  const Lanes *left = evaluate(lhs, depth);
  const Lanes *right = evaluate(rhs, depth);
  if (!left || !right)
    return std::nullopt;
  Lanes result;
  for (auto [a, b] : llvm::zip_equal(*left, *right)) {
    std::optional<int64_t> value = fn(a, b);
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

static std::optional<int64_t> divide(int64_t a, int64_t b) {
  return a >= 0 && b > 0 ? std::optional<int64_t>(a / b) : std::nullopt;
}
static std::optional<int64_t> takeRemainder(int64_t a, int64_t b) {
  return a >= 0 && b > 0 ? std::optional<int64_t>(a % b) : std::nullopt;
}
static std::optional<int64_t> wrap(uint64_t value) {
  return static_cast<int64_t>(value);
}
static std::optional<int64_t> shiftLeft(int64_t a, int64_t b) {
  return b >= 0 && b < 63 ? wrap(static_cast<uint64_t>(a) << b) : std::nullopt;
}
static std::optional<int64_t> shiftRight(int64_t a, int64_t b) {
  return a >= 0 && b >= 0 && b < 63 ? std::optional<int64_t>(a >> b)
                                    : std::nullopt;
}

std::optional<Lanes> ThreadValues::computeExpr(AffineExpr expr,
                                               unsigned numDims,
                                               ValueRange operands,
                                               unsigned depth) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return fill(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return copy(operands[dim.getPosition()], depth);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return copy(operands[numDims + symbol.getPosition()], depth);
  if (depth > kMaxDepth)
    return std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Lanes> lhs =
      computeExpr(binary.getLHS(), numDims, operands, depth + 1);
  std::optional<Lanes> rhs =
      computeExpr(binary.getRHS(), numDims, operands, depth + 1);
  if (!lhs || !rhs)
    return std::nullopt;
  for (auto [a, b] : llvm::zip_equal(*lhs, *rhs)) {
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      a = *wrap(static_cast<uint64_t>(a) + b);
      continue;
    case AffineExprKind::Mul:
      a = *wrap(static_cast<uint64_t>(a) * b);
      continue;
    default:
      break;
    }
    if (b <= 0)
      return std::nullopt;
    int64_t rest = (a % b + b) % b;
    if (expr.getKind() == AffineExprKind::Mod)
      a = rest;
    else
      a = (a - rest) / b +
          (expr.getKind() == AffineExprKind::CeilDiv && rest != 0 ? 1 : 0);
  }
  return lhs;
}

static std::optional<gpu::Dimension> getThreadDimension(Operation *op) {
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return id.getDimension();
  if (isa<NVVM::ThreadIdXOp, ROCDL::ThreadIdXOp>(op))
    return gpu::Dimension::x;
  if (isa<NVVM::ThreadIdYOp, ROCDL::ThreadIdYOp>(op))
    return gpu::Dimension::y;
  if (isa<NVVM::ThreadIdZOp, ROCDL::ThreadIdZOp>(op))
    return gpu::Dimension::z;
  return std::nullopt;
}

static std::optional<bool> compare(arith::CmpIPredicate predicate, int64_t a,
                                   int64_t b) {
  using Predicate = arith::CmpIPredicate;
  uint64_t ua = a, ub = b;
  switch (predicate) {
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return a != b;
  case Predicate::slt:
    return a < b;
  case Predicate::sle:
    return a <= b;
  case Predicate::sgt:
    return a > b;
  case Predicate::sge:
    return a >= b;
  case Predicate::ult:
    return ua < ub;
  case Predicate::ule:
    return ua <= ub;
  case Predicate::ugt:
    return ua > ub;
  case Predicate::uge:
    return ua >= ub;
  }
  return std::nullopt;
}

std::optional<Lanes> ThreadValues::computeOp(Operation *op, unsigned result,
                                             unsigned depth) {
  if (std::optional<gpu::Dimension> dimension = getThreadDimension(op))
    return getThreadId(op, *dimension);
  using Number = std::optional<int64_t>;
  auto binary = [&](auto fn) {
    return combine(op->getOperand(0), op->getOperand(1), depth, fn);
  };
  auto copy = [&](Value value) { return this->copy(value, depth); };
  /// The value zero-extended from its type.
  auto zeroExtend = [&](Value value) {
    Result lanes = copy(value);
    if (auto integer = dyn_cast<IntegerType>(value.getType());
        lanes && integer && integer.getWidth() < 64)
      for (int64_t &lane : *lanes)
        lane &= llvm::maskTrailingOnes<uint64_t>(integer.getWidth());
    return lanes;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<gpu::LaneIdOp, NVVM::LaneIdOp>([&](auto) { return getLaneId(); })
      .Case([&](gpu::SubgroupIdOp) { return getWave(); })
      .Case([&](gpu::SubgroupSizeOp) {
        return target ? Result(fill(target->waveSize)) : std::nullopt;
      })
      .Case([&](gpu::BlockDimOp dim) -> Result {
        auto size = getBlockSize(function, op);
        if (!size)
          return std::nullopt;
        return fill((*size)[static_cast<int>(dim.getDimension())]);
      })
      .Case([&](gpu::GlobalIdOp id) {
        return isExact() ? std::nullopt : getThreadId(op, id.getDimension());
      })
      .Case([&](NVVM::ElectSyncOp) { return getElected(op); })
      .Case([&](NVVM::ShflOp shuffle) -> Result {
        // All lanes of the wave get the value of the first.
        Result lanes = copy(shuffle.getVal());
        constexpr int64_t allLanes = -1, lastLane = 31;
        if (!lanes || shuffle.getKind() != NVVM::ShflKind::idx ||
            !shuffle.getType().isInteger() ||
            getConstantIntValue(shuffle.getOffset()) != 0 ||
            getConstantIntValue(shuffle.getThreadMask()) != allLanes ||
            getConstantIntValue(shuffle.getMaskAndClamp()) != lastLane)
          return std::nullopt;
        return fill(lanes->front());
      })
      .Case([&](ROCDL::ReadfirstlaneOp read) -> Result {
        Result lanes = copy(read.getSrc());
        // The first active lane depends on the control flow around the op.
        if (!lanes || (isExact() && !llvm::all_equal(*lanes)))
          return std::nullopt;
        return fill(lanes->front());
      })
      .Case<arith::AddIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) {
          return wrap(static_cast<uint64_t>(a) + b);
        });
      })
      .Case<arith::SubIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) {
          return wrap(static_cast<uint64_t>(a) - b);
        });
      })
      .Case<arith::MulIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) {
          return wrap(static_cast<uint64_t>(a) * b);
        });
      })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return binary(divide); })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto) { return binary(takeRemainder); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) {
          return a >= 0 && b > 0 ? Number(a / b + (a % b != 0)) : std::nullopt;
        });
      })
      .Case<arith::ShLIOp>([&](auto) { return binary(shiftLeft); })
      .Case<arith::ShRUIOp, arith::ShRSIOp>(
          [&](auto) { return binary(shiftRight); })
      .Case<arith::AndIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) { return Number(a & b); });
      })
      .Case<arith::OrIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) { return Number(a | b); });
      })
      .Case<arith::XOrIOp>([&](auto) {
        return binary([](int64_t a, int64_t b) { return Number(a ^ b); });
      })
      .Case([&](arith::MinSIOp) {
        return binary(
            [](int64_t a, int64_t b) { return Number(std::min(a, b)); });
      })
      .Case([&](arith::MaxSIOp) {
        return binary(
            [](int64_t a, int64_t b) { return Number(std::max(a, b)); });
      })
      .Case([&](arith::MinUIOp) {
        return binary([](int64_t a, int64_t b) {
          return Number(
              static_cast<uint64_t>(a) < static_cast<uint64_t>(b) ? a : b);
        });
      })
      .Case([&](arith::MaxUIOp) {
        return binary([](int64_t a, int64_t b) {
          return Number(
              static_cast<uint64_t>(a) < static_cast<uint64_t>(b) ? b : a);
        });
      })
      .Case([&](arith::CmpIOp compareOp) {
        return binary([&](int64_t a, int64_t b) -> Number {
          std::optional<bool> holds = compare(compareOp.getPredicate(), a, b);
          return holds ? Number(*holds ? -1 : 0) : std::nullopt;
        });
      })
      .Case([&](arith::SelectOp select) -> Result {
        Result condition = copy(select.getCondition()),
               yes = copy(select.getTrueValue()),
               no = copy(select.getFalseValue());
        if (!condition || !yes || !no)
          return std::nullopt;
        for (auto [chosen, takes, other] :
             llvm::zip_equal(*yes, *condition, *no))
          if (takes == 0)
            chosen = other;
        return yes;
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto cast) { return copy(cast.getIn()); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto cast) { return zeroExtend(cast.getIn()); })
      .Case([&](affine::AffineApplyOp apply) {
        AffineMap map = apply.getAffineMap();
        return computeExpr(map.getResult(0), map.getNumDims(),
                           apply.getMapOperands(), depth);
      })
      .Case([&](affine::AffineDelinearizeIndexOp split) -> Result {
        Result lanes = copy(split.getLinearIndex());
        ArrayRef<int64_t> basis = split.getStaticBasis();
        if (!lanes || llvm::any_of(basis, [](int64_t size) {
              return ShapedType::isDynamic(size) || size <= 0;
            }))
          return std::nullopt;
        // Without an outer bound the first result cannot be computed.
        unsigned results = split->getNumResults();
        int64_t below = 1;
        ArrayRef<int64_t> inner = basis.take_back(results - 1 - result);
        for (int64_t size : inner)
          below *= size;
        for (int64_t &value : *lanes) {
          if (value < 0)
            return std::nullopt;
          value /= below;
          if (result > 0)
            value %= basis[basis.size() - (results - result)];
        }
        return lanes;
      })
      .Case([&](affine::AffineLinearizeIndexOp join) -> Result {
        ArrayRef<int64_t> basis = join.getStaticBasis();
        if (llvm::any_of(basis, ShapedType::isDynamic))
          return std::nullopt;
        Lanes sum = fill(0);
        int64_t numbers = join.getMultiIndex().size(), sizes = basis.size();
        for (int64_t i = 0; i < numbers; ++i) {
          Result lanes = copy(join.getMultiIndex()[i]);
          if (!lanes)
            return std::nullopt;
          int64_t own = sizes - numbers + i;
          for (auto [total, value] : llvm::zip_equal(sum, *lanes))
            total = total * (i > 0 && own >= 0 ? basis[own] : 1) + value;
        }
        return sum;
      })
      .Default([&](Operation *op) {
        return isBlockUniformSource(op) ? uniform() : Result();
      });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

std::optional<Lanes> ThreadValues::add(std::optional<Lanes> sum,
                                       OpFoldResult value, int64_t factor) {
  if (!sum)
    return std::nullopt;
  std::optional<int64_t> constant = getConstantIntValue(value);
  const Lanes *lanes = constant ? nullptr : evaluate(cast<Value>(value));
  if (!constant && !lanes)
    return std::nullopt;
  int64_t number;
  for (auto [lane, total] : llvm::enumerate(*sum))
    if (llvm::MulOverflow(constant ? *constant : (*lanes)[lane], factor,
                          number) ||
        llvm::AddOverflow(total, number, total))
      return std::nullopt;
  return sum;
}

std::optional<Lanes> ThreadValues::getStart(Value buffer, Value memref) {
  if (memref == buffer)
    return fill(0);
  Operation *op = memref.getDefiningOp();
  auto view = dyn_cast_or_null<ViewLikeOpInterface>(op);
  if (!view)
    return std::nullopt;
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return add(fill(0), cast.getMixedOffsets().front(), 1);
  std::optional<Lanes> start = getStart(buffer, view.getViewSource());
  if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
          memref::AssumeAlignmentOp, memref::MemorySpaceCastOp,
          memref::TransposeOp>(op))
    return start;
  auto subview = dyn_cast<memref::SubViewOp>(op);
  SmallVector<int64_t> strides;
  if (!subview || !getStaticStrides(subview.getSourceType(), strides))
    return std::nullopt;
  for (auto [offset, stride] :
       llvm::zip_equal(subview.getMixedOffsets(), strides))
    start = add(start, offset, stride);
  return start;
}

std::optional<Lanes> ThreadValues::getElements(Value buffer, Value memref,
                                               ValueRange indices) {
  SmallVector<int64_t> strides;
  if (!getStaticStrides(dyn_cast<MemRefType>(memref.getType()), strides))
    return std::nullopt;
  std::optional<Lanes> elements = getStart(buffer, memref);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    elements = add(elements, OpFoldResult(index), stride);
  return elements;
}
