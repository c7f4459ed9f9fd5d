//===- SharedBuffers.cpp - Buffers in shared memory and their accesses ----===//

#include "passes/SharedMemory/SharedBuffers.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/Distribution.h"
#include "passes/Interfaces/MemoryAccess.h"
#include "passes/Support/Divisibility.h"
#include "passes/Support/MemorySize.h"
#include "targets/Target.h"

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

#include <map>
#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::banks;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether the program sees a buffer through typed views of its bytes alone.
static bool isUntyped(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.getElementType().isInteger(8) && type.getRank() == 1 &&
         llvm::any_of(buffer.getUsers(), llvm::IsaPred<memref::ViewOp>);
}

SmallVector<Value> smalti::findSharedBuffers(FunctionOpInterface function) {
  SmallVector<Value> buffers;
  auto add = [&](Value buffer) {
    if (!isa<MemRefType>(buffer.getType()))
      return;
    if (!isUntyped(buffer)) {
      buffers.push_back(buffer);
      return;
    }
    // Users are listed last one first.
    SmallVector<Value> views;
    for (Operation *user : buffer.getUsers())
      if (auto view = dyn_cast<memref::ViewOp>(user))
        views.push_back(view);
    buffers.append(views.rbegin(), views.rend());
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
      llvm::for_each(kernel.getWorkgroupAttributions(), add);
    if (auto launch = dyn_cast<gpu::LaunchOp>(op))
      llvm::for_each(launch.getWorkgroupAttributions(), add);
    if (op->getNumResults() != 1 ||
        !isa<MemRefType>(op->getResult(0).getType()) ||
        getMemorySpace(op->getResult(0)) != MemorySpace::Shared)
      return;
    Value result = op->getResult(0);
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (isa<gpu::DynamicSharedMemoryOp, mosaic_gpu::SliceSMEMOp>(op) ||
        (effects && effects.getEffectOnValue<MemoryEffects::Allocate>(result)))
      add(result);
  });
  return buffers;
}

Operation *smalti::getBufferOp(Value buffer) {
  if (Operation *op = buffer.getDefiningOp())
    return op;
  return cast<BlockArgument>(buffer).getOwner()->getParentOp();
}

bool smalti::isSelected(Value buffer, StringRef name, bool markedOnly) {
  Operation *op = buffer.getDefiningOp();
  auto mark = op ? op->getAttrOfType<BoolAttr>(name) : BoolAttr();
  return mark ? mark.getValue() : !markedOnly;
}

