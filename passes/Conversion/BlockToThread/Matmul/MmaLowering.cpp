//===- MmaLowering.cpp - Lowering of mosaic_gpu.mma -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/Gather.h"
#include "smalti/passes/Layouts/Vectors/MmaSelection.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct MmaPlan : OpPlan {
  BlockMma mma;
  /// Reorders to the instruction's register order, and back to the result's;
  /// null if the orders are equal.
  std::optional<Reorder> a, b, accumulator, result;
};

class Mma : public LoweringOf<mosaic_gpu::MMAOp> {
public:
  LogicalResult plan(mosaic_gpu::MMAOp op, Planner &planner) const override;
  void emit(mosaic_gpu::MMAOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

/// Whether the instruction takes the registers of a fragment tile after tile,
/// as the emission provides them.
static bool hasTilesInOrder(const layout::TiledLayout &layout,
                            ArrayRef<int64_t> shape, int64_t tilesOuter,
                            int64_t tilesInner, int64_t stepOuter,
                            int64_t stepInner, int64_t registers) {
  if (layout.numRegisters(shape) != tilesOuter * tilesInner * registers)
    return false;
  for (int64_t outer = 0; outer < tilesOuter; ++outer)
    for (int64_t inner = 0; inner < tilesInner; ++inner) {
      SmallVector<int64_t> index = layout.elementIndex(
          shape, 0, 0, (outer * tilesInner + inner) * registers, 0);
      if (index[0] != outer * stepOuter || index[1] != inner * stepInner)
        return false;
    }
  return true;
}

static bool hasTilesInOrder(const BlockMma &mma) {
  const targets::MmaInstruction &instruction = *mma.instruction;
  int64_t stepM = instruction.m * mma.warpsM,
          stepN = instruction.n * mma.warpsN, stepK = instruction.k;
  return hasTilesInOrder(mma.a, {mma.m, mma.k}, mma.tilesM(), mma.tilesK(),
                         stepM, stepK, instruction.aOrder.size()) &&
         hasTilesInOrder(mma.b, {mma.k, mma.n}, mma.tilesK(), mma.tilesN(),
                         stepK, stepN, instruction.bOrder.size()) &&
         hasTilesInOrder(mma.accumulator, {mma.m, mma.n}, mma.tilesM(),
                         mma.tilesN(), stepM, stepN, instruction.cOrder.size());
}

LogicalResult Mma::plan(mosaic_gpu::MMAOp op, Planner &planner) const {
  auto aType = cast<VectorType>(op.getA().getType()),
       bType = cast<VectorType>(op.getB().getType()),
       accumulatorType = cast<VectorType>(op.getAccumulator().getType());
  int64_t m = aType.getDimSize(0), k = aType.getDimSize(1),
          n = bType.getDimSize(1);
  for (auto [value, name] :
       {std::pair<Value, StringRef>{op.getA(), "a"}, {op.getB(), "b"}})
    if (planner.find(value)->getKind() != Distribution::Kind::Tiled)
      return op.emitOpError()
             << "requires a tiled layout for operand '" << name
             << "', but its layout is " << planner.find(value)->str()
             << "; insert 'mosaic_gpu.layout_cast'";
  // The accumulator may be a scalar splat; the result determines the
  // distribution.
  if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0)) {
    if (failed(planner.setLayout(op, op.getResult(), layout)))
      return failure();
  } else {
    planner.shareDistribution(op.getAccumulator(), op.getResult());
  }
  const Distribution &a = *planner.find(op.getA()),
                     &b = *planner.find(op.getB()),
                     &accumulator = *planner.find(op.getAccumulator()),
                     &result = *planner.find(op.getResult());
  if (accumulator != result && !accumulator.isSplat())
    return op.emitOpError()
           << "has an accumulator in layout " << accumulator.str()
           << ", but a result in layout " << result.str()
           << "; insert 'mosaic_gpu.layout_cast' on the accumulator";
  if (result.getKind() != Distribution::Kind::Tiled)
    return op.emitOpError()
           << "requires a tiled layout for its result, such as that of an MMA "
              "accumulator (run mosaic-gpu-infer-layouts to choose one), but "
              "the layout of the result is "
           << result.str();

