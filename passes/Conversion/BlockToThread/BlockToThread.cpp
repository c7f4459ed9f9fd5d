//===- BlockToThread.cpp - Block programs to thread programs --------------===//

#include "passes/Conversion/BlockToThread/BlockToThread.h"

#include "dialects/MosaicGPU/MosaicGPU.h"
#include "passes/Conversion/BlockToThread/KernelPlan.h"
#include "passes/Conversion/BlockToThread/VendorLowering.h"
#include "passes/Support/KernelAttributes.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

using Registers = SmallVector<Value>;

/// Whether nothing in the kernel writes to `memref`.
static bool isOnlyRead(Value memref) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    if (!effects ||
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return false;
    return !effects.getEffectOnValue<MemoryEffects::Write>(memref);
  });
}

namespace {
/// Emits the kernel of one thread beside the kernel of the block.
class Emitter {
public:
  Emitter(KernelPlan &plan, const VendorLowering &vendor,
          gpu::GPUFuncOp newFunc, Block *body);
  void emitBlock(Block &block, OpBuilder &builder);
  void finish() { indices.finish(); }

private:
  void emitOp(Operation *op, OpBuilder &builder);
  void emitScalar(Operation *op, OpBuilder &builder);
  void emitControlFlow(Operation *op, OpBuilder &builder);
  void emitTerminator(Operation *op, OpBuilder &builder);
  void emitElementwise(Operation *op, OpBuilder &builder);
  void emitMask(vector::CreateMaskOp op, OpBuilder &builder);
  void emitLoad(Operation *op, OpBuilder &builder);
  void emitStore(Operation *op, OpBuilder &builder);
  void emitMma(mosaic_gpu::MMAOp op, OpBuilder &builder);
  void emitAsyncCopy(mosaic_gpu::AsyncCopyOp op, OpBuilder &builder);
  void emitSlice(mosaic_gpu::SliceSMEMOp op, OpBuilder &builder);
  void emitBarrierObject(Operation *op, OpBuilder &builder);

  /// The registers of a vector in a distribution that the plan found reachable.
  Registers getRegisters(Value value, const Distribution &wanted,
                         OpBuilder &builder);
  Registers getRegisters(Value value) const {
    return registers.find(value)->second;
  }
  /// Creates the op anew with vectors taken apart into registers.
  Operation *expand(Operation *op,
                    ArrayRef<const Distribution *> operandDistributions,
                    OpBuilder &builder);
  Value barrierAddress(Value memref, OpBuilder &builder, Location loc);
  /// Uniform in the wave.
  Value getFirstThreadOfWave();

  KernelPlan &plan;
  const VendorLowering &vendor;
  gpu::GPUFuncOp newFunc;
  /// Of everything that is not a block-level vector.
  IRMapping scalars;
  DenseMap<Value, Registers> registers;
  ThreadIndices indices;
  Value sharedMemory;
  Value firstThreadOfWave;
};

/// Emits the addresses and bounds of a thread's pieces of a window; equal parts
/// once.
class WindowEmitter {
public:
  WindowEmitter(const Window &window, Value memref, ValueRange windowIndices,
                ThreadIndices &indices, OpBuilder &builder, Location loc)
      : window(window), memref(memref), windowIndices(windowIndices),
        indices(indices), builder(builder), loc(loc),
        onlyRead(window.memref && isOnlyRead(window.memref)) {}

  /// The piece of `type` whose first element has these coordinates in the
  /// vector.
  Access getAccess(ArrayRef<Coordinate> coordinates, VectorType type,
                   int64_t alignment);
  /// The index along a dimension of the memref.
  Value getIndex(int64_t dim, ArrayRef<Coordinate> coordinates);
  Value getExtent(int64_t dim);

private:
  const Window &window;
  Value memref;
  ValueRange windowIndices;
  ThreadIndices &indices;
  OpBuilder &builder;
  Location loc;
  bool onlyRead;
  DenseMap<std::pair<Value, Value>, Value> sums;
  DenseMap<std::pair<Value, int64_t>, Value> offsets;
  DenseMap<std::pair<Value, int64_t>, Value> bounds;
  DenseMap<int64_t, Value> extents;
  DenseMap<std::pair<Value, Value>, Value> conjunctions;
};
} // namespace

