//===- CheckResources.cpp - smalti-check-resources ------------------------===//

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

/// What one function takes.
struct Usage {
  SharedMemory shared;
  Registers registers;
  int64_t columns = 0;
  SmallVector<Operation *> unknownColumns;
  int64_t threads = 0; ///< 0: not known
};

struct SmaltiCheckResources
    : smalti::impl::SmaltiCheckResourcesBase<SmaltiCheckResources> {
  using SmaltiCheckResourcesBase::SmaltiCheckResourcesBase;

  void runOnOperation() override;

private:
  void report(const Usage &usage, const Target &chip);
  LogicalResult check(const Usage &usage, const Target &chip);
  LogicalResult checkNumber(int64_t number, int64_t limit, StringRef unit,
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
  remark << usage.shared.bytes << " of " << chip.sharedMemoryPerBlock
         << " B of shared memory";
  for (auto [i, buffer] : llvm::enumerate(usage.shared.buffers))
    remark << (i == 0 ? " (" : ", ") << ::describe(buffer);
  if (!usage.shared.buffers.empty())
    remark << ")";
  if (size_t number = usage.shared.unknown.size())
    remark << " and " << number << (number == 1 ? " buffer" : " buffers")
           << " of unknown size";
  remark << "; values take " << usage.registers.count << " of "
         << chip.registersPerThread << " registers of a thread";
  if (usage.registers.largest)
    remark << ", " << usage.registers.largestCount << " of them a "
           << usage.registers.largest.getType();
  if (usage.threads)
    remark << "; " << usage.threads << " of " << chip.maxThreadsPerBlock
           << " threads";
  if (chip.tensorMemoryColumns)
    remark << "; " << usage.columns << " of " << chip.tensorMemoryColumns
           << " columns of tensor memory";
}

LogicalResult SmaltiCheckResources::checkNumber(int64_t number, int64_t limit,
                                                StringRef unit,
                                                const Target &chip) {
  if (number <= limit)
    return success();
  return getOperation()->emitError()
         << "needs " << number << " " << unit << "; a block of " << chip.name
         << " has at most " << limit;
}

LogicalResult SmaltiCheckResources::check(const Usage &usage,
                                          const Target &chip) {
  Operation *function = getOperation();
  for (Value buffer : usage.shared.unknown)
    remarkMissed(getBufferOp(buffer), kPassName)
        << "the size of " << buffer.getType()
        << " is not known: it is not counted";
  for (Operation *alloc : usage.unknownColumns)
    remarkMissed(alloc, kPassName)
        << "the number of columns of tensor memory is not constant: it is not "
           "counted";
  if (usage.registers.count > chip.registersPerThread)
    remarkMissed(usage.registers.op, kPassName)
        << "values take " << usage.registers.count
        << " registers of a thread here, " << usage.registers.largestCount
        << " of them a " << usage.registers.largest.getType() << "; "
        << chip.name << " has " << chip.registersPerThread
        << ": some will be spilled to memory";
  if (onlyRemarks) {
    auto remark = [&](int64_t number, int64_t limit, StringRef unit) {
      if (number > limit)
        remarkFailed(function, kPassName)
            << "needs " << number << " " << unit << "; a block of " << chip.name
            << " has at most " << limit;
    };
    remark(usage.shared.bytes, chip.sharedMemoryPerBlock,
           "bytes of shared memory");
    remark(usage.threads, chip.maxThreadsPerBlock, "threads");
    remark(usage.columns, chip.tensorMemoryColumns, "columns of tensor memory");
    return success();
  }
  // All that does not fit is said at once.
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
