//===- LowerCPULoops.cpp - smalti-lower-cpu-loops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function for the CPU target takes the address of a stop flag. Its loops
// read the flag in each iteration, and the function returns when the flag is
// set. The load is inserted into scf.for and scf.while; the branch to the exit
// is inserted after lowering to blocks.
//
// Loops with a short estimated time do not read the flag, since a volatile load
// prevents LLVM's loop optimizations.
//
// The function sets the flag itself before an operation that would not
// terminate or would abort the process: a loop whose step is not positive, an
// undefined division, a failed assertion, an index out of bounds. Two 64-bit
// values per error follow the flag: the index and the size.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Analysis/Integers/Divisions.h"
#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Support/IndexChecks.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/SetVector.h"

namespace smalti {
#define GEN_PASS_DEF_SMALTILOWERCPULOOPS
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;

/// Maximum estimated time, in nanoseconds, of a loop that does not read the
/// flag.
static constexpr int64_t shortTime = 4'000'000;

/// Bytes from the flag to the pairs of values, one pair per error.
static constexpr int64_t kValuesOffset = 8;

/// The number of elements of a shape; std::nullopt if a size is dynamic or the
/// number exceeds `shortTime`.
static std::optional<int64_t> countElements(ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t elements = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size) || size > shortTime / elements)
      return std::nullopt;
    elements *= size;
  }
  return elements;
}

/// Estimated upper bound of the time of an op without its regions, in
/// nanoseconds. std::nullopt if it cannot be determined or exceeds `shortTime`.
static std::optional<int64_t> estimateOwnTime(Operation *op) {
  if (isa<CallOpInterface>(op))
    return std::nullopt;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op);
      loop && !isa<scf::ForOp>(op))
    return std::nullopt;
  if (isa<LLVM::MemcpyOp, LLVM::MemcpyInlineOp, LLVM::MemmoveOp, LLVM::MemsetOp,
          LLVM::MemsetInlineOp>(op))
    return std::nullopt;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto type = dyn_cast<ShapedType>(copy.getSource().getType());
    return type && type.hasRank() ? countElements(type.getShape())
                                  : std::nullopt;
  }
  bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
  int64_t elements = 1;
  auto add = [&](ArrayRef<int64_t> shape) {
    std::optional<int64_t> count = countElements(shape);
    elements = std::max(elements, count.value_or(shortTime + 1));
  };
  // A vector of one register counts like a scalar; larger vectors may be
  // scalarized.
  constexpr int64_t registerBits = 512;
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      continue;
    if (vector.isScalable())
      return std::nullopt;
    Type element = vector.getElementType();
    int64_t bits =
        element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
    std::optional<int64_t> count = countElements(vector.getShape());
    if (isMath || !count || *count > registerBits / std::max<int64_t>(bits, 1))
      add(vector.getShape());
  }
  if (auto contract = dyn_cast<vector::ContractionOp>(op))
    add(contract.getShapeForUnroll().value_or(SmallVector<int64_t, 4>()));
  if (elements > shortTime)
    return std::nullopt;
  // Most math functions are called once per element.
  constexpr int64_t callTime = 50;
  return isMath ? elements * callTime : elements;
}

/// Estimated upper bound of the time of an op, in nanoseconds. std::nullopt if
/// it cannot be determined or exceeds `shortTime`.
static std::optional<int64_t> estimateTime(Operation *op) {
  std::optional<int64_t> own = estimateOwnTime(op);
  if (!own)
    return std::nullopt;
  int64_t time = std::max<int64_t>(*own, 1);
  for (Region &region : op->getRegions()) {
    for (Operation &inner : region.getOps()) {
      std::optional<int64_t> more = estimateTime(&inner);
      if (!more)
        return std::nullopt;
      time += *more;
      if (time > shortTime)
        return std::nullopt;
    }
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<uint64_t> count = getConstantTripCount(loop);
    if (std::optional<int64_t> most =
            getInteger(loop->getAttr(kMaxTripCountAttr));
        most && !count)
      count = *most;
    if (!count || *count > uint64_t(shortTime / time))
      return std::nullopt;
    time *= std::max<int64_t>(*count, 1);
  }
  return time <= shortTime ? std::optional(time) : std::nullopt;
}

