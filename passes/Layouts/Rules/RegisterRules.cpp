//===- RegisterRules.cpp - Layout rules of mosaic_gpu vector ops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Rules/Rules.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::inference;
using namespace smalti::mosaic_gpu;
using transfers::TransferNeed;

namespace {

/// Adds a transfer between registers and the memory of an operand.
void addTransfer(ConstraintSystem &system, OpOperand &memory, VarId registers,
                 bool isLoad, TransferNeed need) {
  StringRef reason = isLoad ? "the op loads its result from memory"
                            : "the op stores its vector operand to memory";
  Constraint &transfer =
      hasLayout(memory.get())
          ? system.add(Constraint::Kind::SharedTransfer, system.share(memory),
                       registers, reason)
          : system.add(Constraint::Kind::GlobalTransfer, registers, kNoVar,
                       reason);
  transfer.type = memory.get().getType();
  transfer.need = need;
  transfer.isLoad = isLoad;
}

struct LoadRule {
  static LogicalResult derive(VectorLoadOp op, ConstraintSystem &system) {
    VarId result = system.create(op.getResult());
    system.notSplat(result, "the loaded elements may differ");
    bool isOptimized = op.getOptimized().value_or(true);
    addTransfer(system, op.getSourceMutable(), result, /*isLoad=*/true,
                isOptimized ? TransferNeed::Optimized
                            : TransferNeed::Unoptimized);
    return success();
  }
};

template <typename OpTy> TransferNeed getStoreNeed(OpTy op) {
  if (!op.getOptimized())
    return TransferNeed::Downgradable;
  return *op.getOptimized() ? TransferNeed::Optimized
                            : TransferNeed::Unoptimized;
}

struct StoreRule {
  static LogicalResult derive(VectorStoreOp op, ConstraintSystem &system) {
    VarId value = system.create(op.getValueToStoreMutable());
    addTransfer(system, op.getDestinationMutable(), value, /*isLoad=*/false,
                getStoreNeed(op));
    return success();
  }
};

struct StoreToPeerRule {
  static LogicalResult derive(AsyncStoreSmemOp op, ConstraintSystem &system) {
    VarId value = system.create(op.getValueToStoreMutable());
    addTransfer(system, op.getDestinationMutable(), value, /*isLoad=*/false,
                getStoreNeed(op));
    StringRef reason =
        "an asynchronous store to another block supports only tiled layouts";
    system.notStrided(value, reason);
    system.notSplat(value, reason);
    return success();
  }
};

struct LoadReduceRule {
  static LogicalResult derive(MultimemLoadReduceOp op,
                              ConstraintSystem &system) {
    system.notSplat(system.create(op.getResult()),
                    "the loaded elements may differ");
    return success();
  }
};

struct IotaRule {
  static LogicalResult derive(BroadcastedIotaOp op, ConstraintSystem &system) {
    system.notSplat(system.create(op.getResult()),
                    "the elements of an iota differ");
    return success();
  }
};

struct LayoutCastRule {
  static LogicalResult derive(LayoutCastOp op, ConstraintSystem &system) {
    LayoutTable &layouts = system.getLayouts();
    VarId operand = system.create(op.getXMutable());
    VarId result = system.create(op.getResult());
    LayoutId layout = layouts.fromAttribute(op.getNewLayout(), op.getType());
    if (failed(requireLayout(system, op, result, layout,
                             "the layout of the cast result")))
      return failure();
    Constraint &move = system.add(
        Constraint::Kind::Relayout, operand, result,
        "the cast converts its operand to the layout that it states");
    move.type = op.getType();
    return success();
  }
};

struct BroadcastInDimRule {
  static LogicalResult derive(BroadcastInDimOp op, ConstraintSystem &system) {
    VarId source = system.create(op.getOperandMutable());
    VarId result = system.create(op.getResult());
    SmallVector<int64_t, 4> from(
        cast<VectorType>(op.getOperand().getType()).getShape());
    SmallVector<int64_t, 4> to(
        cast<VectorType>(op.getResult().getType()).getShape());
    SmallVector<int64_t, 4> repeated, added;
    size_t next = 0;
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    for (int64_t dim = 0, rank = to.size(); dim < rank; ++dim) {
      if (next == dims.size() || dims[next] != dim)
        added.push_back(dim);
      else if (from[next++] == 1 && to[dim] > 1)
        repeated.push_back(dim);
    }
    if (repeated.empty() && added.empty()) {
      system.equal(source, result,
                   "operand and result have the same shape, so they must have "
                   "the same layout");
      return success();
    }
    Steps steps;
    SmallVector<int64_t, 4> shape = to;
    if (!repeated.empty()) {
      steps.push_back({Step::Kind::Reduce, shape, {}, repeated, true});
      for (int64_t dim : repeated)
        shape[dim] = 1;
    }
    if (!added.empty())
      steps.push_back({Step::Kind::Reduce, shape, {}, added, false});
    system.becomes(result, source, std::move(steps),
                   "the layout of the operand must be that of the result "
                   "without the broadcast dimensions");
    Constraint &broadcast = system.add(
        Constraint::Kind::Broadcast, source, result,
        "a broadcast keeps the kind of layout (splat, strided or tiled)");
    broadcast.numbers.assign(dims.begin(), dims.end());
    return success();
  }
};

struct ConcatRule {
  static LogicalResult derive(VectorConcatOp op, ConstraintSystem &system) {
    VarId result = system.create(op.getResult());
    system.notSplat(result, "the concatenated vectors may differ");
    system.notStrided(
        result,
        "the concatenation of vectors in strided layouts is not supported");
    for (OpOperand &operand : op->getOpOperands())
      system.equal(
          system.create(operand), result,
          "operands and result of a concatenation must have the same layout");
    return success();
  }
};

/// One variable for all inputs of a reduction or scan.
VarId createInputs(ConstraintSystem &system, MutableOperandRange inputs) {
  VarId var = kNoVar;
  for (OpOperand &input : inputs) {
    if (var == kNoVar)
      var = system.create(input);
    else
      system.bind(var, input);
  }
  return var;
}

struct ReduceRule {
  static LogicalResult derive(ReduceOp op, ConstraintSystem &system) {
    VarId source = createInputs(system, op.getInputsMutable());
    // All threads hold a scalar result.
    auto type = dyn_cast<VectorType>(op.getResultTypes().front());
    if (!type)
      return success();
    system.notStrided(
        source,
        "the reduction of a vector in a strided layout is not supported");
    VarId result = system.create(op.getResult(0));
    for (Value other : op.getResults().drop_front())
      system.bind(result, other);
    addReduction(system, source, result,
                 cast<VectorType>(op.getInputs().front().getType()),
                 op.getDims(), type);
    return success();
  }
};

struct ScanRule {
  static LogicalResult derive(ScanOp op, ConstraintSystem &system) {
    VarId var = createInputs(system, op.getInputsMutable());
    for (Value result : op.getResults())
      system.bind(var, result);
    system.notSplat(var, "the prefixes that a scan computes may differ");
    if (cast<VectorType>(op.getInputs().front().getType()).getRank() > 1)
      system.notStrided(var, "the scan of a vector of several dimensions in a "
                             "strided layout is not supported");
    return success();
  }
};

struct OptimizationBarrierRule {
  static LogicalResult derive(OptimizationBarrierOp op,
                              ConstraintSystem &system) {
    for (auto [operand, result] :
         llvm::zip_equal(op->getOpOperands(), op->getResults())) {
      std::optional<Memory> memory = getMemory(operand.get().getType());
      if (memory)
        system.bind(memory == Memory::Registers ? system.create(operand)
                                                : system.share(operand),
                    result);
    }
    return success();
  }
};

/// Ops that accept a value in any layout.
template <typename OpTy> struct ShowRule {
  static LogicalResult derive(OpTy op, ConstraintSystem &system) {
    OpOperand &value = op.getValueMutable();
    if (isa<VectorType>(value.get().getType()))
      system.create(value);
    else if (hasLayout(value.get()))
      system.share(value);
    return success();
  }
};

struct PrintTileRule {
  static LogicalResult derive(PrintTileOp op, ConstraintSystem &system) {
    if (op.getValue() && isa<VectorType>(op.getValue().getType()))
      system.create(op->getOpOperand(1));
    return success();
  }
};

struct AssertRule {
  static LogicalResult derive(AssertOp op, ConstraintSystem &system) {
    system.create(op.getConditionMutable());
    return success();
  }
};

/// The body is thread-level code; the op states its layouts.
struct CustomPrimitiveRule {
  static LogicalResult derive(CustomPrimitiveOp op, ConstraintSystem &system) {
    LayoutTable &layouts = system.getLayouts();
    size_t nextLayout = 0, nextTransforms = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = operand.get().getType();
      if (isa<VectorType>(type)) {
        if (failed(requireLayout(
                system, op, system.create(operand),
                layouts.fromAttribute(op.getInLayouts()[nextLayout++], type),
                "the layout of an operand of the primitive")))
          return failure();
        continue;
      }
      auto memref = dyn_cast<MemRefType>(type);
      if (memref && (isSharedMemory(memref))) {
        // One entry for each operand in shared memory, barriers included.
        Attribute transforms = op.getInTransforms()[nextTransforms++];
        if (hasLayout(operand.get()) &&
            failed(requireLayout(system, op, system.create(operand),
                                 layouts.fromAttribute(transforms, type),
                                 "the layout of an operand of the primitive")))
          return failure();
      } else if (hasLayout(operand.get())) {
        system.share(operand);
      }
    }
    size_t nextResult = 0;
    for (Value result : op->getResults())
      if (isa<VectorType>(result.getType()) &&
          failed(requireLayout(
              system, op, system.create(result),
              layouts.fromAttribute(op.getOutLayouts()[nextResult++],
                                    result.getType()),
              "the layout of a result of the primitive")))
        return failure();
    return success();
  }
};

} // namespace

void inference::registerRegisterRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MosaicGPUDialect *) {
    attachRule<LoadRule, VectorLoadOp>(context);
    attachRule<StoreRule, VectorStoreOp>(context);
    attachRule<StoreToPeerRule, AsyncStoreSmemOp>(context);
    attachRule<LoadReduceRule, MultimemLoadReduceOp>(context);
    attachRule<IotaRule, BroadcastedIotaOp>(context);
    attachRule<LayoutCastRule, LayoutCastOp>(context);
    attachRule<BroadcastInDimRule, BroadcastInDimOp>(context);
    attachRule<ConcatRule, VectorConcatOp>(context);
    attachRule<ReduceRule, ReduceOp>(context);
    attachRule<ScanRule, ScanOp>(context);
    attachRule<OptimizationBarrierRule, OptimizationBarrierOp>(context);
    attachRule<AssertRule, AssertOp>(context);
    attachRule<ShowRule<DebugPrintOp>, DebugPrintOp>(context);
    attachRule<PrintTileRule, PrintTileOp>(context);
    attachRule<ShowRule<PrintLayoutOp>, PrintLayoutOp>(context);
    attachRule<CustomPrimitiveRule, CustomPrimitiveOp>(context);
  });
}
