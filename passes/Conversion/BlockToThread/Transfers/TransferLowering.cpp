//===- TransferLowering.cpp - Vector transfers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Emitter.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/OpLowerings.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PackedTransfers.h"
#include "smalti/passes/Conversion/BlockToThread/Transfers/PlannedTransfers.h"
#include "smalti/passes/Support/CacheHints.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
/// The plan of a stored scalar splat, whose distribution must be chosen.
struct StorePlan : OpPlan {
  explicit StorePlan(Distribution distribution)
      : distribution(std::move(distribution)) {}
  Distribution distribution;
};

class Transfers : public OpLowering {
public:
  LogicalResult plan(Operation *op, Planner &planner) const override;
};

class Loads : public Transfers {
public:
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};

class Stores : public Transfers {
public:
  void emit(Operation *op, Emitter &emitter, OpBuilder &builder) const override;
};
} // namespace

LogicalResult Transfers::plan(Operation *op, Planner &planner) const {
  if (auto read = dyn_cast<vector::TransferReadOp>(op);
      read && isPackedGlobal(read.getBase()))
    return planPackedLoad(op, planner);
  if (auto write = dyn_cast<vector::TransferWriteOp>(op);
      write && isPackedGlobal(write.getBase()))
    return planPackedStore(op, planner);
  std::string why;
  std::optional<Window> window = getWindow(op, why);
  if (!window)
    return op->emitOpError() << "cannot be lowered to thread level: " << why;
  if (mosaic_gpu::isClusterMemory(cast<MemRefType>(window->memref.getType())))
    return op->emitOpError()
           << "accesses shared memory of another block, which is not "
              "supported; use 'async_store_smem' for stores";
  if (isa<vector::TransferReadOp, mosaic_gpu::VectorLoadOp>(op)) {
    if (failed(planner.setResultLayout(op)))
      return failure();
    if (planner.find(op->getResult(0))->isSplat())
      return op->emitOpError()
             << "has a result in the splat layout, in which all elements are "
                "equal, but elements in memory may differ; use another layout";
    return success();
  }
  // A splat does not assign elements to threads: the store declares a layout,
  // or the elements are distributed.
  Value stored = op->getOperand(0);
  if (!planner.find(stored)->isSplat())
    return success();
  auto type = cast<VectorType>(stored.getType());
  if (Attribute layout = layoutAt(op, mosaic_gpu::kInLayouts, 0)) {
    std::optional<Distribution> wanted =
        Distribution::get(type, layout, planner.getGrid(), why);
    if (wanted && !wanted->isSplat()) {
      planner.setOpPlan(op, std::make_unique<StorePlan>(std::move(*wanted)));
      return success();
    }
  }
  int64_t bytes = std::max<int64_t>(elementBytes(type.getElementType()), 1);
  std::optional<Distribution> distribution = Distribution::share(
      type, /*minLength=*/1, std::max<int64_t>(kMaxAccessBytes / bytes, 1),
      planner.getGrid(), why);
  if (!distribution)
    return op->emitOpError()
           << "stores a splat that cannot be distributed across the threads: "
           << why;
  planner.setOpPlan(op, std::make_unique<StorePlan>(std::move(*distribution)));
  return success();
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

void Loads::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  if (auto read = dyn_cast<vector::TransferReadOp>(op);
      read && isPackedGlobal(read.getBase()))
    return emitPackedLoad(op, emitter, builder);
  Value result = op->getResult(0);
  const Distribution &distribution = emitter.plan.getDistribution(result);
  Location loc = op->getLoc();
  std::string why;
  Window window = *getWindow(op, why);
  Value memref = emitter.lookup(window.memref);
  unsigned alignment = log2Alignment(window.memref);
  if (auto load = dyn_cast<mosaic_gpu::VectorLoadOp>(op)) {
    auto getPointer = [&] {
      return emitter.getSharedPointer(load.getSource(), builder);
    };
    SharedVector shared{emitter.lookup(load.getSource()), alignment, nullptr};
    if (emitter.plan.getSharedRef(load.getSource()))
      shared.getPointer = getPointer;
    Registers fragments = emitter.vendor.emitFragmentLoad(
        builder, loc, shared, distribution, emitter.indices);
    if (!fragments.empty())
      return emitter.setRegisters(result, std::move(fragments));
  }

  Value pad;
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    pad = emitter.lookup(read.getPadding());
  SmallVector<Value> windowIndices = emitter.lookup(window.indices);
  WindowEmitter windows(window, memref, windowIndices, emitter.indices, builder,
                        loc);
  Type elementType = cast<VectorType>(result.getType()).getElementType();
  int64_t length = distribution.getVectorLength();
  int64_t bytes = std::max<int64_t>(
      elementType.isIndex() ? 8 : elementType.getIntOrFloatBitWidth() / 8, 1);
  auto hint = op->getAttrOfType<StringAttr>(kCacheHint);

  Registers loaded;
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
    SmallVector<Coordinate> coordinates =
        emitter.indices.getCoordinates(distribution, reg);
    int64_t width =
        getAccessWidth(window, distribution, coordinates, alignment);
    SmallVector<Value> pieces;
    for (int64_t element = 0; element < length; element += width) {
      Access access = windows.getAccess(
          advance(coordinates, distribution, element),
          VectorType::get({width}, elementType), width * bytes);
      access.cacheHint = hint;
      pieces.push_back(emitter.vendor.emitLoad(builder, loc, access, pad));
    }
    loaded.push_back(concatenate(builder, loc, pieces));
  }
  emitter.setRegisters(result, std::move(loaded));
}

