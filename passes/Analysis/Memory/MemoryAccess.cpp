//===- MemoryAccess.cpp - Memory accesses of ops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Interfaces/SynchronousWgmma.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/IndexChecks.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace smalti;

StringRef smalti::toString(MemorySpace space) {
  switch (space) {
  case MemorySpace::Private:
    return "private";
  case MemorySpace::Shared:
    return "shared";
  case MemorySpace::Cluster:
    return "cluster";
  case MemorySpace::Global:
    return "global";
  case MemorySpace::Tensor:
    return "tensor";
  case MemorySpace::Other:
    break;
  }
  return "unknown";
}

/// Whether `value` is an offset, not computed from an address.
static bool isOffset(Value value) {
  constexpr unsigned mostValues = 64;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    Operation *def = values[i].getDefiningOp();
    if (!def)
      continue;
    if (i == mostValues || !isMemoryEffectFree(def) ||
        isa<memref::ExtractAlignedPointerAsIndexOp, LLVM::PtrToIntOp>(def))
      return false;
    values.insert(def->operand_begin(), def->operand_end());
  }
  return true;
}

/// The value that an address was computed from: a pointer, or the memref whose
/// address was taken. The offset may be either operand of an addition. Null if
/// the base does not exist or is ambiguous.
static Value getAddressBase(Value address) {
  Operation *def = address.getDefiningOp();
  if (!def)
    return {};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, LLVM::PtrToIntOp>(def))
    return isa<LLVM::PtrToIntOp>(def) ? def->getOperand(0)
                                      : getAddressBase(def->getOperand(0));
  if (auto extract = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(def))
    return extract.getSource();
  if (!isa<arith::AddIOp, LLVM::AddOp>(def))
    return {};
  for (unsigned base : {0, 1})
    if (isOffset(def->getOperand(1 - base)))
      if (Value value = getAddressBase(def->getOperand(base)))
        return value;
  return {};
}

/// The value that a pointer or memref is a part of; null for a root.
static Value getViewedValue(Value value) {
  Operation *def = value.getDefiningOp();
  if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(def))
    return view.getViewSource();
  if (isa_and_nonnull<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(def))
    return def->getOperand(0);
  if (auto cast = dyn_cast_or_null<LLVM::IntToPtrOp>(def))
    return getAddressBase(cast.getArg());
  // The address in a memref descriptor.
  if (auto extract = dyn_cast_or_null<LLVM::ExtractValueOp>(def))
    if (auto cast =
            extract.getContainer().getDefiningOp<UnrealizedConversionCastOp>();
        cast && cast->getNumOperands() == 1 &&
        isa<BaseMemRefType>(cast.getOperand(0).getType()) &&
        isa<LLVM::LLVMPointerType>(value.getType()))
      return cast.getOperand(0);
  // The same reference in another dialect.
  if (auto cast = dyn_cast_or_null<UnrealizedConversionCastOp>(def);
      cast && cast->getNumOperands() == 1 && cast->getNumResults() == 1 &&
      isa<BaseMemRefType, LLVM::LLVMPointerType>(value.getType()) &&
      isa<BaseMemRefType, LLVM::LLVMPointerType,
          nvgpu::TensorMapDescriptorType>(cast.getOperand(0).getType()))
    return cast.getOperand(0);
  return {};
}

Value smalti::getRootBuffer(Value memref) {
  while (Value viewed = getViewedValue(memref))
    memref = viewed;
  return memref;
}

bool smalti::isAddressOf(Operation *op, Value source) {
  if (isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp, LLVM::IntToPtrOp,
          LLVM::PtrToIntOp, arith::IndexCastOp, arith::IndexCastUIOp,
          memref::ExtractAlignedPointerAsIndexOp>(op))
    return op->getOperand(0) == source;
  if (!isa<arith::AddIOp, LLVM::AddOp>(op))
    return false;
  for (unsigned base : {0, 1})
    if (op->getOperand(base) == source && isOffset(op->getOperand(1 - base)))
      return true;
  return false;
}

bool smalti::isAllocation(Value root) {
  if (auto effects = root.getDefiningOp<MemoryEffectOpInterface>())
    return effects.getEffectOnValue<MemoryEffects::Allocate>(root).has_value();
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument)
    return false;
  // Workgroup and private attributions of a kernel.
  auto kernel =
      dyn_cast_or_null<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
  return kernel && argument.getOwner()->isEntryBlock() &&
         argument.getArgNumber() >= kernel.getNumArguments();
}

FunctionOpInterface smalti::getFunctionOfArgument(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || argument.getArgNumber() >= function.getNumArguments())
    return {};
  return function;
}