static Type convertType(Type type) {
  // A barrier object is an opaque 64-bit word.
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !isa<mosaic_gpu::BarrierType>(memref.getElementType()))
    return type;
  return MemRefType::Builder(memref).setElementType(
      IntegerType::get(type.getContext(), 64));
}

static void removeLayouts(Operation *op) {
  for (StringRef name :
       {StringRef(mosaic_gpu::kInLayouts), StringRef(mosaic_gpu::kOutLayouts),
        StringRef(mosaic_gpu::kInTransforms),
        StringRef(mosaic_gpu::kOutTransforms)})
    op->removeDiscardableAttr(name);
}

//===----------------------------------------------------------------------===//
// WindowEmitter
//===----------------------------------------------------------------------===//

Value WindowEmitter::getExtent(int64_t dim) {
  Value &extent = extents[dim];
  if (extent)
    return extent;
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  extent = ShapedType::isDynamic(size)
               ? memref::DimOp::create(builder, loc, memref, dim).getResult()
               : indices.getConstant(size);
  return extent;
}

Value WindowEmitter::getIndex(int64_t dim, ArrayRef<Coordinate> coordinates) {
  Value sum = windowIndices.empty() ? Value() : windowIndices[dim];
  int64_t offset = 0;
  if (int64_t vectorDim = window.vectorDims[dim]; vectorDim >= 0) {
    const Coordinate &coordinate = coordinates[vectorDim];
    offset = coordinate.offset;
    if (!sum) {
      sum = coordinate.base;
    } else if (coordinate.base) {
      Value &cached = sums[{sum, coordinate.base}];
      if (!cached)
        cached = arith::AddIOp::create(builder, loc, sum, coordinate.base,
                                       arith::IntegerOverflowFlags::nsw);
      sum = cached;
    }
  }
  if (!sum)
    return indices.getConstant(offset);
  if (offset == 0)
    return sum;
  Value &cached = offsets[{sum, offset}];
  if (!cached)
    cached =
        arith::AddIOp::create(builder, loc, sum, indices.getConstant(offset),
                              arith::IntegerOverflowFlags::nsw);
  return cached;
}

