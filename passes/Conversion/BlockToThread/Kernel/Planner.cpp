//===- Planner.cpp - Planning of the conversion ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Layouts/Plans/TransferDigits.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"
#include "smalti/targets/Target.h"
#include "smalti/targets/Text.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

OpPlan::~OpPlan() = default;

/// Whether the op is a buffer in shared memory, which is the same at block and
/// thread level. Mbarriers belong to block-level ops.
static bool isSharedBuffer(Operation *op) {
  auto slice = dyn_cast<mosaic_gpu::SliceSMEMOp>(op);
  return slice && !isa<mosaic_gpu::BarrierType>(
                      cast<MemRefType>(slice.getType()).getElementType());
}

Level block_to_thread::getLevel(gpu::GPUFuncOp func) {
  if (func->hasAttr(mosaic_gpu::kThreadGroupSize))
    return Level::Block;
  Level level = Level::Lowered;
  func.walk([&](Operation *op) {
    if (isSharedBuffer(op)) {
      level = Level::Thread;
      return WalkResult::advance();
    }
    bool isBlockOp =
        isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()) ||
        op->hasAttr(mosaic_gpu::kInLayouts) ||
        op->hasAttr(mosaic_gpu::kOutLayouts) ||
        triton_xla::ExternalCode::of(op);
    if (!isBlockOp)
      return WalkResult::advance();
    level = Level::Block;
    return WalkResult::interrupt();
  });
  return level;
}

Attribute block_to_thread::layoutAt(Operation *op, StringRef name,
                                    unsigned index) {
  auto layouts = op->getAttrOfType<ArrayAttr>(name);
  return layouts && index < layouts.size() ? layouts[index] : Attribute();
}

/// The declared layout of a value, looking through control flow without
/// layouts: passes that rebuild loops drop their attributes.
Attribute block_to_thread::findDeclaredLayout(Value value, unsigned depth) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || depth > 8)
    return {};
  Operation *op = result.getOwner();
  unsigned index = 0;
  for (OpResult other : op->getResults().take_front(result.getResultNumber()))
    if (isa<VectorType>(other.getType()))
      ++index;
  Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, index);
  if (layout && !isa<mosaic_gpu::WGSplatFragLayoutAttr>(layout))
    return layout;
  if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        if (Attribute yielded =
                findDeclaredLayout(region.front().getTerminator()->getOperand(
                                       result.getResultNumber()),
                                   depth + 1))
          return yielded;
  } else if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()))
        if (Attribute inherited = findDeclaredLayout(operand, depth + 1))
          return inherited;
  } else if (auto mma = dyn_cast<mosaic_gpu::MMAOp>(op)) {
    return findDeclaredLayout(mma.getAccumulator(), depth + 1);
  }
  return layout;
}

LogicalResult Planner::setLayout(Operation *op, Value value, Attribute layout) {
  auto type = cast<VectorType>(value.getType());
  // Thread-level ops support only these scalars.
  Type element = type.getElementType();
  if (!element.isSignlessIntOrIndexOrFloat())
    return op->emitOpError()
           << "has a vector of type " << type
           << "; its elements must be signless integers, floats or index";
  std::string why;
  std::optional<Distribution> distribution =
      Distribution::get(type, layout, plan.grid, why);
  if (!distribution)
    return op->emitOpError()
           << "has a vector of type " << type
           << ", which is incompatible with layout " << layout << ": " << why;
  plan.distributions.try_emplace(value, std::move(*distribution));
  return success();
}

LogicalResult Planner::setResultLayout(Operation *op) {
  Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0);
  if (!layout)
    return op->emitOpError()
           << "does not have a layout for its result; run "
              "mosaic-gpu-infer-layouts, or set the attribute '"
           << mosaic_gpu::kOutLayouts << "'";
  return setLayout(op, op->getResult(0), layout);
}

LogicalResult Planner::checkOperands(Operation *op) {
  auto layouts = op->getAttrOfType<ArrayAttr>(mosaic_gpu::kInLayouts);
  unsigned index = 0;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<VectorType>(operand.getType());
    if (!type)
      continue;
    const Distribution *distribution = find(operand);
    if (!distribution)
      return op->emitOpError()
             << "uses a block-level vector that does not have a layout; run "
                "mosaic-gpu-infer-layouts, or set the attribute 'out_layouts' "
                "on the op that produces the vector";
    if (layouts && index < layouts.size()) {
      std::string why;
      std::optional<Distribution> wanted =
          Distribution::get(type, layouts[index], plan.grid, why);
      if (!wanted)
        return op->emitOpError() << "has a vector of type " << type
                                 << ", which is incompatible with layout "
                                 << layouts[index] << ": " << why;
      // A scalar splat is compatible with every layout.
      if (*wanted != *distribution && !distribution->isSplat())
        return op->emitOpError()
               << "requires layout " << wanted->str() << " for vector operand #"
               << index << ", but the operand has layout "
               << distribution->str()
               << "; insert 'mosaic_gpu.layout_cast' on the operand";
    }
    ++index;
  }
  if (layouts && layouts.size() != index)
    return op->emitOpError()
           << "has " << counted(index, "vector operand") << ", but '"
           << mosaic_gpu::kInLayouts << "' has "
           << counted(layouts.size(), "entry", "entries")
           << "; one entry for each vector operand is required";
  return success();
}

