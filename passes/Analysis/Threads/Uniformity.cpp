//===- Uniformity.cpp - Block-uniform and wave-uniform values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Threads/Uniformity.h"

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Interfaces/Kernels.h"

#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <optional>

using namespace mlir;
using namespace smalti;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

bool smalti::isBlockUniformSource(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::ClusterIdOp,
             gpu::ClusterDimOp, gpu::ClusterBlockIdOp, gpu::ClusterDimBlocksOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, NVVM::BlockIdXOp,
             NVVM::BlockIdYOp, NVVM::BlockIdZOp, ROCDL::BlockIdXOp,
             ROCDL::BlockIdYOp, ROCDL::BlockIdZOp>(op);
}

bool smalti::isBlockUniformSource(BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  if (!op || !argument.getOwner()->isEntryBlock())
    return false;
  if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    if (argument.getArgNumber() < launch.getNumConfigRegionAttributes())
      return argument != ids.x && argument != ids.y && argument != ids.z;
    return llvm::is_contained(launch.getWorkgroupAttributions(), argument);
  }
  auto function = dyn_cast<FunctionOpInterface>(op);
  // The host launches a function with a known block size like a kernel;
  // gpu.func states whether it is a kernel.
  return function && (isKernel(function) ||
                      (!isa<gpu::GPUFuncOp>(op) && getBlockSize(function, op)));
}

/// Whether the value is the index of a wave in its block: a thread id divided
/// by a multiple of `waveSize`.
static bool isWaveNumber(Operation *def, int64_t waveSize) {
  if (isa<gpu::SubgroupIdOp>(def))
    return true;
  auto getThread = [](Value number) {
    while (Operation *cast = number.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(cast))
        return dyn_cast<gpu::ThreadIdOp>(cast);
      number = cast->getOperand(0);
    }
    return gpu::ThreadIdOp();
  };
  auto thread = dyn_cast<gpu::ThreadIdOp>(def);
  std::optional<int64_t> divisor;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(def)) {
    divisor = getConstantIntValue(def->getOperand(1));
    thread = getThread(def->getOperand(0));
  } else if (isa<arith::ShRUIOp, arith::ShRSIOp>(def)) {
    auto bits = getConstantIntValue(def->getOperand(1));
    if (bits && *bits >= 0 && *bits < 32)
      divisor = int64_t(1) << *bits;
    thread = getThread(def->getOperand(0));
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
    auto expr = dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
    if (expr && expr.getKind() == AffineExprKind::FloorDiv &&
        apply.getMapOperands().size() == 1 &&
        isa<AffineDimExpr, AffineSymbolExpr>(expr.getLHS()))
      if (auto constant = dyn_cast<AffineConstantExpr>(expr.getRHS())) {
        divisor = constant.getValue();
        thread = getThread(apply.getMapOperands().front());
      }
  }
  auto function =
      thread ? thread->getParentOfType<FunctionOpInterface>() : nullptr;
  auto size = function ? getBlockSize(function, thread) : std::nullopt;
  if (!size)
    return false;
  // Rows of the block consist of whole waves, or there is one row.
  if ((*size)[0] % waveSize != 0 && (*size)[1] * (*size)[2] != 1)
    return false;
  return thread.getDimension() != gpu::Dimension::x ||
         (divisor && *divisor > 0 && *divisor % waveSize == 0);
}

/// Whether the op returns a memref that is uniform if its operands are: a view,
/// a global, or a shared-memory buffer. A thread that allocates other memory
/// gets its own.
static bool isCommonMemRef(Operation *op) {
  return op->getNumResults() == 1 &&
         isa<BaseMemRefType>(op->getResult(0).getType()) &&
         (isMemoryEffectFree(op) ||
          getMemorySpace(op->getResult(0)) == MemorySpace::Shared);
}

/// Whether uniform operands imply uniform results. An op that depends on the
/// thread, such as a lane id, does not qualify.
static bool isFunctionOfOperands(Operation *op) {
  return isBlockUniformSource(op) || isa<ViewLikeOpInterface>(op) ||
         (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op)) ||
         (isa_and_nonnull<arith::ArithDialect, affine::AffineDialect,
                          index::IndexDialect>(op->getDialect()) &&
          isMemoryEffectFree(op)) ||
         isa<memref::DimOp>(op) || isCommonMemRef(op);
}

/// Whether the op only reads memory that all threads share.
static bool onlyReadsCommonMemory(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || !effects.onlyHasEffect<MemoryEffects::Read>())
    return false;
  SmallVector<MemoryAccess> accesses;
  std::string reason;
  return collectAccesses(op, accesses, reason) &&
         llvm::all_of(accesses, [](const MemoryAccess &access) {
           return access.space != MemorySpace::Private;
         });
}

