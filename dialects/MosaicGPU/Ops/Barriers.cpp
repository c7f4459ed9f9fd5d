//===- Barriers.cpp - Barriers and cluster launch control -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

/// The bytes of arrive_expect_tx: `8192` or `%bytes`.
static ParseResult
parseExpectTx(OpAsmParser &parser,
              std::optional<OpAsmParser::UnresolvedOperand> &bytes,
              IntegerAttr &constantBytes) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (parsed.has_value()) {
    bytes = operand;
    return *parsed;
  }
  return parser.parseAttribute(constantBytes, parser.getBuilder().getI32Type());
}

static void printExpectTx(OpAsmPrinter &printer, Operation *, Value bytes,
                          IntegerAttr constantBytes) {
  if (bytes)
    printer << bytes;
  else
    printer.printAttributeWithoutType(constantBytes);
}

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Barriers.cpp.inc"

LogicalResult smalti::mosaic_gpu::verifyBarrier(Operation *op, Value barrier) {
  auto type = cast<MemRefType>(barrier.getType());
  if (type.getRank() != 0)
    return op->emitOpError()
           << "barrier must be a memref of rank 0, but found " << type;
  return verifyInShared(op, "barrier", type);
}

LogicalResult ArriveOp::verify() { return verifyBarrier(*this, getBarrier()); }

LogicalResult ArriveExpectTxOp::verify() {
  if (bool(getDynamicExpectTx()) == bool(getExpectTxAttr()))
    return emitOpError()
           << "requires the number of expected bytes either as the "
              "attribute 'expect_tx' or as an operand, not both";
  return verifyBarrier(*this, getBarrier());
}

LogicalResult WaitOp::verify() { return verifyBarrier(*this, getBarrier()); }

LogicalResult TcGen05CommitArriveOp::verify() {
  return verifyBarrier(*this, getBarrier());
}

/// Bytes of the response to a cluster launch control request.
static constexpr int64_t kAnswerBytes = 16;

static LogicalResult verifyAnswer(Operation *op, MemRefType type) {
  if (type.getRank() != 1 || type.getDimSize(0) != kAnswerBytes)
    return op->emitOpError() << "the response must be a memref<" << kAnswerBytes
                             << "xi8>, but found " << type;
  if (failed(verifyInShared(op, "the response", type)))
    return failure();
  return verifyLayouts(op);
}

LogicalResult TryClusterCancelOp::verify() {
  if (failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyAnswer(*this, getCancellationResult().getType());
}

LogicalResult QueryClusterCancelOp::verify() {
  return verifyAnswer(*this, getCancellationResult().getType());
}