  const VendorLowering &vendor = planner.getVendor();
  const targets::Target &target = vendor.getTarget();
  std::optional<MmaElements> elements =
      MmaElements::get(op.getA(), op.getB(), op.getAccumulator(),
                       op.getUnsignedA() || op.getUnsignedB());
  std::optional<BlockMma> mma;
  auto plan = std::make_unique<MmaPlan>();
  auto isHeld = [](const Distribution &held,
                   const layout::TiledLayout &layout) {
    return held.getTiled() == layout;
  };
  auto isExact = [&](const BlockMma &candidate) {
    return isHeld(a, candidate.a) && isHeld(b, candidate.b) &&
           isHeld(result, candidate.accumulator) && hasTilesInOrder(candidate);
  };
  // Each thread holds the elements that it needs, in some order.
  auto isReordered = [&](const BlockMma &candidate) {
    if (!hasTilesInOrder(candidate))
      return false;
    const ThreadGrid &grid = planner.getGrid();
    // An operand of another candidate may have been reordered.
    plan = std::make_unique<MmaPlan>();
    return planReorder(aType, a, candidate.a, grid, plan->a) &&
           planReorder(bType, b, candidate.b, grid, plan->b) &&
           planReorder(accumulatorType, result, candidate.accumulator, grid,
                       plan->accumulator, &plan->result);
  };
  auto match = [&](const MmaElements &elements) {
    auto find = [&](llvm::function_ref<bool(const BlockMma &)> accepts) {
      return findMma(target, elements, m, n, k, planner.getGrid().numWarps(),
                     accepts);
    };
    if (std::optional<BlockMma> exact = find(isExact)) {
      plan = std::make_unique<MmaPlan>();
      return exact;
    }
    return find(isReordered);
  };
  if (elements && op.getAllowTf32())
    if (std::optional<MmaElements> tf32 = elements->getTF32())
      mma = match(*tf32);
  if (elements && !mma)
    mma = match(*elements);
  if (!mma)
    return op.emitOpError()
           << "does not have the layouts of an MMA instruction of "
           << target.name
           << " (run mosaic-gpu-infer-layouts to choose them): operand A is "
           << aType << " in layout " << a.str() << ", operand B is " << bType
           << " in layout " << b.str() << ", the accumulator is "
           << accumulatorType << " in layout " << result.str();
  if (std::optional<std::string> why = vendor.refuseMma(*mma->instruction))
    return op.emitOpError()
           << "cannot be lowered for " << target.name << ": " << *why;

