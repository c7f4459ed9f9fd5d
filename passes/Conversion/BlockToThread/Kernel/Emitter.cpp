//===- Emitter.cpp - Emission of the thread-level kernel ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

Type block_to_thread::convertType(Type type) {
  // An mbarrier is an opaque 64-bit word.
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !isa<mosaic_gpu::BarrierType>(memref.getElementType()))
    return type;
  return MemRefType::Builder(memref).setElementType(
      IntegerType::get(type.getContext(), 64));
}

void block_to_thread::removeLayouts(Operation *op) {
  for (StringRef name :
       {StringRef(mosaic_gpu::kInLayouts), StringRef(mosaic_gpu::kOutLayouts),
        StringRef(mosaic_gpu::kInTransforms),
        StringRef(mosaic_gpu::kOutTransforms)})
    op->removeDiscardableAttr(name);
}

Emitter::Emitter(KernelPlan &plan, const VendorLowering &vendor,
                 const OpLowerings &lowerings, gpu::GPUFuncOp newFunc,
                 Block *body)
    : plan(plan), vendor(vendor), indices(body, plan.func.getLoc(), plan.grid),
      lowerings(lowerings) {
  scalars.map(plan.func.getBody().getArguments(), body->getArguments());
  if (plan.sharedMemoryBytes > 0)
    sharedMemory = vendor.emitSharedMemory(indices.getBuilder(), newFunc,
                                           plan.sharedMemoryBytes,
                                           plan.sharedMemoryAlignment);
}

SmallVector<Value> Emitter::lookup(ValueRange values) const {
  SmallVector<Value> mapped;
  for (Value value : values)
    mapped.push_back(lookup(value));
  return mapped;
}

Value Emitter::getFirstThreadOfWave() {
  if (firstThreadOfWave)
    return firstThreadOfWave;
  // A single warp does not have a warp index.
  Value warp = indices.getWarp();
  firstThreadOfWave =
      warp ? indices.mul(vendor.emitUniform(indices.getBuilder(),
                                            indices.getLoc(), warp),
                         plan.grid.waveSize)
           : indices.getConstant(0);
  return firstThreadOfWave;
}

Value Emitter::getI32(int64_t value) {
  Value &word = words[value];
  if (!word)
    word = arith::ConstantOp::create(
        indices.getBuilder(), indices.getLoc(),
        indices.getBuilder().getI32IntegerAttr(static_cast<int32_t>(value)));
  return word;
}

Value Emitter::getSharedBase() {
  if (sharedBase)
    return sharedBase;
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(head, loc, sharedMemory);
  Value word =
      arith::IndexCastOp::create(head, loc, head.getI64Type(), address);
  sharedBase = LLVM::IntToPtrOp::create(
      head, loc, LLVM::LLVMPointerType::get(head.getContext(), 3), word);
  return sharedBase;
}

Value Emitter::getSharedPointer(Value memref, OpBuilder &builder) {
  if (Value pointer = sharedPointers.lookup(memref))
    return pointer;
  Value base = getSharedBase();
  return LLVM::GEPOp::create(builder, memref.getLoc(), base.getType(),
                             builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{getSharedOffset(memref)});
}

void Emitter::mapShared(Value memref, Value offset, OpBuilder &builder) {
  setSharedOffset(memref, offset);
  const SharedRef &ref = *plan.getSharedRef(memref);
  if (ref.isTransformed())
    return;
  Location loc = memref.getLoc();
  auto type = cast<MemRefType>(convertType(memref.getType()));
  // First the bytes that it spans, then its shape.
  int64_t span = 1;
  for (auto [size, stride] :
       llvm::zip_equal(ref.layout.shape, ref.layout.strides))
    span += (size - 1) * stride;
  auto flat =
      MemRefType::get({span}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  Value shift =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), offset);
  Value view = memref::ViewOp::create(builder, loc, flat, sharedMemory, shift,
                                      ValueRange());
  auto strided = MemRefType::get(
      ref.layout.shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, ref.layout.strides),
      type.getMemorySpace());
  view = memref::ReinterpretCastOp::create(builder, loc, strided, view,
                                           /*offset=*/0, ref.layout.shape,
                                           ref.layout.strides);
  if (strided != type)
    view = memref::CastOp::create(builder, loc, type, view);
  scalars.map(memref, view);
}

Value Emitter::getLeader(Operation *op) {
  if (!elected)
    elected = vendor.emitElected(indices);
  // A single warp does not have a warp index.
  Value warp = indices.getWarp();
  if (!warp || op->getParentOfType<mosaic_gpu::WarpMapOp>())
    return elected;
  if (!leader) {
    OpBuilder &head = indices.getBuilder();
    Location loc = indices.getLoc();
    Value isFirst = arith::CmpIOp::create(head, loc, arith::CmpIPredicate::eq,
                                          warp, indices.getConstant(0));
    leader = arith::AndIOp::create(head, loc, isFirst, elected);
  }
  return leader;
}