LogicalResult Planner::planGrid() {
  gpu::GPUFuncOp func = plan.func;
  if (!func.getBody().hasOneBlock())
    return func.emitOpError()
           << "has branches between MLIR blocks; in block-level kernels, use "
              "scf.for, scf.while and scf.if";
  std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
  if (!size)
    return func.emitOpError()
           << "requires the attribute 'known_block_size', as all block-level "
              "kernels; set it to the number of threads, e.g. array<i32: 128, "
              "1, 1>";
  const targets::Target &target = vendor.getTarget();
  ArrayRef<int32_t> threads = *size;
  if (threads.size() != 3 || threads[1] != 1 || threads[2] != 1)
    return func.emitOpError() << "has 'known_block_size' = [" << threads
                              << "]; blocks of a block-level kernel are "
                                 "one-dimensional: use [N, 1, 1]";
  plan.grid = {threads[0], target.waveSize, threads[0]};
  if (threads[0] <= 0 || threads[0] % target.waveSize != 0)
    return func.emitOpError()
           << "has blocks of " << threads[0]
           << " threads; a multiple of the warp size of " << target.name << ", "
           << target.waveSize << ", is required";
  if (threads[0] > target.maxThreadsPerBlock)
    return func.emitOpError()
           << "has blocks of " << threads[0] << " threads; a block on "
           << target.name << " has at most " << target.maxThreadsPerBlock;
  auto declared =
      func->getAttrOfType<IntegerAttr>(mosaic_gpu::kThreadGroupSize);
  if (!declared)
    return success();
  int64_t groupThreads = declared.getInt();
  // The last thread group may be incomplete: warps that only copy.
  if (groupThreads <= 0 || groupThreads % target.waveSize != 0 ||
      groupThreads > threads[0])
    return func.emitOpError()
           << "has '" << mosaic_gpu::kThreadGroupSize << "' = " << groupThreads
           << "; it must be a positive multiple of the warp size, "
           << target.waveSize << ", and at most " << threads[0]
           << ", the number of threads of the block";
  plan.grid.numThreads = groupThreads;
  return success();
}

LogicalResult Planner::planBlock(Block &block) {
  for (Operation &op : block)
    if (failed(planOp(&op)))
      return failure();
  return success();
}

static bool hasVectors(Operation *op) {
  return llvm::any_of(op->getOperands(), isVector) ||
         llvm::any_of(op->getResults(), isVector) ||
         llvm::any_of(op->getRegions(), [](Region &region) {
           return llvm::any_of(region.getArguments(), isVector);
         });
}

/// The transforms that an op declares for a value in shared memory; null if it
/// does not. `values` are all operands or all results.
static ArrayAttr getDeclaredTransforms(Operation *op, StringRef name,
                                       ValueRange values, Value value) {
  auto lists = op->getAttrOfType<ArrayAttr>(name);
  unsigned index = 0;
  // Custom primitives also count barriers.
  bool countsBarriers = isa<mosaic_gpu::CustomPrimitiveOp>(op);
  for (Value other : values) {
    auto type = dyn_cast<MemRefType>(other.getType());
    bool isBarrier =
        type && isa<mosaic_gpu::BarrierType>(type.getElementType());
    if (inference::getMemory(other.getType()) != inference::Memory::Shared &&
        !(countsBarriers && isBarrier))
      continue;
    if (other == value)
      return lists && index < lists.size() ? dyn_cast<ArrayAttr>(lists[index])
                                           : ArrayAttr();
    ++index;
  }
  return {};
}

/// Whether memory stored as `ref` agrees with the declared transforms; null if
/// none are declared.
static bool isDeclared(const SharedRef &ref, MemRefType type,
                       ArrayAttr transforms) {
  if (!transforms)
    return true;
  inference::LayoutTable table(type.getContext(), 1, 1);
  inference::LayoutId id = table.fromAttribute(transforms, type);
  return id != inference::kNoLayout &&
         ArrayRef<int64_t>(table[id].tile) ==
             ArrayRef<int64_t>(ref.layout.tile) &&
         table[id].swizzle == ref.layout.swizzleBytes;
}