static MemorySpace getMemorySpaceOfType(Type type) {
  Attribute space;
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    space = memref.getMemorySpace();
  else if (auto barriers = dyn_cast<nvgpu::MBarrierGroupType>(type))
    space = barriers.getMemorySpace();
  else if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
           pointer && pointer.getAddressSpace() != 0) // 0 may be any memory
    space = IntegerAttr::get(IntegerType::get(type.getContext(), 64),
                             pointer.getAddressSpace());
  else if (isa<nvgpu::TensorMapDescriptorType>(type))
    return MemorySpace::Global;
  else
    return MemorySpace::Other;
  if (!space)
    return MemorySpace::Global;
  if (isa<mosaic_gpu::TmemAttr>(space))
    return MemorySpace::Tensor;
  if (isa<mosaic_gpu::SmemClusterAttr>(space))
    return MemorySpace::Cluster;
  // A buffer resource refers to global memory.
  if (auto amd = dyn_cast<amdgpu::AddressSpaceAttr>(space))
    return amd.getValue() == amdgpu::AddressSpace::FatRawBuffer
               ? MemorySpace::Global
               : MemorySpace::Other;
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
  // NVVM and ROCDL use the same numbers.
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

/// The memrefs that `root` may be: those that an op forwards to a region or out
/// of one, and the operands of other ops, of which it may return one. Returns
/// false if they cannot be determined.
static bool getPossibleMemRefs(Value root, SmallVectorImpl<Value> &memrefs) {
  Operation *def = root.getDefiningOp();
  if (def && def->getNumRegions() == 0) {
    llvm::copy_if(
        def->getOperands(), std::back_inserter(memrefs),
        [](Value operand) { return isa<BaseMemRefType>(operand.getType()); });
    return true;
  }
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      def ? def : root.getParentBlock()->getParentOp());
  if (!branch)
    return false;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (Region &region : branch->getRegions())
    branch.getSuccessorRegions(region, successors);
  for (const RegionSuccessor &successor : successors)
    for (auto [i, input] : llvm::enumerate(successor.getSuccessorInputs()))
      if (input == root) {
        branch.getPredecessorValues(successor, i, memrefs);
        return true;
      }
  return false;
}

void smalti::collectRootBuffers(Value memref, llvm::SetVector<Value> &buffers) {
  constexpr unsigned mostRoots = 64;
  llvm::SetVector<Value> roots;
  roots.insert(getRootBuffer(memref));
  for (unsigned i = 0; i < roots.size(); ++i) {
    SmallVector<Value> memrefs;
    Operation *def = roots[i].getDefiningOp();
    bool isChosen =
        !def || def->getNumRegions() != 0 || isa<SelectLikeOpInterface>(def);
    if (i < mostRoots && isChosen && !isAllocation(roots[i]))
      getPossibleMemRefs(roots[i], memrefs);
    if (!memrefs.empty())
      for (Value other : memrefs)
        roots.insert(getRootBuffer(other));
    if (memrefs.empty())
      buffers.insert(roots[i]);
  }
}

/// The memory space of a root whose type does not state one: a thread's stack
/// has the same type as global memory. The space is unknown if both are
/// possible.
static MemorySpace getUnstatedSpace(Value value) {
  constexpr unsigned mostRoots = 64;
  std::optional<MemorySpace> space;
  auto take = [&](MemorySpace next) {
    space = space.value_or(next) == next ? next : MemorySpace::Other;
  };
  llvm::SetVector<Value> roots;
  roots.insert(value);
  for (unsigned i = 0; i < roots.size(); ++i) {
    Value root = roots[i];
    if (i == mostRoots)
      return MemorySpace::Other;
    auto effects = root.getDefiningOp<MemoryEffectOpInterface>();
    auto allocation =
        effects ? effects.getEffectOnValue<MemoryEffects::Allocate>(root)
                : std::nullopt;
    SmallVector<Value> memrefs;
    if (allocation && isa<SideEffects::AutomaticAllocationScopeResource>(
                          allocation->getResource()))
      take(MemorySpace::Private);
    else if (allocation || getFunctionOfArgument(root))
      take(MemorySpace::Global);
    else if (auto stated = getMemorySpaceOfType(root.getType());
             stated != MemorySpace::Global)
      take(stated);
    else if (!getPossibleMemRefs(root, memrefs))
      return MemorySpace::Other;
    else if (memrefs.empty() || root.getDefiningOp<CallOpInterface>())
      take(MemorySpace::Global);
    for (Value memref : memrefs)
      roots.insert(getRootBuffer(memref));
  }
  return *space;
}

/// Whether the pointer is a kernel argument from the host, which can only point
/// to global memory or to an argument passed by value.
static bool isPointerOfHost(Value root) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(root.getType());
  FunctionOpInterface function = getFunctionOfArgument(root);
  return pointer && pointer.getAddressSpace() == 0 && function &&
         isKernel(function);
}

MemorySpace smalti::getMemorySpace(Value memref) {
  // The root decides: a view may be in a generic or a buffer address space.
  Value root = getRootBuffer(memref);
  if (isPointerOfHost(root))
    return MemorySpace::Global;
  MemorySpace space = getMemorySpaceOfType(root.getType());
  auto type = dyn_cast<BaseMemRefType>(root.getType());
  return type && !type.getMemorySpace() ? getUnstatedSpace(root) : space;
}

