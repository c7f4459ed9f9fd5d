//===- LowerCPULoops.cpp - Loops on the CPU that a caller can stop --------===//
//
// A function of the CPU target takes the address of a stop flag. Its loops read
// the flag once in each iteration and leave the function when the flag is set.
// The load is inserted while loops are scf.for and scf.while; the branch to the
// exit follows once they are blocks.
//
// Loops that end within a few milliseconds anyway do not read the flag: a
// volatile load would prevent LLVM's loop optimizations.
//
//===----------------------------------------------------------------------===//

#include "passes/Conversion/CPULoops.h"
#include "passes/Passes.h"
#include "passes/Support/TripCount.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTILOWERCPULOOPS
#include "passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

/// The estimated time, in nanoseconds, of a loop that need not read the flag.
static constexpr int64_t shortTime = 4'000'000;

/// An upper estimate of the time of an op, in nanoseconds. None where it cannot
/// be determined, or is more than `shortTime`.
static std::optional<int64_t> estimateTime(Operation *op) {
  if (isa<CallOpInterface, scf::WhileOp>(op))
    return std::nullopt;
  int64_t time = 1;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect())) {
    // Most functions are called once for each element.
    constexpr int64_t callTime = 50;
    auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
    time = vector ? vector.getNumElements() * callTime : callTime;
  }
  for (Region &region : op->getRegions()) {
    for (Operation &inner : region.getOps()) {
      std::optional<int64_t> more = estimateTime(&inner);
      if (!more)
        return std::nullopt;
      time += *more;
    }
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<uint64_t> count = getConstantTripCount(loop);
    if (auto most = loop->getAttrOfType<IntegerAttr>(kMostIterationsAttr);
        most && !count)
      count = most.getInt();
    if (!count || *count > uint64_t(shortTime / time))
      return std::nullopt;
    time *= std::max<int64_t>(*count, 1);
  }
  return time <= shortTime ? std::optional(time) : std::nullopt;
}

namespace {

/// The function's stop flag: what is read and written of it, until the loops
/// are blocks.
class StopFlag {
public:
  explicit StopFlag(func::FuncOp function) : function(function) {
    MLIRContext *context = function.getContext();
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position, LLVM::LLVMPointerType::get(context),
                                  /*argAttrs=*/{}, function.getLoc());
    address = function.getArgument(position);
  }

  /// Reads the flag in all loops that may be long, and sets it where the step
  /// of a loop is not positive.
  void insert() {
    SmallVector<Operation *> loops;
    function.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    SmallVector<Attribute> locations;
    for (Operation *op : loops) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (loop && !getConstantIntValue(loop.getStep())) {
        locations.push_back(LocationAttr(loop.getLoc()));
        checkStep(loop, locations.size());
      }
      if (loop && estimateTime(loop))
        continue;
      Block *body =
          loop ? loop.getBody() : cast<scf::WhileOp>(op).getAfterBody();
      OpBuilder builder(body->getTerminator());
      reads.push_back(LLVM::LoadOp::create(builder, op->getLoc(),
                                           builder.getI32Type(), address,
                                           /*alignment=*/4,
                                           /*isVolatile=*/true));
    }
    if (!locations.empty())
      function->setAttr("smalti.loop_locations",
                        ArrayAttr::get(function.getContext(), locations));
  }

  /// Leaves the function where the flag is set. Loops are blocks by now.
  void branch() {
    if (reads.empty() && writes.empty())
      return;
    Block *exit = createExit();
    for (LLVM::StoreOp write : writes) {
      Operation *terminator = write->getBlock()->getTerminator();
      OpBuilder builder(terminator);
      cf::BranchOp::create(builder, write.getLoc(), exit);
      terminator->erase();
    }
    for (LLVM::LoadOp read : reads) {
      auto back = cast<cf::BranchOp>(read->getBlock()->getTerminator());
      OpBuilder builder(back);
      Location loc = read.getLoc();
      Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
      Value isSet = arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::ne, read, zero);
      cf::CondBranchOp::create(builder, loc, isSet, exit, ValueRange(),
                               back.getDest(), back.getDestOperands());
      back.erase();
    }
  }

private:
  void checkStep(scf::ForOp loop, int64_t number) {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value step = loop.getStep();
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(step.getType(), 0));
    Value isWrong =
        arith::CmpIOp::create(builder, loc,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::eq
                                                    : arith::CmpIPredicate::sle,
                              step, zero);
    auto ifOp = scf::IfOp::create(builder, loc, isWrong,
                                  /*withElseRegion=*/false);
    OpBuilder inside = ifOp.getThenBodyBuilder();
    Value value = arith::ConstantIntOp::create(inside, loc, number, 32);
    writes.push_back(LLVM::StoreOp::create(inside, loc, value, address,
                                           /*alignment=*/4,
                                           /*isVolatile=*/true));
  }

  /// A block that frees what the function allocates at its beginning.
  Block *createExit() {
    Region &body = function.getBody();
    OpBuilder builder(function.getContext());
    Block *exit = builder.createBlock(&body, body.end());
    for (auto alloc : body.front().getOps<memref::AllocOp>())
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
    func::ReturnOp::create(builder, function.getLoc());
    return exit;
  }

  func::FuncOp function;
  Value address;
  SmallVector<LLVM::LoadOp> reads;
  SmallVector<LLVM::StoreOp> writes;
};

struct SmaltiLowerCPULoops
    : smalti::impl::SmaltiLowerCPULoopsBase<SmaltiLowerCPULoops> {
  using Base::Base;

  /// Branches need regions of several blocks. An error on the first op of scf
  /// that stays inside an op of one block.
  static LogicalResult checkRegions(ModuleOp module) {
    WalkResult result = module.walk([](Operation *op) {
      Operation *parent = op->getParentOp();
      if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) ||
          op->hasTrait<OpTrait::IsTerminator>() || !parent ||
          isa_and_nonnull<scf::SCFDialect>(parent->getDialect()) ||
          !parent->hasTrait<OpTrait::SingleBlock>())
        return WalkResult::advance();
      op->emitOpError() << "cannot become branches inside '"
                        << parent->getName() << "', which has one block";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkRegions(module)))
      return signalPassFailure();
    SmallVector<StopFlag> flags;
    for (auto function : module.getOps<func::FuncOp>()) {
      // A function with callers here keeps its type.
      if (function->hasAttr("smalti.num_tiles") && !function.isExternal() &&
          function.getNumResults() == 0 &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        flags.emplace_back(function);
        flags.back().insert();
      }
    }
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalOp<scf::ExecuteRegionOp, scf::ForallOp, scf::ForOp,
                        scf::IfOp, scf::IndexSwitchOp, scf::ParallelOp,
                        scf::WhileOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (StopFlag &flag : flags)
      flag.branch();
  }
};

} // namespace
