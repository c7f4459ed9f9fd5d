//===- WgmmaLowering.cpp - Lowering of mosaic_gpu.wgmma -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mosaic_gpu.wgmma as NVIDIA's wgmma.mma_async: blocks of 64 rows per
// warpgroup, blocks of up to 256 columns, K in steps of 32 bytes. The kernel
// contains the fences, commits and waits, except for fences that an MLIR block
// lacks.
//
// The instructions are asynchronous, but SSA values are not: a read after a
// wait must not move before the wait. Therefore the accumulators that a wait
// completes pass through an optimization barrier.
//
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Conversion/BlockToThread/Assembly/NVIDIAAssembly.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/Gather.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/passes/Layouts/Plans/WgmmaPlan.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using nvidia::WgmmaInstruction;
using transfers::WgmmaBlock;
using transfers::WgmmaOperandPlan;
using transfers::WgmmaOperandProblem;

static constexpr int64_t kGroupThreads = 128;
static constexpr int64_t kWarpsOfGroup = 4;

namespace {
struct WgmmaOpPlan : OpPlan {
  /// One instruction, without the columns.
  WgmmaInstruction instruction;
  int64_t groups = 1;
  SmallVector<WgmmaBlock> rows, columns;
  int64_t steps = 1;
  /// A only if it is in shared memory.
  WgmmaOperandPlan a, b;
  /// Reorders to the instruction's register order, and back to the result's;
  /// null if the orders are equal.
  std::optional<Reorder> orderOfA, accumulator, result;
  /// Whether its registers need a fence that its MLIR block does not contain
  /// before it.
  bool needsFence = false;
};

class Wgmma : public LoweringOf<mosaic_gpu::WGMMAOp> {
public:
  bool acceptsTransforms() const override { return true; }
  LogicalResult plan(mosaic_gpu::WGMMAOp op, Planner &planner) const override;
  LogicalResult planKernel(Planner &planner) const override;
  void emit(mosaic_gpu::WGMMAOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

static std::optional<NVVM::WGMMATypes> getOperandType(Type type,
                                                      bool isUnsigned) {
  if (type.isF16())
    return NVVM::WGMMATypes::f16;
  if (type.isBF16())
    return NVVM::WGMMATypes::bf16;
  if (isa<FloatTF32Type>(type) || type.isF32())
    return NVVM::WGMMATypes::tf32;
  if (isa<Float8E4M3FNType>(type))
    return NVVM::WGMMATypes::e4m3;
  if (isa<Float8E5M2Type>(type))
    return NVVM::WGMMATypes::e5m2;
  if (type.isInteger(8))
    return isUnsigned ? NVVM::WGMMATypes::u8 : NVVM::WGMMATypes::s8;
  return std::nullopt;
}

static std::optional<NVVM::WGMMATypes> getAccumulatorType(Type type) {
  if (type.isF32())
    return NVVM::WGMMATypes::f32;
  if (type.isF16())
    return NVVM::WGMMATypes::f16;
  if (type.isInteger(32))
    return NVVM::WGMMATypes::s32;
  return std::nullopt;
}

/// Plans an operand in shared memory; an error at `op` if the instructions
/// cannot address it.
static LogicalResult planOperand(mosaic_gpu::WGMMAOp op, StringRef name,
                                 Value memref, WgmmaOperandProblem problem,
                                 Planner &planner, WgmmaOperandPlan &plan) {
  const SharedRef &ref = *planner.getSharedRef(memref);
  problem.memory = ref.layout;
  problem.elementBits = ref.elementBits;
  auto found = transfers::planWgmmaOperand(problem);
  if (!found)
    return op.emitOpError() << "cannot read operand '" << name
                            << "' from shared memory: " << found.reason;
  if (ref.log2Alignment < found->log2Alignment)
    return op.emitOpError()
           << "cannot read operand '" << name
           << "' from shared memory: the offset of the operand is only proven "
              "to be a multiple of "
           << (int64_t(1) << ref.log2Alignment)
           << " bytes; the swizzle of its memory requires a multiple of "
           << (int64_t(1) << found->log2Alignment) << " bytes";
  planner.requireSharedAlignment(int64_t(1) << found->log2Alignment);
  plan = std::move(*found.value);
  return success();
}

/// Plans the order of the registers of a vector; an error at `op` if threads do
/// not hold the elements that the instruction reads from them.
static LogicalResult
planLayout(mosaic_gpu::WGMMAOp op, StringRef name, VectorType type,
           const Distribution &distribution, const layout::TiledLayout &wanted,
           const ThreadGrid &grid, std::optional<Reorder> &forth,
           std::optional<Reorder> *back = nullptr) {
  if (!distribution.isSplat() &&
      planReorder(type, distribution, wanted, grid, forth, back))
    return success();
  return op.emitOpError() << "requires layout " << wanted.str() << " for "
                          << name << ", but its layout is "
                          << distribution.str()
                          << "; insert 'mosaic_gpu.layout_cast'";
}

LogicalResult Wgmma::plan(mosaic_gpu::WGMMAOp op, Planner &planner) const {
  const targets::Target &target = planner.getVendor().getTarget();
  if (!target.hasWGMMA)
    return op.emitOpError()
           << "cannot be lowered for " << target.name
           << ": the target does not have wgmma; use 'mosaic_gpu.mma'";
  int64_t warps = planner.getGrid().numWarps();
  if (warps % kWarpsOfGroup != 0)
    return op.emitOpError()
           << "requires a thread group of a multiple of " << kWarpsOfGroup
           << " warps (one warpgroup), but the thread group has " << warps
           << "; change 'known_block_size' or 'mosaic_gpu.thread_group_size'";
  auto type = cast<VectorType>(op.getType());
  auto bType = cast<MemRefType>(op.getB().getType());
  auto plan = std::make_unique<WgmmaOpPlan>();
  Type aElement = getElementTypeOrSelf(op.getA().getType());
  std::optional<NVVM::WGMMATypes> a = getOperandType(aElement,
                                                     op.getUnsignedA()),
                                  b = getOperandType(bType.getElementType(),
                                                     op.getUnsignedB()),
                                  accumulatorType =
                                      getAccumulatorType(type.getElementType());
  if (!a || !b || !accumulatorType) {
    std::string operandTypes =
        listElementTypes(op->getContext(), [](Type element) {
          return getOperandType(element, false).has_value();
        });
    std::string accumulatorTypes =
        listElementTypes(op->getContext(), [](Type element) {
          return getAccumulatorType(element).has_value();
        });
    return op.emitOpError()
           << "multiplies " << aElement << " by " << bType.getElementType()
           << " with an accumulator of " << type.getElementType()
           << "; wgmma supports operands of " << operandTypes
           << ", and accumulators of " << accumulatorTypes;
  }
  plan->instruction.a = *a;
  plan->instruction.b = *b;
  plan->instruction.accumulator = *accumulatorType;

  if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, 0)) {
    if (failed(planner.setLayout(op, op.getResult(), layout)))
      return failure();
  } else {
    planner.shareDistribution(op.getAccumulator(), op.getResult());
  }
  const Distribution &accumulator = *planner.find(op.getAccumulator()),
                     &result = *planner.find(op.getResult());
  if (failed(planLayout(op, "its result", type, result, layout::wgmma(warps),
                        planner.getGrid(), plan->accumulator, &plan->result)))
    return failure();
  if (accumulator != result && !accumulator.isSplat())
    return op.emitOpError()
           << "has an accumulator in layout " << accumulator.str()
           << ", but a result in layout " << result.str()
           << "; insert 'mosaic_gpu.layout_cast' on the accumulator";

