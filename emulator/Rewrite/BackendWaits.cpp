//===- BackendWaits.cpp - Waits that the AMDGPU backend inserts -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On CDNA, LDS DMA is asynchronous, and LLVM's backend inserts waits for it
// (SIInsertWaitcnts.cpp, SIMemoryLegalizer.cpp):
// - before an access to LDS that may alias the destination of a copy. Alias
//   scopes distinguish copies: those of the IR, and those that
//   AMDGPULowerModuleLDSPass.cpp adds to the variables of a kernel with
//   several;
// - before a release fence of the workgroup that orders LDS, and before fences
//   of a wider scope.
// The backend does not wait at a bare barrier. This step inserts the same waits
// into the device module, as calls of instructions of the emulator.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

using namespace llvm;

namespace smalti::emulator {

namespace {

/// Where a copy writes LDS, or where LDS is accessed, as the backend sees it.
struct LDSAccess {
  AAMDNodes tags;
  /// The variable, in a kernel that has several.
  const GlobalVariable *variable = nullptr;

  bool hasScope() const { return tags.Scope || variable; }
  bool hasTags() const { return tags || variable; }
  bool operator==(const LDSAccess &other) const {
    return tags == other.tags && variable == other.variable;
  }
};

class BackendWaits {
public:
  explicit BackendWaits(Module &module) : module(module) {}

  void run();

private:
  /// The last slot represents all copies without an own slot.
  static constexpr unsigned numSlots = 64;

  static bool isCopy(const Instruction &at);
  LDSAccess accessOf(const Instruction &at, const Value *pointer) const;
  uint64_t slotsOf(const LDSAccess &access) const;
  void waitBeforeAccess(Instruction &at);
  void waitBeforeFence(Instruction &at);
  void wait(Instruction &before, uint64_t slots);

  Module &module;
  /// Of copies with alias scopes; slot 0 is of those without.
  SmallVector<LDSAccess> slots;
  bool hasSeveralVariables = false;
};

} // namespace

static const Value *ldsPointer(const CallBase &call) {
  for (const Value *operand : call.args())
    if (operand->getType()->isPointerTy() &&
        operand->getType()->getPointerAddressSpace() == sharedSpace)
      return operand;
  return nullptr;
}

bool BackendWaits::isCopy(const Instruction &at) {
  auto *call = dyn_cast<CallBase>(&at);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return false;
  StringRef name = callee->getName();
  return name.starts_with("llvm.amdgcn.load.to.lds") ||
         name.starts_with("llvm.amdgcn.global.load.lds") ||
         (name.starts_with("llvm.amdgcn.") &&
          name.ends_with(".buffer.load.lds"));
}

LDSAccess BackendWaits::accessOf(const Instruction &at,
                                 const Value *pointer) const {
  LDSAccess place;
  place.tags = at.getAAMetadata();
  if (hasSeveralVariables)
    place.variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer));
  return place;
}

/// The slots whose copies an access waits for.
uint64_t BackendWaits::slotsOf(const LDSAccess &access) const {
  if (!access.hasTags())
    return ~uint64_t(0);
  // If both accesses use the same pointer value and overlap, the backend waits
  // independent of their scopes; this step does not.
  uint64_t result = 0;
  for (auto [i, copy] : enumerate(slots)) {
    if (access.variable && copy.variable && access.variable != copy.variable)
      continue;
    auto mayAlias = ScopedNoAliasAAResult::mayAliasInScopes;
    if (mayAlias(access.tags.Scope, copy.tags.NoAlias) &&
        mayAlias(copy.tags.Scope, access.tags.NoAlias))
      result |= uint64_t(1) << std::min<size_t>(i + 1, numSlots - 1);
  }
  return result;
}

void BackendWaits::wait(Instruction &before, uint64_t slots) {
  if (!slots)
    return;
  IRBuilder<> builder(&before);
  builder.CreateCall(module.getOrInsertFunction("smalti.amdgcn.wait.slots",
                                                builder.getVoidTy(),
                                                builder.getInt64Ty()),
                     {builder.getInt64(slots)});
}

/// A generic pointer may be one to LDS unless it is known to be another.
static bool mayBeLDS(const Value *pointer) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == genericSpace)
    space = getUnderlyingObject(pointer)->getType()->getPointerAddressSpace();
  return space == sharedSpace || space == genericSpace;
}