void Stores::emit(Operation *op, Emitter &emitter, OpBuilder &builder) const {
  if (auto write = dyn_cast<vector::TransferWriteOp>(op);
      write && isPackedGlobal(write.getBase()))
    return emitPackedStore(op, emitter, builder);
  Value stored = op->getOperand(0);
  const auto *chosen = emitter.plan.getOpPlan<StorePlan>(op);
  const Distribution &distribution =
      chosen ? chosen->distribution : emitter.plan.getDistribution(stored);
  Location loc = op->getLoc();
  std::string why;
  Window window = *getWindow(op, why);
  Value memref = emitter.lookup(window.memref);
  unsigned alignment = log2Alignment(window.memref);
  SmallVector<Value> windowIndices = emitter.lookup(window.indices);
  Type elementType = cast<VectorType>(stored.getType()).getElementType();
  int64_t length = distribution.getVectorLength();
  int64_t bytes = std::max<int64_t>(
      elementType.isIndex() ? 8 : elementType.getIntOrFloatBitWidth() / 8, 1);
  Registers held = emitter.getRegisters(stored, distribution, builder);
  auto hint = op->getAttrOfType<StringAttr>(kCacheHint);
  auto emit = [&](OpBuilder &nested) {
    WindowEmitter windows(window, memref, windowIndices, emitter.indices,
                          nested, loc);
    for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg) {
      SmallVector<Coordinate> coordinates =
          emitter.indices.getCoordinates(distribution, reg);
      int64_t width =
          getAccessWidth(window, distribution, coordinates, alignment);
      for (int64_t element = 0; element < length; element += width) {
        Access access = windows.getAccess(
            advance(coordinates, distribution, element),
            VectorType::get({width}, elementType), width * bytes);
        access.cacheHint = hint;
        emitter.vendor.emitStore(
            nested, loc, takeElements(nested, loc, held[reg], element, width),
            access);
      }
    }
  };
  // If several threads hold an element, the first of them writes it.
  Value isFirst = emitter.indices.isFirstReplica(distribution);
  if (!isFirst)
    return emit(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    emit(nested);
    scf::YieldOp::create(nested, loc);
  });
}

const OpLowering &block_to_thread::getCommonLoads() {
  static const Loads loads;
  return loads;
}

const OpLowering &block_to_thread::getCommonStores() {
  static const Stores stores;
  return stores;
}

void block_to_thread::registerTransfers(OpLowerings &lowerings) {
  lowerings.add<Loads, vector::TransferReadOp>();
  lowerings.add<Stores, vector::TransferWriteOp>();
  registerPlannedTransfers(lowerings);
}