  plan->mma = std::move(*mma);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

/// Floats: one rounding on every chip, without a call of a device library.
static Value multiplyAdd(OpBuilder &builder, mosaic_gpu::MMAOp op, Value a,
                         Value b, Value accumulator) {
  Location loc = op.getLoc();
  Type wide = cast<VectorType>(accumulator.getType()).getElementType();
  if (wide.isInteger()) {
    auto extend = [&](Value value, bool isUnsigned) -> Value {
      if (isUnsigned)
        return arith::ExtUIOp::create(builder, loc, accumulator.getType(),
                                      value);
      return arith::ExtSIOp::create(builder, loc, accumulator.getType(), value);
    };
    return arith::AddIOp::create(
        builder, loc, accumulator,
        arith::MulIOp::create(builder, loc, extend(a, op.getUnsignedA()),
                              extend(b, op.getUnsignedB())));
  }
  auto extend = [&](Value value) -> Value {
    auto type = cast<VectorType>(value.getType());
    if (type.getElementType() == wide)
      return value;
    return arith::ExtFOp::create(builder, loc, type.clone(wide), value);
  };
  return LLVM::FMAOp::create(builder, loc, extend(a), extend(b), accumulator);
}

/// The MMAs of one tile; the registers are in the order of the instruction.
static SmallVector<Value> emitTile(OpBuilder &builder, Location loc,
                                   const VendorLowering &vendor,
                                   const targets::MmaInstruction &instruction,
                                   const MmaOperands &operands) {
  size_t numMmas = instruction.numMmas(), numB = operands.b.size() / numMmas,
         numC = operands.accumulator.size() / numMmas;
  SmallVector<Value> results;
  for (size_t mma = 0; mma < numMmas; ++mma) {
    MmaOperands own = operands;
    own.b = operands.b.slice(mma * numB, numB);
    own.accumulator = operands.accumulator.slice(mma * numC, numC);
    llvm::append_range(results, vendor.emitMma(builder, loc, instruction, own));
  }
  return results;
}

void Mma::emit(mosaic_gpu::MMAOp op, Emitter &emitter,
               OpBuilder &builder) const {
  const auto &plan = *emitter.plan.getOpPlan<MmaPlan>(op);
  const BlockMma &mma = plan.mma;
  const targets::MmaInstruction &instruction = *mma.instruction;
  Location loc = op.getLoc();
  auto reorder = [&](const std::optional<Reorder> &order, Value value,
                     Registers held) {
    return order ? order->emit(getElementTypeOrSelf(value.getType()), held,
                               builder, loc)
                 : held;
  };
  Registers a = reorder(plan.a, op.getA(), emitter.getRegisters(op.getA())),
            b = reorder(plan.b, op.getB(), emitter.getRegisters(op.getB())),
            result = reorder(plan.accumulator, op.getAccumulator(),
                             emitter.getRegisters(
                                 op.getAccumulator(),
                                 emitter.plan.getDistribution(op.getResult()),
                                 builder));
  // Operand register i of the instruction is register order[i] of its tile.
  auto gather = [](ArrayRef<Value> held, int64_t tile,
                   ArrayRef<int64_t> order) {
    SmallVector<Value> gathered;
    for (int64_t reg : order)
      gathered.push_back(held[tile * order.size() + reg]);
    return gathered;
  };
  for (int64_t tileK = 0; tileK < mma.tilesK(); ++tileK)
    for (int64_t tileM = 0; tileM < mma.tilesM(); ++tileM)
      for (int64_t tileN = 0; tileN < mma.tilesN(); ++tileN) {
        int64_t tile = tileM * mma.tilesN() + tileN;
        SmallVector<Value> operandA = gather(a, tileM * mma.tilesK() + tileK,
                                             instruction.aOrder),
                           operandB = gather(b, tileK * mma.tilesN() + tileN,
                                             instruction.bOrder),
                           accumulator =
                               gather(result, tile, instruction.cOrder);
        bool unsignedA = op.getUnsignedA(), unsignedB = op.getUnsignedB();
        if (mma.isTransposed) {
          std::swap(operandA, operandB);
          std::swap(unsignedA, unsignedB);
        }
        SmallVector<Value> results;
        if (instruction.kind == targets::MmaKind::Fma)
          results.push_back(multiplyAdd(builder, op, operandA.front(),
                                        operandB.front(), accumulator.front()));
        else
          results =
              emitTile(builder, op.getLoc(), emitter.vendor, instruction,
                       {operandA, operandB, accumulator, unsignedA, unsignedB});
        for (auto [reg, value] : llvm::zip_equal(instruction.cOrder, results))
          result[tile * instruction.cOrder.size() + reg] = value;
      }
  emitter.setRegisters(op.getResult(),
                       reorder(plan.result, op.getResult(), std::move(result)));
}

void block_to_thread::registerMma(OpLowerings &lowerings) {
  lowerings.add<Mma, mosaic_gpu::MMAOp>();
}
