//===- Uniformity.cpp - What is the same for all threads of a block -------===//

#include "passes/Synchronization/Uniformity.h"

#include "passes/Interfaces/MemoryAccess.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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