Access WindowEmitter::getAccess(ArrayRef<Coordinate> coordinates,
                                VectorType type, int64_t alignment) {
  Access access;
  access.memref = memref;
  access.type = type;
  access.alignment = alignment;
  access.isOnlyRead = onlyRead;
  for (int64_t dim = 0, rank = window.vectorDims.size(); dim < rank; ++dim) {
    Value index = getIndex(dim, coordinates);
    access.indices.push_back(index);
    if (!window.isChecked[dim])
      continue;
    // Unsigned, so that indices below zero are outside too.
    Value &bound = bounds[{index, dim}];
    if (!bound)
      bound = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                    index, getExtent(dim));
    if (!access.inBounds) {
      access.inBounds = bound;
      continue;
    }
    Value &both = conjunctions[{access.inBounds, bound}];
    if (!both)
      both = arith::AndIOp::create(builder, loc, access.inBounds, bound);
    access.inBounds = both;
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

Emitter::Emitter(KernelPlan &plan, const VendorLowering &vendor,
                 gpu::GPUFuncOp newFunc, Block *body)
    : plan(plan), vendor(vendor), newFunc(newFunc),
      indices(body, plan.func.getLoc(), plan.grid) {
  scalars.map(plan.func.getBody().getArguments(), body->getArguments());
  if (plan.sharedMemoryBytes > 0)
    sharedMemory = vendor.emitSharedMemory(indices.getBuilder(), newFunc,
                                           plan.sharedMemoryBytes,
                                           plan.sharedMemoryAlignment);
}

void Emitter::emitBlock(Block &block, OpBuilder &builder) {
  for (Operation &op : block)
    emitOp(&op, builder);
}

Registers Emitter::getRegisters(Value value, const Distribution &wanted,
                                OpBuilder &builder) {
  const Distribution &distribution = plan.getDistribution(value);
  const Registers &held = registers.find(value)->second;
  if (distribution == wanted || !distribution.isSplat())
    return held;
  // One scalar in every element.
  Type elementType = cast<VectorType>(value.getType()).getElementType();
  Value splat = held.front();
  if (wanted.getVectorLength() > 1) {
    Value scalar = vector::ExtractOp::create(builder, value.getLoc(), splat,
                                             ArrayRef<int64_t>{0});
    splat = vector::BroadcastOp::create(
        builder, value.getLoc(), wanted.getRegisterType(elementType), scalar);
  }
  return Registers(wanted.getNumRegisters(), splat);
}

void Emitter::emitOp(Operation *op, OpBuilder &builder) {
  Location loc = op->getLoc();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](mosaic_gpu::SliceSMEMOp slice) { emitSlice(slice, builder); })
      .Case<mosaic_gpu::VectorLoadOp, vector::TransferReadOp>(
          [&](auto) { emitLoad(op, builder); })
      .Case<mosaic_gpu::VectorStoreOp, vector::TransferWriteOp>(
          [&](auto) { emitStore(op, builder); })
      .Case([&](mosaic_gpu::MMAOp mma) { emitMma(mma, builder); })
      .Case([&](mosaic_gpu::LayoutCastOp cast) {
        registers[cast.getResult()] = getRegisters(
            cast.getX(), plan.getDistribution(cast.getResult()), builder);
      })
      .Case([&](mosaic_gpu::AsyncCopyOp copy) { emitAsyncCopy(copy, builder); })
      .Case([&](mosaic_gpu::AsyncCommitGroupOp) {
        vendor.emitAsyncCommit(builder, loc);
      })
      .Case([&](mosaic_gpu::AsyncWaitGroupOp wait) {
        vendor.emitAsyncWait(builder, loc, wait.getPending(),
                             plan.asyncCopiesInFlight.find(op)->second);
      })
      .Case<mosaic_gpu::InitializeBarrierOp, mosaic_gpu::ArriveOp,
            mosaic_gpu::ArriveExpectTxOp, mosaic_gpu::WaitOp>(
          [&](auto) { emitBarrierObject(op, builder); })
      .Case([&](gpu::BarrierOp) {
        vendor.emitBarrier(builder, loc, plan.globalBarriers.contains(op),
                           !plan.asyncCopyWidths.empty());
      })
      .Case([&](vector::CreateMaskOp mask) { emitMask(mask, builder); })
      .Case<scf::ForOp, scf::IfOp, scf::WhileOp>(
          [&](auto) { emitControlFlow(op, builder); })
      .Case<scf::YieldOp, scf::ConditionOp>(
          [&](auto) { emitTerminator(op, builder); })
      .Default([&](Operation *) {
        auto isVector = [](Type type) { return isa<VectorType>(type); };
        if (llvm::any_of(op->getOperandTypes(), isVector) ||
            llvm::any_of(op->getResultTypes(), isVector))
          emitElementwise(op, builder);
        else
          emitScalar(op, builder);
      });
}

void Emitter::emitScalar(Operation *op, OpBuilder &builder) {
  Operation *clone = builder.cloneWithoutRegions(*op, scalars);
  removeLayouts(clone);
  for (OpResult result : clone->getResults())
    result.setType(convertType(result.getType()));
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), clone->getRegions())) {
    if (from.empty())
      continue;
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      scalars.map(argument, block->addArgument(convertType(argument.getType()),
                                               argument.getLoc()));
    OpBuilder nested = OpBuilder::atBlockEnd(block);
    emitBlock(from.front(), nested);
  }
  builder.setInsertionPointAfter(clone);
}

Operation *Emitter::expand(Operation *op,
                           ArrayRef<const Distribution *> operandDistributions,
                           OpBuilder &builder) {
  OperationState state(op->getLoc(), op->getName());
  for (auto [operand, distribution] :
       llvm::zip_equal(op->getOperands(), operandDistributions)) {
    if (distribution)
      llvm::append_range(state.operands,
                         getRegisters(operand, *distribution, builder));
    else
      state.operands.push_back(scalars.lookup(operand));
  }
  for (OpResult result : op->getResults()) {
    if (auto type = dyn_cast<VectorType>(result.getType())) {
      const Distribution &distribution = plan.getDistribution(result);
      state.types.append(distribution.getNumRegisters(),
                         distribution.getRegisterType(type.getElementType()));
    } else {
      state.types.push_back(convertType(result.getType()));
    }
  }
  state.addAttributes(op->getAttrs());
  for (unsigned region = 0; region < op->getNumRegions(); ++region)
    state.addRegion();
  Operation *created = builder.create(state);
  removeLayouts(created);
  return created;
}

