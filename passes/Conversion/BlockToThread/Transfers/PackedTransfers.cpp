//===- PackedTransfers.cpp - Transfers of sub-byte elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Transfers/PackedTransfers.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Planner.h"
#include "smalti/passes/Conversion/BlockToThread/Kernel/Windows.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

namespace {
struct PackedPlan : OpPlan {
  explicit PackedPlan(Distribution distribution)
      : distribution(std::move(distribution)) {}
  /// The vector's distribution; for a splat, how it is distributed across the
  /// threads.
  Distribution distribution;
  /// Elements of a register that one instruction accesses: all in bounds or all
  /// out of bounds.
  int64_t width = 1;
  /// Alignment of the first byte of every access.
  int64_t alignment = 1;
  /// Whether each element is accessed alone, because a thread's part of a
  /// row may begin or end inside a byte.
  bool isByElement = false;
};
} // namespace

bool block_to_thread::isPackedGlobal(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && getPackedBits(type.getElementType()) != 0 &&
         !mosaic_gpu::isSharedMemory(type) &&
         !mosaic_gpu::isClusterMemory(type) && mosaic_gpu::isGlobalMemory(type);
}

/// The index of the first element of a register.
static SmallVector<int64_t> getIndex(const Distribution &distribution,
                                     const ThreadGrid &grid, int64_t thread,
                                     int64_t reg) {
  if (distribution.getKind() == Distribution::Kind::Tiled)
    return distribution.getTiled().elementIndex(distribution.getShape(),
                                                thread / grid.waveSize,
                                                thread % grid.waveSize, reg, 0);
  layout::StridedLayout strided{SmallVector<int64_t>(distribution.getShape()),
                                distribution.getVectorLength()};
  return strided.elementIndex(grid.numThreads, thread, reg, 0);
}

/// The widest access of a thread: 2^log2Widest bytes.
static constexpr unsigned log2Widest = 4;

static LogicalResult planPacked(Operation *op, Value vector, Planner &planner) {
  std::string why;
  std::optional<Window> window = getWindow(op, why, /*mayShareBytes=*/true);
  if (!window)
    return op->emitOpError() << "cannot be lowered to thread level: " << why;
  auto type = cast<MemRefType>(window->memref.getType());
  int64_t bits = getPackedBits(type.getElementType()), perByte = 8 / bits;
  std::optional<Distribution> shared = *planner.find(vector);
  if (shared->isSplat()) {
    auto share = [&](int64_t minLength) {
      return Distribution::share(cast<VectorType>(vector.getType()), minLength,
                                 /*maxLength=*/kMaxAccessBytes * perByte,
                                 planner.getGrid(), why);
    };
    shared = share(perByte);
    if (!shared)
      shared = share(1);
  }
  if (!shared)
    return op->emitOpError() << "cannot be lowered to thread level: " << bits
                             << "-bit elements share bytes, and the splat "
                                "cannot be distributed across the threads: "
                             << why;
  auto plan = std::make_unique<PackedPlan>(std::move(*shared));
  const Distribution &distribution = plan->distribution;
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  auto accessByElement = [&] {
    plan->isByElement = true;
    plan->width = 1;
    planner.setOpPlan(op, std::move(plan));
    return success();
  };
  int64_t length = distribution.getVectorLength();
  if (strides.empty() || strides.back() != 1 || length * bits % 8 != 0 ||
      distribution.getVectorStride() != 1 ||
      distribution.getVectorDim() != window->vectorDims.back())
    return accessByElement();
  // The first elements of all registers of all threads.
  unsigned log2 = log2PackedStart(window->memref), log2Minor = 62;
  for (auto [dim, index] : llvm::enumerate(window->indices)) {
    log2 = std::min(log2, log2Divisor(index) + log2Stride(window->memref, dim));
    log2Minor = log2Divisor(index);
  }
  const ThreadGrid &grid = planner.getGrid();
  for (int64_t reg = 0; reg < distribution.getNumRegisters(); ++reg)
    for (int64_t thread = 0; thread < grid.numThreads; ++thread) {
      SmallVector<int64_t> index = getIndex(distribution, grid, thread, reg);
      int64_t linear = 0;
      for (auto [dim, vectorDim] : llvm::enumerate(window->vectorDims)) {
        if (vectorDim < 0)
          continue;
        if (ShapedType::isDynamic(strides[dim]))
          log2 = std::min(log2, log2Divisor(index[vectorDim]) +
                                    log2Stride(window->memref, dim));
        else
          linear += index[vectorDim] * strides[dim];
      }
      log2 = std::min(log2, log2Divisor(linear));
      log2Minor =
          std::min(log2Minor, log2Divisor(index[window->vectorDims.back()]));
    }
  if (log2 < llvm::Log2_64(perByte))
    return accessByElement();
  plan->width = length;
  if (window->isChecked.back()) {
    plan->width = std::gcd(
        length,
        int64_t(1) << std::min(
            {log2Size(window->memref, type.getRank() - 1), log2Minor, 10u}));
    if (plan->width < perByte)
      return accessByElement();
  }
  if (plan->width < length)
    log2 = std::min(log2, log2Divisor(plan->width));
  log2 -= llvm::Log2_64(perByte);
  plan->alignment = int64_t(1) << std::min(log2, log2Widest);
  planner.setOpPlan(op, std::move(plan));
  return success();
}