//===----------------------------------------------------------------------===//
// The analysis
//===----------------------------------------------------------------------===//

/// Calls `visit` for the operands that select the path through the regions of
/// an op: those that are not forwarded to a region or a result.
static void visitControlOperands(RegionBranchOpInterface op,
                                 llvm::function_ref<void(Value)> visit) {
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  llvm::SmallDenseSet<OpOperand *> forwarded;
  auto addForwarded = [&](OperandRange range, Operation *owner) {
    if (!range.empty())
      for (unsigned i = 0; i < range.size(); ++i)
        forwarded.insert(
            &owner->getOpOperand(range.getBeginOperandIndex() + i));
  };
  for (const RegionSuccessor &successor : successors)
    addForwarded(op.getEntrySuccessorOperands(successor), op);
  auto visitOthers = [&](Operation *owner) {
    for (OpOperand &operand : owner->getOpOperands())
      if (!forwarded.contains(&operand) &&
          !isa<BaseMemRefType>(operand.get().getType()))
        visit(operand.get());
  };
  visitOthers(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      auto terminator = dyn_cast_if_present<RegionBranchTerminatorOpInterface>(
          block.mightHaveTerminator() ? block.getTerminator() : nullptr);
      if (!terminator)
        continue;
      SmallVector<RegionSuccessor> next;
      op.getSuccessorRegions(RegionBranchPoint(terminator), next);
      for (const RegionSuccessor &successor : next)
        addForwarded(terminator.getSuccessorOperands(successor), terminator);
      visitOthers(terminator);
    }
}

namespace {

/// A join is at least as divergent as its operands; values start block-uniform.
struct UniformityState : Uniformity {
  static UniformityState join(UniformityState a, UniformityState b) {
    return {{std::max(a.scope, b.scope), a.isAssumed || b.isAssumed}};
  }
  bool operator==(const UniformityState &other) const {
    return scope == other.scope && isAssumed == other.isAssumed;
  }
  void print(raw_ostream &os) const {
    os << (scope == UniformScope::Block  ? "block"
           : scope == UniformScope::Wave ? "wave"
                                         : "lane");
    if (isAssumed)
      os << " (assumed)";
  }
};

struct UniformityLattice : dataflow::Lattice<UniformityState> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UniformityLattice)
  using Lattice::Lattice;
};

constexpr UniformityState kPerLane{{UniformScope::Lane, false}};

class UniformityDataFlow
    : public dataflow::SparseForwardDataFlowAnalysis<UniformityLattice> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UniformityDataFlow)

  UniformityDataFlow(DataFlowSolver &solver, int64_t waveSize)
      : SparseForwardDataFlowAnalysis(solver), waveSize(waveSize) {}

  LogicalResult initialize(Operation *top) override {
    top->walk([&](gpu::LaunchOp) {
      isHostCode = true;
      return WalkResult::interrupt();
    });
    // Dead code is analyzed too: clients query code that is not folded yet, and
    // constant propagation would take longer than this analysis.
    top->walk([&](Block *block) {
      auto *executable =
          getOrCreate<dataflow::Executable>(getProgramPointBefore(block));
      propagateIfChanged(executable, executable->setToLive());
    });
    // The predecessor from which a block is entered may depend on the thread.
    // The base class visits the arguments of these blocks only along edges that
    // another analysis finds live.
    top->walk([&](Block *block) {
      if (!block->isEntryBlock())
        for (BlockArgument argument : block->getArguments())
          setToEntryState(getLatticeElement(argument));
    });
    return SparseForwardDataFlowAnalysis::initialize(top);
  }

  LogicalResult visitOperation(Operation *op,
                               ArrayRef<const UniformityLattice *> operands,
                               ArrayRef<UniformityLattice *> results) override {
    UniformityState state = kPerLane;
    if (isOnHost(op->getParentRegion())) {
      state = UniformityState();
    } else if (op->getNumRegions() == 0) {
      if (isFunctionOfOperands(op)) {
        state = join(operands);
      } else if (onlyReadsCommonMemory(op)) {
        state = join(operands);
        state.isAssumed = true;
      }
      if (state.scope == UniformScope::Lane && waveSize > 0 &&
          isWaveNumber(op, waveSize))
        state = {{UniformScope::Wave, false}};
    }
    for (UniformityLattice *result : results)
      propagateIfChanged(result, result->join(state));
    return success();
  }

