//===- TritonXLAToCPU.cpp - Tile-level kernels to vectorized loops --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel is converted in a temporary module. The originals are replaced
// only if all conversions succeed:
//
//   1. element-wise ops on tiles are lowered to linalg ops and fused;
//   2. extract and insert are lowered to copies between memory and a buffer,
//   mask
//      to an element-wise op, dot to a linalg.matmul;
//   3. upstream's one-shot bufferization assigns a buffer to every tile;
//   4. each loop-carried buffer is updated in place, so that all buffers can be
//      allocated once per call, before the loop over tiles;
//   5. the linalg ops are lowered to vectorized loops (CPULoops.h), and f16 and
//      bf16 arithmetic is done in f32.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Conversion/ToCPU/TritonXLAToCPU.h"

#include "smalti/passes/Analysis/Integers/TripCount.h"
#include "smalti/passes/Analysis/Resources/ResourceEstimate.h"
#include "smalti/passes/Conversion/ToCPU/CPUFloat8.h"
#include "smalti/passes/Conversion/ToCPU/CPULoops.h"
#include "smalti/passes/Support/KernelAttributes.h"
#include "smalti/passes/Support/Options.h"
#include "smalti/targets/Target.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/TargetParser/Host.h"

namespace smalti {
#define GEN_PASS_DECL_CONVERTTRITONXLATOCPU
#define GEN_PASS_DEF_CONVERTTRITONXLATOCPU
#include "smalti/passes/Conversion/Passes.h.inc"
} // namespace smalti

using namespace mlir;
using namespace smalti;
using namespace smalti::triton_xla;

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

static bool isSupportedElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isIndex() || type.isSignlessInteger();
}

/// Whether an op supports 8-bit floats: it moves, multiplies or extends them.
static bool supportsFloat8(Operation *op) {
  return isa<ExtractOp, InsertOp, MaskOp, DotOp, arith::ExtFOp,
             arith::ConstantOp, tensor::SplatOp>(op) ||
         isa<scf::SCFDialect>(op->getDialect());
}

static bool isElementwiseOnTiles(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumOperands() != 0 &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Elements that arrays pack into bytes and LLVM does not.
static bool isPacked(Type element) {
  if (!element.isIntOrFloat())
    return false;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits != 1 && bits < 8;
}

/// Reports what cannot be lowered to CPU loops. If this check succeeds, a later
/// failure is a defect in the pass.
static LogicalResult checkKernel(EntryFuncOp entry) {
  for (BlockArgument argument : entry.getKernelArguments()) {
    auto memref = dyn_cast<MemRefType>(argument.getType());
    if (memref && memref.getMemorySpace())
      return entry.emitError("argument #")
             << argument.getArgNumber() << " is in memory space "
             << memref.getMemorySpace()
             << "; only the default memory space is supported";
    if (memref && isPacked(memref.getElementType()))
      return entry.emitError("argument #")
             << argument.getArgNumber() << " has elements of "
             << memref.getElementType()
             << ", which are packed into bytes; i1 or elements of whole "
                "bytes are required";
  }
  WalkResult result = entry.getBody().walk([](Operation *op) -> WalkResult {
    bool onTiles = false;
    auto types = llvm::to_vector(
        llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                 llvm::to_vector(op->getResultTypes())));
    for (Region &region : op->getRegions()) {
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    }
    for (Type type : types) {
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor)
        continue;
      onTiles = true;
      if (!isa<RankedTensorType>(tensor) || !tensor.hasStaticShape())
        return op->emitOpError("has a tile of type ")
               << type << "; a static shape is required";
      if (!isSupportedElement(tensor.getElementType()) &&
          !(isFloat8OfCPU(tensor.getElementType()) && supportsFloat8(op)))
        return op->emitOpError("has elements of ")
               << tensor.getElementType()
               << "; supported are f16, bf16, f32, f64, integers and index, "
                  "and f8E4M3FN and f8E5M2 in extract, insert, mask, dot and "
                  "arith.extf";
    }
    if (!onTiles)
      return WalkResult::advance();
    if (isa<ExtractOp, InsertOp, MaskOp, DotOp>(op) || isElementwiseOnTiles(op))
      return WalkResult::advance();
    if (isa<scf::SCFDialect>(op->getDialect())) {
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
              scf::YieldOp, scf::ConditionOp>(op))
        return WalkResult::advance();
    } else if (isa<linalg::LinalgDialect>(op->getDialect())) {
      if (isa<linalg::LinalgOp, linalg::YieldOp>(op))
        return WalkResult::advance();
    } else if (isa<arith::ConstantOp, arith::SelectOp, tensor::YieldOp>(op) ||
               (isa<tensor::TensorDialect>(op->getDialect()) &&
                isa<bufferization::BufferizableOpInterface>(op))) {
      return WalkResult::advance();
    }
    return op->emitOpError("is not supported on the target cpu");
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Creates a function in a temporary module that executes the kernel for tiles
/// [begin, end).
static func::FuncOp cloneIntoLoop(EntryFuncOp entry, ModuleOp scratch) {
  OpBuilder builder = OpBuilder::atBlockBegin(scratch.getBody());
  Location loc = entry.getLoc();
  SmallVector<Type> types(entry.getArgumentTypes().drop_back());
  types.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, entry.getSymName(),
                                       builder.getFunctionType(types, {}));
  if (StringAttr visibility = entry.getSymVisibilityAttr())
    function.setSymVisibilityAttr(visibility);
  function->setDiscardableAttrs(entry->getDiscardableAttrDictionary());
  function->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
  function->setAttr(kNumTiles, entry.getNumTilesAttr());
  if (ArrayAttr attributes = entry.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.getValue().drop_back());
    all.append(2, builder.getDictionaryAttr({}));
    function.setAllArgAttrs(all);
  }

  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  unsigned numArguments = types.size() - 2;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, block->getArgument(numArguments),
                                 block->getArgument(numArguments + 1), one);
  func::ReturnOp::create(builder, loc);
  IRMapping mapping;
  mapping.map(entry.getKernelArguments(),
              block->getArguments().take_front(numArguments));
  mapping.map(entry.getTileId(), loop.getInductionVar());
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (Operation &op : entry.getBody().front().without_terminator())
    builder.clone(op, mapping);
  return function;
}