void Emitter::emitControlFlow(Operation *op, OpBuilder &builder) {
  SmallVector<const Distribution *> wanted(op->getNumOperands(), nullptr);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (isa<VectorType>(argument.getType()))
        wanted[loop.getNumControlOperands() + index] =
            &plan.getDistribution(argument);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments()))
      if (isa<VectorType>(argument.getType()))
        wanted[index] = &plan.getDistribution(argument);
  }
  Operation *created = expand(op, wanted, builder);

  auto mapValues = [&](ValueRange from, ValueRange to) {
    for (Value value : from) {
      unsigned count = 1;
      if (isa<VectorType>(value.getType())) {
        count = plan.getDistribution(value).getNumRegisters();
        registers[value] = Registers(to.take_front(count));
      } else {
        scalars.map(value, to.front());
      }
      to = to.drop_front(count);
    }
  };
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), created->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder nested(builder.getContext());
    Block *block = nested.createBlock(&to);
    for (BlockArgument argument : from.getArguments()) {
      if (auto type = dyn_cast<VectorType>(argument.getType())) {
        const Distribution &distribution = plan.getDistribution(argument);
        for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
          block->addArgument(
              distribution.getRegisterType(type.getElementType()),
              argument.getLoc());
      } else {
        block->addArgument(convertType(argument.getType()), argument.getLoc());
      }
    }
    mapValues(from.getArguments(), block->getArguments());
    emitBlock(from.front(), nested);
  }
  mapValues(op->getResults(), created->getResults());
}

void Emitter::emitTerminator(Operation *op, OpBuilder &builder) {
  expand(op, getTerminatorDistributions(plan, op), builder);
}

void Emitter::emitElementwise(Operation *op, OpBuilder &builder) {
  Value result = op->getResult(0);
  const Distribution &distribution = plan.getDistribution(result);
  Location loc = op->getLoc();
  VectorType registerType = distribution.getRegisterType(
      cast<VectorType>(result.getType()).getElementType());

  // Equal registers are one value.
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    Value splat = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(registerType,
                               elements.getSplatValue<Attribute>()));
    registers[result] = Registers(distribution.getNumRegisters(), splat);
    return;
  }
  if (isa<ub::PoisonOp>(op)) {
    Value poison = ub::PoisonOp::create(builder, loc, registerType);
    registers[result] = Registers(distribution.getNumRegisters(), poison);
    return;
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Value source = broadcast.getSource(), scalar;
    if (isa<VectorType>(source.getType()))
      scalar = vector::ExtractOp::create(
          builder, loc, getRegisters(source).front(), ArrayRef<int64_t>{0});
    else
      scalar = scalars.lookup(source);
    Value splat =
        vector::BroadcastOp::create(builder, loc, registerType, scalar);
    registers[result] = Registers(distribution.getNumRegisters(), splat);
    return;
  }

  SmallVector<Registers> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<VectorType>(operand.getType())
                           ? getRegisters(operand, distribution, builder)
                           : Registers());
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    IRMapping mapping;
    for (auto [operand, held] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(operand, held.empty() ? scalars.lookup(operand) : held[reg]);
    Operation *clone = builder.clone(*op, mapping);
    removeLayouts(clone);
    for (OpResult cloned : clone->getResults()) {
      Type elementType = cast<VectorType>(cloned.getType()).getElementType();
      cloned.setType(distribution.getRegisterType(elementType));
      registers[op->getResult(cloned.getResultNumber())].push_back(cloned);
    }
  }
}

