//===- SharedBuffers.cpp - Shared-memory buffers and their accesses -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Resources/SharedBuffers.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Threads/ThreadValues.h"
#include "smalti/passes/Layouts/Vectors/Distribution.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/KernelAttributes.h"
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

#include <map>
#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::banks;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether a byte buffer is used through typed views.
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
    // The use list is in reverse order.
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

std::optional<std::string> smalti::readMark(Value buffer, StringRef name,
                                            std::optional<bool> &mark) {
  Operation *op = buffer.getDefiningOp();
  return op ? readBool(op, name, mark) : std::nullopt;
}

std::optional<RowShape> smalti::getRowShape(MemRefType type,
                                            std::string &reason) {
  if (!type.hasStaticShape())
    reason = "has a dynamic size: its type is " + describe(type) +
             "; a static shape is required";
  else if (!type.getLayout().isIdentity())
    reason = "has type " + describe(type) +
             ", whose layout is not the identity; "
             "allocate it without a layout";
  else if (type.getRank() < 2)
    reason =
        "has type " + describe(type) + "; at least two dimensions are required";
  else if (!getBufferBytes(type))
    reason = "has type " + describe(type) + ", whose size in bytes is unknown";
  else if (type.getNumElements() == 0)
    reason = "is empty: its type is " + describe(type);
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
    text +=
        " (the addresses of " + std::to_string(unknown) + " more are unknown)";
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
// Accesses
//===----------------------------------------------------------------------===//

/// The number of waves that are evaluated; further waves are assumed to be
/// alike.
static constexpr int64_t kMaxWaves = 4;

class LaneEvaluator::Impl {
public:
  Impl(FunctionOpInterface function, const targets::Target &target)
      : function(function), target(target),
        values(function, &target, ThreadValues::Assume::Typical) {}

  AccessPattern getPattern(Value buffer, const BufferUses &uses);

private:
  void deactivate(Operation *op, Lanes &elements);

  bool addRowAccess(Value buffer, OpOperand &memref, const RowAccess &access);
  bool addBlockAccess(Value buffer, OpOperand &memref,
                      const BlockAccess &access);
  void record(int64_t bytes, bool isRead, Lanes elements);

  FunctionOpInterface function;
  const targets::Target &target;
  int64_t wave = 0;
  ThreadValues values;
  /// Equal accesses are evaluated once and weighted.
  std::map<std::tuple<int64_t, bool, std::vector<int64_t>>, int64_t> found;
};

/// Deactivates the lanes that do not reach `op`, as far as that is known.
void LaneEvaluator::Impl::deactivate(Operation *op, Lanes &elements) {
  int64_t threads = values.getNumThreads(op);
  for (auto [lane, element] : llvm::enumerate(elements))
    if (wave * target.waveSize + static_cast<int64_t>(lane) >= threads)
      element = kInactive;
  for (Operation *inner = op, *outer = op->getParentOp();
       outer && outer != function;
       inner = outer, outer = outer->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(outer);
    const Lanes *condition =
        branch ? values.evaluate(branch.getCondition()) : nullptr;
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
      values.getElements(buffer, memref.get(), access.indices);
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
  std::optional<Lanes> start = values.getStart(buffer, memref.get());
  int64_t threads = values.getNumThreads(memref.getOwner());
  // A vector may be along any dimension, and threads copy rows.
  if (!start || !getStaticStrides(type, strides) || strides.empty() ||
      (!access.layout && strides.back() != 1) || !type.hasStaticShape() ||
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
  // A register whose elements are not adjacent is accessed with scalar
  // accesses.
  bool isRow = !distribution || (strides[distribution->getVectorDim()] == 1 &&
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
        waves, llvm::divideCeil(values.getNumThreads(user), target.waveSize));
  for (int64_t number = 0; number < std::min(waves, kMaxWaves); ++number) {
    wave = number;
    values.startWave(number);
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
            memref::AssumeAlignmentOp, memref::MemorySpaceCastOp,
            memref::TransposeOp>(view))
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
