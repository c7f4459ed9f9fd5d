//===- ElementAddress.cpp - Addresses of elements -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToGPU/ElementAddress.h"

#include "smalti/passes/Analysis/Memory/MemorySize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace smalti;

Value smalti::emitAddress(OpBuilder &builder, Location loc, Value memref,
                          ValueRange indices) {
  Type word = builder.getI64Type();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value element = metadata.getOffset();
  for (auto [index, stride] :
       llvm::zip_equal(indices, metadata.getConstifiedMixedStrides())) {
    Value step = getValueOrCreateConstantIndexOp(builder, loc, stride);
    element =
        arith::AddIOp::create(builder, loc, element,
                              arith::MulIOp::create(builder, loc, index, step));
  }
  int64_t bytes =
      *getElementBytes(cast<MemRefType>(memref.getType()).getElementType());
  Value offset = arith::MulIOp::create(
      builder, loc, element,
      arith::ConstantIndexOp::create(builder, loc, bytes));
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  return arith::IndexCastOp::create(
      builder, loc, word, arith::AddIOp::create(builder, loc, base, offset));
}