void Emitter::emitMask(vector::CreateMaskOp op, OpBuilder &builder) {
  const Distribution &distribution = plan.getDistribution(op.getResult());
  Location loc = op.getLoc();
  int64_t length = distribution.getVectorLength();
  VectorType maskType = distribution.getRegisterType(builder.getI1Type());
  VectorType indexType = distribution.getRegisterType(builder.getIndexType());
  Window window;
  window.vectorDims =
      llvm::to_vector(llvm::seq<int64_t>(0, distribution.getShape().size()));
  WindowEmitter emitter(window, Value(), ValueRange(), indices, builder, loc);
  SmallVector<int64_t> steps;
  for (int64_t element = 0; element < length; ++element)
    steps.push_back(element * distribution.getVectorStride());

  Registers &masks = registers[op.getResult()];
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    SmallVector<Coordinate> coordinates =
        indices.getCoordinates(distribution, reg);
    Value mask, rest;
    for (auto [dim, operand] : llvm::enumerate(op.getOperands())) {
      Value index = emitter.getIndex(dim, coordinates),
            bound = scalars.lookup(operand);
      bool isVectorDim =
          static_cast<int64_t>(dim) == distribution.getVectorDim();
      if (isVectorDim && length > 1) {
        Value elements = arith::AddIOp::create(
            builder, loc,
            vector::BroadcastOp::create(builder, loc, indexType, index),
            arith::ConstantOp::create(
                builder, loc,
                DenseElementsAttr::get(indexType, ArrayRef<int64_t>(steps))));
        mask = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, elements,
            vector::BroadcastOp::create(builder, loc, indexType, bound));
        continue;
      }
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, index, bound);
      rest = rest
                 ? arith::AndIOp::create(builder, loc, rest, inside).getResult()
                 : inside;
    }
    if (rest) {
      Value all = vector::BroadcastOp::create(builder, loc, maskType, rest);
      mask = mask ? arith::AndIOp::create(builder, loc, mask, all).getResult()
                  : all;
    }
    masks.push_back(mask);
  }
}

/// The coordinates of element `element` of the register that starts at
/// `coordinates`.
static SmallVector<Coordinate> advance(ArrayRef<Coordinate> coordinates,
                                       const Distribution &distribution,
                                       int64_t element) {
  SmallVector<Coordinate> result(coordinates);
  result[distribution.getVectorDim()].offset +=
      element * distribution.getVectorStride();
  return result;
}

static SmallVector<Value> lookupAll(IRMapping &mapping, ValueRange values) {
  SmallVector<Value> mapped;
  for (Value value : values)
    mapped.push_back(mapping.lookup<Value>(value));
  return mapped;
}

void Emitter::emitLoad(Operation *op, OpBuilder &builder) {
  Value result = op->getResult(0);
  const Distribution &distribution = plan.getDistribution(result);
  Location loc = op->getLoc();
  std::string why;
  Window window = *getWindow(op, why);
  Value memref = scalars.lookup(window.memref);
  unsigned alignment = log2Alignment(window.memref);
  if (isa<mosaic_gpu::VectorLoadOp>(op)) {
    registers[result] = vendor.emitFragmentLoad(builder, loc, memref, alignment,
                                                distribution, indices);
    if (!registers[result].empty())
      return;
  }

  Value pad;
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    pad = scalars.lookup(read.getPadding());
  SmallVector<Value> windowIndices = lookupAll(scalars, window.indices);
  WindowEmitter emitter(window, memref, windowIndices, indices, builder, loc);
  Type elementType = cast<VectorType>(result.getType()).getElementType();
  int64_t length = distribution.getVectorLength();
  int64_t bytes = std::max<int64_t>(
      elementType.isIndex() ? 8 : elementType.getIntOrFloatBitWidth() / 8, 1);

  Registers loaded;
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    SmallVector<Coordinate> coordinates =
        indices.getCoordinates(distribution, reg);
    int64_t width =
        getAccessWidth(window, distribution, coordinates, alignment);
    SmallVector<Value> pieces;
    for (int64_t element = 0; element < length; element += width) {
      Access access = emitter.getAccess(
          advance(coordinates, distribution, element),
          VectorType::get({width}, elementType), width * bytes);
      pieces.push_back(vendor.emitLoad(builder, loc, access, pad));
    }
    loaded.push_back(concatenate(builder, loc, pieces));
  }
  registers[result] = std::move(loaded);
}