LogicalResult block_to_thread::planPackedLoad(Operation *op, Planner &planner) {
  if (failed(planner.setResultLayout(op)))
    return failure();
  Value result = op->getResult(0);
  if (planner.find(result)->isSplat())
    return op->emitOpError()
           << "has a result in the splat layout, in which all elements are "
              "equal, but elements in memory may differ; use another layout";
  return planPacked(op, result, planner);
}

LogicalResult block_to_thread::planPackedStore(Operation *op,
                                               Planner &planner) {
  return planPacked(op, op->getOperand(0), planner);
}

namespace {
/// Bytes that one instruction of a thread accesses.
struct PackedAccess {
  Value pointer;
  /// For a single element, its lowest bit in the byte (i8).
  Value shift;
  /// Null: always.
  Value inBounds;
};

/// Packed memory in a kernel: the first byte, and the numbers of its elements.
class PackedMemory {
public:
  PackedMemory(OpBuilder &builder, Location loc, Value memref);

  int64_t perByte() const { return 8 / bits; }
  /// The number of an element. A view may begin before the first byte, so the
  /// number is signed.
  Value getElement(OpBuilder &builder, Location loc, ValueRange indices) const;
  /// The byte of an element.
  Value getPointer(OpBuilder &builder, Location loc, Value element) const;
  /// The lowest bit of an element in its byte: i8.
  Value getShift(OpBuilder &builder, Location loc, Value element) const;

  SmallVector<OpFoldResult> strides;

private:
  int64_t bits;
  Value base;
  OpFoldResult offset;
};

Window findWindow(Operation *op) {
  std::string why;
  return *getWindow(op, why, /*mayShareBytes=*/true);
}

/// Emits the addresses of the registers of a vector.
class PackedAccesses {
public:
  PackedAccesses(Operation *op, const PackedPlan &plan, Emitter &emitter,
                 OpBuilder &builder)
      : plan(plan), emitter(emitter), builder(builder), loc(op->getLoc()),
        window(findWindow(op)), memref(emitter.lookup(window.memref)),
        packed(builder, loc, memref) {
    windowIndices = emitter.lookup(window.indices);
    windows.emplace(window, memref, windowIndices, emitter.indices, builder,
                    loc);
    start = packed.getElement(builder, loc, windowIndices);
  }

  PackedAccess get(int64_t reg, int64_t first) {
    SmallVector<Coordinate> coordinates =
        emitter.indices.getCoordinates(plan.distribution, reg);
    coordinates[plan.distribution.getVectorDim()].offset += first;
    ThreadIndices &indices = emitter.indices;
    Value own, element = start;
    int64_t constant = 0;
    for (auto [dim, step] :
         llvm::zip_equal(window.vectorDims, packed.strides)) {
      if (dim < 0)
        continue;
      if (std::optional<int64_t> stride = getConstantIntValue(step)) {
        own = indices.add(own, indices.mul(coordinates[dim].base, *stride));
        constant += coordinates[dim].offset * *stride;
        continue;
      }
      Value index = indices.add(coordinates[dim].base, indices.getConstant(0));
      index = indices.add(index, coordinates[dim].offset);
      Value distance =
          arith::MulIOp::create(builder, loc, index, cast<Value>(step));
      element = arith::AddIOp::create(builder, loc, element, distance);
    }
    own = indices.add(own ? own : indices.getConstant(0), constant);
    element = arith::AddIOp::create(builder, loc, element, own);
    auto piece = VectorType::get(
        {plan.width}, cast<MemRefType>(memref.getType()).getElementType());
    return {packed.getPointer(builder, loc, element),
            plan.isByElement ? packed.getShift(builder, loc, element) : Value(),
            windows->getAccess(coordinates, piece, plan.alignment).inBounds};
  }

private:
  const PackedPlan &plan;
  Emitter &emitter;
  OpBuilder &builder;
  Location loc;
  Window window;
  Value memref;
  PackedMemory packed;
  SmallVector<Value> windowIndices;
  std::optional<WindowEmitter> windows;
  /// The number of the window's first element.
  Value start;
};
} // namespace

