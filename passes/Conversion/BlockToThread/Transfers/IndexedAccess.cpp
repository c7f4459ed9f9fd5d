//===- IndexedAccess.cpp - Accesses of memory at index vectors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Transfers/IndexedAccess.h"

#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PackedTransfers.h"
#include "smalti/passes/Support/DynamicArguments.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
class Gathers : public LoweringOf<vector::GatherOp> {
public:
  LogicalResult plan(vector::GatherOp op, Planner &planner) const override {
    return planIndexed(op, op.getBase(), op.getIndices(), planner,
                       /*mayShareBytes=*/true);
  }
  void emit(vector::GatherOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};

class Scatters : public LoweringOf<vector::ScatterOp> {
public:
  LogicalResult plan(vector::ScatterOp op, Planner &planner) const override;
  void emit(vector::ScatterOp op, Emitter &emitter,
            OpBuilder &builder) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

LogicalResult block_to_thread::planIndexed(Operation *op, Value memref,
                                           Value indices, Planner &planner,
                                           bool mayShareBytes) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || !type.isStrided())
    return op->emitOpError()
           << "cannot be lowered to thread level: the op accesses "
           << memref.getType() << "; a strided memref is required";
  Type element = type.getElementType();
  if (elementBytes(element) == 0 && !(mayShareBytes && isPackedGlobal(memref)))
    return op->emitOpError()
           << "cannot be lowered to thread level: the elements of the memref "
              "are smaller than a byte, which this access does not support; "
              "use elements of at least 8 bits";
  // A gather permits any element type of the vector.
  for (Value value : op->getOperands()) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector || value == indices || vector.getElementType() == element ||
        vector.getElementType().isInteger(1))
      continue;
    return op->emitOpError()
           << "cannot be lowered to thread level: the memref has elements of "
              "type "
           << element << " and the vector has elements of type "
           << vector.getElementType() << "; the same type is required";
  }
  Type index = cast<VectorType>(indices.getType()).getElementType();
  if (!index.isIndex() && !index.isSignlessInteger(32) &&
      !index.isSignlessInteger(64))
    return op->emitOpError() << "has a vector of indices of type " << index
                             << "; use i32, i64 or index";
  return getElementwiseLowering().plan(op, planner);
}

const Distribution &block_to_thread::findIndexedDistribution(
    Operation *op, llvm::function_ref<const Distribution *(Value)> find) {
  const Distribution *found = nullptr;
  for (ValueRange values :
       {ValueRange(op->getResults()), ValueRange(op->getOperands())})
    for (Value value : values)
      if (isVector(value) && (!found || found->isSplat()))
        found = find(value);
  return *found;
}

Value block_to_thread::getElement(OpBuilder &builder, Location loc, Value reg,
                                  int64_t element) {
  return vector::ExtractOp::create(builder, loc, reg,
                                   ArrayRef<int64_t>{element});
}

Value block_to_thread::getIndexElement(OpBuilder &builder, Location loc,
                                       Value reg, int64_t element) {
  Value index = getElement(builder, loc, reg, element);
  if (index.getType().isIndex())
    return index;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    index);
}

bool block_to_thread::isOrderedWrite(Value memref, const KernelPlan &plan) {
  return plan.getSharedRef(memref) &&
         plan.func->hasAttr(mosaic_gpu::kAutoBarriers);
}

LogicalResult block_to_thread::checkOrderedWrite(Operation *op, Value memref,
                                                 Planner &planner) {
  if (!isOrderedWrite(memref, planner.getPlan()))
    return success();
  if (std::optional<std::string> why =
          planner.getVendor().refuseThreadGroupBarrier(planner.getGrid()))
    return op->emitOpError() << "requires a barrier per thread group: " << *why;
  return success();
}

/// The access of one element: `offsets` with an index added to the last one.
static Access getElementAccess(OpBuilder &builder, Location loc, Value memref,
                               ValueRange offsets, Value index, Value mask,
                               bool hasSmallOffsets) {
  auto type = cast<MemRefType>(memref.getType());
  Access access;
  access.memref = memref;
  access.indices = llvm::to_vector(offsets);
  access.indices.back() =
      arith::AddIOp::create(builder, loc, access.indices.back(), index);
  access.type = VectorType::get({1}, type.getElementType());
  access.inBounds = mask;
  access.hasSmallOffsets = hasSmallOffsets;
  access.alignment = elementBytes(type.getElementType());
  return access;
}