namespace {

/// The stop flag of a function, with its loads and stores until loops are
/// lowered to blocks.
class StopFlag {
public:
  explicit StopFlag(func::FuncOp function) : function(function) {
    MLIRContext *context = function.getContext();
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position, LLVM::LLVMPointerType::get(context),
                                  /*argAttrs=*/{}, function.getLoc());
    address = function.getArgument(position);
  }

  /// Inserts loads of the flag into loops that may be long, and stores before
  /// loops whose step is not positive, undefined divisions and failed
  /// assertions.
  void insert(ArrayRef<std::pair<Operation *, Division>> divisions) {
    for (auto [op, division] : divisions)
      checkDivision(op, division);
    function.walk([&](cf::AssertOp op) { checkAssertion(op); });
    SmallVector<Operation *> loops;
    function.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (loop && !getConstantIntValue(loop.getStep()))
        checkStep(loop);
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
    if (!errors.empty())
      function->setAttr("smalti.stop_errors",
                        ArrayAttr::get(function.getContext(), errors));
  }

  /// Inserts the branches to the exit, after loops are lowered to blocks.
  void branch() {
    if (reads.empty() && writes.empty())
      return;
    // The source blocks of the branches, before any branch is added.
    SmallVector<Block *> sources;
    for (LLVM::StoreOp write : writes)
      sources.push_back(write->getBlock());
    for (LLVM::LoadOp read : reads)
      sources.push_back(read->getBlock());
    std::vector<SmallVector<memref::AllocOp>> held = collectHeld(sources);
    SmallVector<std::pair<ArrayRef<memref::AllocOp>, Block *>> exits;
    auto getExit = [&](size_t number) {
      for (auto [allocs, exit] : exits)
        if (allocs == ArrayRef(held[number]))
          return exit;
      exits.emplace_back(held[number], createExit(held[number]));
      return exits.back().second;
    };
    for (auto [number, write] : llvm::enumerate(writes)) {
      Operation *terminator = write->getBlock()->getTerminator();
      OpBuilder builder(terminator);
      cf::BranchOp::create(builder, write.getLoc(), getExit(number));
      terminator->erase();
    }
    for (auto [number, read] : llvm::enumerate(reads)) {
      auto back = cast<cf::BranchOp>(read->getBlock()->getTerminator());
      OpBuilder builder(back);
      Location loc = read.getLoc();
      Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
      Value isSet = arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::ne, read, zero);
      cf::CondBranchOp::create(builder, loc, isSet,
                               getExit(writes.size() + number), ValueRange(),
                               back.getDest(), back.getDestOperands());
      back.erase();
    }
  }