  int64_t groups = plan->groups = warps / kWarpsOfGroup;
  int64_t m = type.getDimSize(0), n = type.getDimSize(1),
          k = bType.getDimSize(0);
  int64_t bits = bType.getElementTypeBitWidth();
  int64_t depth = transfers::kWgmmaDepthBytes * 8 / bits;
  plan->instruction.depth = depth;
  if (k % depth != 0)
    return op.emitOpError()
           << "has K = " << k << "; wgmma requires a multiple of " << depth
           << " for these element types";
  plan->steps = k / depth;
  for (int64_t start = 0; start < m; start += transfers::kWgmmaRows * groups)
    plan->rows.push_back({start, transfers::kWgmmaRows});
  auto columns = transfers::splitWgmmaColumns(n, *accumulatorType ==
                                                     NVVM::WGMMATypes::s32);
  if (!columns)
    return op.emitOpError()
           << "cannot be split into wgmma instructions: " << columns.reason;
  plan->columns = *columns;

  if (auto aType = dyn_cast<VectorType>(op.getA().getType())) {
    if (aType.getElementTypeBitWidth() > 16)
      return op.emitOpError()
             << "has operand 'a' of type " << aElement
             << " in registers; wgmma reads only elements of 8 or 16 bits from "
                "registers, so store the operand to shared memory";
    const Distribution *held = planner.find(op.getA());
    layout::TiledLayout wanted =
        bits == 8 ? layout::wgmma8Bit(warps) : layout::wgmma(warps);
    if (failed(planLayout(op, "operand 'a'", aType, *held, wanted,
                          planner.getGrid(), plan->orderOfA)))
      return failure();
  } else {
    WgmmaOperandProblem problem;
    problem.outerDim = 0;
    problem.blocks = plan->rows;
    problem.groups = groups;
    if (failed(planOperand(op, "a", op.getA(), std::move(problem), planner,
                           plan->a)))
      return failure();
    plan->instruction.transposesA = plan->a.isTransposed;
  }
  WgmmaOperandProblem problem;
  problem.outerDim = 1;
  problem.blocks = plan->columns;
  if (failed(planOperand(op, "b", op.getB(), std::move(problem), planner,
                         plan->b)))
    return failure();
  plan->instruction.transposesB = plan->b.isTransposed;
  planner.setOpPlan(op, std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulators that waits complete
//===----------------------------------------------------------------------===//

/// The values of a region's parent, and of its block arguments, to which
/// operand `number` of a terminator is forwarded.
static void appendForwarded(OpOperand &use, SmallVectorImpl<Value> &values) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (number >= loop.getNumControlOperands()) {
      number -= loop.getNumControlOperands();
      values.push_back(loop.getRegionIterArg(number));
      values.push_back(loop.getResult(number));
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    values.push_back(loop.getBeforeArguments()[number]);
  } else if (isa<scf::YieldOp>(op)) {
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      values.push_back(loop.getBeforeArguments()[number]);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      values.push_back(loop.getRegionIterArg(number));
    values.push_back(parent->getResult(number));
  } else if (isa<scf::ConditionOp>(op) && number > 0) {
    auto loop = cast<scf::WhileOp>(parent);
    values.push_back(loop.getAfterArguments()[number - 1]);
    values.push_back(loop.getResult(number - 1));
  }
}

/// All values that may be accumulators of a wgmma in flight.
static DenseSet<Value> collectWgmma(gpu::GPUFuncOp func) {
  SmallVector<Value> worklist;
  func.walk(
      [&](mosaic_gpu::WGMMAOp op) { worklist.push_back(op.getResult()); });
  DenseSet<Value> accumulatorValues;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!accumulatorValues.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      appendForwarded(use, worklist);
      if (auto cast = dyn_cast<mosaic_gpu::LayoutCastOp>(use.getOwner()))
        worklist.push_back(cast.getResult());
    }
  }
  return accumulatorValues;
}

