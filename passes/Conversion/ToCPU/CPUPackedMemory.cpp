//===- CPUPackedMemory.cpp - Packed memory on the CPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToCPU/CPUPackedMemory.h"

#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Conversion/ToCPU/CPUAtomics.h"
#include "smalti/passes/Conversion/ToCPU/CPUVectors.h"

#include "smalti/dialects/TritonXLA/TritonXLA.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace smalti;

bool smalti::isSubByte(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() != 1 &&
         element.getIntOrFloatBitWidth() < 8;
}

static bool isSubByteMemory(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && isSubByte(memref.getElementType());
}

std::pair<Value, Value> smalti::getSubByteAddress(OpBuilder &builder,
                                                  Location loc, Value memref,
                                                  ValueRange indices) {
  LoopBuilder math{builder, loc};
  Value position = getElementPosition(builder, loc, memref, indices);
  int64_t packedBits =
      getPackedBits(cast<MemRefType>(memref.getType()).getElementType());
  Value byteIndex = position, shift;
  if (packedBits) {
    Value perByte = math.index(8 / packedBits);
    byteIndex = arith::FloorDivSIOp::create(builder, loc, position, perByte);
    Value within = math.sub(
        position, arith::MulIOp::create(builder, loc, byteIndex, perByte));
    shift = arith::IndexCastOp::create(builder, loc, builder.getI8Type(),
                                       math.mul(within, packedBits));
  }
  return {getByteAddress(builder, loc, memref, byteIndex), shift};
}

namespace {

/// An element of less than a byte.
class SubByteElement {
public:
  SubByteElement(OpBuilder &builder, Location loc, Value memref,
                 ValueRange indices)
      : builder(builder), loc(loc),
        element(cast<MemRefType>(memref.getType()).getElementType()) {
    std::tie(address, shift) = getSubByteAddress(builder, loc, memref, indices);
  }

  Value load() {
    Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(),
                                      address, /*alignment=*/1);
    if (shift)
      byte = arith::ShRUIOp::create(builder, loc, byte, shift);
    Value bits = arith::TruncIOp::create(builder, loc, bitsType(), byte);
    return isa<FloatType>(element)
               ? arith::BitcastOp::create(builder, loc, element, bits)
                     .getResult()
               : bits;
  }

  void store(Value value) {
    Value bits = isa<FloatType>(element)
                     ? arith::BitcastOp::create(builder, loc, bitsType(), value)
                           .getResult()
                     : value;
    bits = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), bits);
    if (!shift) {
      LLVM::StoreOp::create(builder, loc, bits, address, /*alignment=*/1);
      return;
    }
    // Flip the bits that differ. No other instance changes the bits of this
    // element.
    Value old = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), address,
                                     /*alignment=*/1, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false,
                                     LLVM::AtomicOrdering::monotonic);
    Value difference = arith::XOrIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, old, shift), bits);
    Value mask = arith::ConstantOp::create(
        builder, loc,
        builder.getI8IntegerAttr((1 << element.getIntOrFloatBitWidth()) - 1));
    difference = arith::ShLIOp::create(
        builder, loc, arith::AndIOp::create(builder, loc, difference, mask),
        shift);
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::_xor, address,
                              difference, LLVM::AtomicOrdering::monotonic);
  }

private:
  Type bitsType() {
    return builder.getIntegerType(element.getIntOrFloatBitWidth());
  }

  OpBuilder &builder;
  Location loc;
  Type element;
  Value address;
  /// The bit position of the element, an i8; null if it has its own byte.
  Value shift;
};

} // namespace

/// Whether the memory is a buffer of the kernel.
static bool isBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return !isa<BlockArgument>(memref);
}

void smalti::lowerSubByteAccesses(RewriterBase &rewriter,
                                  func::FuncOp function) {
  SmallVector<Operation *> accesses;
  function.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op);
        load && isSubByteMemory(load.getMemRefType()) &&
        !isBuffer(load.getMemRef()))
      accesses.push_back(op);
    else if (auto store = dyn_cast<memref::StoreOp>(op);
             store && isSubByteMemory(store.getMemRefType()) &&
             !isBuffer(store.getMemRef()))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    rewriter.setInsertionPoint(op);
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      SubByteElement element(rewriter, op->getLoc(), load.getMemRef(),
                             load.getIndices());
      rewriter.replaceOp(op, element.load());
    } else {
      auto store = cast<memref::StoreOp>(op);
      SubByteElement element(rewriter, op->getLoc(), store.getMemRef(),
                             store.getIndices());
      element.store(store.getValueToStore());
      rewriter.eraseOp(op);
    }
  }
}
