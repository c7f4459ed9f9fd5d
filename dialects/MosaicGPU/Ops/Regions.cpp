//===- Regions.cpp - Ops with regions, and ops for debugging --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/MosaicGPU/Verification.h"
#include "smalti/targets/Text.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

/// Operands and the corresponding region arguments:
/// `(%argument = %operand : type) { ... }`.
static ParseResult
parseMappedRegion(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                  SmallVectorImpl<Type> &types, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument) ||
      parser.parseRegion(region, arguments))
    return failure();
  if (region.empty())
    region.emplaceBlock();
  return success();
}

static void printMappedRegion(OpAsmPrinter &printer, Operation *,
                              ValueRange operands, TypeRange, Region &region) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(region.getArguments(), operands),
                        printer, [&](auto pair) {
                          auto [argument, operand] = pair;
                          printer << argument << " = " << operand << " : "
                                  << operand.getType();
                        });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

#define GET_OP_CLASSES
#include "smalti/dialects/MosaicGPU/Ops/Regions.cpp.inc"

/// Checks that a region has one argument for each operand, of the same type.
static LogicalResult verifyMapping(Operation *op, Region &region) {
  if (region.getArgumentTypes() == op->getOperandTypes())
    return success();
  if (region.getNumArguments() != op->getNumOperands())
    return op->emitOpError()
           << "the region has "
           << smalti::counted(region.getNumArguments(), "argument")
           << "; it must have " << op->getNumOperands()
           << ", one for each operand";
  for (auto [index, argument, operand] :
       llvm::enumerate(region.getArgumentTypes(), op->getOperandTypes()))
    if (argument != operand)
      return op->emitOpError()
             << "argument " << index << " of the region must be " << operand
             << ", the type of operand " << index << ", but is " << argument;
  return success();
}

//===----------------------------------------------------------------------===//
// custom_primitive
//===----------------------------------------------------------------------===//

LogicalResult CustomPrimitiveOp::verify() {
  if (failed(verifyMapping(*this, getBody())))
    return failure();
  for (Type type : getResultTypes())
    if (isa<ShapedType>(type) && !isa<VectorType>(type))
      return emitOpError() << "results must be scalars or vectors, but found "
                           << type;
  Block &body = getBody().front();
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError() << "the body must end with 'mosaic_gpu.return'";
  return verifyLayouts(*this);
}

LogicalResult ReturnOp::verify() {
  Operation *parent = (*this)->getParentOp();
  TypeRange results = parent->getResultTypes();
  if (auto reduce = dyn_cast<ReduceOp>(parent))
    results = reduce.getInits().getTypes();
  else if (auto scan = dyn_cast<ScanOp>(parent))
    results = scan.getInits().getTypes();
  if (getNumOperands() != results.size())
    return emitOpError() << "returns "
                         << smalti::counted(getNumOperands(), "value")
                         << ", but '" << parent->getName() << "' requires "
                         << results.size() << ", one for each result";
  for (auto [index, operand, result] :
       llvm::enumerate(getOperandTypes(), results))
    if (operand != result)
      return emitOpError() << "must return " << result << " as result " << index
                           << " of '" << parent->getName() << "', but returns "
                           << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// warp_map
//===----------------------------------------------------------------------===//

LogicalResult WarpMapOp::verify() {
  for (Type type : getOperandTypes())
    if (isa<VectorType>(type))
      return emitOpError() << "operands must be scalars or memrefs, but found "
                           << type;
  if (failed(verifyMapping(*this, getRegion())))
    return failure();
  return verifyLayouts(*this);
}

/// The type to which every use of an argument casts it, or null.
static Type getCommonCast(BlockArgument argument) {
  Type type;
  for (Operation *user : argument.getUsers()) {
    auto cast = dyn_cast<ReinterpretCastOp>(user);
    if (!cast || !cast->getDiscardableAttrs().empty() ||
        (type && cast.getType() != type))
      return {};
    type = cast.getType();
  }
  return type;
}

namespace {
/// Moves a cast of a region argument before the op if all uses of the argument
/// are casts to one type.
struct HoistCasts : OpRewritePattern<WarpMapOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WarpMapOp op,
                                PatternRewriter &rewriter) const override {
    // Layout attributes have entries for the types of the operands.
    if (!op->getDiscardableAttrs().empty())
      return failure();
    bool changed = false;
    for (auto [operand, argument] :
         llvm::zip_equal(op->getOpOperands(), op.getRegion().getArguments())) {
      Type type = getCommonCast(argument);
      if (!type)
        continue;
      Value cast =
          ReinterpretCastOp::create(rewriter, op.getLoc(), type, operand.get());
      rewriter.modifyOpInPlace(
          op, [type, cast, &operand = operand, argument = argument]() mutable {
            operand.set(cast);
            argument.setType(type);
          });
      for (Operation *user : llvm::to_vector(argument.getUsers()))
        rewriter.replaceOp(user, argument);
      changed = true;
    }
    return success(changed);
  }
};
} // namespace

void WarpMapOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<HoistCasts>(context);
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

LogicalResult PrintLayoutOp::verify() {
  auto memory = dyn_cast<MemRefType>(getValue().getType());
  if (memory && !isSharedMemory(memory) && !isTensorMemory(memory))
    return emitOpError()
           << "a memref must be in the address space workgroup or in "
              "tensor memory (#mosaic_gpu.tmem), but found "
           << memory;
  return verifyLayouts(*this);
}

LogicalResult DebugPrintOp::verify() { return verifyLayouts(*this); }

LogicalResult PrintTileOp::verify() { return verifyLayouts(*this); }

LogicalResult AssertOp::verify() { return verifyLayouts(*this); }