void Emitter::emitStore(Operation *op, OpBuilder &builder) {
  Value stored = op->getOperand(0);
  auto chosen = plan.storeDistributions.find(op);
  const Distribution &distribution = chosen == plan.storeDistributions.end()
                                         ? plan.getDistribution(stored)
                                         : chosen->second;
  Location loc = op->getLoc();
  std::string why;
  Window window = *getWindow(op, why);
  Value memref = scalars.lookup(window.memref);
  unsigned alignment = log2Alignment(window.memref);
  SmallVector<Value> windowIndices = lookupAll(scalars, window.indices);
  Type elementType = cast<VectorType>(stored.getType()).getElementType();
  int64_t length = distribution.getVectorLength();
  int64_t bytes = std::max<int64_t>(
      elementType.isIndex() ? 8 : elementType.getIntOrFloatBitWidth() / 8, 1);
  Registers held = getRegisters(stored, distribution, builder);

  auto emit = [&](OpBuilder &nested) {
    WindowEmitter emitter(window, memref, windowIndices, indices, nested, loc);
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
      SmallVector<Coordinate> coordinates =
          indices.getCoordinates(distribution, reg);
      int64_t width =
          getAccessWidth(window, distribution, coordinates, alignment);
      for (int64_t element = 0; element < length; element += width) {
        Access access = emitter.getAccess(
            advance(coordinates, distribution, element),
            VectorType::get({width}, elementType), width * bytes);
        vendor.emitStore(nested, loc,
                         takeElements(nested, loc, held[reg], element, width),
                         access);
      }
    }
  };
  // Elements that several threads hold are written by the first of them.
  Value isFirst = indices.isFirstReplica(distribution);
  if (!isFirst)
    return emit(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    emit(nested);
    scf::YieldOp::create(nested, loc);
  });
}

/// One rounding on every chip, and no call of a device library.
static Value fusedMultiplyAdd(OpBuilder &builder, Location loc, Value a,
                              Value b, Value accumulator) {
  Type wide = cast<VectorType>(accumulator.getType()).getElementType();
  auto extend = [&](Value value) -> Value {
    auto type = cast<VectorType>(value.getType());
    if (type.getElementType() == wide)
      return value;
    return arith::ExtFOp::create(builder, loc, type.clone(wide), value);
  };
  return LLVM::FMAOp::create(builder, loc, extend(a), extend(b), accumulator);
}

void Emitter::emitMma(mosaic_gpu::MMAOp op, OpBuilder &builder) {
  const BlockMma &mma = plan.mmas.find(op)->second;
  const targets::MmaInstruction &instruction = *mma.instruction;
  Location loc = op.getLoc();
  Registers a = getRegisters(op.getA()), b = getRegisters(op.getB()),
            result =
                getRegisters(op.getAccumulator(),
                             plan.getDistribution(op.getResult()), builder);
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
        SmallVector<Value> products;
        if (instruction.kind == targets::MmaKind::Fma)
          products.push_back(fusedMultiplyAdd(builder, loc, operandA.front(),
                                              operandB.front(),
                                              accumulator.front()));
        else
          products = vendor.emitMma(builder, loc, instruction, operandA,
                                    operandB, accumulator);
        for (auto [reg, product] :
             llvm::zip_equal(instruction.cOrder, products))
          result[tile * instruction.cOrder.size() + reg] = product;
      }
  registers[op.getResult()] = std::move(result);
}

//===----------------------------------------------------------------------===//
// Shared memory, asynchronous copies, barriers
//===----------------------------------------------------------------------===//

void Emitter::emitSlice(mosaic_gpu::SliceSMEMOp op, OpBuilder &builder) {
  // At the head, where one view serves every use of the slice.
  OpBuilder &head = indices.getBuilder();
  Value offset = indices.getConstant(op.getOffset());
  auto type = cast<MemRefType>(convertType(op.getType()));
  scalars.map(op.getResult(),
              memref::ViewOp::create(head, op.getLoc(), type, sharedMemory,
                                     offset, ValueRange())
                  .getResult());
}

Value Emitter::getFirstThreadOfWave() {
  if (firstThreadOfWave)
    return firstThreadOfWave;
  // A single warp has no number.
  Value warp = indices.getWarp();
  firstThreadOfWave =
      warp ? indices.mul(vendor.emitUniform(indices.getBuilder(),
                                            indices.getLoc(), warp),
                         plan.grid.waveSize)
           : indices.getConstant(0);
  return firstThreadOfWave;
}

