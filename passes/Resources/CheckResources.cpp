//===- CheckResources.cpp - smalti-check-resources ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/BufferUses.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Analysis/Resources/SharedBuffers.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Support/Describe.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"
#include "smalti/targets/Target.h"

#include "mlir/Pass/Pass.h"

namespace smalti {
#define GEN_PASS_DECL_SMALTICHECKRESOURCES
#define GEN_PASS_DEF_SMALTICHECKRESOURCES
#include "smalti/passes/Resources/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using targets::Target;

static constexpr llvm::StringLiteral kPassName = "smalti-check-resources";

namespace {

/// The resources of one function.
struct Usage {
  SharedMemory shared;
  Registers registers;
  int64_t columns = 0;
  SmallVector<Operation *> unknownColumns;
  int64_t threads = 0; ///< 0: dynamic
};

struct SmaltiCheckResources
    : smalti::impl::SmaltiCheckResourcesBase<SmaltiCheckResources> {
  using SmaltiCheckResourcesBase::SmaltiCheckResourcesBase;

  void runOnOperation() override;

private:
  void report(const Usage &usage, const Target &chip);
  LogicalResult check(const Usage &usage, const Target &chip);
  LogicalResult checkNumber(int64_t number, int64_t limit, StringRef resource,
                            const Target &chip);
};

} // namespace

static std::string describe(const SharedBuffer &buffer) {
  std::string text = std::to_string(buffer.bytes) + " B in ";
  if (buffer.slots > 1)
    text += std::to_string(buffer.slots) + " slots of ";
  return text + smalti::describe(buffer.type);
}

void SmaltiCheckResources::report(const Usage &usage, const Target &chip) {
  RemarkBuilder remark = remarkAnalysis(getOperation(), kPassName);
  remark << "kernel uses " << usage.shared.bytes << " of "
         << chip.sharedMemoryPerBlock << " B of shared memory";
  for (auto [i, buffer] : llvm::enumerate(usage.shared.buffers))
    remark << (i == 0 ? " (" : ", ") << ::describe(buffer);
  if (!usage.shared.buffers.empty())
    remark << ")";
  if (size_t number = usage.shared.unknown.size())
    remark << " and " << number << (number == 1 ? " buffer" : " buffers")
           << " of unknown size";
  remark << "; estimated register pressure: " << usage.registers.count << " of "
         << chip.registersPerThread << " per thread";
  if (usage.registers.largest)
    remark << "; the largest live value, of type "
           << usage.registers.largest.getType() << ", takes "
           << usage.registers.largestCount << " registers";
  if (usage.threads)
    remark << "; " << usage.threads << " of " << chip.maxThreadsPerBlock
           << " threads";
  if (chip.tensorMemoryColumns)
    remark << "; " << usage.columns << " of " << chip.tensorMemoryColumns
           << " columns of tensor memory";
}

static std::string describeExcess(int64_t number, int64_t limit,
                                  StringRef resource, const Target &chip) {
  std::string symbol = resource.starts_with("B ") ? " B" : "";
  return ("kernel needs " + Twine(number) + " " + resource + "; a block on " +
          chip.name + " has at most " + Twine(limit) + symbol +
          (resource == "threads" ? "; use a smaller block"
                                 : "; use smaller tiles"))
      .str();
}

LogicalResult SmaltiCheckResources::checkNumber(int64_t number, int64_t limit,
                                                StringRef resource,
                                                const Target &chip) {
  if (number <= limit)
    return success();
  return getOperation()->emitError()
         << describeExcess(number, limit, resource, chip);
}

LogicalResult SmaltiCheckResources::check(const Usage &usage,
                                          const Target &chip) {
  Operation *function = getOperation();
  for (Value buffer : usage.shared.unknown)
    remarkMissed(getBufferOp(buffer), kPassName)
        << "shared-memory buffer not counted: the size of " << buffer.getType()
        << " cannot be determined statically; use a static shape";
  for (Operation *alloc : usage.unknownColumns)
    remarkMissed(alloc, kPassName)
        << "tensor memory not counted: the number of columns is not a "
           "constant; use a constant";
  if (usage.registers.count > chip.registersPerThread)
    remarkMissed(usage.registers.op, kPassName)
        << "estimated register pressure is " << usage.registers.count
        << " per thread at this op, " << usage.registers.largestCount
        << " for a value of type " << usage.registers.largest.getType() << "; "
        << chip.name << " has " << chip.registersPerThread
        << ", so spills are expected; use smaller tiles or more warps";
  if (onlyRemarks) {
    auto remark = [&](int64_t number, int64_t limit, StringRef resource) {
      if (number > limit)
        remarkFailed(function, kPassName)
            << describeExcess(number, limit, resource, chip);
    };
    remark(usage.shared.bytes, chip.sharedMemoryPerBlock, "B of shared memory");
    remark(usage.threads, chip.maxThreadsPerBlock, "threads");
    remark(usage.columns, chip.tensorMemoryColumns, "columns of tensor memory");
    return success();
  }
  // Report all exceeded limits.
  LogicalResult shared = checkSharedMemory(function, usage.shared, chip);
  LogicalResult threads =
      checkNumber(usage.threads, chip.maxThreadsPerBlock, "threads", chip);
  LogicalResult columns = checkNumber(usage.columns, chip.tensorMemoryColumns,
                                      "columns of tensor memory", chip);
  return success(succeeded(shared) && succeeded(threads) && succeeded(columns));
}

void SmaltiCheckResources::runOnOperation() {
  FunctionOpInterface function = getOperation();
  markAllAnalysesPreserved();
  if (function.isExternal())
    return;
  const Target *chip = getTarget(function, target);
  if (!chip)
    return signalPassFailure();
  if (!chip->isGPU())
    return;
  Usage usage;
  usage.shared = placeSharedMemory(function);
  usage.registers = estimateRegisters(function, *chip);
  usage.columns = countTensorMemoryColumns(function, usage.unknownColumns);
  if (auto size = getBlockSize(function, function))
    usage.threads = (*size)[0] * (*size)[1] * (*size)[2];
  report(usage, *chip);
  if (failed(check(usage, *chip)))
    signalPassFailure();
}