protected:
  void setToEntryState(UniformityLattice *lattice) override {
    UniformityState state = kPerLane;
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    if (isOnHost(lattice->getAnchor().getParentRegion()) ||
        (argument && isBlockUniformSource(argument)))
      state = UniformityState();
    else if (argument && argument.getOwner()->isEntryBlock() &&
             isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      state = {{UniformScope::Block, /*isAssumed=*/true}};
    propagateIfChanged(lattice, lattice->join(state));
  }

  void visitCallableOperation(
      CallableOpInterface callable,
      ArrayRef<dataflow::AbstractSparseLattice *> arguments) override {
    AbstractSparseForwardDataFlowAnalysis::setAllToEntryStates(arguments);
  }

private:
  /// Induction variables, and values that are merged from several paths, are as
  /// divergent as the choice of the path.
  void visitRegionSuccessors(
      ProgramPoint *point, RegionBranchOpInterface branch,
      RegionSuccessor successor,
      ArrayRef<dataflow::AbstractSparseLattice *> lattices) override {
    if (branch->hasTrait<OpTrait::HasParallelRegion>())
      return AbstractSparseForwardDataFlowAnalysis::setAllToEntryStates(
          lattices);
    UniformityState control;
    // The block that leaves a region may depend on the thread.
    if (llvm::any_of(branch->getRegions(), [](Region &region) {
          return !region.empty() && !region.hasOneBlock();
        }))
      control = kPerLane;
    visitControlOperands(branch, [&](Value operand) {
      control = UniformityState::join(
          control, getLatticeElementFor(point, operand)->getValue());
    });
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (Region &region : branch->getRegions())
      branch.getSuccessorRegions(region, successors);
    llvm::erase_if(successors, [&](const RegionSuccessor &other) {
      return other.getSuccessor() != successor.getSuccessor();
    });
    for (dataflow::AbstractSparseLattice *abstract : lattices) {
      auto *lattice = static_cast<UniformityLattice *>(abstract);
      UniformityState state = control;
      SmallVector<Value> sources;
      for (const RegionSuccessor &other : successors)
        for (auto [i, input] : llvm::enumerate(other.getSuccessorInputs()))
          if (input == lattice->getAnchor())
            branch.getPredecessorValues(other, i, sources);
      for (Value source : sources)
        state = UniformityState::join(
            state, getLatticeElementFor(point, source)->getValue());
      propagateIfChanged(lattice, lattice->join(state));
    }
  }

  static UniformityState join(ArrayRef<const UniformityLattice *> operands) {
    UniformityState state;
    for (const UniformityLattice *operand : operands)
      state = UniformityState::join(state, operand->getValue());
    return state;
  }

  /// In a function that launches kernels, code outside the launches runs on the
  /// host, and kernels observe one value.
  bool isOnHost(Region *region) const {
    return isHostCode && !region->getParentOfType<gpu::LaunchOp>();
  }

  int64_t waveSize;
  bool isHostCode = false;
};

} // namespace

UniformityAnalysis::UniformityAnalysis(FunctionOpInterface function,
                                       int64_t waveSize)
    : function(function), waveSize(waveSize) {}
UniformityAnalysis::~UniformityAnalysis() = default;

void UniformityAnalysis::reset() { solver.reset(); }

DataFlowSolver &UniformityAnalysis::getSolver() const {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>(
        DataFlowConfig().setInterprocedural(false));
    solver->load<UniformityDataFlow>(waveSize);
    // It fails only if an analysis fails, and this analysis does not.
    (void)solver->initializeAndRun(function);
  }
  return *solver;
}

Uniformity UniformityAnalysis::get(Value value) const {
  const auto *state = getSolver().lookupState<UniformityLattice>(value);
  // A value without a state was created after the analysis ran.
  return state ? state->getValue() : kPerLane;
}

Uniformity UniformityAnalysis::getControl(RegionBranchOpInterface op) const {
  UniformityState control;
  visitControlOperands(op, [&](Value operand) {
    control = UniformityState::join(control, {get(operand)});
  });
  return control;
}

bool UniformityAnalysis::isReachedUniformly(Operation *op) const {
  for (; op != function; op = op->getParentOp()) {
    if (!op->getBlock()->isEntryBlock())
      return false;
    Operation *parent = op->getParentOp();
    if (parent == function || isa<gpu::LaunchOp>(parent))
      return true;
    if (isa<scf::IfOp, scf::ForOp>(parent)) {
      if (!getControl(cast<RegionBranchOpInterface>(parent)).isBlockUniform())
        return false;
    } else if (!isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(parent)) {
      return false;
    }
  }
  return true;
}