void Emitter::emitAsyncCopy(mosaic_gpu::AsyncCopyOp op, OpBuilder &builder) {
  Location loc = op.getLoc();
  int64_t width = plan.asyncCopyWidths.find(op)->second;
  Value source = scalars.lookup(op.getSource()),
        destination = scalars.lookup(op.getDestination());
  ArrayRef<int64_t> shape = cast<MemRefType>(destination.getType()).getShape();
  int64_t rank = shape.size();
  int64_t chunks =
      cast<MemRefType>(destination.getType()).getNumElements() / width;
  SmallVector<Value> windowIndices = lookupAll(scalars, op.getIndices());

  targets::AsyncCopyKind kind = vendor.getTarget().asyncCopy;
  Window window;
  window.vectorDims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Window destinationWindow = window;
  destinationWindow.isChecked.assign(rank, false);
  window.isChecked.assign(rank, true);
  window.isChecked.back() = kind != targets::AsyncCopyKind::CpAsync;

  // Rounds in which every thread has a chunk, and a last one in which some
  // have.
  const ThreadGrid &grid = plan.grid;
  int64_t rounds = (chunks + grid.numThreads - 1) / grid.numThreads;
  for (int64_t round = 0; round < rounds; ++round) {
    auto emit = [&](OpBuilder &nested) {
      SmallVector<Coordinate> coordinates =
          indices.getChunkCoordinates(shape, width, round, indices.getThread());
      WindowEmitter from(window, source, windowIndices, indices, nested, loc);
      WindowEmitter to(destinationWindow, destination, ValueRange(), indices,
                       nested, loc);
      VectorType type = VectorType::get(
          {width}, cast<MemRefType>(source.getType()).getElementType());
      AsyncPiece piece{from.getAccess(coordinates, type, 1),
                       from.getExtent(rank - 1),
                       destination,
                       {},
                       {}};
      for (int64_t dim = 0; dim < rank; ++dim)
        piece.indices.push_back(to.getIndex(dim, coordinates));
      if (kind == targets::AsyncCopyKind::LDSLoad) {
        SmallVector<Coordinate> first = indices.getChunkCoordinates(
            shape, width, round, getFirstThreadOfWave());
        for (int64_t dim = 0; dim < rank; ++dim)
          piece.waveIndices.push_back(to.getIndex(dim, first));
      }
      vendor.emitAsyncCopy(nested, loc, piece);
    };
    int64_t left = chunks - round * grid.numThreads;
    if (left >= grid.numThreads) {
      emit(builder);
      continue;
    }
    Value hasChunk =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                              indices.getThread(), indices.getConstant(left));
    scf::IfOp::create(builder, loc, hasChunk, [&](OpBuilder &nested, Location) {
      emit(nested);
      scf::YieldOp::create(nested, loc);
    });
  }
}

Value Emitter::barrierAddress(Value memref, OpBuilder &builder, Location loc) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value offset = arith::MulIOp::create(builder, loc, metadata.getOffset(),
                                       indices.getConstant(8));
  Value address = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      arith::AddIOp::create(builder, loc, base, offset));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3),
      address);
}