namespace {
/// A wgmma that may be in flight, and the number of its group among those that
/// this MLIR block commits; -1: an earlier group.
struct OpenWgmma {
  Value value;
  int64_t group = -1;
  /// The last op of the MLIR block that reads it, including nested regions.
  Operation *lastRead = nullptr;
};

class Holds {
public:
  Holds(const DenseSet<Value> &accumulatorValues, KernelPlan &plan)
      : accumulatorValues(accumulatorValues), plan(plan) {}

  /// Whether the MLIR block or a nested region waits.
  bool scan(Block &block, ArrayRef<OpenWgmma> outer);

private:
  const DenseSet<Value> &accumulatorValues;
  KernelPlan &plan;
};
} // namespace

/// The next wgmma accumulates in order, and values that loops carry are handled
/// at their region arguments.
static bool isRead(OpOperand &use) {
  if (auto wgmma = dyn_cast<mosaic_gpu::WGMMAOp>(use.getOwner()))
    return &use != &wgmma.getAccumulatorMutable();
  return !isa<scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(
      use.getOwner());
}

static Operation *findLastRead(Value value, Block &block) {
  Operation *last = nullptr;
  for (OpOperand &use : value.getUses())
    if (Operation *op = block.findAncestorOpInBlock(*use.getOwner()))
      if (isRead(use) && (!last || last->isBeforeInBlock(op)))
        last = op;
  return last;
}