static LogicalResult convertElementwise(ModuleOp scratch) {
  MLIRContext *context = scratch.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !isElementwiseOnTiles(op); });
  return applyPartialConversion(scratch, target, std::move(patterns));
}

static void lowerExtract(RewriterBase &rewriter, ExtractOp op,
                         int64_t vectorBits) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType tile = op.getTileType();
  Value buffer = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(tile.getShape(), tile.getElementType()));
  emitWindowCopy(rewriter, loc,
                 {op.getSource(), op.getMixedOffsets(), op.getStaticSizes(),
                  op.getStaticStrides(), op.getDroppedDims(), buffer},
                 op.getFillOrZero(), vectorBits);
  rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
      op, tile, buffer, /*restrict=*/true, /*writable=*/true);
}

static void lowerInsert(RewriterBase &rewriter, InsertOp op,
                        int64_t vectorBits) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType tile = op.getTileType();
  Value buffer = bufferization::ToBufferOp::create(
      rewriter, loc, MemRefType::get(tile.getShape(), tile.getElementType()),
      op.getTile(), /*read_only=*/true);
  emitWindowCopy(rewriter, loc,
                 {op.getDestination(), op.getMixedOffsets(),
                  op.getStaticSizes(), op.getStaticStrides(),
                  op.getDroppedDims(), buffer},
                 /*fill=*/{}, vectorBits);
  rewriter.eraseOp(op);
}

static void lowerMask(RewriterBase &rewriter, MaskOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType type = op.getTile().getType();
  SmallVector<std::pair<int64_t, Value>> bounds;
  for (auto [dim, bound] : llvm::enumerate(op.getMixedBounds())) {
    if (getConstantIntValue(bound) != type.getDimSize(dim))
      bounds.emplace_back(
          dim, getValueOrCreateConstantIndexOp(rewriter, loc, bound));
  }
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps(2,
                              rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange{op.getTile()}, ValueRange{empty}, maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value kept;
        for (auto [dim, bound] : bounds) {
          Value index = linalg::IndexOp::create(b, loc, dim);
          Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                              index, bound);
          kept = kept ? arith::AndIOp::create(b, loc, kept, below).getResult()
                      : below;
        }
        Value result = arguments[0];
        if (kept)
          result = arith::SelectOp::create(b, loc, kept, result, op.getValue());
        linalg::YieldOp::create(b, loc, result);
      });
  rewriter.replaceOp(op, generic);
}

