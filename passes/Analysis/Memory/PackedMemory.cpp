//===- PackedMemory.cpp - Elements that share bytes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/PackedMemory.h"

#include "smalti/passes/Analysis/Memory/Divisibility.h"
#include "smalti/passes/Support/Alignment.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smalti;

int64_t smalti::getPackedBits(Type element) {
  if (!element.isIntOrFloat())
    return 0;
  int64_t bits = element.getIntOrFloatBitWidth();
  return bits == 2 || bits == 4 ? bits : 0;
}

/// The start of a memref with a static offset, whose memory starts at a byte.
static unsigned getKnownStart(MemRefType type, unsigned log2PerByte) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return 0;
  return std::min(log2PerByte, log2Divisor(offset));
}

static unsigned getArgumentStart(BlockArgument argument, unsigned log2PerByte) {
  auto type = cast<MemRefType>(argument.getType());
  auto func = dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
  if (!func || !func.isKernel() ||
      argument.getArgNumber() >= func.getNumArguments() ||
      !type.getLayout().isIdentity())
    return getKnownStart(type, log2PerByte);
  return log2ArgumentAlignment(argument) + log2PerByte;
}

/// The alignment of the address of a byte buffer.
static unsigned log2BufferAlignment(Value buffer) {
  if (buffer.getDefiningOp<gpu::DynamicSharedMemoryOp>())
    return log2Divisor(kSharedMemoryAlignment);
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto func = argument
                  ? dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
                  : gpu::GPUFuncOp();
  if (!func || !llvm::is_contained(func.getWorkgroupAttributions(), buffer))
    return 0;
  auto alignment =
      dyn_cast_or_null<IntegerAttr>(func.getWorkgroupAttributionAttr(
          argument.getArgNumber() - func.getNumArguments(),
          LLVM::LLVMDialect::getAlignAttrName()));
  return alignment ? log2Divisor(alignment.getInt()) : 0;
}

unsigned smalti::log2PackedStart(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  unsigned log2PerByte =
      llvm::Log2_64(8 / getPackedBits(type.getElementType()));
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return getArgumentStart(argument, log2PerByte);
  return llvm::TypeSwitch<Operation *, unsigned>(memref.getDefiningOp())
      .Case<memref::CastOp, memref::MemorySpaceCastOp, memref::ExpandShapeOp,
            memref::CollapseShapeOp>(
          [&](auto op) { return log2PackedStart(op->getOperand(0)); })
      .Case([&](memref::ViewOp op) {
        return std::min(log2BufferAlignment(op.getSource()),
                        log2Divisor(op.getByteShift())) +
               log2PerByte;
      })
      .Case([&](memref::SubViewOp op) {
        unsigned log2 = log2PackedStart(op.getSource());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (failed(cast<MemRefType>(op.getSource().getType())
                       .getStridesAndOffset(strides, offset)))
          return 0u;
        for (auto [index, stride] :
             llvm::zip_equal(op.getMixedOffsets(), strides))
          log2 =
              std::min(log2, log2Divisor(index) + (ShapedType::isDynamic(stride)
                                                       ? 0
                                                       : log2Divisor(stride)));
        return log2;
      })
      .Case([&](memref::ReinterpretCastOp op) {
        // The offset counts from the start of the allocation.
        auto source = dyn_cast<MemRefType>(op.getSource().getType());
        unsigned log2 = source && source.getLayout().isIdentity()
                            ? log2PackedStart(op.getSource())
                            : log2PerByte;
        return std::min(log2, log2Divisor(op.getMixedOffsets().front()));
      })
      .Default([&](Operation *) { return getKnownStart(type, log2PerByte); });
}
