//===- OpaqueLowering.cpp - Optimization barriers and output --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Layouts/Vectors/LayoutValues.h"
#include "smalti/passes/Support/IndexChecks.h"
#include "smalti/passes/Support/Printf.h"
#include "smalti/passes/Support/Remarks.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// Values that are opaque to the optimizer.
class OptimizationBarriers
    : public LoweringOf<mosaic_gpu::OptimizationBarrierOp> {
public:
  LogicalResult plan(mosaic_gpu::OptimizationBarrierOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::OptimizationBarrierOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class DebugPrints : public LoweringOf<mosaic_gpu::DebugPrintOp> {
public:
  LogicalResult plan(mosaic_gpu::DebugPrintOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::DebugPrintOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class TilePrints : public LoweringOf<mosaic_gpu::PrintTileOp> {
public:
  LogicalResult plan(mosaic_gpu::PrintTileOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::PrintTileOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class Asserts : public LoweringOf<mosaic_gpu::AssertOp> {
public:
  LogicalResult plan(mosaic_gpu::AssertOp, Planner &) const override {
    return success();
  }
  void emit(mosaic_gpu::AssertOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

/// A check of an index calls a function of the emulator; other assertions do
/// not change.
class IndexChecks : public LoweringOf<cf::AssertOp> {
public:
  LogicalResult plan(cf::AssertOp, Planner &) const override {
    return success();
  }
  void emit(cf::AssertOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

/// A remark; emits no code.
class LayoutPrints : public LoweringOf<mosaic_gpu::PrintLayoutOp> {
public:
  LogicalResult plan(mosaic_gpu::PrintLayoutOp op,
                     Planner &planner) const override;
  void emit(mosaic_gpu::PrintLayoutOp op, Emitter &emitter,
            OpBuilder &builder) const override;
  bool acceptsTransforms() const override { return true; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Optimization barriers
//===----------------------------------------------------------------------===//

static int64_t getBits(Type type) {
  if (type.isIndex())
    return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

LogicalResult OptimizationBarriers::plan(mosaic_gpu::OptimizationBarrierOp op,
                                         Planner &planner) const {
  if (planner.getVendor().getTarget().vendor != targets::Vendor::NVIDIA)
    return op.emitOpError()
           << "is supported on NVIDIA GPUs only, but the target is "
           << planner.getVendor().getTarget().name << "; remove the op";
  unsigned index = 0;
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op.getResults())) {
    Type type = getElementTypeOrSelf(operand.getType());
    int64_t bits = getBits(type);
    if (isa<ShapedType>(operand.getType()) && !isVector(operand))
      bits = 0;
    if (bits == 0 || bits > 64 || (bits < 64 && 32 % bits != 0))
      return op.emitOpError()
             << "does not support operands of type " << operand.getType()
             << "; supported are scalars and vectors of elements with 1, 2, 4, "
                "8, 16, 32 or 64 bits";
    if (!isVector(operand))
      continue;
    if (Attribute layout = layoutAt(op, mosaic_gpu::kOutLayouts, index++)) {
      if (failed(planner.setLayout(op, result, layout)))
        return failure();
      const Distribution &from = *planner.find(operand),
                         &to = *planner.find(result);
      if (from != to && !from.isSplat())
        return op.emitOpError()
               << "has a result in layout " << to.str()
               << ", but an operand in layout " << from.str()
               << "; insert 'mosaic_gpu.layout_cast' on the operand";
    } else {
      planner.shareDistribution(operand, result);
    }
  }
  return success();
}

/// Passes a register through an optimization barrier.
static Value makeOpaque(Value held, const VendorLowering &vendor,
                        OpBuilder &builder, Location loc) {
  auto type = cast<VectorType>(held.getType());
  Type element = type.getElementType();
  if (element.isIndex()) {
    VectorType words = type.clone(builder.getI64Type());
    held = makeOpaque(arith::IndexCastOp::create(builder, loc, words, held),
                      vendor, builder, loc);
    return arith::IndexCastOp::create(builder, loc, type, held);
  }
  int64_t bits = element.getIntOrFloatBitWidth(), count = type.getDimSize(0);
  int64_t wordBits = std::max<int64_t>(bits, 16);
  for (int64_t wider : {32, 16})
    if (bits < wider && bits * count % wider == 0) {
      wordBits = wider;
      break;
    }
  if (bits * count % wordBits != 0) {
    // Fewer bits than a register has.
    VectorType integers = type.clone(builder.getIntegerType(bits)),
               wide = type.clone(builder.getI16Type());
    Value value = element.isInteger()
                      ? held
                      : arith::BitcastOp::create(builder, loc, integers, held)
                            .getResult();
    value = makeOpaque(arith::ExtUIOp::create(builder, loc, wide, value),
                       vendor, builder, loc);
    value = arith::TruncIOp::create(builder, loc, integers, value);
    return element.isInteger()
               ? value
               : arith::BitcastOp::create(builder, loc, type, value)
                     .getResult();
  }
  auto words = VectorType::get({bits * count / wordBits},
                               builder.getIntegerType(wordBits));
  Value asWords = vector::BitCastOp::create(builder, loc, words, held);
  SmallVector<Value> hidden;
  for (int64_t word = 0; word < words.getDimSize(0); ++word)
    hidden.push_back(vector::ExtractOp::create(builder, loc, asWords,
                                               ArrayRef<int64_t>{word}));
  hidden = vendor.emitOpaque(builder, loc, hidden);
  return vector::BitCastOp::create(
      builder, loc, type,
      vector::FromElementsOp::create(builder, loc, words, hidden));
}

void OptimizationBarriers::emit(mosaic_gpu::OptimizationBarrierOp op,
                                Emitter &emitter, OpBuilder &builder) const {
  Location loc = op.getLoc();
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op.getResults())) {
    if (isVector(operand)) {
      Registers held = emitter.getRegisters(
          operand, emitter.plan.getDistribution(result), builder);
      for (Value &reg : held)
        reg = makeOpaque(reg, emitter.vendor, builder, loc);
      emitter.setRegisters(result, std::move(held));
      continue;
    }
    auto type = VectorType::get({1}, operand.getType());
    Value one = vector::BroadcastOp::create(builder, loc, type,
                                            emitter.lookup(operand));
    emitter.map(result,
                vector::ExtractOp::create(
                    builder, loc, makeOpaque(one, emitter.vendor, builder, loc),
                    ArrayRef<int64_t>{0}));
  }
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static LogicalResult checkPrintable(Operation *op, Type element) {
  // 8-bit floats cannot be converted to a type that printf supports.
  if (!element.isIntOrIndexOrFloat() ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16))
    return op->emitOpError() << "cannot print elements of type " << element
                             << "; convert them to f32 or an integer first";
  return success();
}

LogicalResult DebugPrints::plan(mosaic_gpu::DebugPrintOp op,
                                Planner &planner) const {
  return checkPrintable(op, getElementTypeOrSelf(op.getValue()));
}

/// The index of an element.
static SmallVector<Value> getIndex(const Distribution &distribution,
                                   int64_t reg, int64_t element,
                                   ThreadIndices &indices, OpBuilder &builder,
                                   Location loc) {
  SmallVector<Value> position;
  for (auto [dim, coordinate] :
       llvm::enumerate(indices.getCoordinates(distribution, reg))) {
    int64_t offset = coordinate.offset;
    if (static_cast<int64_t>(dim) == distribution.getVectorDim())
      offset += element * distribution.getVectorStride();
    Value index = indices.getConstant(offset);
    if (coordinate.base)
      index = arith::AddIOp::create(builder, loc, coordinate.base, index);
    position.push_back(index);
  }
  return position;
}

/// Adds "block [x, y, z]".
static void addBlock(PrintfLine &line, OpBuilder &builder, Location loc) {
  SmallVector<Value> block;
  for (gpu::Dimension dim :
       {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z})
    block.push_back(gpu::BlockIdOp::create(builder, loc, dim));
  line << "block " << ValueRange(block);
}

static void print(const PrintfLine &line, OpBuilder &builder, Location loc) {
  gpu::PrintfOp::create(builder, loc, line.getFormat(), line.getArguments());
}

/// Visits each element that a thread holds, with its index unless the vector is
/// a splat.
static void forEachElement(
    const Distribution &distribution, const Registers &held,
    ThreadIndices &indices, OpBuilder &builder, Location loc,
    llvm::function_ref<void(ValueRange index, Value element)> visit) {
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
    for (int64_t element = 0; element < distribution.getVectorLength();
         ++element) {
      SmallVector<Value> index;
      if (!distribution.isSplat())
        index = getIndex(distribution, reg, element, indices, builder, loc);
      visit(index, vector::ExtractOp::create(builder, loc, held[reg],
                                             ArrayRef<int64_t>{element}));
    }
}

void DebugPrints::emit(mosaic_gpu::DebugPrintOp op, Emitter &emitter,
                       OpBuilder &builder) const {
  Location loc = op.getLoc();
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getValue());
  Registers held = emitter.getRegisters(op.getValue());
  SmallVector<StringRef> parts;
  op.getFormat().split(parts, "{}");
  emitter.emitOnce(distribution, builder, loc, [&](OpBuilder &nested) {
    forEachElement(distribution, held, emitter.indices, nested, loc,
                   [&](ValueRange index, Value element) {
                     PrintfLine line(nested, loc);
                     if (op.getWithBlockId()) {
                       addBlock(line, nested, loc);
                       line << ": ";
                     }
                     line << parts.front();
                     for (StringRef part : ArrayRef(parts).drop_front()) {
                       if (!index.empty())
                         line << index << ": ";
                       if (isa<FloatType>(element.getType()))
                         line.addFixed(element);
                       else
                         line << element;
                       line << part;
                     }
                     line << "\n";
                     print(line, nested, loc);
                   });
  });
}

LogicalResult TilePrints::plan(mosaic_gpu::PrintTileOp op,
                               Planner &planner) const {
  if (!op.getValue())
    return success();
  return checkPrintable(op, getElementTypeOrSelf(op.getValue()));
}

void TilePrints::emit(mosaic_gpu::PrintTileOp op, Emitter &emitter,
                      OpBuilder &builder) const {
  Location loc = op.getLoc();
  Value tile = emitter.lookup(op.getTile());
  auto printElement = [&](OpBuilder &nested, ValueRange index, Value element) {
    print(formatTileLine(nested, loc, tile, op.getText(), index, element),
          nested, loc);
  };
  if (!op.getValue() || !isVector(op.getValue())) {
    Value scalar = op.getValue() ? emitter.lookup(op.getValue()) : Value();
    scf::IfOp::create(builder, loc, emitter.getLeader(op),
                      [&](OpBuilder &nested, Location) {
                        printElement(nested, {}, scalar);
                        scf::YieldOp::create(nested, loc);
                      });
    return;
  }
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getValue());
  Registers held = emitter.getRegisters(op.getValue());
  ArrayRef<int64_t> shape =
      cast<VectorType>(op.getValue().getType()).getShape();
  emitter.emitOnce(distribution, builder, loc, [&](OpBuilder &nested) {
    forEachElement(
        distribution, held, emitter.indices, nested, loc,
        [&](ValueRange index, Value element) {
          if (!distribution.isSplat())
            return printElement(nested, index, element);
          SmallVector<Value> sizes;
          for (int64_t size : shape)
            sizes.push_back(emitter.indices.getConstant(size));
          scf::buildLoopNest(
              nested, loc,
              SmallVector<Value>(shape.size(), emitter.indices.getConstant(0)),
              sizes,
              SmallVector<Value>(shape.size(), emitter.indices.getConstant(1)),
              [&](OpBuilder &inner, Location, ValueRange position) {
                printElement(inner, position, element);
              });
        });
  });
}

void Asserts::emit(mosaic_gpu::AssertOp op, Emitter &emitter,
                   OpBuilder &builder) const {
  Location loc = op.getLoc();
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getCondition());
  Registers held = emitter.getRegisters(op.getCondition());
  auto fail = [&](OpBuilder &nested, int64_t reg, int64_t element) {
    PrintfLine line(nested, loc);
    line << "assertion failed in ";
    addBlock(line, nested, loc);
    if (!distribution.isSplat())
      line << " at "
           << ValueRange(getIndex(distribution, reg, element, emitter.indices,
                                  nested, loc));
    line << ": " << op.getMessage() << "\n";
    print(line, nested, loc);
    emitter.vendor.emitFailure(nested, loc, op.getMessage());
  };
  emitter.emitOnce(distribution, builder, loc, [&](OpBuilder &nested) {
    Value one = arith::ConstantIntOp::create(nested, loc, 1, 1), isAnyFalse;
    SmallVector<Value> areFalse;
    int64_t length = distribution.getVectorLength();
    for (Value reg : held)
      for (int64_t element = 0; element < length; ++element) {
        Value condition = vector::ExtractOp::create(nested, loc, reg,
                                                    ArrayRef<int64_t>{element});
        Value isFalse = arith::XOrIOp::create(nested, loc, condition, one);
        areFalse.push_back(isFalse);
        isAnyFalse =
            isAnyFalse ? arith::OrIOp::create(nested, loc, isAnyFalse, isFalse)
                             .getResult()
                       : isFalse;
      }
    // One branch while all elements are true.
    scf::IfOp::create(nested, loc, isAnyFalse, [&](OpBuilder &rare, Location) {
      for (auto [index, isFalse] : llvm::enumerate(areFalse)) {
        auto number = static_cast<int64_t>(index);
        scf::IfOp::create(rare, loc, isFalse, [&](OpBuilder &inner, Location) {
          fail(inner, number / length, number % length);
          scf::YieldOp::create(inner, loc);
        });
      }
      scf::YieldOp::create(rare, loc);
    });
  });
}

void IndexChecks::emit(cf::AssertOp op, Emitter &emitter,
                       OpBuilder &builder) const {
  if (!op->hasAttr(kIndexCheck))
    return emitter.emitScalar(op, builder);
  Location loc = op.getLoc();
  std::optional<IndexCheck> check = matchIndexCheck(op);
  if (!check) {
    // A loop may carry the condition.
    Value isOutside =
        arith::XOrIOp::create(builder, loc, emitter.lookup(op.getArg()),
                              arith::ConstantIntOp::create(builder, loc, 1, 1));
    scf::IfOp::create(builder, loc, isOutside,
                      [&](OpBuilder &nested, Location) {
                        emitter.vendor.emitFailure(nested, loc, op.getMsg());
                        scf::YieldOp::create(nested, loc);
                      });
    return;
  }
  Type i64 = builder.getI64Type();
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      builder, op->getParentOfType<gpu::GPUModuleOp>(), kCheckIndexFunction,
      {i64, i64, i64}, LLVM::LLVMVoidType::get(builder.getContext()));
  // Only this lowering declares the function.
  assert(succeeded(function));
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, i64, emitter.lookup(value));
  };
  Value dim = arith::ConstantOp::create(builder, loc,
                                        builder.getI64IntegerAttr(check->dim));
  LLVM::CallOp::create(
      builder, loc, *function,
      ValueRange{widen(check->index), widen(check->size), dim});
}

LogicalResult LayoutPrints::plan(mosaic_gpu::PrintLayoutOp op,
                                 Planner &planner) const {
  if (!isVector(op.getValue()) && !planner.getSharedRef(op.getValue()))
    return op.emitOpError()
           << "can print only the layout of a block-level vector or of shared "
              "memory; its operand of type "
           << op.getValue().getType()
           << " does not have a layout, so remove the op";
  return success();
}

void LayoutPrints::emit(mosaic_gpu::PrintLayoutOp op, Emitter &emitter,
                        OpBuilder &) const {
  std::string layout = isVector(op.getValue())
                           ? emitter.plan.getDistribution(op.getValue()).str()
                           : emitter.plan.getSharedRef(op.getValue())->str();
  SmallVector<StringRef> parts;
  op.getFormat().split(parts, "{}");
  bool isNVIDIA = emitter.vendor.getTarget().vendor == targets::Vendor::NVIDIA;
  remarkAnalysis(op, isNVIDIA ? "convert-mosaic-gpu-to-nvvm"
                              : "convert-mosaic-gpu-to-rocdl")
      << llvm::join(parts, layout);
}

void block_to_thread::registerOpaque(OpLowerings &lowerings) {
  lowerings.add<OptimizationBarriers, mosaic_gpu::OptimizationBarrierOp>();
  lowerings.add<DebugPrints, mosaic_gpu::DebugPrintOp>();
  lowerings.add<TilePrints, mosaic_gpu::PrintTileOp>();
  lowerings.add<Asserts, mosaic_gpu::AssertOp>();
  lowerings.add<IndexChecks, cf::AssertOp>();
  lowerings.add<LayoutPrints, mosaic_gpu::PrintLayoutOp>();
}