bool Holds::scan(Block &block, ArrayRef<OpenWgmma> outer) {
  SmallVector<OpenWgmma> open;
  auto add = [&](Value value, int64_t group) {
    if (Operation *last = findLastRead(value, block))
      open.push_back({value, group, last});
  };
  for (const OpenWgmma &wgmma : outer)
    add(wgmma.value, -1);
  for (BlockArgument argument : block.getArguments())
    if (accumulatorValues.contains(argument))
      add(argument, -1);
  int64_t groups = 0;
  bool waits = false;
  for (Operation &op : block) {
    // Accumulators that are not read later are ignored.
    llvm::erase_if(open, [&](const OpenWgmma &wgmma) {
      return wgmma.lastRead->isBeforeInBlock(&op);
    });
    auto hold = [&](auto isComplete) {
      SmallVector<Value> held;
      for (const OpenWgmma &wgmma : open)
        if (wgmma.lastRead != &op && isComplete(wgmma))
          held.push_back(wgmma.value);
      if (!held.empty())
        plan.opaqueAfter[&op] = std::move(held);
    };
    if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op))
      ++groups;
    if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op)) {
      auto isComplete = [&](const OpenWgmma &wgmma) {
        return wgmma.group + static_cast<int64_t>(wait.getGroup()) < groups;
      };
      hold(isComplete);
      llvm::erase_if(open, isComplete);
      waits = true;
    }
    bool nestedWaits = false;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        nestedWaits |= scan(nested, open);
    if (nestedWaits) {
      hold([](const OpenWgmma &) { return true; });
      waits = true;
    }
    for (Value result : op.getResults())
      if (accumulatorValues.contains(result))
        add(result, groups);
  }
  return waits;
}

/// A fence before a loop does not cover registers that the loop carries: the
/// assembler would add one in each iteration and warn. Neither does a fence
/// before the computation of the registers of A.
static void planFences(KernelPlan &plan) {
  plan.func.walk([&](Block *block) {
    // The last fence, or the wgmma that is preceded by one.
    Operation *fence = nullptr;
    for (Operation &op : *block) {
      if (isa<NVVM::WgmmaFenceAlignedOp>(op))
        fence = &op;
      auto wgmma = dyn_cast<mosaic_gpu::WGMMAOp>(op);
      auto it = wgmma ? plan.opPlans.find(&op) : plan.opPlans.end();
      if (it == plan.opPlans.end())
        continue;
      Operation *a = isa<VectorType>(wgmma.getA().getType())
                         ? wgmma.getA().getDefiningOp()
                         : nullptr;
      bool isAfterFence =
          a && a->getBlock() == block && fence && !a->isBeforeInBlock(fence);
      if (fence && !isAfterFence)
        continue;
      static_cast<WgmmaOpPlan &>(*it->second).needsFence = true;
      fence = &op;
    }
  });
}

