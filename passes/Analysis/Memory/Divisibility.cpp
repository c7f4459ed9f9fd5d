//===- Divisibility.cpp - Powers of two that divide an index value --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Analysis/Memory/Divisibility.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Analysis/Memory/MemorySize.h"
#include "smalti/passes/Analysis/Memory/PackedMemory.h"
#include "smalti/passes/Support/KernelAttributes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace smalti;

/// The exponent of zero, and the cap of every sum: small enough not to
/// overflow.
static constexpr unsigned kMaxLog2 = 62;
/// Index arithmetic is shallow; the limit keeps the walk linear.
static constexpr unsigned kMaxDepth = 12;

unsigned smalti::log2Divisor(int64_t value) {
  if (value == 0)
    return kMaxLog2;
  return std::min<unsigned>(llvm::countr_zero(static_cast<uint64_t>(value)),
                            kMaxLog2);
}

static unsigned divisor(Value value, unsigned depth);

/// The exponent of an affine expression of operands; its own depth is included.
static unsigned divisor(AffineExpr expr, unsigned numDims, ValueRange operands,
                        unsigned depth) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return log2Divisor(constant.getValue());
  if (depth >= kMaxDepth)
    return 0;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return divisor(operands[dim.getPosition()], depth + 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return divisor(operands[numDims + symbol.getPosition()], depth + 1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto of = [&](AffineExpr operand) {
    return divisor(operand, numDims, operands, depth + 1);
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::min(of(binary.getLHS()), of(binary.getRHS()));
  case AffineExprKind::Mul:
    return std::min(of(binary.getLHS()) + of(binary.getRHS()), kMaxLog2);
  default:
    return 0;
  }
}

static unsigned divisor(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero()
               ? kMaxLog2
               : std::min<unsigned>(constant.countr_zero(), kMaxLog2);
  if (depth == kMaxDepth)
    return 0;
  auto of = [&](Value operand) { return divisor(operand, depth + 1); };

  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto map = dyn_cast<mosaic_gpu::WarpMapOp>(parent))
      return of(map.getOperands()[argument.getArgNumber()]);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || argument != loop.getInductionVar())
      return 0;
    return std::min(of(loop.getLowerBound()), of(loop.getStep()));
  }
  return llvm::TypeSwitch<Operation *, unsigned>(value.getDefiningOp())
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      // x mod y and x differ by a multiple of y.
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::OrIOp, arith::XOrIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      .Case([&](arith::AndIOp op) {
        return std::max(of(op.getLhs()), of(op.getRhs()));
      })
      .Case([&](affine::AffineApplyOp op) {
        AffineMap map = op.getAffineMap();
        return divisor(map.getResult(0), map.getNumDims(), op.getMapOperands(),
                       depth);
      })
      .Case([&](arith::MulIOp op) {
        return std::min(of(op.getLhs()) + of(op.getRhs()), kMaxLog2);
      })
      .Case([&](arith::ShLIOp op) {
        APInt amount;
        if (!matchPattern(op.getRhs(), m_ConstantInt(&amount)) ||
            amount.uge(kMaxLog2))
          return of(op.getLhs());
        return std::min<unsigned>(of(op.getLhs()) + amount.getZExtValue(),
                                  kMaxLog2);
      })
      .Case([&](arith::SelectOp op) {
        return std::min(of(op.getTrueValue()), of(op.getFalseValue()));
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](auto op) { return of(op.getIn()); })
      .Case([&](mosaic_gpu::AssumeMultipleOp op) {
        return std::max(log2Divisor(op.getMultiple()), of(op.getValue()));
      })
      .Case([&](triton_xla::AssumeMultipleOp op) {
        return std::max(log2Divisor(static_cast<int64_t>(op.getDivisor())),
                        of(op.getValue()));
      })
      .Default([](Operation *) { return 0u; });
}

unsigned smalti::log2Divisor(Value value) { return divisor(value, 0); }

unsigned smalti::log2Divisor(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return log2Divisor(cast<IntegerAttr>(attribute).getInt());
  return log2Divisor(cast<Value>(value));
}

int64_t smalti::getDefaultAlignment(MemRefType type) {
  unsigned log2 = log2Divisor(kArgumentAlignment);
  SmallVector<int64_t> strides;
  int64_t offset, bits = getPackedBits(type.getElementType());
  if (bits == 0)
    bits = getElementBytes(type.getElementType()).value_or(1) * 8;
  if (succeeded(type.getStridesAndOffset(strides, offset)))
    for (int64_t stride : strides)
      if (!ShapedType::isDynamic(stride) && stride < 0)
        log2 = std::min(
            log2, std::max(log2Divisor(stride) + log2Divisor(bits), 3u) - 3);
  return int64_t(1) << log2;
}

unsigned smalti::log2ArgumentAlignment(BlockArgument argument) {
  auto type = cast<MemRefType>(argument.getType());
  std::optional<int64_t> bytes = getElementBytes(type.getElementType());
  unsigned element = bytes ? log2Divisor(*bytes) : 0;
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  // A workgroup attribution of a kernel.
  if (auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(function.getOperation());
      kernel && argument.getOwner()->isEntryBlock()) {
    unsigned number = argument.getArgNumber(), first = kernel.getNumArguments();
    if (number >= first &&
        number < first + kernel.getNumWorkgroupAttributions())
      if (auto stated =
              dyn_cast_or_null<IntegerAttr>(kernel.getWorkgroupAttributionAttr(
                  static_cast<int>(number - first),
                  LLVM::LLVMDialect::getAlignAttrName())))
        return std::max(element, log2Divisor(stated.getInt()));
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!function || !argument.getOwner()->isEntryBlock() ||
      argument.getArgNumber() >= function.getNumArguments() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return element;
  int64_t alignment = getDefaultAlignment(type);
  if (auto stated = function.getArgAttrOfType<IntegerAttr>(
          argument.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName()))
    alignment = stated.getInt();
  return std::min(log2Divisor(alignment), log2Divisor(offset) + element);
}
