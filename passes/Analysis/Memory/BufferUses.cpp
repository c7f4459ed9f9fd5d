//===- BufferUses.cpp - Uses of a buffer and its views --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferUses.h"

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Support/Describe.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace smalti;

static bool freesMemory(Operation *op) {
  return hasEffect<MemoryEffects::Free>(op) && op->getNumResults() == 0;
}

static std::string describeEscape(Operation *user) {
  return "escapes through " + quote(user) +
         ", so not all of its uses are known; do not pass it or its address to "
         "this op";
}

/// Why this use of a buffer, or of an address in it, makes the buffer escape.
static std::optional<std::string> checkUser(Operation *user, Value value) {
  auto effectOp = dyn_cast<MemoryEffectOpInterface>(user);
  bool hasMemRefResult =
      llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
  // The region of a structured op computes on elements, not on memrefs.
  bool forwardsBuffer =
      user->hasTrait<OpTrait::IsTerminator>() || hasMemRefResult ||
      (user->getNumRegions() != 0 && !isa<DestinationStyleOpInterface>(user));
  // Asynchronous copies and ops on mbarriers state their accesses through their
  // interfaces.
  if ((!effectOp &&
       !isa<AsyncCopyOpInterface, BarrierObjectOpInterface>(user)) ||
      forwardsBuffer)
    return describeEscape(user);
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  if (!collectAccesses(user, accesses, reason))
    return "is used by an op whose accesses cannot be determined: " + reason;
  // An op that does not access memory and uses more than the shape takes the
  // address.
  if (accesses.empty() && !isa<ShapedDimOpInterface>(user))
    return describeEscape(user);
  // An address that is not used for an access is stored, compared or similar.
  if (!isa<BaseMemRefType>(value.getType()) &&
      (llvm::count(user->getOperands(), value) != 1 ||
       llvm::none_of(accesses, [&](const MemoryAccess &access) {
         return access.memref == value;
       })))
    return describeEscape(user);
  return std::nullopt;
}

/// Whether the op describes memory for asynchronous copies, which state their
/// accesses, and its result has no other users.
static bool isMereDescription(Operation *op) {
  return isa<MemoryDescriptorOpInterface>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<AsyncCopyOpInterface>(user) || isMereDescription(user);
         });
}

std::optional<std::string>
smalti::collectBufferUses(Value buffer, BufferUses &uses, bool withAddresses) {
  std::optional<std::string> reason;
  SmallVector<Value> worklist = {buffer};
  SetVector<Operation *> users, deallocs;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (withAddresses && isAddressOf(user, value)) {
        if (uses.addresses.insert(user))
          worklist.push_back(user->getResult(0));
        continue;
      }
      if (auto view = dyn_cast<ViewLikeOpInterface>(user);
          view && view.getViewSource() == value) {
        if (uses.views.insert(user))
          worklist.append(user->result_begin(), user->result_end());
        continue;
      }
      if (freesMemory(user) && value == buffer) {
        deallocs.insert(user);
        continue;
      }
      users.insert(user);
      if (reason || isMereDescription(user))
        continue;
      if (freesMemory(user))
        reason = "is freed through one of its views by " + quote(user) +
                 "; free the buffer itself";
      else
        reason = checkUser(user, value);
    }
  }
  uses.users = users.takeVector();
  uses.deallocs = deallocs.takeVector();
  return reason;
}

std::optional<std::string>
smalti::tryTypes(Value buffer, const BufferUses &uses, StringRef what,
                 llvm::function_ref<Value(OpBuilder &)> createBuffer,
                 RecreateView recreate) {
  MLIRContext *context = buffer.getContext();
  Block scratch;
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&scratch);
  IRMapping mapping;
  std::optional<std::string> reason;
  // The verifiers describe the clones; the remark states the relevant op.
  // Diagnostics of other threads are not suppressed.
  ScopedDiagnosticHandler silence(
      context, [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });

  Value replacement = createBuffer(builder);
  if (!replacement)
    reason = "is allocated by " + quote(buffer.getDefiningOp()) +
             ", which does not permit " + what.str() + "; use memref.alloc";
  else
    mapping.map(buffer, replacement);
  for (Operation *view : uses.views) {
    if (reason)
      break;
    Value source = cast<ViewLikeOpInterface>(view).getViewSource();
    Operation *copy = recreate(builder, view, mapping.lookup(source));
    if (!copy || failed(verify(copy, /*verifyRecursively=*/false))) {
      reason = "is viewed by " + quote(view) + ", which does not accept " +
               what.str() +
               (isa<CastOpInterface>(view) ? "; remove the cast"
                                           : "; access the buffer directly");
      break;
    }
    mapping.map(view->getResults(), copy->getResults());
  }
  for (Operation *user : uses.users) {
    if (reason)
      break;
    Operation *copy = user->clone(mapping);
    builder.insert(copy);
    if (failed(verify(copy, /*verifyRecursively=*/true)))
      reason =
          "is used by " + quote(user) + ", which does not accept " + what.str();
  }
  while (!scratch.empty())
    scratch.back().erase();
  return reason;
}