PackedMemory::PackedMemory(OpBuilder &builder, Location loc, Value memref)
    : bits(getPackedBits(cast<MemRefType>(memref.getType()).getElementType())) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  strides = metadata.getConstifiedMixedStrides();
  offset = metadata.getConstifiedMixedOffset();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  constexpr unsigned globalMemory = 1;
  base = LLVM::IntToPtrOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), globalMemory), address);
}

Value PackedMemory::getElement(OpBuilder &builder, Location loc,
                               ValueRange indices) const {
  Value element = getValueOrCreateConstantIndexOp(builder, loc, offset);
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    Value step = arith::MulIOp::create(
        builder, loc, index,
        getValueOrCreateConstantIndexOp(builder, loc, stride));
    element = arith::AddIOp::create(builder, loc, element, step);
  }
  return element;
}

Value PackedMemory::getPointer(OpBuilder &builder, Location loc,
                               Value element) const {
  Value byte = arith::ShRSIOp::create(
      builder, loc, element,
      arith::ConstantIndexOp::create(builder, loc, llvm::Log2_64(perByte())));
  byte = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{byte});
}

Value PackedMemory::getShift(OpBuilder &builder, Location loc,
                             Value element) const {
  Value number = arith::AndIOp::create(
      builder, loc, element,
      arith::ConstantIndexOp::create(builder, loc, perByte() - 1));
  return arith::IndexCastOp::create(
      builder, loc, builder.getI8Type(),
      arith::MulIOp::create(
          builder, loc, number,
          arith::ConstantIndexOp::create(builder, loc, bits)));
}

static VectorType getBytes(VectorType reg) {
  int64_t bits = reg.getDimSize(0) * getElementBits(reg.getElementType());
  return VectorType::get({bits / 8}, IntegerType::get(reg.getContext(), 8));
}

/// Loads one element: its byte, shifted.
static Value loadElement(OpBuilder &builder, Location loc,
                         const PackedAccess &access, VectorType piece) {
  Type byteType = builder.getI8Type();
  Type bits = builder.getIntegerType(getElementBits(piece.getElementType()));
  Value byte = LLVM::LoadOp::create(builder, loc, byteType, access.pointer,
                                    /*alignment=*/1);
  Value element = arith::TruncIOp::create(
      builder, loc, bits,
      arith::ShRUIOp::create(builder, loc, byte, access.shift));
  Value vector = vector::BroadcastOp::create(
      builder, loc, VectorType::get({1}, bits), element);
  return vector::BitCastOp::create(builder, loc, piece, vector);
}

/// Stores one element. Another thread or block may write other elements of the
/// byte at the same time, so the bits of the element are cleared and set
/// atomically.
static void storeElement(OpBuilder &builder, Location loc,
                         const PackedAccess &access, Value piece,
                         targets::Vendor vendor) {
  int64_t width =
      getElementBits(cast<VectorType>(piece.getType()).getElementType());
  Type bits = builder.getIntegerType(width), byteType = builder.getI8Type();
  Value element = vector::ExtractOp::create(
      builder, loc,
      vector::BitCastOp::create(builder, loc, VectorType::get({1}, bits),
                                piece),
      ArrayRef<int64_t>{0});
  auto shifted = [&](Value value) -> Value {
    return arith::ShLIOp::create(builder, loc, value, access.shift);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, byteType, value);
  };
  Value others = arith::XOrIOp::create(
      builder, loc, shifted(constant((int64_t(1) << width) - 1)), constant(-1));
  Value own = shifted(arith::ExtUIOp::create(builder, loc, byteType, element));
  auto update = [&](LLVM::AtomicBinOp operation, Value value) {
    LLVM::AtomicRMWOp::create(builder, loc, operation, access.pointer, value,
                              LLVM::AtomicOrdering::monotonic,
                              vendor == targets::Vendor::NVIDIA ? "device"
                                                                : "agent",
                              /*alignment=*/1);
  };
  update(LLVM::AtomicBinOp::_and, others);
  update(LLVM::AtomicBinOp::_or, own);
}

PackedElement block_to_thread::getPackedElement(OpBuilder &builder,
                                                Location loc, Value memref,
                                                ValueRange indices) {
  PackedMemory packed(builder, loc, memref);
  Value element = packed.getElement(builder, loc, indices);
  return {packed.getPointer(builder, loc, element),
          packed.getShift(builder, loc, element)};
}

