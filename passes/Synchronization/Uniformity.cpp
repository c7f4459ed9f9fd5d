//===- Uniformity.cpp - What is the same for all threads of a block -------===//

#include "passes/Synchronization/Uniformity.h"

#include "passes/Interfaces/MemoryAccess.h"
#include "passes/Support/ThreadValues.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

bool smalti::isKernel(FunctionOpInterface function) {
  Operation *op = function;
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
    return kernel.isKernel();
  return op->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
         op->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) ||
         op->hasAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName());
}

/// Whether equal operands give equal results in every thread. An op that may
/// look at the thread itself, like the number of a lane, does not count.
static bool isFunctionOfOperands(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<ViewLikeOpInterface>(op) || op->hasTrait<OpTrait::Elementwise>() ||
         isa<affine::AffineDialect, index::IndexDialect>(op->getDialect()) ||
         isa<memref::DimOp, gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp,
             gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::NumSubgroupsOp,
             gpu::SubgroupSizeOp>(op);
}

/// Whether all that the op does is to read memory that all threads can see.
static bool onlyReadsCommonMemory(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || !effects.onlyHasEffect<MemoryEffects::Read>())
    return false;
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  return collectAccesses(op, accesses, reason) &&
         llvm::all_of(accesses, [](const MemoryAccess &access) {
           return access.space != MemorySpace::Private;
         });
}

/// Whether the value counts the waves of a block: the number of a thread over a
/// multiple of `waveSize`.
static bool isOfWave(Value value, int64_t waveSize) {
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<gpu::SubgroupIdOp>(def))
    return true;
  auto getThread = [](Value number) {
    while (Operation *cast = number.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(cast))
        return dyn_cast<gpu::ThreadIdOp>(cast);
      number = cast->getOperand(0);
    }
    return gpu::ThreadIdOp();
  };
  auto thread = isa_and_nonnull<gpu::ThreadIdOp>(def)
                    ? cast<gpu::ThreadIdOp>(def)
                    : gpu::ThreadIdOp();
  std::optional<int64_t> divisor;
  if (isa_and_nonnull<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          def)) {
    divisor = getConstantIntValue(def->getOperand(1));
    thread = getThread(def->getOperand(0));
  } else if (isa_and_nonnull<arith::ShRUIOp, arith::ShRSIOp>(def)) {
    auto bits = getConstantIntValue(def->getOperand(1));
    if (bits && *bits >= 0 && *bits < 32)
      divisor = int64_t(1) << *bits;
    thread = getThread(def->getOperand(0));
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(def)) {
    auto expr = dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
    if (expr && expr.getKind() == AffineExprKind::FloorDiv &&
        apply.getMapOperands().size() == 1 &&
        isa<AffineDimExpr, AffineSymbolExpr>(expr.getLHS()))
      if (auto constant = dyn_cast<AffineConstantExpr>(expr.getRHS())) {
        divisor = constant.getValue();
        thread = getThread(apply.getMapOperands().front());
      }
  }
  auto function =
      thread ? thread->getParentOfType<FunctionOpInterface>() : nullptr;
  auto size = function ? getBlockSize(function, thread) : std::nullopt;
  if (!size)
    return false;
  // Rows of the block are made of whole waves, or there is one row.
  if ((*size)[0] % waveSize != 0 && (*size)[1] * (*size)[2] != 1)
    return false;
  return thread.getDimension() != gpu::Dimension::x ||
         (divisor && *divisor > 0 && *divisor % waveSize == 0);
}

bool smalti::isSameForWave(Value value, int64_t waveSize) {
  constexpr unsigned mostValues = 256;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (i == mostValues)
      return false;
    Value next = values[i];
    Operation *def = next.getDefiningOp();
    if (isOfWave(next, waveSize))
      continue;
    if (auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
            def ? def : next.getParentBlock()->getParentOp())) {
      auto loop = dyn_cast<scf::ForOp>(branch.getOperation());
      auto conditional = dyn_cast<scf::IfOp>(branch.getOperation());
      if (loop) {
        values.insert(loop.getOperands().begin(), loop.getOperands().end());
        values.insert(loop.getYieldedValues().begin(),
                      loop.getYieldedValues().end());
      } else if (conditional) {
        values.insert(conditional.getCondition());
        for (scf::YieldOp yield :
             {conditional.thenYield(), conditional.elseYield()})
          values.insert(yield.getOperands().begin(), yield.getOperands().end());
      } else {
        return false;
      }
      continue;
    }
    if (!def) {
      auto function =
          dyn_cast<FunctionOpInterface>(next.getParentBlock()->getParentOp());
      if (!function || !next.getParentBlock()->isEntryBlock())
        return false;
      continue;
    }
    bool isRead = onlyReadsCommonMemory(def);
    if (def->getNumRegions() != 0 || (!isRead && !isFunctionOfOperands(def)))
      return false;
    for (Value operand : def->getOperands())
      if (!isRead || !isa<BaseMemRefType>(operand.getType()))
        values.insert(operand);
  }
  return true;
}