static void lowerTileOps(RewriterBase &rewriter, func::FuncOp function,
                         int64_t vectorBits) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto extract = dyn_cast<ExtractOp>(op)) {
      lowerExtract(rewriter, extract, vectorBits);
    } else if (auto mask = dyn_cast<MaskOp>(op)) {
      lowerMask(rewriter, mask);
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      rewriter.setInsertionPoint(dot);
      auto matmul = linalg::MatmulOp::create(
          rewriter, dot.getLoc(), dot.getResult().getType(),
          ValueRange{dot.getLhs(), dot.getRhs()}, dot.getAccumulator());
      rewriter.replaceOp(dot, matmul);
    }
  }
}

/// Runs after the last folding before bufferization. Bufferization does not
/// track reads that use a buffer directly and not through a tensor, so it might
/// overwrite the buffer too early.
static void lowerInserts(RewriterBase &rewriter, func::FuncOp function,
                         int64_t vectorBits) {
  SmallVector<InsertOp> inserts;
  function.walk([&](InsertOp op) { inserts.push_back(op); });
  for (InsertOp op : inserts)
    lowerInsert(rewriter, op, vectorBits);
}

static LogicalResult fuseElementwise(func::FuncOp function) {
  // Every fusion recreates the whole body, so without a limit the time would be
  // quadratic in the length of a chain. Longer bodies do not benefit, since
  // registers are exhausted.
  constexpr size_t mostOps = 128;
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(
      patterns, [](OpOperand *operand) {
        Operation *producer = operand->get().getDefiningOp();
        Operation *consumer = operand->getOwner();
        if (!producer || !producer->hasOneUse() ||
            producer->getBlock() != consumer->getBlock())
          return false;
        size_t ops = 0;
        for (Operation *op : {producer, consumer})
          if (auto generic = dyn_cast<linalg::GenericOp>(op))
            ops += generic.getBody()->getOperations().size();
        return ops <= mostOps;
      });
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Lets element-wise ops overwrite an input, preferably a loop-carried tile, so
/// that the loop does not need a second buffer. (Bufferization still allocates
/// a new buffer if the input is read again.)
static void reuseInputs(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumParallelLoops() != op.getNumLoops())
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!init.get().getDefiningOp<tensor::EmptyOp>() ||
          !op.getMatchingIndexingMap(&init).isIdentity())
        continue;
      OpOperand *best = nullptr;
      for (OpOperand *input : op.getDpsInputOperands()) {
        Value value = input->get();
        if (value.getType() != init.get().getType() ||
            !op.getMatchingIndexingMap(input).isIdentity() ||
            llvm::any_of(op.getDpsInits(),
                         [&](Value other) { return other == value; }))
          continue;
        auto argument = dyn_cast<BlockArgument>(value);
        bool carried = argument && isa<scf::ForOp, scf::WhileOp>(
                                       argument.getOwner()->getParentOp());
        if (carried)
          best = input;
        else if (!best && value.hasOneUse())
          best = input;
      }
      if (best)
        rewriter.modifyOpInPlace(op, [&] { init.set(best->get()); });
    }
  });
}

/// Replaces each use of a splat constant or tensor.splat by a fill. A read-only
/// global would have to be copied first.
static void fillSplats(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> splats;
  function.walk([&](Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if ((constant && isa<SplatElementsAttr>(constant.getValue()) &&
         isa<RankedTensorType>(constant.getType())) ||
        isa<tensor::SplatOp>(op))
      splats.push_back(op);
  });
  for (Operation *op : splats) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value scalar;
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        auto value =
            cast<TypedAttr>(cast<SplatElementsAttr>(constant.getValue())
                                .getSplatValue<Attribute>());
        scalar = arith::ConstantOp::create(rewriter, op->getLoc(), value);
      } else {
        scalar = cast<tensor::SplatOp>(op).getInput();
      }
      Value empty = tensor::EmptyOp::create(
          rewriter, op->getLoc(), type.getShape(), type.getElementType());
      auto fill = linalg::FillOp::create(rewriter, op->getLoc(), scalar, empty);
      use.set(fill.getResult(0));
    }
    rewriter.eraseOp(op);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Whether `value` is proven to be the buffer `argument` on every path.