/// Appends one access. Returns false, with the reason, if the memory space is
/// unknown.
static bool addAccess(Operation *op, Value value, bool isWrite,
                      SmallVectorImpl<MemoryAccess> &accesses,
                      std::string &reason) {
  MemorySpace space = getMemorySpace(value);
  if (space == MemorySpace::Other) {
    reason = quote(op) + " accesses a memref of type " +
             describe(value.getType()) +
             ", whose memory space cannot be determined; state the memory "
             "space in the type";
    return false;
  }
  if (space == MemorySpace::Cluster || space == MemorySpace::Tensor) {
    reason = quote(op) + " accesses " + toString(space).str() +
             " memory; only global, shared and private memory is analyzed";
    return false;
  }
  accesses.push_back({op, value, getRootBuffer(value), space, isWrite});
  return true;
}

/// The accesses of an asynchronous copy or an op on an mbarrier, by its
/// interface.
static bool collectAsyncAccesses(Operation *op,
                                 SmallVectorImpl<MemoryAccess> &accesses,
                                 std::string &reason) {
  if (auto copy = dyn_cast<AsyncCopyOpInterface>(op)) {
    Value source = copy.getCopySource(), target = copy.getCopyDestination();
    if (!source || !target) {
      reason = "the source or destination of " + quote(op) +
               " cannot be determined, for example because the op copies to "
               "several blocks of a cluster";
      return false;
    }
    if (!addAccess(op, source, /*isWrite=*/false, accesses, reason) ||
        !addAccess(op, target, /*isWrite=*/true, accesses, reason))
      return false;
  }
  auto object = dyn_cast<BarrierObjectOpInterface>(op);
  if (!object)
    return true;
  return addAccess(op, object.getBarrierMutable().get(),
                   object.getBarrierAction() != BarrierAction::Wait, accesses,
                   reason);
}

/// Whether the op only orders memory or groups of copies, or does not use
/// memory. A check of an index must not change the schedule of a loop.
static bool accessesNothing(Operation *op) {
  if (auto check = dyn_cast<cf::AssertOp>(op); check && matchIndexCheck(check))
    return true;
  return isa<BlockBarrierOpInterface, AsyncCommitOpInterface,
             AsyncWaitOpInterface, RegisterOpInterface>(op);
}

bool smalti::collectAccesses(Operation *op,
                             SmallVectorImpl<MemoryAccess> &accesses,
                             std::string &reason) {
  if (accessesNothing(op))
    return true;
  if (isa<AsyncCopyOpInterface, BarrierObjectOpInterface>(op))
    return collectAsyncAccesses(op, accesses, reason);
  if (isSynchronousWgmma(op)) {
    auto wgmma = cast<mosaic_gpu::WGMMAOp>(op);
    for (Value operand : {wgmma.getA(), Value(wgmma.getB())})
      if (isa<MemRefType>(operand.getType()) &&
          !addAccess(op, operand, /*isWrite=*/false, accesses, reason))
        return false;
    return true;
  }
  bool recursive = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  auto effectOp = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effectOp && !recursive) {
    reason = quote(op) + " has unknown side effects";
    return false;
  }
  if (effectOp) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    effectOp.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      // A stack allocation is private to a thread and freed automatically.
      if (isa<MemoryEffects::Allocate>(effect.getEffect()) &&
          isa<SideEffects::AutomaticAllocationScopeResource>(
              effect.getResource()))
        continue;
      if (isa<MemoryEffects::Allocate, MemoryEffects::Free>(
              effect.getEffect())) {
        reason = quote(op) + " allocates or frees memory";
        return false;
      }
      Value value = effect.getValue();
      // Matrix loads and stores state their effect twice: without a value, and
      // on the memref.
      if (!value && isa<StridedAccessOpInterface>(op) &&
          llvm::any_of(effects,
                       [](const auto &other) { return other.getValue(); }))
        continue;
      if (!value ||
          !isa<BaseMemRefType, LLVM::LLVMPointerType>(value.getType())) {
        reason =
            quote(op) +
            " has a side effect that is not an access to a memref or pointer";
        return false;
      }
      if (!addAccess(op, value, isa<MemoryEffects::Write>(effect.getEffect()),
                     accesses, reason))
        return false;
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

const MemoryAccess *smalti::findAtomic(ArrayRef<MemoryAccess> accesses,
                                       std::optional<MemorySpace> space) {
  llvm::SmallDenseSet<std::pair<Operation *, Value>> seen[2]; // reads, writes
  for (const MemoryAccess &access : accesses) {
    if (access.space != space.value_or(access.space) ||
        access.space == MemorySpace::Private ||
        isa<DestinationStyleOpInterface>(access.op))
      continue;
    seen[access.isWrite].insert({access.op, access.memref});
    if (seen[!access.isWrite].contains({access.op, access.memref}))
      return &access;
  }
  return nullptr;
}