bool Uniformity::raise(Value value, Sharing sharing) {
  Sharing &known = values[value];
  if (known >= sharing)
    return false;
  known = sharing;
  return true;
}

Sharing Uniformity::ofOperands(Operation *op) const {
  Sharing sharing = Sharing::Same;
  // Which memref it is decides about its sizes, and not about what is read.
  bool countsMemRefs =
      isa<ShapedDimOpInterface>(op) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
  for (Value operand : op->getOperands())
    if (countsMemRefs || !isa<BaseMemRefType>(operand.getType()))
      sharing = std::max(sharing, get(operand));
  return sharing;
}

Sharing Uniformity::getControl(RegionBranchOpInterface op) const {
  // What is not handed on to a region or a result decides.
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  llvm::SmallDenseSet<OpOperand *> handedOn;
  auto addHandedOn = [&](OperandRange range, Operation *owner) {
    if (!range.empty())
      for (unsigned i = 0; i < range.size(); ++i)
        handedOn.insert(&owner->getOpOperand(range.getBeginOperandIndex() + i));
  };
  for (const RegionSuccessor &successor : successors)
    addHandedOn(op.getEntrySuccessorOperands(successor), op);
  Sharing sharing = Sharing::Same;
  auto addRest = [&](Operation *owner) {
    for (OpOperand &operand : owner->getOpOperands())
      if (!handedOn.contains(&operand) &&
          !isa<BaseMemRefType>(operand.get().getType()))
        sharing = std::max(sharing, get(operand.get()));
  };
  addRest(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      auto terminator = dyn_cast_if_present<RegionBranchTerminatorOpInterface>(
          block.mightHaveTerminator() ? block.getTerminator() : nullptr);
      if (!terminator)
        continue;
      SmallVector<RegionSuccessor> next;
      op.getSuccessorRegions(RegionBranchPoint(terminator), next);
      for (const RegionSuccessor &successor : next)
        addHandedOn(terminator.getSuccessorOperands(successor), terminator);
      addRest(terminator);
    }
  return sharing;
}

bool Uniformity::visit(RegionBranchOpInterface op) {
  Sharing control = getControl(op);
  bool changed = false;
  auto visitSuccessor = [&](const RegionSuccessor &successor) {
    ValueRange inputs = successor.getSuccessorInputs();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      Sharing sharing = control;
      SmallVector<Value> sources;
      op.getPredecessorValues(successor, i, sources);
      for (Value source : sources)
        sharing = std::max(sharing, get(source));
      changed |= raise(input, sharing);
    }
    // The counter of a loop and the like.
    if (Region *region = successor.getSuccessor())
      for (BlockArgument argument : region->getArguments())
        if (!llvm::is_contained(inputs, argument))
          changed |= raise(argument, control);
  };
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (Region &region : op->getRegions())
    op.getSuccessorRegions(region, successors);
  for (const RegionSuccessor &successor : successors)
    visitSuccessor(successor);
  return changed;
}

bool Uniformity::visit(Operation *op) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op);
      branch && !op->hasTrait<OpTrait::HasParallelRegion>())
    return visit(branch);
  Sharing sharing = Sharing::PerThread;
  if (op->getNumRegions() == 0) {
    if (isFunctionOfOperands(op))
      sharing = ofOperands(op);
    else if (onlyReadsCommonMemory(op))
      sharing = std::max(ofOperands(op), Sharing::NotSeen);
  }
  bool changed = false;
  for (Value result : op->getResults())
    changed |= raise(result, sharing);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        changed |= raise(argument, Sharing::PerThread);
  return changed;
}

Uniformity::Uniformity(FunctionOpInterface function) {
  Region &body = function.getFunctionBody();
  Sharing ofArguments = isKernel(function) ? Sharing::Same : Sharing::NotSeen;
  for (Block &block : body)
    for (BlockArgument argument : block.getArguments())
      raise(argument, block.isEntryBlock() ? ofArguments : Sharing::PerThread);
  // Values only rise, twice at most; loops hand them back.
  bool changed = true;
  while (changed) {
    changed = false;
    body.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { changed |= visit(op); });
  }
}