private:
  void checkStep(scf::ForOp loop) {
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
    OpBuilder inside = createBranch(builder, loc, isWrong);
    Value number =
        createError(inside, loc,
                    "the step of this loop is not positive; a step of at least "
                    "1 is required");
    setFlag(inside, loc, number);
  }

  void checkAssertion(cf::AssertOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    OpBuilder inside = createBranch(
        builder, loc, arith::XOrIOp::create(builder, loc, op.getArg(), one));
    if (op->hasAttr(kIndexCheck))
      setFlag(inside, loc, createIndexError(inside, op));
    else
      setFlag(inside, loc, createAssertionError(inside, op));
    op.erase();
  }

  /// The id of the tile that executes an op: the counter of the outermost loop,
  /// if its bounds are the arguments before the flag. Otherwise null.
  Value findTileId(Operation *op) {
    Operation *outermost = op;
    while (outermost->getParentOp() != function)
      outermost = outermost->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(outermost);
    unsigned count = function.getNumArguments();
    if (!loop || count < 3 ||
        loop.getLowerBound() != function.getArgument(count - 3) ||
        loop.getUpperBound() != function.getArgument(count - 2))
      return nullptr;
    return loop.getInductionVar();
  }

  /// The value of the flag for a failed assertion. The position of the element
  /// and the tile id are stored after the flag.
  Value createAssertionError(OpBuilder &builder, cf::AssertOp op) {
    Location loc = op.getLoc();
    auto shape = op->getAttrOfType<DenseI64ArrayAttr>(kAssertShape);
    Value tile = findTileId(op), position;
    int64_t size = shape ? ShapedType::getNumElements(shape.asArrayRef()) : 0;
    if (size == 1)
      position = arith::ConstantIndexOp::create(builder, loc, 0);
    else if (auto compare = op.getArg().getDefiningOp<arith::CmpIOp>();
             compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
             getConstantIntValue(compare.getRhs()) == size)
      position = compare.getLhs();
    bool hasValues = shape && tile && position && position.getType().isIndex();
    if (hasValues)
      storeValues(builder, loc, {position, tile});
    return createError(builder, loc, "the assertion failed: " + op.getMsg(),
                       hasValues, shape);
  }

  /// Stores the values of the next error after the flag.
  void storeValues(OpBuilder &builder, Location loc, ValueRange values) {
    for (auto [number, value] : llvm::enumerate(values)) {
      auto offset = static_cast<int32_t>(
          kValuesOffset + sizeof(int64_t) * (2 * errors.size() + number));
      Value slot = LLVM::GEPOp::create(builder, loc, address.getType(),
                                       builder.getI8Type(), address, {offset});
      Value stored =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
      LLVM::StoreOp::create(builder, loc, stored, slot, /*alignment=*/8);
    }
  }

  /// The value of the flag for an index out of bounds. If the check still
  /// compares the index and the size, they are stored after the flag.
  Value createIndexError(OpBuilder &builder, cf::AssertOp op) {
    Location loc = op.getLoc();
    std::optional<IndexCheck> check = matchIndexCheck(op);
    if (!check)
      return createError(builder, loc, op.getMsg());
    storeValues(builder, loc, {check->index, check->size});
    return createError(builder, loc,
                       "the index {0} of dimension " + Twine(check->dim) +
                           " is out of bounds; the size is {1}",
                       /*hasValues=*/true);
  }

  static TypedAttr getConstant(Type type, const APInt &number) {
    TypedAttr attr = Builder(type.getContext())
                         .getIntegerAttr(getElementTypeOrSelf(type), number);
    if (auto vector = dyn_cast<VectorType>(type))
      return SplatElementsAttr::get(vector, attr);
    return attr;
  }

  /// Sets the flag before an undefined division. If the result only reaches a
  /// select, which may drop it, the divisor becomes 1 instead.
  void checkDivision(Operation *op, const Division &division) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type type = division.divisor.getType();
    Type element = getElementTypeOrSelf(type);
    unsigned width = ConstantIntRanges::getStorageBitwidth(type);
    auto equals = [&](Value value, const APInt &number) -> Value {
      Value constant =
          arith::ConstantOp::create(builder, loc, getConstant(type, number));
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                   value, constant);
    };
    Value isZero, isOverflow;
    if (division.maybeByZero)
      isZero = equals(division.divisor, APInt::getZero(width));
    if (division.maybeOverflow)
      isOverflow = arith::AndIOp::create(
          builder, loc,
          equals(division.dividend, APInt::getSignedMinValue(width)),
          equals(division.divisor, APInt::getAllOnes(width)));
    Value isWrong = isZero && isOverflow
                        ? arith::OrIOp::create(builder, loc, isZero, isOverflow)
                    : isZero ? isZero
                             : isOverflow;
    if (division.isOnlySelected) {
      Value one = arith::ConstantOp::create(builder, loc,
                                            getConstant(type, APInt(width, 1)));
      op->setOperand(1, arith::SelectOp::create(builder, loc, isWrong, one,
                                                division.divisor));
      return;
    }
    OpBuilder inside =
        createBranch(builder, loc, createAny(builder, loc, isWrong));
    Value number;
    if (isOverflow)
      number = createError(inside, loc,
                           "this division overflows: the minimum of " +
                               Twine(text(element)) +
                               " divided by -1 exceeds the range of the type");
    if (isZero) {
      Value byZero = createError(
          inside, loc,
          isa<VectorType>(type) ? "an element of the divisor of this division "
                                  "is 0; tile elements outside the memref are "
                                  "0, so replace them with arith.select"
                                : "the divisor of this division is 0");
      number = number ? arith::SelectOp::create(inside, loc,
                                                createAny(inside, loc, isZero),
                                                byZero, number)
                      : byZero;
    }
    setFlag(inside, loc, number);
  }

  static std::string text(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Whether any element of a vector of i1 is set; a scalar is returned
  /// unchanged.
  static Value createAny(OpBuilder &builder, Location loc, Value isSet) {
    auto type = dyn_cast<VectorType>(isSet.getType());
    if (!type)
      return isSet;
    if (type.getRank() != 1)
      isSet = vector::ShapeCastOp::create(
          builder, loc,
          VectorType::get(type.getNumElements(), type.getElementType()), isSet);
    return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                       isSet);
  }

  static OpBuilder createBranch(OpBuilder &builder, Location loc,
                                Value condition) {
    return scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false)
        .getThenBodyBuilder();
  }

  /// The value of the flag for an error.
  Value createError(OpBuilder &builder, Location loc, const Twine &message,
                    bool hasValues = false, Attribute shape = {}) {
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr("location", LocationAttr(loc)),
        builder.getNamedAttr("message", builder.getStringAttr(message))};
    if (hasValues)
      fields.push_back(builder.getNamedAttr("values", builder.getUnitAttr()));
    if (hasValues && shape)
      fields.push_back(builder.getNamedAttr("shape", shape));
    errors.push_back(builder.getDictionaryAttr(fields));
    return arith::ConstantIntOp::create(builder, loc, errors.size(), 32);
  }

  void setFlag(OpBuilder &builder, Location loc, Value number) {
    writes.push_back(LLVM::StoreOp::create(builder, loc, number, address,
                                           /*alignment=*/4,
                                           /*isVolatile=*/true));
  }

  /// For each block, the allocations that are live at its end. Memory that may
  /// already be deallocated is not included.
  std::vector<SmallVector<memref::AllocOp>>
  collectHeld(ArrayRef<Block *> blocks) {
    Region &body = function.getBody();
    DominanceInfo dominance(function);
    std::vector<SmallVector<memref::AllocOp>> held(blocks.size());
    for (auto alloc : body.getOps<memref::AllocOp>()) {
      // Blocks where the memory may be deallocated, up to the next allocation.
      llvm::SetVector<Block *> ended;
      for (Operation *user : alloc->getUsers())
        if (isa<memref::DeallocOp>(user))
          ended.insert(body.findAncestorBlockInRegion(*user->getBlock()));
      if (ended.empty())
        continue;
      for (size_t number = 0; number < ended.size(); ++number)
        for (Block *successor : ended[number]->getSuccessors())
          if (successor != alloc->getBlock())
            ended.insert(successor);
      for (auto [allocs, block] : llvm::zip_equal(held, blocks))
        if (!ended.contains(block) &&
            dominance.properlyDominates(alloc.getOperation(),
                                        block->getTerminator()))
          allocs.push_back(alloc);
    }
    return held;
  }

  /// A block that deallocates the memory and returns.
  Block *createExit(ArrayRef<memref::AllocOp> allocs) {
    Region &body = function.getBody();
    OpBuilder builder(function.getContext());
    Block *exit = builder.createBlock(&body, body.end());
    for (memref::AllocOp alloc : allocs)
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
    func::ReturnOp::create(builder, function.getLoc());
    return exit;
  }

  func::FuncOp function;
  Value address;
  SmallVector<LLVM::LoadOp> reads;
  SmallVector<LLVM::StoreOp> writes;
  SmallVector<Attribute> errors;
};