LogicalResult Wgmma::planKernel(Planner &planner) const {
  KernelPlan &plan = planner.getPlan();
  planFences(plan);
  DenseSet<Value> accumulatorValues = collectWgmma(plan.func);
  Holds(accumulatorValues, plan).scan(plan.func.getBody().front(), {});
  return success();
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// The descriptor of an operand at an additional `offset` in bytes.
static Value addOffset(OpBuilder &builder, Location loc, Value descriptor,
                       int64_t offset) {
  if (offset == 0)
    return descriptor;
  return arith::AddIOp::create(
      builder, loc, descriptor,
      arith::ConstantOp::create(builder, loc,
                                builder.getI64IntegerAttr(offset / 16)));
}

/// The descriptor of an operand at this address.
static Value emitDescriptor(OpBuilder &builder, Location loc, Value address,
                            const WgmmaOperandPlan &plan) {
  Type word = builder.getI32Type(), wide = builder.getI64Type();
  auto constant = [&](Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  // In multiples of 16 bytes; shared memory has less than 2^18 bytes.
  Value chunks = arith::AndIOp::create(
      builder, loc,
      arith::ShRUIOp::create(builder, loc, address, constant(word, 4)),
      constant(word, 0x3fff));
  return arith::OrIOp::create(
      builder, loc, arith::ExtUIOp::create(builder, loc, wide, chunks),
      constant(wide, static_cast<int64_t>(plan.descriptor)));
}

/// One wgmma with both operands in shared memory.
static SmallVector<Value> emitShared(OpBuilder &builder, Location loc,
                                     const WgmmaInstruction &instruction,
                                     ArrayRef<Value> accumulators, Value a,
                                     Value b) {
  SmallVector<Type> types;
  for (Value reg : accumulators)
    types.push_back(reg.getType());
  auto structType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value packed = LLVM::PoisonOp::create(builder, loc, structType);
  for (auto [number, reg] : llvm::enumerate(accumulators))
    packed = LLVM::InsertValueOp::create(builder, loc, packed, reg,
                                         static_cast<int64_t>(number));
  MLIRContext *context = builder.getContext();
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto layoutOf = [&](bool alongK, NVVM::MMALayout yes, NVVM::MMALayout no) {
    return NVVM::MMALayoutAttr::get(context, alongK ? yes : no);
  };
  auto typeOf = [&](NVVM::WGMMATypes type) {
    return NVVM::WGMMATypesAttr::get(context, type);
  };
  Value wgmma = NVVM::WgmmaMmaAsyncOp::create(
      builder, loc, structType, packed, a, b,
      NVVM::MMAShapeAttr::get(context, transfers::kWgmmaRows,
                              static_cast<int>(instruction.columns),
                              static_cast<int>(instruction.depth)),
      typeOf(instruction.a), typeOf(instruction.b),
      typeOf(instruction.accumulator),
      NVVM::WGMMAScaleOutAttr::get(context, NVVM::WGMMAScaleOut::one), one, one,
      layoutOf(!instruction.transposesA, NVVM::MMALayout::row,
               NVVM::MMALayout::col),
      layoutOf(!instruction.transposesB, NVVM::MMALayout::col,
               NVVM::MMALayout::row),
      NVVM::MMAIntOverflowAttr());
  SmallVector<Value> accumulatorValues;
  for (size_t number = 0; number < accumulators.size(); ++number)
    accumulatorValues.push_back(LLVM::ExtractValueOp::create(
        builder, loc, wgmma, static_cast<int64_t>(number)));
  return accumulatorValues;
}

void Wgmma::emit(mosaic_gpu::WGMMAOp op, Emitter &emitter,
                 OpBuilder &builder) const {
  const auto &plan = *emitter.plan.getOpPlan<WgmmaOpPlan>(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getType());
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  Registers accumulators =
      emitter.getRegisters(op.getAccumulator(), distribution, builder);
  if (plan.accumulator)
    accumulators = plan.accumulator->emit(type.getElementType(), accumulators,
                                          builder, loc);
  // Pairs of columns: one 32-bit register per column, or one for both.
  bool isPacked = type.getElementTypeBitWidth() == 16;
  int64_t perRegister = isPacked ? 1 : 2;
  SmallVector<Value> words;
  for (Value reg : accumulators) {
    if (isPacked) {
      llvm::append_range(words, toWords(builder, loc, reg));
      continue;
    }
    for (int64_t element = 0; element < perRegister; ++element)
      words.push_back(vector::ExtractOp::create(builder, loc, reg,
                                                ArrayRef<int64_t>{element}));
  }

  auto addressOf = [&](Value memref) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                    emitter.getSharedPointer(memref, builder));
  };
  Registers aWords;
  Value a, b = emitDescriptor(builder, loc, addressOf(op.getB()), plan.b);
  bool isInRegisters = isa<VectorType>(op.getA().getType());
  if (isInRegisters) {
    Registers held = emitter.getRegisters(op.getA());
    if (plan.orderOfA)
      held = plan.orderOfA->emit(getElementTypeOrSelf(op.getA().getType()),
                                 held, builder, loc);
    for (Value reg : held)
      llvm::append_range(aWords, toWords(builder, loc, reg));
  } else {
    Value address = addressOf(op.getA());
    if (plan.groups > 1) {
      // Uniform in a warp; the uniform hint makes that visible to the compiler.
      ThreadIndices &indices = emitter.indices;
      Value group = indices.div(emitter.getFirstThreadOfWave(), kGroupThreads);
      Value distance =
          arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                     indices.mul(group, plan.a.groupStride));
      address = arith::AddIOp::create(builder, loc, address, distance);
    }
    a = emitDescriptor(builder, loc, address, plan.a);
  }

  if (plan.needsFence) {
    // The computation of registers does not have effects: it could move after
    // the fence.
    aWords = nvidia::emitOpaque(builder, loc, aWords);
    NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  }

  // Accumulator registers: for each block of rows and every 8 columns, two of
  // eight rows each. Registers of A: for each block of rows and every 16 bytes
  // of K, two.
  int64_t rowWords = type.getDimSize(1) / 8 * 2 * perRegister;
  for (auto [row, rows] : llvm::enumerate(plan.rows)) {
    for (auto [column, columns] : llvm::enumerate(plan.columns)) {
      int64_t first = static_cast<int64_t>(row) * rowWords +
                      columns.start / 8 * 2 * perRegister;
      int64_t count = columns.size / 8 * 2 * perRegister;
      WgmmaInstruction instruction = plan.instruction;
      instruction.columns = columns.size;
      SmallVector<Value> part(ArrayRef<Value>(words).slice(first, count));
      for (int64_t step = 0; step < plan.steps; ++step) {
        Value descriptorB =
            addOffset(builder, loc, b, plan.b.offsets[column][step]);
        if (isInRegisters)
          part = nvidia::emitWgmmaOfRegisters(
              builder, loc, instruction, part,
              ArrayRef(aWords).slice(
                  (static_cast<int64_t>(row) * plan.steps + step) * 4, 4),
              descriptorB);
        else
          part =
              emitShared(builder, loc, instruction, part,
                         addOffset(builder, loc, a, plan.a.offsets[row][step]),
                         descriptorB);
      }
      llvm::copy(part, words.begin() + first);
    }
  }

  // The accumulator in the register order of the instruction.
  const Distribution &instructionOrder =
      plan.accumulator ? plan.accumulator->to : distribution;
  VectorType registerType =
      instructionOrder.getRegisterType(type.getElementType());
  Registers results;
  for (size_t first = 0; first < words.size(); first += perRegister) {
    if (isPacked)
      results.push_back(
          LLVM::BitcastOp::create(builder, loc, registerType, words[first]));
    else
      results.push_back(vector::FromElementsOp::create(
          builder, loc, registerType,
          ArrayRef(words).slice(first, perRegister)));
  }
  if (plan.result)
    results = plan.result->emit(type.getElementType(), results, builder, loc);
  emitter.setRegisters(op.getResult(), std::move(results));
}

void block_to_thread::registerWgmma(OpLowerings &lowerings) {
  lowerings.add<Wgmma, mosaic_gpu::WGMMAOp>();
}