Value block_to_thread::loadPackedElement(OpBuilder &builder, Location loc,
                                         Value memref, ValueRange indices) {
  auto [pointer, shift] = getPackedElement(builder, loc, memref, indices);
  auto type = cast<MemRefType>(memref.getType());
  return loadElement(builder, loc, {pointer, shift, Value()},
                     VectorType::get({1}, type.getElementType()));
}

void block_to_thread::storePackedElement(OpBuilder &builder, Location loc,
                                         Value memref, ValueRange indices,
                                         Value stored, targets::Vendor vendor) {
  auto [pointer, shift] = getPackedElement(builder, loc, memref, indices);
  storeElement(builder, loc, {pointer, shift, Value()}, stored, vendor);
}

void block_to_thread::emitPackedLoad(Operation *op, Emitter &emitter,
                                     OpBuilder &builder) {
  Location loc = op->getLoc();
  const auto &plan = *emitter.plan.getOpPlan<PackedPlan>(op);
  auto alignment = static_cast<unsigned>(plan.alignment);
  Value result = op->getResult(0);
  auto piece = VectorType::get(
      {plan.width}, cast<VectorType>(result.getType()).getElementType());
  Value padding;
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    padding = vector::BroadcastOp::create(builder, loc, piece,
                                          emitter.lookup(read.getPadding()));
  PackedAccesses accesses(op, plan, emitter, builder);
  auto load = [&](OpBuilder &nested, const PackedAccess &access) -> Value {
    if (plan.isByElement)
      return loadElement(nested, loc, access, piece);
    Value bytes = LLVM::LoadOp::create(nested, loc, getBytes(piece),
                                       access.pointer, alignment);
    return vector::BitCastOp::create(nested, loc, piece, bytes);
  };
  Registers loaded;
  for (int64_t reg = 0; reg < plan.distribution.getNumRegisters(); ++reg) {
    SmallVector<Value> pieces;
    for (int64_t first = 0; first < plan.distribution.getVectorLength();
         first += plan.width) {
      PackedAccess access = accesses.get(reg, first);
      if (!access.inBounds) {
        pieces.push_back(load(builder, access));
        continue;
      }
      auto branch = scf::IfOp::create(
          builder, loc, access.inBounds,
          [&](OpBuilder &nested, Location) {
            scf::YieldOp::create(nested, loc, load(nested, access));
          },
          [&](OpBuilder &nested, Location) {
            scf::YieldOp::create(nested, loc, padding);
          });
      pieces.push_back(branch.getResult(0));
    }
    loaded.push_back(concatenate(builder, loc, pieces));
  }
  emitter.setRegisters(result, std::move(loaded));
}

void block_to_thread::emitPackedStore(Operation *op, Emitter &emitter,
                                      OpBuilder &builder) {
  Location loc = op->getLoc();
  const auto &plan = *emitter.plan.getOpPlan<PackedPlan>(op);
  auto alignment = static_cast<unsigned>(plan.alignment);
  Registers registers =
      emitter.getRegisters(op->getOperand(0), plan.distribution, builder);
  auto store = [&](OpBuilder &at) {
    PackedAccesses accesses(op, plan, emitter, at);
    for (auto [reg, held] : llvm::enumerate(registers))
      for (int64_t first = 0; first < plan.distribution.getVectorLength();
           first += plan.width) {
        PackedAccess access = accesses.get(static_cast<int64_t>(reg), first);
        Value piece = takeElements(at, loc, held, first, plan.width);
        auto storePiece = [&](OpBuilder &nested) {
          if (plan.isByElement)
            return storeElement(nested, loc, access, piece,
                                emitter.vendor.getTarget().vendor);
          Value bytes = vector::BitCastOp::create(
              nested, loc, getBytes(cast<VectorType>(piece.getType())), piece);
          LLVM::StoreOp::create(nested, loc, bytes, access.pointer, alignment);
        };
        if (!access.inBounds) {
          storePiece(at);
          continue;
        }
        scf::IfOp::create(at, loc, access.inBounds,
                          [&](OpBuilder &nested, Location) {
                            storePiece(nested);
                            scf::YieldOp::create(nested, loc);
                          });
      }
  };
  // If several threads hold an element, the first of them writes it.
  Value isFirst = emitter.indices.isFirstReplica(plan.distribution);
  if (!isFirst)
    return store(builder);
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &nested, Location) {
    store(nested);
    scf::YieldOp::create(nested, loc);
  });
}