struct SmaltiLowerCPULoops
    : smalti::impl::SmaltiLowerCPULoopsBase<SmaltiLowerCPULoops> {
  using Base::Base;

  /// Branches need regions of several blocks. Reports an error on the first scf
  /// op inside an op with single-block regions.
  static LogicalResult checkRegions(ModuleOp module) {
    WalkResult result = module.walk([](Operation *op) {
      Operation *parent = op->getParentOp();
      if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) ||
          op->hasTrait<OpTrait::IsTerminator>() || !parent ||
          isa_and_nonnull<scf::SCFDialect>(parent->getDialect()) ||
          !parent->hasTrait<OpTrait::SingleBlock>())
        return WalkResult::advance();
      op->emitOpError() << "cannot be lowered to branches inside '"
                        << parent->getName()
                        << "', whose region supports only one MLIR block; move "
                           "the op out of it";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Reports an error on the first op with an invalid count attribute.
  static LogicalResult checkCounts(ModuleOp module) {
    WalkResult result = module.walk([](Operation *op) {
      StringRef name = isa<scf::ForOp>(op) ? kMaxTripCountAttr : kNumTiles;
      Attribute count = op->getAttr(name);
      if (!count || getInteger(count).value_or(-1) >= 0)
        return WalkResult::advance();
      op->emitOpError() << "has '" << name << "' = " << count
                        << "; a non-negative integer is required";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  using Divisions = SmallVector<std::pair<Operation *, Division>>;

  /// Reports an error on an assertion whose failure cannot be reported.
  static LogicalResult checkAssertions(func::FuncOp function, bool hasFlag) {
    WalkResult result = function.walk([&](cf::AssertOp op) {
      if (!hasFlag) {
        op->emitOpError("may fail at run time, which '")
            << function.getName()
            << "' cannot report, because calls of this function cannot be "
               "inlined; inline the function by hand";
        return WalkResult::interrupt();
      }
      for (Operation *parent = op->getParentOp(); parent != function;
           parent = parent->getParentOp()) {
        if (isa_and_nonnull<scf::SCFDialect>(parent->getDialect()))
          continue;
        op->emitOpError(
            "may fail at run time, which cannot be reported from inside '")
            << parent->getName() << "'; move the op out of it";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// The divisions that need a check. Reports an error if one cannot be
  /// checked.
  static FailureOr<Divisions> findDivisions(func::FuncOp function,
                                            bool hasFlag) {
    IntegerRanges ranges(function);
    Divisions divisions;
    WalkResult result = function.walk([&](Operation *op) {
      std::optional<Division> division = matchUndefinedDivision(op, ranges);
      // Tensors are not lowered here.
      if (!division || isa<TensorType>(division->divisor.getType()))
        return WalkResult::advance();
      divisions.emplace_back(op, *division);
      if (!hasFlag) {
        op->emitOpError("may divide by zero or overflow at run time, which '")
            << function.getName()
            << "' cannot report, because calls of this function cannot be "
               "inlined; inline the function by hand";
        return WalkResult::interrupt();
      }
      for (Operation *parent = op->getParentOp();
           parent != function && !division->isOnlySelected;
           parent = parent->getParentOp()) {
        if (isa_and_nonnull<scf::SCFDialect>(parent->getDialect()))
          continue;
        op->emitOpError("may divide by zero or overflow at run time, which "
                        "cannot be reported from inside '")
            << parent->getName() << "'; move the op out of it";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    return divisions;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkRegions(module)) || failed(checkCounts(module)))
      return signalPassFailure();
    SmallVector<std::pair<func::FuncOp, Divisions>> plan;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      // A function with callers in the module keeps its type. A function
      // without callers is not executed unless it has tiles.
      bool isCalled = !SymbolTable::symbolKnownUseEmpty(function, module);
      bool hasFlag = !isCalled && function->hasAttr(kNumTiles) &&
                     function.getNumResults() == 0;
      if (!isCalled && !hasFlag)
        continue;
      FailureOr<Divisions> divisions = findDivisions(function, hasFlag);
      if (failed(divisions) || failed(checkAssertions(function, hasFlag)))
        return signalPassFailure();
      if (hasFlag)
        plan.emplace_back(function, std::move(*divisions));
    }
    SmallVector<StopFlag> flags;
    for (auto &[function, divisions] : plan) {
      flags.emplace_back(function);
      flags.back().insert(divisions);
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