LogicalResult Planner::checkSharedOperands(Operation *op,
                                           const OpLowering *lowering) {
  for (Value operand : op->getOperands()) {
    const SharedRef *ref = getSharedRef(operand);
    if (!ref)
      continue;
    ArrayAttr declared = getDeclaredTransforms(op, mosaic_gpu::kInTransforms,
                                               op->getOperands(), operand);
    if (!isDeclared(*ref, cast<MemRefType>(operand.getType()), declared))
      return op->emitOpError() << "declares transforms " << declared
                               << " for an operand, but the layout of its "
                                  "buffer in shared memory is: "
                               << ref->str() << "; both must be equal";
    if (mosaic_gpu::isClusterMemory(cast<MemRefType>(operand.getType())) &&
        (!lowering || !lowering->acceptsPeers()))
      return op->emitOpError()
             << "cannot be lowered to thread level: an operand is shared "
                "memory of another block of the cluster, which this op does "
                "not support; use 'async_store_smem' to write it";
    if (ref->isTransformed() && (!lowering || !lowering->acceptsTransforms()))
      return op->emitOpError()
             << "cannot be lowered to thread level: an operand is tiled or "
                "swizzled shared memory ("
             << ref->str()
             << "); this op requires memory without tile and swizzle, so use a "
                "buffer without transforms";
  }
  return success();
}

LogicalResult block_to_thread::setResultRef(Operation *op, Value result,
                                            const ValueOr<SharedRef> &ref,
                                            Planner &planner) {
  if (!ref)
    return op->emitOpError()
           << "cannot be lowered to thread level: " << ref.reason;
  ArrayAttr declared = getDeclaredTransforms(op, mosaic_gpu::kOutTransforms,
                                             op->getResults(), result);
  if (!isDeclared(*ref, cast<MemRefType>(result.getType()), declared))
    return op->emitOpError() << "declares transforms " << declared
                             << " for its result, but the layout of its buffer "
                                "in shared memory is: "
                             << ref->str() << "; both must be equal";
  if (ref->layout.swizzleBytes != 16)
    planner.requireSharedAlignment(
        transfers::swizzlePeriod(ref->layout.swizzleBytes));
  planner.setSharedRef(result, *ref);
  return success();
}

LogicalResult Planner::planThreadCode(Block &block) {
  llvm::SaveAndRestore guard(isInThreadCode, true);
  return planBlock(block);
}

bool Planner::isThreadOp(Operation *op) const {
  if (isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect()) ||
      !hasVectors(op))
    return false;
  // A cast with a layout converts registers to a block-level vector.
  if (isa<UnrealizedConversionCastOp>(op) && op->hasAttr(kCastLayout))
    return false;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    return plan.isBlockVector(operand);
  });
}

LogicalResult Planner::planOp(Operation *op) {
  const OpLowering *lowering = lowerings.find(op);
  if (isInThreadCode && isThreadOp(op)) {
    plan.threadOps.insert(op);
    lowering = nullptr;
  }
  if (failed(checkSharedOperands(op, lowering)))
    return failure();
  bool isBlockOp =
      isa_and_nonnull<mosaic_gpu::MosaicGPUDialect>(op->getDialect());
  bool isThread = plan.threadOps.contains(op);
  // Casts convert between block-level vectors and registers.
  if (!isThread && !isa<UnrealizedConversionCastOp>(op) &&
      (isBlockOp || hasVectors(op)) && failed(checkOperands(op)))
    return failure();
  if (lowering) {
    used.insert(lowering);
    return lowering->plan(op, *this);
  }
  if (isBlockOp)
    return op->emitOpError() << "cannot be lowered to thread level: the "
                                "conversion does not support this op; use "
                                "other ops of mosaic_gpu";
  if (isa<memref::AllocOp>(op))
    return op->emitOpError()
           << "allocates memory; run smalti-allocate-shared-memory before this "
              "conversion";
  if (hasVectors(op) && !isThread) {
    if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0)
      return getElementwiseLowering().plan(op, *this);
    return op->emitOpError() << "cannot be lowered to thread level: this op is "
                                "not supported on block-level vectors; use ops "
                                "of arith, math or mosaic_gpu";
  }
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return op->emitOpError()
             << "has branches between MLIR blocks; in block-level kernels, use "
                "scf.for, scf.while and scf.if";
    if (failed(planBlock(region.front())))
      return failure();
  }
  return success();
}

std::optional<KernelPlan> Planner::run(Level level) {
  plan.level = level;
  if (level == Level::Thread) {
    WalkResult result = plan.func.walk([&](mosaic_gpu::SliceSMEMOp slice) {
      return failed(planSharedBuffer(slice, *this)) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return std::nullopt;
    return std::move(plan);
  }
  if (failed(planGrid()) || failed(planBlock(plan.func.getBody().front())))
    return std::nullopt;
  for (const OpLowering *lowering : used)
    if (failed(lowering->planKernel(*this)))
      return std::nullopt;
  return std::move(plan);
}