std::optional<RowShape> smalti::getRowShape(MemRefType type,
                                            std::string &reason) {
  if (!type.hasStaticShape())
    reason = "has a size that is not known at compile time";
  else if (!type.getLayout().isIdentity())
    reason = "has the layout " + describe(type) + ", which is not the identity";
  else if (type.getRank() < 2)
    reason = "has one dimension, so that there are no rows to move apart";
  else if (!getBufferBytes(type))
    reason = "has a size in bytes that is not known";
  else if (type.getNumElements() == 0)
    reason = "is empty";
  if (!reason.empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  return RowShape{shape[shape.size() - 2], shape.back(),
                  *getElementBytes(type.getElementType())};
}

std::string AccessPattern::str() const {
  std::string text =
      std::to_string(known) + (known == 1 ? " access" : " accesses");
  if (unknown != 0)
    text += " (" + std::to_string(unknown) + " more are not known)";
  return text;
}

Cost AccessPattern::getCost(
    const BankModel &model,
    llvm::function_ref<int64_t(int64_t)> address) const {
  Cost total;
  SmallVector<int64_t, 64> addresses;
  for (const LaneAccess &access : accesses) {
    addresses.clear();
    for (int64_t element : access.elements)
      addresses.push_back(element == kInactive ? kInactive : address(element));
    Cost cost = banks::getCost(model, access.bytes, access.isRead, addresses);
    total.cycles += access.times * cost.cycles;
    total.conflicts += access.times * cost.conflicts;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Index arithmetic of lanes
//===----------------------------------------------------------------------===//

/// Waves whose accesses are looked at; further ones do the same elsewhere.
static constexpr int64_t kMaxWaves = 4;
/// Chains of index arithmetic are short; a bound keeps the stack small.
static constexpr unsigned kMaxDepth = 200;

using Lanes = SmallVector<int64_t, 64>;

class LaneEvaluator::Impl {
public:
  Impl(FunctionOpInterface function, const targets::Target &target)
      : function(function), target(target) {}

  AccessPattern getPattern(Value buffer, const BufferUses &uses);

private:
  /// Threads of a block along x, y and z around an op; nothing where they are
  /// not known.
  std::optional<std::array<int64_t, 3>> getBlockSize(Operation *op);
  int64_t getNumThreads(Operation *op);

  void startWave(int64_t number) {
    wave = number;
    values.clear();
  }
  const Lanes *evaluate(Value value, unsigned depth = 0);
  std::optional<Lanes> compute(Value value, unsigned depth);
  std::optional<Lanes> computeArgument(BlockArgument argument, unsigned depth);
  std::optional<Lanes> computeOp(Operation *op, unsigned result,
                                 unsigned depth);
  std::optional<Lanes> computeExpr(AffineExpr expr, unsigned numDims,
                                   ValueRange operands, unsigned depth);
  Lanes fill(int64_t value) const { return Lanes(target.waveSize, value); }
  Lanes getThreadId(Operation *op, gpu::Dimension dimension);
  template <typename Fn>
  std::optional<Lanes> combine(Value lhs, Value rhs, unsigned depth, Fn fn);
  /// Where `memref` begins in the buffer.
  std::optional<Lanes> getStart(Value buffer, Value memref);
  std::optional<Lanes> getElements(Value buffer, Value memref,
                                   ValueRange indices);
  std::optional<Lanes> add(std::optional<Lanes> sum, OpFoldResult value,
                           int64_t factor);
  std::optional<Lanes> getElementsOf(Value buffer, OpOperand &memref,
                                     const RowAccess &access);
  void deactivate(Operation *op, Lanes &elements);

  bool addRowAccess(Value buffer, OpOperand &memref, const RowAccess &access);
  bool addBlockAccess(Value buffer, OpOperand &memref,
                      const BlockAccess &access);
  void record(int64_t bytes, bool isRead, Lanes elements);

  FunctionOpInterface function;
  const targets::Target &target;
  int64_t wave = 0;
  DenseMap<Value, std::unique_ptr<std::optional<Lanes>>> values;
  /// Equal accesses are counted once and weighed.
  std::map<std::tuple<int64_t, bool, std::vector<int64_t>>, int64_t> found;
};

static bool isStaticStrided(MemRefType type,
                            SmallVectorImpl<int64_t> &strides) {
  int64_t offset;
  return type && succeeded(type.getStridesAndOffset(strides, offset)) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

std::optional<std::array<int64_t, 3>>
LaneEvaluator::Impl::getBlockSize(Operation *op) {
  auto launch = dyn_cast<gpu::LaunchOp>(op);
  if (!launch)
    launch = op->getParentOfType<gpu::LaunchOp>();
  if (launch) {
    gpu::KernelDim3 size = launch.getBlockSizeOperandValues();
    std::optional<int64_t> x = getConstantIntValue(size.x),
                           y = getConstantIntValue(size.y),
                           z = getConstantIntValue(size.z);
    if (x && y && z && *x > 0 && *y > 0 && *z > 0)
      return std::array<int64_t, 3>{*x, *y, *z};
    return std::nullopt;
  }
  Operation *kernel = function;
  std::optional<ArrayRef<int32_t>> size;
  if (auto gpuFunction = dyn_cast<gpu::GPUFuncOp>(kernel))
    size = gpuFunction.getKnownBlockSize();
  else if (auto attribute = kernel->getAttrOfType<DenseI32ArrayAttr>(
               gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr()))
    size = attribute.asArrayRef();
  if (!size || size->size() != 3 ||
      llvm::any_of(*size, [](int32_t length) { return length <= 0; }))
    return std::nullopt;
  return std::array<int64_t, 3>{(*size)[0], (*size)[1], (*size)[2]};
}

int64_t LaneEvaluator::Impl::getNumThreads(Operation *op) {
  std::optional<std::array<int64_t, 3>> size = getBlockSize(op);
  return size ? (*size)[0] * (*size)[1] * (*size)[2] : target.waveSize;
}

/// Threads of a block whose size is not known count as one row.
Lanes LaneEvaluator::Impl::getThreadId(Operation *op,
                                       gpu::Dimension dimension) {
  std::optional<std::array<int64_t, 3>> size = getBlockSize(op);
  Lanes lanes = fill(0);
  for (auto [lane, id] : llvm::enumerate(lanes)) {
    int64_t thread = wave * target.waveSize + static_cast<int64_t>(lane);
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

const Lanes *LaneEvaluator::Impl::evaluate(Value value, unsigned depth) {
  auto known = values.find(value);
  if (known == values.end()) {
    if (depth > kMaxDepth)
      return nullptr;
    auto result =
        std::make_unique<std::optional<Lanes>>(compute(value, depth + 1));
    known = values.try_emplace(value, std::move(result)).first;
  }
  return *known->second ? &**known->second : nullptr;
}

std::optional<Lanes> LaneEvaluator::Impl::compute(Value value, unsigned depth) {
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return fill(*constant);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument, depth);
  auto result = cast<OpResult>(value);
  return computeOp(result.getOwner(), result.getResultNumber(), depth);
}

std::optional<Lanes>
LaneEvaluator::Impl::computeArgument(BlockArgument argument, unsigned depth) {
  Operation *op = argument.getOwner()->getParentOp();
  auto copy = [&](Value value) -> std::optional<Lanes> {
    const Lanes *lanes = evaluate(value, depth);
    return lanes ? std::optional<Lanes>(*lanes) : std::nullopt;
  };
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return argument == loop.getInductionVar()
               ? copy(loop.getLowerBound())
               : copy(loop.getTiedLoopInit(argument)->get());
  if (auto loop = dyn_cast<affine::AffineForOp>(op)) {
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
    return argument.getArgNumber() < launch.getNumConfigRegionAttributes()
               ? std::optional<Lanes>(fill(0))
               : std::nullopt;
  }
  // What a kernel is given is the same for all threads.
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op); kernel && kernel.isKernel())
    return fill(0);
  return std::nullopt;
}

template <typename Fn>
std::optional<Lanes> LaneEvaluator::Impl::combine(Value lhs, Value rhs,
                                                  unsigned depth, Fn fn) {
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
static std::optional<int64_t> takeRest(int64_t a, int64_t b) {
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

std::optional<Lanes> LaneEvaluator::Impl::computeExpr(AffineExpr expr,
                                                      unsigned numDims,
                                                      ValueRange operands,
                                                      unsigned depth) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return fill(constant.getValue());
  auto copy = [&](unsigned operand) -> std::optional<Lanes> {
    const Lanes *lanes = evaluate(operands[operand], depth);
    return lanes ? std::optional<Lanes>(*lanes) : std::nullopt;
  };
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return copy(dim.getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return copy(numDims + symbol.getPosition());
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

/// Ops whose result is the same for all threads of a block.
static bool isUniform(Operation *op) {
  return isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::ClusterIdOp,
             gpu::ClusterDimOp, gpu::ClusterBlockIdOp, gpu::ClusterDimBlocksOp,
             NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp,
             ROCDL::BlockIdXOp, ROCDL::BlockIdYOp, ROCDL::BlockIdZOp>(op);
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

std::optional<Lanes>
LaneEvaluator::Impl::computeOp(Operation *op, unsigned result, unsigned depth) {
  if (std::optional<gpu::Dimension> dimension = getThreadDimension(op))
    return getThreadId(op, *dimension);
  if (isUniform(op))
    return fill(0);
  using Result = std::optional<Lanes>;
  using Number = std::optional<int64_t>;
  auto binary = [&](auto fn) {
    return combine(op->getOperand(0), op->getOperand(1), depth, fn);
  };
  auto copy = [&](Value value) -> Result {
    const Lanes *lanes = evaluate(value, depth);
    return lanes ? Result(*lanes) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<gpu::LaneIdOp, NVVM::LaneIdOp>([&](auto) {
        Lanes lanes = fill(0);
        std::iota(lanes.begin(), lanes.end(), 0);
        return Result(lanes);
      })
      .Case([&](gpu::SubgroupIdOp) { return Result(fill(wave)); })
      .Case([&](gpu::SubgroupSizeOp) { return Result(fill(target.waveSize)); })
      .Case([&](gpu::BlockDimOp dim) -> Result {
        auto size = getBlockSize(op);
        if (!size)
          return std::nullopt;
        return fill((*size)[static_cast<int>(dim.getDimension())]);
      })
      .Case([&](gpu::GlobalIdOp id) {
        return Result(getThreadId(op, id.getDimension()));
      })
      .Case([&](ROCDL::ReadfirstlaneOp read) -> Result {
        Result lanes = copy(read.getSrc());
        return lanes ? Result(fill(lanes->front())) : std::nullopt;
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
          [&](auto) { return binary(takeRest); })
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
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) {
        return binary(
            [](int64_t a, int64_t b) { return Number(std::min(a, b)); });
      })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) {
        return binary(
            [](int64_t a, int64_t b) { return Number(std::max(a, b)); });
      })
      .Case([&](arith::CmpIOp compareOp) {
        return binary([&](int64_t a, int64_t b) -> Number {
          std::optional<bool> holds = compare(compareOp.getPredicate(), a, b);
          return holds ? Number(*holds) : std::nullopt;
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
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](auto cast) { return copy(cast.getIn()); })
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
        // Without an outer bound the first result has no basis.
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
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

std::optional<Lanes> LaneEvaluator::Impl::add(std::optional<Lanes> sum,
                                              OpFoldResult value,
                                              int64_t factor) {
  if (!sum)
    return std::nullopt;
  std::optional<int64_t> constant = getConstantIntValue(value);
  const Lanes *lanes = constant ? nullptr : evaluate(cast<Value>(value));
  if (!constant && !lanes)
    return std::nullopt;
  for (auto [lane, total] : llvm::enumerate(*sum))
    total += (constant ? *constant : (*lanes)[lane]) * factor;
  return sum;
}

std::optional<Lanes> LaneEvaluator::Impl::getStart(Value buffer, Value memref) {
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
          memref::AssumeAlignmentOp, memref::MemorySpaceCastOp>(op))
    return start;
  auto subview = dyn_cast<memref::SubViewOp>(op);
  SmallVector<int64_t> strides;
  if (!subview || !isStaticStrided(subview.getSourceType(), strides))
    return std::nullopt;
  for (auto [offset, stride] :
       llvm::zip_equal(subview.getMixedOffsets(), strides))
    start = add(start, offset, stride);
  return start;
}

std::optional<Lanes> LaneEvaluator::Impl::getElements(Value buffer,
                                                      Value memref,
                                                      ValueRange indices) {
  SmallVector<int64_t> strides;
  if (!isStaticStrided(dyn_cast<MemRefType>(memref.getType()), strides))
    return std::nullopt;
  std::optional<Lanes> elements = getStart(buffer, memref);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    elements = add(elements, OpFoldResult(index), stride);
  return elements;
}

/// Takes out the lanes that do not come to `op`, as far as it is known.
void LaneEvaluator::Impl::deactivate(Operation *op, Lanes &elements) {
  int64_t threads = getNumThreads(op);
  for (auto [lane, element] : llvm::enumerate(elements))
    if (wave * target.waveSize + static_cast<int64_t>(lane) >= threads)
      element = kInactive;
  for (Operation *inner = op, *outer = op->getParentOp();
       outer && outer != function;
       inner = outer, outer = outer->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(outer);
    const Lanes *condition = branch ? evaluate(branch.getCondition()) : nullptr;
    if (!condition)
      continue;
    bool isElse = inner->getParentRegion() == &branch.getElseRegion();
    for (auto [element, holds] : llvm::zip_equal(elements, *condition))
      if ((holds != 0) == isElse)
        element = kInactive;
  }
}

void LaneEvaluator::Impl::record(int64_t bytes, bool isRead, Lanes elements) {
  if (llvm::all_of(elements,
                   [](int64_t element) { return element == kInactive; }))
    return;
  ++found[{bytes, isRead,
           std::vector<int64_t>(elements.begin(), elements.end())}];
}

bool LaneEvaluator::Impl::addRowAccess(Value buffer, OpOperand &memref,
                                       const RowAccess &access) {
  Operation *op = memref.getOwner();
  std::optional<Lanes> elements =
      getElements(buffer, memref.get(), access.indices);
  if (!elements)
    return false;
  if (access.isWaveWide)
    for (auto [lane, element] : llvm::enumerate(*elements))
      element =
          elements->front() + static_cast<int64_t>(lane) * access.elements;
  for (int64_t &element : *elements)
    if (element < 0)
      return false;
  deactivate(op, *elements);
  if (access.lanes != 0)
    for (int64_t lane = access.lanes; lane < target.waveSize; ++lane)
      (*elements)[lane] = kInactive;
  auto type = cast<MemRefType>(memref.get().getType());
  record(access.elements * *getElementBytes(type.getElementType()),
         access.isRead, std::move(*elements));
  return true;
}

bool LaneEvaluator::Impl::addBlockAccess(Value buffer, OpOperand &memref,
                                         const BlockAccess &access) {
  using block_to_thread::Distribution;
  auto type = dyn_cast<MemRefType>(memref.get().getType());
  SmallVector<int64_t> strides;
  std::optional<Lanes> start = getStart(buffer, memref.get());
  int64_t threads = getNumThreads(memref.getOwner());
  if (!start || !isStaticStrided(type, strides) || strides.empty() ||
      strides.back() != 1 || !type.hasStaticShape() ||
      threads % target.waveSize != 0)
    return false;
  int64_t elementBytes = *getElementBytes(type.getElementType());
  block_to_thread::ThreadGrid grid{threads, target.waveSize};
  std::string why;
  std::optional<Distribution> distribution;
  layout::StridedLayout chunks;
  chunks.shape.assign(type.getShape().begin(), type.getShape().end());
  int64_t registers, length;
  if (access.layout) {
    auto vector = dyn_cast<VectorType>(access.elementType);
    if (!vector || vector.getShape() != type.getShape())
      return false;
    distribution = Distribution::get(vector, access.layout, grid, why);
    if (!distribution || distribution->isSplat())
      return false;
    length = distribution->getVectorLength();
    registers = distribution->getNumRegisters();
  } else {
    length = 0;
    for (int64_t bytes : target.asyncCopyBytes)
      if (bytes % elementBytes == 0 &&
          type.getShape().back() * elementBytes % bytes == 0)
        length = bytes / elementBytes;
    if (length == 0)
      return false;
    registers = llvm::divideCeil(type.getNumElements() / length, threads);
  }
  chunks.vectorSize = length;
  // A register along another dimension is accessed element by element.
  bool isRow = !distribution || (distribution->getVectorDim() ==
                                     static_cast<int64_t>(type.getRank()) - 1 &&
                                 distribution->getVectorStride() == 1);
  int64_t pieces = isRow ? 1 : length;
  for (int64_t reg = 0; reg < registers; ++reg) {
    for (int64_t piece = 0; piece < pieces; ++piece) {
      Lanes elements = *start;
      for (auto [lane, element] : llvm::enumerate(elements)) {
        int64_t thread = wave * target.waveSize + static_cast<int64_t>(lane);
        SmallVector<int64_t> index;
        if (distribution &&
            distribution->getKind() == Distribution::Kind::Tiled) {
          index = distribution->getTiled().elementIndex(
              type.getShape(), wave, static_cast<int64_t>(lane), reg, piece);
        } else {
          if ((reg * threads + thread) * length >= type.getNumElements()) {
            element = kInactive;
            continue;
          }
          index = chunks.elementIndex(threads, thread, reg, piece);
        }
        for (auto [i, stride] : llvm::zip_equal(index, strides))
          element += i * stride;
      }
      record((isRow ? length : 1) * elementBytes, access.isRead,
             std::move(elements));
    }
  }
  return true;
}

AccessPattern LaneEvaluator::Impl::getPattern(Value buffer,
                                              const BufferUses &uses) {
  AccessPattern pattern;
  found.clear();
  DenseSet<Operation *> known, unknown;
  DenseSet<Value> own = {buffer};
  for (Operation *view : uses.views)
    own.insert(view->result_begin(), view->result_end());
  int64_t waves = 1;
  for (Operation *user : uses.users)
    waves = std::max<int64_t>(
        waves, llvm::divideCeil(getNumThreads(user), target.waveSize));
  for (int64_t number = 0; number < std::min(waves, kMaxWaves); ++number) {
    startWave(number);
    for (Operation *user : uses.users) {
      auto strided = dyn_cast<StridedAccessOpInterface>(user);
      for (OpOperand &operand : user->getOpOperands()) {
        if (!own.contains(operand.get()))
          continue;
        bool isKnown = false;
        if (strided) {
          if (std::optional<RowAccess> row = strided.getRowAccess(operand))
            isKnown = addRowAccess(buffer, operand, *row);
          else if (std::optional<BlockAccess> block =
                       strided.getBlockAccess(operand))
            isKnown = addBlockAccess(buffer, operand, *block);
        }
        (isKnown ? known : unknown).insert(user);
      }
    }
  }
  for (const auto &[key, times] : found) {
    const auto &[bytes, isRead, elements] = key;
    pattern.accesses.push_back(
        {bytes, isRead, SmallVector<int64_t>(elements.begin(), elements.end()),
         times});
  }
  pattern.known = known.size();
  pattern.unknown = unknown.size();
  return pattern;
}

LaneEvaluator::LaneEvaluator(FunctionOpInterface function,
                             const targets::Target &target)
    : impl(std::make_unique<Impl>(function, target)) {}
LaneEvaluator::~LaneEvaluator() = default;

AccessPattern LaneEvaluator::getPattern(Value buffer, const BufferUses &uses) {
  return impl->getPattern(buffer, uses);
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

unsigned smalti::log2ElementDivisor(Value buffer, Value memref,
                                    ValueRange indices) {
  unsigned divisor = 62;
  auto take = [&](OpFoldResult value, int64_t stride) {
    unsigned step = ShapedType::isDynamic(stride) ? 0 : log2Divisor(stride);
    divisor = std::min(divisor, log2Divisor(value) + step);
  };
  auto type = dyn_cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    take(OpFoldResult(index), stride);
  for (; memref != buffer;
       memref = memref.getDefiningOp<ViewLikeOpInterface>().getViewSource()) {
    Operation *view = memref.getDefiningOp();
    if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
            memref::AssumeAlignmentOp, memref::MemorySpaceCastOp>(view))
      continue;
    auto subview = dyn_cast<memref::SubViewOp>(view);
    strides.clear();
    if (!subview ||
        failed(subview.getSourceType().getStridesAndOffset(strides, offset)))
      return 0;
    for (auto [start, stride] :
         llvm::zip_equal(subview.getMixedOffsets(), strides))
      take(start, stride);
  }
  return divisor;
}