static Value loadPacked(OpBuilder &builder, Location loc, const Access &access,
                        Value padding) {
  auto branch = scf::IfOp::create(
      builder, loc, access.inBounds,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(
            nested, loc,
            loadPackedElement(nested, loc, access.memref, access.indices));
      },
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(
            nested, loc,
            vector::BroadcastOp::create(nested, loc, access.type, padding)
                .getResult());
      });
  return branch.getResult(0);
}

static void storePacked(OpBuilder &builder, Location loc, const Access &access,
                        Value stored, targets::Vendor vendor) {
  scf::IfOp::create(builder, loc, access.inBounds,
                    [&](OpBuilder &nested, Location) {
                      storePackedElement(nested, loc, access.memref,
                                         access.indices, stored, vendor);
                      scf::YieldOp::create(nested, loc);
                    });
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

void Gathers::emit(vector::GatherOp op, Emitter &emitter,
                   OpBuilder &builder) const {
  Location loc = op.getLoc();
  const Distribution &distribution =
      emitter.plan.getDistribution(op.getResult());
  auto get = [&](Value vector) {
    return emitter.getRegisters(vector, distribution, builder);
  };
  Registers indices = get(op.getIndices()), masks = get(op.getMask()),
            padding = get(op.getPassThru());
  Value memref = emitter.lookup(op.getBase());
  SmallVector<Value> offsets = emitter.lookup(op.getOffsets());
  bool isSmall = hasSmallOffsets(op.getBase());
  Registers loaded;
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    SmallVector<Value> elements;
    for (int64_t element = 0; element < distribution.getVectorLength();
         ++element) {
      Access access = getElementAccess(
          builder, loc, memref, offsets,
          getIndexElement(builder, loc, indices[reg], element),
          getElement(builder, loc, masks[reg], element), isSmall);
      Value otherwise = getElement(builder, loc, padding[reg], element);
      elements.push_back(
          isPackedGlobal(op.getBase())
              ? loadPacked(builder, loc, access, otherwise)
              : emitter.vendor.emitLoad(builder, loc, access, otherwise));
    }
    loaded.push_back(concatenate(builder, loc, elements));
  }
  emitter.setRegisters(op.getResult(), std::move(loaded));
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

LogicalResult Scatters::plan(vector::ScatterOp op, Planner &planner) const {
  return success(
      succeeded(planIndexed(op, op.getBase(), op.getIndices(), planner,
                            /*mayShareBytes=*/true)) &&
      succeeded(checkOrderedWrite(op, op.getBase(), planner)));
}

void Scatters::emit(vector::ScatterOp op, Emitter &emitter,
                    OpBuilder &builder) const {
  Location loc = op.getLoc();
  const Distribution &distribution = findIndexedDistribution(
      op, [&](Value value) { return &emitter.plan.getDistribution(value); });
  auto get = [&](Value vector) {
    return emitter.getRegisters(vector, distribution, builder);
  };
  Registers indices = get(op.getIndices()), masks = get(op.getMask()),
            stored = get(op.getValueToStore());
  Value memref = emitter.lookup(op.getBase());
  SmallVector<Value> offsets = emitter.lookup(op.getOffsets());
  bool isSmall = hasSmallOffsets(op.getBase());
  bool isOrdered = isOrderedWrite(op.getBase(), emitter.plan);
  if (isOrdered)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
  emitter.emitOnce(distribution, builder, loc, [&](OpBuilder &nested) {
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
      for (int64_t element = 0; element < distribution.getVectorLength();
           ++element) {
        Access access = getElementAccess(
            nested, loc, memref, offsets,
            getIndexElement(nested, loc, indices[reg], element),
            getElement(nested, loc, masks[reg], element), isSmall);
        Value value = takeElements(nested, loc, stored[reg], element, 1);
        if (isPackedGlobal(op.getBase()))
          storePacked(nested, loc, access, value,
                      emitter.vendor.getTarget().vendor);
        else
          emitter.vendor.emitStore(nested, loc, value, access);
      }
  });
  if (isOrdered)
    emitter.vendor.emitThreadGroupBarrier(builder, loc, emitter.indices);
}

void block_to_thread::registerIndexedAccesses(OpLowerings &lowerings) {
  lowerings.add<Gathers, vector::GatherOp>();
  lowerings.add<Scatters, vector::ScatterOp>();
}
