//===- SharedTransferPlans.cpp - Choice of a transfer plan ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/SharedTransfers.h"
#include "smalti/targets/Target.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using transfers::TransferNeed;
using transfers::TransferPlan;
using transfers::TransferProblem;

/// The best plan for the requirement of an op, or why none exists.
static layout::ValueOr<TransferPlan> findPlan(TransferProblem problem,
                                              TransferNeed need,
                                              const targets::Target &target) {
  layout::ValueOr<TransferPlan> any = planTransfer(problem, target);
  if (!any || need == TransferNeed::Unoptimized || any->isConflictFree())
    return any;
  problem.mustBeConflictFree = true;
  layout::ValueOr<TransferPlan> free = planTransfer(problem, target);
  if (need == TransferNeed::Downgradable)
    return free && free->cycles <= any->cycles ? free : any;
  // JAX does not count all conflicts of accesses narrower than four bytes.
  if (!free && isTransferInJAX(problem, need))
    return any;
  return free;
}

/// The alignment of the memory, as far as it matters.
static int64_t getAlignment(const SharedRef &ref) {
  constexpr unsigned log2Pattern = 10;
  return int64_t(1) << std::min(ref.log2Alignment, log2Pattern);
}

std::optional<TransferPlan>
block_to_thread::planSharedTransfer(const SharedRequest &request,
                                    Planner &planner) {
  Operation *op = request.op;
  const SharedRef &ref = *planner.getSharedRef(request.memref);
  if (std::optional<std::string> why = checkSwizzleStart(ref)) {
    op->emitOpError() << "cannot be lowered to thread level: " << *why;
    return std::nullopt;
  }
  TransferProblem problem;
  problem.registers = getRegisterLayout(*request.distribution);
  problem.memory = ref.layout;
  problem.elementBits = ref.elementBits;
  problem.isLoad = request.isLoad;
  problem.warps = planner.getGrid().numWarps();
  targets::Target target = planner.getVendor().getTarget();
  // Transposed reads cannot be emitted.
  target.transposedReads = {};
  // Rows of matrices begin at multiples of 16 bytes.
  int64_t alignment = getAlignment(ref);
  if (request.isOfPeer || alignment < 16)
    target.hasLdMatrix = target.hasStMatrix = target.hasTransposed8BitMatrix =
        false;
  auto plan = findPlan(problem, request.need, target);
  if (plan && alignment * 8 < ref.elementBits) {
    op->emitOpError()
        << "cannot be lowered to thread level: " << ref.elementBits
        << "-bit elements in shared memory are only proven to be aligned to "
        << alignment << " bytes; they must be aligned to their size";
    return std::nullopt;
  }
  if (plan)
    return *plan;
  InFlightDiagnostic error =
      op->emitOpError() << "cannot be lowered to thread level: " << plan.reason;
  if (request.need == TransferNeed::Optimized && planTransfer(problem, target))
    error.attachNote()
        << "to permit bank conflicts, set 'optimized = false' on the op";
  return std::nullopt;
}

TransferNeed block_to_thread::getNeed(std::optional<bool> optimized,
                                      bool isLoad) {
  if (!optimized)
    return isLoad ? TransferNeed::Optimized : TransferNeed::Downgradable;
  return *optimized ? TransferNeed::Optimized : TransferNeed::Unoptimized;
}