static bool isBuffer(Value value, BlockArgument argument) {
  while (true) {
    if (value == argument)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      value = cast.getSource();
      continue;
    }
    unsigned position = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!isBuffer(loop.getYieldedValues()[position],
                    loop.getRegionIterArgs()[position]))
        return false;
      value = loop.getInitArgs()[position];
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      return isBuffer(branch.thenYield().getOperand(position), argument) &&
             isBuffer(branch.elseYield().getOperand(position), argument);
    }
    return false;
  }
}

/// Allocates a buffer with the shape of `type` before `op`.
static Value allocateLike(RewriterBase &rewriter, Operation *op,
                          MemRefType type) {
  rewriter.setInsertionPoint(op);
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value buffer = memref::AllocOp::create(rewriter, op->getLoc(), plain);
  return plain == type
             ? buffer
             : memref::CastOp::create(rewriter, op->getLoc(), type, buffer)
                   .getResult();
}

/// Updates a loop-carried buffer in place: `init` is copied into the buffer
/// before the loop, and each iteration copies its result. After bufferization,
/// the result of an iteration is the carried buffer or a buffer of that
/// iteration, which the next iteration overwrites after allocations are
/// hoisted.
static void carryInPlace(RewriterBase &rewriter, Operation *loop,
                         OpOperand &init, OpOperand &yielded,
                         BlockArgument argument) {
  if (isBuffer(yielded.get(), argument))
    return;
  Value buffer =
      allocateLike(rewriter, loop, cast<MemRefType>(argument.getType()));
  memref::CopyOp::create(rewriter, loop->getLoc(), init.get(), buffer);
  rewriter.modifyOpInPlace(loop, [&] { init.set(buffer); });
  rewriter.setInsertionPoint(yielded.getOwner());
  memref::CopyOp::create(rewriter, loop->getLoc(), yielded.get(), buffer);
  rewriter.modifyOpInPlace(yielded.getOwner(), [&] { yielded.set(buffer); });
}

static void carryLoopsInPlace(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> loops;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      loops.push_back(op);
  });
  for (Operation *op : loops) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, yielded, argument] : llvm::zip_equal(
               loop.getInitArgsMutable(), *loop.getYieldedValuesMutable(),
               loop.getRegionIterArgs())) {
        if (isa<MemRefType>(argument.getType()))
          carryInPlace(rewriter, loop, init, yielded, argument);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, yielded, argument] : llvm::zip_equal(
               loop.getInitsMutable(), loop.getYieldOp().getResultsMutable(),
               loop.getBeforeArguments())) {
        if (isa<MemRefType>(argument.getType()))
          carryInPlace(rewriter, loop, init, yielded, argument);
      }
    }
  }
}

/// Hoists all allocations before the loop over tiles and frees the buffers at
/// the end of the call.
static void hoistAllocations(RewriterBase &rewriter, func::FuncOp function) {
  Block &entry = function.getBody().front();
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp op) {
    if (op->getNumOperands() == 0)
      allocations.push_back(op);
  });
  for (memref::AllocOp op : llvm::reverse(allocations)) {
    rewriter.moveOpBefore(op, &entry, entry.begin());
    rewriter.modifyOpInPlace(op, [&] { op.setAlignment(64); });
  }
  rewriter.setInsertionPoint(entry.getTerminator());
  for (memref::AllocOp op : allocations)
    memref::DeallocOp::create(rewriter, op.getLoc(), op);
}

/// Lowers copies of strided buffers, which would otherwise call a runtime
/// library.
static void lowerStridedCopies(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](memref::CopyOp op) {
    auto source = cast<MemRefType>(op.getSource().getType()),
         target = cast<MemRefType>(op.getTarget().getType());
    if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                op.getTarget());
  });
}

//===----------------------------------------------------------------------===//
// f16 and bf16
//===----------------------------------------------------------------------===//

static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

