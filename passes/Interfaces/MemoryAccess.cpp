//===- MemoryAccess.cpp - What an op does to which memory -----------------===//

#include "passes/Interfaces/MemoryAccess.h"

#include "passes/Interfaces/LoopInterfaces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;

StringRef smalti::toString(MemorySpace space) {
  switch (space) {
  case MemorySpace::Private:
    return "private";
  case MemorySpace::Shared:
    return "shared";
  case MemorySpace::Global:
    return "global";
  case MemorySpace::Other:
    break;
  }
  return "unknown";
}

Value smalti::getRootBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// Whether `root` is new memory that nothing else points to.
static bool isAllocation(Value root) {
  if (auto effects = root.getDefiningOp<MemoryEffectOpInterface>())
    return effects.getEffectOnValue<MemoryEffects::Allocate>(root).has_value();
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument)
    return false;
  // Memory that a kernel declares for its block or its threads.
  auto kernel =
      dyn_cast_or_null<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
  return kernel && argument.getOwner()->isEntryBlock() &&
         argument.getArgNumber() >= kernel.getNumArguments();
}

/// The function that `root` is an argument of, or null.
static FunctionOpInterface getFunctionOfArgument(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || argument.getArgNumber() >= function.getNumArguments())
    return {};
  return function;
}

static bool isNoAliasArgument(Value root) {
  FunctionOpInterface function = getFunctionOfArgument(root);
  return function &&
         function.getArgAttr(cast<BlockArgument>(root).getArgNumber(),
                             "llvm.noalias");
}

static MemorySpace getMemorySpaceOfType(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  if (!memref)
    return MemorySpace::Other;
  Attribute space = memref.getMemorySpace();
  if (!space)
    return MemorySpace::Global;
  if (auto gpuSpace = dyn_cast<gpu::AddressSpaceAttr>(space)) {
    switch (gpuSpace.getValue()) {
    case gpu::AddressSpace::Global:
      return MemorySpace::Global;
    case gpu::AddressSpace::Workgroup:
      return MemorySpace::Shared;
    case gpu::AddressSpace::Private:
      return MemorySpace::Private;
    default:
      return MemorySpace::Other;
    }
  }
  // The numbers are the same in NVVM and ROCDL.
  if (auto number = dyn_cast<IntegerAttr>(space)) {
    switch (number.getInt()) {
    case 0:
    case 1:
      return MemorySpace::Global;
    case 3:
      return MemorySpace::Shared;
    case 5:
      return MemorySpace::Private;
    default:
      return MemorySpace::Other;
    }
  }
  return MemorySpace::Other;
}

MemorySpace smalti::getMemorySpace(Value memref) {
  // The root decides: a view may be in a generic or a buffer address space.
  Value root = getRootBuffer(memref);
  MemorySpace space = getMemorySpaceOfType(root.getType());
  if (space != MemorySpace::Global)
    return space;
  auto effects = root.getDefiningOp<MemoryEffectOpInterface>();
  if (!effects)
    return space;
  auto allocation = effects.getEffectOnValue<MemoryEffects::Allocate>(root);
  if (allocation && isa<SideEffects::AutomaticAllocationScopeResource>(
                        allocation->getResource()))
    return MemorySpace::Private;
  return space;
}

bool smalti::mayAlias(Value rootA, Value rootB) {
  if (rootA == rootB)
    return true;
  if (getMemorySpace(rootA) != getMemorySpace(rootB))
    return false;
  bool allocationA = isAllocation(rootA), allocationB = isAllocation(rootB);
  auto globalA = rootA.getDefiningOp<memref::GetGlobalOp>();
  auto globalB = rootB.getDefiningOp<memref::GetGlobalOp>();
  bool argumentA(getFunctionOfArgument(rootA));
  bool argumentB(getFunctionOfArgument(rootB));
  if (globalA && globalB)
    return globalA.getName() == globalB.getName();
  if (allocationA)
    return !(allocationB || globalB || argumentB);
  if (allocationB)
    return !(globalA || argumentA);
  if (argumentA && argumentB)
    return !isNoAliasArgument(rootA) && !isNoAliasArgument(rootB);
  return true;
}

static std::string quote(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

/// Whether the op only orders memory or groups of copies.
static bool isSynchronisation(Operation *op) {
  return isa<BlockBarrierOpInterface, AsyncCommitOpInterface,
             AsyncWaitOpInterface>(op);
}

bool smalti::collectAccesses(Operation *op,
                             SmallVectorImpl<MemoryAccess> &accesses,
                             std::string &reason) {
  if (isSynchronisation(op))
    return true;
  bool recursive = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  auto effectOp = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effectOp && !recursive) {
    reason = quote(op) + " has side effects that are not known";
    return false;
  }
  if (effectOp) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    effectOp.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (isa<MemoryEffects::Allocate, MemoryEffects::Free>(
              effect.getEffect())) {
        reason = quote(op) + " allocates or frees memory";
        return false;
      }
      Value value = effect.getValue();
      // The groups that asynchronous copies belong to are what their interface
      // is about; they are no memory.
      if (!value && isa<AsyncCopyOpInterface>(op) &&
          effect.getResource() != SideEffects::DefaultResource::get())
        continue;
      // Matrix loads and stores state their effect twice: without a value, and
      // on the memref.
      if (!value && isa<StridedAccessOpInterface>(op) &&
          llvm::any_of(effects,
                       [](const auto &other) { return other.getValue(); }))
        continue;
      if (!value || !isa<BaseMemRefType>(value.getType())) {
        reason =
            quote(op) + " has a side effect on something other than a memref";
        return false;
      }
      MemorySpace space = getMemorySpace(value);
      if (space == MemorySpace::Other) {
        reason = quote(op) + " accesses a memory space that is not known";
        return false;
      }
      accesses.push_back({op, value, getRootBuffer(value), space,
                          isa<MemoryEffects::Write>(effect.getEffect())});
    }
  }
  if (!recursive)
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        if (!collectAccesses(&nested, accesses, reason))
          return false;
  return true;
}