void BackendWaits::waitBeforeAccess(Instruction &at) {
  auto waitFor = [&](const Value *pointer) {
    if (mayBeLDS(pointer))
      wait(at, slotsOf(accessOf(at, pointer)));
  };
  if (const Value *pointer = getLoadStorePointerOperand(&at))
    return waitFor(pointer);
  if (auto *update = dyn_cast<AtomicRMWInst>(&at))
    return waitFor(update->getPointerOperand());
  if (auto *update = dyn_cast<AtomicCmpXchgInst>(&at))
    return waitFor(update->getPointerOperand());
  auto *call = dyn_cast<CallBase>(&at);
  if (!call || !call->getCalledFunction() || !at.mayReadOrWriteMemory() ||
      isa<LifetimeIntrinsic>(call))
    return;
  if (const Value *pointer = ldsPointer(*call))
    waitFor(pointer);
}

void BackendWaits::waitBeforeFence(Instruction &at) {
  auto *fence = dyn_cast<FenceInst>(&at);
  AtomicOrdering order = AtomicOrdering::NotAtomic;
  if (fence)
    order = fence->getOrdering();
  else if (auto *update = dyn_cast<AtomicRMWInst>(&at))
    order = update->getOrdering();
  else if (auto *update = dyn_cast<AtomicCmpXchgInst>(&at))
    order = update->getMergedOrdering();
  else if (auto *store = dyn_cast<StoreInst>(&at))
    order = store->getOrdering();
  std::optional<SyncScope::ID> scope = getAtomicSyncScopeID(&at);
  if (order == AtomicOrdering::NotAtomic || !scope)
    return;
  SmallVector<StringRef> names;
  module.getContext().getSyncScopeNames(names);
  StringRef name = names[*scope];
  bool isOfOneSpace = name == "one-as" || name.consume_back("-one-as");
  bool isWide =
      name.empty() || name == "one-as" || name == "agent" || name == "cluster";

  bool ordersLDS = true, ordersGlobal = true;
  if (fence) {
    MMRAMetadata tags(*fence);
    if (tags.hasTagWithPrefix("amdgpu-synchronize-as")) {
      ordersLDS = tags.hasTag("amdgpu-synchronize-as", "local");
      ordersGlobal = tags.hasTag("amdgpu-synchronize-as", "global");
    }
  } else if (isOfOneSpace) {
    const Value *pointer = getLoadStorePointerOperand(&at);
    if (auto *update = dyn_cast<AtomicRMWInst>(&at))
      pointer = update->getPointerOperand();
    else if (auto *update = dyn_cast<AtomicCmpXchgInst>(&at))
      pointer = update->getPointerOperand();
    ordersLDS = mayBeLDS(pointer);
    ordersGlobal = !ordersLDS;
  }
  bool releases = isReleaseOrStronger(order);
  // An acquire fence also waits for what it pairs with.
  bool waits = releases || (fence && isAcquireOrStronger(order));
  if ((name == "workgroup" && releases && ordersLDS) ||
      (isWide && waits && ordersGlobal))
    wait(at, ~uint64_t(0));
}

void BackendWaits::run() {
  SmallVector<CallBase *> copies;
  SmallVector<Instruction *> others;
  for (Function &function : module)
    for (Instruction &at : instructions(function)) {
      if (isCopy(at))
        copies.push_back(cast<CallBase>(&at));
      else if (at.mayReadOrWriteMemory())
        others.push_back(&at);
    }
  if (copies.empty())
    return;
  hasSeveralVariables =
      count_if(module.globals(), [](const GlobalVariable &variable) {
        return variable.getAddressSpace() == sharedSpace &&
               !variable.use_empty();
      }) > 1;
  for (CallBase *copy : copies) {
    LDSAccess place = accessOf(*copy, ldsPointer(*copy));
    if (!place.hasScope())
      continue;
    size_t slot = find(slots, place) - slots.begin();
    if (slot == slots.size())
      slots.push_back(place);
    IRBuilder<> builder(copy);
    builder.CreateCall(
        module.getOrInsertFunction("smalti.amdgcn.copy.slot",
                                   builder.getVoidTy(), builder.getInt32Ty()),
        {builder.getInt32(std::min<size_t>(slot + 1, numSlots - 1))});
  }
  for (Instruction *at : others) {
    waitBeforeFence(*at);
    waitBeforeAccess(*at);
  }
}

void addBackendWaits(Module &module) { BackendWaits(module).run(); }

} // namespace smalti::emulator
