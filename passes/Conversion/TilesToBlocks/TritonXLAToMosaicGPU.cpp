//===- TritonXLAToMosaicGPU.cpp - Tile level to block level ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/TilesToBlocks/LegalizeDots.h"
#include "smalti/passes/Conversion/TilesToBlocks/PadTiles.h"
#include "smalti/passes/Conversion/TilesToBlocks/TileEmitter.h"
#include "smalti/passes/Legality/OpTable.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/passes/Support/TargetOption.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

#include <vector>

namespace smalti {
#define GEN_PASS_DECL_CONVERTTRITONXLATOMOSAICGPU
#define GEN_PASS_DEF_CONVERTTRITONXLATOMOSAICGPU
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

static constexpr llvm::StringLiteral kPassName =
    "convert-triton-xla-to-mosaic-gpu";

/// How a wgmma gets its operands, for a remark.
static std::string describeOperands(const WgmmaDot &dot) {
  auto describe = [](const TensorWindow &window) {
    return window.stored ? "stored to shared memory once"
           : window.transposeSwizzleBytes != 0
               ? "loaded by TMA and transposed in shared memory"
               : "loaded by TMA";
  };
  std::string text = std::string("operand A ") +
                     (dot.lhs ? describe(*dot.lhs) : "in registers") + ", B " +
                     describe(dot.rhs);
  if (int64_t bytes = dot.getBytes())
    text += " (" + std::to_string(bytes) + " B by TMA)";
  return text;
}

namespace {

struct ConvertTritonXLAToMosaicGPU
    : smalti::impl::ConvertTritonXLAToMosaicGPUBase<
          ConvertTritonXLAToMosaicGPU> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<triton_xla::EntryFuncOp> funcs =
        llvm::to_vector(module.getOps<triton_xla::EntryFuncOp>());
    if (funcs.empty())
      return markAllAnalysesPreserved();
    const targets::Target *chip = getTarget(module, target);
    if (!chip)
      return signalPassFailure();
    if (!chip->isGPU()) {
      module.emitError() << "the target " << chip->name
                         << " is not a GPU; use convert-triton-xla-to-cpu";
      return signalPassFailure();
    }

    if (std::optional<std::string> wrong = checkBlocks(blocks)) {
      module.emitError() << *wrong;
      return signalPassFailure();
    }

    bool areLegal = true;
    for (triton_xla::EntryFuncOp func : funcs)
      areLegal &= succeeded(checkLegality(func, chip));
    if (!areLegal)
      return signalPassFailure();

    TileOptions options{numWarps.getOr(0), copies, matmul, blocks};
    // The dots and tiles of a copy are rewritten, so that the module does not
    // change if the plan of a kernel fails.
    int64_t legalWarps = std::max<int64_t>(options.numWarps, 1);
    SmallVector<std::pair<triton_xla::EntryFuncOp, triton_xla::EntryFuncOp>>
        legalized;
    auto fail = [&] {
      for (auto [func, copy] : legalized)
        copy.erase();
      signalPassFailure();
    };
    std::vector<TilePlan> plans;
    for (triton_xla::EntryFuncOp func : funcs) {
      triton_xla::EntryFuncOp planned = func;
      bool areUneven = hasUnevenTiles(func),
           areConverted = hasConvertedArguments(func);
      if (areUneven || areConverted || !hasLegalDots(func, *chip, legalWarps)) {
        planned = cast<triton_xla::EntryFuncOp>(
            OpBuilder(func).clone(*func.getOperation()));
        legalized.push_back({func, planned});
        if (areConverted)
          convertArguments(planned);
        if (areUneven)
          padTiles(planned);
        legalizeDots(planned, *chip, legalWarps);
      }
      FailureOr<TilePlan> plan = planTiles(planned, *chip, options);
      if (failed(plan))
        return fail();
      plans.push_back(std::move(*plan));
    }
    for (auto [func, copy] : legalized)
      func.erase();

    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    for (TilePlan &plan : plans) {
      report(plan, *chip);
      gpu::GPUModuleOp kernels = TileEmitter(plan).run();
      SymbolTable symbols(module);
      symbols.insert(kernels, Block::iterator(plan.func.getOperation()));
      plan.func->erase();
    }
  }