/// Truncates f64 to f16 or bf16 through f32 without double rounding: the first
/// truncation rounds to odd, which preserves ties for the second one. (A direct
/// truncation is a call to the compiler's runtime library.)
static void splitTruncation(RewriterBase &rewriter, arith::TruncFOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value wide = op.getIn();
  Type f32 = withElement(wide.getType(), rewriter.getF32Type());
  Type i32 = withElement(wide.getType(), rewriter.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attribute = rewriter.getI32IntegerAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(i32))
      attribute = DenseElementsAttr::get(shaped, attribute);
    return arith::ConstantOp::create(rewriter, loc, attribute);
  };
  Value nearest = arith::TruncFOp::create(rewriter, loc, f32, wide);
  Value back = arith::ExtFOp::create(rewriter, loc, wide.getType(), nearest);
  // Ordered comparison: NaN is not changed.
  Value inexact = arith::CmpFOp::create(rewriter, loc,
                                        arith::CmpFPredicate::ONE, back, wide);
  Value away = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT,
                                     math::AbsFOp::create(rewriter, loc, back),
                                     math::AbsFOp::create(rewriter, loc, wide));
  Value bits = arith::BitcastOp::create(rewriter, loc, i32, nearest);
  Value towardsZero = arith::SelectOp::create(
      rewriter, loc, away,
      arith::SubIOp::create(rewriter, loc, bits, constant(1)), bits);
  Value odd = arith::OrIOp::create(rewriter, loc, towardsZero, constant(1));
  Value result = arith::BitcastOp::create(
      rewriter, loc, f32,
      arith::SelectOp::create(rewriter, loc, inexact, odd, bits));
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
}

/// Computes f16 and bf16 arithmetic in f32 and rounds after each op. For +, -,
/// *, / and sqrt the result is correctly rounded; fma uses f64 for the same
/// reason.
static LogicalResult computeInF32(ModuleOp scratch) {
  MLIRContext *context = scratch.getContext();
  Type f32 = Float32Type::get(context), f64 = Float64Type::get(context);
  auto isNarrow = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  };

  IRRewriter rewriter(context);
  SmallVector<math::FmaOp> fmas;
  scratch.walk([&](math::FmaOp op) {
    if (isNarrow(op.getType()))
      fmas.push_back(op);
  });
  for (math::FmaOp op : fmas) {
    rewriter.setInsertionPoint(op);
    Type wide = withElement(op.getType(), f64);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          arith::ExtFOp::create(rewriter, op.getLoc(), wide, operand));
    Value result = math::FmaOp::create(rewriter, op.getLoc(), operands[0],
                                       operands[1], operands[2]);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
  }

  {
    // The converter stores a reference to the set.
    SetVector<Type> supported;
    supported.insert(f32);
    supported.insert(f64);
    TypeConverter converter;
    math::populateExtendToSupportedTypesTypeConverter(converter, supported,
                                                      f32);
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    if (failed(applyPartialConversion(scratch, target, std::move(patterns))))
      return failure();
  }
  {
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {Float16Type::get(context), BFloat16Type::get(context)},
        f32);
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(scratch, target, std::move(patterns))))
      return failure();
  }

  // The fastmath flags of these patterns would let an extension cancel a
  // truncation and drop the rounding between two ops.
  SmallVector<Operation *> casts;
  scratch.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op)) {
      extension.removeFastmathAttr();
      if (!isNarrow(extension.getIn().getType()) ||
          getElementTypeOrSelf(extension.getType()) != f64)
        continue;
      rewriter.setInsertionPoint(extension);
      Type middle = withElement(extension.getType(), f32);
      Value single = arith::ExtFOp::create(rewriter, op->getLoc(), middle,
                                           extension.getIn());
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, extension.getType(),
                                                 single);
    } else {
      auto truncation = cast<arith::TruncFOp>(op);
      truncation.removeFastmathAttr();
      if (isNarrow(truncation.getType()) &&
          getElementTypeOrSelf(truncation.getIn().getType()) == f64)
        splitTruncation(rewriter, truncation);
    }
  }
  return success();
}

/// Expands ops without an LLVM equivalent: rounding divisions, and bf16 casts,
/// which would call the compiler's runtime library. (Upstream's arith-expand
/// would also expand minimumf and maximumf and ignore the sign of zeros.)
static LogicalResult expandForLLVM(ModuleOp scratch) {
  RewritePatternSet patterns(scratch.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  ConversionTarget target(*scratch.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return false;
    if (isa<arith::ExtFOp>(op))
      return !getElementTypeOrSelf(op->getOperand(0).getType()).isBF16();
    if (isa<arith::TruncFOp>(op))
      return !getElementTypeOrSelf(op->getResult(0).getType()).isBF16();
    return true;
  });
  return applyPartialConversion(scratch, target, std::move(patterns));
}