void Emitter::emitOnce(const Distribution &distribution, OpBuilder &builder,
                       Location loc,
                       llvm::function_ref<void(OpBuilder &)> emit) {
  Value isFirst =
      distribution.isSplat()
          ? arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  indices.getThread(), indices.getConstant(0))
                .getResult()
          : indices.isFirstReplica(distribution);
  if (!isFirst)
    return emit(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    emit(nested);
    scf::YieldOp::create(nested, loc);
  });
}

Value Emitter::getTensorMap(int64_t number) {
  gpu::GPUFuncOp func = plan.func;
  Block *body = indices.getBuilder().getBlock();
  return body->getArgument(func.getNumArguments() + number);
}

void Emitter::emitBlock(Block &block, OpBuilder &builder) {
  size_t depth = outerRegisters.size();
  for (Operation &op : block) {
    emitOp(&op, builder);
    makeOpaqueAfter(&op, builder);
  }
  // Values computed in an inner block are not available after it.
  while (outerRegisters.size() > depth) {
    auto [value, held] = outerRegisters.pop_back_val();
    registers[value] = std::move(held);
  }
}

void Emitter::makeOpaqueAfter(Operation *op, OpBuilder &builder) {
  auto it = plan.opaqueAfter.find(op);
  if (it == plan.opaqueAfter.end())
    return;
  for (Value value : it->second) {
    Registers &held = registers[value];
    if (value.getParentBlock() != op->getBlock())
      outerRegisters.push_back({value, held});
    held = vendor.emitOpaque(builder, op->getLoc(), held);
  }
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

void Emitter::mapSame(Value from, Value to) {
  if (auto held = registers.find(from); held != registers.end())
    setRegisters(to, Registers(held->second));
  if (Value offset = sharedOffsets.lookup(from))
    sharedOffsets[to] = offset;
  if (Value pointer = sharedPointers.lookup(from))
    sharedPointers[to] = pointer;
  if (Value mapped = scalars.lookupOrNull<Value>(from))
    scalars.map(to, mapped);
}

void Emitter::emitOp(Operation *op, OpBuilder &builder) {
  if (plan.threadOps.contains(op))
    return emitScalar(op, builder);
  if (const OpLowering *lowering = lowerings.find(op))
    return lowering->emit(op, *this, builder);
  auto hasVectorType = [](Type type) { return isa<VectorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), hasVectorType) ||
      llvm::any_of(op->getResultTypes(), hasVectorType))
    return getElementwiseLowering().emit(op, *this, builder);
  emitScalar(op, builder);
}

void Emitter::emitScalar(Operation *op, OpBuilder &builder) {
  // Allocas after a branch, such as the one of the thread that initializes
  // mbarriers, would stay in memory; LLVM promotes only allocas of the entry
  // block to registers.
  bool isOfEntry = isa<memref::AllocaOp>(op) && op->getNumOperands() == 0 &&
                   isa<gpu::GPUFuncOp>(op->getParentOp()) &&
                   op->getBlock()->isEntryBlock();
  OpBuilder &cloneBuilder = isOfEntry ? indices.getBuilder() : builder;
  Operation *clone = cloneBuilder.cloneWithoutRegions(*op, scalars);
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
  if (!isOfEntry)
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
    else if (plan.getSharedRef(operand))
      state.operands.push_back(getSharedOffset(operand));
    else
      state.operands.push_back(scalars.lookup(operand));
  }
  for (OpResult result : op->getResults()) {
    if (plan.isBlockVector(result)) {
      auto type = cast<VectorType>(result.getType());
      const Distribution &distribution = plan.getDistribution(result);
      state.types.append(distribution.getNumRegisters(),
                         distribution.getRegisterType(type.getElementType()));
    } else if (plan.getSharedRef(result)) {
      state.types.push_back(builder.getI32Type());
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

void Emitter::mapExpanded(ValueRange from, ValueRange to, OpBuilder &builder) {
  for (Value value : from) {
    unsigned count = 1;
    if (plan.isBlockVector(value)) {
      count = plan.getDistribution(value).getNumRegisters();
      registers[value] = Registers(to.take_front(count));
    } else if (plan.getSharedRef(value)) {
      mapShared(value, to.front(), builder);
    } else {
      scalars.map(value, to.front());
    }
    to = to.drop_front(count);
  }
}

void Emitter::emitRegions(Operation *op, Operation *created) {
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), created->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder nested(created->getContext());
    Block *block = nested.createBlock(&to);
    for (BlockArgument argument : from.getArguments()) {
      if (plan.isBlockVector(argument)) {
        auto type = cast<VectorType>(argument.getType());
        const Distribution &distribution = plan.getDistribution(argument);
        for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
          block->addArgument(
              distribution.getRegisterType(type.getElementType()),
              argument.getLoc());
      } else if (plan.getSharedRef(argument)) {
        block->addArgument(nested.getI32Type(), argument.getLoc());
      } else {
        block->addArgument(convertType(argument.getType()), argument.getLoc());
      }
    }
    mapExpanded(from.getArguments(), block->getArguments(), nested);
    emitBlock(from.front(), nested);
  }
}