void Emitter::emitBarrierObject(Operation *op, OpBuilder &builder) {
  Location loc = op->getLoc();
  if (auto initialize = dyn_cast<mosaic_gpu::InitializeBarrierOp>(op)) {
    // Every thread of the 128 that arrive together counts, and one thread
    // initialises.
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              indices.getThread(), indices.getConstant(0));
    Value base = scalars.lookup(initialize.getBasePointer());
    scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
      for (int64_t barrier = 0;
           barrier < static_cast<int64_t>(initialize.getNumBarriers());
           ++barrier) {
        Value address = LLVM::GEPOp::create(
            nested, loc, base.getType(), nested.getI64Type(), base,
            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(barrier)});
        vendor.emitBarrierInit(nested, loc, address,
                               initialize.getArrivalCount() *
                                   plan.grid.numThreads);
      }
      scf::YieldOp::create(nested, loc);
    });
    return;
  }
  Value address =
      barrierAddress(scalars.lookup(op->getOperand(0)), builder, loc);
  if (isa<mosaic_gpu::ArriveOp>(op)) {
    vendor.emitBarrierArrive(builder, loc, address);
  } else if (auto arrive = dyn_cast<mosaic_gpu::ArriveExpectTxOp>(op)) {
    // Every thread arrives; the first announces the bytes of all.
    Value bytes;
    if (Value dynamic = arrive.getDynamicExpectTx())
      bytes = scalars.lookup<Value>(dynamic);
    else
      bytes = arith::ConstantOp::create(
          builder, loc,
          builder.getI32IntegerAttr(arrive.getExpectTx().value_or(0)));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              indices.getThread(), indices.getConstant(0));
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    bytes = arith::SelectOp::create(builder, loc, isFirst, bytes, none);
    vendor.emitBarrierArriveExpectTx(builder, loc, address, bytes);
  } else {
    vendor.emitBarrierWait(
        builder, loc, address,
        scalars.lookup<Value>(cast<mosaic_gpu::WaitOp>(op).getParity()));
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static void emitKernel(KernelPlan &plan, const VendorLowering &vendor) {
  gpu::GPUFuncOp func = plan.func;
  OpBuilder builder(func);
  auto newFunc = cast<gpu::GPUFuncOp>(builder.cloneWithoutRegions(*func));
  Block *body = builder.createBlock(&newFunc.getBody());
  for (BlockArgument argument : func.getBody().getArguments())
    body->addArgument(argument.getType(), argument.getLoc());

  Emitter emitter(plan, vendor, newFunc, body);
  OpBuilder bodyBuilder = OpBuilder::atBlockEnd(body);
  emitter.emitBlock(func.getBody().front(), bodyBuilder);
  emitter.finish();

  // The vector accesses rely on it, and the launcher checks it.
  StringRef align = LLVM::LLVMDialect::getAlignAttrName();
  for (auto [index, type] : llvm::enumerate(newFunc.getArgumentTypes()))
    if (isa<MemRefType>(type) && !newFunc.getArgAttr(index, align))
      newFunc.setArgAttr(index, align,
                         builder.getI64IntegerAttr(kArgumentAlignment));
  if (plan.sharedMemoryBytes > 0)
    newFunc->setAttr(mosaic_gpu::kSharedMemoryBytes,
                     builder.getI64IntegerAttr(plan.sharedMemoryBytes));
  if (Attribute alignment =
          plan.func->getAttr(mosaic_gpu::kSharedMemoryAlignment))
    newFunc->setAttr(mosaic_gpu::kSharedMemoryAlignment, alignment);
  func.erase();
}

/// Gives the buffers of a kernel of threads their places in shared memory.
static void emitSharedBuffers(KernelPlan &plan, const VendorLowering &vendor) {
  gpu::GPUFuncOp func = plan.func;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  Value memory = vendor.emitSharedMemory(builder, func, plan.sharedMemoryBytes,
                                         plan.sharedMemoryAlignment);
  func.walk([&](mosaic_gpu::SliceSMEMOp slice) {
    builder.setInsertionPoint(slice);
    Location loc = slice.getLoc();
    Value offset =
        arith::ConstantIndexOp::create(builder, loc, slice.getOffset());
    auto type = cast<MemRefType>(slice.getType());
    Attribute space = cast<MemRefType>(memory.getType()).getMemorySpace();
    MemRefType viewed = MemRefType::Builder(type).setMemorySpace(space);
    Value view = memref::ViewOp::create(builder, loc, viewed, memory, offset,
                                        ValueRange());
    // Two names of one space.
    if (space != type.getMemorySpace())
      view = memref::MemorySpaceCastOp::create(builder, loc, type, view);
    slice.getResult().replaceAllUsesWith(view);
    slice.erase();
  });
  func->setAttr(mosaic_gpu::kSharedMemoryBytes,
                builder.getI64IntegerAttr(plan.sharedMemoryBytes));
}

LogicalResult block_to_thread::convertKernels(Operation *root,
                                              const VendorLowering &vendor) {
  SmallVector<KernelPlan> plans;
  bool failed = false;
  root->walk([&](gpu::GPUFuncOp func) {
    Level level = getLevel(func);
    if (level == Level::Lowered)
      return;
    if (std::optional<KernelPlan> plan = planKernel(func, level, vendor))
      plans.push_back(std::move(*plan));
    else
      failed = true;
  });
  if (failed)
    return failure();
  for (KernelPlan &plan : plans) {
    if (plan.level == Level::Thread)
      emitSharedBuffers(plan, vendor);
    else
      emitKernel(plan, vendor);
  }
  return success();
}