static LogicalResult cleanUp(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    if (isa<memref::MemRefDialect, scf::SCFDialect, arith::ArithDialect>(
            op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  }
  return applyPatternsGreedily(function, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void smalti::registerBufferizationModels(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

static int getHostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

namespace {
struct ConvertTritonXLAToCPU
    : smalti::impl::ConvertTritonXLAToCPUBase<ConvertTritonXLAToCPU> {
  using ConvertTritonXLAToCPUBase::ConvertTritonXLAToCPUBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                    func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
    registerBufferizationModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    vectorBits = vectorWidth == VectorWidth::Host ? getHostVectorBits()
                                                  : int(vectorWidth.getValue());
    if (failed(checkVectors(module, *targets::lookup("cpu"), /*threads=*/1)) ||
        failed(checkLoopSteps(module)))
      return signalPassFailure();
    SmallVector<EntryFuncOp> entries(module.getOps<EntryFuncOp>());
    for (EntryFuncOp entry : entries) {
      if (failed(checkKernel(entry)))
        return signalPassFailure();
    }
    SmallVector<OwningOpRef<ModuleOp>> converted;
    for (EntryFuncOp entry : entries) {
      converted.push_back(convert(entry));
      if (!converted.back()) {
        entry.emitError("convert-triton-xla-to-cpu: conversion of this kernel "
                        "failed (internal error)");
        return signalPassFailure();
      }
    }
    SymbolTable symbols(module);
    for (auto [entry, scratch] : llvm::zip_equal(entries, converted))
      replace(entry, *scratch, symbols);
  }

private:
  int vectorBits = 0;

  OwningOpRef<ModuleOp> convert(EntryFuncOp entry) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(entry.getLoc());
    func::FuncOp function = cloneIntoLoop(entry, *scratch);
    IRRewriter rewriter(&getContext());
    if (failed(convertElementwise(*scratch)))
      return {};
    lowerTileOps(rewriter, function, vectorBits);
    if (failed(fuseElementwise(function)))
      return {};
    lowerInserts(rewriter, function, vectorBits);
    reuseInputs(rewriter, function);
    fillSplats(rewriter, function);

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(*scratch, options, state)) ||
        failed(cleanUp(function)))
      return {};

    carryLoopsInPlace(rewriter, function);
    lowerStridedCopies(rewriter, function);
    SmallVector<linalg::LinalgOp> linalgOps;
    function.walk([&](linalg::LinalgOp op) { linalgOps.push_back(op); });
    for (linalg::LinalgOp op : linalgOps) {
      if (failed(lowerLinalgToVectorLoops(rewriter, op, vectorBits)))
        return {};
    }
    hoistAllocations(rewriter, function);
    widenFloat8(*scratch);
    if (failed(computeInF32(*scratch)) || failed(expandForLLVM(*scratch)) ||
        failed(cleanUp(function)))
      return {};
    return scratch;
  }

  /// Replaces `entry` by the ops of `scratch`.
  void replace(EntryFuncOp entry, ModuleOp scratch, SymbolTable &symbols) {
    Block::iterator position = std::next(entry->getIterator());
    symbols.erase(entry);
    for (Operation &op : llvm::make_early_inc_range(*scratch.getBody())) {
      // Constants are globals, whose names may collide.
      if (auto symbol = dyn_cast<SymbolOpInterface>(op);
          symbol && !isa<func::FuncOp>(op)) {
        StringAttr name = symbol.getNameAttr();
        StringAttr unique = name;
        for (unsigned suffix = 0; symbols.lookup(unique); ++suffix)
          unique = StringAttr::get(&getContext(),
                                   name.getValue() + "_" + Twine(suffix));
        // The new name must be unused in both modules.
        if (unique != name) {
          while (SymbolTable::lookupSymbolIn(scratch, unique) ||
                 symbols.lookup(unique))
            unique = StringAttr::get(&getContext(), unique.getValue() + "_");
          (void)SymbolTable::replaceAllSymbolUses(&op, unique, scratch);
          symbol.setName(unique);
        }
      }
      op.remove();
      symbols.insert(&op, position);
    }
  }
};
} // namespace