  static void report(const TilePlan &plan, const targets::Target &chip) {
    triton_xla::EntryFuncOp func = plan.func;
    // One remark for each argument.
    DenseSet<Value> arguments, large;
    auto requireSmall = [&](Operation *op, Value memref) {
      auto argument = dyn_cast<BlockArgument>(memref);
      auto type = dyn_cast<MemRefType>(memref.getType());
      if (!argument || !type || !chip.hasBufferLoads)
        return;
      bool isNegative = hasNegativeStride(type);
      if ((!isNegative && (!isDynamic(type) || isStatedSmall(argument))) ||
          !large.insert(memref).second)
        return;
      if (isNegative) {
        remarkMissed(op, kPassName)
            << "buffer accesses not used: argument #" << argument.getArgNumber()
            << " has a negative stride, but the offsets of buffer accesses are "
               "unsigned; pass an array without negative strides";
        return;
      }
      remarkMissed(op, kPassName)
          << "buffer accesses not used: argument #" << argument.getArgNumber()
          << " is not proven to have less than 2^31 B; if it has, add "
          << triton_xla::kMaxBytes << " = 2147483647 : i64 to the argument";
    };
    func.getBody().walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        requireSmall(op, operand);
      std::optional<Window> window = windowOf(op);
      if (!window || plan.tensorCopies.contains(op) ||
          plan.tensorStores.contains(op) || arguments.contains(window->memref))
        return;
      if (std::optional<std::string> reason = findMissingFact(*window)) {
        arguments.insert(window->memref);
        remarkMissed(op, kPassName) << "accesses of 16 B not used: " << *reason;
      }
    });
    for (const MissedAsyncCopy &missed : plan.missedAsyncCopies)
      remarkMissed(missed.extract, kPassName)
          << "asynchronous copy not used: " << missed.reason;
    if (plan.rejectedWgmmaDot)
      remarkMissed(plan.rejectedWgmmaDot, kPassName)
          << "wgmma not used: " << plan.wgmmaRejectionReason;
    for (const auto &[op, dot] : plan.wgmmaDots) {
      auto lhs =
          cast<RankedTensorType>(triton_xla::DotOp(dot.dot).getLhs().getType());
      remarkApplied(op, kPassName)
          << "dot lowered to wgmma: " << lhs.getDimSize(0) << "x"
          << cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1)
          << "x" << lhs.getDimSize(1) << " on " << plan.block.numWarps / 4
          << (plan.block.numWarps == 4 ? " warpgroup; " : " warpgroups; ")
          << describeOperands(dot);
    }
    for (const auto &[insert, reason] : plan.missedTensorStores)
      remarkMissed(insert, kPassName) << "TMA store not used: " << reason;
    for (const auto &[op, window] : plan.tensorStores)
      remarkApplied(op, kPassName)
          << "insert lowered to TMA stores of " << window.getShape()[0] << "x"
          << window.getTiling()[1] << " elements";
    for (const auto &[op, dot] : plan.dots) {
      if (dot.missed)
        remarkMissed(op, kPassName)
            << "MMA not used: with num-warps=" << plan.block.numWarps
            << ", scalar multiply-adds are estimated to be faster than padding "
               "M, N and K per warp to multiples of "
            << dot.missed->m << ", " << dot.missed->n << " and "
            << dot.missed->k << ", as " << dot.missed->mnemonic << " requires";
      StringRef instruction = dot.mma.instruction->mnemonic;
      remarkApplied(op, kPassName)
          << "dot lowered to "
          << (instruction.empty() ? "scalar multiply-adds" : instruction)
          << ": " << dot.mma.m << "x" << dot.mma.n << "x" << dot.mma.k << " on "
          << dot.mma.warpsM << "x" << dot.mma.warpsN << " warps"
          << (dot.aInRegisters ? "; A in registers" : "")
          << (dot.bInRegisters ? "; B in registers" : "");
    }
    remarkApplied(plan.func, kPassName)
        << "block size: " << plan.block.numWarps
        << (plan.block.numWarps == 1 ? " warp of " : " warps of ")
        << plan.block.waveSize << " threads";
    if (func.getDynamicGrid() || func.getNumTiles() > 1)
      func.getBody().walk([](triton_xla::AtomicRMWOp atomic) {
        if (ordersElements(atomic))
          remarkMissed(atomic, kPassName)
              << "order of atomic updates not determined: tiles run in any "
                 "order, so the result may differ between runs if two tiles "
                 "update the same element; let each tile update other elements";
      });
    if (plan.persistentBlocks != 0)
      remarkApplied(func, kPassName)
          << "persistent grid: " << plan.persistentBlocks << " blocks compute "
          << (func.getDynamicGrid() ? std::string("all")
                                    : std::to_string(func.getNumTiles()))
          << " tiles";
  }
};

} // namespace
